"""Comparisons with logarithms: floats decide where two numbers are far from equal, more digits where they are not.

What a release is judged by has its own comparisons, in `tclose.judge.models`; the two share nothing.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

NEAR = 1e-9
"""Logarithms that differ by more, as floats, are different."""


def exp_sign(power: Fraction, number: Fraction) -> int:
    """Return the sign of ``e ** power - number``, exactly, for a number above 0: digits are added until it is certain."""
    if power == 0:
        return (number < 1) - (number > 1)
    difference = float(power) - (math.log(number.numerator) - math.log(number.denominator))
    if abs(difference) > NEAR * (1 + abs(float(power))):
        return 1 if difference > 0 else -1
    digits = 50
    while True:
        with localcontext(prec=digits):
            exponential = (Decimal(power.numerator) / Decimal(power.denominator)).exp() * number.denominator
            apart = exponential - number.numerator
            if abs(apart) > exponential * (2 + abs(Decimal(math.ceil(power)))) * Decimal(10) ** (3 - digits):
                return 1 if apart > 0 else -1
        digits *= 2


def entropy_is_at_least_log(counts: NDArray[np.int64], l: Fraction) -> bool:  # noqa: E741 - the name of the model
    r"""Whether the entropy of some counts, not all 0, is at least ln l, decided exactly near equality."""
    values, repeats = np.unique(counts[counts > 0], return_counts=True)
    values //= np.gcd.reduce(values)
    size = int((values * repeats).sum())
    entropy = math.log(size) - float((repeats * values * np.log(values)).sum()) / size
    difference = entropy - (math.log(l.numerator) - math.log(l.denominator))
    if abs(difference) > NEAR:
        return difference > 0
    powers = [(size, size), (l.denominator, size), (l.numerator, -size)]
    powers += [(value, -value * repeat) for value, repeat in zip(values.tolist(), repeats.tolist(), strict=True)]
    return _product_is_1(powers) or _log_of_product(powers) > 0


def _product_is_1(powers: list[tuple[int, int]]) -> bool:
    """Whether the product of ``base ** power`` over some pairs is 1, found by coprime bases as the powers are too large.

    Two bases with a common divisor are replaced by it and by what it leaves of them, until no two have one. Then the product is 1
    only if every power is 0 (Bach, Driscoll and Shallit 1993, factor refinement).
    """
    pending, coprime = list(powers), dict[int, int]()
    while pending:
        base, power = pending.pop()
        if base == 1 or power == 0:
            continue
        other = next((known for known in coprime if math.gcd(base, known) > 1), None)
        if other is None:
            coprime[base] = power
            continue
        common, further = math.gcd(base, other), coprime.pop(other)
        pending += [(base // common, power), (other // common, further), (common, power + further)]
    return not coprime


def _log_of_product(powers: list[tuple[int, int]]) -> Decimal:
    """Return the logarithm of the product of ``base ** power``, which is not 1, in as many digits as its sign takes."""
    digits = 50
    while True:
        with localcontext(prec=digits):
            terms = [power * Decimal(base).ln() for base, power in powers]
            total = sum(terms, Decimal(0))
            if abs(total) > sum(map(abs, terms)) * len(terms) * Decimal(10) ** (2 - digits):
                return total
        digits *= 2
