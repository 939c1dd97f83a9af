"""Edges: whether each end of a published range is attained by nobody in its class, or by at least as many persons as asked.

Nobody can see that in a release alone. It is checked when the release is made, with the raw columns beside the published ones.
"""

from __future__ import annotations

from datetime import datetime
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tclose.errors import GateError
from tclose.judge.boxes import day_of, ends_of_range, position_of
from tclose.policy import Policy, Quasi
from tclose.policy.fields import CALENDAR
from tclose.tables.table import Table
from tclose.values.arrays import Bools, Ints, renumber
from tclose.values.exact import exact

NUMBERS, DATES = ("integer", "decimal", "float"), ("date", "timestamp")
LOW, HIGH = 0, 1


def check_edges(source: Table, policy: Policy, table: pa.Table, rows: NDArray[Any], unit: str | None) -> None:
    """Raise GateError if an end of a published range is attained by some persons of its class, but by fewer than asked.

    On a grid (``snap``) an end is its cell: a person attains it whose value lies in the cell. A limit, ``top`` or ``bottom``,
    names nobody's value and is not looked at.

    Parameters
    ----------
    source
        The input.
    policy
        With the grids that were chosen for ``snap: auto``.
    table
        The release.
    rows
        For each row of the release its row in the input.
    unit
        The column of the input that names persons; None if each row is one.
    """
    if policy.edges == 1:
        return
    classes = np.zeros(table.num_rows, dtype=np.int64)
    for name in [name for column in policy.quasi for name in _published_names(column, table)]:
        codes, size = _coded(table[name])
        classes = renumber(classes * size + codes)[0]
    persons = np.arange(table.num_rows) if unit is None else _coded(source.column(unit).take(pa.array(rows)))[0]
    for column in policy.quasi:
        kind = source.kinds[column.name]
        if kind in (*NUMBERS, *DATES) and column.hierarchy is None and column.recode in ("range", "bounds"):
            for there in _at_ends(source, column, table, rows, dates=kind in DATES):
                pairs = np.unique(np.stack([classes[there], persons[there]]), axis=1)
                counts = np.bincount(pairs[0])
                if ((counts > 0) & (counts < policy.edges)).any():
                    raise GateError(
                        f"The release was stopped: an end of a range of {column.name!r} would be attained by fewer than "
                        f"{policy.edges} persons of its class, but by some. Nothing is written."
                    )


def _published_names(column: Quasi, table: pa.Table) -> list[str]:
    """Return the names of the columns in which a quasi-identifier is published."""
    parts = [f"{column.name}.{part}" for part in ("min", "max", "missing")] if column.recode in ("bounds", "centroid") else []
    return [name for name in (column.name, *parts) if name in table.column_names]


def _coded(column: Any) -> tuple[Ints, int]:
    """Return for each row the number of its value, from 0; and how many numbers there may be. A missing cell has its own."""
    cells = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    cells = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
    size = len(cells.dictionary)
    return cells.indices.cast(pa.int64()).fill_null(size).to_numpy(zero_copy_only=False), size + 1


def _at_ends(source: Table, column: Quasi, table: pa.Table, rows: NDArray[Any], *, dates: bool) -> list[Bools]:
    """Return for the low and for the high ends of all published ranges of a column which rows attain that of their class."""
    cells, _ = source.cells([], [column.name]).domain(column.name)
    own = pc.index_in(source.column(column.name).take(pa.array(rows)), value_set=cells).to_numpy()
    values = source.values(column.name, cells).to_pylist()
    limits = _limits(column, values)
    found = []
    for side in (LOW, HIGH):
        published = table[column.name if column.recode == "range" else f"{column.name}.{('min', 'max')[side]}"].combine_chunks()
        kind = published.dictionary.type
        read = _end_of_range if column.recode == "range" else partial(_bound, whole=pa.types.is_integer(kind))
        ends = [read(label, side, column.snap, limits, dates=dates) for label in published.dictionary.to_pylist()]
        if pa.types.is_floating(kind) and column.snap is None:
            values = [None if value is None else float(value) for value in values]
        places = [None if value is None else _cell(position_of(value)[side], column.snap) for value in values]
        number = {place: number for number, place in enumerate(dict.fromkeys([*ends, *places])) if place is not None}
        of_end = np.array([*(number.get(end, -1) for end in ends), -1])
        of_value = np.array([number.get(place, -2) for place in places])
        found.append(of_end[_coded(published)[0]] == of_value[own])
    return found


def _limits(column: Quasi, values: list[Any]) -> set[Any]:
    """Return the positions of the policy's top and bottom of a column, in all forms in which they may be published."""
    zone = next((value.tzinfo for value in values if isinstance(value, datetime)), None)
    found: set[Any] = set()
    for end in (column.top, column.bottom):
        if isinstance(end, datetime) and end.tzinfo and zone:
            found |= set(position_of(end.astimezone(zone)))
        elif end is not None:
            found |= set(position_of(end))
            found |= {exact(float(end))} if isinstance(end, Fraction) else set()
    return found


def _end_of_range(label: str | None, side: int, snap: Any, limits: set[Any], *, dates: bool) -> Any:
    """Return the position, or the cell, of an end of a published range; None if nobody can attain it, or a limit is the end."""
    key = ends_of_range(label, dates=dates)[side]
    if key is None:
        return None
    _, position, before = key
    if before:  # just before a value, which is nobody's; on a grid that is the end of a cell
        return None if snap is None else _cell(position, snap, before=True)
    return None if position in limits else _cell(position, snap)


def _bound(value: Any, side: int, snap: Any, limits: set[Any], *, dates: bool, whole: bool) -> Any:
    """Return the position, or the cell, of a published bound; None if there is none, or a limit is the bound."""
    if value is None or (position := position_of(value)[side]) in limits:
        return None
    if snap is None or dates or whole:
        return _cell(position, snap)
    return round(position / snap) - (side == HIGH)  # a cell ends where the next begins; a float may not be exactly there


def _cell(position: Any, snap: Any, *, before: bool = False) -> Any:
    """Return the cell of a grid in which a position lies, or one just before it; the position itself without a grid."""
    if snap is None:
        return position
    if snap not in CALENDAR:
        return -(-position // snap) - 1 if before else position // snap
    day = day_of(position)
    month = day.year, day.month
    if snap == "week":
        return tuple(day.isocalendar())[:2]
    return {"day": day, "month": month, "quarter": (day.year, (day.month + 2) // 3), "year": day.year}[snap]
