"""Tables in memory: pandas, pyarrow, polars and everything else that speaks Arrow, as one Arrow table an engine can read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from tclose.errors import ColumnError, InputError


def column_names(data: Any) -> list[str]:
    """The names of the columns, as text: an integer names a column too."""
    if isinstance(data, pa.Table):
        return list(data.column_names)
    return [str(name) for name in data.columns]


def is_pandas(data: Any) -> bool:
    """Whether this is a pandas DataFrame; pandas is not imported to find out."""
    return type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "columns")


def to_arrow(data: Any) -> Any:
    """Anything that speaks Arrow as a pyarrow Table; a pandas frame stays as it is until its columns are chosen."""
    if isinstance(data, pa.Table) or is_pandas(data):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if hasattr(data, "__arrow_c_stream__"):
        try:
            return pa.table(data)
        except (pa.ArrowException, TypeError, ValueError):
            pass  # a stream, but of no table: a single column, say
    hint = " Collect it first." if hasattr(data, "collect") else ""
    raise InputError(f"A table must be a path, or a pandas, polars or Arrow table. Got {type(data).__name__}.{hint}")


def read_ipc(path: Path) -> pa.Table:
    """An Arrow file, in either of its two formats, mapped into memory rather than read."""
    source = pa.memory_map(str(path))
    try:
        return pa.ipc.open_file(source).read_all()
    except pa.ArrowInvalid:
        source.seek(0)
        try:
            return pa.ipc.open_stream(source).read_all()
        except pa.ArrowInvalid:
            raise InputError(f"File {path.name!r} is not an Arrow file. Check how it was written.") from None


def choose(
    data: Any, places: Sequence[int], names: Sequence[str], as_labels: Collection[str]
) -> tuple[pa.Table, dict[str, list[Any]]]:
    """Some columns, by place, as the engine wants them; and the categories of those that are ordered.

    An ordered category travels as its position, so that every engine sorts it as its owner does; as its label where that is
    asked for.
    """
    columns, ordered = [], {}
    for place, name in zip(places, names, strict=True):
        column = _column(data, place, name)
        check_kind(column.type, name)
        if pa.types.is_dictionary(column.type):
            if column.type.ordered and name not in as_labels:
                ordered[name] = categories(column, name)
                column = _positions(column)
            else:
                column = _decoded(column)
        columns.append(_plain(column, name))
    return pa.table(columns, names=list(names)), ordered


def _column(data: Any, place: int, name: str) -> Any:
    if isinstance(data, pa.Table):
        return data.column(place)
    series = data.iloc[:, place]
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
    """Whether Arrow would cut the time of day off some cells, or give others a time zone that they have not."""
    if series.dtype != object or not pa.types.is_temporal(kind):
        return False
    cells = [cell for cell in series if isinstance(cell, date)]
    zoned = {isinstance(cell, datetime) and cell.tzinfo is not None for cell in cells}
    return len({isinstance(cell, datetime) for cell in cells}) > 1 or len(zoned) > 1


def _decoded(column: Any) -> Any:
    """A column of unordered categories as its plain values."""
    kind = pa.large_string() if pa.types.is_string_view(column.type.value_type) else column.type.value_type
    return pa.chunked_array([chunk.dictionary.cast(kind).take(chunk.indices) for chunk in column.chunks], type=kind)


def categories(column: Any, name: str) -> list[Any]:
    """The categories of an ordered column, from least to greatest."""
    dictionaries = [chunk.dictionary.to_pylist() for chunk in column.chunks]
    longest: list[Any] = max(dictionaries, key=len, default=[])
    if any(labels != longest[: len(labels)] for labels in dictionaries) or None in longest or len(set(longest)) < len(longest):
        raise ColumnError(f"Column {name!r} must have one order of distinct categories. Got two orders, or a category twice.")
    return longest


def _positions(column: Any) -> Any:
    """Each row's place among the categories of an ordered column."""
    return pa.chunked_array([chunk.indices.cast(pa.int64()) for chunk in column.chunks], type=pa.int64())


def needs_arrow(kind: Any) -> bool:
    """Whether an engine that reads a file by itself would lose something that `choose` keeps or refuses."""
    types = pa.types
    return (
        types.is_null(kind)
        or types.is_float16(kind)
        or types.is_time(kind)
        or types.is_decimal256(kind)
        or (types.is_decimal(kind) and kind.scale < 0)
        or (types.is_timestamp(kind) and kind.tz is not None and kind.unit == "ns")
        or (types.is_dictionary(kind) and bool(kind.ordered))
    )


def _plain(column: Any, name: str) -> Any:
    """The column in a type that every engine has; refuse what is no single value."""
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
        if pa.types.is_timestamp(kind) and kind.tz is not None and kind.unit == "ns":
            return column.cast(pa.timestamp("ns"))  # the engine's time zones know microseconds only; this is UTC
    except pa.ArrowInvalid:
        raise ColumnError(f"Column {name!r} has values finer or longer than can be kept exactly. Round them first.") from None
    return column


def check_kind(kind: Any, name: str) -> None:
    """Refuse nested, binary, duration and interval columns: they hold no single value to compare."""
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
