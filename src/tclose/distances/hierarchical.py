"""The hierarchical distance: how far up two values meet in a tree (Li et al. 2007, section 4.3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tclose.distances.shapes import Tree
from tclose.values.hierarchy import Hierarchy


class Hierarchical(Tree):
    r""":math:`d(u, v) = height(LCA(u, v)) / H`, height = longest path down to a leaf, H = height of the root.

    .. math:: EMD(P, Q) = 1 - \sum_{N \ne root} \frac{w_N}{H} \min(P_N, Q_N), \quad w_N = height(parent) - height(N)

    P_N and Q_N = masses below the node N. Heights and H are those of the hierarchy as declared, not pruned to the values that
    occur. Exact for unbalanced trees too.
    """

    name = "hierarchical"

    def __init__(self, hierarchy: Hierarchy, values: Sequence[str]) -> None:
        """Take leaves of a hierarchy, in the order of its leaves; the code of a value is its index in ``values``."""
        self.m = len(values)
        self.scale = hierarchy.height if self.m > 1 else 0
        paths = [hierarchy.path(hierarchy.leaf(value)) for value in values]
        depths = max(map(len, paths))
        self.ancestors = np.array([path + [-1] * (depths - len(path)) for path in paths], dtype=np.int64).T
        heights, parents = np.array(hierarchy.heights), np.array(hierarchy.parents)
        weights = heights[parents] - heights
        weights[0] = 0  # the root has no parent
        self.weights = np.append(weights, 0)[self.ancestors]  # the 0 at the end is the weight of -1
