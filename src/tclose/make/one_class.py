"""One class: whether it satisfies the limits of one attribute, exactly, from its histogram.

Kernels decide about many small classes, and refuse what is too near a limit for 64 bits; here one class of a whole table is
decided in integers of any size. What a release is judged by is `tclose.judge`; the two share nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tclose.distances import Distance
from tclose.make.emd import exact_emd
from tclose.make.logarithms import NEAR, entropy_is_at_least_log, exp_sign
from tclose.policy import Policy, Sensitive
from tclose.policy.models import MODELS
from tclose.values.arrays import Ints
from tclose.values.exact import product


def too_far(column: Sensitive, policy: Policy, distance: Distance, counts: Ints, table: Ints) -> str:
    """Return the first limit on the difference from a table, t, beta or delta, that a class breaks; empty if it breaks none.

    Parameters
    ----------
    counts, table : (m,) int64
        The rows of the class and of the table at each value; a value of the class is one of the table.
    """
    for key, breaks in FAR.items():
        limit = MODELS[key].limit(policy, column)
        if limit is not None and breaks(limit, column, distance, counts, table):
            return MODELS[key].asked(policy, column)
    return ""


def too_uneven(column: Sensitive, policy: Policy, counts: Ints, persons: Ints | None = None) -> str:
    """Return the first limit on the distribution of a class, alpha or l, that it breaks; empty if it breaks none.

    Parameters
    ----------
    counts : (m,) int64
        The rows of the class at each value.
    persons : (m,) int64, optional
        The persons at each value, which l counts where they are given.
    """
    for key, breaks in UNEVEN.items():
        limit = MODELS[key].limit(policy, column)
        counted = persons if MODELS[key].counts_persons and persons is not None else counts
        if limit is not None and breaks(limit, column, counted):
            return MODELS[key].asked(policy, column)
    return ""


def _exceeds_share(alpha: Fraction, _: Sensitive, counts: Ints) -> bool:
    """Whether the most frequent value has a share above alpha."""
    return Fraction(int(counts.max()), int(counts.sum())) > alpha


def _has_few_values(l: Fraction, _: Sensitive, counts: Ints) -> bool:  # noqa: E741 - the name of the model
    """Whether there are fewer than l values."""
    return int(np.count_nonzero(counts)) < l


def _has_little_entropy(l: Fraction, _: Sensitive, counts: Ints) -> bool:  # noqa: E741
    """Whether the entropy is below ln l."""
    return not entropy_is_at_least_log(counts, l)


def _exceeds_c(c: Fraction, column: Sensitive, counts: Ints) -> bool:
    """Whether the most frequent value has c times the rows or more that the l-th and all less frequent values have together."""
    ascending = np.sort(counts)
    tail = int(ascending[: max(len(counts) - math.ceil(column.l or 0) + 1, 0)].sum())
    return int(ascending[-1]) >= c * tail


def _is_far(t: Fraction, _: Sensitive, distance: Distance, counts: Ints, table: Ints) -> bool:
    """Whether the earth mover's distance is above t."""
    return exact_emd(distance, counts, table) > t


def _lifts(counts: Ints, table: Ints) -> tuple[Any, Any]:
    """Return p/q at each value that the class has, as c * n over s * T."""
    own, whole = counts[counts > 0], table[counts > 0]
    return product(own, int(table.sum())), product(whole, int(counts.sum()))


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


FAR: dict[str, Callable[[Fraction, Sensitive, Distance, Ints, Ints], bool]] = {
    "t": _is_far,
    "beta": _exceeds_beta,
    "beta_enhanced": _exceeds_enhanced_beta,
    "delta": _exceeds_delta,
}
"""By the key of a privacy model: whether a class breaks its limit, from its counts and those of the table."""

UNEVEN: dict[str, Callable[[Fraction, Sensitive, Ints], bool]] = {
    "share": _exceeds_share,
    "l_distinct": _has_few_values,
    "l_entropy": _has_little_entropy,
    "c_recursive": _exceeds_c,
}
"""By the key of a privacy model: whether a class breaks its limit, from its counts alone."""
