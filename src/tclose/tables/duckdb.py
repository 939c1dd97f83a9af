"""DuckDB, the default engine: it reads files in place and tables in memory without a copy."""

from __future__ import annotations

import itertools
import re
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import duckdb
import ibis
import pyarrow as pa

from tclose import jobs
from tclose.errors import InputError
from tclose.policy import Input
from tclose.tables import memory
from tclose.tables.engine import Batches, Opened
from tclose.tables.forms import SAMPLE
from tclose.tables.input_file import InputFile
from tclose.tables.nearly import nearly
from tclose.tables.queried import Queried
from tclose.tables.stored import StoredCounts
from tclose.tables.types import Typed
from tclose.tables.written import Nearly

BELIEVING = (
    "statistics_propagation", "compressed_materialization", "filter_pushdown", "join_filter_pushdown", "row_group_pruner",
    "top_n", "late_materialization",
)  # fmt: skip
"""Optimisers that believe what a file says of its values, as the least and the greatest. They are off: a file can lie, and its
readers would see the values."""


FEW = 50_000
"""A column of text of about this many values at most is stored as an ENUM."""


@dataclass(frozen=True)
class Selection:
    """Some columns of a table, typed, and what DuckDB does not know about them; see `tclose.tables.engine.Opened`."""

    typed: Typed
    categories: dict[str, list[Any]] = field(default_factory=dict)
    codes: set[str] = field(default_factory=set)
    zones: dict[str, str] = field(default_factory=dict)


class Selectable(Protocol):
    """A reader of a table that DuckDB reads: its title begins a sentence about it."""

    title: str
    file: InputFile | None

    def select(self, backend: Any, columns: Mapping[str, str], kinds: Mapping[str, str], given: Input) -> Selection:
        """Return the columns of the table that ``columns`` names, typed by ``kinds``, under the names that DuckDB uses."""


INTERRUPTED = ("Query interrupted", "INTERRUPT", "KeyboardInterrupt")
"""How messages of DuckDB begin after Ctrl-C; the last where it was in the middle of a call of Python's."""


class DuckDB(Queried):
    """An `Engine`: some columns of a table, in a database of their own."""

    def __init__(self, title: str, file: InputFile | None, names: Collection[str]) -> None:
        """Start an empty database for the named columns, in a temporary folder of its own; `open` fills it."""
        super().__init__(names)
        self._title, self._file = title, file
        self._stored = itertools.count()
        spill = tempfile.mkdtemp(prefix="tclose-")  # readable by its owner only; what memory cannot hold goes there
        weakref.finalize(self, shutil.rmtree, spill, ignore_errors=True)
        bounds = memory.budget()
        limits = {} if bounds is None else {"memory_limit": f"{bounds.engine}B", "threads": bounds.threads}
        with interrupts_as_such():
            self._backend = ibis.duckdb.connect(temp_directory=spill, **limits)
            _hide_progress(self._backend.con)
            self._backend.con.execute(f"SET disabled_optimizers = '{','.join(BELIEVING)}'")
        # ibis 12 calls methods that DuckDB 1.5 calls deprecated. The filter stays: one that is taken back would take those of
        # other threads with it.
        warnings.filterwarnings("ignore", "fetch_(arrow_table|record_batch)", DeprecationWarning)

    @classmethod
    def open(cls, reader: Selectable, kinds: Mapping[str, str], given: Input) -> Opened:
        """Return the engine with the columns of a reader's table that ``kinds`` names, and what DuckDB does not know of them."""
        engine = cls(reader.title, reader.file, kinds)
        with engine._asking_safely():
            found = reader.select(engine._backend, engine._columns, kinds, given)
        engine._take(found.typed.rows)
        engine._found = found.typed.found
        return Opened(engine, found.typed.written, found.categories, found.codes, found.zones)

    _found: Any  # the ibis table of the columns as they are written

    def _stream_batches(self, rows: Any, size: int) -> Batches:
        """Yield the batches of a query's result from DuckDB, ``size`` rows at a time."""
        with self._asking_safely():
            yield from rows.to_pyarrow_batches(chunk_size=size)

    def store_counts(self, quasi: Sequence[str], sensitive: Sequence[str], unit: str | None = None) -> StoredCounts:
        """Return what `counts` yields as a table in the database, sorted by the quasi-identifiers; it spills to disk."""
        columns = [self._columns[name] for name in (*quasi, *sensitive)]
        order = ", ".join(f"{self._columns[name]} NULLS LAST" for name in quasi)
        table = f"counted{next(self._stored)}"
        with self._asking_safely():
            rows = self._backend.compile(self._rows.select(*columns, *([] if unit is None else [self._columns[unit]])))
            narrow = [f"CAST({column} AS {column}_values) AS {column}" if column in self._enums else column for column in columns]
            self._backend.con.execute(
                f"CREATE TEMP TABLE {table} AS SELECT {', '.join(columns)}, count(*) AS weight FROM "
                f"(SELECT {', '.join(narrow)} FROM (SELECT {'' if unit is None else 'DISTINCT'} * FROM ({rows}))) "
                f"GROUP BY ALL ORDER BY {order}"
            )
            return StoredCounts(self._backend.table(table), self._columns, self._stream_batches)

    def estimate_number(self, names: Sequence[str]) -> int:
        """Return about how many combinations of values occur in some columns, within some percent, in little memory."""
        columns = ", ".join(self._columns[name] for name in names)
        with self._asking_safely():
            rows = self._backend.compile(self._rows.select(*(self._columns[name] for name in names)))
            found = self._backend.con.execute(f"SELECT approx_count_distinct(hash({columns})) FROM ({rows})").fetchall()
        return int(found[0][0])

    @cached_property
    def _enums(self) -> set[str]:
        """The columns of text of few values; the ENUM of c0 is called c0_values. A cell takes few bytes, and not sixteen."""
        texts = [column for column in self._columns.values() if self._rows[column].type().is_string()]
        if not texts:
            return set()
        (values,) = self._rows.agg(**{text: self._rows[text].approx_nunique() for text in texts}).to_pyarrow().to_pylist()
        few = {text for text in texts if 0 < values[text] <= FEW}
        for text in few:
            rows = self._backend.compile(self._rows.select(text).distinct())
            sorted_values = f"SELECT {text} FROM ({rows}) WHERE {text} IS NOT NULL ORDER BY {text}"
            self._backend.con.execute(f"CREATE TYPE {text}_values AS ENUM ({sorted_values})")
        return few

    def missing(self, name: str) -> tuple[int, int]:
        """Return the number of missing cells of a column, and the row of the first one; (0, 0) if none is missing."""
        missing = self._with_row_numbers(name).filter(ibis._.column.isnull())
        return self._ask_for_pair(missing.agg(count=ibis._.count(), row=ibis._.row.min().fill_null(0)))

    def first(self, name: str, values: pa.Array) -> tuple[int, int]:
        """Return the index of the one of ``values`` that occurs first in a column, and its row."""
        with self._asking_safely():
            self._backend.con.register("wanted", pa.table({"column": values, "index": range(len(values))}))
            wanted = self._with_row_numbers(name).inner_join(self._backend.table("wanted"), "column")
        return self._ask_for_pair(wanted.order_by("row").limit(1).select("index", "row"))

    def nearly(self, name: str) -> Nearly | None:
        """Return what nearly all cells of a column of text are, numbers or dates; None if they are text."""
        cells = self._found.select(cell=self._columns[name])
        with self._asking_safely():
            sample = cells.limit(SAMPLE).to_pyarrow()["cell"].drop_null().to_pylist()
            by_value = cells.mutate(row=ibis.row_number() + 1).group_by("cell").agg(n=ibis._.count(), row=ibis._.row.min())
            return nearly(sample, lambda: by_value)

    def _with_row_numbers(self, name: str) -> Any:
        """Return a query of one column, ``column``, beside the number of its row from 1, ``row``."""
        return self._rows.select(column=self._columns[name]).mutate(row=ibis.row_number() + 1)

    @contextmanager
    def _asking_safely(self) -> Iterator[None]:
        """Run the block's queries so that they stop with their job, and DuckDB's messages, which quote rows, are not shown."""
        stop, job = self._backend.con.interrupt, jobs.current()
        with job.stopping(stop):
            try:
                with interrupts_as_such():
                    yield
                    self._check_unchanged()
            except GeneratorExit:
                stop()  # or it would go on, and be waited for at the end
                raise
            except (KeyboardInterrupt, Exception) as error:
                if isinstance(error, KeyboardInterrupt):
                    stop()
                if job.cancelled:
                    raise jobs.Cancelled("The job was cancelled.") from None
                if isinstance(error, Exception):
                    self._raise_in_one_sentence(error)
                raise

    def _raise_in_one_sentence(self, error: Exception) -> None:
        """Raise an error of DuckDB or Arrow as one of ours, in one sentence that quotes no row."""
        if isinstance(error, duckdb.BinderException | duckdb.ParserException | duckdb.CatalogException):
            self._check_unchanged()
            raise RuntimeError(f"The engine stopped with {type(error).__name__}.") from None  # noqa: TRY004
        ran_out = isinstance(error, duckdb.OutOfMemoryException | duckdb.IOException)
        if ran_out or isinstance(error, OSError | pa.ArrowException):  # a stream of the engine that ended early is an OSError
            self._check_unchanged()
            more = "" if memory.budget() is None else " Give more memory, or leave it out."
            raise InputError(
                f"{self._title} cannot be read to its end: memory or disk ran out, or it has changed.{more}"
            ) from None
        if isinstance(error, duckdb.Error):
            self._check_unchanged()
            raise InputError(f"{self._title} cannot be read to its end. It may be damaged.") from None

    def _check_unchanged(self) -> None:
        """Raise InputError if the file of the table has changed since it was opened."""
        if self._file is not None:
            self._file.check_unchanged()


@contextmanager
def interrupts_as_such() -> Iterator[None]:
    """Raise KeyboardInterrupt for what DuckDB raises in this block after Ctrl-C, which it notices by itself."""
    try:
        yield
    except Exception as error:
        if str(error).startswith(INTERRUPTED):
            raise KeyboardInterrupt from None
        raise


def _hide_progress(engine: duckdb.DuckDBPyConnection) -> None:
    """Turn DuckDB's progress bar off where it is on: it would print between our lines.

    In a notebook kernel without ipywidgets it is off, and the setting cannot be touched at all.
    """
    if engine.execute("SELECT current_setting('enable_progress_bar')").fetchall() == [(True,)]:
        engine.execute("SET enable_progress_bar = false")


# What readers hand over: each function returns an ibis table of the chosen columns ------------------------------------------


def csv_columns(
    backend: Any,
    path: Path,
    names: Sequence[str],
    columns: Mapping[str, str],
    *,
    delimiter: str,
    packing: str | None,
    missing: Collection[int],
) -> Any:
    """Return some columns of a CSV file as an ibis table of text.

    Parameters
    ----------
    names
        All columns of the file.
    columns
        DuckDB's name for each chosen column.
    packing
        "gzip" or "zstd", if the file is packed.
    missing
        The indices of columns in which an empty text in quotes is missing. Without quotes it is in all columns.
    """
    texts = ", ".join(f"'f{index}': 'VARCHAR'" for index in range(len(names)))
    source = (
        f"read_csv({_sql_path(path)}, columns={{{texts}}}, delim='{delimiter}', quote='\"', escape='\"', header=false, skip=1, "
        f"compression='{packing or 'none'}', auto_detect=false, strict_mode=true, null_padding=false, allow_quoted_nulls=false, "
        "hive_partitioning=false)"
    )
    return view_of_columns(backend, source, names, columns, missing)


def parquet_columns(backend: Any, paths: Sequence[Path], names: Sequence[str], columns: Mapping[str, str]) -> Any:
    """Return some columns of Parquet files, one after the other, as an ibis table; ``names`` are all columns of each."""
    files = ", ".join(map(_sql_path, paths))
    return view_of_columns(backend, f"read_parquet([{files}], hive_partitioning=false)", names, columns)


def arrow_columns(backend: Any, table: pa.Table, columns: Mapping[str, str]) -> Any:
    """Return the columns of an Arrow table as an ibis table, without a copy; ``columns`` gives DuckDB's names for them."""
    backend.con.execute("DROP VIEW IF EXISTS input")
    backend.con.register("input", table.rename_columns(list(columns.values())))
    return backend.table("input")


def view_of_columns(
    backend: Any, source: str, names: Sequence[str], columns: Mapping[str, str], missing: Collection[int] = ()
) -> Any:
    """Return some columns of a source in SQL as an ibis table, by index: DuckDB would fold names that differ in case only.

    It is a view, for ibis would parse and copy the names of all columns with every question.
    """
    aliases = ", ".join(f"f{index}" for index in range(len(names)))
    cells = {name: f"nullif(f{index}, '')" if index in missing else f"f{index}" for index, name in enumerate(names)}
    chosen = ", ".join(f"{cells[name]} AS {column}" for name, column in columns.items())
    backend.con.execute(f"CREATE TEMP VIEW input AS SELECT {chosen} FROM {source} AS t({aliases})")
    return backend.table("input")


def _sql_path(path: Path) -> str:
    """Return a path as DuckDB's SQL writes it: in quotes, with stars and brackets that are no pattern."""
    return "'" + re.sub(r"([\[*?])", r"[\1]", str(path.absolute())).replace("'", "''") + "'"
