"""The ordered distance: how many places apart two values stand in their order (Li et al. 2007, section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.distances.base import Distance, Masses, Move, _number, match, split
from tclose.values.exact import integer_dtype
from tclose.values.histograms import Histograms


class Ordered(Distance):
    r"""Values stand on a line, one step apart: :math:`d(i, j) = |i - j| / (m - 1)`.

    .. math:: EMD(P, Q) = \frac{1}{m-1} \sum_{i<m} |cumP_i - cumQ_i|

    Values are in the order of their **value**, never of their frequency: the tutorial's "sorted by frequency" gives
    other numbers, and is reached only by naming that order.
    """

    name = "ordered"

    def __init__(self, m: int) -> None:
        """The values 0 to m-1, one step apart."""
        self._stand_at(range(m))

    def _stand_at(self, positions: Sequence[int]) -> None:
        """Place the values: ascending integers."""
        self.m = len(positions)
        self.scale = int(positions[-1]) - int(positions[0])
        largest = max(abs(int(positions[0])), abs(int(positions[-1])))
        self.positions: NDArray[Any] = np.array(positions, dtype=integer_dtype(largest))

    def ground(self, i: int, j: int) -> Fraction:
        """|v_i - v_j| / (v_m - v_1)."""
        return Fraction(abs(int(self.positions[i]) - int(self.positions[j])), self.scale) if i != j else Fraction(0)

    def cost(self, surplus: NDArray[Any]) -> Any:
        """What crosses each gap, times the gap's width."""
        return (np.abs(np.cumsum(surplus)[:-1]) * np.diff(self.positions)).sum()

    def moves(self, surplus: Sequence[Fraction]) -> list[Move]:
        """Surplus and deficit matched from left to right."""
        return match(*split(surplus), self)

    def delta(self, masses: Masses) -> Fraction:
        """All mass moved to the farther end of the fragment's own range, in steps of the **whole** domain."""
        inside = [code for code, mass in enumerate(masses) if mass]
        if self.scale == 0 or not inside:
            return Fraction(0)
        at = {code: int(self.positions[code]) for code in inside}
        ends = at[inside[0]], at[inside[-1]]
        return max(Fraction(sum(_number(masses[code]) * abs(at[code] - end) for code in inside)) for end in ends) / self.scale

    def _numerators(self, classes: Histograms, dtype: type) -> NDArray[Any]:
        """Sum over gaps between touched values; inside a gap the class's cumulated share is constant.

        Between touched values a and b the class has cumulated C rows, so gap i costs ``|n*C - s*T_i|`` times its width,
        T_i = cumulated table count. T ascends, hence the sign changes once, at the first x with ``T_x >= n*C/s``, and both
        parts are differences of ``W[j] = sum_{i<j} T_i (v_{i+1} - v_i)``.
        """
        n = classes.rows
        s: NDArray[Any] = classes.spread(classes.sizes).astype(dtype)
        v: NDArray[Any] = self.positions.astype(dtype)
        T = np.cumsum(classes.table)
        W: NDArray[Any] = np.concatenate([[0], np.cumsum(T[:-1].astype(dtype) * np.diff(v))]).astype(dtype)

        before = np.cumsum(classes.counts) - classes.counts
        C = classes.counts + before - classes.spread(before[classes.starts[:-1]])
        nC = C.astype(dtype) * n
        a = classes.codes
        b = np.append(a[1:], self.m - 1)
        b[classes.starts[1:] - 1] = self.m - 1
        y = -(-nC // s)
        x = np.clip(np.searchsorted(T, y.astype(np.int64)), a, b)

        # sum_{a<=i<x} (n*C - s*T_i) * width_i  +  sum_{x<=i<b} (s*T_i - n*C) * width_i
        gaps = nC * (v[x] - v[a]) - s * (W[x] - W[a]) + s * (W[b] - W[x]) - nC * (v[b] - v[x])
        ahead = classes.sizes.astype(dtype) * W[a[classes.starts[:-1]]]
        result: NDArray[Any] = ahead + classes.sums(gaps)
        return result
