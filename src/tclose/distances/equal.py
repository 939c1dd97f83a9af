"""The equal distance: any two different values are at distance 1 (Li et al. 2007, section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.distances.base import Distance, Masses, Move, _number, match, split
from tclose.values.histograms import Histograms


class Equal(Distance):
    r""":math:`d(u, v) = 1` for :math:`u \ne v`; the EMD is the variational distance.

    .. math:: EMD(P, Q) = \frac12 \sum_v |P_v - Q_v| = 1 - \sum_v \min(P_v, Q_v)
    """

    name = "equal"

    def __init__(self, m: int) -> None:
        """The values 0 to m-1, in no order."""
        self.m = m
        self.scale = 1 if m > 1 else 0

    def ground(self, i: int, j: int) -> Fraction:
        """1 unless the values are the same."""
        return Fraction(int(i != j))

    def cost(self, surplus: NDArray[Any]) -> Any:
        """What is too much, all of it moved once."""
        return np.maximum(surplus, 0).sum()

    def moves(self, surplus: Sequence[Fraction]) -> list[Move]:
        """Any matching of surplus to deficit."""
        return match(*split(surplus), self)

    def delta(self, masses: Masses) -> Fraction:
        """All mass moved to the rarest value."""
        inside = [_number(mass) for mass in masses if mass]
        return Fraction(sum(inside) - min(inside)) if inside else Fraction(0)

    def _numerators(self, classes: Histograms, dtype: type) -> NDArray[Any]:
        """1 - sum over touched v of min(P_v, Q_v), times n * s."""
        if self.scale == 0:
            return np.zeros(len(classes), dtype=dtype)
        n = classes.rows
        sizes: NDArray[Any] = classes.sizes.astype(dtype)
        shared = np.minimum(classes.spread(sizes) * classes.table[classes.codes], classes.counts.astype(dtype) * n)
        result: NDArray[Any] = sizes * n - classes.sums(shared)
        return result
