"""Stored counts: counted combinations that stay in a table of the engine, which spills to disk what memory does not hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tclose.tables.engine import Batches
from tclose.tables.queried import CELLS


class StoredCounts:
    """The combinations of values that occur in some columns, with their numbers of rows, sorted by the quasi-identifiers."""

    def __init__(self, table: Any, columns: Mapping[str, str], stream: Callable[[Any, int], Batches]) -> None:
        """Take the ibis table of the combinations, the engine's names of their columns, and a function that runs a query."""
        self._table, self._columns, self._stream = table, columns, stream

    def counts(self, names: Sequence[str]) -> Batches:
        """Yield the combinations of values that occur in some of the columns, and last their numbers of rows, in any order."""
        found = self._table.group_by([self._columns[name] for name in names]).agg(weight=self._table.weight.sum())
        return self._stream(found, CELLS)

    def number(self, names: Sequence[str]) -> int:
        """Return how many combinations of values occur in some of the columns."""
        found = self._table.select([self._columns[name] for name in names]).distinct().count().as_table()
        return int(sum(batch.column(0)[0].as_py() for batch in self._stream(found, 1)))

    def in_order(self, size: int) -> Batches:
        """Yield all combinations, sorted by the quasi-identifiers, missing last, about ``size`` of them at a time."""
        return self._stream(self._table, size)
