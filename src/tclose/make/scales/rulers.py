"""Rulers: the values of a line as integers in one unit, so that widths, middles and means are exact.

The unit is small enough that every value, every edge of the grid, every limit, and the middle of any two of them is an integer.
"""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from calendar import monthrange
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from tclose.errors import ColumnError, PolicyError
from tclose.values.arrays import Bools, Ints
from tclose.values.exact import about, as_text, exact, finite_decimal, integer_dtype
from tclose.values.hierarchy import printed

SNAPS = ("day", "week", "month", "quarter", "year")
ROUND = (1, 2, 5)
"""The first digits of round numbers."""
LARGEST = Fraction(sys.float_info.max)
"""The largest float: a table's range may be twice as long."""


class Cell(NamedTuple):
    """A cell of a grid, from low to high in units, and its name if it has one."""

    low: int
    high: int
    name: str | None = None


class Ruler(ABC):
    """The positions of the values of one column, in units.

    Attributes
    ----------
    units : list of int
        The position of each value.
    step : int or None
        Units from a value to the next possible one; None if values are dense. With a step a cell ends at its last value and is
        printed as [25, 29]; without one it ends where the next cell begins and is printed as [25, 30).
    top, bottom : int or None
        The limits, in units.
    show : callable
        Returns the text of a value.
    grain : pair of int
        A mean is rounded to multiples of ``grain[0] / grain[1]`` units.
    """

    units: list[int]
    step: int | None
    top: int | None
    bottom: int | None
    grain: tuple[int, int] | None
    mean_type: Literal["float", "value"] = "value"
    show: Callable[[Any], str] = staticmethod(printed)

    @abstractmethod
    def value(self, unit: int) -> Any:
        """Return the quasi-identifier's value at a position of its ruler, in the type of the column."""

    @abstractmethod
    def cells(self) -> tuple[list[int], Callable[[int], Cell]]:
        """Return the key of the grid cell of each value, in the order of the cells, and a function from a key to its cell."""

    @abstractmethod
    def cell(self, key: int, snap: Any) -> Cell:
        """Return a cell of a grid from its key; the grid need not be the policy's."""

    @abstractmethod
    def cell_beyond(self, unit: int, side: Literal[-1, 1], snap: Any) -> Cell | None:
        """Return the nearest cell of a grid that ends above a position (side 1), or begins below it (-1), strictly.

        The grid need not be the policy's. None where there is no such cell: the calendar ends.
        """

    @abstractmethod
    def grids(self) -> Iterator[tuple[Any, Ints, Bools | None]]:
        """Yield the grids that ``snap: auto`` chooses from, the finest first.

        Each is its snap, the key of the cell of each value, and, where values are dense, whether each value lies on an edge.
        """

    def limit(self, unit: int) -> Any:
        """Return a position of the ruler in the form in which a policy gives top or bottom."""
        return self.value(unit)

    def text(self, unit: int) -> str:
        """Return the printed value at a position of a quasi-identifier's ruler."""
        return self.show(self.value(unit))

    def length(self, units: Fraction) -> str:
        """Return the length of a published range in words; of times, in the largest unit that it fills."""
        seconds = float(units / 2_000_000)
        parts = (("days", 86_400), ("hours", 3_600), ("minutes", 60))
        name, part = next(((name, part) for name, part in parts if seconds >= part), ("seconds", 1))
        return f"{seconds / part:.3g} {name}"

    def mean(self, grains: int) -> Any:
        """Return the published mean of a class from its number of grains, the unit that means are rounded to."""
        assert self.grain is not None
        return self.value(grains * self.grain[0] // self.grain[1])

    def type_of(self, units: Sequence[int]) -> Literal["float", "value"]:  # noqa: ARG002 - numbers look at them
        """Return "value" if the column's type can represent the published values at some positions, else "float"."""
        return "value"


def ruler(name: str, values: Sequence[Any], snap: Any, top: Any, bottom: Any) -> Ruler:
    """Return the ruler of a quasi-identifier's distinct values: for numbers, dates, timestamps or times of day."""
    kinds = set(map(type, values))
    if all(issubclass(kind, datetime) for kind in kinds):
        found: Ruler = Instants(name, values, snap, top, bottom)
    elif all(issubclass(kind, date) and not issubclass(kind, datetime) for kind in kinds):
        found = Days(name, values, snap, top, bottom)
    elif all(issubclass(kind, time) for kind in kinds):
        found = Clock(name, values, snap, top, bottom)
    elif all(issubclass(kind, int | float | Decimal) and kind is not bool for kind in kinds):
        found = Numbers(name, values, snap, top, bottom)
    else:
        raise ColumnError(f"Column {name!r} must hold numbers, dates or times to be published as ranges. Got something else.")
    if found.top is not None and found.bottom is not None and found.bottom >= found.top:
        raise PolicyError(f"bottom of {name!r} must be below its top. Got {printed(bottom)} and {printed(top)}.")
    return found


class Numbers(Ruler):
    """Integers, decimals and floats; a float stands for its printed decimal."""

    mean_type = "float"
    grain: tuple[int, int]

    def __init__(self, name: str, values: Sequence[Any], snap: Any, top: Any, bottom: Any) -> None:
        """Take the distinct numbers of a quasi-identifier, ascending, and the policy's snap, top and bottom."""
        self._whole = all(isinstance(value, int) for value in values)
        self._float = any(isinstance(value, float) for value in values)
        self._snap = None if snap is None else _read_number(name, "snap", snap, above=0)
        limits = [
            None if given is None else _read_number(name, which, given) for which, given in (("top", top), ("bottom", bottom))
        ]
        for which, given in zip(("top", "bottom"), limits, strict=True):
            if given is not None and self._whole and given.denominator != 1:
                raise PolicyError(f"{which} of {name!r} must be a whole number, as its values are. Got {as_text(given)}.")
        digits, shifted = _as_integers(name, values)
        self._digits = digits
        unit = math.lcm(10**digits, *(given.denominator for given in (self._snap, *limits) if given is not None))
        self._one = 2 * unit  # twice, so that middles are integers too
        factor = self._one // 10**digits
        self.units = [number * factor for number in shifted]
        self.step = self._one if self._whole else None
        self.top, self.bottom = (None if given is None else int(given * self._one) for given in limits)
        width = self.units[-1] - self.units[0]
        fine = 3 + len(str(self._one // width)) if width else 0  # at least three significant digits for a table of small numbers
        self.grain = (self._one, 10 ** max(6, fine))

    def value(self, unit: int) -> Any:
        """Return the number at a position of a quasi-identifier's ruler, in the type of the column."""
        if self._whole:
            return unit // self._one
        if self._float:
            return unit / self._one
        decimal = finite_decimal(Fraction(unit, self._one))
        return unit / self._one if decimal is None else decimal

    def limit(self, unit: int) -> Fraction:
        """Return a position of the ruler as a fraction: a float may not be exact."""
        return Fraction(unit, self._one)

    def text(self, unit: int) -> str:
        """Return the number at a position of a ruler as a decimal; as a fraction if it has no finite decimal."""
        number = Fraction(unit, self._one)
        decimal = finite_decimal(number)
        return str(number) if decimal is None else self.show(decimal)

    def length(self, units: Fraction) -> str:
        """Return the length of a published range of numbers as text, with three digits."""
        return about(float(min(units / self._one, LARGEST)))

    def mean(self, grains: int) -> float:
        """Return the published mean of a class from its number of grains, as a float with few digits."""
        return float(grains / self.grain[1])

    def cells(self) -> tuple[list[int], Callable[[int], Cell]]:
        """Return the key of each number's grid cell, and a function from a key i to the cell [i * snap, (i + 1) * snap)."""
        assert self._snap is not None
        width = int(self._snap * self._one)
        return [unit // width for unit in self.units], partial(self.cell, snap=self._snap)

    def cell(self, key: int, snap: Any) -> Cell:
        """Return the cell of a key; of whole numbers, from its first to its last one."""
        width = int(snap * self._one)
        low, high = key * width, (key + 1) * width
        if self.step is None:
            return Cell(low, high)
        return Cell(-(-low // self.step) * self.step, (-(-high // self.step) - 1) * self.step)

    def cell_beyond(self, unit: int, side: Literal[-1, 1], snap: Any) -> Cell:
        """Return the nearest cell that ends above a position, or begins below it: that of the next whole number, if all are."""
        width = int(snap * self._one)
        if self.step is not None:
            return self.cell((unit + side * self.step) // width, snap)
        return self.cell(unit // width if side > 0 else -(-unit // width) - 1, snap)

    def grids(self) -> Iterator[tuple[Any, Ints, Bools | None]]:
        """Yield grids of 1, 2 and 5 times a power of ten, from the column's last decimal place until two cells contain all."""
        farthest = max(abs(self.units[0]), abs(self.units[-1]))
        units: Ints = np.array(self.units, dtype=integer_dtype(20 * farthest))
        place = self._one // 10**self._digits
        while place < self._one and not (units % (10 * place)).any():  # a float without decimals prints as 20.0
            place *= 10
        while True:
            for digit in ROUND:
                width = digit * place
                yield Fraction(width, self._one), units // width, None if self._whole else units % width == 0
                if width > farthest:
                    return
            place *= 10

    def type_of(self, units: Sequence[int]) -> Literal["float", "value"]:
        """Return "float" if published decimals need more digits than those of the column, else "value"."""
        if self._whole or self._float:
            return "value"
        longest = max(abs(self.units[0]), abs(self.units[-1]), self._one) // self._one
        fits = all((unit * 10**self._digits) % self._one == 0 for unit in units)
        return "value" if fits and all(len(str(abs(unit) // self._one)) <= len(str(longest)) for unit in units) else "float"


class Days(Ruler):
    """Dates, with two units per day."""

    step = 2
    grain = (2, 1)

    def __init__(self, name: str, values: Sequence[date], snap: Any, top: Any, bottom: Any) -> None:
        """Take the distinct dates of a quasi-identifier, ascending, and the policy's snap, top and bottom."""
        self._values, self._snap = values, _read_calendar_unit(name, snap)
        self.units = [value.toordinal() * 2 for value in values]
        self.top, self.bottom = (
            self._position_of_limit(name, which, given) for which, given in (("top", top), ("bottom", bottom))
        )

    def value(self, unit: int) -> date:
        """Return the date at a position of a quasi-identifier's ruler."""
        return date.fromordinal(unit // 2)

    def length(self, units: Fraction) -> str:
        """Return the length of a published range of dates in words, as days."""
        return f"{float(units / 2):.3g} days"

    def cells(self) -> tuple[list[int], Callable[[int], Cell]]:
        """Return the first day of each date's week, month, quarter or year, and a function from a first day to that cell."""
        span = self._snap
        return [_calendar_cell(span, value)[0].toordinal() for value in self._values], partial(self.cell, snap=span)

    def cell(self, key: int, snap: Any) -> Cell:
        """Return the cell of the calendar in which a day lies."""
        first, last, name = _calendar_cell(snap, date.fromordinal(key))
        return Cell(first.toordinal() * 2, last.toordinal() * 2, name)

    def cell_beyond(self, unit: int, side: Literal[-1, 1], snap: Any) -> Cell | None:
        """Return the cell in which the next day lies, or the day before; None where the calendar ends."""
        day = unit // 2 + side
        return self.cell(day, snap) if date.min.toordinal() <= day <= date.max.toordinal() else None

    def grids(self) -> Iterator[tuple[Any, Ints, Bools | None]]:
        """Yield the units of the calendar, as grids of dates."""
        return _calendar_grids(self._values)

    @staticmethod
    def _position_of_limit(name: str, which: str, given: Any) -> int | None:
        """Return the position of top or bottom on the ruler; raise PolicyError if it is not a date; None if not given."""
        if given is None:
            return None
        try:
            day = date.fromisoformat(given) if isinstance(given, str) else given
        except ValueError:
            day = None
        if not isinstance(day, date) or isinstance(day, datetime):
            raise PolicyError(f"{which} of {name!r} must be a date, as 2024-03-05. Got {_setting_as_shown(given)}.")
        return day.toordinal() * 2


class Instants(Ruler):
    """Timestamps, with two units per microsecond since 1970; days are those of the column's time zone."""

    grain = (2_000_000, 1)

    def __init__(self, name: str, values: Sequence[datetime], snap: Any, top: Any, bottom: Any) -> None:
        """Take the distinct timestamps of a quasi-identifier, ascending, and the policy's snap, top and bottom."""
        self._values, self._snap = values, _read_calendar_unit(name, snap)
        self._zone = values[0].tzinfo
        self._epoch = datetime(1970, 1, 1, tzinfo=UTC if self._zone else None)
        self.units = [self._position_of(value) for value in values]
        finer = [math.gcd(value.microsecond, 1_000_000) for value in values]
        part = next(part for part in (1_000_000, 1_000, 1) if all(fine % part == 0 for fine in finer))
        self.step = 2 * part  # in a column of whole seconds, a day ends at its last second, not at its last microsecond
        self.top, self.bottom = (
            self._position_of_limit(name, which, given) for which, given in (("top", top), ("bottom", bottom))
        )

    def value(self, unit: int) -> datetime:
        """Return the timestamp at a position of a quasi-identifier's ruler, in the column's time zone."""
        found = self._epoch + timedelta(microseconds=unit // 2)
        return found.astimezone(self._zone) if self._zone else found

    def cells(self) -> tuple[list[int], Callable[[int], Cell]]:
        """Return the first day of each timestamp's week, month, quarter or year, and a function from it to that cell."""
        span = self._snap
        days = {day: _calendar_cell(span, day)[0].toordinal() for day in {value.date() for value in self._values}}
        return [days[value.date()] for value in self._values], partial(self.cell, snap=span)

    def cell(self, key: int, snap: Any) -> Cell:
        """Return the cell of the calendar in which a day lies."""
        assert self.step is not None
        first, last, name = _calendar_cell(snap, date.fromordinal(key))
        low = self._position_of(datetime.combine(first, time(), self._zone))
        high = self._position_of(datetime.combine(last, time(23, 59, 59, 999_999), self._zone)) + 2 - self.step
        return Cell(low, high, name)

    def cell_beyond(self, unit: int, side: Literal[-1, 1], snap: Any) -> Cell | None:
        """Return the nearest cell that ends after a moment, or begins before it; None where the calendar ends."""
        assert self.step is not None
        try:
            day = self.value(unit + side * self.step).date()
            while True:  # where clocks are set back at midnight, a later moment may be on the day before
                cell = self.cell(day.toordinal(), snap)
                if cell.high > unit if side > 0 else cell.low < unit:
                    return cell
                day += timedelta(days=side)
        except OverflowError:
            return None

    def grids(self) -> Iterator[tuple[Any, Ints, Bools | None]]:
        """Yield the units of the calendar, as grids of timestamps; days are those of the column's time zone."""
        return _calendar_grids([value.date() for value in self._values])

    def _position_of(self, value: datetime) -> int:
        """Return the position of a timestamp on a quasi-identifier's ruler."""
        if self._zone:
            value = value.astimezone(UTC)  # within one time zone Python subtracts clock times, and ignores daylight saving
        return (value - self._epoch) // timedelta(microseconds=1) * 2

    def _position_of_limit(self, name: str, which: str, given: Any) -> int | None:
        """Return the position of top or bottom on the ruler; raise PolicyError if it is not a timestamp; None if not given."""
        if given is None:
            return None
        try:
            moment = datetime.fromisoformat(given) if isinstance(given, str) else given
        except ValueError:
            moment = None
        if isinstance(moment, date) and not isinstance(moment, datetime):
            moment = datetime.combine(moment, time())
        if not isinstance(moment, datetime):
            raise PolicyError(f"{which} of {name!r} must be a timestamp, as 2024-03-05 08:30:00. Got {_setting_as_shown(given)}.")
        if self._zone and not moment.tzinfo:
            moment = moment.replace(tzinfo=self._zone)
        elif moment.tzinfo and not self._zone:
            raise PolicyError(
                f"{which} of {name!r} must have no time zone, as its values have none. Got {_setting_as_shown(given)}."
            )
        return self._position_of(moment)


class Clock(Ruler):
    """Times of day, with two units per microsecond."""

    step = 2
    grain = None

    def __init__(self, name: str, values: Sequence[time], snap: Any, top: Any, bottom: Any) -> None:
        """Take the distinct times of day of a quasi-identifier, ascending, and the policy's top and bottom."""
        if snap is not None:
            raise PolicyError(f"snap of {name!r} must be left out: times of day have no grid. Got {_setting_as_shown(snap)}.")
        self.units = [_microseconds(value) * 2 for value in values]
        self.top, self.bottom = (
            self._position_of_limit(name, which, given) for which, given in (("top", top), ("bottom", bottom))
        )

    def value(self, unit: int) -> time:
        """Return the time of day at a position of a quasi-identifier's ruler."""
        return (datetime.min + timedelta(microseconds=unit // 2)).time()

    def cells(self) -> tuple[list[int], Callable[[int], Cell]]:
        """Raise NotImplementedError: times of day have no grid."""
        raise NotImplementedError

    def cell(self, key: int, snap: Any) -> Cell:
        """Raise NotImplementedError: times of day have no grid."""
        raise NotImplementedError

    def cell_beyond(self, unit: int, side: Literal[-1, 1], snap: Any) -> Cell | None:
        """Raise NotImplementedError: times of day have no grid."""
        raise NotImplementedError

    def grids(self) -> Iterator[tuple[Any, Ints, Bools | None]]:
        """Yield nothing: times of day have no grid."""
        return iter(())

    @staticmethod
    def _position_of_limit(name: str, which: str, given: Any) -> int | None:
        """Return the position of top or bottom on the ruler; raise PolicyError if it is not a time; None if not given."""
        if given is None:
            return None
        try:
            moment = time.fromisoformat(given) if isinstance(given, str) else given
        except ValueError:
            moment = None
        if not isinstance(moment, time):
            raise PolicyError(f"{which} of {name!r} must be a time, as 08:30:00. Got {_setting_as_shown(given)}.")
        return _microseconds(moment) * 2


def _microseconds(value: time) -> int:
    """Return a time of day of a quasi-identifier as its position on the ruler: microseconds from midnight."""
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond


def _read_number(name: str, which: str, given: Any, above: int | None = None) -> Fraction:
    """Return a setting of a quasi-identifier as a fraction; raise PolicyError if it is not a number above ``above``."""
    try:
        number = exact(given)
    except ValueError:
        number = None
    if number is None or (above is not None and number <= above):
        needed = "a number" if above is None else f"a number above {above}"
        raise PolicyError(f"{which} of {name!r} must be {needed}. Got {_setting_as_shown(given)}.")
    return number


def _read_calendar_unit(name: str, snap: Any) -> str:
    """Return a snap that is a unit of the calendar; "" if it is not given; raise PolicyError for anything else."""
    if snap is None:
        return ""
    if snap not in SNAPS:
        known = ", ".join(map(repr, SNAPS[:-1]))
        raise PolicyError(f"snap of {name!r} must be {known} or {SNAPS[-1]!r}. Got {_setting_as_shown(snap)}.")
    return str(snap)


def _setting_as_shown(given: Any) -> str:
    """Return a setting of a quasi-identifier as an error message shows it."""
    return repr(given) if isinstance(given, str) else printed(given)


def _as_integers(name: str, values: Sequence[Any]) -> tuple[int, list[int]]:
    """Return the number of decimal places that a column's values fit into, and the values as integers of the last place."""
    if all(isinstance(value, int) for value in values):
        return 0, list(values)
    decimals = [value if isinstance(value, Decimal) else Decimal(str(value)) for value in values]
    if not all(value.is_finite() for value in decimals):
        raise ColumnError(f"Column {name!r} must hold finite numbers to be published as ranges. Got one that is infinite.")
    exponents = [int(value.as_tuple().exponent) for value in decimals]
    digits = max(0, -min(exponents))
    with localcontext() as context:
        context.prec = max(decimals[0].adjusted(), decimals[-1].adjusted(), 0) + digits + 2  # no digit is lost
        return digits, [int(value.scaleb(digits)) for value in decimals]


def _calendar_grids(days: Sequence[date]) -> Iterator[tuple[str, Ints, None]]:
    """Yield the units of the calendar that ranges can be widened to, each with the first day of the cell of each given day."""
    distinct, indices = np.unique(np.array([day.toordinal() for day in days], dtype=np.int64), return_inverse=True)
    for span in SNAPS:
        keys = [_calendar_cell(span, date.fromordinal(day))[0].toordinal() for day in distinct.tolist()]
        yield span, np.array(keys, dtype=np.int64)[indices], None


def _calendar_cell(span: str, day: date) -> tuple[date, date, str]:
    """Return the first day, the last day and the name of the week, month, quarter or year in which a day lies."""
    year = f"{day.year:04d}"
    if span == "day":
        return day, day, day.isoformat()
    if span == "week":
        iso = day.isocalendar()
        first = day.toordinal() - iso.weekday + 1
        last = min(first + 6, date.max.toordinal())
        return date.fromordinal(first), date.fromordinal(last), f"{iso.year:04d}-W{iso.week:02d}"
    if span == "month":
        first_month = last_month = day.month
        name = f"{year}-{day.month:02d}"
    elif span == "quarter":
        first_month = (day.month - 1) // 3 * 3 + 1
        last_month = first_month + 2
        name = f"{year}-Q{last_month // 3}"
    else:
        first_month, last_month, name = 1, 12, year
    return date(day.year, first_month, 1), date(day.year, last_month, monthrange(day.year, last_month)[1]), name
