"""Cells that are Python objects, as a workbook, SQLite and files of statistics programs have them, made Arrow columns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Any

import pyarrow as pa

from tclose.values.printed import printed

WHOLE = 2**53
"""The greatest number up to which a float has every whole number."""


def column_of(cells: Sequence[Any], *, whole: bool) -> pa.Array:
    """Return cells as an Arrow column of the type that all of them have; of several types they are text, as printed.

    Parameters
    ----------
    cells
        None is missing.
    whole
        Whether floats that are all whole are integers: the program that wrote them has no other numbers.
    """
    kinds = {_kind_of(cell) for cell in cells if cell is not None}
    if kinds == {int, float} and all(cell is None or isinstance(cell, float) or abs(cell) <= WHOLE for cell in cells):
        kinds = {float}
    if kinds == {float} and whole and all(cell is None or (abs(cell) <= WHOLE and cell == int(cell)) for cell in cells):
        return pa.array([None if cell is None else int(cell) for cell in cells], pa.int64())
    if kinds == {date, datetime}:
        kinds, cells = {datetime}, [_as_moment(cell) for cell in cells]
    if bytes in kinds:  # a role is refused to it, by its type
        return pa.array([cell if isinstance(cell, bytes) else None for cell in cells], pa.binary())
    if len(kinds) == 1 and (kind := kinds.pop()) in _TYPES:
        return pa.array(cells, _TYPES[kind])
    return pa.array([None if cell is None else printed(cell) for cell in cells], pa.string())


_TYPES = {
    bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string(), date: pa.date32(),
    datetime: pa.timestamp("us"), time: pa.time64("us"),
}  # fmt: skip


def _kind_of(cell: Any) -> type:
    """Return the type of a cell among those that a column can have; the type itself of any other."""
    kinds = (bool, int, float, str, datetime, date, time, bytes)  # a bool is an int to Python, a datetime a date
    return next((kind for kind in kinds if isinstance(cell, kind)), type(cell))


def _as_moment(cell: date | None) -> datetime | None:
    """Return a date as its midnight; a workbook has no other way to write a timestamp at midnight."""
    return datetime(cell.year, cell.month, cell.day) if cell is not None and not isinstance(cell, datetime) else cell
