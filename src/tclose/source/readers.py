"""Readers: each opens one kind of table, knows its columns, and gives some of them as one ibis expression."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from tclose.errors import ColumnError, InputError, nearest
from tclose.source import arrow
from tclose.source.delimited import open_delimited
from tclose.source.typing import converted, typed


@dataclass(frozen=True)
class Selection:
    """Some columns of a table as an ibis expression, and what the engine does not know about them; see `tclose.source.arrow`."""

    rows: Any
    categories: dict[str, list[Any]] = field(default_factory=dict)
    codes: set[str] = field(default_factory=set)
    zones: dict[str, str] = field(default_factory=dict)


class Reader(Protocol):
    """One table, not read yet.

    ``names`` are its columns, ``title`` begins a sentence about it.
    """

    names: list[str]
    title: str

    def select(self, engine: Any, columns: Mapping[str, str], kinds: Mapping[str, str]) -> Selection:
        """Some columns under the engine's names for them, in the kinds that `tclose.source.typing` knows."""

    def complaint(self) -> str | None:
        """What is wrong with the table, asked when the engine could not read it; None when that is not known."""


def open_reader(data: Any) -> Reader:
    """The reader for a path or for a table in memory."""
    if not isinstance(data, str | Path):
        return MemoryReader(arrow.to_arrow(data), "The table")
    path = Path(data)
    try:
        if path.is_dir():
            raise InputError(f"{str(data)!r} is a folder. Name a file in it.")
        if not path.is_file():
            raise InputError(f"File {str(data)!r} does not exist. Check its path.")
        str(path).encode()  # the engine wants names in UTF-8
        return _open_file(path)
    except UnicodeEncodeError:
        raise InputError(f"File {str(data)!r} has a name that is not UTF-8. Rename it.") from None
    except OSError as error:
        raise InputError(f"File {str(data)!r} cannot be read: {error.strerror or 'the disk refused it'}.") from None


def absent(reader: Reader, name: str) -> ColumnError:
    """The error that says that a table has no such column, and which one may be meant."""
    in_index = isinstance(reader, MemoryReader) and name in reader.index
    hint = " It is in the index of the frame: call reset_index() first." if in_index else nearest(name, reader.names)
    return ColumnError(f"Column {name!r} is not in the table.{hint}")


def _open_file(path: Path) -> Reader:
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv", ".txt"):
        return CsvReader(path)
    if suffix in (".parquet", ".pq"):
        return ParquetReader(path)
    if suffix in (".arrow", ".feather", ".ipc"):
        return MemoryReader(arrow.read_ipc(path), f"File {path.name!r}")
    known = ".csv, .tsv, .txt, .parquet, .pq, .arrow, .feather and .ipc"
    raise InputError(f"File {path.name!r} has a suffix that names no kind of table. Known are {known}.")


class CsvReader:
    """A CSV file, read as text and typed over all its rows."""

    def __init__(self, path: Path) -> None:
        """Read the header."""
        self._file = open_delimited(path)
        self.names = self._file.names
        self.title = f"File {path.name!r}"

    def select(self, engine: Any, columns: Mapping[str, str], kinds: Mapping[str, str]) -> Selection:
        """Fix delimiter, quote and header, so that the engine guesses nothing."""
        texts = ", ".join(f"'f{place}': 'VARCHAR'" for place in range(len(self.names)))
        source = (
            f"read_csv({_quoted(self._file.path)}, columns={{{texts}}}, delim='{self._file.delimiter}', quote='\"', escape='\"', "
            f"header=false, skip={self._file.skip}, auto_detect=false, strict_mode=true, hive_partitioning=false)"
        )
        return Selection(typed(engine.sql(_projection(source, self.names, columns)), columns, kinds))

    def complaint(self) -> str | None:
        """The first row that has not as many fields as the header, or mixed line ends."""
        return self._file.complaint()


class ParquetReader:
    """A Parquet file, read in place."""

    def __init__(self, path: Path) -> None:
        """Read the schema."""
        try:
            self._schema = pq.read_schema(path)
        except (pa.ArrowException, OSError) as error:
            if getattr(error, "errno", None):  # the disk's own; Arrow raises OSError without a number for a damaged file
                raise
            raise InputError(f"File {path.name!r} is not a Parquet file. Check how it was written.") from None
        self._path = path
        self.names = list(self._schema.names)
        self.title = f"File {path.name!r}"

    def select(self, engine: Any, columns: Mapping[str, str], kinds: Mapping[str, str]) -> Selection:
        """Refuse kinds that take no role. What the engine would not read exactly goes through Arrow."""
        for name in columns:
            arrow.check_kind(self._schema.field(self.names.index(name)).type, name)
        for name in columns:
            if kinds[name] not in arrow.LABELS:
                self._check_order_kept(name)
        if any(arrow.needs_arrow(self._schema.field(self.names.index(name)).type) for name in columns):
            table = pq.read_table(self._path, columns=list(columns), memory_map=True)
            found = MemoryReader(table, self.title).select(engine, columns, kinds)
            return replace(found, codes=found.codes | self._codes(columns, kinds))
        source = f"read_parquet({_quoted(self._path)}, hive_partitioning=false)"
        rows = converted(engine.sql(_projection(source, self.names, columns)), columns, kinds, ())
        return Selection(rows, codes=self._codes(columns, kinds))

    def _codes(self, columns: Mapping[str, str], kinds: Mapping[str, str]) -> set[str]:
        return {name for name in columns if kinds[name] in arrow.AS_FOUND and self._was_category(name)}

    def _noted(self, name: str) -> list[dict[str, Any]]:
        """What pandas noted about a column."""
        return [column for column in (self._schema.pandas_metadata or {}).get("columns", []) if column["name"] == name]

    def _was_category(self, name: str) -> bool:
        """Whether a column of numbers or dates was one of categories: a Parquet file keeps categories of text only."""
        kind = self._schema.field(self.names.index(name)).type
        return not arrow.is_text(kind) and any(column.get("pandas_type") == "categorical" for column in self._noted(name))

    def _check_order_kept(self, name: str) -> None:
        """A Parquet file keeps the order of categories only in dictionaries of text; pandas notes that there was an order."""
        kind, noted = self._schema.field(self.names.index(name)).type, self._noted(name)
        if pa.types.is_dictionary(kind) and kind.ordered:
            file = pq.read_metadata(self._path)
            leaf = next(place for place in range(len(file.schema)) if file.schema.column(place).path == name)
            chunks = (file.row_group(group).column(leaf) for group in range(file.num_row_groups))
            kept = all(chunk.has_dictionary_page and chunk.physical_type == "BYTE_ARRAY" for chunk in chunks)
        else:
            kept = not any((column.get("metadata") or {}).get("ordered") for column in noted)
        if not kept:
            raise ColumnError(
                f"Column {name!r} is an ordered category, and the file does not keep its order. Give its order in the policy, "
                "or type: text for a quasi-identifier."
            )

    def complaint(self) -> str | None:
        """Nothing is known of a damaged Parquet file."""
        return None


class MemoryReader:
    """A table in memory: pandas, or anything that speaks Arrow."""

    def __init__(self, table: Any, title: str) -> None:
        """Keep it; columns are converted when they are chosen."""
        self._table = table
        self.names = arrow.column_names(table)
        self.index = arrow.index_names(table)
        self.title = title

    def select(self, engine: Any, columns: Mapping[str, str], kinds: Mapping[str, str]) -> Selection:
        """Hand the chosen columns to the engine without a copy."""
        places = [self.names.index(name) for name in columns]
        found = arrow.choose(self._table, places, {name: kinds[name] for name in columns})
        engine.con.register("input", found.table.rename_columns(list(columns.values())))
        rows = converted(engine.table("input"), columns, kinds, found.categories)
        return Selection(rows, found.categories, found.codes, found.zones)

    def complaint(self) -> str | None:
        """A table in memory is whole."""
        return None


def _projection(source: str, names: list[str], columns: Mapping[str, str]) -> str:
    """Some columns of a file by place: the engine would fold names that differ in case only."""
    aliases = ", ".join(f"f{place}" for place in range(len(names)))
    chosen = ", ".join(f"f{names.index(name)} AS {column}" for name, column in columns.items())
    return f"SELECT {chosen} FROM {source} AS t({aliases})"


def _quoted(path: Path) -> str:
    """A path for the engine, which would take brackets and stars for a pattern, and a tilde for a home."""
    return "'" + re.sub(r"([\[*?])", r"[\1]", str(path.absolute())).replace("'", "''") + "'"
