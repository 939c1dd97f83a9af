"""Rows on Spark: coded, counted, cut into blocks and released where they are. Only counts and summaries come to the driver.

Only what Spark Connect has too is used. What is done with batches and blocks of rows is given as functions on Arrow tables; Spark
sends them, pickled, to its executors.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tclose import extras
from tclose.tables.spark_package import sendable

BLOCK, PART, NOTE = "block", "part", "note"
"""Columns of frames: the block of a row, the part in which a published row is judged, and what only the owner learns."""

OnBatches = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""What is done with batches of rows, wherever they are."""


def _functions() -> Any:
    """Return the functions of Spark, which is loaded on use."""
    return extras.load("pyspark.sql.functions")


def _spark_schema(schema: pa.Schema) -> Any:
    """Return a schema of Arrow as one of Spark."""
    return extras.load("pyspark.sql.pandas.types").from_arrow_schema(schema, prefer_timestamp_ntz=True)


@contextmanager
def asking(engine: Any) -> Iterator[None]:
    """Run the block's queries so that they stop with their job, and messages, which may quote rows, are not shown."""
    with engine.asking(), engine.reader.tagged():
        yield


@dataclass(frozen=True)
class Placing:
    """How rows come to blocks.

    Attributes
    ----------
    place : function of batches
        It yields batches of rows with their blocks.
    schema : pyarrow schema
        Of those batches.
    blocks : int
        How many blocks there are.
    """

    place: OnBatches
    schema: pa.Schema
    blocks: int


class SparkRows:
    """Coded rows of a table."""

    def __init__(self, engine: Any, frame: Any) -> None:
        """Take a frame of coded rows, which Spark keeps."""
        self._engine = engine
        self._frame = frame.persist()
        weakref.finalize(self, forget, self._frame)

    @classmethod
    def of(cls, engine: Any, names: Sequence[str], code: OnBatches, schema: Any) -> SparkRows:
        """Return some columns of a table, coded by a function of batches, which yields batches of a schema."""
        with asking(engine):
            coded = sendable(engine.reader.session, code)
            return cls(engine, engine.reader.frame(engine.query(names)).mapInArrow(coded, _spark_schema(schema)))

    def counts(self, columns: Sequence[str], count: OnBatches, schema: pa.Schema) -> tuple[Any, ...]:
        """Return what a function counts in batches of some columns, as arrays: the columns of a schema; the last adds up.

        The function yields batches of that schema, for the part of the rows that it is given.
        """
        *keys, number = schema.names
        with asking(self._engine):
            counted = sendable(self._engine.reader.session, count)
            entries = self._frame.select(*columns).mapInArrow(counted, _spark_schema(schema))
            found = entries.groupBy(*keys).agg(_functions().sum(number)).toArrow()
        return tuple(column.to_numpy().astype(np.int64) for column in found.columns)

    def notes(self, by: Sequence[str], parts: int, note: Callable[[pa.Table], bytes], columns: Sequence[str]) -> list[bytes]:
        """Return what a function notes of each part of the rows; rows that agree in some columns are in one part."""
        with asking(self._engine):
            return _notes_of_parts(self._engine, self._frame, by, parts, _NoteAlone(note, columns, columns))

    def map_blocks(self, placing: Placing, make: Callable[[pa.Table], pa.Table], schema: Any) -> SparkRows:
        """Return what a function makes of the rows of each block, on the executors: other coded rows."""
        with asking(self._engine):
            made = sendable(self._engine.reader.session, make)
            found = SparkRows(self._engine, self._by_block(placing).applyInArrow(made, _spark_schema(schema)))
            found._frame.count()  # now, not when somebody asks for the first histogram
            return found

    def release(self, placing: Placing, make: Callable[[pa.Table], tuple[pa.Table, bytes]], schema: Any) -> PublishedRows:
        """Return what a function makes of the rows of each block, on the executors: published rows of a schema, and a note."""
        fields = [*(field.with_name(f"p{index}") for index, field in enumerate(schema)), pa.field(NOTE, pa.binary())]
        wide = pa.schema(fields)
        with asking(self._engine):
            released = sendable(self._engine.reader.session, _WithNote(make, wide))
            frame = self._by_block(placing).applyInArrow(released, _spark_schema(wide)).persist()
        return PublishedRows(self._engine, frame, schema)

    def _by_block(self, placing: Placing) -> Any:
        """Return rows grouped by their blocks; a block is in one partition."""
        place = sendable(self._engine.reader.session, placing.place)
        placed = self._frame.mapInArrow(place, _spark_schema(placing.schema))
        return placed.repartition(placing.blocks, BLOCK).groupBy(BLOCK)


@dataclass(frozen=True)
class _WithNote:
    """A function that makes a table and a note of a table, as one that makes a table, with the note in a row of its own."""

    make: Callable[[pa.Table], tuple[pa.Table, bytes]]
    schema: pa.Schema

    def __call__(self, rows: pa.Table) -> pa.Table:
        """Return the table that is made of the rows of one block, and the note in its last row."""
        table, note = self.make(rows)
        body = pa.Table.from_arrays([*table.columns, pa.nulls(table.num_rows, pa.binary())], schema=self.schema)
        empty = [pa.nulls(1, column.type) for column in table.columns]
        last = pa.Table.from_arrays([*empty, pa.array([note], pa.binary())], schema=self.schema)
        return pa.concat_tables([body, last])


@dataclass(frozen=True)
class _NoteAlone:
    """A function that makes a note of a table, as one that makes a table of one row."""

    judge: Callable[[pa.Table], bytes]
    columns: Sequence[str]
    names: Sequence[str]

    def __call__(self, rows: pa.Table) -> pa.Table:
        """Return the note on some columns of the rows, under their published names."""
        return pa.table({NOTE: pa.array([self.judge(rows.select(self.columns).rename_columns(self.names))], pa.binary())})


def _notes_of_parts(engine: Any, frame: Any, by: Sequence[str], parts: int, note: _NoteAlone) -> list[bytes]:
    """Return what is noted of each part of a frame; rows that agree in some columns are in one part."""
    functions = _functions()
    noted = sendable(engine.reader.session, note)
    part = functions.pmod(functions.xxhash64(*by), functions.lit(parts))
    rows = frame.withColumn(PART, part.cast("int")).repartition(parts, PART)
    found = rows.groupBy(PART).applyInArrow(noted, _spark_schema(pa.schema([(NOTE, pa.binary())]))).toArrow()
    return found[NOTE].to_pylist()  # type: ignore[no-any-return]


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
        names, columns = list(self._columns), list(self._columns.values())
        with asking(self._engine):
            by = [self._columns[name] for name in by]
            return _notes_of_parts(self._engine, self._published(), by, parts, _NoteAlone(judge, columns, names))

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
        return dict(zip(found[0].to_pylist(), found[1].to_pylist(), strict=True))

    def table(self, names: Sequence[str]) -> Any:
        """Return some published columns as a DataFrame, its rows sorted by their values."""
        columns = [self._columns[name] for name in names]
        return self._published().select(*columns).orderBy(*columns).toDF(*names)

    def write(self, names: Sequence[str], folder: Path) -> None:
        """Write some published columns to a new folder, as Parquet files; the executors write, and see the folder too."""
        with asking(self._engine):
            self.table(names).write.parquet(str(folder))
        for path in folder.iterdir():
            if path.name.startswith(("_", ".")):  # what Spark notes about its own work
                path.unlink()

    def read_back(self, names: Sequence[str], folder: Path) -> PublishedRows:
        """Return rows that were written to a folder, read again."""
        schema = pa.schema([self._schema.field(name) for name in names])
        columns = [f"p{index}" for index in range(len(names))]
        with asking(self._engine):
            frame = self._engine.reader.session.read.parquet(str(folder)).toDF(*columns)
            frame = frame.withColumn(NOTE, _functions().lit(None).cast("binary"))
        return PublishedRows(self._engine, frame, schema)

    def _published(self) -> Any:
        """Return the frame of published rows, without notes."""
        return self._frame.where(_functions().col(NOTE).isNull()).drop(NOTE)


def forget(frame: Any) -> None:
    """Let Spark drop the rows that it keeps; where the session has ended they are gone already."""
    with suppress(Exception):
        frame.unpersist()
