"""Tables in memory: pandas, pyarrow, polars and everything else that speaks Arrow, as one Arrow table an engine can read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from ibis.expr.datatypes import DataType

from tclose.errors import ColumnError, InputError
from tclose.tables.types import PRINTED


def column_names(data: Any) -> list[str]:
    """Return the names of the columns of a table in memory, as text: an integer may name a column too."""
    if isinstance(data, pa.Table):
        return list(data.column_names)
    return [str(name) for name in data.columns]


def is_pandas(data: Any) -> bool:
    """Whether a table is a pandas DataFrame, found out without importing pandas."""
    return type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "columns")


def index_names(data: Any) -> list[str]:
    """Return the names of the index levels of a pandas frame, which are not columns; an empty list for any other table."""
    return [str(name) for name in data.index.names if name is not None] if is_pandas(data) else []


def to_arrow(data: Any) -> Any:
    """Return a table that speaks Arrow as a pyarrow Table; a pandas frame stays as it is until its columns are chosen."""
    if isinstance(data, pa.Table) or is_pandas(data):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if hasattr(data, "__arrow_c_stream__"):
        try:
            return pa.table(data)
        except (pa.ArrowException, TypeError, ValueError):
            pass  # a stream, but not of a table: a single column, for instance
    hint = " Collect it first." if hasattr(data, "collect") else ""
    raise InputError(
        f"A table must be a path, a pandas, polars, Arrow or ibis table, or a DuckDB relation. Got {type(data).__name__}.{hint}"
    )


@dataclass(frozen=True)
class Chosen:
    """Some columns as the engine wants them, and what it would forget about them.

    Attributes
    ----------
    table : pyarrow.Table
    categories : dict
        The categories of ordered columns, from least to greatest. In the table a cell is its position among them, so that every
        engine sorts it as its owner does.
    codes : set
        The columns of categories without an order that are not text: 1, 2, 3 for the marital status.
    zones : dict
        The time zone of columns of timestamps that have one. In the table their cells are in UTC.
    """

    table: pa.Table
    categories: dict[str, list[Any]]
    codes: set[str]
    zones: dict[str, str]


LABELS = ("text", PRINTED)
"""Kinds for which a category is its label, whatever order it has."""

AS_FOUND = ("auto", "value")
"""Kinds that leave the type of a column as it is."""


def choose(data: Any, indices: Sequence[int], kinds: Mapping[str, str]) -> Chosen:
    """Return some columns of a table in memory, by index, each prepared for the kind that it is to be read as."""
    columns, found = [], Chosen(pa.table({}), {}, set(), {})
    for index, (name, kind) in zip(indices, kinds.items(), strict=True):
        column = _arrow_column(data, index, name)
        check_kind(column.type, name)
        if pa.types.is_dictionary(column.type):
            if column.type.ordered and kind not in LABELS:
                found.categories[name] = categories(column, name)
                column = _category_indices(column)
            else:
                ordered, column = column.type.ordered, _decode_categories(column)
                if not ordered and not is_text(column.type) and kind in AS_FOUND:
                    found.codes.add(name)
        if is_zoned(column.type):
            if kind == "text":
                column = moments_as_text(column)
            elif kind not in (*AS_FOUND, PRINTED):
                column = pc.local_timestamp(column)  # the date that local clocks showed
            else:
                found.zones[name] = column.type.tz
        columns.append(_cast_for_engine(column, name))
    return replace(found, table=pa.table(columns, names=list(kinds)))


def is_zoned(kind: Any) -> bool:
    """Whether an Arrow type is that of timestamps with a time zone."""
    return bool(pa.types.is_timestamp(kind) and kind.tz is not None)


def moments_as_text(column: Any) -> Any:
    """Return a column of timestamps as text; with a time zone the local time and its offset from UTC, as +01:00 or Z."""
    return pc.replace_substring_regex(column.cast(pa.string()), r"([+-]\d\d)(\d\d)$", r"\1:\2")


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is one of text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _arrow_column(data: Any, index: int, name: str) -> Any:
    """Return one column of a table as an Arrow array; raise ColumnError if a pandas column mixes kinds of values."""
    if isinstance(data, pa.Table):
        return data.column(index)
    series = data.iloc[:, index]
    try:
        column = pa.Array.from_pandas(series)
        mixed = _mixes_times(column.type, series)
    except (pa.ArrowException, TypeError, OverflowError, UnicodeError):
        mixed = True
    if mixed:
        raise ColumnError(
            f"Column {name!r} mixes kinds of values, or has a kind that cannot be used. Make it numbers, dates or text."
        )
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


def _mixes_times(kind: Any, series: Any) -> bool:
    """Whether Arrow would cut off the time of day of some cells of a pandas column, or give some a time zone they lack."""
    if series.dtype != object or not pa.types.is_temporal(kind):
        return False
    cells = [cell for cell in series if isinstance(cell, date)]
    zoned = {isinstance(cell, datetime) and cell.tzinfo is not None for cell in cells}
    return len({isinstance(cell, datetime) for cell in cells}) > 1 or len(zoned) > 1


def _decode_categories(column: Any) -> Any:
    """Return a dictionary-encoded column of unordered categories as its plain values."""
    kind = pa.large_string() if pa.types.is_string_view(column.type.value_type) else column.type.value_type
    return pa.chunked_array([chunk.dictionary.cast(kind).take(chunk.indices) for chunk in column.chunks], type=kind)


def categories(column: Any, name: str) -> list[Any]:
    """Return the categories of an ordered column, from least to greatest; raise ColumnError if it has two orders."""
    dictionaries = [chunk.dictionary.to_pylist() for chunk in column.chunks]
    longest: list[Any] = max(dictionaries, key=len, default=[])
    if any(labels != longest[: len(labels)] for labels in dictionaries) or None in longest or len(set(longest)) < len(longest):
        raise ColumnError(f"Column {name!r} must have one order of distinct categories. Got two orders, or a category twice.")
    return longest


def _category_indices(column: Any) -> Any:
    """Return each row's index among the categories of an ordered column."""
    return pa.chunked_array([chunk.indices.cast(pa.int64()) for chunk in column.chunks], type=pa.int64())


def needs_arrow(kind: Any) -> bool:
    """Whether Arrow must read a file's column of this type, as DuckDB would lose something that `choose` preserves or refuses."""
    types = pa.types
    return (
        types.is_null(kind)
        or types.is_float16(kind)
        or types.is_time(kind)
        or types.is_decimal256(kind)
        or (types.is_decimal(kind) and kind.scale < 0)
        or is_zoned(kind)
        or (types.is_dictionary(kind) and (bool(kind.ordered) or not is_text(kind.value_type)))
    )


def is_read_alike(kind: Any, found: Any) -> bool:
    """Whether DuckDB reads a column of a file in the type in which Arrow, and with it pandas, reads it.

    A Parquet file can name a type twice, in an old and in a new way; and old timestamps have nanoseconds that an engine cuts off.
    """
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if is_text(kind):
        return bool(found.is_string())
    expected = DataType.from_pyarrow(kind)
    if expected.is_decimal() and found.is_decimal():
        return bool(expected.scale == found.scale)
    if expected.is_timestamp() and found.is_timestamp():
        return bool(kind.unit != "ns" or found.scale == 9)
    return type(expected) is type(found)


def _cast_for_engine(column: Any, name: str) -> Any:
    """Return a column in a type that every engine has; raise ColumnError if its values would not stay exact."""
    kind = column.type
    try:
        if pa.types.is_null(kind):
            return column.cast(pa.string())
        if pa.types.is_float16(kind):
            return column.cast(pa.float32())
        if pa.types.is_date64(kind):
            return column.cast(pa.date32())
        if pa.types.is_time(kind):
            return column.cast(pa.time64("us"))
        if pa.types.is_decimal256(kind) or (pa.types.is_decimal(kind) and kind.scale < 0):
            return column.cast(pa.decimal128(38, max(kind.scale, 0)))
        if is_zoned(kind):
            return column.cast(pa.timestamp(kind.unit))  # in UTC: an engine would show it in the time zone of the machine
    except pa.ArrowInvalid:
        raise ColumnError(f"Column {name!r} has values finer or longer than can be kept exactly. Round them first.") from None
    return column


def check_kind(kind: Any, name: str) -> None:
    """Refuse nested, binary, duration and interval columns: their cells are not single values to compare."""
    types = pa.types
    if types.is_dictionary(kind):
        check_kind(kind.value_type, name)
        return
    usable = (
        types.is_boolean, types.is_integer, types.is_floating, types.is_decimal, types.is_date, types.is_time,
        types.is_timestamp, types.is_string, types.is_large_string, types.is_string_view, types.is_null,
    )  # fmt: skip
    if isinstance(kind, pa.BaseExtensionType) or not any(test(kind) for test in usable):
        raise ColumnError(f"Column {name!r} holds {kind}, which cannot take a role. Use numbers, dates, times or text.")
