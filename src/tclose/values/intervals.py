"""Intervals: the widths of a hierarchy of numbers, ``{intervals: [5, 10, 20]}`` in a policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tclose.values.exact import exact, plain

KEY = "intervals"

MOST_WIDTHS = 20
"""Levels of intervals: each width is at least twice the one before, so that twenty of them span a factor of a million."""

REQUIREMENT = f"at most {MOST_WIDTHS} numbers above 0, each a multiple of the one before: [5, 10, 20]"


@dataclass(frozen=True)
class Intervals:
    """A hierarchy of numbers: the value, intervals of the first width, of the second, and so on, then ``*``.

    Intervals begin at the multiples of their width, 0 among them. Each width is a multiple of the one before, so that every
    interval lies inside one of the next level. The tree itself is made from the values: see `tclose.make.scales.IntervalTree`.

    >>> Intervals.read({"intervals": [5, 10]}).setting()
    {'intervals': [5, 10]}
    """

    widths: tuple[Fraction, ...]

    @classmethod
    def read(cls, setting: Mapping[str, Any]) -> Intervals:
        """Return the intervals of a policy's setting: ``{intervals: [5, 10, 20]}``."""
        given = setting[KEY]
        try:
            widths = tuple(map(exact, given)) if isinstance(given, list | tuple) and len(given) <= MOST_WIDTHS else ()
        except ValueError:
            widths = ()
        multiples = all(high > low and (high / low).denominator == 1 for low, high in pairwise(widths) if low > 0)
        if not widths or widths[0] <= 0 or not multiples:
            raise ValueError(REQUIREMENT)
        return cls(widths)

    def setting(self) -> dict[str, Any]:
        """Return the intervals as a policy writes them: ``{"intervals": [5, 10, 20]}``."""
        return {KEY: [plain(width) for width in self.widths]}


def asks_for_intervals(setting: Any) -> bool:
    """Whether a policy's hierarchy is meant to be widths, not a tree: a mapping of ``intervals`` alone, with no tree below."""
    return isinstance(setting, Mapping) and list(setting) == [KEY] and not isinstance(setting[KEY], Mapping | None)
