"""Bins: the numbers of a sensitive attribute put together to half-open intervals, whose labels are published."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from tclose.values.exact import exact, plain
from tclose.values.formula_guard import unguarded

_NUMBER = r"(-?[0-9.]+(?:[eE][+-]?[0-9]+)?(?:/[0-9]+)?)"
_LABELS = [re.compile(form) for form in (rf"below {_NUMBER}", rf"\[{_NUMBER}, {_NUMBER}\)", rf"{_NUMBER} or more")]
MOST_BINS = 1_000
"""More bins of equally many rows tell little less than the values themselves."""

REQUIREMENT = (
    f"a count of bins (2 to {MOST_BINS:,}), a list of as many ascending edges at most, or {{width: ...}} with a number above 0"
)


@dataclass(frozen=True)
class Bins:
    """How numbers are put together: ``count`` bins of about equally many rows, bins of one ``width``, or between ``edges``.

    Bins are half-open: a value at an edge belongs to the bin above it. The outermost bins of a count and of edges have no end,
    so that they do not tell the least and the greatest value. The edges of a count are round numbers between the values of
    neighbouring bins: see `labels_of`.
    """

    count: int | None = None
    width: Fraction | None = None
    edges: tuple[Fraction, ...] | None = None

    @classmethod
    def read(cls, setting: Any) -> Bins:
        """Return the bins of a policy's setting: ``5``, ``[0, 10]``, ``{count: 5}``, ``{width: 0.5}`` or ``{edges: [0, 10]}``."""
        if isinstance(setting, Bins):
            return setting
        if not isinstance(setting, Mapping):
            setting = {"edges": setting} if isinstance(setting, list | tuple) else {"count": setting}
        try:
            ((kind, given),) = setting.items()
            if kind == "count" and isinstance(given, int) and not isinstance(given, bool) and 2 <= given <= MOST_BINS:
                return cls(count=given)
            if kind == "width" and exact(given) > 0:
                return cls(width=exact(given))
            if kind == "edges" and isinstance(given, list | tuple) and 0 < len(given) <= MOST_BINS:
                edges = tuple(exact(edge) for edge in given)
                if all(low < high for low, high in pairwise(edges)):
                    return cls(edges=edges)
        except ValueError:
            pass
        raise ValueError(REQUIREMENT)

    def setting(self) -> Any:
        """Return the bins as a policy writes them: a count, a list of edges, or ``{"width": 0.5}``."""
        if self.edges is not None:
            return [plain(edge) for edge in self.edges]
        return self.count if self.width is None else {"width": plain(self.width)}

    def labels(self, numbers: Sequence[Fraction], counts: Sequence[int]) -> list[str]:
        """Return the label of each number's bin, as ``[10, 20)``; numbers ascend, and ``counts`` says how often each occurs."""
        if self.width is not None:
            floors = [number // self.width for number in numbers]
            return [f"[{plain(floor * self.width)}, {plain((floor + 1) * self.width)})" for floor in floors]
        if self.edges is not None:
            return [_bin_label(self.edges, bisect_right(self.edges, number)) for number in numbers]
        assert self.count is not None
        starts = [0, *quantile_starts(counts, self.count), len(numbers)]
        names = labels_of([(numbers[start], numbers[end - 1]) for start, end in pairwise(starts)] if numbers else [])
        return [name for name, (start, end) in zip(names, pairwise(starts), strict=False) for _ in range(start, end)]

    def fit(self, labels: Iterable[str]) -> bool:
        """Whether published labels can come from these bins: of the width, between the edges, or at most ``count`` labels."""
        intervals = [interval_of(label) for label in labels]
        if self.count is not None:
            return None not in intervals and len(intervals) <= self.count
        if self.edges is not None:
            known = set(pairwise((float("-inf"), *self.edges, float("inf"))))
            return known.issuperset(intervals)
        return all(ends is not None and self._is_of_width(*ends) for ends in intervals)

    def _is_of_width(self, low: Fraction | float, high: Fraction | float) -> bool:
        """Whether an interval is a bin of ``width``: as long as that, and its low end is a multiple of it."""
        assert self.width is not None
        return math.isfinite(low) and high - low == self.width and low % self.width == 0


def count_bins(counts: Sequence[int], asked: int) -> int:
    """Return how many bins ``asked`` ones become: fewer where many rows have one value, because a value is never divided.

    >>> count_bins([90, 1, 2, 3, 4], 10), count_bins([1] * 20, 10)
    (2, 10)
    """
    return len(quantile_starts(counts, asked)) + 1


def quantile_starts(counts: Sequence[int], parts: int) -> list[int]:
    """Return the indices of the numbers at which parts of about equally many rows start, without the first.

    ``counts`` says how often each number occurs, ascending. There are fewer parts where numbers are few.
    """
    if len(counts) < 2:
        return []
    below = np.cumsum([0, *counts])  # rows below each number
    total = int(below[-1])
    return sorted({int(np.abs(below[1:-1] * parts - total * part).argmin()) + 1 for part in range(1, parts)})


def labels_of(extents: Sequence[tuple[Fraction, Fraction]]) -> list[str]:
    """Return the labels of bins, lowest first, from the least and the greatest number in each bin.

    An edge is the roundest number above the one bin and not above the next: it depends on nothing but the numbers in the bins.

    >>> labels_of([(Fraction(3), Fraction(41)), (Fraction(67), Fraction(812)), (Fraction(955), Fraction(1203))])
    ['below 50', '[50, 900)', '900 or more']
    """
    edges = [roundest_between(lower[1], upper[0]) for lower, upper in pairwise(extents)]
    if len(extents) == 1:  # it has no end, and yet a label: a round number somewhat below it
        least = extents[0][0]
        edges = [roundest_between(least - max(abs(least), Fraction(1)) / 10, least)]
        return [_bin_label(edges, 1)]
    return [_bin_label(edges, index) for index in range(len(extents))]


def roundest_between(above: Fraction, up_to: Fraction) -> Fraction:
    """Return the roundest number above ``above`` and at most ``up_to``: a multiple of the largest of ..., 10, 5, 2, 1, 0.5, ...

    If there are several, it is the largest of them. Only 2 and 4, or 6 and 8, can be as round as one another.

    >>> [str(roundest_between(Fraction(above), Fraction(up_to))) for above, up_to in [(41, 67), (312, 498), (-3, 8), (5, 9)]]
    ['50', '400', '0', '8']
    """
    power = Fraction(10) ** len(str(int(max(abs(above), abs(up_to)))))  # all multiples but 0 are beyond both
    while True:
        for step in (power, power / 2, power / 5):
            multiple = up_to // step * step
            if multiple > above:
                return multiple
        power /= 10


def _bin_label(edges: Sequence[Fraction], index: int) -> str:
    """Return the label of a bin: below the first edge, between two edges, or from the last edge on."""
    if index == 0:
        return f"below {plain(edges[0])}"
    if index == len(edges):
        return f"{plain(edges[-1])} or more"
    return f"[{plain(edges[index - 1])}, {plain(edges[index])})"


def in_order(labels: Sequence[Any]) -> list[Any] | None:
    """Return the labels of bins from lowest to highest; None if a text is not a label of a bin, or two bins overlap."""
    found = [interval_of(label) for label in labels]
    intervals = sorted((ends, index) for index, ends in enumerate(found) if ends is not None)
    if len(intervals) < len(found) or any(first[0][1] > second[0][0] for first, second in pairwise(intervals)):
        return None
    return [labels[index] for _, index in intervals]


def interval_of(label: Any) -> tuple[Fraction | float, Fraction | float] | None:
    """Return the ends (low, high) of the bin that a label names; None if the text is not such a label, or the bin is empty."""
    text = unguarded(str(label))  # a release may have put a guard before "-5 or more"
    for kind, form in enumerate(_LABELS):
        match = form.fullmatch(text)
        if match is not None:
            try:
                ends = [exact(end) for end in match.groups()]
            except ValueError:
                return None
            low, high = ((float("-inf"), ends[0]), (ends[0], ends[-1]), (ends[0], float("inf")))[kind]
            return (low, high) if low < high else None
    return None
