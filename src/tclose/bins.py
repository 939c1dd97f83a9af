"""Bins: the numbers of a sensitive attribute put together to half-open intervals, whose labels are published."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from tclose._numbers import exact, plain
from tclose.guard import unguarded

_NUMBER = r"(-?[0-9.]+(?:[eE][+-]?[0-9]+)?(?:/[0-9]+)?)"
_LABELS = [re.compile(form) for form in (rf"below {_NUMBER}", rf"\[{_NUMBER}, {_NUMBER}\)", rf"{_NUMBER} or more")]
MOST_BINS = 1_000
"""More bins of equally many rows tell little less than the values themselves."""

REQUIREMENT = f"a count of bins (2 to {MOST_BINS:,}), a list of ascending edges, or {{width: ...}} with a number above 0"


@dataclass(frozen=True)
class Bins:
    """How numbers are put together: ``count`` bins of about equally many rows, bins of one ``width``, or between ``edges``.

    Bins are half-open: a value at an edge belongs to the bin above it. The outermost bins of a count and of edges have no end,
    so that they do not tell the least and the greatest value.
    """

    count: int | None = None
    width: Fraction | None = None
    edges: tuple[Fraction, ...] | None = None

    @classmethod
    def read(cls, setting: Any) -> Bins:
        """From a policy: ``5``, ``[0, 10, 20]``, ``{count: 5}``, ``{width: 0.5}`` or ``{edges: [0, 10, 20]}``."""
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
            if kind == "edges" and isinstance(given, list | tuple) and given:
                edges = tuple(exact(edge) for edge in given)
                if all(low < high for low, high in pairwise(edges)):
                    return cls(edges=edges)
        except ValueError:
            pass
        raise ValueError(REQUIREMENT)

    def setting(self) -> Any:
        """As `read` reads it."""
        if self.edges is not None:
            return [plain(edge) for edge in self.edges]
        return self.count if self.width is None else {"width": plain(self.width)}

    def labels(self, numbers: Sequence[Fraction], counts: Sequence[int]) -> list[str]:
        """The label of each number's bin; the numbers ascend, and occur so often."""
        if self.width is not None:
            floors = [number // self.width for number in numbers]
            return [f"[{plain(floor * self.width)}, {plain((floor + 1) * self.width)})" for floor in floors]
        edges = self.edges if self.edges is not None else self._quantiles(numbers, counts)
        return [_label(edges, bisect_right(edges, number)) for number in numbers]

    def _quantiles(self, numbers: Sequence[Fraction], counts: Sequence[int]) -> tuple[Fraction, ...]:
        """Edges at values of the table, so that bins hold about equally many rows."""
        assert self.count is not None
        if len(numbers) == 1:
            return (numbers[0],)
        below = np.cumsum([0, *counts])  # rows below each number
        total = int(below[-1])
        places = {int(np.abs(below[1:-1] * self.count - total * part).argmin()) + 1 for part in range(1, self.count)}
        return tuple(numbers[place] for place in sorted(places))


def _label(edges: Sequence[Fraction], place: int) -> str:
    if place == 0:
        return f"below {plain(edges[0])}"
    if place == len(edges):
        return f"{plain(edges[-1])} or more"
    return f"[{plain(edges[place - 1])}, {plain(edges[place])})"


def in_order(labels: Sequence[Any]) -> list[Any] | None:
    """The labels of bins from the lowest to the highest; None where some are no labels of bins, or two bins overlap."""
    intervals = []
    for label in labels:
        text = unguarded(str(label))  # a release may have put a guard before "-5 or more"
        found = next((place for place, form in enumerate(_LABELS) if form.fullmatch(text)), None)
        if found is None:
            return None
        try:
            ends = [exact(end) for end in _LABELS[found].fullmatch(text).groups()]  # type: ignore[union-attr]
        except ValueError:
            return None
        low, high = ((float("-inf"), ends[0]), (ends[0], ends[-1]), (ends[0], float("inf")))[found]
        intervals.append((low, high, label))
    intervals.sort(key=lambda interval: interval[:2])
    if any(first[1] > second[0] for first, second in pairwise(intervals)):
        return None
    return [label for _, _, label in intervals]
