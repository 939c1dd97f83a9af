"""Limits on the share of single values in a tallied class: alpha, beta-likeness and delta-disclosure.

alpha bounds the share p of a value in the class; beta and delta bound its lift p/q, q being the share in the table. Both are
checked in one loop over the values of the class.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tclose.make.kernels.compiling import once
from tclose.make.kernels.limits import ENHANCED, NEAR, STRICT, Limits
from tclose.make.kernels.small import at_most
from tclose.values.arrays import Ints

LARGEST_POWER = 700.0
"""e to a larger power may not be a float."""


@once
def satisfies_alpha(limits: Limits, size: int, counts: Ints, touched: Ints) -> bool:
    """Return whether no value has a share above alpha."""
    if limits.alpha_above < limits.alpha_below:
        for code in touched:
            if not at_most(counts[code], size, limits.alpha_above, limits.alpha_below):
                return False
    return True


@once
def excess_of_alpha(limits: Limits, size: int, counts: Ints, touched: Ints) -> float:
    """Return the sum of max(0, p - alpha) over the values."""
    total = 0.0
    if limits.alpha_above < limits.alpha_below:
        alpha = limits.alpha_above / limits.alpha_below
        for code in touched:
            total += max(0.0, counts[code] / size - alpha)
    return total


@once
def satisfies_lift(attribute: Any, references: Ints, size: int, counts: Ints, touched: Ints) -> bool:
    """Return whether beta and delta are satisfied: p = c/s in the class against q = T/n in the table, for each value."""
    if attribute.delta_kind == STRICT and len(touched) < attribute.occurring:
        return False
    n = references[0, attribute.reference]
    for code in touched:
        T = references[0, attribute.reference + 1 + code]
        above, below = counts[code] * n, size * T  # p/q
        if below == 0:
            return False
        if attribute.beta_kind > 0 and not at_most(above, below, attribute.lift_above, attribute.lift_below):
            return False
        lift = above / below
        if attribute.beta_kind == ENHANCED and above > below and lift - 1 + math.log(T / n) > -NEAR * lift:
            return False
        if attribute.delta_kind > 0 and above != below and abs(math.log(lift)) >= attribute.delta - NEAR * (1 + attribute.delta):
            return False
    return True


@once
def excess_of_lift(attribute: Any, n: int, table: Ints, size: int, counts: Ints, touched: Ints) -> float:
    """Return the excess of beta and delta; ``table`` counts the n rows of the table at each value.

    beta adds max(0, p - (1 + beta) q) for each value; enhanced, with min(beta, -ln q) in place of beta. delta adds
    max(0, p - q e^delta) + max(0, q e^-delta - p) for each value of the class and, if it is strict, q of all other values.
    """
    total, present = 0.0, 0
    most = attribute.lift_above / attribute.lift_below if attribute.beta_kind > 0 else 0.0
    up = np.exp(min(attribute.delta, LARGEST_POWER))
    for code in touched:
        p, q = counts[code] / size, table[code] / n
        present += table[code]
        if attribute.beta_kind > 0:
            lift = min(most, 1 - np.log(q)) if attribute.beta_kind == ENHANCED else most
            total += max(0.0, p - lift * q)
        if attribute.delta_kind > 0:
            total += max(0.0, p - q * up) + max(0.0, q / up - p)
    if attribute.delta_kind == STRICT:
        total += (n - present) / n
    return total
