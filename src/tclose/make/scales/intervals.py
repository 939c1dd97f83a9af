"""Intervals: numbers with a hierarchy of intervals, which become wider from level to level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.errors import HierarchyError
from tclose.make.scales.boxes import Ranges, ranks_of
from tclose.make.scales.spans import spans_of
from tclose.make.scales.tree import Tree
from tclose.values.arrays import Ints
from tclose.values.builders import NumberBuilder
from tclose.values.builders.numbers import End
from tclose.values.hierarchy import ROOT, Hierarchy, joined


class IntervalTree(Tree):
    """Numbers published as the narrowest interval of a hierarchy that has all values of a class.

    Intervals have the labels that ``snap`` makes: ``[20, 24]`` for whole numbers, ``[20, 25)`` for others. An interval that has
    one whole number is that number.

    Examples
    --------
    >>> from tclose.values.builders import Intervals
    >>> scale, codes = IntervalTree.of_builder("age", [21, 24, 26, 47], Intervals.read([5, 10]))
    >>> published = scale.publish(np.array([0, 1, 2, 3]), np.array([0, 2, 3, 4]))
    >>> published.columns["age"].values, published.ncp.tolist()
    (['[20, 24]', '26', '47'], [0.5, 0.0, 0.0])
    >>> scale.at_level(1).publish(np.array([0, 1, 2, 3]), np.array([0, 3, 4])).columns["age"].values
    ['[20, 29]', '[40, 49]']
    """

    _builder: NumberBuilder
    _ends: dict[str, tuple[End, End]]

    @classmethod
    def of_builder(
        cls, name: str, values: Sequence[Any], builder: NumberBuilder, *, missing: bool = False
    ) -> tuple[IntervalTree, Ints]:
        """Return the scale of a column, and the code of each value; with ``missing``, the last code is that of missing cells.

        Parameters
        ----------
        values : sequence
            The distinct values, ascending: integers, decimals or floats, all finite.
        """
        paths, ends = builder.labelled(values)
        try:
            tree = Hierarchy(joined(paths) if paths else [["*"]])
        except HierarchyError as error:
            raise HierarchyError(f"Column {name!r}: {error}") from None
        scale, codes = cls.of(name, values, tree, missing=missing, given=False)
        assert isinstance(scale, cls)
        scale._builder, scale._ends = builder, ends
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
        levels = self._builder.levels()
        says = f"; {self._or_missing.strip()!r} says that some of them miss it" if missing else ""
        if self._level is None:
            what = (
                f"The value of {self.name!r} if all rows of the class agree on it, else the narrowest interval with their values"
            )
            return f"{what}, {self._builder.in_words(levels)}; or *, any value{says}."
        if self._level >= len(self._ancestors) - 1:
            return f"The value of {self.name!r}{says}."
        return f"The interval of {self.name!r}, {self._builder.in_words(levels[-self._level :][:1])}, that has the value{says}."
