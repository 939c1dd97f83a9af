"""Commonest values on the screen: where the ordered distance hardly limits the share of a value that most rows have."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from tclose.report.commonest import COMMON
from tclose.report.labels import percent
from tclose.values.exact import decimal_up

if TYPE_CHECKING:
    from tclose.release.release import Release


def hardly_limited(release: Release) -> Iterator[str]:
    """Yield a sentence for each sensitive column of which t would allow a class in which nobody has the commonest value.

    Each row of such a class is one step at least from that value: its ordered distance may be the value's share, divided by the
    number of steps.
    """
    for name, found in release.audit.sensitive.items():
        counts = pc.value_counts(release.table[name]).field("counts").to_pylist()
        if found.limit is None or found.distance != "ordered" or len(counts) < 2:
            continue
        share = Fraction(max(counts), release.audit.rows)
        nobody = share / (len(counts) - 1)
        if share >= COMMON and nobody <= found.limit < share:
            yield (
                f"{name}: {percent(float(share))} of the rows have the same value, and t hardly limits its share in a class: "
                f"where nobody has it, the ordered distance can be as small as {decimal_up(nobody)}. To limit it, write "
                "distance: equal in the policy, with bins where there are many other values."
            )
