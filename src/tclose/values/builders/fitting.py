"""Fitting: the rule that suggests itself for the values of a column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tclose.values.exact import plain

INTERVALS = 20
"""Intervals of the finest level that is suggested, at most."""


def fitting_rule(kind: str, values: Sequence[Any]) -> dict[str, list[Any]]:
    """Return the key of a rule with its setting, for a column of a kind with some values; empty if no rule fits.

    >>> fitting_rule("integer", [17, 90]), fitting_rule("text", ["J11.0", "I50.1"]), fitting_rule("text", ["Peru", "Chad"])
    ({'intervals': [5, 10, 20]}, {'prefixes': [4, 3]}, {})
    """
    if not values:
        return {}
    if kind in ("integer", "decimal", "float"):
        widths = fitting_widths(
            values[0], values[-1], whole=all(math.isfinite(value) and value == int(value) for value in values)
        )
        return {"intervals": widths} if widths else {}
    if kind == "date":
        return {"dates": ["month", "quarter", "year"]}
    lengths = {len(value) for value in values} if kind == "text" else {0}
    length = lengths.pop()
    coded = not lengths and length > 2 and all("*" not in value and any(map(str.isdigit, value)) for value in values)
    return {"prefixes": [length - 1, length - 2]} if coded else {}


def fitting_widths(low: Any, high: Any, *, whole: bool) -> list[Any]:
    """Return three widths of intervals for numbers between two others, or none: whole ones get no intervals of one number."""
    step = round_step(max((float(high) - float(low)) / INTERVALS, 2 if whole else 0))
    return [] if step is None else [plain(step * factor) for factor in (1, 2, 4)]


def round_step(least: float) -> Fraction | None:
    """Return the least of 1, 2 and 5 times a power of ten that is not below a number; None if that cannot be said.

    >>> round_step(3.65), round_step(0.02)
    (Fraction(5, 1), Fraction(1, 50))
    """
    if not math.isfinite(least) or not 1e-9 < least < 1e15:
        return None
    power = Fraction(10) ** math.floor(math.log10(least))
    return next(step * power for step in (1, 2, 5, 10, 20) if step * power >= Fraction(str(least)))
