"""The distance of the joint test: tuples of values in lexicographic order (Bagai et al. 2023, section 2.4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.distances.shapes import Line
from tclose.judge.emd import line
from tclose.judge.emd.guard import without_wrapping
from tclose.values.arrays import Ints
from tclose.values.exact import integer_dtype
from tclose.values.histograms import Histograms


class Lexicographic(Line):
    r"""Tuples stand on a line, one step apart, **all** of them, whether they occur or not.

    .. math:: v(c_1, \dots, c_r) = (\dots(c_1 m_2 + c_2) m_3 + \dots) m_r + c_r, \quad
              d(u, w) = \frac{|v(u) - v(w)|}{m_1 m_2 \cdots m_r - 1}

    Only those that occur have a code. It is a line whose positions may be far too large for 64 bits, so it has a form of its own.
    """

    name = "lexicographic"
    shape = "joint"

    def __init__(self, parts: Sequence[Ints], sizes: Sequence[int]) -> None:
        """Take the tuples of sensitive values that occur, in ascending order.

        Parameters
        ----------
        parts
            For each attribute the code that each tuple has of it.
        sizes
            The number of values of each attribute.
        """
        self.m = len(parts[0])
        self.scale = math.prod(sizes) - 1
        self.digits = [Digit(codes, size) for codes, size in zip(parts, sizes, strict=True)]
        positions: NDArray[Any] = np.zeros(self.m, dtype=integer_dtype(self.scale))
        for digit in self.digits:
            positions = positions * digit.size + digit.positions
        self.positions = positions


class Digit(Line):
    """One attribute of the tuples. Its codes go up and down along the line, so a sum over gaps may be negative.

    It lies in [-n * s * scale, n * s * scale]: the steps of |cumP - cumQ| add up to 0, those upwards to at most 1.
    """

    name = "digit"

    def __init__(self, codes: Ints, size: int) -> None:
        """Take the code that each tuple has of one attribute, from 0 to ``size - 1``."""
        self.m, self.size, self.scale, self.positions = len(codes), size, size - 1, codes


def numerators(distance: Lexicographic, classes: Histograms, dtype: type) -> NDArray[Any]:
    """Return ``n * s * scale * EMD`` of each class over tuples; if 64 bits do not suffice, from a sum for each attribute.

    What crosses a gap does not depend on how wide the gap is, and width is linear in the codes of the attributes. So
    ``D(v) = (...(D(c_1) m_2 + D(c_2)) m_3 + ...) m_r + D(c_r)``, and hardly any ``D(c)`` needs more than 64 bits.
    """
    if dtype is not object:
        return line.numerators(distance, classes, dtype)
    total: NDArray[Any] = np.zeros(len(classes), dtype=object)
    for digit in distance.digits:
        total = total * digit.size + without_wrapping(line.numerators, digit, classes)
    return total
