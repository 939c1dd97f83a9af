"""Regions of quasi-identifier values around classes: where (n,t)-closeness looks when nobody hands over witnesses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.hierarchy import ROOT, Hierarchy, printed


def coarsenings(columns: Sequence[tuple[Hierarchy | None, Sequence[Any]]]) -> Iterator[NDArray[np.int64]]:
    """Ways to put classes together, each as the region of every class: all hierarchies up by 1, 2, ... levels.

    Once with the quasi-identifiers that have no hierarchy as they are, once without them. A value that a hierarchy does
    not know goes to its root.

    Parameters
    ----------
    columns
        For each quasi-identifier its hierarchy, and its value in each class.
    """
    highest = max((tree.height for tree, _ in columns if tree is not None), default=0)
    for level in range(1, highest + 1):
        lifted = [[_lift(tree, value, level) for value in values] for tree, values in columns if tree is not None]
        kept = [list(values) for tree, values in columns if tree is None]
        yield _groups([*lifted, *kept])
        if kept:
            yield _groups(lifted)


def _lift(tree: Hierarchy, value: Any, levels: int) -> int:
    node = tree.find(printed(value))
    path = tree.path(ROOT if node is None else node)
    return path[max(len(path) - 1 - levels, 0)]


def _groups(columns: list[list[Any]]) -> NDArray[np.int64]:
    numbers: dict[tuple[Any, ...], int] = {}
    return np.array([numbers.setdefault(row, len(numbers)) for row in zip(*columns, strict=True)], dtype=np.int64)
