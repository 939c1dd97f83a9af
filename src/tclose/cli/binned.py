"""Bins on the screen: where a table gives fewer than were asked, and the half of a class in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tclose.values.bins import interval_of
from tclose.values.exact import number_of

if TYPE_CHECKING:
    from tclose.judge.result import Audit


OWN_BINS = "To choose the bins yourself, give a list of their edges instead of a number."
"""What the maker of a release can do about fewer bins; its readers cannot."""


def fewer_bins(audit: Audit) -> Iterator[str]:
    """Yield a sentence for each sensitive column that has fewer bins than the policy asks for; what to do is `OWN_BINS`."""
    for column in audit.policy.sensitive:
        asked, found = None if column.bins is None else column.bins.count, audit.sensitive[column.name].bins
        if asked is not None and found is not None and found < asked:
            yield (
                f"{column.name} has {number_of(found, 'bin')}, not {asked:,} as asked: rows with the same value share a bin, and "
                "some values have many rows."
            )


def half_in_words(middle: str) -> str:
    """Return what half of some rows have, from their median value or bin.

    >>> [half_in_words(middle) for middle in ("12", "[10, 20)", "below 10", "20 or more")]
    ['12 or less', 'below 20', 'below 10', '20 or more']
    """
    if interval_of(middle) is None:
        return f"{middle} or less"
    return f"below {middle.removesuffix(')').partition(', ')[2]}" if middle.startswith("[") else middle
