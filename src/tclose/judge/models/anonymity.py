"""k-anonymity, the share of the most frequent value, and lift."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tclose.judge.models.base import Model, Verdict, judge_ratios
from tclose.values.arrays import Bools
from tclose.values.histograms import Histograms


def too_small(sizes: NDArray[np.int64], k: int | None) -> Bools:
    """Return for each class whether it has fewer than k rows, or persons: k-anonymity (Sweeney 2002) allows none."""
    return np.zeros(len(sizes), dtype=bool) if k is None else np.asarray(sizes < k)


class Share(Model):
    """(alpha,k)-anonymity, its alpha (Wong et al. 2006): no value has a share above alpha in any class. Its k is `too_small`."""

    key = "share"

    def judge(self, classes: Histograms) -> Verdict:
        """Return the verdict on the share of the most frequent value in each class: at most alpha."""
        return judge_ratios(classes, classes.largest(classes.counts), classes.sizes, self.limit)


def homogeneous(classes: Histograms) -> Bools:
    """Return for each class whether all of its rows have one sensitive value, though the table has several."""
    one: Bools = classes.distinct == 1
    return one & (np.count_nonzero(classes.table) > 1)


class Lift(Model):
    """Lift, max p/q: how many times likelier a value is in a class than in the table. Measured, never limited."""

    key = "lift"

    def judge(self, classes: Histograms) -> Verdict:
        """Return the lift of each class: the largest ratio of a value's share in the class to its share in the table."""
        return judge_ratios(classes, *classes.lifts, self.limit)
