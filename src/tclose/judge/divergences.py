"""Divergences between a class and the table: measures of an audit, never the guarantee.

They compare shares value by value, without a ground distance, so they cannot tell {3k, 4k, 5k} from {6k, 8k, 11k}: a
class of three low salaries looks as harmless as a class of three scattered ones.
"""

from __future__ import annotations

import numpy as np

from tclose.values.arrays import Floats
from tclose.values.histograms import Histograms


def variational(classes: Histograms) -> Floats:
    r"""Return the variational distance of each class from the table: half the sum of abs(P_v - Q_v) over all values."""
    p, q = classes.shares
    shared: Floats = classes.sums(np.minimum(p, q))
    return 1 - shared


def kullback_leibler(classes: Histograms) -> Floats:
    r"""Return the Kullback-Leibler divergence of each class from the table, the sum of P_v ln(P_v / Q_v) over its values."""
    p, q = classes.shares
    divergence: Floats = classes.sums(p * np.log(p / q))
    return divergence


def jensen_shannon(classes: Histograms) -> Floats:
    r"""Return the Jensen-Shannon divergence of each class and the table: the mean of KL(P, M) and KL(Q, M), M = (P + Q) / 2."""
    p, q = classes.shares
    middle = (p + q) / 2
    untouched = 1 - classes.sums(q)  # there M = Q/2, and each Q_v adds Q_v ln 2
    touched = classes.sums(p * np.log(p / middle) + q * np.log(q / middle))
    divergence: Floats = (touched + untouched * np.log(2)) / 2
    return divergence
