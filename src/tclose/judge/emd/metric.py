"""The earth mover's distance under any metric: the optimum of its linear program, by the network simplex in Python's integers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.distances.shapes import Metric
from tclose.values.histograms import Histograms


def numerators(distance: Metric, classes: Histograms, dtype: type) -> NDArray[Any]:
    """Return ``n * s * scale * EMD`` of each class under any metric: one linear program for each class."""
    n, table = classes.rows, classes.table.astype(object)
    levelled = (n * classes.dense(number).astype(object) - s * table for number, s in enumerate(classes.sizes.tolist()))
    return np.array([int(cost(distance, surplus)) for surplus in levelled], dtype=dtype)


def cost(distance: Metric, surplus: NDArray[Any]) -> Any:
    """Return ``scale`` times the least work that levels a surplus P - Q, of integers or fractions, under any metric."""
    return sum((mass * int(distance.matrix[i, j]) for i, j, mass in flow(distance, surplus.tolist())), Fraction(0))


def flow(distance: Metric, surplus: Sequence[Any]) -> list[tuple[int, int, Fraction]]:
    """Return the cheapest moves (from code, to code, mass) that level a surplus P - Q under any metric."""
    import networkx as nx

    common = math.lcm(*(Fraction(extra).denominator for extra in surplus))
    extras = [int(extra * common) for extra in surplus]
    above, below = ([code for code, extra in enumerate(extras) if extra * sign > 0] for sign in (1, -1))
    if not above:
        return []
    graph = nx.DiGraph()
    graph.add_nodes_from((("from", code), {"demand": -extras[code]}) for code in above)
    graph.add_nodes_from((("to", code), {"demand": -extras[code]}) for code in below)
    graph.add_edges_from((("from", i), ("to", j), {"weight": int(distance.matrix[i, j])}) for i in above for j in below)
    _, flows = nx.network_simplex(graph)
    return [(i, j, Fraction(mass, common)) for (_, i), targets in flows.items() for (_, j), mass in targets.items() if mass]
