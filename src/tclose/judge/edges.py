"""Edges: whether each end of a published range is attained by nobody in its class, or by at least as many persons as asked.

Nobody can see that in a release alone. It is checked when the release is made, with the raw columns beside the published ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
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
    origin = pa.array(rows)
    raw = {
        name: source.values(name, source.column(name).take(origin).combine_chunks())
        for name in columns_with_ends(policy, source.kinds)
    }
    persons = None if unit is None else source.column(unit).take(origin)
    refuse_ends_of_few(column_with_ends_of_few(policy, table, raw, persons), policy)


def columns_with_ends(policy: Policy, kinds: Mapping[str, str]) -> list[str]:
    """Return the quasi-identifiers that are published as ranges or bounds, by the kinds of the input's columns."""
    return [
        column.name
        for column in policy.quasi
        if kinds[column.name] in (*NUMBERS, *DATES) and column.hierarchy is None and column.recode in ("range", "bounds")
    ]


def refuse_ends_of_few(name: str | None, policy: Policy) -> None:
    """Raise GateError if there is a column with ends that too few persons attain; None stands for none."""
    if name is not None:
        raise GateError(
            f"The release was stopped: an end of a range of {name!r} would be attained by fewer than {policy.edges} persons of "
            "its class, but by some. Nothing is written."
        )


def column_with_ends_of_few(policy: Policy, table: pa.Table, raw: Mapping[str, pa.Array], persons: pa.Array | None) -> str | None:
    """Return the first column in which some persons of a class attain an end of its range, but fewer than asked; None if none.

    On a grid (``snap``) an end is its cell: a person attains it whose value lies in the cell. A limit, ``top`` or ``bottom``,
    names nobody's value and is not looked at.

    Parameters
    ----------
    table
        A release, or a part of it that has whole classes.
    raw
        For each column of `columns_with_ends` the value of each row, as the owner of the input knows it.
    persons
        The person of each row; None if each row is one.
    """
    classes = np.zeros(table.num_rows, dtype=np.int64)
    for name in [name for column in policy.quasi for name in _published_names(column, table)]:
        codes, size = _coded(table[name])
        classes = renumber(classes * size + codes)[0]
    owners = np.arange(table.num_rows) if persons is None else _coded(persons)[0]
    for column in policy.quasi:
        for there in _at_ends(column, table, raw[column.name]) if column.name in raw else ():
            pairs = np.unique(np.stack([classes[there], owners[there]]), axis=1)
            counts = np.bincount(pairs[0])
            if ((counts > 0) & (counts < policy.edges)).any():
                return str(column.name)
    return None


def _published_names(column: Quasi, table: pa.Table) -> list[str]:
    """Return the names of the columns in which a quasi-identifier is published."""
    parts = [f"{column.name}.{part}" for part in ("min", "max", "missing")] if column.recode in ("bounds", "centroid") else []
    return [name for name in (column.name, *parts) if name in table.column_names]


def _coded(column: Any) -> tuple[Ints, int]:
    """Return for each row the number of its value, from 0; and how many numbers there may be. A missing cell has its own."""
    cells = _with_dictionary(column)
    size = len(cells.dictionary)
    return cells.indices.cast(pa.int64()).fill_null(size).to_numpy(zero_copy_only=False), size + 1


def _with_dictionary(column: Any) -> pa.DictionaryArray:
    """Return a column as one array with a dictionary."""
    cells = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()


def _at_ends(column: Quasi, table: pa.Table, raw: pa.Array) -> list[Bools]:
    """Return for the low and for the high ends of all published ranges of a column which rows attain that of their class."""
    dates = pa.types.is_temporal(raw.type)
    encoded = _with_dictionary(raw)
    own, values = _coded(encoded)[0], [*encoded.dictionary.to_pylist(), None]
    limits = _limits(column, values)
    found = []
    for side in (LOW, HIGH):
        name = column.name if column.recode == "range" else f"{column.name}.{('min', 'max')[side]}"
        published = _with_dictionary(table[name])
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
