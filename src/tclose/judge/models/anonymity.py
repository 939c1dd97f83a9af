"""k-anonymity and its share limit: how many stand in a class, and how many of them share one value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tclose.judge.models.base import Bools, Model, Verdict, judge_ratios
from tclose.values.histograms import Histograms


def too_small(sizes: NDArray[np.int64], k: int | None) -> Bools:
    """k-anonymity (Sweeney 2002): every class has at least k rows, or persons. Which classes have not?"""
    return np.zeros(len(sizes), dtype=bool) if k is None else np.asarray(sizes < k)


class Share(Model):
    """(alpha,k)-anonymity, its alpha (Wong et al. 2006): no value has a share above alpha in any class. Its k is `too_small`."""

    key = "share"

    def judge(self, classes: Histograms) -> Verdict:
        """Judge the largest share of each class."""
        return judge_ratios(classes, classes.largest(classes.counts), classes.sizes, self.limit)


def homogeneous(classes: Histograms) -> Bools:
    """The classes whose rows all have one sensitive value, though the table has several."""
    one: Bools = classes.distinct == 1
    return one & (np.count_nonzero(classes.table) > 1)


class Lift(Model):
    """The worst lift max p/q: by how much a class makes a value likelier than the table does. Measured, never limited."""

    key = "lift"

    def judge(self, classes: Histograms) -> Verdict:
        """Compare c*n with s*T at each touched value."""
        return judge_ratios(classes, *classes.lifts, self.limit)
