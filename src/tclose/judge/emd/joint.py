"""The distance of the joint test: tuples of values in lexicographic order (Bagai et al. 2023, section 2.4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.distances.ordered import Ordered
from tclose.values.exact import integer_dtype
from tclose.values.histograms import Histograms, Ints


class Lexicographic(Ordered):
    r"""Tuples stand on a line, one step apart, **all** of them, whether they occur or not.

    .. math:: v(c_1, \dots, c_r) = (\dots(c_1 m_2 + c_2) m_3 + \dots) m_r + c_r, \quad
              d(u, w) = \frac{|v(u) - v(w)|}{m_1 m_2 \cdots m_r - 1}

    Only those that occur have a code.
    """

    name = "lexicographic"

    def __init__(self, parts: Sequence[Ints], sizes: Sequence[int]) -> None:
        """The tuples that occur, ascending.

        Parameters
        ----------
        parts
            For each attribute the code that each tuple has of it.
        sizes
            How many values each attribute has.
        """
        self.m = len(parts[0])
        self.scale = math.prod(sizes) - 1
        self._digits = [_Digit(codes, size) for codes, size in zip(parts, sizes, strict=True)]
        positions: NDArray[Any] = np.zeros(self.m, dtype=integer_dtype(self.scale))
        for digit in self._digits:
            positions = positions * digit.size + digit.positions
        self.positions = positions

    def _numerators(self, classes: Histograms, dtype: type) -> NDArray[Any]:
        """From one sum for each attribute, where the places are too large for 64 bits.

        What crosses a gap does not depend on how wide the gap is, and width is linear in the codes of the attributes. So
        ``D(v) = (...(D(c_1) m_2 + D(c_2)) m_3 + ...) m_r + D(c_r)``, and hardly any ``D(c)`` needs more than 64 bits.
        """
        if dtype is not object:
            return super()._numerators(classes, dtype)
        total: NDArray[Any] = np.zeros(len(classes), dtype=object)
        for digit in self._digits:
            total = total * digit.size + digit.numerators(classes)
        return total


class _Digit(Ordered):
    """One attribute of the tuples. Its codes go up and down along the line, so a sum over gaps may be negative.

    It lies in [-n * s * scale, n * s * scale]: the steps of |cumP - cumQ| add up to 0, those upwards to at most 1.
    """

    def __init__(self, codes: Ints, size: int) -> None:
        """The code of each tuple, of so many."""
        self.m, self.size, self.scale, self.positions = len(codes), size, size - 1, codes
