"""Intervals: numbers with a hierarchy of intervals, of which each width is a multiple of the one before."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.errors import HierarchyError
from tclose.make.scales.boxes import Ranges, ranks_of
from tclose.make.scales.rulers import ruler
from tclose.make.scales.spans import spans_of
from tclose.make.scales.tree import Tree
from tclose.values.arrays import Ints
from tclose.values.exact import exact, plain
from tclose.values.hierarchy import ROOT, Hierarchy, printed
from tclose.values.intervals import Intervals

End = tuple[Fraction | float, int]
"""A number, and 0; or -1 for the position just before it."""


class IntervalTree(Tree):
    """Numbers published as the narrowest interval of a hierarchy that has all values of a class.

    Intervals have the labels that ``snap`` makes: ``[20, 24]`` for whole numbers, ``[20, 25)`` for others. An interval that has
    one whole number is that number.

    Examples
    --------
    >>> scale, codes = IntervalTree.of_widths("age", [21, 24, 26, 47], Intervals.read({"intervals": [5, 10]}))
    >>> published = scale.publish(np.array([0, 1, 2, 3]), np.array([0, 2, 3, 4]))
    >>> published.columns["age"].values, published.ncp.tolist()
    (['[20, 24]', '26', '47'], [0.5, 0.0, 0.0])
    >>> scale.at_level(1).publish(np.array([0, 1, 2, 3]), np.array([0, 3, 4])).columns["age"].values
    ['[20, 29]', '[40, 49]']
    """

    _intervals: Intervals
    _ends: dict[str, tuple[End, End]]

    @classmethod
    def of_widths(
        cls, name: str, values: Sequence[Any], intervals: Intervals, *, missing: bool = False
    ) -> tuple[IntervalTree, Ints]:
        """Return the scale of a column, and the code of each value; with ``missing``, the last code is that of missing cells.

        Parameters
        ----------
        values : sequence
            The distinct values, ascending: integers, decimals or floats, all finite.
        """
        leaves = list(map(printed, values))
        ends: dict[str, tuple[End, End]] = {leaf: ((exact(leaf), 0), (exact(leaf), 0)) for leaf in leaves}
        levels = [leaves, *(_labels_of_width(name, values, width, ends) for width in intervals.widths)] if values else []
        paths = [["*", *(label for label, _ in groupby(path))] for path in zip(*reversed(levels), strict=True)]
        try:
            tree = Hierarchy(paths or [["*"]])
        except HierarchyError as error:
            raise HierarchyError(f"Column {name!r}: {error}") from None
        scale, codes = cls.of(name, values, tree, missing=missing, given=False)
        assert isinstance(scale, cls)
        scale._intervals, scale._ends = intervals, ends
        return scale, codes

    def boxes(self, codes: NDArray[Any], starts: Ints) -> Ranges:
        """Return the range of numbers that each published interval stands for; ``*`` is any number, missing cells come last."""
        found = spans_of(codes, starts, self.size - 1 if self.missing else None)
        nodes = self._published_nodes(found.first, found.last)
        everything = nodes == ROOT
        known = {node: self._ends[self._names[node] or ""] for node in set(nodes[~everything & ~found.absent].tolist())}
        ends_ranked = ranks_of([end for pair in known.values() for end in pair]).reshape(-1, 2) + 1
        last = int(ends_ranked.max(initial=0)) + 1
        rank = {node: tuple(pair) for node, pair in zip(known, ends_ranked.tolist(), strict=True)} | {ROOT: (0, last)}
        both = np.array([rank.get(node, (last, last)) for node in np.where(found.absent, -1, nodes).tolist()], dtype=np.int64)
        return Ranges(both[:, 0], np.where(found.gone > 0, last, both[:, 1]))

    def describe(self, published: str, *, missing: bool) -> str:
        """Return the codebook's sentence on what the published column contains."""
        if self._level == 0:
            return super().describe(published, missing=missing)
        widths = [str(plain(width)) for width in self._intervals.widths]
        says = f"; {self._or_missing.strip()!r} says that some of them miss it" if missing else ""
        if self._level is None:
            several = widths[-1] if len(widths) == 1 else f"{', '.join(widths[:-1])} or {widths[-1]}"
            what = (
                f"The value of {self.name!r} if all rows of the class agree on it, else the narrowest interval with their values"
            )
            return f"{what}, of width {several}; or *, any value{says}."
        if self._level >= len(self._ancestors) - 1:
            return f"The value of {self.name!r}{says}."
        return f"The interval of {self.name!r}, of width {widths[-self._level]}, that has the value{says}."


def _labels_of_width(name: str, values: Sequence[Any], width: Fraction, ends: dict[str, tuple[End, End]]) -> list[str]:
    """Return the label of each value's interval of a width, and add to ``ends`` where each interval begins and ends."""
    measure = ruler(name, values, width, None, None)
    keys, cell_of = measure.cells()
    labels = {}
    for key in set(keys):
        cell = cell_of(key)
        low, high = measure.text(cell.low), measure.text(cell.high)
        closed = measure.step is not None  # whole numbers: the last one is known
        label = low if cell.low == cell.high else f"[{low}, {high}{']' if closed else ')'}"
        labels[key] = label
        ends[label] = (exact(low), 0), (exact(high), 0 if closed else -1)
    return [labels[key] for key in keys]
