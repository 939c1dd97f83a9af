"""Binning: many figures become few before a chart is made of them: one of a million rows is as small as one of ten."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tclose.report.labels import labels_of
from tclose.values.arrays import Floats, Ints
from tclose.values.exact import number_of

BINS = 24
FAR = 50
"""From this ratio of the largest number to the least on, an axis is logarithmic."""


def is_far_apart(numbers: Any) -> bool:
    """Whether numbers above 0 differ so much that they need a logarithmic axis."""
    return bool(len(numbers)) and int(np.min(numbers)) > 0 and int(np.max(numbers)) >= FAR * int(np.min(numbers))


def edges_of_sizes(sizes: Ints, k: int = 0, *, logarithmic: bool = False) -> list[int]:
    """Return whole numbers that cut the range of some sizes into about 24 bins; each bin ends before the next begins.

    The first bin begins at the least size. Bins of one width do so only if no size is below k; else one of them begins at k. On a
    logarithmic axis each bin is at least as wide as the one before it, so that they look about as wide there.

    >>> edges_of_sizes(np.array([3, 4, 7]))
    [3, 4, 5, 6, 7, 8]
    >>> edges_of_sizes(np.array([7, 61]), k=5)[:4], edges_of_sizes(np.array([7, 61]), k=8)[:4]
    ([7, 10, 13, 16], [5, 8, 11, 14])
    >>> edges_of_sizes(np.array([14, 288]), k=5, logarithmic=True)[:5]
    [14, 16, 19, 22, 25]
    """
    least, most = int(sizes.min()), int(sizes.max())
    if not logarithmic:
        step = -(-(most - least + 1) // BINS)
        first = least if least >= k else k + (least - k) // step * step
        return [max(edge, 1) for edge in range(first, most + step + 1, step)]
    growth = ((most + 1) / least) ** (1 / BINS) - 1
    edges = [least]
    while edges[-1] <= most:
        edges.append(edges[-1] + max(1, math.ceil(edges[-1] * growth - 1e-9)))
    return edges


def whole_ticks(least: int, most: int, *, logarithmic: bool = False, count: int = 6) -> list[int]:
    """Return round whole numbers for the ticks of an axis, about ``count`` of them, from ``least`` to ``most``.

    >>> whole_ticks(3, 9), whole_ticks(0, 2), whole_ticks(4, 30_000, logarithmic=True)
    ([3, 4, 5, 6, 7, 8, 9], [0, 1, 2], [10, 100, 1000, 10000])
    """
    if logarithmic:
        powers = [10**power for power in range(len(str(most))) if least <= 10**power <= most]
        if len(powers) > 2:
            return powers
        return [tick * 10**power for power in range(len(str(most))) for tick in (1, 2, 5) if least <= tick * 10**power <= most]
    rough = max(1, (most - least) // count)
    step = next(tick * 10**power for power in range(20) for tick in (1, 2, 5) if tick * 10**power >= rough)
    return list(range(-(-least // step) * step, most + 1, step)) or [least]


def share_ticks(most: float) -> list[float]:
    """Return round shares for the ticks of an axis, at most six of them, from 0 to the largest share: none beyond 100%.

    >>> share_ticks(1), share_ticks(0.37), share_ticks(0.004)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 0.1, 0.2, 0.3], [0.0, 0.001, 0.002, 0.003, 0.004])
    """
    parts = next(10**power // tick for power in range(10, 0, -1) for tick in (1, 2, 5) if 5 * tick >= most * 10**power)
    return [number / parts for number in range(int(most * parts + 1e-9) + 1)]


def grid(x: Floats, y: Floats, columns: int, rows: int) -> list[tuple[float, float, int]]:
    """Return at most columns times rows points for many: one for each cell of a grid, with the number of points in it.

    It stands at the mean of their x and at the largest of their y: a risk is never shown too small.
    """
    keys, cells, counts = np.unique(_cells_of(x, columns) * rows + _cells_of(y, rows), return_inverse=True, return_counts=True)
    means = np.bincount(cells, weights=x) / counts
    largest = np.full(len(keys), -np.inf)
    np.maximum.at(largest, cells, y)
    return list(zip(means.tolist(), largest.tolist(), counts.tolist(), strict=True))


def _cells_of(numbers: Floats, count: int) -> Ints:
    """Return the number of the cell of each figure, where a range is cut into cells of equal width."""
    least, most = float(numbers.min()), float(numbers.max())
    width = (most - least) or 1.0
    return np.minimum((numbers - least) / width * count, count - 1).astype(np.int64)


class Groups:
    """Values put into few groups: neighbours together where values have an order, else the rare ones in one group.

    Attributes
    ----------
    labels : list of str
    group : list of int
        The group of each value.
    """

    def __init__(self, values: Sequence[Any], weights: Sequence[float], *, most: int, in_order: bool, width: float) -> None:
        """Put values into at most ``most`` groups; weights tell which ones are rare, ``width`` is that of a label in pixels."""
        count = len(values)
        if count <= most:
            self.group, self.labels = list(range(count)), labels_of(values, width)
        elif in_order:
            self._put_neighbours_together(values, most, width)
        else:
            self._put_rare_ones_together(values, weights, most, width)

    def _put_neighbours_together(self, values: Sequence[Any], most: int, width: float) -> None:
        """Make groups of equally many neighbours, called by their first and their last value."""
        size = -(-len(values) // most)
        self.group = [index // size for index in range(len(values))]
        starts = range(0, len(values), size)
        ends = [min(start + size, len(values)) - 1 for start in starts]
        shown = sorted({*starts, *ends})
        names = dict(zip(shown, labels_of([values[index] for index in shown], (width - 20) / 2), strict=True))
        self.labels = [
            names[start] if start == end else f"{names[start]} to {names[end]}" for start, end in zip(starts, ends, strict=True)
        ]

    def _put_rare_ones_together(self, values: Sequence[Any], weights: Sequence[float], most: int, width: float) -> None:
        """Keep the values with the largest weights, in their order, and put all others into one group at the end."""
        kept = sorted(sorted(range(len(values)), key=lambda index: -weights[index])[: most - 1])
        self.group = [most - 1] * len(values)
        for number, index in enumerate(kept):
            self.group[index] = number
        self.labels = [*labels_of([values[index] for index in kept], width), number_of(len(values) - len(kept), "other")]

    def sums(self, numbers: Sequence[float]) -> list[float]:
        """Return the sum of some figures of the values in each group."""
        sums = [0.0] * len(self.labels)
        for group, number in zip(self.group, numbers, strict=True):
            sums[group] += float(number)
        return sums
