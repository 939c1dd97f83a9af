"""Excess: how far a tallied class is from satisfying its limits, so that growth knows which rows to take.

The excess of a column is the sum of the excesses of its limits, which `tclose.make.models` defines. It is computed in floats and
decides nothing: with an excess of 0, `tclose.make.kernels.satisfies.satisfies` may still refuse a class that is exactly at a
limit.
"""

from __future__ import annotations

from numba import float64

from tclose.make.kernels.compiling import apart
from tclose.make.kernels.limits import BLANK as NO_LIMITS
from tclose.make.kernels.limits import Limits
from tclose.make.kernels.scratch import BLANK, Scratch
from tclose.make.models import excess_of_all


@apart(float64, NO_LIMITS, 0, 0, 0, BLANK)
def excess(limits: Limits, number: int, size: int, distinct: int, scratch: Scratch) -> float:
    """Return the excess of one tallied column over rows, without k and without l over persons. May sort the touched values."""
    return excess_of_all(limits, number, size, scratch, scratch.touched[:distinct])
