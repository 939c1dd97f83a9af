"""t-closeness: the sensitive values of each class have nearly the table's distribution (Li et al. 2007, definition 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from tclose.distances import Distance
from tclose.judge.emd import denominators, numerators
from tclose.judge.models.base import Model, Verdict, judge_ratios
from tclose.policy import Policy, Sensitive
from tclose.policy.models import MODELS
from tclose.values.histograms import Histograms


@dataclass(frozen=True)
class Closeness(Model):
    """EMD(P, Q) <= t for every class; P is the distribution in the class, Q that in the table."""

    key = "t"
    distance: Distance

    @classmethod
    def of(cls, policy: Policy, column: Sensitive, distance: Distance) -> Self:
        """Return t-closeness with the attribute's distance and the policy's t; without a limit if (n,t)-closeness takes it."""
        return cls(distance, limit=MODELS[cls.key].limit(policy, column))

    def judge(self, classes: Histograms) -> Verdict:
        """Return the verdict on the earth mover's distance of each class from the table: at most t, compared in integers."""
        return judge_ratios(classes, numerators(self.distance, classes), denominators(self.distance, classes), self.limit)
