"""The matrix distance: any metric, given as a table of distances; for small domains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product as pairs
from typing import Any

import numpy as np

from tclose.distances.shapes import Metric
from tclose.errors import HierarchyError
from tclose.values.exact import exact, integer_dtype, number_of

LARGEST_DOMAIN = 100
"""Values of a matrix: an earth mover's distance between them is a linear program, which takes milliseconds a class."""


class Matrix(Metric):
    """d(i, j) as given: a metric with values in [0, 1]. The EMD is the optimum of its linear program."""

    name = "matrix"

    def __init__(self, rows: Sequence[Sequence[Any]]) -> None:
        """Take the distances between all pairs of values, row by row; refuse them if they are not a metric."""
        self.m = len(rows)
        check_domain(self.m)
        if any(len(row) != self.m for row in rows):
            rows, numbers = number_of(self.m, "row"), number_of(self.m, "number")
            raise HierarchyError(f"A matrix distance must be square. Got {rows}, not all of {numbers}.")
        entries = [[exact(entry) for entry in row] for row in rows]
        _check_metric(entries)
        self.scale = math.lcm(*(entry.denominator for row in entries for entry in row)) if self.m > 1 else 0
        steps = [[int(entry * self.scale) for entry in row] for row in entries]
        self.matrix = np.array(steps, dtype=integer_dtype(self.scale)).reshape(self.m, self.m)


def check_domain(values: int) -> None:
    """Refuse a matrix distance on more values than `LARGEST_DOMAIN`."""
    if values > LARGEST_DOMAIN:
        raise HierarchyError(f"A matrix distance is for at most {LARGEST_DOMAIN} values. Got {values}.")


def _check_metric(entries: list[list[Fraction]]) -> None:
    """Refuse distances that are not a metric in [0, 1]: zero diagonal, symmetric, triangle inequality."""
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
