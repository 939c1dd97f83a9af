"""The twin of `snap: auto`: every grid in order, and on each every pair of open ends."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

SPANS = ("day", "week", "month", "quarter", "year")


def chosen(values: Sequence[Any], persons: Sequence[Any], k: int) -> tuple[Any, Any, Any] | None:
    """Snap, bottom and top of the first grid that will do, the finest first; None if none will. Missing values are None."""
    rows = [(value, person) for value, person in zip(values, persons, strict=True) if value is not None]
    dates = isinstance(rows[0][0], date)
    for snap in SPANS if dates else round_widths([value for value, _ in rows]):
        ends = open_ends(rows, snap, k, dense=not dates and not all(isinstance(value, int) for value, _ in rows))
        if ends is not None:
            return (snap, *ends)
    return None


def round_widths(values: list[Any]) -> Iterator[Fraction]:
    exponent = min([int(Decimal(str(value)).normalize().as_tuple().exponent) for value in values] + [0])
    while True:
        for digit in (1, 2, 5):
            width = digit * Fraction(10) ** exponent
            yield width
            if width > max(abs(Fraction(str(value))) for value in values):
                return
        exponent += 1


def cell(value: Any, snap: Any) -> Any:
    """The cell of a value, so that cells sort as values do."""
    if not isinstance(value, date):
        return math.floor(Fraction(str(value)) / snap)
    month = (value.year, value.month)
    return {
        "day": (*month, value.day),
        "week": tuple(value.isocalendar())[:2],
        "month": month,
        "quarter": (value.year, (value.month + 2) // 3),
        "year": value.year,
    }[snap]


def limits(name: Any, snap: Any, value: Any, *, dense: bool) -> tuple[Any, Any]:
    """Where a top begins and a bottom ends that have this cell as their innermost, of which one value is given."""
    if not isinstance(value, date):
        return name * snap, (name + 1) * snap - (0 if dense else 1)
    first = last = datetime(value.year, value.month, value.day).date()
    while cell(first - timedelta(days=1), snap) == name:
        first -= timedelta(days=1)
    while cell(last + timedelta(days=1), snap) == name:
        last += timedelta(days=1)
    return first, last


def open_ends(rows: list[tuple[Any, Any]], snap: Any, k: int, *, dense: bool) -> tuple[Any, Any] | None:
    cells = sorted({cell(value, snap) for value, _ in rows})
    some = {cell(value, snap): value for value, _ in rows}
    everybody = len({person for _, person in rows})

    def few(beyond: list[Any]) -> bool:
        count = len({person for value, person in rows if cell(value, snap) in beyond})
        return count < k or 20 * count < everybody

    lows = [low for low in range(len(cells) + 1) if all(few(cells[:place]) for place in range(low))]
    highs = [high for high in range(len(cells) + 1) if all(few(cells[len(cells) - place :]) for place in range(high))]
    for low in lows:
        for high in [high for high in highs if low + high <= len(cells)]:
            bottom = limits(cells[low - 1], snap, some[cells[low - 1]], dense=dense)[1] if low else None
            top = limits(cells[-high], snap, some[cells[-high]], dense=dense)[0] if high else None
            if bottom is not None and top is not None and bottom >= top:
                continue
            labels: dict[Any, set[Any]] = {}
            for value, person in rows:
                exact = value if isinstance(value, date) else Fraction(str(value))
                label = cell(value, snap)
                if bottom is not None and exact <= bottom:
                    label = "bottom"
                elif top is not None and exact >= top:
                    label = "top"
                labels.setdefault(label, set()).add(person)
            enough = all(len(inside) >= k for inside in labels.values())
            if enough and (len(labels) > 1 or low + high == 0):
                return bottom, top
    return None
