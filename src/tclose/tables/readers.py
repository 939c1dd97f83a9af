"""Readers: for each kind of table the one that reads it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from tclose.errors import ColumnError, InputError, nearest
from tclose.policy import Input
from tclose.tables import arrow, memory
from tclose.tables.ambiguous_floats import check_apart
from tclose.tables.arrow_files import open_ipc
from tclose.tables.csv import PACKED, open_delimited, packing_of
from tclose.tables.duckdb import Selection, csv_columns, parquet_columns
from tclose.tables.duckdb_files import DuckDBReader, is_duckdb
from tclose.tables.encodings import in_utf8
from tclose.tables.input_file import InputFile
from tclose.tables.locations import DATABASES, WORKBOOKS, Location
from tclose.tables.parquet import PARQUET, files_in, open_parquet
from tclose.tables.postgres import PostgresReader, is_address
from tclose.tables.queries import QueryReader, is_query
from tclose.tables.reader import LoadingReader, LocalReader, MemoryReader, Reader
from tclose.tables.spark import SparkReader, is_spark
from tclose.tables.sqlite import SqliteReader, is_sqlite
from tclose.tables.statistics_files import READ, StatisticsReader
from tclose.tables.types import converted, typed
from tclose.tables.workbooks import WorkbookReader

TEXT = (".csv", ".tsv", ".txt")
"""Suffixes of a CSV; .gz or .zst may follow."""

KNOWN = (
    f"{', '.join(TEXT)} (also with .gz or .zst behind it), .parquet, .pq, .arrow, .feather, .ipc, {', '.join(DATABASES)}, "
    f"{', '.join(WORKBOOKS)}, {', '.join(READ)}, and a folder of Parquet files"
)
"""The kinds of files that are read, for the sentence on one that is not."""

ELSEWHERE = {
    "is a workbook of Numbers. Export the sheet as CSV or Excel.": (".numbers",),
    "is a file of R. Write the table as CSV or Parquet.": (".rds", ".rdata"),
    "holds records, not a table. Export the table as CSV or Parquet.": (".json", ".jsonl", ".ndjson", ".xml"),
    "is a database of Access. Export the table as CSV or Excel.": (".mdb", ".accdb"),
    "is packed. Unpack it first; of packed files only .csv.gz and .csv.zst are read.": (
        ".zip", ".7z", ".rar", ".tar", ".tgz", ".bz2", ".xz", ".gz", ".zst",
    ),
}  # fmt: skip
"""What to do with files of other programs, by suffix."""


def open_reader(data: Any, given: Input | None = None) -> Reader:
    """Return the reader of a file, by its suffix, of a folder, of a query, or of a table in memory.

    Parameters
    ----------
    data
        The path of a file, or a table. ``study.duckdb::visits`` names a table of a database, ``visits.xlsx::2024`` a sheet,
        ``postgresql://me@host/clinic::visits`` a table on a server.
    given
        How a file is written.
    """
    if is_query(data):
        return QueryReader(data)
    if is_spark(data):
        return SparkReader(data)
    if is_address(data):
        return PostgresReader(data)
    if not isinstance(data, str | Path):
        return MemoryReader(arrow.to_arrow(data), "The table")
    try:
        return _reader_of_file(Location.of(data), given or Input())
    except OSError as error:
        raise InputError(f"File {str(data)!r} cannot be read: {error.strerror or 'the disk refused it'}.") from None


def in_memory(data: Any) -> Any:
    """Return a table as it can be given to other processes: the rows of a query, and any other table as it is.

    Raises InputError for a table of Spark, whose rows stay on the cluster.
    """
    if is_spark(data):
        raise InputError(SparkReader.stay)
    return QueryReader(data).read(list(data.columns)) if is_query(data) else data


def absent(reader: Reader, name: str, role: str = "") -> ColumnError:
    """Return the error for a column that is not in the table, with a hint which column may be meant.

    ``role`` is the setting of the policy that names the column, where the name alone would not tell it.
    """
    in_index = isinstance(reader, MemoryReader) and name in reader.index
    several = [part.strip() for part in name.split(",")]
    if in_index:
        hint = " It is in the index of the frame: call reset_index() first."
    elif len(several) > 1 and set(several) <= set(reader.names):
        hint = f" Give several names as a list: [{', '.join(several)}]."
    else:
        hint = nearest(name, reader.names)
    return ColumnError(f"Column {name!r}{role and f', which {role} names,'} is not in the table.{hint}")


def check_right_table(reader: Reader, asked: Collection[str]) -> None:
    """Raise ColumnError, which asks for the right table, if several columns that are asked for, and most of them, are missing."""
    missing = [name for name in asked if name not in reader.names]
    if len(missing) < 2 or 2 * len(missing) <= len(asked) or (isinstance(reader, MemoryReader) and missing[0] in reader.index):
        return
    title = f"{reader.title[0].lower()}{reader.title[1:]}"
    if len(missing) == len(asked):
        what = f"None of the {len(asked):,} columns that are asked for is in {title}"
    else:
        what = f"{len(missing):,} of the {len(asked):,} columns that are asked for are not in {title}"
    raise ColumnError(f"{what}; the first is {missing[0]!r}.{nearest(missing[0], reader.names)} Is it the right table?")


def _reader_of_file(location: Location, given: Input) -> Reader:
    """Return the reader of a file, by its suffix; raise InputError for a suffix that is not of a table."""
    if location.path.is_dir():
        parts = files_in(location.path)
        return ParquetReader(InputFile.open_folder(location.path, parts), parts)
    file = InputFile.open(location.path)
    suffixes = [suffix.lower() for suffix in file.path.suffixes[-2:]]
    suffix = suffixes[-1] if suffixes else ""
    if suffix in PACKED and len(suffixes) == 2 and suffixes[0] in TEXT:
        suffix = suffixes[0]
    if suffix in TEXT:
        return CsvReader(file, given)
    if suffix in PARQUET:
        return ParquetReader(file, [file.path])
    if suffix in (".arrow", ".feather", ".ipc"):
        return ArrowReader(file)
    if suffix in WORKBOOKS:
        return WorkbookReader(file, location)
    if suffix in READ:
        return StatisticsReader(file)
    if suffix in DATABASES:
        return _reader_of_database(location)
    raise InputError(f"File {file.path.name!r} {_advice_on_suffix(suffix)}")


def _reader_of_database(location: Location) -> Reader:
    """Return the reader of a database, by its first bytes: programs give SQLite and DuckDB the same suffixes."""
    if is_sqlite(location.path):
        return SqliteReader(location)
    if is_duckdb(location.path):
        return DuckDBReader(location)
    raise InputError(f"File {location.path.name!r} is no database of DuckDB or SQLite, or is damaged. Check how it was written.")


def _advice_on_suffix(suffix: str) -> str:
    """Return the end of an error sentence: what to do with a file whose suffix is not of a table that can be read."""
    for advice, suffixes in ELSEWHERE.items():
        if suffix in suffixes:
            return advice
    return f"has a suffix that names no kind of table. Known are {KNOWN}."


class CsvReader(LocalReader):
    """A CSV file, read as text and typed over all its rows."""

    def __init__(self, file: InputFile, given: Input) -> None:
        """Read the header of a CSV file, and find its delimiter unless the policy gives it."""
        text = in_utf8(file, given.encoding, self) if given.encoding else file
        self._csv = open_delimited(text, given.delimiter)
        self.file = file
        self._path = text.path
        self.names = self._csv.names
        self.title = f"File {file.path.name!r}"

    @property
    def delimiter(self) -> str:
        """What separates its cells."""
        return self._csv.delimiter

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


class ParquetReader(LocalReader):
    """A Parquet file, or several with the same columns, one after the other, read in place."""

    def __init__(self, file: InputFile, paths: Sequence[Path]) -> None:
        """Read the schema of each Parquet file; raise InputError if they differ."""
        self._parts = [open_parquet(InputFile.open(path)) for path in paths]
        self._schema = self._parts[0].schema
        for part in self._parts[1:]:
            part.check_like(self._parts[0])
        self.file = file
        self._paths = paths
        self.names = list(self._schema.names)
        self.title = f"{'File' if file.path in paths else 'Folder'} {file.path.name!r}"

    def select(self, backend: Any, columns: Mapping[str, str], kinds: Mapping[str, str], given: Input) -> Selection:
        """Return some columns of the Parquet files, read by DuckDB, or by Arrow if DuckDB would not read them exactly."""
        types = {name: self._schema.field(index).type for index, name in enumerate(self.names) if name in columns}
        for name in columns:
            arrow.check_kind(types[name], name)
        for part in self._parts:
            part.check(columns)
        self.rows = sum(part.rows for part in self._parts)
        for name in columns:
            if kinds[name] not in arrow.LABELS:
                self._check_order_kept(name, types[name])
        rows = None
        if not any(arrow.needs_arrow(kind) for kind in types.values()):
            rows = parquet_columns(backend, self._paths, self.names, columns)
        if rows is None or not all(arrow.is_read_alike(types[name], rows[column].type()) for name, column in columns.items()):
            memory.refuse_to_load(self.title)
            table = pa.concat_tables([part.read(columns) for part in self._parts])
            found = MemoryReader(table, self.title).select(backend, columns, kinds, given)
        else:
            check_apart(rows, columns, kinds)
            found = Selection(converted(rows, columns, kinds, (), given))
        as_found = (name for name in columns if kinds[name] in arrow.AS_FOUND)
        return replace(found, codes=found.codes | {name for name in as_found if self._was_category(name, types[name])})

    def _was_category(self, name: str, kind: Any) -> bool:
        """Whether a column of numbers or dates was one of categories in pandas: the file preserves only those of text."""
        return not arrow.is_text(kind) and any(part.noted(name).get("pandas_type") == "categorical" for part in self._parts)

    def _check_order_kept(self, name: str, kind: Any) -> None:
        """Raise ColumnError for ordered categories whose order a Parquet file has lost."""
        if pa.types.is_dictionary(kind) and kind.ordered:
            kept = all(part.has_dictionaries(name) for part in self._parts)
        else:
            notes = [part.noted(name).get("metadata") for part in self._parts]
            kept = not any(isinstance(note, dict) and note.get("ordered") for note in notes)
        if not kept:
            raise ColumnError(
                f"Column {name!r} is an ordered category, and the file does not keep its order. Give its order in the policy, "
                "or type: text for a quasi-identifier."
            )


class ArrowReader(LoadingReader):
    """An Arrow file; the columns that are chosen are read into memory, all of their bytes checked."""

    def __init__(self, file: InputFile) -> None:
        """Read the schema of an Arrow file."""
        self._ipc = open_ipc(file)
        self.file = file
        self.names = self._ipc.names
        self.title = f"File {file.path.name!r}"

    def read(self, names: Collection[str]) -> pa.Table:
        """Return some columns of the Arrow file."""
        return self._ipc.read(names)


IN_PLACE = (CsvReader, ParquetReader, DuckDBReader)
"""The readers of files whose rows stay on the disk."""
