"""Regions of quasi-identifier values around classes: where (n,t)-closeness looks when nobody hands over witnesses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.hierarchy import ROOT, Hierarchy, printed


def coarsenings(columns: Sequence[tuple[Hierarchy | None, Sequence[Any]]]) -> Iterator[NDArray[np.int64]]:
    """Ways to put classes together, each as the region of every class: all hierarchies up to nodes of height 0, 1, 2, ...

    First every class alone whose values are leaves: nothing lies inside it. At height 0 the others are regions with the classes
    whose values lie below their own. Each height once with the quasi-identifiers that have no hierarchy as they are, once
    without them. A region holds every class whose values lie below its nodes.

    Parameters
    ----------
    columns
        For each quasi-identifier its hierarchy, and its value in each class.
    """
    leaves = [np.array([value in tree for value in values]) for tree, values in columns if tree is not None]
    numbers = np.arange(len(columns[0][1]))
    yield np.where(np.logical_and.reduce([numbers >= 0, *leaves]), numbers, -1)
    highest = max((tree.height for tree, _ in columns if tree is not None), default=0)
    for height in range(highest + 1):
        lifted = [_lifted(tree, values, height) for tree, values in columns if tree is not None]
        kept = [list(values) for tree, values in columns if tree is None]
        yield _groups([*lifted, *kept])
        if kept and lifted:
            yield _groups(lifted)


def _lifted(tree: Hierarchy, values: Sequence[Any], height: int) -> list[int]:
    """Each value's topmost node that is at most so high, or that is itself the value of some class.

    No such node lies above another: the upper one would have been taken for both. So nodes are disjoint regions. A value that
    the hierarchy does not know is the root, and then so is every other.
    """
    nodes = [tree.find(printed(value)) for value in values]
    own = {ROOT if node is None else node for node in nodes}
    return [
        next(above for above in tree.path(ROOT if node is None else node) if tree.heights[above] <= height or above in own)
        for node in nodes
    ]


def _groups(columns: list[list[Any]]) -> NDArray[np.int64]:
    numbers: dict[tuple[Any, ...], int] = {}
    return np.array([numbers.setdefault(row, len(numbers)) for row in zip(*columns, strict=True)], dtype=np.int64)
