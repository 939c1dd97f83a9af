"""Dates: hierarchies of the calendar."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Any

from tclose.values.builders.base import Builder
from tclose.values.printed import printed

UNITS = ("day", "week", "month", "quarter", "year")


@dataclass(frozen=True)
class Dates(Builder):
    """A hierarchy of dates: the date, its unit of the calendar at each level, then ``*``.

    Weeks begin on Monday and are named by ISO 8601: the first one of a year may begin in the December before. So a week lies in
    no month, quarter or year, and has no level above it but ``*``.

    >>> Dates(("month", "year")).paths(["2024-03-05"]), Dates(("week",)).paths(["2024-12-30"])
    ([['*', '2024', '2024-03', '2024-03-05']], [['*', '2025-W01', '2024-12-30']])
    """

    units: tuple[str, ...] = ("month", "quarter", "year")
    key = "dates"
    needs = "dates"

    @classmethod
    def read(cls, given: Any) -> Dates:
        """Return the dates of a policy's list of units of the calendar: ``[month, year]``."""
        units = tuple(given) if isinstance(given, list | tuple) else (given,)
        known = all(isinstance(unit, str) and unit in UNITS for unit in units)
        ranks = [UNITS.index(unit) for unit in units] if known else []
        if not units or not known or ranks != sorted(set(ranks)):
            raise ValueError(f"units of the calendar, the finest first, of {', '.join(UNITS)}: [month, year]")
        if "week" in units and units[-1] != "week":
            raise ValueError("units that lie inside one another, and a week may lie in two months and in two years: [week]")
        return cls(units)

    def setting(self) -> Any:
        """Return the dates as a policy writes them: ``"dates"``, or ``{"dates": ["month", "year"]}``."""
        return self.key if self.units == Dates().units else {self.key: list(self.units)}

    def levels(self) -> list[str]:
        """Return the unit of each level."""
        return list(self.units)

    def requirement(self, value: Any) -> str | None:
        """Return what a value must be that is not a date."""
        text, day = printed(value), None
        with suppress(ValueError):
            day = date.fromisoformat(text)
        # 20240305 is a date too, but would not be found by its text
        return "be a date, as 2024-03-05" if day is None or day.isoformat() != text else None

    def paths(self, values: Sequence[Any]) -> list[list[str]]:
        """Return the units of the calendar that have each date, from the root down, in ascending order of the dates."""
        days = sorted({printed(value) for value in values})
        return [["*", *(_name(text, unit) for unit in reversed(self.units)), text] for text in days]


def _name(text: str, unit: str) -> str:
    """Return the name of the day, week, month, quarter or year that has a date: 2024-W10, 2024-03, 2024-Q1, 2024."""
    if unit == "week":
        year, week, _ = date.fromisoformat(text).isocalendar()
        return f"{year:04d}-W{week:02d}"
    names = {"day": text, "month": text[:7], "quarter": f"{text[:4]}-Q{(int(text[5:7]) + 2) // 3}", "year": text[:4]}
    return names[unit]
