"""Rows on Spark: coded, counted, cut into blocks and released where they are. Only counts and summaries come to the driver.

Only what Spark Connect has too is used. What is done with batches and blocks of rows is given as functions on Arrow tables; Spark
sends them, pickled, to its executors. Coded rows are packed: a row of Spark's frame holds some hundred thousand of them.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tclose import extras
from tclose.tables.packed import BLOCK, COUNT, by_value, pack, together, unpacked
from tclose.tables.spark_errors import hearing
from tclose.tables.spark_package import sendable

PART, NOTE = "part", "note"
"""Columns of frames: the part in which a published row is judged, and what only the owner learns."""
HASH = "hash"
"""The column with a hash of a row."""
PARTITION = 500_000
"""Rows of a table for which Spark starts a task, about. A task of Python costs 0.1 CPU seconds, whatever it does; the number of
partitions that Spark makes of its own accord, 200, is not lowered for rows that it keeps."""

COUNTED, OTHERS = "counted", "others"
"""Columns of packed rows: those that are counted again and again, and all others."""

_TIMESTAMPS = "spark.sql.parquet.outputTimestampType"
"""The setting of a session by which timestamps are written."""

OnBatches = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""What is done with batches of rows, wherever they are."""
OnRows = Callable[[pa.Table], pa.Table]
"""What is done with the rows of one block."""

_PACKED = pa.schema([(COUNTED, pa.binary()), (OTHERS, pa.binary())])
_NOTED = pa.schema([(NOTE, pa.binary())])
_IN_BLOCKS = pa.schema([(BLOCK, pa.int32()), (OTHERS, pa.binary())])


def _functions() -> Any:
    """Return the functions of Spark, which is loaded on use."""
    return extras.load("pyspark.sql.functions")


def _spark_schema(schema: pa.Schema) -> Any:
    """Return a schema of Arrow as one of Spark."""
    return extras.load("pyspark.sql.pandas.types").from_arrow_schema(schema, prefer_timestamp_ntz=True)


@contextmanager
def asking(engine: Any) -> Iterator[None]:
    """Run the block's queries so that they stop with their job, and messages, which may quote rows, are not shown."""
    with engine.asking(), engine.reader.tagged(), hearing():
        yield


class SparkRows:
    """Coded rows of a table."""

    def __init__(self, engine: Any, frame: Any, counted: Sequence[str], partitions: int) -> None:
        """Take a frame of packed rows in some partitions, which Spark keeps."""
        self._engine, self._counted, self._partitions = engine, counted, partitions
        self._frame = frame.persist()
        weakref.finalize(self, forget, self._frame)

    @classmethod
    def of(cls, engine: Any, names: Sequence[str], code: OnBatches, counted: Sequence[str], rows: int) -> SparkRows:
        """Return some columns of a table, coded by a function of batches; ``counted`` are the coded columns that can be counted.

        The function sees each combination of values once, with a hash of it and the number of its rows as the last columns.
        """
        partitions = -(-rows // PARTITION)
        functions = _functions()
        with asking(engine):
            coded = sendable(engine.reader.session, _Packed(code, counted))
            frame = engine.reader.frame(engine.query(names))
            columns = frame.columns
            found = frame.groupBy(*columns).agg(functions.count(functions.lit(1)).alias(COUNT)).coalesce(partitions)
            hashed = found.select(*columns, functions.xxhash64(*columns).alias(HASH), COUNT)
            return cls(engine, hashed.mapInArrow(coded, _spark_schema(_PACKED)), counted, partitions)

    def counts(self, count: OnBatches, schema: pa.Schema) -> tuple[Any, ...]:
        """Return what a function counts in batches of the columns that can be counted, as arrays; the last adds up.

        The function yields batches of a schema, for the part of the rows that it is given.
        """
        *keys, number = schema.names
        with asking(self._engine):
            counting = sendable(self._engine.reader.session, _OnUnpacked(count))
            entries = self._frame.select(COUNTED).mapInArrow(counting, _spark_schema(schema))
            found = entries.groupBy(*keys).agg(_functions().sum(number)).toArrow()
        return tuple(column.to_numpy().astype(np.int64) for column in found.columns)

    def count_persons(self, count: OnBatches, schema: pa.Schema) -> tuple[Any, ...]:
        """Return how many different persons a function finds in batches of all columns, as arrays: what they have, and how many.

        The function yields batches of a schema, whose last column has persons.
        """
        *keys, _ = schema.names
        with asking(self._engine):
            counting = sendable(self._engine.reader.session, _OnUnpacked(count))
            entries = self._frame.mapInArrow(counting, _spark_schema(schema)).distinct()
            found = entries.groupBy(*keys).count().toArrow()
        return tuple(column.to_numpy().astype(np.int64) for column in found.columns)

    def notes(self, place: OnBatches, blocks: int, note: Callable[[pa.Table], bytes]) -> list[bytes]:
        """Return what a function notes of the rows of each block, on the executors."""
        with asking(self._engine):
            noted = sendable(self._engine.reader.session, _NoteOfBlock(note))
            found = self._by_block(place, blocks).applyInArrow(noted, _spark_schema(_NOTED)).toArrow()
        return found[NOTE].to_pylist()  # type: ignore[no-any-return]

    def map_blocks(self, place: OnBatches, blocks: int, make: OnRows, counted: Sequence[str] | None = None) -> SparkRows:
        """Return what a function makes of the rows of each block, on the executors: other coded rows.

        Parameters
        ----------
        place
            Yields batches of rows with their blocks.
        blocks
            How many blocks there are.
        counted
            The columns that can be counted then, if other ones than now.
        """
        counted = self._counted if counted is None else counted
        with asking(self._engine):
            made = sendable(self._engine.reader.session, _PackedBlock(make, counted))
            frame = self._by_block(place, blocks).applyInArrow(made, _spark_schema(_PACKED)).repartition(self._partitions)
            found = SparkRows(self._engine, frame, counted, self._partitions)
            found._frame.count()  # now, not when somebody asks for the first histogram
            return found

    def release(
        self, place: OnBatches, blocks: int, make: Callable[[pa.Table], tuple[pa.Table, bytes]], schema: Any
    ) -> PublishedRows:
        """Return what a function makes of the rows of each block, on the executors: published rows of a schema, and a note."""
        fields = [*(field.with_name(f"p{index}") for index, field in enumerate(schema)), pa.field(NOTE, pa.binary())]
        wide = pa.schema(fields)
        with asking(self._engine):
            released = sendable(self._engine.reader.session, _WithNote(make, wide))
            frame = self._by_block(place, blocks).applyInArrow(released, _spark_schema(wide)).persist()
        return PublishedRows(self._engine, frame, schema)

    def _by_block(self, place: OnBatches, blocks: int) -> Any:
        """Return packed rows grouped by their blocks; a block is in one partition."""
        placed = sendable(self._engine.reader.session, _PackedByBlock(place))
        return self._frame.mapInArrow(placed, _spark_schema(_IN_BLOCKS)).repartition(blocks, BLOCK).groupBy(BLOCK)


@dataclass(frozen=True)
class _Packed:
    """A function of batches that packs what another one makes of them; some of its columns are packed by themselves."""

    make: OnBatches
    counted: Sequence[str]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches of cells."""
        for batch in together(self.make(batches)):
            others = [name for name in batch.schema.names if name not in self.counted]
            cells = [[pack(batch.select(names))] for names in (self.counted, others)]
            yield pa.record_batch([pa.array(cell, pa.binary()) for cell in cells], schema=_PACKED)


@dataclass(frozen=True)
class _OnUnpacked:
    """A function of batches of cells, as another one of the rows that are packed in them."""

    do: OnBatches

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield what the other function does."""
        return self.do(unpacked(batches))


@dataclass(frozen=True)
class _PackedByBlock:
    """A function of batches of cells that gives the rows in them their blocks, and packs those of each block by themselves."""

    place: OnBatches

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches of blocks and cells."""
        for batch in self.place(unpacked(batches)):
            blocks, cells = zip(*((block, pack(rows)) for block, rows in by_value(batch, BLOCK)), strict=True)
            yield pa.record_batch([pa.array(blocks, pa.int32()), pa.array(cells, pa.binary())], schema=_IN_BLOCKS)


def _rows_of_block(cells: pa.Table) -> pa.Table:
    """Return the rows that are packed in the cells of one block."""
    return pa.Table.from_batches(unpacked(cells.select([OTHERS]).to_batches()))


@dataclass(frozen=True)
class _PackedBlock:
    """A function of the cells of one block, which packs what another function makes of their rows."""

    make: OnRows
    counted: Sequence[str]

    def __call__(self, cells: pa.Table) -> pa.Table:
        """Return a table of cells."""
        made = self.make(_rows_of_block(cells)).combine_chunks().to_batches()
        return pa.Table.from_batches(_Packed(lambda batches: iter(batches), self.counted)(made), schema=_PACKED)


@dataclass(frozen=True)
class _NoteOfBlock:
    """A function that makes a note of rows, as one of packed rows that makes a table of one row."""

    note: Callable[[pa.Table], bytes]

    def __call__(self, cells: pa.Table) -> pa.Table:
        """Return the note on the rows of one block."""
        return pa.table({NOTE: pa.array([self.note(_rows_of_block(cells))], pa.binary())})


@dataclass(frozen=True)
class _WithNote:
    """A function that makes a table and a note, as one of packed rows that makes a table: the note in its last row."""

    make: Callable[[pa.Table], tuple[pa.Table, bytes]]
    schema: pa.Schema

    def __call__(self, cells: pa.Table) -> pa.Table:
        """Return the table that is made of the rows of one block, and the note in its last row."""
        table, note = self.make(_rows_of_block(cells))
        body = pa.Table.from_arrays([*table.columns, pa.nulls(table.num_rows, pa.binary())], schema=self.schema)
        empty = [pa.nulls(1, column.type) for column in table.columns]
        last = pa.Table.from_arrays([*empty, pa.array([note], pa.binary())], schema=self.schema)
        return pa.concat_tables([body, last])


@dataclass(frozen=True)
class _NoteAlone:
    """A function that makes a note of a table, as one that makes a table of one row."""

    judge: Callable[[pa.Table], bytes]
    columns: Sequence[str]
    schema: pa.Schema

    def __call__(self, rows: pa.Table) -> pa.Table:
        """Return the note on some columns of the rows, under their published names and in their types."""
        # Spark shows timestamps in the time zone of the session.
        published = rows.select(self.columns).rename_columns(self.schema.names).cast(self.schema)
        return pa.table({NOTE: pa.array([self.judge(published)], pa.binary())})


class PublishedRows:
    """Published rows on Spark, and notes about them that only the owner sees."""

    def __init__(self, engine: Any, frame: Any, schema: pa.Schema) -> None:
        """Take a frame with the published columns, and last the notes; a row has either."""
        self._engine, self._frame, self._schema = engine, frame, schema
        self._columns = {name: f"p{index}" for index, name in enumerate(schema.names)}
        weakref.finalize(self, forget, frame)

    def notes(self) -> list[bytes]:
        """Return the notes of all blocks; this runs what makes the release."""
        functions = _functions()
        with asking(self._engine):
            found = self._frame.where(functions.col(NOTE).isNotNull()).select(NOTE).toArrow()
        return found[NOTE].to_pylist()  # type: ignore[no-any-return]

    def judge(self, by: Sequence[str], parts: int, judge: Callable[[pa.Table], bytes]) -> list[bytes]:
        """Return what a function finds in each part of the published rows; rows that agree in some columns are in one part."""
        functions = _functions()
        columns = list(self._columns.values())
        with asking(self._engine):
            judged = sendable(self._engine.reader.session, _NoteAlone(judge, columns, self._schema))
            part = functions.pmod(functions.xxhash64(*(self._columns[name] for name in by)), functions.lit(parts))
            rows = self._published().withColumn(PART, part.cast("int")).repartition(parts, PART)
            found = rows.groupBy(PART).applyInArrow(judged, _spark_schema(_NOTED)).toArrow()
        return found[NOTE].to_pylist()  # type: ignore[no-any-return]

    def count_unique(self, names: Sequence[str]) -> int:
        """Return the number of published rows that no other row equals in some columns."""
        functions = _functions()
        with asking(self._engine):
            counted = self._published().groupBy(*(self._columns[name] for name in names)).count()
            return int(counted.where(functions.col("count") == 1).count())

    def counts(self, name: str) -> dict[Any, int]:
        """Return the number of published rows with each value of a column."""
        with asking(self._engine):
            found = self._published().groupBy(self._columns[name]).count().toArrow()
        values = found[0].cast(self._schema.field(name).type)  # timestamps are in the time zone of the session
        return dict(zip(values.to_pylist(), found[1].to_pylist(), strict=True))

    def texts(self, name: str) -> list[str | None]:
        """Return the published values of a column, each once, as they are printed."""
        with asking(self._engine):
            found = self._published().select(self._columns[name]).distinct().toArrow()
        return found[0].cast(self._schema.field(name).type).cast(pa.string()).to_pylist()  # type: ignore[no-any-return]

    def table(self, names: Sequence[str]) -> Any:
        """Return some published columns as a DataFrame, its rows sorted by their values."""
        columns = [self._columns[name] for name in names]
        return self._published().select(*columns).orderBy(*columns).toDF(*names)

    def write(self, names: Sequence[str], folder: Path) -> None:
        """Write some published columns to a new folder, as Parquet files; the executors write, and see the folder too."""
        with asking(self._engine), _exact_timestamps(self._engine.reader.session):
            self.table(names).write.parquet(_on_disk(folder))
        parts = []
        for path in sorted(folder.iterdir()):
            if path.name.startswith(("_", ".")):  # what Spark notes about its own work
                path.unlink()
            else:
                parts.append(path)
        for number, path in enumerate(parts):  # Spark's names are others each time, and the digest is of them too
            path.rename(folder / f"part-{number:05}.parquet")

    def read_back(self, names: Sequence[str], folder: Path) -> PublishedRows:
        """Return rows that were written to a folder, read again."""
        schema = pa.schema([self._schema.field(name) for name in names])
        columns = [f"p{index}" for index in range(len(names))]
        with asking(self._engine):
            frame = self._engine.reader.session.read.parquet(_no_pattern(_on_disk(folder))).toDF(*columns)
            frame = frame.withColumn(NOTE, _functions().lit(None).cast("binary"))
        return PublishedRows(self._engine, frame, schema)

    def _published(self) -> Any:
        """Return the frame of published rows, without notes."""
        return self._frame.where(_functions().col(NOTE).isNull()).drop(NOTE)


def _on_disk(folder: Path) -> str:
    """Return the name by which Spark finds a folder on the disk, also where names without a scheme are those of HDFS."""
    return f"file://{folder}"


def _no_pattern(name: str) -> str:
    """Return the name of a folder as Spark reads it, which takes brackets for a pattern of names."""
    return re.sub(r"[\\*?\[\]{}]", r"\\\g<0>", name)


@contextmanager
def _exact_timestamps(session: Any) -> Iterator[None]:
    """Write timestamps in this block as they are, with their time zone: no option of a single write does that.

    Spark's own choice is INT96, which has no time zone, and which other readers take for other years before 1678 and after 2261.
    """
    before = session.conf.get(_TIMESTAMPS, None)
    session.conf.set(_TIMESTAMPS, "TIMESTAMP_MICROS")
    try:
        yield
    finally:
        if before is None:
            session.conf.unset(_TIMESTAMPS)
        else:
            session.conf.set(_TIMESTAMPS, before)


def forget(frame: Any) -> None:
    """Let Spark drop the rows that it keeps; where the session has ended they are gone already."""
    with suppress(Exception):
        frame.unpersist()
