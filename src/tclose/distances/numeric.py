"""The numeric distance: how far apart two numbers are, as a share of their range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from tclose.distances.shapes import Line


class Numeric(Line):
    r"""Values stand on a line at their own numbers: :math:`d(i, j) = |v_i - v_j| / (v_m - v_1)`.

    .. math:: EMD(P, Q) = \sum_{i<m} |cumP_i - cumQ_i| \frac{v_{i+1} - v_i}{v_m - v_1}

    The numbers are scaled to integers without a common divisor, so that limits are judged exactly.
    """

    name = "numeric"

    def __init__(self, values: Sequence[Fraction | int]) -> None:
        """Take the numbers that the values stand for: distinct and ascending."""
        numbers = [Fraction(value) for value in values]
        common = math.lcm(*(number.denominator for number in numbers))
        steps = [int((number - numbers[0]) * common) for number in numbers]
        shared = math.gcd(*steps) or 1
        super().__init__([step // shared for step in steps])
