"""delta-disclosure privacy: no value's share changes by much in either direction (Brickell and Shmatikov 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np

from tclose.distances import Distance
from tclose.judge.models.base import NEAR, Model, Verdict, log_sign
from tclose.policy import Policy, Sensitive
from tclose.policy.models import MODELS
from tclose.values.histograms import Histograms


@dataclass(frozen=True)
class Disclosure(Model):
    """|ln(p/q)| < delta for every value of the table, base e.

    Strict: a value of the table that a class lacks makes delta infinite. Lenient skips such values, and merging classes can
    break it.
    """

    key = "delta"
    lenient: bool = False

    @classmethod
    def of(cls, policy: Policy, column: Sensitive, distance: Distance) -> Self:  # noqa: ARG003 - what other models need
        """Return delta-disclosure with the policy's limit on a sensitive attribute, strict or lenient as the policy says."""
        return cls(lenient=column.delta_kind == "lenient", limit=MODELS[cls.key].limit(policy, column))

    def judge(self, classes: Histograms) -> Verdict:
        """Return the verdict on abs(ln(p/q)) of each value in each class: below delta, decided with more digits near it."""
        above, below = classes.lifts
        farther = np.maximum(above, below) / np.minimum(above, below)  # so that 10 and 1/10 give the same float
        logs = np.log(farther.astype(np.float64))
        values = classes.largest(logs)
        if not self.lenient:
            values = np.where(classes.distinct < np.count_nonzero(classes.table), np.inf, values)
        broken = np.zeros(len(classes), dtype=bool)
        if self.limit is not None:
            broken = values >= float(self.limit)
            for number in np.flatnonzero(np.abs(values - float(self.limit)) < NEAR * (1 + float(self.limit))):
                places = range(classes.starts[number], classes.starts[number + 1])
                ratios = (Fraction(int(above[place]), int(below[place])) for place in places)
                broken[number] = any(log_sign(max(ratio, 1 / ratio), self.limit) >= 0 for ratio in ratios)
        place = int(values.argmax())
        return Verdict(values, broken, float(values[place]), classes.first + place)
