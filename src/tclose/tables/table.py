"""A table that is open: some of its columns in an engine, and what the rest of tclose asks of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tclose.errors import ColumnError, InputError
from tclose.policy import Input
from tclose.tables import memory
from tclose.tables.coded import Codes, coded
from tclose.tables.counted import Cells
from tclose.tables.duckdb import DuckDB
from tclose.tables.engine import Opened
from tclose.tables.input_file import MOST_COLUMNS
from tclose.tables.reader import Reader
from tclose.tables.readers import IN_PLACE, CsvReader, absent
from tclose.tables.readings import Reading, reading
from tclose.tables.spilled import spilled_cells
from tclose.values.hierarchy import printed

if TYPE_CHECKING:
    from tclose.tables.spark_people import SparkPeople
    from tclose.tables.spark_rows import SparkRows


def open_table(reader: Reader, needed: Mapping[str, str], optional: Sequence[str] = (), given: Input | None = None) -> Table:
    """Return some columns of a table, open in the engine of its reader.

    Parameters
    ----------
    reader
        See `tclose.tables.readers.open_reader`.
    needed
        The columns to open, each with the type to read it as; see `tclose.tables.types`.
    optional
        Columns to open where the table has them, as text.
    given
        How the cells are written, as far as the policy says.
    """
    if not isinstance(reader, IN_PLACE):
        memory.refuse_to_load(reader.title)
    _check_names(reader, needed)
    kinds = {**dict.fromkeys((name for name in optional if name in reader.names), "text"), **needed}
    given = given or Input()
    return Table(reader, kinds, given, reader.open(kinds, given))


class Table:
    """Some columns of a table, open in an engine.

    Attributes
    ----------
    names : list of str
        All columns of the table, as their owner calls them.
    kinds : dict
        By column "integer", "decimal", "float", "date", "timestamp", "time", "boolean", "category" (ordered), "codes"
        (categories without an order that are numbers or dates) or "text".
    moments : dict
        How the timestamps of a column are written, where they were text.
    """

    def __init__(self, reader: Reader, asked: Mapping[str, str], given: Input, opened: Opened) -> None:
        """Take what a reader has opened in an engine; see `open_table`."""
        self._reader, self._asked, self._given = reader, asked, given
        self._engine, self._written, self._categories = opened.engine, opened.written, opened.categories
        self.names = reader.names
        self.moments = {name: form for name, form in self._written.moments.items() if name in self._written.guessed}
        clocks = {name: form.timezone for name, form in self.moments.items()}
        self._zones = {**opened.zones, **{name: zone for name, zone in clocks.items() if zone is not None}}
        taken = dict.fromkeys(opened.codes, "codes") | dict.fromkeys(opened.categories, "category")
        self.kinds = {name: taken.get(name, opened.engine.kinds[name]) for name in asked}

    def __contains__(self, name: str) -> bool:
        """Whether a column of this name is open in the engine."""
        return name in self.kinds

    def readings(self, names: Sequence[str], decided: Collection[str] = ()) -> dict[str, Reading]:
        """Return how some columns were read, and why one that is nearly numbers or dates was not read as such.

        The policy says how the decided columns are taken: they are not in doubt.
        """
        csv = isinstance(self._reader, CsvReader)
        found = {}
        for name in names:
            guessed = self.kinds[name] == "text" and name in self._written.guessed
            nearly = self._engine.nearly(name) if guessed else None
            found[name] = reading(name, self.kinds[name], self._asked[name], self._written, nearly, self._given, csv=csv)
        return {name: found[name].settled() if name in decided else found[name] for name in names}

    def cells(self, quasi: Sequence[str], sensitive: Sequence[str], unit: str | None = None) -> Cells:
        """Return the combinations of values that occur in some columns, with their numbers of rows, or of persons with a unit.

        A missing name counts as one person.
        """
        budget = memory.budget()
        with self._arrow_errors_in_one_sentence():
            if budget is not None and quasi and sensitive and isinstance(self._engine, DuckDB):
                cells: Cells = spilled_cells(self._engine, quasi, sensitive, unit, budget)
            else:
                with closing(self._engine.counts([*quasi, *sensitive], unit)) as batches:
                    cells = Cells(batches, quasi, sensitive)
        if not len(cells):
            raise InputError(f"{self._reader.title} has no rows. There is nothing to measure.")
        if unit is None:
            self._check_rows(int(cells.sizes.sum()))
        return cells

    def rows(self, names: Sequence[str]) -> list[tuple[pa.Array, Codes]]:
        """Return for each of some columns its values, ascending, missing last, and each row's index among them."""
        with self._arrow_errors_in_one_sentence(), closing(self._engine.rows(names)) as batches:
            columns = coded(batches, len(names))
        if not len(columns[0][1]):
            raise InputError(f"{self._reader.title} has no rows. There is nothing to release.")
        self._check_rows(len(columns[0][1]))
        return columns

    @contextmanager
    def _arrow_errors_in_one_sentence(self) -> Iterator[None]:
        """Raise Arrow's errors inside this block as InputError: their messages may quote the table."""
        try:
            yield
        except pa.ArrowException:
            raise InputError(
                f"{self._reader.title} cannot be read to its end: memory or disk ran out, or it has changed."
            ) from None

    def _check_rows(self, found: int) -> None:
        """Raise InputError if the engine found more or fewer rows than the reader counted."""
        if self._reader.rows not in (None, found):
            raise InputError(
                f"{self._reader.title} was read as {found:,} rows, and has {self._reader.rows:,}. It may be damaged."
            )

    def rows_on_spark(
        self, names: Sequence[str], code: Callable[[Any], Iterator[pa.RecordBatch]], counted: Sequence[str], rows: int
    ) -> SparkRows:
        """Return some columns of a table on Spark, coded by a function of batches where they are; see `SparkRows.of`."""
        from tclose.tables.spark_rows import SparkRows

        return SparkRows.of(self._engine, names, code, counted, rows)

    def people_on_spark(self, name: str, unit: str, code: Callable[[Any], Iterator[pa.RecordBatch]], size: int) -> SparkPeople:
        """Return the persons of a table on Spark by the codes of their values in a column; see `SparkPeople`."""
        from tclose.tables.spark_people import SparkPeople

        return SparkPeople(self._engine, [name, unit], code, size)

    def column(self, name: str) -> pa.ChunkedArray:
        """Return all cells of a column, in the order of the rows."""
        return self._engine.column(name)

    def take(self, names: Sequence[str], rows: Any) -> pa.Table:
        """Return some rows of some columns in memory, so that they are read again as they were; ``rows`` are numbers from 0."""
        found = {}
        for name in names:
            cells = self._engine.column(name).combine_chunks().take(pa.array(rows))
            if name in self._categories:
                found[name] = pa.DictionaryArray.from_arrays(
                    cells.cast(pa.int32()), pa.array(self._categories[name]), ordered=True
                )
            elif self.kinds[name] == "codes":
                found[name] = cells.dictionary_encode()
            else:
                found[name] = self.values(name, cells)
        return pa.table(found)

    def count_values(self, name: str) -> tuple[int, int]:
        """Return the number of rows that have a value in a column, and the number of distinct values."""
        return self._engine.distinct(name)

    def most_rows(self, name: str) -> int:
        """Return the largest number of rows that have one value of a column; 0 if none has a value."""
        return self._engine.most(name)

    def missing(self, name: str) -> tuple[int, int]:
        """Return the number of missing cells of a column, and the row of the first one, from 1."""
        return self._engine.missing(name)

    def first(self, name: str, values: pa.Array) -> tuple[Any, int]:
        """Return the one of ``values`` that comes first in a column, as its owner writes it, and its row, from 1."""
        index, row = self._engine.first(name, values)
        return self.values(name, values.slice(index, 1))[0].as_py(), row

    def show(self, name: str, *, suppression: bool = False) -> Callable[[Any], str]:
        """Return a function from a value of a column to its text: timestamps as in the file, decimals with their digits.

        Under suppression decimals are printed as short as they can be: digits that only a suppressed row has must not show.
        """
        if name in self.moments:
            return self.moments[name].text
        digits = None if suppression else self._written.digits.get(name)
        return printed if digits is None else partial(_with_digits, digits)

    def numbers(self, cells: pa.Array) -> pa.Array:
        """Return cells as numbers: dates as days and times as ticks from a fixed date or time."""
        if pa.types.is_float32(cells.type):
            return pa.array([float(str(cell)) for cell in cells.to_numpy()])  # the decimal that the user sees
        if not pa.types.is_temporal(cells.type):
            return cells
        return cells.cast(pa.int32() if cells.type.bit_width == 32 else pa.int64())

    def values(self, name: str, cells: pa.Array) -> pa.Array:
        """Return cells of a column as their owner knows them: ordered categories by name, timestamps in their time zone."""
        if name in self._categories:
            return pa.array(self._categories[name]).take(cells)
        return cells.cast(pa.timestamp(cells.type.unit, self._zones[name])) if name in self._zones else cells


def _with_digits(digits: int, value: Any) -> str:
    """Return a number as text with ``digits`` decimals, or with more if it has more."""
    short = printed(value)
    return short if len(short.partition(".")[2]) > digits else f"{value:.{digits}f}"


def _check_names(reader: Reader, needed: Mapping[str, str]) -> None:
    """Raise an error for too many columns, two columns of one name, or a needed column that the table lacks."""
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
