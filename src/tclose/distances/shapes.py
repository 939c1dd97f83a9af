"""The shapes that a distance can have: on a line, in a set, in a tree, or any metric.

A shape has the integers from which an earth mover's distance is computed. A distance of a known shape needs no more than a class
that sets them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.distances.base import Distance
from tclose.values.arrays import Ints
from tclose.values.exact import integer_dtype


class Line(Distance):
    r"""Values stand on a line: :math:`d(i, j) = |v_i - v_j| / (v_m - v_1)`.

    Attributes
    ----------
    positions : (m,) integers
        v, ascending from 0: int64, or Python's integers where 64 bits do not hold them. ``scale`` is the last.
    """

    shape = "line"
    positions: NDArray[Any]

    def __init__(self, positions: Sequence[int]) -> None:
        """Take the positions of the values on the line: integers, ascending from 0."""
        self.m = len(positions)
        self.scale = int(positions[-1])
        self.positions = np.array(positions, dtype=integer_dtype(self.scale))

    def ground(self, i: int, j: int) -> Fraction:
        """Return the distance of two positions on the line as a share of its length, abs(v_i - v_j) / (v_m - v_1)."""
        return Fraction(abs(int(self.positions[i]) - int(self.positions[j])), self.scale) if i != j else Fraction(0)


class Set(Distance):
    """Values have no order: any two of them are at distance 1."""

    shape = "set"

    def __init__(self, m: int) -> None:
        """Take the number of values of the domain, m."""
        self.m = m
        self.scale = 1 if m > 1 else 0

    def ground(self, i: int, j: int) -> Fraction:
        """Return the distance of two values in a set: 1 if the codes differ, else 0."""
        return Fraction(int(i != j))


class Tree(Distance):
    r"""Values are leaves of a tree whose nodes have heights: :math:`d(u, v) = height(LCA(u, v)) / H`, H = height of the root.

    Leaves have height 0. Those below one node stand side by side, so at each depth a node is one run of codes.

    Attributes
    ----------
    ancestors : (depths, m) int64
        The node of each depth above (or at) each code, the root first; -1 where the code's own leaf is higher up. A node's number
        is larger than its parent's, the root's is 0.
    weights : (depths, m) int64
        :math:`w_N = height(parent) - height(N)` of that node; 0 for the root and for -1. ``scale`` is H.
    """

    shape = "tree"
    ancestors: Ints
    weights: Ints

    def ground(self, i: int, j: int) -> Fraction:
        """Return the height of the lowest node above both values, as a share of the height of the root."""
        if i == j:
            return Fraction(0)
        shared = (self.ancestors[:, i] == self.ancestors[:, j]) & (self.ancestors[:, i] >= 0)
        return Fraction(self.scale - int(self.weights[shared, i].sum()), self.scale)

    def runs(self, depth: int) -> Ints:
        """Return the first code below each node of a depth; codes whose leaf is higher up count as one node more."""
        return np.flatnonzero(np.diff(self.ancestors[depth], prepend=-2))


class Metric(Distance):
    """Any metric, of few values.

    Attributes
    ----------
    matrix : (m, m) integers
        ``scale * d`` of all pairs: int64, or Python's integers where 64 bits do not hold them.
    """

    shape = "metric"
    matrix: NDArray[Any]

    def ground(self, i: int, j: int) -> Fraction:
        """Return the distance of two values as given: the entry (i, j) of the matrix, as a fraction."""
        return Fraction(int(self.matrix[i, j]), self.scale) if i != j else Fraction(0)
