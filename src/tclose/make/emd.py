"""The earth mover's distance of dense distributions, by the shape of the ground distance; in floats or exact.

What a release is judged by has its own forms, in `tclose.judge.emd`; the two share nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.distances import Distance
from tclose.distances.shapes import Line, Metric, Set, Tree
from tclose.values.exact import integer_dtype

Numbers = NDArray[Any]

FINE = 2**44
"""Floats are rounded to multiples of 1/FINE where a flow is to be found, which takes integers."""


def emds(distance: Distance, shares: Numbers, table: Numbers) -> Numbers:
    """Return the EMD of each distribution in ``shares`` to that of the table, as floats, or exact in arrays of fractions."""
    if distance.scale == 0:
        return np.zeros(len(shares))
    if distance.shape == "metric" and shares.dtype != object:
        whole, of_table = (np.rint(side * FINE).astype(np.int64) for side in (shares, table))
        return np.array([float(exact_emd(distance, row, of_table)) for row in whole])
    found: Numbers = WORKS[distance.shape](distance, shares, table, 1) / distance.scale
    return found


def exact_emd(distance: Distance, counts: Numbers, others: Numbers) -> Fraction:
    """Return the earth mover's distance of two histograms as a fraction; each is scaled to sum 1."""
    if distance.scale == 0:
        return Fraction(0)
    size, other_size = int(counts.sum()), int(others.sum())
    mass = size * other_size
    dtype = integer_dtype(2 * mass * distance.scale)
    rows: Numbers = (counts.astype(dtype) * other_size)[None, :]
    work = WORKS[distance.shape](distance, rows, others.astype(dtype) * size, mass)
    return Fraction(work.tolist()[0]) / (distance.scale * mass)


def _work_on_line(distance: Line, rows: Numbers, table: Numbers, mass: int) -> Numbers:  # noqa: ARG001
    """Return ``scale`` times the EMD of each distribution to the table's on a line: mass across each gap, times its width."""
    widths: Numbers = np.diff(distance.positions).astype(rows.dtype)
    work: Numbers = np.abs(np.cumsum(rows - table, axis=1)[:, :-1]) @ widths
    return work


def _work_in_set(distance: Set, rows: Numbers, table: Numbers, mass: int) -> Numbers:  # noqa: ARG001
    """Return the EMD of each distribution to the table's in a set: the sum of surpluses, which move by 1."""
    work: Numbers = np.maximum(rows - table, 0).sum(axis=1)
    return work


def _work_in_tree(distance: Tree, rows: Numbers, table: Numbers, mass: int) -> Numbers:
    """Return H times the EMD of each distribution to the table's in a tree: H less what stays below each node."""
    stays: Any = 0
    for depth in range(1, len(distance.ancestors)):
        runs = distance.runs(depth)
        below = np.minimum(np.add.reduceat(rows, runs, axis=1), np.add.reduceat(table, runs))
        stays = stays + below @ distance.weights[depth][runs]
    work: Numbers = distance.scale * mass - stays
    return work


def _work_under_metric(distance: Metric, rows: Numbers, table: Numbers, mass: int) -> Numbers:  # noqa: ARG001
    """Return ``scale`` times the EMD of each distribution to the table's under any metric: a linear program for each."""
    return np.array([_cost_of_flow(distance, (row - table).tolist()) for row in rows], dtype=object)


def _cost_of_flow(distance: Metric, surplus: list[Any]) -> Fraction:
    """Return the cost of the cheapest flow that levels a surplus of integers or fractions, under any metric."""
    import networkx as nx

    common = math.lcm(*(Fraction(extra).denominator for extra in surplus))
    network = nx.DiGraph()
    for code, extra in enumerate(surplus):
        if extra:
            network.add_node(code, demand=-int(extra * common))
    for source, target in ((i, j) for i in network for j in network if surplus[i] > 0 > surplus[j]):
        network.add_edge(source, target, weight=int(distance.matrix[source, target]))
    return Fraction(nx.min_cost_flow_cost(network), common) if network else Fraction(0)


WORKS: dict[str, Callable[[Any, Numbers, Numbers, int], Numbers]] = {
    "line": _work_on_line,
    "set": _work_in_set,
    "tree": _work_in_tree,
    "metric": _work_under_metric,
}
"""``scale`` times the least work that turns each row into the table, for distributions of this mass, by shape."""
