"""Exact numbers: what a user's number means, and how an attained value is shown.

A float means the decimal that the user sees, so 0.3 is 3/10 and a class at exactly 3/10 passes a limit of 0.3.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

INT64_MAX = 2**63 - 1
_HUGE = re.compile(r"[eE][+-]?0*[0-9]{4}")  # an exponent that would fill the memory


def exact(number: Any) -> Fraction:
    """The fraction a number stands for: ``Fraction(str(x))`` for a float, so 0.3 is 3/10.

    >>> exact(0.3), exact("4/15"), exact(2)
    (Fraction(3, 10), Fraction(4, 15), Fraction(2, 1))
    """
    if isinstance(number, bool | np.bool_):
        raise ValueError(f"{number} is not a number")  # noqa: TRY004 - pydantic turns ValueError into its own
    if isinstance(number, Integral):
        return Fraction(int(number))
    if isinstance(number, Rational):
        return Fraction(int(number.numerator), int(number.denominator))
    if isinstance(number, Decimal):
        if not number.is_finite():
            raise ValueError(f"{number} is not a finite number")
        return Fraction(number)
    if isinstance(number, Real):
        if not math.isfinite(float(number)):
            raise ValueError(f"{number} is not a finite number")
        return Fraction(str(number))  # str and not repr: NumPy writes repr as np.float64(0.3)
    if isinstance(number, str):
        if _HUGE.search(number):
            raise ValueError(f"{number!r} is too large or too small a number")
        try:
            return Fraction(number.strip())
        except (ValueError, ZeroDivisionError):
            raise ValueError(f"{number!r} is not a number") from None
    raise ValueError(f"{type(number).__name__} is not a number")


def plain(number: Fraction) -> int | float | str:
    """The shortest way to write a fraction that `exact` reads back: 5, 0.2 or "4/15"."""
    if number.denominator == 1:
        return int(number)
    if Fraction(str(float(number))) == number:
        return float(number)
    return str(number)


def float_up(value: Fraction | float) -> float:
    """The least float whose printed decimal is not below the value: an attained risk is never shown smaller than it is.

    >>> float_up(Fraction(3, 10)), float_up(Fraction(1, 3))
    (0.3, 0.33333333333333337)
    """
    shown = float(value)
    while isinstance(value, Fraction) and exact(shown) < value:
        shown = math.nextafter(shown, math.inf)
    return shown


def decimal_up(value: Fraction | float, digits: int = 4) -> str:
    """The value as a decimal, rounded up: 1/3 is 0.3334, for an attained risk is never shown smaller than it is."""
    if not math.isfinite(value):
        return "unbounded"
    scaled = math.ceil(exact(value) * 10**digits)
    return f"{Decimal(scaled).scaleb(-digits):,.{digits}f}"


def decimal_down(value: Fraction | float, digits: int = 4) -> str:
    """The value as a decimal, rounded down: attained protection is never shown larger than it is."""
    scaled = math.floor(exact(value) * 10**digits)
    return f"{Decimal(scaled).scaleb(-digits):,.{digits}f}"


def number_of(count: int, one: str, many: str = "") -> str:
    """A count and what it counts: 1 row, 2 rows; 1 class, 2 classes where their name is given."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def integer_dtype(bound: int) -> type:
    """The dtype in which integers up to ``bound`` are exact: int64, else Python's own integers.

    ``bound`` must be a Python integer: NumPy's wrap silently, and the check would wrap with them.
    """
    return np.int64 if bound <= INT64_MAX else object


def product(left: NDArray[Any], right: NDArray[Any] | int) -> NDArray[Any]:
    """``left * right`` of integers that are not negative, without wrapping around."""
    largest = int(left.max(initial=1)), int(np.max(right, initial=1))
    dtype = integer_dtype(largest[0] * largest[1])
    result: NDArray[Any] = left.astype(dtype) * np.asarray(right, dtype=dtype)
    return result
