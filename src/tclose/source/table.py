"""Any table as one ibis expression, and its histograms. The only room that knows ibis and DuckDB.

Columns are called c0, c1, ... inside the engine: users' names may differ in case only, hold quotes, or look like SQL.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tclose.errors import ColumnError, InputError, nearest
from tclose.histograms import Histograms
from tclose.source.readers import open_reader
from tclose.source.typing import kind_of

CHUNK = 1_000_000
"""Histogram cells taken from the engine at a time."""


class Table:
    """Some columns of a table, in an engine.

    Attributes
    ----------
    names : list of str
        All columns of the table, as their owner calls them.
    kinds : dict
        "integer", "decimal", "float", "date", "timestamp", "time", "boolean", "category" (ordered) or "text", by column.
    """

    def __init__(self, data: Any, needed: Mapping[str, str], optional: Sequence[str] = ()) -> None:
        """Open a table.

        Parameters
        ----------
        data
            A path (CSV, Parquet, Arrow) or a table in memory.
        needed
            The columns to open, each with the type to read it as; see `tclose.source.typing`.
        optional
            Columns to open where the table has them; any type.
        """
        self._reader = open_reader(data)
        self.names = self._reader.names
        _check_names(self.names, needed)
        kinds = {**dict.fromkeys((name for name in optional if name in self.names), "text"), **needed}
        self._columns = {name: f"c{place}" for place, name in enumerate(kinds)}
        self._engine = ibis.duckdb.connect(temp_directory=str(Path(tempfile.gettempdir()) / "tclose-spill"))
        with self._speaking():
            self._expression, self._categories = self._reader.select(self._engine, self._columns, kinds)
        self.kinds = {
            name: "category" if name in self._categories else kind_of(self._expression[column].type())
            for name, column in self._columns.items()
        }

    def __contains__(self, name: str) -> bool:
        """Whether a column is open."""
        return name in self._columns

    def classes(self, quasi: Sequence[str], sensitive: Sequence[str]) -> Classes:
        """The classes of rows that agree on all quasi-identifiers, numbered by their sorted values, missing last."""
        by = [self._columns[name] for name in quasi]
        counted = [self._columns[name] for name in sensitive]
        with self._speaking():
            cells = self._expression.group_by([*by, *counted]).agg(weight=ibis._.count())
            stored = self._engine.create_table("cells", self._numbered(cells, by), temp=True)
        return Classes(self, stored, quasi, sensitive)

    def persons(self, unit: str, quasi: Sequence[str]) -> NDArray[np.int64]:
        """The number of distinct persons in each class; a missing name counts as one person."""
        by = [self._columns[name] for name in quasi]
        with self._speaking():
            counted = self._expression.select(*by, self._columns[unit]).distinct().group_by(by).agg(weight=ibis._.count())
            column = self._numbered(counted, by).order_by("class").select("weight").to_pyarrow().column(0)
        result: NDArray[np.int64] = column.to_numpy().astype(np.int64)
        return result

    def person_classes(self, unit: str, quasi: Sequence[str], sensitive: str) -> Classes:
        """The classes with distinct persons counted at each sensitive value, instead of rows."""
        by, at = [self._columns[name] for name in quasi], self._columns[sensitive]
        with self._speaking():
            pairs = self._expression.select(*by, at, self._columns[unit]).distinct()
            cells = self._numbered(pairs.group_by([*by, at]).agg(weight=ibis._.count()), by)
            stored = self._engine.create_table(f"persons at {at}", cells, temp=True)
        return Classes(self, stored, quasi, [sensitive])

    def named(self, name: str) -> tuple[int, int]:
        """How many rows have a value in a column, and how many different values that are."""
        column = self._expression[self._columns[name]]
        with self._speaking():
            found = self._expression.agg(rows=column.count(), values=column.nunique()).to_pyarrow()
        return found["rows"][0].as_py(), found["values"][0].as_py()

    def missing(self, name: str) -> tuple[int, int]:
        """How many cells of a column are missing, and the row of the first, from 1."""
        rows = self._expression.select(column=self._columns[name]).mutate(row=ibis.row_number() + 1)
        with self._speaking():
            found = rows.filter(ibis._.column.isnull()).agg(count=ibis._.count(), row=ibis._.row.min()).to_pyarrow()
        return found["count"][0].as_py(), found["row"][0].as_py()

    def first(self, name: str, values: pa.Array) -> tuple[Any, int]:
        """Which of these values comes first in a column, and its row, from 1."""
        rows = self._expression.select(column=self._columns[name]).mutate(row=ibis.row_number() + 1)
        with self._speaking():
            self._engine.con.register("wanted", pa.table({"column": values}))
            found = rows.semi_join(self._engine.table("wanted"), "column").order_by("row").limit(1).to_pyarrow()
        value, row = (found[part][0].as_py() for part in ("column", "row"))
        return (self._categories[name][value] if name in self._categories else value), row

    def numbers(self, column: Any) -> list[Any]:
        """Cells as numbers: dates and times by their distance from a beginning."""
        kind = column.type
        if pa.types.is_temporal(kind):
            column = column.cast(pa.int32() if kind.bit_width == 32 else pa.int64()).cast(pa.int64())
        cells: list[Any] = column.to_pylist()
        return cells

    def values(self, name: str, column: Any) -> list[Any]:
        """Cells of a column as its owner knows them: categories by their names."""
        cells = column.to_pylist()
        categories = self._categories.get(name)
        return cells if categories is None else [None if cell is None else categories[cell] for cell in cells]

    def _numbered(self, cells: Any, by: Sequence[str]) -> Any:
        order = [cells[column].asc(nulls_first=False) for column in by]
        return cells.mutate(**{"class": ibis.dense_rank().over(order_by=order)})

    @contextmanager
    def _speaking(self) -> Iterator[None]:
        """The engine's messages quote rows of the table: they are never passed on."""
        try:
            yield
        except (duckdb.InterruptException, RuntimeError) as error:
            if str(error).startswith(("Query interrupted", "INTERRUPT")):
                raise KeyboardInterrupt from None
            raise
        except duckdb.Error as error:
            title, complaint = self._reader.title, self._reader.complaint()
            if complaint:
                raise InputError(f"{title} {complaint}.") from None
            if isinstance(error, duckdb.OutOfMemoryException | duckdb.IOException):
                raise InputError(f"{title} cannot be read to its end: memory or disk ran out, or it has changed.") from None
            if isinstance(error, duckdb.BinderException | duckdb.ParserException | duckdb.CatalogException):
                raise RuntimeError(f"The engine stopped with {type(error).__name__}.") from None  # noqa: TRY004
            raise InputError(f"{title} cannot be read to its end. It may be damaged.") from None


class Classes:
    """The classes of a table, counted by the engine."""

    def __init__(self, table: Table, cells: Any, quasi: Sequence[str], sensitive: Sequence[str]) -> None:
        """Cells: class, quasi-identifiers, sensitive values, count."""
        self._table, self._cells = table, cells
        self._quasi, self._sensitive = quasi, sensitive

    def domain(self, sensitive: str) -> tuple[pa.Array, NDArray[np.int64]]:
        """The values of a column, ascending, missing last, and how often each occurs."""
        at = self._table._columns[sensitive]
        with self._table._speaking():
            counts = self._cells.group_by(value=at).agg(weight=ibis._.weight.sum())
            found = counts.order_by(ibis._.value.asc(nulls_first=False)).to_pyarrow()
        if not found.num_rows:
            raise InputError(f"{self._table._reader.title} has no rows. There is nothing to measure.")
        return found["value"].combine_chunks(), found["weight"].to_numpy().astype(np.int64)

    def histograms(
        self, sensitive: str, domain: pa.Array, codes: NDArray[np.int64], table: NDArray[np.int64]
    ) -> Iterator[Histograms]:
        """The histograms of a column, some classes at a time.

        Parameters
        ----------
        domain
            The column's values, as `domain` gave them.
        codes : (m,) int64
            The code of each value of the domain.
        table : (m,) int64
            How often each code occurs in the table.
        """
        at = self._table._columns[sensitive]
        sums = self._cells.group_by(["class", at]).agg(weight=ibis._.weight.sum())
        ordered = sums.order_by("class").select("class", "weight", value=at)
        waiting = np.empty((3, 0), dtype=np.int64)
        first = 0
        with self._table._speaking():
            for batch in ordered.to_pyarrow_batches(chunk_size=CHUNK):
                if not batch.num_rows:
                    continue
                value_codes = codes[pc.index_in(batch.column("value"), value_set=domain).to_numpy()]
                counts = batch.column("weight").cast(pa.int64())  # the engine sums in 128 bits
                cells = np.stack([batch.column("class").to_numpy(), value_codes, counts.to_numpy()])
                waiting = np.concatenate([waiting, cells], axis=1)
                complete = np.searchsorted(waiting[0], waiting[0, -1])  # the last class may go on in the next batch
                if complete:
                    yield _histograms(waiting[:, :complete], table, first)
                    first, waiting = int(waiting[0, -1]), waiting[:, complete:]
        yield _histograms(waiting, table, first)

    def quasi_values(self) -> pa.Table:
        """The quasi-identifiers' values of each class, in the order of the classes."""
        table = self._table
        columns = [table._columns[name] for name in self._quasi]
        with table._speaking():
            found = self._cells.select("class", *columns).distinct().order_by("class").to_pyarrow()
        arrays = {
            name: pa.array(table.values(name, found[column]), from_pandas=False) if name in table._categories else found[column]
            for name, column in zip(self._quasi, columns, strict=True)
        }
        return pa.table(list(arrays.values()), names=list(arrays))


def _histograms(cells: NDArray[np.int64], table: NDArray[np.int64], first: int) -> Histograms:
    """Cells in the order of their classes, as histograms."""
    numbers, codes, counts = cells[:, np.argsort(cells[0] * len(table) + cells[1], kind="stable")]
    starts = np.flatnonzero(np.diff(numbers, prepend=-1, append=numbers[-1] + 1))
    return Histograms(starts, codes, counts, table, first)


def _check_names(names: Sequence[str], needed: Mapping[str, str]) -> None:
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise ColumnError(f"Two columns are called {twice!r}. Rename one of them.")
    for name in needed:
        if name not in names:
            raise ColumnError(f"Column {name!r} is not in the table.{nearest(name, list(names))}")
