"""One class: whether it satisfies the limits of one attribute, exactly, from its histogram.

Kernels decide about many small classes, and refuse what is too near a limit for 64 bits; here one class of a whole table is
decided in integers of any size. What a release is judged by is `tclose.judge`; the two share nothing.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.distances import Distance
from tclose.make.emd import exact_emd
from tclose.make.logarithms import NEAR, entropy_is_at_least_log, exp_sign
from tclose.policy import Policy, Sensitive
from tclose.values.exact import plain, product

Ints = NDArray[np.int64]


def too_far(column: Sensitive, policy: Policy, distance: Distance, counts: Ints, table: Ints) -> str:
    """Return the first limit on the difference from a table, t, beta or delta, that a class breaks; empty if it breaks none.

    Parameters
    ----------
    counts, table : (m,) int64
        The rows of the class and of the table at each value; a value of the class is one of the table.
    """
    if column.t is not None and policy.n is None and exact_emd(distance, counts, table) > column.t:
        return f"t={plain(column.t)}"
    if column.beta is not None and _exceeds_beta(column, counts, table):
        return f"beta={plain(column.beta)}"
    if column.delta is not None and _exceeds_delta(column, counts, table):
        return f"delta={plain(column.delta)}"
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
    if policy.alpha is not None and Fraction(int(counts.max()), int(counts.sum())) > policy.alpha:
        return f"alpha={plain(policy.alpha)}"
    if column.l is not None and not _is_diverse(column, counts if persons is None else persons):
        return f"l={plain(column.l)}"
    return ""


def _is_diverse(column: Sensitive, counts: Ints) -> bool:
    """Whether the values are as many, and as even, as l asks."""
    assert column.l is not None
    if column.l_kind == "entropy":
        return entropy_is_at_least_log(counts, column.l)
    if column.l_kind == "distinct":
        return bool(np.count_nonzero(counts) >= column.l)
    assert column.c is not None
    ascending = np.sort(counts)
    tail = int(ascending[: max(len(counts) - int(column.l) + 1, 0)].sum())  # from the l-th most frequent on
    return bool(int(ascending[-1]) < column.c * tail)


def _lifts(counts: Ints, table: Ints) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return p/q at each value that the class has, as c * n over s * T."""
    own, whole = counts[counts > 0], table[counts > 0]
    return product(own, int(table.sum())), product(whole, int(counts.sum()))


def _exceeds_beta(column: Sensitive, counts: Ints, table: Ints) -> bool:
    """Whether p/q > 1 + beta for some value; enhanced, also whether p/q - 1 > -ln q, that is e^(p/q - 1) > 1/q."""
    assert column.beta is not None
    above, below = _lifts(counts, table)
    largest = 1 + column.beta
    if (product(above, largest.denominator) > product(below, largest.numerator)).any():
        return True
    if column.beta_kind == "basic":
        return False
    n, whole = int(table.sum()), table[counts > 0]
    gains, own_limits = (above / below).astype(np.float64) - 1, math.log(n) - np.log(whole)
    close = np.flatnonzero((above > below) & (gains > own_limits - NEAR * (1 + gains)))
    return any(exp_sign(Fraction(int(above[i]), int(below[i])) - 1, Fraction(n, int(whole[i]))) > 0 for i in close)


def _exceeds_delta(column: Sensitive, counts: Ints, table: Ints) -> bool:
    """Whether |ln(p/q)| >= delta for some value; strict, also whether the class lacks a value of the table."""
    assert column.delta is not None
    if column.delta_kind == "strict" and np.count_nonzero(counts) < np.count_nonzero(table):
        return True
    above, below = _lifts(counts, table)
    above, below = np.maximum(above, below), np.minimum(above, below)
    delta = float(column.delta)
    close = np.flatnonzero(np.log((above / below).astype(np.float64)) > delta - NEAR * (1 + delta))
    return any(exp_sign(column.delta, Fraction(int(above[i]), int(below[i]))) <= 0 for i in close)
