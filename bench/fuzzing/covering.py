"""Whether a published value covers an original one: the range contains it, the set has it, the label stands above it."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from typing import Any

from fuzzing.reading import kind_of, plain, printed

OR_MISSING = " or missing"


def paths_of(tree: Any, above: tuple[str, ...] = ()) -> dict[str, list[str]]:
    """Return, for each leaf of a nested mapping, the labels from the leaf up to the root."""
    found: dict[str, list[str]] = {}
    items = tree.items() if isinstance(tree, Mapping) else [(leaf, None) for leaf in tree]
    for label, below in items:
        if below:
            found |= paths_of(below, (*above, str(label)))
        else:
            found[str(label)] = [str(label), *reversed(above)]
    return found


class Covering:
    """One quasi-identifier: its settings, and its values in the input."""

    def __init__(
        self, name: str, settings: Mapping[str, Any] | None, values: Sequence[Any], *, whole_column: bool = False
    ) -> None:
        """From the policy's settings and the input's column.

        ``whole_column``: all rows are published at one level, so that labels may be wider than the rows of their class.
        """
        self.name, self.settings, self.whole_column = name, settings or {}, whole_column
        self.kind = kind_of(list(values))
        self.recode = self.settings.get("recode", "range")
        self.hierarchy = self.settings.get("hierarchy")
        tree = self.hierarchy if isinstance(self.hierarchy, Mapping) else {}
        self.widths = [Fraction(str(width)) for width in tree.get("intervals", [])]
        self.paths = {} if self.widths else paths_of(tree)
        self.ranged = (
            self.kind != "text"
            and self.settings.get("type") not in ("text", "category")
            and self.hierarchy is None
            and self.recode != "set"
        )
        texts = [printed(value) for value in values if value is not None]
        self.length = max(map(len, texts), default=0)

    def columns(self) -> list[str]:
        """Return the columns that it may be published as."""
        parts = {"bounds": [f"{self.name}.min", f"{self.name}.max"]}.get(self.recode, [self.name])
        return parts + ([f"{self.name}.missing"] if self.recode in ("bounds", "centroid") else [])

    def fault(self, cells: Mapping[str, Any], values: Sequence[Any]) -> str:
        """Return what is wrong when rows with these original values are published as these cells; "" if nothing is."""
        present = [value for value in values if value is not None]
        some_missing, all_missing = len(present) < len(values), not present
        if self.recode in ("bounds", "centroid") and self.ranged:
            if bool(cells.get(f"{self.name}.missing") in (True, "true")) != some_missing:
                return "the mark of missing cells is wrong"
            if all_missing:
                return "" if all(cells[name] is None for name in self.columns()[:-1]) else "missing cells have a value"
            return self._bounds_fault(cells, present) if self.recode == "bounds" else self._mean_fault(cells[self.name], present)
        cell = cells[self.name]
        if self.whole_column and self._is_root(cell):
            return ""
        if all_missing:
            return "" if cell is None or (self.paths and cell == "") else "missing cells have a value"
        if cell is None:
            return "values are published as missing"
        text = str(cell) if not isinstance(cell, bool) else str(cell).lower()
        if self.widths and self.recode != "set":
            if text.endswith(OR_MISSING) != some_missing:
                return "'or missing' is wrong"
            return self._interval_fault(text.removesuffix(OR_MISSING), [plain(value, self.kind) for value in present])
        if not self.ranged:
            return self._label_fault(text, [printed(value) for value in present], some_missing)
        if text.endswith(OR_MISSING) != some_missing:
            return "'or missing' is wrong"
        return self._range_fault(text.removesuffix(OR_MISSING), [plain(value, self.kind) for value in present])

    # Ranges and means ------------------------------------------------------------------------------------------------

    def _range_fault(self, text: str, values: list[Any]) -> str:
        low, high, closed = self.range_of(text)
        if any(
            (low is not None and value < low) or (high is not None and (value > high or (value == high and not closed)))
            for value in values
        ):
            return f"{text!r} does not contain a value of its rows"
        if (
            self.settings.get("snap") is None
            and not {"top", "bottom"} & self.settings.keys()
            and (low, high) != (min(values), max(values))
        ):
            return f"{text!r} is wider than its rows"
        return ""

    def _is_root(self, cell: Any) -> bool:
        """Whether a cell is the label of the topmost level."""
        root = next(iter(self.paths.values()))[-1] if self.paths and self.recode != "set" else "*"
        text = str(cell).removesuffix(OR_MISSING)
        return text == root or (self.hierarchy == "prefixes" and bool(text) and not text.strip("*"))

    def _interval_fault(self, text: str, values: list[Any]) -> str:
        """Return what is wrong with a label of a hierarchy of intervals, if anything is."""
        shared = [width for width in self.widths if len({value // width for value in values}) == 1]
        if text == "*":
            return "'*' is wider than its rows" if shared or len(set(values)) == 1 else ""
        low, high, closed = self.range_of(text)
        if any(value < low or value > high or (value == high and not closed) for value in values):
            return f"{text!r} does not contain a value of its rows"
        if low == high:
            return ""
        fitting = [width for width in shared if low // width == values[0] // width and high <= (low // width + 1) * width]
        ends = [width for width in fitting if closed or (low % width == 0 and high == low + width)]
        if not ends:
            return f"{text!r} is no interval of the hierarchy"
        narrow = shared[0] if len(set(values)) > 1 else Fraction(0)
        return "" if self.whole_column or (narrow and high - low <= narrow) else f"{text!r} is wider than its rows"

    def range_of(self, text: str) -> tuple[Any, Any, bool]:
        """Return the ends of a published range, None where it has none, and whether the upper belongs to it."""
        if text == "any value":
            return None, None, True
        if text.endswith(" or more"):
            return self._ends(text.removesuffix(" or more"))[0], None, True
        if text.endswith(" or less"):
            return None, self._ends(text.removesuffix(" or less"))[1], True
        if text.startswith("less than "):
            return None, self._ends(text.removeprefix("less than "))[0], False
        if text[0] == "[":
            start, end = text[1:-1].split(", ")
            return self._ends(start)[0], self._ends(end)[1], text[-1] == "]"
        return *self._ends(text), True

    def _ends(self, text: str) -> tuple[Any, Any]:
        """The first and the last value that a text stands for: a month stands for its days."""
        if self.kind == "number":
            return Fraction(text), Fraction(text)
        if self.kind == "clock":
            return time.fromisoformat(text), time.fromisoformat(text)
        found = _span(text)
        if found is None:
            moment: Any = date.fromisoformat(text) if self.kind == "date" else datetime.fromisoformat(text)
            return moment, moment
        first, last = found
        if self.kind == "date":
            return first, last
        return datetime.combine(first, time()), datetime.combine(last + timedelta(days=1), time()) - timedelta(microseconds=1)

    def _bounds_fault(self, cells: Mapping[str, Any], present: list[Any]) -> str:
        values = [plain(value, self.kind) for value in present]
        low, high = (plain(cells[f"{self.name}.{end}"], self.kind) for end in ("min", "max"))
        if low is None or high is None:
            return "values are published as missing"
        top, bottom = (self.settings.get(end) for end in ("top", "bottom"))
        if top is not None:
            values = [min(value, plain(top, self.kind)) for value in values]
        if bottom is not None:
            values = [max(value, plain(bottom, self.kind)) for value in values]
        if low > min(values) or high < max(values):
            return "the bounds do not contain a value of their rows"
        if self.settings.get("snap") is None and (low, high) != (min(values), max(values)):
            return "the bounds are wider than their rows"
        return ""

    def _mean_fault(self, cell: Any, present: list[Any]) -> str:
        if {"snap", "top", "bottom"} & self.settings.keys():
            return ""  # the mean of cells of a grid
        values = [plain(value, self.kind) for value in present]
        mean = plain(cell, self.kind)
        if mean is None:
            return "values are published as missing"
        if self.kind == "number":
            exact = sum(values, Fraction(0)) / len(values)
            width = max(values) - min(values)
            return "" if abs(mean - exact) <= Fraction(1, 10**6) + abs(exact) / 10**12 + width / 1000 else "the mean is another"
        first = min(values)
        away = sum(((value - first) for value in values), timedelta()) / len(values)
        step = timedelta(days=1) if self.kind == "date" else timedelta(seconds=1)
        return "" if abs((mean - first) - away) <= step else "the mean is another"

    # Labels and sets -------------------------------------------------------------------------------------------------

    def _label_fault(self, text: str, values: list[str], some_missing: bool) -> str:
        if self.recode != "set" and self.hierarchy is not None:
            if some_missing:
                if not text.endswith(OR_MISSING):
                    return "'or missing' is wrong"
                text = text.removesuffix(OR_MISSING)
            covers = self._is_above if self.paths else _is_calendar_label if self.hierarchy == "dates" else _is_prefix
            if not all(covers(text, value) for value in values):
                return f"{text!r} does not stand above a value of its rows"
            lower = [label for label in self._below(text, values[0]) if all(covers(label, value) for value in values)]
            return f"{text!r} is wider than its rows" if lower and not self.whole_column else ""
        if set_of(text) != (set(values), some_missing):
            return f"{text!r} is not the set of its rows"
        return ""

    def _is_above(self, label: str, value: str) -> bool:
        return label in self.paths[value]

    def _below(self, label: str, value: str) -> list[str]:
        """The labels between one and a value below it, the value among them."""
        if label == value:
            return []
        if self.paths:
            path = self.paths[value]
            return path[: path.index(label)]
        if self.hierarchy == "dates":
            day = date.fromisoformat(value)
            steps = ["*", value[:4], f"{value[:4]}-Q{(day.month + 2) // 3}", value[:7], value]
            return steps[steps.index(label) + 1 :]
        shown = len(label.rstrip("*"))
        full = value.ljust(len(label))
        return [value, *(full[:length].ljust(len(label), "*") for length in range(shown + 1, len(label)))]


def _is_prefix(label: str, value: str) -> bool:
    shown = label.rstrip("*")
    return label == value or (len(shown) < len(label) and len(label) >= len(value) and value.ljust(len(label)).startswith(shown))


def _is_calendar_label(label: str, value: str) -> bool:
    if label in ("*", value):
        return True
    span = _span(label)
    return span is not None and span[0] <= date.fromisoformat(value) <= span[1]


def _span(text: str) -> tuple[date, date] | None:
    """The days of a year, quarter, month, week or day by its name; None for other texts."""
    found = re.fullmatch(r"(\d{4})(?:-Q([1-4])|-W(\d\d)|-(\d\d)|-(\d\d)-(\d\d))?", text)
    if found is None:
        return None
    year, quarter, week, month, in_month, day = (None if part is None else int(part) for part in found.groups())
    assert year is not None
    if week is not None:
        first = date.fromisocalendar(year, week, 1)
        return first, first + timedelta(days=6)
    if in_month is not None and day is not None:
        return date(year, in_month, day), date(year, in_month, day)
    start, end = (month, month) if month is not None else (3 * quarter - 2, 3 * quarter) if quarter is not None else (1, 12)
    return date(year, start, 1), date(year, end, monthrange(year, end)[1])


def set_of(text: str) -> tuple[set[str], bool]:
    """Return the members of a published set, and whether a missing cell is among them."""
    if text[0] == '"':
        end = re.fullmatch(r'"((?:[^"]|"")*)"( or missing)?', text)
        if end is not None:
            return {end[1].replace('""', '"')}, end[2] is not None
    missing = text.endswith(OR_MISSING)
    text = text.removesuffix(OR_MISSING)
    if text[0] != "{":
        return {text}, missing
    members: set[str] = set()
    rest = text[1:-1]
    while rest:
        found = re.match(r'"((?:[^"]|"")*)"(?:, |$)', rest) or re.match(r"([^,]*)(?:, |$)", rest)
        if found is None:
            raise ValueError("not a set")
        members.add(found[1].replace('""', '"') if rest[0] == '"' else found[1])
        rest = rest[found.end() :]
    return members, missing
