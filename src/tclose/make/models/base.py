"""Family: privacy models that have a record, a compiled check and an excess in common, as the makers know them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tclose.distances import Distance
from tclose.policy import Policy, Sensitive
from tclose.values.arrays import Ints
from tclose.values.exact import INT64_MAX

if TYPE_CHECKING:
    from tclose.make.encode import Attribute

NEAR = 1e-9
"""Floats decide only if they are farther than this from a limit. Nearer to it a kernel refuses a class, and exact checks take
more digits."""


@dataclass(frozen=True, kw_only=True)
class Family:
    """What the makers know of some privacy models, besides their compiled check and excess, which `tclose.make.models` calls.

    Attributes
    ----------
    unlimited : dict
        The fields of its record, each with its value where nothing is limited; a float has 64 bits, as an integer has.
    fill : function
        Returns the fields that a policy sets for an attribute; all others are unlimited. An array becomes a part of
        `Limits.shapes`, and its field the index where that part starts.
    breaks : dict
        By the key of each model: whether one class breaks its limit, exactly, in integers of any size. For feasibility.
    """

    unlimited: Mapping[str, float]
    fill: Callable[[Policy, Attribute], Mapping[str, float | Ints]]
    breaks: Mapping[str, Callable[..., bool]]

    @property
    def fields(self) -> list[tuple[str, Any]]:
        """Its fields with their types."""
        return [(name, np.float64 if isinstance(value, float) else np.int64) for name, value in self.unlimited.items()]


@dataclass(frozen=True, kw_only=True)
class OnClass(Family):
    """Models that look at the values of a class alone. ``breaks``: from the limit, the column and the counts of the class."""

    breaks: Mapping[str, Callable[[Fraction, Sensitive, Ints], bool]]


@dataclass(frozen=True, kw_only=True)
class AgainstTable(Family):
    """Models that compare a class with a table. ``breaks``: also from the distance, and from the counts of the table."""

    breaks: Mapping[str, Callable[[Fraction, Sensitive, Distance, Ints, Ints], bool]]


def rounded_down(limit: Fraction) -> tuple[int, int]:
    """Return the limit as a ratio of 64-bit integers; a finer one is rounded to the strict side, by less than a float is."""
    if max(limit.numerator, limit.denominator) <= INT64_MAX:
        return limit.numerator, limit.denominator
    below = 2 ** next(power for power in range(61, -1, -1) if limit * 2**power <= INT64_MAX)
    return math.floor(limit * below), below
