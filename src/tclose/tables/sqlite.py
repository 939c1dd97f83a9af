"""SQLite: a table or a view of a database, read by Python's own library, with the types that its cells have.

SQLite has no dates: a column that is declared as DATE, DATETIME or TIMESTAMP, and whose cells are all written as 2024-02-29 or
2024-02-29 12:30:00, is read as such; one that is declared as BOOLEAN, and has 0 and 1, as true or false.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc

from tclose.errors import InputError
from tclose.jobs import check
from tclose.tables.cells import column_of
from tclose.tables.input_file import InputFile
from tclose.tables.locations import Location, choose_part
from tclose.tables.reader import LoadingReader

START = b"SQLite format 3\0"
"""The first bytes of an SQLite database."""

_KIND = "an SQLite database"

_ROWS = 50_000
"""Rows fetched at a time."""

_BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PROTOCOL")
"""How errors begin that say that another program is writing, or has not finished."""

_PATIENCE = 1.0
"""Seconds to wait for a program that is writing."""

_HIDDEN = 1
"""The mark of a column that `SELECT *` does not show; generated columns have another."""

_MOMENTS = ("DATETIME", "TIMESTAMP")


class SqliteReader(LoadingReader):
    """A table or a view of an SQLite database."""

    def __init__(self, location: Location) -> None:
        """Find the table, and read the names of its columns and the types that they are declared as."""
        path = location.path
        logs = [path.with_name(path.name + end) for end in ("-wal", "-journal")]  # what is not in the database itself yet
        self.file = self._file = InputFile.open(path, logs)
        self.title = f"File {path.name!r}"
        with self._connected() as connection:
            found = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY 1").fetchall()
            tables = [name for (name,) in found if not name.startswith("sqlite_")]  # SQLite's own
            self._part = choose_part(location, tables, "table")
            columns = connection.execute(f"PRAGMA table_xinfo({_quoted(self._part)})").fetchall()
            self._declared = {
                name: declared.upper().partition("(")[0].strip() for _, name, declared, *_, hidden in columns if hidden != _HIDDEN
            }
        self.names = list(self._declared)

    def read(self, names: Collection[str]) -> pa.Table:
        """Return some columns of the table, in the types that their cells have."""
        chosen = ", ".join(map(_quoted, names))
        columns: list[list[Any]] = [[] for _ in names]
        with self._connected() as connection, closing(connection.execute(f"SELECT {chosen} FROM {_quoted(self._part)}")) as rows:
            while block := rows.fetchmany(_ROWS):
                check()
                for column, cells in zip(columns, zip(*block, strict=True), strict=True):
                    column.extend(cells)
        self.rows = len(columns[0])
        found = zip(names, columns, strict=True)
        return pa.table({name: _typed(column_of(column, whole=False), self._declared[name]) for name, column in found})

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection that only reads; raise InputError for a database that is damaged, or that another program writes.

        Where nothing waits in a log, SQLite is told that the file does not change: it would write files of its own beside it.
        """
        waiting = any(part.exists() and part.stat().st_size for part in self._file.parts)
        source = f"file:{quote(str(self._file.path.absolute()))}?mode=ro{'' if waiting else '&immutable=1'}"
        with self._file.read_as(_KIND, sqlite3.Error):
            try:
                with closing(sqlite3.connect(source, timeout=_PATIENCE, uri=True)) as connection:
                    connection.execute("PRAGMA trusted_schema = OFF")  # a view may call functions
                    yield connection
            except sqlite3.OperationalError as error:
                if getattr(error, "sqlite_errorname", "").startswith(_BUSY):
                    raise InputError(
                        f"{self.title} is being written by another program, or a write has not ended. Close it there first."
                    ) from None
                raise


def is_sqlite(path: Path) -> bool:
    """Whether a file begins as an SQLite database does."""
    with path.open("rb") as file:
        return file.read(len(START)) == START


def _quoted(name: str) -> str:
    """Return the name of a table or a column as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def _typed(column: pa.Array, declared: str) -> pa.Array:
    """Return a column as dates, timestamps or booleans, if it is declared as such and all of its cells are; else as it is."""
    try:
        if declared == "DATE" and pa.types.is_string(column.type):
            return column.cast(pa.date32())
        if declared in _MOMENTS and pa.types.is_string(column.type):
            return column.cast(pa.timestamp("us"))
        if declared in ("BOOLEAN", "BOOL") and pa.types.is_int64(column.type):
            return pc.equal(column, 1) if pc.all(pc.is_in(column.drop_null(), pa.array([0, 1]))).as_py() else column
    except pa.ArrowInvalid:
        pass
    return column
