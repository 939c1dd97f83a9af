"""Engines: what is asked of the columns of a table, wherever its rows lie.

`tclose.tables.duckdb` is the default engine. Another one implements `Engine`, and has a reader (see `tclose.tables.readers`) that
opens it. An engine answers in Arrow and decides nothing: what its answers mean is said once, in `tclose.tables.table`.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa

from tclose.tables.written import Nearly, Written

Batches = Generator[pa.RecordBatch, None, None]
"""Rows, some at a time; to close it before its end stops the query."""


class Engine(Protocol):
    """Some columns of a table, each of one type, and the questions that are asked of them.

    Rows are numbered from 1, in the order of the table. A cell is missing where it has no value; NaN is missing too, and -0.0
    is 0.0. No two texts that differ are equal.

    Attributes
    ----------
    kinds : mapping
        By column "integer", "decimal", "float", "date", "timestamp", "time", "boolean" or "text".
    """

    kinds: Mapping[str, str]

    def counts(self, names: Sequence[str], unit: str | None = None) -> Batches:
        """Yield batches of the combinations of values that occur in some columns, and the number of rows with each.

        Batches have a column for each name, and last the number of rows with that combination; with a ``unit`` the number of its
        distinct values among those rows, where missing is a value. Each combination comes once, in any order.
        """

    def rows(self, names: Sequence[str]) -> Batches:
        """Yield all rows of some columns, in the order of the table, some at a time."""

    def column(self, name: str) -> pa.ChunkedArray:
        """Return all cells of a column, in the order of the rows, in the type that the engine has for it."""

    def distinct(self, name: str) -> tuple[int, int]:
        """Return the number of cells of a column that have a value, and the number of distinct values."""

    def most(self, name: str) -> int:
        """Return the largest number of rows that have one value of a column; 0 if none has a value."""

    def missing(self, name: str) -> tuple[int, int]:
        """Return the number of missing cells of a column, and the row of the first one; (0, 0) if none is missing."""

    def first(self, name: str, values: pa.Array) -> tuple[int, int]:
        """Return the index of the one of ``values`` that occurs first in a column, and its row.

        The values are distinct, of the column's type, none is missing, and one occurs at least.
        """

    def nearly(self, name: str) -> Nearly | None:
        """Return what nearly all cells of a column of text are, numbers or dates; None if they are text."""


@dataclass(frozen=True)
class Opened:
    """Some columns in an engine, and what the engine does not know about them.

    Attributes
    ----------
    engine : Engine
    written : Written
    categories : dict
        The categories of ordered columns, from least to greatest. To the engine a cell is its index among them.
    codes : set of str
        The columns of categories without an order that are not text: 1, 2, 3 for the marital status.
    zones : dict
        The time zone of columns of timestamps that have one. To the engine their cells are in UTC.
    """

    engine: Engine
    written: Written = field(default_factory=Written)
    categories: dict[str, list[Any]] = field(default_factory=dict)
    codes: set[str] = field(default_factory=set)
    zones: dict[str, str] = field(default_factory=dict)
