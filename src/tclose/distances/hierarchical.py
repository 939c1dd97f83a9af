"""The hierarchical distance: how far up two values meet in a tree (Li et al. 2007, section 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.distances.base import Distance, Masses, Move, _number, match
from tclose.values.hierarchy import Hierarchy
from tclose.values.histograms import Histograms


class Hierarchical(Distance):
    r""":math:`d(u, v) = height(LCA(u, v)) / H`, height = longest path down to a leaf, H = height of the root.

    .. math:: EMD(P, Q) = \sum_N \frac{height(N)}{H} \min(pos(N), neg(N))

    over inner nodes N, pos and neg = sums of the positive and of the negative extras of N's children. Heights and H are
    those of the hierarchy as declared, not pruned to the values that occur. Exact for unbalanced trees too.
    """

    name = "hierarchical"

    def __init__(self, hierarchy: Hierarchy, values: Sequence[str]) -> None:
        """Codes are places in ``values``: leaves of the hierarchy, in the order of its leaves."""
        self.m = len(values)
        self._hierarchy = hierarchy
        self._paths = [hierarchy.path(hierarchy.leaf(value)) for value in values]
        self.scale = hierarchy.height if self.m > 1 else 0
        # Leaves of one node stand side by side, so at each depth a node is one run of codes. ancestors[depth][code] is
        # the node of that depth above (or at) the code; -1 where the code's own leaf is higher up. weights are their w_N.
        depth = max(map(len, self._paths))
        self.ancestors = np.array([path + [-1] * (depth - len(path)) for path in self._paths], dtype=np.int64).T
        self.weights = np.array([self._weights(nodes) for nodes in self.ancestors])

    def ground(self, i: int, j: int) -> Fraction:
        """Height of the lowest node above both, as a share of the tree's height."""
        if i == j:
            return Fraction(0)
        shared = [a for a, b in zip(self._paths[i], self._paths[j], strict=False) if a == b]
        return Fraction(self._hierarchy.heights[shared[-1]], self._hierarchy.height)

    def cost(self, surplus: NDArray[Any]) -> Any:
        """At each node, what its children can level among themselves moves at that node's height."""
        total = 0
        extra = self._leaf_extras(surplus.tolist())
        for node, children in self._inner_nodes():
            extras = [extra.get(child, 0) for child in children]
            extra[node] = sum(extras)
            levelled = min(sum(e for e in extras if e > 0), -sum(e for e in extras if e < 0))
            total += self._hierarchy.heights[node] * levelled
        return total

    def moves(self, surplus: Sequence[Fraction]) -> list[Move]:
        """Inside the lowest subtree first; what is left goes one level up."""
        moves = []
        left = {
            node: ([[code, extra]] if extra > 0 else [], [[code, -extra]] if extra < 0 else [])
            for code, (node, extra) in enumerate(self._leaf_extras(surplus).items())
        }
        for node, children in self._inner_nodes():
            sides = [left[child] for child in children if child in left]
            above, below = (
                [entry for side in sides for entry in side[0]],
                [entry for side in sides for entry in side[1]],
            )
            moves += match(above, below, self)
            left[node] = above, below
        return moves

    def delta(self, masses: Masses) -> Fraction:
        """Mass - (1/H) min over v of sum over N on v's path, not the root, of w_N * p(N); w_N = height(parent) - height(N)."""
        inside = [code for code, mass in enumerate(masses) if mass]
        if self.scale == 0 or not inside:
            return Fraction(0)
        below: dict[int, Any] = {}
        for code in inside:
            for node in self._paths[code]:
                below[node] = below.get(node, 0) + _number(masses[code])
        stays = min(sum(self._weight(node) * below[node] for node in self._paths[code][1:]) for code in inside)
        return sum((Fraction(_number(masses[code])) for code in inside), Fraction(0)) - Fraction(stays) / self.scale

    def _numerators(self, classes: Histograms, dtype: type) -> NDArray[Any]:
        """H - sum over touched N, not the root, of w_N * min(P_N, Q_N), times n * s; one depth of the tree at a time."""
        n = classes.rows
        sizes: NDArray[Any] = classes.sizes.astype(dtype)
        numbers = classes.numbers
        result: NDArray[Any] = sizes * n * self.scale
        if self.scale == 0:
            return result
        for ancestors in self.ancestors[1:]:
            nodes = ancestors[classes.codes]
            runs = np.flatnonzero(np.diff(nodes, prepend=-2) | np.diff(numbers, prepend=-1))
            counts: NDArray[Any] = np.add.reduceat(classes.counts, runs).astype(dtype)
            totals = np.zeros(len(self._hierarchy.parents) + 1, dtype=np.int64)  # the last place is for -1
            np.add.at(totals, ancestors, classes.table)
            at, owner = nodes[runs], numbers[runs]
            shared = np.minimum(sizes[owner] * totals[at], counts * n) * self._weights(at)
            np.subtract.at(result, owner, shared)
        return result

    def _leaf_extras(self, surplus: Sequence[Any]) -> dict[int, Any]:
        return {path[-1]: extra for path, extra in zip(self._paths, surplus, strict=True)}

    def _inner_nodes(self) -> list[tuple[int, list[int]]]:
        """The inner nodes above our values, children before parents, each with those of its children that matter."""
        children: dict[int, list[int]] = {}
        depth = {}
        for path in self._paths:
            for level, (parent, child) in enumerate(pairwise(path)):
                depth[parent] = level
                known = children.setdefault(parent, [])
                if child not in known[-1:]:
                    known.append(child)
        return sorted(children.items(), key=lambda item: -depth[item[0]])

    def _weight(self, node: int) -> int:
        heights, parent = self._hierarchy.heights, self._hierarchy.parents[node]
        return heights[parent] - heights[node]

    def _weights(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """w_N of many nodes; 0 where there is none (-1: the leaf is higher up)."""
        table = np.array([self._weight(node) if node else 0 for node in range(len(self._hierarchy.parents))] + [0])
        weights: NDArray[np.int64] = table[nodes]
        return weights
