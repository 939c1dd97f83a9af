"""Hierarchy builders, slowly: the label of one value on one level, found by trying, and trees checked pair by pair."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction
from typing import Any

from tclose import Hierarchy


def interval_of_width(number: Fraction, width: Fraction) -> tuple[Fraction, Fraction]:
    """Return the interval that begins at a multiple of the width: steps away from 0 until the number is inside."""
    low = Fraction(0)
    while not low <= number < low + width:
        low += width if number >= low else -width
    return low, low + width


def rounds_to(number: Fraction, units: list[Fraction]) -> Fraction:
    """Return a number rounded to the first unit, the result to the second, and so on; a half goes up."""
    for unit in units:
        low, high = interval_of_width(number, unit)
        number = low if number - low < high - number else high
    return number


def interval_between(number: Fraction, cuts: list[Fraction]) -> tuple[Any, Any]:
    """Return the greatest cut point that is not above a number, and the least one above it; None where there is none."""
    return max((cut for cut in cuts if cut <= number), default=None), min((cut for cut in cuts if cut > number), default=None)


def calendar_name(day: date, unit: str) -> str:
    """Return the name of the unit of the calendar that has a day; a week by the year of its Thursday."""
    if unit == "day":
        return str(day)
    if unit == "week":
        thursday = day + timedelta(days=3 - day.weekday())
        return f"{thursday.year:04d}-W{(thursday.timetuple().tm_yday - 1) // 7 + 1:02d}"
    quarter = {1: 1, 2: 1, 3: 1, 4: 2, 5: 2, 6: 2, 7: 3, 8: 3, 9: 3, 10: 4, 11: 4, 12: 4}[day.month]
    return {"month": f"{day.year:04d}-{day.month:02d}", "quarter": f"{day.year:04d}-Q{quarter}", "year": f"{day.year:04d}"}[unit]


def narrowest_range(code: str, ranges: list[tuple[str, str]]) -> tuple[str, str] | None:
    """Return the range inside of all ranges that have a code, all of whose ends are equally long texts."""
    having = [(low, high) for low, high in ranges if len(code) >= len(low) and low <= code[: len(low)] <= high]
    return next((one for one in having if all(low <= one[0] and one[1] <= high for low, high in having)), None)


def members(tree: Hierarchy) -> dict[int, list[str]]:
    """Return the leaves below each node of a tree."""
    found: dict[int, list[str]] = {node: [] for node in range(len(tree.labels))}
    for leaf in tree.leaves:
        for node in tree.path(tree.leaf(leaf)):
            found[node].append(leaf)
    return found


def label_covers(label: str, number: Fraction) -> bool:
    """Whether a label of a range, an open range or a number may stand for a number."""
    if label == "*":
        return True
    if label.startswith("["):
        low, high = (Fraction(end) for end in label[1:-1].split(", "))
        return low <= number <= high if label.endswith("]") else low <= number < high
    if label.startswith("less than "):
        return number < Fraction(label.removeprefix("less than "))
    if label.endswith(" or less"):
        return number <= Fraction(label.removesuffix(" or less"))
    if label.endswith(" or more"):
        return number >= Fraction(label.removesuffix(" or more"))
    return number == Fraction(label)
