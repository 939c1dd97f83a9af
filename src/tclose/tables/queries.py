"""Queries: a DuckDB relation, or an ibis table of any backend, whose chosen columns are read into memory."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import duckdb
import pyarrow as pa

from tclose.errors import InputError
from tclose.jobs import check
from tclose.tables.duckdb import interrupts_as_such
from tclose.tables.input_file import InputFile
from tclose.tables.reader import LoadingReader


def is_query(data: Any) -> bool:
    """Whether a table is a DuckDB relation or an ibis table."""
    return isinstance(data, duckdb.DuckDBPyRelation) or _is_ibis(data)


def _is_ibis(data: Any) -> bool:
    """Whether a table is one of ibis, found out without importing its types."""
    return type(data).__module__.partition(".")[0] == "ibis" and hasattr(data, "to_pyarrow") and hasattr(data, "columns")


class QueryReader(LoadingReader):
    """A DuckDB relation or an ibis table: each time that it is opened its query runs, for the columns that are chosen."""

    file: InputFile | None = None

    def __init__(self, query: Any) -> None:
        """Take a query, of which the columns are known."""
        self._query = query
        self.names = list(query.columns)
        self.title = "The table"

    def read(self, names: Collection[str]) -> pa.Table:
        """Return some columns of the query's result; raise InputError if it fails, without its message, which may quote rows."""
        check()
        try:
            with interrupts_as_such():
                if _is_ibis(self._query):
                    return self._query.select(*names).to_pyarrow()
                return pa.table(self._query.select(*map(duckdb.ColumnExpression, names)))
        except Exception as error:  # noqa: BLE001 - each backend has its own
            raise InputError(
                f"The query of the table failed with {type(error).__name__}. Run it by itself to see why, and mend it."
            ) from None
