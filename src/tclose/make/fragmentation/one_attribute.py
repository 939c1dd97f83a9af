"""One attribute alone: the worst case of a class from the rows that it takes of each fragment (Cao et al. 2011, SABRE).

Fragments of one attribute do not overlap. The earth mover's distance is convex, so that the worst is at a corner, where each
fragment's rows all have one value; and which value that is does not depend on the other fragments.

Shares are floats, or Python's fractions in arrays of objects; then all is exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tclose.distances import Hierarchical
from tclose.make.fragmentation.axes import Axis, LineAxis, Numbers, Sets, TreeAxis

Ints = NDArray[np.int64]


def is_known(axis: Axis, values: Sequence[Ints]) -> bool:
    """Whether the worst case has a closed form, for fragments in which these values occur.

    It has, except for a metric, and for a tree that a given path has cut across its nodes.
    """
    return isinstance(axis, LineAxis | Sets) or (isinstance(axis, TreeAxis) and _follow_nodes(axis.distance, values))


def worst_alone(axis: Axis, values: Sequence[Ints], shares: Numbers, table: Numbers) -> Numbers:
    """The worst case of each row of shares over fragments of the only attribute, in which these values occur."""
    if axis.distance.scale == 0:
        return np.zeros(len(shares))
    filled = [number for number, inside in enumerate(values) if len(inside)]
    if isinstance(axis, LineAxis):
        in_order = sorted(filled, key=lambda number: values[number][0])
        return _worst_on_line(axis, [values[number] for number in in_order], shares[:, in_order], table)
    if isinstance(axis, Sets):
        kept: Numbers = np.array([np.minimum(shares[:, number], table[values[number]].min()) for number in filled]).sum(axis=0)
        return 1 - kept
    assert isinstance(axis, TreeAxis)
    return _worst_in_tree(axis, [values[number] for number in filled], shares[:, filled], table)


def _worst_on_line(axis: LineAxis, values: list[Ints], shares: Numbers, table: Numbers) -> Numbers:
    """Fragment by fragment from the left: its rows all at v, so that the cumulated share is A before v and A + g from v on.

    As v moves on, what that costs is convex, for the table's cumulated share only rises: the worst v is one of the fragment's
    ends. Between fragments the share is A + g whatever v is.
    """
    gaps, below = np.diff(axis.places).astype(shares.dtype), np.cumsum(table)[:-1]
    cost = np.zeros(len(shares), dtype=shares.dtype)
    before = np.zeros((len(shares), 1), dtype=shares.dtype)
    for number, inside in enumerate(values):
        after = before + shares[:, [number]]
        span = slice(inside[0], inside[-1])
        at_end, at_start = ((np.abs(share - below[span]) * gaps[span]).sum(axis=1) for share in (before, after))
        between = slice(inside[-1], values[number + 1][0] if number + 1 < len(values) else inside[-1])
        cost = cost + np.maximum(at_end, at_start) + (np.abs(after - below[between]) * gaps[between]).sum(axis=1)
        before = after
    worst: Numbers = cost / axis.scale
    return worst


def _follow_nodes(distance: Hierarchical, values: Sequence[Ints]) -> bool:
    """Whether every node has whole fragments below it, or a part of one alone; a given path may cut across nodes."""
    owner = np.full(distance.m, -1)
    for number, inside in enumerate(values):
        owner[inside] = number
    for nodes in distance.ancestors[1:]:
        runs = np.flatnonzero(np.diff(nodes, prepend=-2))
        for first, last in zip(runs, np.append(runs[1:], distance.m), strict=True):
            inside = np.unique(owner[first:last])
            inside = inside[inside >= 0]
            across = [number for number in inside if values[number][0] < first or values[number][-1] >= last]
            if nodes[first] >= 0 and len(inside) > 1 and across:
                return False
    return True


def _worst_in_tree(axis: TreeAxis, values: list[Ints], shares: Numbers, table: Numbers) -> Numbers:
    """Nodes with several fragments below have what these take; inside a fragment all rows go the way down that keeps least."""
    distance = axis.distance
    owner = np.full(distance.m, -1)
    for number, inside in enumerate(values):
        owner[inside] = number
    kept: Numbers = np.zeros(len(shares), dtype=shares.dtype)
    ways = np.zeros((len(shares), distance.m), dtype=shares.dtype)  # what is kept inside a fragment on the way to each value
    for level in range(1, len(distance.ancestors)):
        nodes = distance.ancestors[level]
        runs = np.flatnonzero(np.diff(nodes, prepend=-2))
        for first, last in zip(runs, np.append(runs[1:], distance.m), strict=True):
            inside = np.unique(owner[first:last])
            inside = inside[inside >= 0]
            weight, share = distance.weights[level][first], table[first:last].sum()
            whole = len(inside) > 1 or (len(inside) == 1 and np.isin(values[inside[0]], np.arange(first, last)).all())
            if whole:
                kept = kept + np.minimum(shares[:, inside].sum(axis=1), share) * weight
            elif len(inside):
                ways[:, first:last] += (np.minimum(shares[:, inside[0]], share) * weight)[:, None]
    for inside in values:
        kept = kept + ways[:, inside].min(axis=1)
    return 1 - kept / axis.scale
