"""Readers: each knows the columns of one kind of table, and opens some of them in an engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
from ibis.expr.datatypes import DataType

from tclose.errors import ColumnError, InputError, nearest
from tclose.policy import Input
from tclose.tables import arrow
from tclose.tables.ambiguous_floats import check_apart
from tclose.tables.arrow_files import open_ipc
from tclose.tables.csv import PACKED, open_delimited, packing_of
from tclose.tables.duckdb import DuckDB, Selection, arrow_columns, csv_columns, parquet_columns
from tclose.tables.encodings import in_utf8
from tclose.tables.engine import Opened
from tclose.tables.input_file import InputFile
from tclose.tables.parquet import open_parquet
from tclose.tables.types import converted, typed

TEXT = (".csv", ".tsv", ".txt")
"""Suffixes of a CSV; .gz or .zst may follow."""

ELSEWHERE = {
    "is a workbook. Save the sheet as CSV, in UTF-8.": (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers"),
    "is a file of a statistics program. Export the table as CSV or Parquet.": (
        ".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt", ".rds", ".rdata",
    ),
    "holds records, not a table. Export the table as CSV or Parquet.": (".json", ".jsonl", ".ndjson", ".xml"),
    "is a database. Export the table as CSV or Parquet.": (".db", ".sqlite", ".sqlite3", ".duckdb", ".mdb", ".accdb"),
    "is packed. Unpack it first; of packed files only .csv.gz and .csv.zst are read.": (
        ".zip", ".7z", ".rar", ".tar", ".tgz", ".bz2", ".xz", ".gz", ".zst",
    ),
}  # fmt: skip
"""What to do with files of other programs, by suffix."""


class Reader(Protocol):
    """One table, of which only the columns are known yet.

    ``names`` are its columns, ``title`` begins a sentence about it, ``file`` is what it is read from. ``rows`` is how many rows
    the engine must find, where that is known without it.
    """

    names: list[str]
    title: str
    file: InputFile | None
    rows: int | None

    def open(self, kinds: Mapping[str, str], given: Input) -> Opened:
        """Return some columns, open in an engine, in the kinds of `tclose.tables.types`; ``given`` says how cells are written."""


def open_reader(data: Any, given: Input | None = None) -> Reader:
    """Return the reader of a file, by its suffix, or of a table in memory; ``given`` says how a file is written."""
    if not isinstance(data, str | Path):
        return MemoryReader(arrow.to_arrow(data), "The table")
    try:
        return _reader_of_file(InputFile.open(Path(data)), given or Input())
    except OSError as error:
        raise InputError(f"File {str(data)!r} cannot be read: {error.strerror or 'the disk refused it'}.") from None


def absent(reader: Reader, name: str) -> ColumnError:
    """Return the error for a column that is not in the table, with a hint which column may be meant."""
    in_index = isinstance(reader, MemoryReader) and name in reader.index
    several = [part.strip() for part in name.split(",")]
    if in_index:
        hint = " It is in the index of the frame: call reset_index() first."
    elif len(several) > 1 and set(several) <= set(reader.names):
        hint = f" Give several names as a list: [{', '.join(several)}]."
    else:
        hint = nearest(name, reader.names)
    return ColumnError(f"Column {name!r} is not in the table.{hint}")


def _reader_of_file(file: InputFile, given: Input) -> Reader:
    """Return the reader of a file, by its suffix; raise InputError for a suffix that is not of a table."""
    suffixes = [suffix.lower() for suffix in file.path.suffixes[-2:]]
    suffix = suffixes[-1] if suffixes else ""
    if suffix in PACKED and len(suffixes) == 2 and suffixes[0] in TEXT:
        suffix = suffixes[0]
    if suffix in TEXT:
        return CsvReader(file, given)
    if suffix in (".parquet", ".pq"):
        return ParquetReader(file)
    if suffix in (".arrow", ".feather", ".ipc"):
        return ArrowReader(file)
    raise InputError(f"File {file.path.name!r} {_advice_on_suffix(suffix)}")


def _advice_on_suffix(suffix: str) -> str:
    """Return the end of an error sentence: what to do with a file whose suffix is not of a table that can be read."""
    for advice, suffixes in ELSEWHERE.items():
        if suffix in suffixes:
            return advice
    known = ".csv, .tsv, .txt (also with .gz or .zst behind it), .parquet, .pq, .arrow, .feather and .ipc"
    return f"has a suffix that names no kind of table. Known are {known}."


class _LocalReader(ABC):
    """A reader of a file or of a table in memory, which DuckDB opens."""

    names: list[str]
    title: str
    file: InputFile | None
    rows: int | None = None

    def open(self, kinds: Mapping[str, str], given: Input) -> Opened:
        """Return some columns of the table, open in DuckDB."""
        return DuckDB.open(self, kinds, given)

    @abstractmethod
    def select(self, backend: Any, columns: Mapping[str, str], kinds: Mapping[str, str], given: Input) -> Selection:
        """Return some columns of the table in their kinds, under the names that DuckDB uses."""


class CsvReader(_LocalReader):
    """A CSV file, read as text and typed over all its rows."""

    def __init__(self, file: InputFile, given: Input) -> None:
        """Read the header of a CSV file, and find its delimiter unless the policy gives it."""
        text = in_utf8(file, given.encoding, self) if given.encoding else file
        self._csv = open_delimited(text, given.delimiter)
        self.file = file
        self._path = text.path
        self.names = self._csv.names
        self.title = f"File {file.path.name!r}"

    def select(self, backend: Any, columns: Mapping[str, str], kinds: Mapping[str, str], given: Input) -> Selection:
        """Return some columns of the CSV, scanned first and read with a fixed form, so that DuckDB guesses nothing.

        An empty cell is missing, with quotes or without. If a column has both they are two values: polars and others tell them
        apart.
        """
        found = self._csv.scan()
        self.rows = found.rows
        missing = {index for index in range(len(self.names)) if found.quoted[index] and not found.bare[index]}
        texts = csv_columns(
            backend,
            self._path,
            self.names,
            columns,
            delimiter=self._csv.delimiter,
            packing=packing_of(self._path),
            missing=missing,
        )
        return Selection(typed(texts, columns, kinds, given))


class ParquetReader(_LocalReader):
    """A Parquet file, read in place."""

    def __init__(self, file: InputFile) -> None:
        """Read the schema of a Parquet file."""
        self._parquet = open_parquet(file)
        self._schema = self._parquet.schema
        self.file = file
        self._path = file.path
        self.names = list(self._schema.names)
        self.title = f"File {file.path.name!r}"

    def select(self, backend: Any, columns: Mapping[str, str], kinds: Mapping[str, str], given: Input) -> Selection:
        """Return some columns of the Parquet file, read by DuckDB, or by Arrow if DuckDB would not read them exactly."""
        types = {name: self._schema.field(index).type for index, name in enumerate(self.names) if name in columns}
        for name in columns:
            arrow.check_kind(types[name], name)
        self._parquet.check(columns)
        self.rows = self._parquet.rows
        for name in columns:
            if kinds[name] not in arrow.LABELS:
                self._check_order_kept(name, types[name])
        rows = None
        if not any(arrow.needs_arrow(kind) for kind in types.values()):
            rows = parquet_columns(backend, self._path, self.names, columns)
        if rows is None or not all(_is_read_alike(types[name], rows[column].type()) for name, column in columns.items()):
            found = MemoryReader(self._parquet.read(columns), self.title).select(backend, columns, kinds, given)
        else:
            check_apart(rows, columns, kinds)
            found = Selection(converted(rows, columns, kinds, (), given))
        as_found = (name for name in columns if kinds[name] in arrow.AS_FOUND)
        return replace(found, codes=found.codes | {name for name in as_found if self._was_category(name, types[name])})

    def _was_category(self, name: str, kind: Any) -> bool:
        """Whether a column of numbers or dates was one of categories in pandas: the file preserves only those of text."""
        return not arrow.is_text(kind) and self._parquet.noted(name).get("pandas_type") == "categorical"

    def _check_order_kept(self, name: str, kind: Any) -> None:
        """Raise ColumnError for ordered categories whose order the Parquet file has lost."""
        if pa.types.is_dictionary(kind) and kind.ordered:
            kept = self._parquet.has_dictionaries(name)
        else:
            note = self._parquet.noted(name).get("metadata")
            kept = not (isinstance(note, dict) and note.get("ordered"))
        if not kept:
            raise ColumnError(
                f"Column {name!r} is an ordered category, and the file does not keep its order. Give its order in the policy, "
                "or type: text for a quasi-identifier."
            )


class ArrowReader(_LocalReader):
    """An Arrow file; the columns that are chosen are read into memory."""

    def __init__(self, file: InputFile) -> None:
        """Read the schema of an Arrow file."""
        self._ipc = open_ipc(file)
        self.file = file
        self.names = self._ipc.names
        self.title = f"File {file.path.name!r}"

    def select(self, backend: Any, columns: Mapping[str, str], kinds: Mapping[str, str], given: Input) -> Selection:
        """Return some columns of the Arrow file, read into memory, all of their bytes checked."""
        return MemoryReader(self._ipc.read(columns), self.title).select(backend, columns, kinds, given)


class MemoryReader(_LocalReader):
    """A table in memory: pandas, or anything that speaks Arrow."""

    file: InputFile | None = None

    def __init__(self, table: Any, title: str) -> None:
        """Take a table in memory; its columns are converted when they are chosen."""
        self._table = table
        self.names = arrow.column_names(table)
        self.index = arrow.index_names(table)
        self.title = title

    def select(self, backend: Any, columns: Mapping[str, str], kinds: Mapping[str, str], given: Input) -> Selection:
        """Return some columns of the table in memory, handed to DuckDB without a copy."""
        indices = [self.names.index(name) for name in columns]
        found = arrow.choose(self._table, indices, {name: kinds[name] for name in columns})
        try:
            found.table.validate(full=True)
        except pa.ArrowInvalid:
            raise InputError(f"{self.title} has a text that is not UTF-8, or is damaged. Make it anew.") from None
        rows = arrow_columns(backend, found.table, columns)
        check_apart(rows, columns, kinds)
        return Selection(converted(rows, columns, kinds, found.categories, given), found.categories, found.codes, found.zones)


def _is_read_alike(kind: Any, found: Any) -> bool:
    """Whether DuckDB reads a column of a Parquet file in the type in which Arrow, and with it pandas, reads it.

    A file can name a type twice, in an old and in a new way; and old timestamps have nanoseconds that an engine cuts off.
    """
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if arrow.is_text(kind):
        return bool(found.is_string())
    expected = DataType.from_pyarrow(kind)
    if expected.is_decimal() and found.is_decimal():
        return bool(expected.scale == found.scale)
    if expected.is_timestamp() and found.is_timestamp():
        return bool(kind.unit != "ns" or found.scale == 9)
    return type(expected) is type(found)
