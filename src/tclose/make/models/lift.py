"""Lift, the share p of a value in a class over its share q in the table, which beta-likeness and delta-disclosure bound.

Both are checked in one loop over the values of the class.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tclose.distances import Distance
from tclose.make.kernels.compiling import once
from tclose.make.kernels.small import at_most
from tclose.make.logarithms import exp_sign
from tclose.make.models.base import NEAR, AgainstTable, rounded_down
from tclose.policy import Policy, Sensitive
from tclose.values.arrays import Ints
from tclose.values.exact import product

if TYPE_CHECKING:
    from tclose.make.encode import Attribute

BASIC, ENHANCED = 1, 2
STRICT, LENIENT = 1, 2
"""Kinds of beta and of delta; 0 where they are not limited."""
LARGEST_POWER = 700.0
"""e to a larger power may not be a float."""


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


def _fill(_: Policy, attribute: Attribute) -> Mapping[str, float]:
    column, fields = attribute.column, dict[str, float]()
    if column.beta is not None:
        fields["beta_kind"] = BASIC if column.beta_kind == "basic" else ENHANCED
        fields["lift_above"], fields["lift_below"] = rounded_down(1 + column.beta)
    if column.delta is not None:
        fields["delta_kind"] = STRICT if column.delta_kind == "strict" else LENIENT
        fields["delta"] = float(column.delta)
    return fields


def _exceeds_beta(beta: Fraction, _: Sensitive, __: Distance, counts: Ints, table: Ints) -> bool:
    """Whether p/q > 1 + beta for some value."""
    above, below = _lifts(counts, table)
    largest = 1 + beta
    return bool((product(above, largest.denominator) > product(below, largest.numerator)).any())


def _exceeds_enhanced_beta(beta: Fraction, column: Sensitive, distance: Distance, counts: Ints, table: Ints) -> bool:
    """Whether p/q > 1 + beta for some value, or p/q - 1 > -ln q, that is e^(p/q - 1) > 1/q, where p > q."""
    if _exceeds_beta(beta, column, distance, counts, table):
        return True
    above, below = _lifts(counts, table)
    n, whole = int(table.sum()), table[counts > 0]
    gains, own_limits = (above / below).astype(np.float64) - 1, math.log(n) - np.log(whole)
    close = np.flatnonzero((above > below) & (gains > own_limits - NEAR * (1 + gains)))
    return any(exp_sign(Fraction(int(above[i]), int(below[i])) - 1, Fraction(n, int(whole[i]))) > 0 for i in close)


def _exceeds_delta(delta: Fraction, column: Sensitive, _: Distance, counts: Ints, table: Ints) -> bool:
    """Whether |ln(p/q)| >= delta for some value; strict, also whether the class lacks a value of the table."""
    if column.delta_kind == "strict" and np.count_nonzero(counts) < np.count_nonzero(table):
        return True
    above, below = _lifts(counts, table)
    above, below = np.maximum(above, below), np.minimum(above, below)
    close = np.flatnonzero(np.log((above / below).astype(np.float64)) > float(delta) - NEAR * (1 + float(delta)))
    return any(exp_sign(delta, Fraction(int(above[i]), int(below[i]))) <= 0 for i in close)


def _lifts(counts: Ints, table: Ints) -> tuple[Any, Any]:
    """Return p/q at each value that the class has, as c * n over s * T."""
    own, whole = counts[counts > 0], table[counts > 0]
    return product(own, int(table.sum())), product(whole, int(counts.sum()))


FAMILY = AgainstTable(
    unlimited={
        "beta_kind": 0,
        "lift_above": 0,  # 1 + beta, the largest lift
        "lift_below": 0,
        "delta_kind": 0,
        "delta": 0.0,
    },
    fill=_fill,
    breaks={"beta": _exceeds_beta, "beta_enhanced": _exceeds_enhanced_beta, "delta": _exceeds_delta},
)
