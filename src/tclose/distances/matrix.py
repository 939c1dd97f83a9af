"""The matrix distance: any metric, given as a table of distances; for small domains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product as pairs
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.distances.base import Distance, Masses, Move, _number, split
from tclose.errors import HierarchyError
from tclose.values.exact import exact, number_of
from tclose.values.histograms import Histograms

LARGEST_DOMAIN = 100


class Matrix(Distance):
    r"""d(i, j) as given: a metric with values in [0, 1].

    The EMD is the optimum of its linear program, found by the network simplex in Python's integers, so it is exact.
    It takes milliseconds a class; that is why domains are limited to 100 values.
    """

    name = "matrix"

    def __init__(self, rows: Sequence[Sequence[Any]]) -> None:
        """The distances, row by row."""
        self.m = len(rows)
        check_domain(self.m)
        if any(len(row) != self.m for row in rows):
            rows, numbers = number_of(self.m, "row"), number_of(self.m, "number")
            raise HierarchyError(f"A matrix distance must be square. Got {rows}, not all of {numbers}.")
        self._entries = [[exact(entry) for entry in row] for row in rows]
        _check_metric(self._entries)
        self.scale = math.lcm(*(entry.denominator for row in self._entries for entry in row)) if self.m > 1 else 0

    def ground(self, i: int, j: int) -> Fraction:
        """The entry (i, j)."""
        return self._entries[i][j]

    def emd(self, p: Masses, q: Masses) -> float:
        """EMD in floats: the exact value, rounded once."""
        return float(self.exact([exact(mass) for mass in p], [exact(mass) for mass in q]))

    def cost(self, surplus: NDArray[Any]) -> Any:
        """The cost of the cheapest flow from surplus to deficit."""
        return sum((move.cost * self.scale for move in self.moves(surplus.tolist())), Fraction(0))

    def moves(self, surplus: Sequence[Fraction]) -> list[Move]:
        """The cheapest flow. Mass that P and Q share stays where it is: that is optimal for a metric."""
        import networkx as nx

        common = math.lcm(*(Fraction(extra).denominator for extra in surplus))
        above, below = split([extra * common for extra in surplus])
        if not above:
            return []
        graph = nx.DiGraph()
        graph.add_nodes_from((("from", code), {"demand": -int(mass)}) for code, mass in above)
        graph.add_nodes_from((("to", code), {"demand": int(mass)}) for code, mass in below)
        graph.add_edges_from(
            (("from", i), ("to", j), {"weight": int(self.ground(i, j) * self.scale)}) for (i, _), (j, _) in pairs(above, below)
        )
        _, flow = nx.network_simplex(graph)
        return [
            Move(i, j, Fraction(mass, common), self.ground(i, j))
            for (_, i), targets in flow.items()
            for (_, j), mass in targets.items()
            if mass
        ]

    def delta(self, masses: Masses) -> Fraction:
        """The definition itself."""
        inside = [code for code, mass in enumerate(masses) if mass]
        return max(
            (sum((_number(masses[u]) * self.ground(u, v) for u in inside), Fraction(0)) for v in inside),
            default=Fraction(0),
        )

    def _numerators(self, classes: Histograms, dtype: type) -> NDArray[Any]:
        """One linear program a class: there is no sparse form, but a class touches few values."""
        if self.scale == 0:
            return np.zeros(len(classes), dtype=dtype)
        unit = classes.rows * self.scale
        emds = (self.exact(classes.dense(number), classes.table) for number in range(len(classes)))
        return np.array([int(emd * unit * int(s)) for emd, s in zip(emds, classes.sizes, strict=True)], dtype=dtype)


def check_domain(values: int) -> None:
    """Refuse a domain that is too large for a matrix."""
    if values > LARGEST_DOMAIN:
        raise HierarchyError(f"A matrix distance is for at most {LARGEST_DOMAIN} values. Got {values}.")


def _check_metric(entries: list[list[Fraction]]) -> None:
    codes = range(len(entries))
    for i, j in pairs(codes, codes):
        d = entries[i][j]
        if (i == j) != (d == 0) or not 0 <= d <= 1:
            wanted = "0 on its diagonal" if i == j else "above 0 and at most 1 off its diagonal"
            raise HierarchyError(f"A matrix distance must be {wanted}. Got {d} in row {i + 1}, column {j + 1}.")
        if d != entries[j][i]:
            raise HierarchyError(
                f"A matrix distance must be symmetric. Got {d} and {entries[j][i]} for values {i + 1} and {j + 1}."
            )
    all_pairs = np.array(entries, dtype=object)
    for over in codes:
        longer = np.argwhere(all_pairs > all_pairs[:, [over]] + all_pairs[[over], :])
        if len(longer):
            i, j = longer[0] + 1
            raise HierarchyError(
                "A matrix distance must obey the triangle inequality. "
                f"Values {i} and {j} are farther apart than the way over value {over + 1}."
            )
