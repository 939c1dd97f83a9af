"""beta-likeness: no value becomes much likelier in a class than in the table (Cao and Karras 2012)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from tclose.judge.models.base import NEAR, Model, Verdict, judge_ratios, log_sign
from tclose.values.arrays import Bools
from tclose.values.histograms import Histograms


class BasicLikeness(Model):
    """(p - q) / q <= beta wherever p > q. Attained is max p/q - 1."""

    key = "beta"

    def judge(self, classes: Histograms) -> Verdict:
        """Return the verdict on the largest p/q of each class: at most 1 + beta."""
        # Some value of a class has p >= q, so the largest p/q decides.
        verdict = judge_ratios(classes, *classes.lifts, None if self.limit is None else self.limit + 1)
        return replace(verdict, values=verdict.values - 1, worst=verdict.worst - 1)


@dataclass(frozen=True)
class EnhancedLikeness(Model):
    """(p - q) / q <= min(beta, -ln q) wherever p > q. Attained is infinite where -ln q is exceeded: no beta allows it."""

    key = "beta_enhanced"

    def judge(self, classes: Histograms) -> Verdict:
        """Return the verdict on p/q of each value in each class: at most 1 + min(beta, -ln q)."""
        basic = BasicLikeness(limit=self.limit).judge(classes)
        hopeless = classes.largest(_beyond_own_limit(classes))
        values = np.where(hopeless, np.inf, basic.values)
        broken = basic.broken if self.limit is None else basic.broken | hopeless
        if not hopeless.any():
            return replace(basic, values=values, broken=broken)
        return Verdict(values, broken, float("inf"), classes.first + int(np.argmax(hopeless)))


def _beyond_own_limit(classes: Histograms) -> Bools:
    """Return for each value of each class whether (p - q) / q > -ln q, decided with more digits near equality."""
    above, below = classes.lifts
    gain = (above / below).astype(np.float64) - 1
    share = classes.table[classes.codes] / classes.rows
    beyond: Bools = gain > -np.log(share)
    for place in np.flatnonzero((np.abs(gain + np.log(share)) < NEAR * (1 + gain)) & (gain > 0)):
        q = Fraction(int(classes.table[classes.codes[place]]), classes.rows)
        beyond[place] = log_sign(q, 1 - Fraction(int(above[place]), int(below[place]))) > 0
    result: Bools = beyond & (gain > 0)
    return result
