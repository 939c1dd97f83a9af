"""DuckDB files: a table or a view of a database, opened for reading only and read in place.

A column of an ENUM is text: the order of its values may be that in which they were met. A view may use what is in the file and
nothing else: no other file, no network.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from tclose.errors import InputError
from tclose.policy import Input
from tclose.tables import arrow, memory
from tclose.tables.ambiguous_floats import check_apart
from tclose.tables.duckdb import Selection, interrupts_as_such, view_of_columns
from tclose.tables.input_file import InputFile
from tclose.tables.locations import Location, choose_part
from tclose.tables.reader import LocalReader, MemoryReader
from tclose.tables.types import converted

_MARK, _OFFSET = b"DUCK", 8
"""What a database has in its first bytes, and where."""

_KIND = f"a database that DuckDB {duckdb.__version__} can read"

_LOCKED = "Could not set lock"
"""What DuckDB says of a file that another process has open for writing."""

_PARTS = """
SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'source' AND NOT internal
UNION ALL SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = 'source' AND NOT internal ORDER BY 1, 2
"""


class DuckDBReader(LocalReader):
    """A table or a view of a DuckDB file."""

    def __init__(self, location: Location) -> None:
        """Find the table, and read the names and types of its columns."""
        path = location.path
        self.file = self._file = InputFile.open(path, [path.with_name(f"{path.name}.wal")])
        self.title = f"File {path.name!r}"
        with closing(duckdb.connect()) as connection, self._reading():
            self._attach(connection)
            parts = {
                name if schema == "main" else f"{schema}.{name}": f"source.{_quoted(schema)}.{_quoted(name)}"
                for schema, name in connection.execute(_PARTS).fetchall()
            }
            part = choose_part(location, list(parts), "table")
            self._source = parts[part]
            try:
                self._schema = pa.table(connection.sql(f"SELECT * FROM {self._source} LIMIT 0")).schema
            except duckdb.Error:
                raise InputError(
                    f"{self.title} has a view {part!r} that needs more than is in the file. Make a table of it in DuckDB."
                ) from None
        self.names = list(self._schema.names)

    def select(self, backend: Any, columns: Mapping[str, str], kinds: Mapping[str, str], given: Input) -> Selection:
        """Return some columns of the table, read by DuckDB in place, or by Arrow if DuckDB would not keep them exactly."""
        types = {name: self._schema.field(name).type for name in columns}
        for name, kind in types.items():
            arrow.check_kind(kind, name)
        with self._reading():
            self._attach(backend.con)
        # A collation would make one value of texts that differ.
        text = 'CAST({} AS VARCHAR) COLLATE "C"'
        cells = [text.format(_quoted(name)) if arrow.is_text(kind) else _quoted(name) for name, kind in types.items()]
        source = f"(SELECT {', '.join(cells)} FROM {self._source})"
        if not any(arrow.needs_arrow(kind) or pa.types.is_dictionary(kind) for kind in types.values()):
            rows = view_of_columns(backend, source, list(columns), columns)
            if all(arrow.is_read_alike(types[name], rows[column].type()) for name, column in columns.items()):
                check_apart(rows, columns, kinds)
                return Selection(converted(rows, columns, kinds, (), given))
        memory.refuse_to_load(self.title)
        table = pa.table(backend.con.sql(f"FROM {source}")).rename_columns(list(columns))
        return MemoryReader(table, self.title).select(backend, columns, kinds, given)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Raise errors of DuckDB in this block as InputError: the file is none of its own, is damaged, or is open elsewhere."""
        with self._file.read_as(_KIND, duckdb.Error), interrupts_as_such():
            try:
                yield
            except (duckdb.IOException, duckdb.BinderException, duckdb.ConnectionException) as error:
                if isinstance(error, duckdb.IOException) and _LOCKED not in str(error):
                    raise
                raise InputError(
                    f"{self.title} is open for writing, in another program or in this one. Close it there first."
                ) from None

    def _attach(self, connection: Any) -> None:
        """Attach the database to a connection, which can reach nothing else from then on."""
        path = str(self._file.path.absolute()).replace("'", "''")
        connection.execute(f"ATTACH '{path}' AS source (READ_ONLY)")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET python_enable_replacements = false")


def is_duckdb(path: Path) -> bool:
    """Whether a file begins as a DuckDB database does."""
    with path.open("rb") as file:
        return file.read(_OFFSET + len(_MARK))[_OFFSET:] == _MARK


def _quoted(name: str) -> str:
    """Return the name of a schema, a table or a column as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'
