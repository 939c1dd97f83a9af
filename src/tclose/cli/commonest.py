"""Commonest values on the screen: the largest share of one value in a class, and where t hardly limits such a share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from tclose.cli.screen import listed_names
from tclose.report.commonest import COMMON
from tclose.report.labels import percent
from tclose.values.exact import decimal_up

if TYPE_CHECKING:
    from tclose.release.release import Release
    from tclose.release.spark_release import SparkRelease


def largest_shares(release: Release | SparkRelease, of_table: Mapping[str, Fraction]) -> Iterator[str]:
    """Yield a line with the largest share of one value of each sensitive column in a class, and a sentence where t allows more.

    The shares in classes are the certificate's figures, as those of the report are.

    Parameters
    ----------
    of_table
        The share of the commonest value of each sensitive column in the release; empty if it is not known.
    """
    stated = release.certificate["attained"]["sensitive"]
    binned = any(column.bins is not None and column.publish is None for column in release.audit.policy.sensitive)
    shares = [
        f"{name} {percent(own['share'])}{f' ({percent(float(of_table[name]))})' if name in of_table else ''}"
        for name, own in stated.items()
    ]
    beside = " (in the table)" if of_table else ""
    if shares:
        yield f"Largest share of one value{' or bin' if binned else ''} in a class{beside}: {', '.join(shares)}."
    beyond = [name for name in of_table if name in stated and _is_beyond_t(release, name, of_table[name])]
    if beyond:
        yield f"t does not bound that share of {listed_names(beyond)}: near values count as nearly the same there."


def _is_beyond_t(release: Release | SparkRelease, name: str, of_table: Fraction) -> bool:
    """Whether values have an order, and one has a share in a class beyond t and its share in the table, as in the report."""
    found, policy = release.audit.sensitive[name], release.audit.policy
    ordered = found.distance in ("ordered", "numeric")
    return ordered and found.limit is not None and policy.n is None and found.worst("share") > of_table + found.limit


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
