"""What a reader is: it knows the columns of one table, and opens some of them in an engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import Any, Protocol

import pyarrow as pa

from tclose.errors import InputError
from tclose.policy import Input
from tclose.tables import arrow
from tclose.tables.ambiguous_floats import check_apart
from tclose.tables.duckdb import DuckDB, Selection, arrow_columns
from tclose.tables.engine import Opened
from tclose.tables.input_file import InputFile
from tclose.tables.types import converted


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


class LocalReader(ABC):
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


class MemoryReader(LocalReader):
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
        self.rows = found.table.num_rows
        rows = arrow_columns(backend, found.table, columns)
        check_apart(rows, columns, kinds)
        return Selection(converted(rows, columns, kinds, found.categories, given), found.categories, found.codes, found.zones)


class LoadingReader(LocalReader):
    """A table of which the chosen columns are read into memory."""

    @abstractmethod
    def read(self, names: Collection[str]) -> pa.Table:
        """Return some columns of the table, in memory."""

    def select(self, backend: Any, columns: Mapping[str, str], kinds: Mapping[str, str], given: Input) -> Selection:
        """Return some columns of the table, read into memory."""
        return MemoryReader(self.read(columns), self.title).select(backend, columns, kinds, given)
