"""t-closeness: in each class the sensitive values are spread nearly as in the whole table (Li et al. 2007, definition 2)."""

from __future__ import annotations

from dataclasses import dataclass

from tclose.distances import Distance
from tclose.judge.emd import denominators, numerators
from tclose.judge.models.base import Model, Verdict, judge_ratios
from tclose.values.histograms import Histograms


@dataclass(frozen=True)
class Closeness(Model):
    """EMD(P, Q) <= t for every class; P = spread in the class, Q = in the table."""

    key = "t"
    distance: Distance

    def judge(self, classes: Histograms) -> Verdict:
        """Judge the distances as integers over integers."""
        return judge_ratios(classes, numerators(self.distance, classes), denominators(self.distance, classes), self.limit)
