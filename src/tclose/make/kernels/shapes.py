"""Shapes: the ground distance of an attribute as plain integers, and the cumulated counts of a table that its earth mover's
distance reads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.make.kernels.compiling import once
from tclose.values.arrays import Ints
from tclose.values.exact import INT64_MAX

UNLIMITED, LINE, EQUAL, TREE, MATRIX = range(5)
"""The shape of an attribute's ground distance; unlimited if there is no t, or all values are the same."""


def shape_of(distance: Any, n: int) -> tuple[int, int, Ints]:
    """Return the kind of a distance, its scale, and its part of `Limits.shapes`. No class or table has more than n rows.

    The part is, for a line, the position of each value; for a tree, the leaf of each value, then the parent and the weight w_N of
    each node; for a matrix, its rows. The scale is smaller than that of the distance if the numbers were rounded to fit.
    """
    if distance.shape == "set":
        return EQUAL, 1, np.empty(0, dtype=np.int64)
    if distance.shape == "line":
        scale, places = _on_a_grid(distance.scale, distance.positions, INT64_MAX // (2 * n))
        return LINE, scale, places
    if distance.shape == "tree":
        nodes = distance.ancestors  # of each depth; children have larger numbers, so a code's leaf is the largest
        parents, weights = np.zeros((2, int(nodes.max()) + 2), dtype=np.int64)  # the last is for -1, which is no node
        parents[nodes[1:]], weights[nodes] = nodes[:-1], distance.weights
        parents[0] = -1
        return TREE, distance.scale, np.concatenate([nodes.max(axis=0), parents[:-1], weights[:-1]])
    scale, rounded = _on_a_grid(distance.scale, distance.matrix.ravel(), 2**40)
    return MATRIX, scale, rounded


def _on_a_grid(scale: int, numbers: NDArray[Any], largest: int) -> tuple[int, Ints]:
    """Return numbers up to ``scale`` on a coarser grid if they are too large, rounded up: a metric stays a metric."""
    if scale <= largest:
        return scale, numbers.astype(np.int64)
    return largest, np.array([-(-int(number) * largest // scale) for number in numbers], dtype=np.int64)


def cumulated_size(kind: int, m: int, nodes: int) -> int:
    """Return how many cumulated counts a table has over m values, and over the nodes of a tree; see `cumulate`."""
    return 2 * m if kind == LINE else nodes


@once
def cumulate(attribute: Any, shapes: Ints, reference: Ints) -> None:
    """Cumulate the counts of one attribute, which stand before them in ``reference``; they are 0 before."""
    if attribute.kind == LINE:
        _cumulate_line(attribute, shapes, reference)
    elif attribute.kind == TREE:
        _cumulate_tree(attribute, shapes, reference)


@once
def _cumulate_line(attribute: Any, shapes: Ints, reference: Ints) -> None:
    """Fill in T_i, the number of rows up to value i, and W_j = sum_{i<j} T_i (v_{i+1} - v_i), v the positions of the values."""
    v, counts = attribute.shape, attribute.reference + 1
    T = counts + attribute.size
    W = T + attribute.size
    reference[T] = reference[counts]
    for code in range(1, attribute.size):
        reference[T + code] = reference[T + code - 1] + reference[counts + code]
        reference[W + code] = reference[W + code - 1] + reference[T + code - 1] * (shapes[v + code] - shapes[v + code - 1])


@once
def _cumulate_tree(attribute: Any, shapes: Ints, reference: Ints) -> None:
    """Fill in the number of rows below each node."""
    leaves, counts = attribute.shape, attribute.reference + 1
    parents, below = leaves + attribute.size, counts + attribute.size
    for code in range(attribute.size):
        node = shapes[leaves + code]
        while node >= 0:
            reference[below + node] += reference[counts + code]
            node = shapes[parents + node]
