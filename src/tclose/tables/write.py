"""Writing tables to files: CSV, Parquet, Arrow. The same table gives the same bytes, and only its values are in them.

Nothing else of a table is written: no metadata, no pandas index, no categories that do not occur, nothing from memory under
missing cells or around slices, and no trace of its chunks.

CSV is printed here, by array kernels: Arrow's writer quotes every text, and an engine's writer has its own messages and files.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tclose.errors import ColumnError, OutputError
from tclose.jobs import check
from tclose.tables.arrow import check_kind, is_zoned, moments_as_text
from tclose.values.formula_guard import FORMULA, NUMBER, is_risky

SUFFIXES = (".csv", ".parquet", ".arrow", ".feather")
"""Suffixes of files that a table can be written to."""

_BATCH = 1 << 20
"""Cells written at a time: they take a fraction of a second, and far less than the 2 GiB of text that fit into an array."""

_ROW_GROUP = 1 << 22
"""Cells in a row group of a Parquet file."""

_QUOTED = '[",;|\\t\\r\\n\ufeff]|^ +$'
"""What makes a text need quotes: also what a reader may take for a delimiter, for the byte order mark at the start of a file, or
for a blank line."""

_DIGITS = 38
"""Digits that a reader preserves exactly, if no cell of the column has a power of ten."""


def check_suffix(path: Path) -> None:
    """Raise OutputError for a path whose suffix is not of a kind of file that can be written."""
    if path.suffix.lower() not in SUFFIXES:
        known = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
        raise OutputError(f"The file of a table must have a name that ends in {known}. Got {path.suffix or path.name!r}.")


def check_columns(names: Sequence[str], path: Path, *, formula_guard: bool) -> None:
    """Raise OutputError for a suffix that cannot be written, for no columns, or for a name that a spreadsheet may run."""
    check_suffix(path)
    if not names:
        raise OutputError("A table without columns cannot be written. Keep one at least.")
    risky = next((name for name in names if is_risky(name)), None)
    if formula_guard and path.suffix.lower() == ".csv" and risky is not None:
        raise OutputError(f"Column {risky!r} has a name that a spreadsheet may run. Rename it, or set formula_guard: false.")


def write_table(table: pa.Table, path: Path, *, formula_guard: bool) -> None:
    r"""Write a table to a file of the kind that its suffix names; with `tclose.tables.files` it appears whole or not at all.

    A CSV is UTF-8 with a header, commas and ``\n``. A missing cell and NaN are empty, an empty text is ``""``.

    Parameters
    ----------
    table
        Plain or dictionary-encoded columns. The order of rows is kept.
    path
        Ends in .csv, .parquet, .arrow or .feather.
    formula_guard
        Whether text cells of a CSV that could start a formula get a leading ``'``, see `tclose.values.formula_guard`.

    Raises
    ------
    OutputError
        For values that this kind of file cannot have. If the disk refuses, the error is an OSError with its number.
    """
    table = _writable_table(table)
    check_columns(table.column_names, path, formula_guard=formula_guard)
    with path.open("wb") as file:  # a file of Python: its errors are those of the disk, not of a library
        if path.suffix.lower() == ".csv":
            _write_csv(table, file, formula_guard)
        elif path.suffix.lower() == ".parquet":
            _write_parquet(table, file)
        else:
            _write_arrow(table, file)


def guard_column(column: pa.Array) -> pa.Array:
    """Return a column of texts in which each has the formula guard of `tclose.values.formula_guard.guarded`."""
    if pa.types.is_dictionary(column.type):
        return pa.DictionaryArray.from_arrays(column.indices, guard_column(column.dictionary), ordered=column.type.ordered)
    risky = pc.and_not(pc.match_substring_regex(column, FORMULA), pc.match_substring_regex(column, NUMBER))
    return pc.if_else(risky, _joined_texts("'", column), column)


def _writable_table(table: pa.Table) -> pa.Table:
    """Return a table without the index of a pandas frame, in types that can be written."""
    index = (table.schema.pandas_metadata or {}).get("index_columns", [])
    table = table.select([number for number, name in enumerate(table.column_names) if name not in index])
    for field in table.schema:
        try:
            check_kind(field.type, field.name)
        except ColumnError:
            raise OutputError(f"Column {field.name!r} holds {field.type}, which cannot be written. Leave it out.") from None
    return pa.table([_writable_column(column) for column in table.columns], names=table.column_names)


def _writable_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without string views, which Arrow's kernels do not take, and with dictionaries of texts only."""
    kind = column.type
    if pa.types.is_string_view(kind):
        return column.cast(pa.large_string())
    if not pa.types.is_dictionary(kind) or pa.types.is_string(kind.value_type) or pa.types.is_large_string(kind.value_type):
        return column
    if pa.types.is_string_view(kind.value_type):
        parts = [(chunk.indices, chunk.dictionary.cast(pa.large_string())) for chunk in column.chunks]
        chunks = [pa.DictionaryArray.from_arrays(indices, values) for indices, values in parts]
        return pa.chunked_array(chunks, type=pa.dictionary(kind.index_type, pa.large_string()))
    return pa.chunked_array([_decode_categories(chunk) for chunk in column.chunks], type=kind.value_type)


# Parquet and Arrow -----------------------------------------------------------------------------------------------------------


def _write_parquet(table: pa.Table, file: BinaryIO) -> None:
    """Write a table to an open Parquet file, with no metadata but the names of time zones."""
    # Without the Arrow schema that pyarrow would add in its metadata: the schema of Parquet says all that is published, except
    # the name of a time zone.
    zoned = any(is_zoned(kind) for kind in table.schema.types)
    with pq.ParquetWriter(file, _plain_schema(table), store_schema=zoned) as writer:
        for batch in _copied_batches(table, _ROW_GROUP):
            writer.write_batch(batch)


def _write_arrow(table: pa.Table, file: BinaryIO) -> None:
    """Write a table to an open Arrow file, its values and nothing else."""
    with pa.ipc.new_file(file, _plain_schema(table)) as writer:
        for batch in _copied_batches(table, _BATCH):
            writer.write_batch(batch)


def _plain_schema(table: pa.Table) -> pa.Schema:
    """Return the names and plain types of the columns, without metadata and dictionaries."""
    kinds = (kind.value_type if pa.types.is_dictionary(kind) else kind for kind in table.schema.types)
    plain = [pa.string() if pa.types.is_large_string(kind) else kind for kind in kinds]
    return pa.schema(list(zip(table.column_names, plain, strict=True)))


def _copied_batches(table: pa.Table, cells: int) -> Iterator[pa.RecordBatch]:
    """Yield a table's rows as record batches of about ``cells`` cells, copied so that nothing else in memory is written."""
    schema = _plain_schema(table)
    for rows in _row_slices(table, cells):
        check()
        columns = (_copied_values(_joined_chunks(column)) for column in rows.columns)
        yield pa.record_batch([column.cast(kind) for column, kind in zip(columns, schema.types, strict=True)], schema=schema)


def _copied_values(array: pa.Array) -> pa.Array:
    """Return the plain values of an array as a copy, without what is in memory under missing cells and around slices."""
    return _decode_categories(array) if pa.types.is_dictionary(array.type) else array.take(pa.array(np.arange(len(array))))


def _row_slices(table: pa.Table, cells: int) -> Iterator[pa.Table]:
    """Return slices of a table's rows to write, of about ``cells`` cells each, whatever its chunks are."""
    step = max(1, cells // max(1, table.num_columns))
    return (table.slice(start, step) for start in range(0, table.num_rows, step))


def _joined_chunks(column: pa.ChunkedArray) -> pa.Array:
    """Return a column to write as one array; chunks with different dictionaries are decoded."""
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays([_decode_categories(chunk) for chunk in column.chunks])


def _decode_categories(array: pa.Array) -> pa.Array:
    """Return a dictionary-encoded array as its plain values, so that only categories that occur are in it."""
    return array.dictionary.take(array.indices) if pa.types.is_dictionary(array.type) else array


# CSV -------------------------------------------------------------------------------------------------------------------------


def _write_csv(table: pa.Table, file: BinaryIO, formula_guard: bool) -> None:
    """Write a table to an open CSV file; batches of rows are printed in threads and written in their order."""
    table = pa.table([_in_coarsest_unit(column) for column in table.columns], names=table.column_names)
    file.write(_csv_of_cells([_text_cells(pa.array([name], pa.string()), guard=False) for name in table.column_names]))
    pool, pending = ThreadPoolExecutor(pa.cpu_count()), deque[Future[bytes]]()
    try:
        for rows in _row_slices(table, _BATCH):
            check()
            pending.append(pool.submit(_csv_of_rows, rows, formula_guard))
            if len(pending) > pa.cpu_count():
                file.write(pending.popleft().result())
        while pending:
            file.write(pending.popleft().result())
    finally:
        pool.shutdown(cancel_futures=True)


def _in_coarsest_unit(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return times in the largest unit that preserves all of them, so that they are printed without needless zeros."""
    kind = column.type
    if pa.types.is_timestamp(kind):
        kinds = [pa.timestamp(unit, kind.tz) for unit in ("s", "ms", "us", "ns")]
    elif pa.types.is_time(kind):
        kinds = [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")]
    else:
        return column
    for coarser in kinds:
        try:
            return column.cast(coarser)
        except pa.ArrowInvalid:  # it would cut something off
            continue
    return column


def _csv_of_rows(rows: pa.Table, formula_guard: bool) -> bytes:
    """Return some rows of a table as the bytes of CSV lines."""
    return _csv_of_cells([_csv_cells(_joined_chunks(column), formula_guard) for column in rows.columns])


def _csv_of_cells(columns: list[pa.Array]) -> bytes:
    """Return columns of printed cells as the bytes of CSV lines; a missing cell is empty."""
    ends = _joined_texts(columns[-1].fill_null(""), "\n")
    joined = pc.binary_join_element_wise(*columns[:-1], ends, ",", null_handling="replace", null_replacement="")
    text: bytes = joined.buffers()[2].to_pybytes()
    if b"\0" in text:
        raise OutputError("A text has a NUL character, which no CSV can hold. Take it out, or write Parquet.")
    return text


def _csv_cells(array: pa.Array, guard: bool) -> pa.Array:
    """Return the values of a column as texts, printed and quoted for a CSV."""
    kind = array.type
    if not (pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return _number_cells(array)
    if not pa.types.is_dictionary(kind) or len(array.dictionary) > len(array):
        array = _decode_categories(array).dictionary_encode()
    return _text_cells(array.dictionary.cast(pa.string()), guard=guard).take(array.indices)


def _text_cells(texts: pa.Array, *, guard: bool) -> pa.Array:
    """Return texts as CSV cells, quoted where that is needed; an empty text is quoted, to differ from a missing cell."""
    texts = guard_column(texts) if guard else texts
    quoted = _joined_texts('"', pc.replace_substring(texts, '"', '""'), '"')
    return pc.if_else(pc.or_(pc.match_substring_regex(texts, _QUOTED), pc.equal(texts, "")), quoted, texts)


def _number_cells(array: pa.Array) -> pa.Array:
    """Return numbers, dates, times and truth values as CSV cells, with all their digits and no more."""
    kind = array.type
    if pa.types.is_floating(kind):
        return _float_cells(array)
    if pa.types.is_decimal(kind) and not 0 <= kind.scale <= 6:  # Arrow would print powers of ten
        encoded = array.dictionary_encode()
        texts = [None if value is None else f"{value:f}" for value in encoded.dictionary.to_pylist()]
        return pa.array(texts, pa.string()).take(encoded.indices)
    texts = moments_as_text(array) if pa.types.is_timestamp(kind) else array.cast(pa.string())
    if pa.types.is_timestamp(kind) and pc.any(pc.starts_with(texts, "<")).as_py():
        raise OutputError("A time lies too many years away to be printed. Write Parquet.")
    return texts


def _float_cells(array: pa.Array) -> pa.Array:
    """Return floats as CSV cells: the shortest texts that read back equal, without powers of ten if that takes few digits."""
    array = array.cast(pa.float32()) if pa.types.is_float16(array.type) else array
    texts = pc.if_else(pc.is_nan(array), None, array.cast(pa.string()))
    texts = pc.if_else(pc.equal(texts, "-0"), "0", texts)  # one number, one text
    powers = pc.match_substring(texts, "e").fill_null(False)
    if not pc.any(powers).as_py():
        return texts
    return pc.replace_with_mask(texts, powers, pa.array([_without_power(text) for text in texts.filter(powers).to_pylist()]))


def _without_power(text: str) -> str:
    """Return the text of a float without a power of ten if that takes at most `_DIGITS` digits; else as it is."""
    long = f"{Decimal(text):f}"
    return long if sum(map(str.isdigit, long)) <= _DIGITS else text


def _joined_texts(*parts: Any) -> pa.Array:
    """Return texts and columns of texts for a CSV, joined cell by cell."""
    kind = next(part.type for part in parts if not isinstance(part, str))
    return pc.binary_join_element_wise(
        *(pa.scalar(part, kind) if isinstance(part, str) else part for part in parts), pa.scalar("", kind)
    )
