"""Excess: how far a tallied class is from keeping its limits, so that growth knows which way to go.

With shares p in the class and q in the table, a column's excess is the sum of what each of its limits adds:

    t           max(0, EMD - t), against each of its tables
    beta        sum max(0, p - (1 + beta) q); enhanced: 1 + min(beta, -ln q) in place of 1 + beta
    delta       sum max(0, p - q e^delta) + max(0, q e^-delta - p) over the values of the class; strict: and q of all others
    alpha       sum max(0, p - alpha)
    distinct l  max(0, l - values) / l
    entropy l   max(0, ln l - H)
    recursive   max(0, r_1 - c (r_l + ... + r_m)) / s

It is in floats and decides nothing: where it is 0, `satisfies` may still refuse a class at its very limit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float64

from tclose.make.kernels.closeness import distance
from tclose.make.kernels.compiling import apart, once
from tclose.make.kernels.limits import BLANK as NO_LIMITS
from tclose.make.kernels.limits import DISTINCT, ENHANCED, ENTROPY, STRICT, UNLIMITED, Ints, Limits
from tclose.make.kernels.satisfies import BLANK, Scratch
from tclose.make.kernels.small import sort

LARGEST_POWER = 700.0
"""e to a larger one may not be a float."""


@apart(float64, NO_LIMITS, 0, 0, 0, BLANK)
def excess(limits: Limits, number: int, size: int, distinct: int, scratch: Scratch) -> float:
    """The excess of one tallied column over rows; k, and l over persons, have no part in it. May sort the touched values."""
    column, counts, touched = limits.columns[number], scratch.counts, scratch.touched[:distinct]
    total = 0.0
    if limits.alpha_above < limits.alpha_below:
        alpha = limits.alpha_above / limits.alpha_below
        for code in touched:
            total += max(0.0, counts[code] / size - alpha)
    for place in range(column.first, column.last):
        attribute = limits.attributes[place]
        if attribute.beta_kind > 0 or attribute.delta_kind > 0:
            table = limits.references[0, attribute.reference : attribute.reference + 1 + attribute.size]
            total += _of_shares(attribute, table[0], table[1:], size, counts, touched)
        if attribute.kind == UNLIMITED or size >= limits.n > 0:  # a class of n rows is a region itself, at distance 0
            continue
        nearest = np.inf
        for region in range(len(limits.references)):
            nearest = min(nearest, distance(attribute, limits.shapes, limits.references[region], size, scratch, touched))
        total += max(0.0, nearest - attribute.t_above / attribute.t_below)
    if column.l_kind > 0:
        total += _of_diversity(column, size, counts, touched, scratch.spare)
    return total


@once
def _of_shares(attribute: Any, n: int, table: Ints, size: int, counts: Ints, touched: Ints) -> float:
    """beta and delta."""
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


@once
def _of_diversity(column: Any, size: int, counts: Ints, touched: Ints, ordered: Ints) -> float:
    """l, by its kind."""
    missing: float = 0.0
    if column.l_kind == DISTINCT:
        missing = (column.l - len(touched)) / column.l
    elif column.l_kind == ENTROPY:
        missing = column.log_l - np.log(size)
        for code in touched:
            missing += counts[code] * np.log(counts[code]) / size
    else:
        for place in range(len(touched)):
            ordered[place] = counts[touched[place]]
        sort(ordered[: len(touched)])
        tail = 0
        for count in ordered[: max(0, len(touched) - column.l + 1)]:  # all but the l - 1 largest
            tail += count
        missing = (ordered[len(touched) - 1] - column.c_above / column.c_below * tail) / size
    return max(0.0, missing)
