"""Tables that stay where they are: a database or a cluster answers, and only the answers come home.

Its columns keep the types that they have there. Its rows have no order: where a row would be named, its number is 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import ibis
import pyarrow as pa

from tclose import jobs
from tclose.errors import InputError, TcloseError
from tclose.policy import Input
from tclose.tables.ambiguous_floats import check_apart
from tclose.tables.arrow import check_kind, is_zoned
from tclose.tables.engine import Batches, Opened
from tclose.tables.forms import SAMPLE
from tclose.tables.input_file import InputFile
from tclose.tables.nearly import nearly
from tclose.tables.queried import CELLS, Queried
from tclose.tables.remote_types import as_asked
from tclose.tables.written import Nearly, Written


class RemoteReader(ABC):
    """A reader of a table in a database or a cluster, of which only the columns are known yet; see `Reader`."""

    names: list[str]
    title: str
    file: InputFile | None = None
    rows: int | None = None
    stay: str | None = None
    """Why no rows come home, and what to do; None if they may."""
    failure = "{title} cannot be read: the query stopped with {error}. Check that you may read it, and that the server is up."
    """What is said of a failed query, whose own message may quote rows."""

    @abstractmethod
    def select(self, columns: Mapping[str, str]) -> Any:
        """Return some columns as an ibis table under the names of the engine; text is compared by its bytes."""

    @abstractmethod
    def run(self, query: Any, size: int) -> Iterator[pa.RecordBatch]:
        """Yield the result of an ibis expression, about ``size`` rows at a time."""

    @abstractmethod
    def stop(self) -> None:
        """Stop the queries that are running."""

    def open(self, kinds: Mapping[str, str], given: Input) -> Opened:
        """Return some columns of the table, open where it is."""
        return Remote.open(self, kinds, given)


class Remote(Queried):
    """An `Engine`: some columns of a table that stays in a database or a cluster."""

    def __init__(self, reader: RemoteReader, kinds: Mapping[str, str]) -> None:
        """Name the columns; `open` types them."""
        super().__init__(kinds)
        self.reader = reader

    @classmethod
    def open(cls, reader: RemoteReader, kinds: Mapping[str, str], given: Input) -> Opened:
        """Return the engine with some columns of a reader's table, checked and in the types that are asked for."""
        engine = cls(reader, kinds)
        with engine.asking():
            rows = reader.select(engine._columns)
        found = rows.schema()
        types = {name: found[column].to_pyarrow() for name, column in engine._columns.items()}
        for name, kind in types.items():
            check_kind(kind, name)
        check_apart(rows, engine._columns, kinds, engine._ask)
        engine._take(as_asked(rows, engine._columns, kinds, given, engine._ask))
        zones = {name: "UTC" for name, kind in types.items() if is_zoned(kind) and engine.kinds[name] == "timestamp"}
        texts = {name: kind for name, kind in kinds.items() if engine.kinds[name] == "text" and kind in ("auto", "value")}
        return Opened(engine, Written(guessed=texts), zones=zones)

    def query(self, names: Sequence[str]) -> Any:
        """Return the rows of some columns, in their types, as an ibis expression."""
        return self._rows.select(*(self._columns[name] for name in names))

    def rows(self, names: Sequence[str]) -> Batches:
        """Yield all rows of some columns; raise InputError where rows stay."""
        if self.reader.stay is not None:
            raise InputError(self.reader.stay)
        return super().rows(names)

    def missing(self, name: str) -> tuple[int, int]:
        """Return the number of missing cells of a column, and 0: the rows have no order."""
        return self._ask(self._rows.agg(count=self._rows[self._columns[name]].isnull().sum().fill_null(0)))["count"], 0

    def first(self, name: str, values: pa.Array) -> tuple[int, int]:  # noqa: ARG002 - the protocol's
        """Return the first of the values, all of which occur, and 0: the rows have no order."""
        return 0, 0

    def nearly(self, name: str) -> Nearly | None:
        """Return what nearly all cells of a column of text are; its values come home only if those of a sample are likely."""
        cells = self._rows.select(cell=self._columns[name])
        sample = [cell for batch in self._stream_batches(cells.limit(SAMPLE), SAMPLE) for cell in batch.column(0).to_pylist()]

        def values() -> Any:
            """Return the values of the column with their numbers of rows, as a table of the default engine."""
            return ibis.memtable(pa.Table.from_batches(self.counts([name])).rename_columns(["cell", "n"])).mutate(row=0)

        return nearly([cell for cell in sample if cell is not None], values)

    def _ask(self, question: Any) -> dict[str, Any]:
        """Return the only row of a query's result."""
        (row,) = [row for batch in self._stream_batches(question, 1) for row in batch.to_pylist()]
        return row  # type: ignore[no-any-return]

    def _stream_batches(self, rows: Any, size: int = CELLS) -> Batches:
        """Yield the batches of a query's result; timestamps with a time zone in UTC."""
        with self.asking():
            for batch in self.reader.run(rows, size):
                self._check_text(batch)
                yield pa.record_batch([_in_utc(column) for column in batch.columns], names=batch.schema.names)

    def _check_text(self, batch: pa.RecordBatch) -> None:
        """Raise InputError for text that is not UTF-8, which an engine may have made of bytes."""
        try:
            batch.validate(full=True)
        except pa.ArrowInvalid:
            raise InputError(f"{self.reader.title} has text that is not UTF-8. Decode it where it is made.") from None

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Run the block's queries so that they stop with their job, and messages, which may quote rows, are not shown."""
        job = jobs.current()
        with job.stopping(self.reader.stop):
            try:
                yield
            except (KeyboardInterrupt, GeneratorExit):
                self.reader.stop()
                raise
            except TcloseError:
                raise
            except Exception as error:  # noqa: BLE001 - each engine has its own
                if job.cancelled:
                    raise jobs.Cancelled("The job was cancelled.") from None
                told = self.reader.failure.format(title=self.reader.title, error=type(error).__name__)
                raise InputError(told) from None


def _in_utc(column: pa.Array) -> pa.Array:
    """Return a column with timestamps of a time zone in UTC, as every engine has them."""
    return column.cast(pa.timestamp(column.type.unit)) if is_zoned(column.type) else column
