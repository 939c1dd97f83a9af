"""Excess: how far a tallied class is from satisfying its limits, so that growth knows which rows to take.

With shares p in the class and q in the table, the excess of a column is the sum of the excesses of its limits:

    t           max(0, EMD - t), against each of its tables
    beta        sum max(0, p - (1 + beta) q); enhanced: 1 + min(beta, -ln q) in place of 1 + beta
    delta       sum max(0, p - q e^delta) + max(0, q e^-delta - p) over the values of the class; strict: and q of all others
    alpha       sum max(0, p - alpha)
    distinct l  max(0, l - values) / l
    entropy l   max(0, ln l - H)
    recursive   max(0, r_1 - c (r_l + ... + r_m)) / s

It is computed in floats and decides nothing: with an excess of 0, `tclose.make.kernels.satisfies.satisfies` may still refuse a
class that is exactly at a limit.
"""

from __future__ import annotations

from numba import float64

from tclose.make.kernels.closeness import excess_of_t
from tclose.make.kernels.compiling import apart
from tclose.make.kernels.diversity import excess_of_l
from tclose.make.kernels.limits import BLANK as NO_LIMITS
from tclose.make.kernels.limits import UNLIMITED, Limits
from tclose.make.kernels.scratch import BLANK, Scratch
from tclose.make.kernels.shares import excess_of_alpha, excess_of_lift


@apart(float64, NO_LIMITS, 0, 0, 0, BLANK)
def excess(limits: Limits, number: int, size: int, distinct: int, scratch: Scratch) -> float:
    """Return the excess of one tallied column over rows, without k and without l over persons. May sort the touched values."""
    column, counts, touched = limits.columns[number], scratch.counts, scratch.touched[:distinct]
    total = excess_of_alpha(limits, size, counts, touched)
    for index in range(column.first, column.last):
        attribute = limits.attributes[index]
        if attribute.beta_kind > 0 or attribute.delta_kind > 0:
            table = limits.references[0, attribute.reference : attribute.reference + 1 + attribute.size]
            total += excess_of_lift(attribute, table[0], table[1:], size, counts, touched)
        if attribute.kind == UNLIMITED or size >= limits.n > 0:  # a class of n rows is a region itself, at distance 0
            continue
        total += excess_of_t(limits, attribute, size, scratch, touched)
    if column.l_kind > 0:
        total += excess_of_l(column, size, counts, touched, scratch.spare)
    return total
