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

from tclose.values.printed import printed

INT64_MAX = 2**63 - 1
_HUGE = re.compile(r"[eE][+-]?0*[0-9]{4}")  # an exponent that would fill the memory


def exact(number: Any) -> Fraction:
    """Return the fraction that a number or a text stands for: ``Fraction(str(x))`` for a float, so 0.3 is 3/10.

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
    """Return a fraction in its shortest form that `exact` reads back: 5, 0.2 or "4/15"."""
    if number.denominator == 1:
        return int(number)
    if Fraction(str(float(number))) == number:
        return float(number)
    return str(number)


def finite_decimal(number: Fraction) -> Decimal | None:
    """Return a fraction as a decimal; None if it has no finite decimal."""
    for digits in range(number.denominator.bit_length() + 1):
        if 10**digits % number.denominator == 0:
            return Decimal(f"{number.numerator * 10**digits // number.denominator}e-{digits}")  # exact; scaleb would round
    return None


def as_text(number: Fraction) -> str:
    """Return a fraction as text: 25, -0.5, or 1/3."""
    decimal = finite_decimal(number)
    return str(number) if decimal is None else printed(decimal)


def float_up(value: Fraction | float) -> float:
    """Return the least float whose printed decimal is not below a fraction: an attained risk is never shown too small.

    >>> float_up(Fraction(3, 10)), float_up(Fraction(1, 3))
    (0.3, 0.33333333333333337)
    """
    shown = float(value)
    while isinstance(value, Fraction) and exact(shown) < value:
        shown = math.nextafter(shown, math.inf)
    return shown


def decimal_up(value: Fraction | float, digits: int = 4) -> str:
    """Return a value as a decimal text, rounded up: 1/3 is 0.3334, as an attained risk is never shown too small."""
    if not math.isfinite(value):
        return "unbounded"
    scaled = math.ceil(exact(value) * 10**digits)
    return f"{Decimal(scaled).scaleb(-digits):,.{digits}f}"


def decimal_down(value: Fraction | float, digits: int = 4) -> str:
    """Return a value as a decimal text, rounded down: attained protection is never shown too large."""
    scaled = math.floor(exact(value) * 10**digits)
    return f"{Decimal(scaled).scaleb(-digits):,.{digits}f}"


def number_of(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun, for a sentence: "1 row", "2 rows"; ``many`` gives a plural that is not formed by an s."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def about(number: float) -> str:
    """Return a number for a sentence: three digits, or the whole number with commas from 1,000 on.

    >>> about(8.64), about(10_912.4)
    ('8.64', '10,912')
    """
    return f"{number:,.0f}" if 1000 <= number < 1e15 else f"{number:.3g}"


def integer_dtype(bound: int) -> type:
    """Return the dtype in which integers up to ``bound`` are exact: int64, else object (Python's own integers).

    ``bound`` must be a Python integer: NumPy's wrap silently, and the check would wrap with them.
    """
    return np.int64 if bound <= INT64_MAX else object


def product(left: NDArray[Any], right: NDArray[Any] | int) -> NDArray[Any]:
    """Return ``left * right`` of arrays of integers from 0 on, in Python's integers where 64 bits would wrap around."""
    largest = int(left.max(initial=1)), int(np.max(right, initial=1))
    dtype = integer_dtype(largest[0] * largest[1])
    result: NDArray[Any] = left.astype(dtype) * np.asarray(right, dtype=dtype)
    return result


def in_row(words: str, row: int, after: str = "") -> str:
    """Return words, the number of a row and what comes after it; "" for row 0: the rows of a database have no numbers.

    >>> in_row(", the first in row", 1200), in_row(", the first in row", 0)
    (', the first in row 1,200', '')
    """
    return f"{words} {row:,}{after}" if row else ""
