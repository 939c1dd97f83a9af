"""alpha, the largest share of one value in a class: whether a tallied column satisfies it, and its excess."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tclose.make.kernels.compiling import once
from tclose.make.kernels.small import at_most
from tclose.make.models.base import OnClass, rounded_down
from tclose.policy import Policy, Sensitive
from tclose.values.arrays import Ints

if TYPE_CHECKING:
    from tclose.make.encode import Attribute


@once
def satisfies_alpha(column: Any, size: int, counts: Ints, touched: Ints) -> bool:
    """Return whether no value has a share above alpha."""
    if column.alpha_above < column.alpha_below:
        for code in touched:
            if not at_most(counts[code], size, column.alpha_above, column.alpha_below):
                return False
    return True


@once
def excess_of_alpha(column: Any, size: int, counts: Ints, touched: Ints) -> float:
    """Return the sum of max(0, p - alpha) over the values; p is the share in the class."""
    total = 0.0
    if column.alpha_above < column.alpha_below:
        alpha = column.alpha_above / column.alpha_below
        for code in touched:
            total += max(0.0, counts[code] / size - alpha)
    return total


def _fill(policy: Policy, _: Attribute) -> Mapping[str, int]:
    if policy.alpha is None:
        return {}
    above, below = rounded_down(policy.alpha)
    return {"alpha_above": above, "alpha_below": below}


def _exceeds_alpha(alpha: Fraction, _: Sensitive, counts: Ints) -> bool:
    """Whether the most frequent value has a share above alpha."""
    return Fraction(int(counts.max()), int(counts.sum())) > alpha


FAMILY = OnClass(unlimited={"alpha_above": 1, "alpha_below": 1}, fill=_fill, breaks={"share": _exceeds_alpha})
