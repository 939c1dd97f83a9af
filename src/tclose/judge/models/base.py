"""Model: a privacy model judges every class of a table, and says what the worst of them attains."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from tclose.distances import Distance
from tclose.policy import Policy, Sensitive
from tclose.policy.models import MODELS
from tclose.values.arrays import Bools, Floats
from tclose.values.exact import product
from tclose.values.histograms import Histograms

NEAR = 1e-9
"""A float decides only if it is farther than this from the limit; nearer to it, integers or more digits decide."""


@dataclass(frozen=True)
class Verdict:
    """What a model finds in a table.

    Attributes
    ----------
    values : (classes,) float64
        The attained value of each class; infinite where nothing bounds it.
    broken : (classes,) bool
        Which classes break the limit; none when there is no limit.
    worst : Fraction or float
        The worst of them, which the table attains: exact, unless it is a logarithm.
    worst_class : int
        The first class that attains it.
    """

    values: Floats
    broken: Bools
    worst: Fraction | float
    worst_class: int


@dataclass(frozen=True)
class Model(ABC):
    """One privacy model for one sensitive attribute, with a limit or only measuring.

    ``key`` is that of its entry in `tclose.policy.models.MODELS`, which says all that is known without measuring.
    """

    key: ClassVar[str]
    limit: Fraction | None = field(default=None, kw_only=True)

    @classmethod
    def of(cls, policy: Policy, column: Sensitive, distance: Distance) -> Self:  # noqa: ARG003 - what some models need
        """Return the model with the limit that a policy sets for a sensitive attribute."""
        return cls(limit=MODELS[cls.key].limit(policy, column))

    @property
    def floor(self) -> bool:
        """Whether the model's limit is a least value, as for k, not a largest."""
        return MODELS[self.key].at_least

    @abstractmethod
    def judge(self, classes: Histograms) -> Verdict:
        """Return the verdict of the model on each class, from the histograms of a sensitive attribute."""

    def join(self, parts: Sequence[Verdict]) -> Verdict:
        """Return the verdict over all parts of a table, in the order of their classes."""
        worst = (min if self.floor else max)(parts, key=lambda part: part.worst)  # ties: the first wins
        values, broken = (np.concatenate([getattr(part, name) for part in parts]) for name in ("values", "broken"))
        return Verdict(values, broken, worst.worst, worst.worst_class)


def judge_ratios(
    classes: Histograms, above: NDArray[Any], below: NDArray[Any], limit: Fraction | None, *, strict: bool = False
) -> Verdict:
    """Return the verdict on ratios of integers that must be at most a limit, or below it if ``strict``.

    ``above / below`` has one entry a class, or one for each touched value of each class; the largest counts. ``below`` is 0
    where the ratio is infinite.
    """
    per_value = len(above) != len(classes)
    infinite = below == 0
    ratios = np.where(infinite, np.inf, above / np.where(infinite, 1, below)).astype(np.float64)
    values = classes.largest(ratios) if per_value else ratios
    bad = exceeds(above, below, limit, strict=strict) if limit is not None else np.zeros(len(above), dtype=bool)
    worst, place = _largest_ratio(above, below, ratios)
    if per_value:
        bad, place = classes.largest(bad), int(np.searchsorted(classes.starts, place, side="right")) - 1
    return Verdict(values, bad, worst, classes.first + place)


def exceeds(above: NDArray[Any], below: NDArray[Any], limit: Fraction, *, strict: bool = False) -> Bools:
    """Return whether each ``above / below`` exceeds a limit (strict: reaches it), in integers; ``below`` 0 is infinite."""
    left, right = product(above, limit.denominator), product(below, limit.numerator)
    result: Bools = np.asarray((left >= right) if strict else (left > right), dtype=bool) | (below == 0)
    return result


def _largest_ratio(above: NDArray[Any], below: NDArray[Any], ratios: Floats) -> tuple[Fraction | float, int]:
    """Return the largest ``above / below`` as a fraction, and the first index that has it."""
    top = ratios.max()
    if np.isinf(top):
        return float("inf"), int(np.argmax(np.isinf(ratios)))
    close = np.flatnonzero(ratios >= top - NEAR * max(top, 1))
    pairs = list(zip(above[close].tolist(), below[close].tolist(), strict=True))
    exact = {pair: Fraction(*pair) for pair in set(pairs)}
    worst = max(exact.values())
    return worst, next(int(place) for place, pair in zip(close, pairs, strict=True) if exact[pair] == worst)


def log_sign(ratio: Fraction, other: Fraction) -> int:
    """Return the sign of ``ln(ratio) - other``, exactly: digits are added until it is certain."""
    if ratio == 1:
        return (other < 0) - (other > 0)
    digits = 50
    while True:
        with localcontext(prec=digits):
            logarithm = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
            difference = logarithm - Decimal(other.numerator) / Decimal(other.denominator)
            if abs(difference) > Decimal(10) ** (10 - digits) * (1 + abs(logarithm)):
                return 1 if difference > 0 else -1
        digits *= 2
