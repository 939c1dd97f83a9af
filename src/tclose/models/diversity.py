"""l-diversity: each class has at least l well represented values (Machanavajjhala et al. 2007), in three readings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tclose.histograms import Histograms
from tclose.models.base import NEAR, Model, Verdict, judge_ratios


class DistinctDiversity(Model):
    """At least l different values in each class."""

    key = "l_distinct"
    floor = True

    def judge(self, classes: Histograms) -> Verdict:
        """Count the values of each class."""
        distinct = classes.distinct
        broken = distinct < float(self.limit or 0)
        place = int(distinct.argmin())
        return Verdict(distinct.astype(np.float64), broken, Fraction(int(distinct[place])), classes.first + place)


class EntropyDiversity(Model):
    r"""Entropy of at least ln l in each class: :math:`-\sum_v p_v \ln p_v \ge \ln l`. Attained is exp(entropy), not truncated.

    Within 1e-9 of equality integers decide, :math:`s^s \ge l^s \prod c_v^{c_v}`: floats reject a uniform class of 3, 6, 7 or 10.
    """

    key = "l_entropy"
    floor = True

    def judge(self, classes: Histograms) -> Verdict:
        """Measure in floats, and settle what is near a whole number or the limit in integers."""
        sizes = classes.sizes
        entropies = np.log(sizes) - classes.sums(classes.counts * np.log(classes.counts)) / sizes
        uniform = classes.largest(classes.counts) * classes.distinct == sizes
        values = np.where(uniform, classes.distinct, np.exp(entropies))
        for number in np.flatnonzero((np.abs(values - np.rint(values)) < NEAR * values) & ~uniform).tolist():
            whole = Fraction(int(np.rint(values[number])))
            if _compare(_counts(classes, number), whole) == 0:
                values[number] = float(whole)
        broken = np.zeros(len(classes), dtype=bool)
        if self.limit is not None:
            limit = float(self.limit)
            broken = values < limit
            for number in np.flatnonzero(np.abs(values - limit) < NEAR * limit).tolist():
                broken[number] = _compare(_counts(classes, number), self.limit) < 0
        place = int(values.argmin())
        return Verdict(values, broken, float(values[place]), classes.first + place)


@dataclass(frozen=True)
class RecursiveDiversity(Model):
    """Recursive (c,l): r_1 < c (r_l + ... + r_m), counts descending. Attained is the infimum of c; infinite below l values."""

    key = "c_recursive"
    l: int = 2  # noqa: E741 - the name of the model

    def judge(self, classes: Histograms) -> Verdict:
        """Sort each class's counts, largest first, and compare the first with the sum from the l-th on."""
        descending = classes.counts[np.lexsort((-classes.counts, classes.numbers))]
        rank = np.arange(len(descending)) - classes.spread(classes.starts[:-1])
        tails = classes.sums(np.where(rank >= self.l - 1, descending, 0))
        return judge_ratios(classes, classes.largest(classes.counts), tails, self.limit, strict=True)


def _counts(classes: Histograms, number: int) -> tuple[int, ...]:
    return tuple(sorted(classes.counts[classes.starts[number] : classes.starts[number + 1]].tolist()))


def _compare(counts: tuple[int, ...], l: Fraction) -> int:  # noqa: E741
    """The sign of exp(entropy) - l: s^s against l^s * prod c^c, counts divided by what they share."""
    shared = math.gcd(*counts)
    parts = [count // shared for count in counts]
    size = sum(parts)
    left: int = (size * l.denominator) ** size
    right: int = l.numerator**size * math.prod(part**part for part in parts)
    return (left > right) - (left < right)
