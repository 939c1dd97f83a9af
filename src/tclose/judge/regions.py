"""Regions: the sets of classes that (n,t)-closeness compares a class with.

A region is a box of quasi-identifier values that cuts through no class: each class lies inside it or does not meet it. So its
rows are those of the classes inside, whatever values are behind the labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tclose.judge.boxes import Line, Tree
from tclose.values.arrays import Bools, Ints


def regions(axes: Sequence[Line | Tree], sizes: Ints, n: int, wanted: Bools) -> Iterator[Ints]:
    """Yield regions of at least n rows, each as the numbers of the classes inside, from the published boxes and n alone.

    The table is split where no class lies on both sides, the parts are split again, and each part is a region. A line is split
    in two, as evenly as its gaps allow; a tree at the lowest node above all classes, into its branches. The first pass splits
    along the axis whose largest part is smallest. One more pass for each axis takes that axis while it can be split.

    Parameters
    ----------
    axes
        The boxes of all classes, one axis for each quasi-identifier.
    sizes : (classes,) int64
        The rows of each class.
    wanted : (classes,) bool
        The classes that still need a region. The caller clears it between regions; parts without such classes are skipped.
    """
    for preferred in (None, *range(len(axes))):
        waiting = [np.arange(len(sizes))]
        while waiting:
            inside = waiting.pop()
            if not wanted[inside].any() or sizes[inside].sum() < n:
                continue
            yield inside
            waiting += _best_parts(axes, sizes, inside, preferred)


def _best_parts(axes: Sequence[Line | Tree], sizes: Ints, inside: Ints, preferred: int | None) -> list[Ints]:
    """Return the parts of a region along the preferred axis; else along the axis whose largest part is smallest."""
    found = [] if preferred is None else _parts_along(axes[preferred], sizes, inside)
    if not found:
        ways = [parts for parts in (_parts_along(axis, sizes, inside) for axis in axes) if parts]
        found = min(ways, key=lambda parts: max(int(sizes[part].sum()) for part in parts), default=[])
    return found


def _parts_along(axis: Line | Tree, sizes: Ints, inside: Ints) -> list[Ints]:
    """Return the parts of a region along one axis, each as class numbers; an empty list if it cannot be split."""
    return _halves_of_line(axis, sizes, inside) if isinstance(axis, Line) else _branches_of_tree(axis, inside)


def _halves_of_line(line: Line, sizes: Ints, inside: Ints) -> list[Ints]:
    """Return the classes on the two sides of the gap nearest the median row; an empty list if there is no gap."""
    ordered = inside[np.argsort(line.low[inside], kind="stable")]
    gaps = np.flatnonzero(line.low[ordered[1:]] > np.maximum.accumulate(line.high[ordered])[:-1]) + 1
    if not len(gaps):
        return []
    rows = np.cumsum(sizes[ordered])
    gap = gaps[np.argmin(np.abs(2 * rows[gaps - 1] - rows[-1]))]
    return [ordered[:gap], ordered[gap:]]


def _branches_of_tree(tree: Tree, inside: Ints) -> list[Ints]:
    """Return the classes in each branch at the lowest node above all classes; an empty list if a class stands there."""
    paths = tree.paths[inside]
    parting = np.flatnonzero((paths != paths[0]).any(axis=0))
    if not len(parting) or (paths[:, parting[0]] < 0).any():
        return []
    taken = paths[:, parting[0]]
    order = np.argsort(taken, kind="stable")
    return np.split(inside[order], np.flatnonzero(np.diff(taken[order])) + 1)
