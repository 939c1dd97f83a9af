"""The twin of ``edges``: the published range of one class of numbers, its ends moved step by step, from plain lists."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

Grid = tuple[Fraction, Any, Any]
"""The width of a grid, and the limits of its open bottom and top; None for no open end."""


def published(
    values: Sequence[Any],
    persons: Sequence[Any],
    least: int,
    *,
    snap: Any = None,
    bottom: Any = None,
    top: Any = None,
    grid: Grid | None = None,
    whole: bool,
) -> tuple[Any, Any, bool]:
    """The least and the greatest number of a class as published, None for an open end; and whether the greatest is included.

    ``grid`` is that of a column without a snap. A class that lies beyond a limit has it as the other end.
    """
    numbers = [Fraction(str(value)) for value in values if value is not None]
    owners = [person for value, person in zip(values, persons, strict=True) if value is not None]
    step = 1 if whole else 0
    width = Fraction(str(snap)) if snap is not None else None

    def cell(number: Fraction) -> int:
        assert width is not None
        return math.floor(number / width)

    def code(number: Fraction) -> Any:
        """Numbers with the same code are published alike."""
        if bottom is not None and number <= bottom:
            return (-1, bottom)
        if top is not None and number >= top:
            return (1, top)
        return (0, number if width is None else cell(number))

    def few(wanted: Any) -> bool:
        return len({owner for number, owner in zip(numbers, owners, strict=True) if code(number) == wanted}) < least

    codes = sorted({code(number) for number in numbers})
    low, high = ends_of(codes[0], width, bottom, top, step)[0], ends_of(codes[-1], width, bottom, top, step)[1]
    included = whole or (width is None and codes[-1][0] == 0) or codes[-1][0] != 0
    if codes[0][0] == 0 and few(codes[0]):
        low = lower_edge(low, width, bottom, grid, whole=whole)
    if codes[-1][0] == 0 and few(codes[-1]):
        high = upper_edge(high, width, top, grid, whole=whole)
        included = whole
    return low, high, included


def ends_of(code: Any, width: Any, bottom: Any, top: Any, step: int) -> tuple[Any, Any]:
    """The ends of what a code stands for; None for the open one."""
    side, place = code
    if side:
        return (None, place) if side < 0 else (place, None)
    if width is None:
        return place, place
    low, high = place * width, (place + 1) * width - step
    return (
        low if bottom is None else max(low, bottom + step),
        high if top is None else min(high, top - step),
    )


def lower_edge(end: Any, width: Any, bottom: Any, grid: Grid | None, *, whole: bool) -> Any:
    """The first edge of the grid below an end; None if it is in an open cell."""
    step = 1 if whole else 0
    if bottom is not None and end - step <= bottom:
        return None
    size, open_low, open_high = (width, None, None) if grid is None else grid
    place = math.floor(end / size) + 1
    while place * size >= end:
        place -= 1
    if open_low is not None and (place + 1) * size - step <= open_low:
        return None
    found = place * size if open_high is None else min(place * size, open_high)
    return found if bottom is None else max(found, bottom + step)


def upper_edge(end: Any, width: Any, top: Any, grid: Grid | None, *, whole: bool) -> Any:
    """The first edge of the grid above an end: the last number of a cell, if all are whole; None if it is in an open cell."""
    step = 1 if whole else 0
    if top is not None and end + step >= top:
        return None
    size, open_low, open_high = (width, None, None) if grid is None else grid
    place = math.floor(end / size) - 1
    while (place + 1) * size - step <= end:
        place += 1
    if open_high is not None and place * size >= open_high:
        return None
    found = (place + 1) * size - step
    found = found if open_low is None else max(found, open_low)
    return found if top is None else min(found, top - step)


def label(low: Any, high: Any, *, included: bool, alone: bool) -> str:
    """The text of a range; ``alone`` says that it is one value."""
    first, last = ("" if end is None else text(end) for end in (low, high))
    if low is None and high is None:
        return "any value"
    if high is None:
        return f"{first} or more"
    if low is None:
        return f"{last} or less" if included else f"less than {last}"
    return first if alone else f"[{first}, {last}{']' if included else ')'}"


def text(number: Fraction) -> str:
    return str(int(number)) if number.denominator == 1 else str(Decimal(number.numerator) / number.denominator)
