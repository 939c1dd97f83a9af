"""One attribute alone: the worst case of a class from the rows that it takes of each fragment (Cao et al. 2011, SABRE).

Fragments of one attribute do not overlap. The earth mover's distance is convex, so the worst case is at a corner, where the rows
of each fragment all have one value; and which value that is does not depend on the other fragments.

Shares are floats, or Python's fractions in arrays of objects; then all is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.distances.shapes import Line, Tree
from tclose.values.arrays import Ints

Numbers = NDArray[Any]


def is_known(distance: Any, values: Sequence[Ints]) -> bool:
    """Whether the worst case of a class has a closed form, for fragments of one attribute with these values.

    It has, except for a metric, and for a tree that a given path has cut across its nodes.
    """
    return distance.shape in ("line", "set") or (distance.shape == "tree" and _follow_nodes(distance, values))


def worst_alone(distance: Any, values: Sequence[Ints], shares: Numbers, table: Numbers) -> Numbers:
    """Return the worst distance from the table of classes that take ``shares`` of the fragments of one attribute."""
    if distance.scale == 0:
        return np.zeros(len(shares))
    filled = [number for number, inside in enumerate(values) if len(inside)]
    if distance.shape == "line":
        in_order = sorted(filled, key=lambda number: values[number][0])
        return _worst_on_line(distance, [values[number] for number in in_order], shares[:, in_order], table)
    if distance.shape == "set":
        stays: Numbers = np.array([np.minimum(shares[:, number], table[values[number]].min()) for number in filled]).sum(axis=0)
        return 1 - stays
    return _worst_in_tree(distance, [values[number] for number in filled], shares[:, filled], table)


def _worst_on_line(distance: Line, values: list[Ints], shares: Numbers, table: Numbers) -> Numbers:
    """Return the worst distance of classes on a line, added up fragment by fragment from the left.

    All rows of a fragment are at one value v, so that the cumulated share is A before v and A + g from v on. What that costs is
    convex in v, because the table's cumulated share only rises: the worst v is one of the fragment's ends. Between fragments the
    share is A + g for every v.
    """
    gaps, below = np.diff(distance.positions).astype(shares.dtype), np.cumsum(table)[:-1]
    cost = np.zeros(len(shares), dtype=shares.dtype)
    before = np.zeros((len(shares), 1), dtype=shares.dtype)
    for number, inside in enumerate(values):
        after = before + shares[:, [number]]
        span = slice(inside[0], inside[-1])
        at_end, at_start = ((np.abs(share - below[span]) * gaps[span]).sum(axis=1) for share in (before, after))
        between = slice(inside[-1], values[number + 1][0] if number + 1 < len(values) else inside[-1])
        cost = cost + np.maximum(at_end, at_start) + (np.abs(after - below[between]) * gaps[between]).sum(axis=1)
        before = after
    worst: Numbers = cost / distance.scale
    return worst


def _follow_nodes(distance: Tree, values: Sequence[Ints]) -> bool:
    """Whether every node of a tree has whole fragments below it, or a part of one alone; a given path may cut across."""
    owner = np.full(distance.m, -1)
    for number, inside in enumerate(values):
        owner[inside] = number
    for depth in range(1, len(distance.ancestors)):
        runs = distance.runs(depth)
        for first, last in zip(runs, np.append(runs[1:], distance.m), strict=True):
            inside = np.unique(owner[first:last])
            inside = inside[inside >= 0]
            across = [number for number in inside if values[number][0] < first or values[number][-1] >= last]
            if distance.ancestors[depth][first] >= 0 and len(inside) > 1 and across:
                return False
    return True


def _worst_in_tree(distance: Tree, values: list[Ints], shares: Numbers, table: Numbers) -> Numbers:
    """Return the worst distance of classes in a tree: 1 less the least mass that stays below each node.

    Below a node with several fragments is all that these take. Inside a fragment all rows have the one value whose ancestors
    leave the least mass where it is.
    """
    owner = np.full(distance.m, -1)
    for number, inside in enumerate(values):
        owner[inside] = number
    stays: Numbers = np.zeros(len(shares), dtype=shares.dtype)
    stays_at = np.zeros((len(shares), distance.m), dtype=shares.dtype)  # below nodes inside a fragment, if all rows have a value
    for depth in range(1, len(distance.ancestors)):
        runs = distance.runs(depth)
        for first, last in zip(runs, np.append(runs[1:], distance.m), strict=True):
            inside = np.unique(owner[first:last])
            inside = inside[inside >= 0]
            weight, share = distance.weights[depth][first], table[first:last].sum()
            whole = len(inside) > 1 or (len(inside) == 1 and np.isin(values[inside[0]], np.arange(first, last)).all())
            if whole:
                stays = stays + np.minimum(shares[:, inside].sum(axis=1), share) * weight
            elif len(inside):
                stays_at[:, first:last] += (np.minimum(shares[:, inside[0]], share) * weight)[:, None]
    for inside in values:
        stays = stays + stays_at[:, inside].min(axis=1)
    return 1 - stays / distance.scale
