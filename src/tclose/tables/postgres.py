"""PostgreSQL: a table or a view that is read where it is, through ibis. Only counts come home in an audit.

All questions are asked of one snapshot, in one transaction that can only read. Who may connect, and by which password, is the
business of PostgreSQL's own library: a password in the address would be seen in histories and lists of processes.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import ibis
import pyarrow as pa

from tclose import extras
from tclose.errors import ColumnError, InputError, listed, nearest
from tclose.tables.locations import MARK, SCHEMES, split_address
from tclose.tables.remote import RemoteReader

_TABLES = """
SELECT n.nspname, c.relname, c.oid, pg_table_is_visible(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_'
  AND has_schema_privilege(n.oid, 'USAGE') ORDER BY 1, 2
"""

_COLUMNS = """
SELECT a.attname, b.typname, b.typtype FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
JOIN pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
"""The columns of a table and their types; of a domain the type below it."""

_TYPES = {
    "int2": "int16", "int4": "int32", "int8": "int64", "float4": "float32", "float8": "float64", "bool": "boolean",
    "date": "date", "time": "time", "timestamp": "timestamp(6)", "timestamptz": "timestamp('UTC', 6)",
}  # fmt: skip
"""ibis' name for each type that is read as it is."""

_TEXTS = ("text", "varchar", "bpchar", "name", "citext", "uuid")

_ENUM = "e"


def is_address(data: Any) -> bool:
    """Whether a table is given by the address of a database: ``postgresql://me@host/clinic::patients``."""
    return isinstance(data, str) and data.startswith(SCHEMES)


class PostgresReader(RemoteReader):
    """A table or a view of a PostgreSQL database."""

    def __init__(self, data: str) -> None:
        """Connect, find the table, and read the names and types of its columns."""
        address, part = split_address(data)
        _check_without_password(address)
        psycopg = extras.load("psycopg")
        try:
            self._connection = psycopg.connect(address, autocommit=False)
        except psycopg.Error:  # its message may quote the address
            raise InputError(
                "The database cannot be reached. Check host, port, database and user of the address, and that a password is in "
                "PGPASSWORD or in ~/.pgpass."
            ) from None
        weakref.finalize(self, self._connection.close)
        self._connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        self._connection.read_only = True
        found = {
            (name if visible else f"{schema}.{name}"): (schema, name, oid)
            for schema, name, oid, visible in self._connection.execute(_TABLES)
        }
        part = _choose(part, list(found))
        schema, name, oid = found[part]
        self._source = f"{_quoted(schema)}.{_quoted(name)}"
        self.title = f"Table {part!r}"
        self._types = {column: (kind, sort) for column, kind, sort in self._connection.execute(_COLUMNS, [oid])}
        self.names = list(self._types)
        self._backend = ibis.postgres.from_connection(self._connection)

    def select(self, columns: Mapping[str, str]) -> Any:
        """Return some columns as an ibis table; text is compared by its bytes, whatever the collation of the column."""
        cells, schema = [], {}
        for name, column in columns.items():
            cell, schema[column] = self._typed(name)
            cells.append(f"{cell} AS {column}")
        return self._backend.sql(f"SELECT {', '.join(cells)} FROM {self._source}", schema=ibis.schema(schema))

    def _typed(self, name: str) -> tuple[str, str]:
        """Return a column in SQL and its ibis type; raise ColumnError if its cells are not single values to compare."""
        kind, sort = self._types[name]
        cell = _quoted(name)
        if kind in _TEXTS or sort == _ENUM:
            return f'CAST({cell} AS text) COLLATE "C"', "string"
        if kind == "numeric":
            digits = self._digits(cell)
            return f"CAST(NULLIF({cell}, 'NaN') AS numeric(38, {digits}))", f"decimal(38, {digits})"
        if kind not in _TYPES:
            raise ColumnError(f"Column {name!r} holds {kind}, which cannot take a role. Use numbers, dates, times or text.")
        return cell, _TYPES[kind]

    def _digits(self, cell: str) -> int:
        """Return the most digits after the point that a cell of a numeric column has."""
        row = self._connection.execute(f"SELECT max(scale({cell})) FROM {self._source}").fetchone()
        return (row and row[0]) or 0

    def run(self, query: Any, size: int) -> Iterator[pa.RecordBatch]:
        """Yield the result of an ibis expression, ``size`` rows at a time."""
        yield from self._backend.to_pyarrow_batches(query, chunk_size=size)

    def stop(self) -> None:
        """Stop the query that is running."""
        self._connection.cancel()


def _check_without_password(address: str) -> None:
    """Raise InputError for an address that has a password in it, or cannot be parsed."""
    try:
        parts = urlsplit(address)
        password = parts.password is not None or any(key.endswith("password") for key, _ in parse_qsl(parts.query))
    except ValueError:
        raise InputError("The address of the database cannot be read. Write it as postgresql://USER@HOST/DATABASE.") from None
    if password:
        raise InputError(
            "The address of the database has a password in it, which others could see. Leave it out, and put the password in "
            "PGPASSWORD or in ~/.pgpass."
        )


def _choose(part: str, names: list[str]) -> str:
    """Return the table to read, of those that a database has; raise InputError if it is not there, or not clear which."""
    if not part:
        raise InputError(f"Name a table of the database, with --table or behind {MARK}. It has {listed(names) or 'none'}.")
    if part not in names:
        raise InputError(f"The database has no table {part!r}.{nearest(part, names) or f' It has {listed(names)}.'}")
    return part


def _quoted(name: str) -> str:
    """Return the name of a schema, a table or a column as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'
