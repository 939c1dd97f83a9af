"""Queried tables: an engine whose questions are written once, as ibis expressions; who runs them is left open.

Columns are called c0, c1, ... in an engine: users' names may differ in case only, contain quotes, or look like SQL.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import ibis
import pyarrow as pa

from tclose.tables.engine import Batches
from tclose.tables.types import kind_of

CELLS = 1_000_000
"""Counted combinations taken from an engine at a time."""

ROWS = 200_000
"""Rows taken from an engine at a time: two such batches are in memory as text, all others as codes."""


class Queried(ABC):
    """What every `Engine` that runs ibis expressions has in common."""

    kinds: Mapping[str, str]
    _rows: Any  # the ibis table of the columns in their types

    def __init__(self, names: Collection[str]) -> None:
        """Name the columns as the engine does."""
        self._columns = {name: f"c{index}" for index, name in enumerate(names)}

    def _take(self, rows: Any) -> None:
        """Take the ibis table of the columns in their types."""
        self._rows = rows
        self.kinds = {name: kind_of(rows[column].type()) for name, column in self._columns.items()}

    @abstractmethod
    def _stream_batches(self, rows: Any, size: int) -> Batches:
        """Yield the batches of a query's result, about ``size`` rows at a time."""

    def counts(self, names: Sequence[str], unit: str | None = None) -> Batches:
        """Yield the combinations of values that occur in some columns, and last their numbers of rows; see `Engine.counts`."""
        by = [self._columns[name] for name in names]
        rows = self._rows.select(*by, *([] if unit is None else [self._columns[unit]]))
        return self._stream_batches((rows if unit is None else rows.distinct()).group_by(by).agg(weight=ibis._.count()), CELLS)

    def rows(self, names: Sequence[str]) -> Batches:
        """Yield all rows of some columns, in the order of the table, some at a time."""
        return self._stream_batches(self._rows.select(*(self._columns[name] for name in names)), ROWS)

    def column(self, name: str) -> pa.ChunkedArray:
        """Return all cells of a column, in the order of the rows."""
        chunks = [batch.column(0) for batch in self.rows([name])]  # ibis would give times of day another type than in rows
        return pa.chunked_array(chunks, None if chunks else pa.null())

    def distinct(self, name: str) -> tuple[int, int]:
        """Return the number of cells of a column that have a value, and the number of distinct values."""
        column = self._rows[self._columns[name]]
        return self._ask_for_pair(self._rows.agg(cells=column.count(), values=column.nunique()))

    def most(self, name: str) -> int:
        """Return the largest number of rows that have one value of a column; 0 if none has a value."""
        rows = self._rows.select(value=self._columns[name]).drop_null()
        counts = rows.group_by("value").agg(cells=rows.count())
        return self._ask_for_pair(counts.agg(most=counts.cells.max().fill_null(0), values=counts.count()))[0]

    def _ask_for_pair(self, question: Any) -> tuple[int, int]:
        """Return the two numbers in the only row of a query's result."""
        (batch,) = [batch for batch in self._stream_batches(question, 1) if batch.num_rows]
        one, other = batch.to_pylist()[0].values()
        return one, other
