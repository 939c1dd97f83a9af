"""Quasi-identifiers with few codes, and the information loss of their ranges, for kernels and naive twins.

A line, a line whose last code stands for missing cells, a tree and a constant. All losses are sums of powers of 2.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tclose.make.kernels.loss import loss_table
from tclose.make.scales import Widths

Row = tuple[int, ...]


def line(size: int, missing: bool = False) -> Widths:
    places = np.arange(size) / max(size - 1, 1)
    return Widths(np.zeros(size), places, places, missing, np.empty((0, size), dtype=np.int32), np.empty(0))


TREE = Widths(
    np.zeros(4),
    np.zeros(4),
    np.zeros(4),
    True,
    np.array([[0, 0, 0, 0], [1, 1, 2, 2], [3, 4, 5, 6]], dtype=np.int32),
    np.array([1, 0.5, 0.5, 0, 0, 0, 0]),
)
SIZES = (9, 5, 4, 1)
LOSSES = loss_table([line(9), line(5, missing=True), TREE, line(1)], [1.0, 0.5, 1.0, 1.0])
AGES = loss_table([line(9)], [1.0])


def width(place: int, a: int, b: int) -> Fraction:
    if a == b:
        return Fraction(0)
    if place == 0:
        return Fraction(b - a, 8)
    if place == 1:
        return Fraction(1, 2) if b == 4 else Fraction(b - a, 8)
    return Fraction(1, 2) if (a, b) == (0, 1) else Fraction(1)
