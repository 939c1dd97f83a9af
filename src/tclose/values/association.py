"""Association: how far one column of a table tells another. Plain arrays of codes, no table library."""

from __future__ import annotations

import numpy as np

from tclose.values.arrays import Floats, Ints, renumber

NEARLY = 0.95
"""Columns with at least this rank correlation, up or down, nearly tell one another; so does a column with this determination."""

FEWEST_ROWS = 20
"""Rows that say something of two columns, at least: of fewer, an association says little."""


def nearly_tells(known: Ints, other: Ints) -> bool:
    """Return whether one column nearly tells another: by the order of its values, or value for value."""
    return abs(rank_correlation(known, other)) >= NEARLY or determination(known, other) >= NEARLY


def rank_correlation(first: Ints, second: Ints) -> float:
    r"""Return Spearman's rank correlation of the codes of two columns.

    .. math:: \rho = \mathrm{cov}(R, S) / \sqrt{\mathrm{var}(R)\, \mathrm{var}(S)}

    for the ranks R and S of the codes; equal codes have their mean rank. It is 0 for fewer rows than `FEWEST_ROWS`, or if a
    column has one value.
    """
    if len(first) < FEWEST_ROWS:
        return 0.0
    left, right = _centred_ranks(first), _centred_ranks(second)
    scale = float(np.sqrt((left @ left) * (right @ right)))
    return float(left @ right) / scale if scale else 0.0


def _centred_ranks(codes: Ints) -> Floats:
    """Return the rank of each code among all, equal ones at their mean rank, less the mean of all ranks."""
    counts = np.bincount(codes)
    ranks: Floats = np.cumsum(counts) - (counts - 1) / 2
    return ranks[codes] - (len(codes) + 1) / 2


def determination(known: Ints, other: Ints) -> float:
    r"""Return how far the codes of one column determine those of another: 1 if entirely, about 0 if not at all.

    .. math:: (p - q) / (1 - q)

    where p is the share of the pairs of rows with the same known code that have the same other code, too, and q is that share
    of all pairs of rows. A code of one row alone is in no pair, and says nothing. It is 0 if fewer rows than `FEWEST_ROWS` share
    their known code with another, or if the other column has one value.
    """
    groups = np.bincount(known)
    if groups[groups > 1].sum() < FEWEST_ROWS:
        return 0.0
    of_both = known * (int(other.max()) + 1) + other
    both = np.bincount(renumber(of_both, int(of_both.max()) + 1)[0])
    p = _pairs(both) / _pairs(groups)
    q = _pairs(np.bincount(other)) / _pairs(np.array([len(other)]))
    return (p - q) / (1 - q) if q < 1 else 0.0


def _pairs(counts: Ints) -> int:
    """Return twice the number of pairs of rows in groups of some sizes."""
    return int((counts * (counts - 1)).sum())
