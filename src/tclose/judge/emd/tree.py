r"""The earth mover's distance in a tree: the mass that leaves each node goes up by the node's weight, and down again.

A path between two leaves is twice as long as their lowest common node is high, where the edge above a node N is
:math:`w_N = height(parent) - height(N)` long. So

.. math:: H \cdot EMD(P, Q) = \frac12 \sum_N w_N |P_N - Q_N| = H - \sum_{N \ne root} w_N \min(P_N, Q_N)
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.distances.shapes import Tree
from tclose.values.histograms import Histograms


def numerators(distance: Tree, classes: Histograms, dtype: type) -> NDArray[Any]:
    """Return ``n * s * H * EMD`` of each class in a tree, by the second form: nodes that occur, one depth at a time."""
    n = classes.rows
    sizes: NDArray[Any] = classes.sizes.astype(dtype)
    numbers = classes.numbers
    result: NDArray[Any] = sizes * n * distance.scale
    if distance.scale == 0:
        return result
    nodes_in_all = int(distance.ancestors.max()) + 1
    for ancestors, weights in zip(distance.ancestors[1:], distance.weights[1:], strict=True):
        nodes = ancestors[classes.codes]
        runs = np.flatnonzero(np.diff(nodes, prepend=-2) | np.diff(numbers, prepend=-1))
        counts: NDArray[Any] = np.add.reduceat(classes.counts, runs).astype(dtype)
        totals = np.zeros(nodes_in_all + 1, dtype=np.int64)  # the last one is for -1
        np.add.at(totals, ancestors, classes.table)
        at, owner = nodes[runs], numbers[runs]
        shared = np.minimum(sizes[owner] * totals[at], counts * n) * weights[classes.codes[runs]]
        np.subtract.at(result, owner, shared)
    return result


def cost(distance: Tree, surplus: NDArray[Any]) -> Any:
    """Return H times the least work that levels a surplus P - Q in a tree, by the first form, in the array's arithmetic."""
    twice = 0
    for depth in range(1, len(distance.ancestors)):
        runs = distance.runs(depth)
        twice += (np.abs(np.add.reduceat(surplus, runs)) * distance.weights[depth][runs]).sum()
    return twice / 2 if surplus.dtype.kind == "f" else Fraction(twice, 2)
