"""Ranges: hierarchies of codes by a table of ranges, such as the chapters and blocks of ICD-10."""

from __future__ import annotations

import csv
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from tclose.errors import HierarchyError
from tclose.values.builders.base import Builder
from tclose.values.label_files import read_text, rows_of
from tclose.values.printed import printed

MOST_RANGES = 100_000
"""Rows of a table of ranges: ICD-10 has some 250 blocks."""

_LONGEST_END = 100
"""Characters of an end of a range."""

_DIGITS = re.compile(r"[0-9]+")
_NUMBERED = 0
"""The group of ranges whose ends are whole numbers; others are grouped by the number of characters of their ends."""


class Range(NamedTuple):
    """A row of the table: the least and the greatest code, and the labels from the range up."""

    low: str
    high: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Ranges(Builder):
    """A hierarchy of codes: the code, the range that has it, the labels above that range, and a root.

    ``rows`` has for each range its two ends and its labels, as in the table: ``A00-A09;Intestinal;Infectious;*``. A code is in a
    range if its first characters are not before the one end and not after the other: A04.7 is in A00-A09. Ends that are numbers
    are compared as numbers: 250.3 is in 240-279. Where one range lies inside another, the narrower one has the code. Without a
    root that all rows share it is ``*``.

    >>> Ranges.read([["A00-A09", "A00-B99"], ["A15-A19", "A00-B99"], ["C00-C97", "C00-D48"]]).paths(["A17.0", "A04"])
    [['*', 'A00-B99', 'A00-A09', 'A04'], ['*', 'A00-B99', 'A15-A19', 'A17.0']]
    """

    rows: tuple[tuple[str, ...], ...]
    file: Path | None = field(default=None, compare=False)
    key = "ranges"
    needs = "codes"
    remedy = "Add a range for it to the table"

    @classmethod
    def read(cls, given: Any) -> Ranges:
        """Return the ranges of a CSV file, or of rows of cells."""
        if isinstance(given, str | Path):
            text = read_text(Path(given), "Ranges file")
            try:
                return cls(tuple(tuple(row) for _, row in rows_of(text)), Path(given))._checked()
            except HierarchyError as error:
                raise HierarchyError(f"Ranges file {Path(given).name!r}: {error}") from None
            except csv.Error:
                raise HierarchyError(f"Ranges file {Path(given).name!r} is no CSV. Check how it was written.") from None
        rows = given if isinstance(given, list | tuple) else []
        if not rows or not all(isinstance(row, list | tuple) and row and not _holds_parts(row) for row in rows):
            raise ValueError("a CSV file with a range of codes and its labels in each row, or such rows: [[A00-A09, Infectious]]")
        return cls(tuple(tuple(map(printed, row)) for row in rows))._checked()

    def setting(self) -> dict[str, Any]:
        """Return the ranges as a policy writes them out: ``{"ranges": [["A00-A09", "Infectious"]]}``."""
        return {self.key: [list(row) for row in self.rows]}

    def levels(self) -> list[str]:
        """Return the name of each level between the codes and the root."""
        depth = max(len(path) for path in self._paths.values()) - 1
        return ["range", *(f"label {level} above it" for level in range(1, depth))]

    def requirement(self, value: Any) -> str | None:
        """Return what a value must be that is in no range, or that is itself a label of the table."""
        if printed(value) in self._labels:
            return "be a code, not a label of the table of ranges"
        return "be in one of the ranges" if self.range_of(printed(value)) is None else None

    def paths(self, values: Sequence[Any]) -> list[list[str]]:
        """Return the labels above each code, from the root down; ranges in the order of the table, codes ascending in each."""
        order = {found: index for index, found in enumerate(self._ranges)}
        placed = sorted((order[self._found(text)], text) for text in {printed(value) for value in values})
        depth = max(len(path) for path in self._paths.values())
        found = []
        for index, text in placed:
            path = self._paths[self._ranges[index].labels[0]]
            found.append([*path, *path[-1:] * (depth - len(path)), text])
        return found

    def path_of_label(self, label: str) -> tuple[str, ...] | None:
        """Return the labels from the root down to a label of the table, or to a code; None for other texts."""
        if label in self._labels:
            return self._labels[label]
        found = self.range_of(label)
        return None if found is None else (*self._paths[found.labels[0]], label)

    def range_of(self, code: str) -> Range | None:
        """Return the narrowest range that has a code; None if no range has it."""
        for length, (lows, ranges, outer) in self._groups.items():
            position = _position(code, length)
            if position is None:
                continue
            index = bisect_right(lows, position) - 1
            while index >= 0:
                if position <= _end(ranges[index].high, length):
                    return ranges[index]
                index = outer[index]
        return None

    def _found(self, code: str) -> Range:
        """Return the range that has a code; there must be one."""
        found = self.range_of(code)
        assert found is not None
        return found

    def _checked(self) -> Ranges:
        """Return the ranges, after a check that they can be told apart and that each label stands at one place."""
        if not 0 < len(self.rows) <= MOST_RANGES:
            raise HierarchyError(f"a table must have from 1 to {MOST_RANGES:,} ranges. Got {len(self.rows):,}.")
        _ = self._groups, self._labels
        return self

    @cached_property
    def _ranges(self) -> list[Range]:
        """The rows, with their ends."""
        return [_range_of_row(row, number) for number, row in enumerate(self.rows, 1)]

    @cached_property
    def _paths(self) -> dict[str, tuple[str, ...]]:
        """For each range, by its label, the labels from the root down to it."""
        tops = {found.labels[-1] for found in self._ranges if len(found.labels) > 1}
        rooted = len(tops) == 1 and all(len(found.labels) > 1 for found in self._ranges)
        return {found.labels[0]: (*([] if rooted else ["*"]), *found.labels[::-1]) for found in self._ranges}

    @cached_property
    def _labels(self) -> dict[str, tuple[str, ...]]:
        """For each label of the table, the labels from the root down to it."""
        found: dict[str, tuple[str, ...]] = {}
        for number, path in enumerate((self._paths[row.labels[0]] for row in self._ranges), 1):
            for depth, label in enumerate(path, 1):
                if found.setdefault(label, path[:depth]) != path[:depth]:
                    raise HierarchyError(
                        f"row {number} has the label {label!r}, which stands below other labels in a row before. Give each "
                        "place a label of its own."
                    )
        return found

    @cached_property
    def _groups(self) -> dict[int, tuple[list[Any], list[Range], list[int]]]:
        """By the length of their ends: the lower ends, ascending, the ranges, and the index of the range around each, or -1."""
        groups: dict[int, list[tuple[Any, Any, int, Range]]] = {}
        for number, found in enumerate(self._ranges, 1):
            length = _NUMBERED if found.low.isdecimal() else len(found.low)
            ends = _end(found.low, length), _end(found.high, length)
            groups.setdefault(length, []).append((*ends, number, found))
        made = {}
        for length in sorted(groups, reverse=True):
            rows = sorted(groups[length], key=lambda row: (row[0], _Reversed(row[1])))
            outer, open_rows = [], list[int]()
            for index, (low, high, number, found) in enumerate(rows):
                while open_rows and rows[open_rows[-1]][1] < low:
                    open_rows.pop()
                if open_rows and (rows[open_rows[-1]][1] < high or rows[open_rows[-1]][:2] == (low, high)):
                    other = rows[open_rows[-1]]
                    raise HierarchyError(
                        f"rows {other[2]} and {number} have ranges that overlap, {other[3].labels[0]!r} and {found.labels[0]!r}. "
                        "Correct one of them; a range may lie inside another."
                    )
                outer.append(open_rows[-1] if open_rows else -1)
                open_rows.append(index)
            made[length] = [row[0] for row in rows], [row[3] for row in rows], outer
        return made


class _Reversed:
    """A sort key that turns the order of its values round."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Reversed) -> bool:
        return bool(other.value < self.value)


def _holds_parts(row: Sequence[Any]) -> bool:
    """Whether a row of a table has a list or a mapping in one of its cells."""
    return any(isinstance(cell, list | tuple | dict) for cell in row)


def _range_of_row(row: Sequence[str], number: int) -> Range:
    """Return the range of a row of the table: its two ends, and its labels from the range up."""
    cells = [cell.strip() for cell in row]
    while len(cells) > 1 and not cells[-1]:
        cells.pop()
    low, dash, high = (part.strip() for part in cells[0].replace("–", "-").partition("-"))  # noqa: RUF001 - tables have it
    high = high if dash else low
    numbered = low.isdecimal() and high.isdecimal()
    if not low or not high or len(cells[0]) > 2 * _LONGEST_END or "-" in high or not (numbered or len(low) == len(high)):
        raise HierarchyError(
            f"row {number} must begin with a range of codes, as A00-A09, both ends equally long. Got {cells[0]!r}. "
            "A table of ranges has no header."
        )
    length = _NUMBERED if numbered else len(low)
    if _end(high, length) < _end(low, length):
        raise HierarchyError(f"row {number} must have a range from a lower code to a higher one. Got {cells[0]!r}.")
    if "" in cells:
        raise HierarchyError(f"row {number} has an empty cell between its labels. Fill it or leave it out.")
    return Range(low, high, tuple(label for label, _ in groupby([f"{low}-{high}", *cells[1:]])))


def _position(code: str, length: int) -> Any:
    """Return what of a code is compared with the ends of ranges: its first characters, or its number; None if it has none."""
    if length == _NUMBERED:
        found = _DIGITS.match(code)
        return int(found[0]) if found and len(found[0]) <= 2 * _LONGEST_END and not code[found.end() :][:1].isalpha() else None
    return code[:length] if len(code) >= length else None


def _end(code: str, length: int) -> Any:
    """Return an end of a range in the form that is compared: a number, or a text."""
    return int(code) if length == _NUMBERED else code
