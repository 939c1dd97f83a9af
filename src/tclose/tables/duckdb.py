"""Any table as one ibis expression, and what an audit asks of it. This folder is the only room that knows ibis and DuckDB.

Columns are called c0, c1, ... inside the engine: users' names may differ in case only, hold quotes, or look like SQL.
"""

from __future__ import annotations

import shutil
import tempfile
import warnings
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import duckdb
import ibis
import pyarrow as pa

from tclose.errors import ColumnError, InputError
from tclose.policy import Input
from tclose.tables.coded import Codes, coded
from tclose.tables.counted import Cells
from tclose.tables.input_file import MOST_COLUMNS
from tclose.tables.readers import CsvReader, Reader, absent
from tclose.tables.readings import Reading, reading
from tclose.tables.types import kind_of
from tclose.values.hierarchy import printed

BATCH = 1_000_000
"""Cells taken from the engine at a time."""

BELIEVING = (
    "statistics_propagation", "compressed_materialization", "filter_pushdown", "join_filter_pushdown", "row_group_pruner",
    "top_n", "late_materialization",
)  # fmt: skip
"""What the engine does only because a file says something of its values, as the least and the greatest. A file can lie, and its
readers would see the values."""

ROWS = 200_000
"""Rows taken from the engine at a time: two such batches are in memory as text, all others as codes."""


class Table:
    """Some columns of a table, in an engine.

    Attributes
    ----------
    names : list of str
        All columns of the table, as their owner calls them.
    kinds : dict
        "integer", "decimal", "float", "date", "timestamp", "time", "boolean", "category" (ordered), "codes" (categories without
        an order that are numbers or dates) or "text", by column.
    moments : dict
        How the timestamps of a column are written, where they were text.
    """

    def __init__(
        self, reader: Reader, needed: Mapping[str, str], optional: Sequence[str] = (), given: Input | None = None
    ) -> None:
        """Open a table.

        Parameters
        ----------
        reader
            Of a path or of a table in memory.
        needed
            The columns to open, each with the type to read it as; see `tclose.tables.types`.
        optional
            Columns to open where the table has them; any type.
        given
            How the cells are written, as far as the policy says.
        """
        self._reader = reader
        self.names = self._reader.names
        _check_names(reader, needed)
        kinds = {**dict.fromkeys((name for name in optional if name in self.names), "text"), **needed}
        self._columns = {name: f"c{place}" for place, name in enumerate(kinds)}
        spill = tempfile.mkdtemp(prefix="tclose-")  # readable by its owner only; what memory cannot hold goes there
        weakref.finalize(self, shutil.rmtree, spill, ignore_errors=True)
        self._engine = ibis.duckdb.connect(temp_directory=spill)
        _hide_progress(self._engine.con)
        self._engine.con.execute(f"SET disabled_optimizers = '{','.join(BELIEVING)}'")
        with self._silenced():
            found = self._reader.select(self._engine, self._columns, kinds, given or Input())
        self._given, self._asked, self._typed = given or Input(), kinds, found.typed
        self._expression, self._categories = found.typed.rows, found.categories
        self.moments = {name: form for name, form in found.typed.forms.moments.items() if name in found.typed.guessed}
        clocks = {name: form.timezone for name, form in self.moments.items()}
        self._zones = {**found.zones, **{name: zone for name, zone in clocks.items() if zone is not None}}
        self.kinds = {
            name: "category"
            if name in found.categories
            else "codes"
            if name in found.codes
            else kind_of(self._expression[column].type())
            for name, column in self._columns.items()
        }

    def __contains__(self, name: str) -> bool:
        """Whether a column is open."""
        return name in self._columns

    def readings(self, names: Sequence[str], decided: Collection[str] = ()) -> dict[str, Reading]:
        """How some columns were read, and what kept one that is nearly numbers or dates from being so.

        Of those that are decided the policy says how they are taken: they are not in doubt.
        """
        csv = isinstance(self._reader, CsvReader)
        with self._silenced():
            found = {
                name: reading(name, self._columns[name], self.kinds[name], self._asked[name], self._typed, self._given, csv=csv)
                for name in names
            }
        return {name: found[name].settled() if name in decided else found[name] for name in names}

    def cells(self, quasi: Sequence[str], sensitive: Sequence[str], unit: str | None = None) -> Cells:
        """The combinations of these columns that occur, with the number of their rows; of their distinct persons, with a unit.

        A missing name counts as one person.
        """
        by = [self._columns[name] for name in (*quasi, *sensitive)]
        rows = self._expression.select(*by, *([] if unit is None else [self._columns[unit]]))
        counted = (rows if unit is None else rows.distinct()).group_by(by).agg(weight=ibis._.count())
        with self._silenced():
            cells = Cells(counted.to_pyarrow_batches(chunk_size=BATCH), quasi, sensitive)
        if not len(cells):
            raise InputError(f"{self._reader.title} has no rows. There is nothing to measure.")
        if unit is None:
            self._check_rows(int(cells.sizes.sum()))
        return cells

    def rows(self, names: Sequence[str]) -> list[tuple[pa.Array, Codes]]:
        """For each of these columns its values, ascending, missing last, and each row's place among them."""
        chosen = self._expression.select(*(self._columns[name] for name in names))
        with self._silenced():
            columns = coded(chosen.to_pyarrow_batches(chunk_size=ROWS), len(names))
        if not len(columns[0][1]):
            raise InputError(f"{self._reader.title} has no rows. There is nothing to release.")
        self._check_rows(len(columns[0][1]))
        return columns

    def _check_rows(self, found: int) -> None:
        """The engine must find as many rows as there are: a second count of them."""
        if self._reader.rows not in (None, found):
            raise InputError(
                f"{self._reader.title} was read as {found:,} rows, and has {self._reader.rows:,}. It may be damaged."
            )

    def column(self, name: str) -> pa.ChunkedArray:
        """A column, in the order of the rows."""
        with self._silenced():
            return self._expression.select(column=self._columns[name]).to_pyarrow()["column"]

    def count_values(self, name: str) -> tuple[int, int]:
        """How many rows have a value in a column, and how many different values that are."""
        column = self._expression[self._columns[name]]
        with self._silenced():
            found = self._expression.agg(rows=column.count(), values=column.nunique()).to_pyarrow()
        return found["rows"][0].as_py(), found["values"][0].as_py()

    def missing(self, name: str) -> tuple[int, int]:
        """How many cells of a column are missing, and the row of the first, from 1."""
        rows = self._expression.select(column=self._columns[name]).mutate(row=ibis.row_number() + 1)
        with self._silenced():
            found = rows.filter(ibis._.column.isnull()).agg(count=ibis._.count(), row=ibis._.row.min()).to_pyarrow()
        return found["count"][0].as_py(), found["row"][0].as_py()

    def first(self, name: str, values: pa.Array) -> tuple[Any, int]:
        """Which of these values comes first in a column, and its row, from 1."""
        rows = self._expression.select(column=self._columns[name]).mutate(row=ibis.row_number() + 1)
        with self._silenced():
            self._engine.con.register("wanted", pa.table({"column": values}))
            found = rows.semi_join(self._engine.table("wanted"), "column").order_by("row").limit(1).to_pyarrow()
        return self.values(name, found["column"].combine_chunks())[0].as_py(), found["row"][0].as_py()

    def show(self, name: str, *, suppression: bool = False) -> Callable[[Any], str]:
        """How a value of a column is printed: timestamps in the form of the file, decimals with their digits.

        Under suppression decimals are printed as short as they can be: digits that only a suppressed row has must not show.
        """
        if name in self.moments:
            return self.moments[name].text
        digits = None if suppression else self._typed.digits.get(name)
        return printed if digits is None else partial(_with_digits, digits)

    def numbers(self, cells: pa.Array) -> pa.Array:
        """Cells as numbers: dates and times by their distance from a beginning."""
        if pa.types.is_float32(cells.type):
            return pa.array([float(str(cell)) for cell in cells.to_numpy()])  # the decimal that the user sees
        if not pa.types.is_temporal(cells.type):
            return cells
        return cells.cast(pa.int32() if cells.type.bit_width == 32 else pa.int64())

    def values(self, name: str, cells: pa.Array) -> pa.Array:
        """Cells of a column as its owner knows them: ordered categories by their names, timestamps in their time zone."""
        if name in self._categories:
            return pa.array(self._categories[name]).take(cells)
        return cells.cast(pa.timestamp(cells.type.unit, self._zones[name])) if name in self._zones else cells

    @contextmanager
    def _silenced(self) -> Iterator[None]:
        """The engine's messages quote rows of the table: they are never passed on."""
        try:
            with warnings.catch_warnings():
                # ibis 12 calls methods that DuckDB 1.5 calls deprecated; no caller of ours can mend that.
                warnings.filterwarnings("ignore", "fetch_(arrow_table|record_batch)", DeprecationWarning)
                yield
            self._check_unchanged()
        except KeyboardInterrupt:
            self._engine.con.interrupt()  # or it would go on, and be waited for at the end
            raise
        except (duckdb.InterruptException, RuntimeError) as error:
            if str(error).startswith(("Query interrupted", "INTERRUPT")):
                self._engine.con.interrupt()
                raise KeyboardInterrupt from None
            raise
        except duckdb.Error as error:
            self._check_unchanged()
            title = self._reader.title
            if isinstance(error, duckdb.OutOfMemoryException | duckdb.IOException):
                raise InputError(f"{title} cannot be read to its end: memory or disk ran out, or it has changed.") from None
            if isinstance(error, duckdb.BinderException | duckdb.ParserException | duckdb.CatalogException):
                raise RuntimeError(f"The engine stopped with {type(error).__name__}.") from None  # noqa: TRY004
            raise InputError(f"{title} cannot be read to its end. It may be damaged.") from None
        except (OSError, pa.ArrowException):  # a stream of the engine that ended early, with the engine's message
            self._check_unchanged()
            raise InputError(
                f"{self._reader.title} cannot be read to its end: memory or disk ran out, or it has changed."
            ) from None

    def _check_unchanged(self) -> None:
        if self._reader.file is not None:
            self._reader.file.check_unchanged()


def _hide_progress(engine: duckdb.DuckDBPyConnection) -> None:
    """Turn the engine's progress bar off where it is on: it would print between our lines.

    In a notebook kernel without ipywidgets it is off, and the setting cannot be touched at all.
    """
    if engine.execute("SELECT current_setting('enable_progress_bar')").fetchall() == [(True,)]:
        engine.execute("SET enable_progress_bar = false")


def _with_digits(digits: int, value: Any) -> str:
    """A number with so many decimals, unless it has more."""
    short = printed(value)
    return short if len(short.partition(".")[2]) > digits else f"{value:.{digits}f}"


def _check_names(reader: Reader, needed: Mapping[str, str]) -> None:
    if len(reader.names) > MOST_COLUMNS:
        raise InputError(
            f"{reader.title} has {len(reader.names):,} columns. At most {MOST_COLUMNS:,} can be read; save it with fewer."
        )
    known: set[str] = set()
    for name in reader.names:
        if name in known:
            raise ColumnError(f"Two columns are called {name!r}. Rename one of them.")
        known.add(name)
    for name in needed:
        if name not in known:
            raise absent(reader, name)
