"""l-diversity: each class has at least l well represented values (Machanavajjhala et al. 2007), in three kinds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Self

import numpy as np

from tclose.distances import Distance
from tclose.judge.models.base import NEAR, Model, Verdict, judge_ratios
from tclose.policy import Policy, Sensitive
from tclose.policy.models import MODELS
from tclose.values.arrays import Ints
from tclose.values.histograms import Histograms


class DistinctDiversity(Model):
    """At least l different values in each class."""

    key = "l_distinct"

    def judge(self, classes: Histograms) -> Verdict:
        """Return the verdict on the number of different values in each class: at least l."""
        distinct = classes.distinct
        broken = distinct < math.ceil(self.limit or 0)
        place = int(distinct.argmin())
        return Verdict(distinct.astype(np.float64), broken, Fraction(int(distinct[place])), classes.first + place)


class EntropyDiversity(Model):
    r"""Entropy of at least ln l in each class: :math:`-\sum_v p_v \ln p_v \ge \ln l`. Attained is exp(entropy), not truncated.

    Near equality :math:`s^s \ge l^s \prod c_v^{c_v}` is decided exactly: floats reject a uniform class of 3, 6, 7 or 10.
    """

    key = "l_entropy"

    def judge(self, classes: Histograms) -> Verdict:
        """Return the verdict on the entropy of each class: at least ln l, decided exactly near the limit."""
        # Sorted, and divided by what they share, so that equal distributions give equal floats, whatever their order.
        counts = classes.descending // classes.repeated(np.gcd.reduceat(classes.counts, classes.starts[:-1]))
        sizes = classes.sums(counts)
        values = np.exp(np.log(sizes) - classes.sums(counts * np.log(counts)) / sizes)
        uniform = sizes == classes.distinct
        values[uniform] = classes.distinct[uniform]
        for number in np.flatnonzero((np.abs(values - np.rint(values)) < NEAR * values) & ~uniform).tolist():
            whole = Fraction(int(np.rint(values[number])))
            values[number] = whole if _is_entropy_l(_counts_of_class(counts, classes, number), whole) else values[number]
        broken = np.zeros(len(classes), dtype=bool)
        if self.limit is not None:
            limit = float(self.limit)
            broken = values < limit
            for number in np.flatnonzero(np.abs(values - limit) < NEAR * limit).tolist():
                broken[number] = _entropy_sign(_counts_of_class(counts, classes, number), self.limit) < 0
        place = int(values.argmin())
        return Verdict(values, broken, float(values[place]), classes.first + place)


@dataclass(frozen=True)
class RecursiveDiversity(Model):
    """Recursive (c,l): r_1 < c (r_l + ... + r_m), counts descending. Attained is the infimum of c; infinite below l values."""

    key = "c_recursive"
    l: int = 2  # noqa: E741 - the name of the model

    @classmethod
    def of(cls, policy: Policy, column: Sensitive, distance: Distance) -> Self:  # noqa: ARG003 - what other models need
        """Return recursive (c,l)-diversity for the policy's l, whatever its kind; for l = 2 if the policy sets none."""
        return cls(l=int(column.l) if column.l else 2, limit=MODELS[cls.key].limit(policy, column))

    def judge(self, classes: Histograms) -> Verdict:
        """Return the verdict on each class's largest count: below c times the sum of the l-th largest and smaller ones."""
        rank = np.arange(len(classes.counts)) - classes.repeated(classes.starts[:-1])
        tails = classes.sums(np.where(rank >= self.l - 1, classes.descending, 0))
        return judge_ratios(classes, classes.largest(classes.counts), tails, self.limit, strict=True)


def _counts_of_class(counts: Ints, classes: Histograms, number: int) -> list[int]:
    """Return the counts of the sensitive values of one class."""
    part: list[int] = counts[classes.starts[number] : classes.starts[number + 1]].tolist()
    return part


def _is_entropy_l(counts: list[int], l: Fraction) -> bool:  # noqa: E741
    """Whether exp(entropy) of some counts is exactly l: s^s = l^s * prod c^c, compared by prime factors."""
    size = sum(counts)
    exponents: Counter[int] = Counter()
    for base, power in ((size, size), *((count, -count) for count in counts)):
        for prime in _prime_factors(base):
            exponents[prime] += power
    for base, power in ((l.denominator, size), (l.numerator, -size)):
        for prime in list(exponents):
            while base % prime == 0:
                exponents[prime] += power
                base //= prime
        if base > 1:  # a prime that the other side lacks
            return False
    return not any(exponents.values())


def _entropy_sign(counts: list[int], l: Fraction) -> int:  # noqa: E741
    """Return the sign of exp(entropy) - l for some counts, exactly: digits are added until it is certain."""
    if _is_entropy_l(counts, l):
        return 0
    size, digits = sum(counts), 50
    while True:
        with localcontext(prec=digits):
            difference = size * (Decimal(size).ln() + Decimal(l.denominator).ln() - Decimal(l.numerator).ln())
            difference -= sum(count * Decimal(count).ln() for count in counts)
            if abs(difference) > size * Decimal(10) ** (20 - digits):
                return 1 if difference > 0 else -1
        digits *= 2


def _prime_factors(number: int) -> Iterator[int]:
    """Yield the prime factors of a number, each as often as it divides."""
    factor = 2
    while factor * factor <= number:
        if number % factor:
            factor += 1 if factor == 2 else 2
        else:
            yield factor
            number //= factor
    if number > 1:
        yield number
