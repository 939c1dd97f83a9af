"""Spark: a DataFrame that stays on its cluster. ibis writes the SQL, Spark runs it, and answers come home as Arrow.

Only what Spark Connect has too is used, and no setting of the session is changed.
"""

from __future__ import annotations

import uuid
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import ibis
import pyarrow as pa

from tclose import extras
from tclose.errors import ColumnError
from tclose.tables.remote import RemoteReader

_TYPES = {
    "ByteType": "int8", "ShortType": "int16", "IntegerType": "int32", "LongType": "int64", "FloatType": "float32",
    "DoubleType": "float64", "BooleanType": "boolean", "DateType": "date", "TimeType": "time", "TimestampNTZType": "timestamp(6)",
    "TimestampType": "timestamp('UTC', 6)", "NullType": "string",
}  # fmt: skip
"""ibis' name for each type that is read as it is."""

_TEXTS = ("StringType", "VarcharType", "CharType")


def is_spark(data: Any) -> bool:
    """Whether a table is a DataFrame of Spark, found out without importing PySpark."""
    return type(data).__module__.startswith("pyspark.sql.") and hasattr(data, "toArrow")


class SparkReader(RemoteReader):
    """A DataFrame of Spark, or of Spark Connect."""

    title = "The table"

    def __init__(self, frame: Any) -> None:
        """Take a DataFrame, of which the columns are known."""
        self._frame = frame
        self.session = frame.sparkSession
        self._tag = f"tclose-{uuid.uuid4().hex}"
        _ = ibis.pyspark  # loads the options that its compiler reads
        self.names = list(frame.columns)

    def select(self, columns: Mapping[str, str]) -> Any:
        """Return some columns as an ibis table over a temporary view; text is compared by its bytes."""
        functions = extras.load("pyspark.sql.functions")
        types = {field.name: field.dataType for field in self._frame.schema.fields}
        cells, schema = [], {}
        for name, column in columns.items():
            cell, kind = functions.col(f"`{name.replace('`', '``')}`"), types[name]
            word = type(kind).__name__
            if word in _TEXTS:
                cell, schema[column] = functions.collate(cell, "UTF8_BINARY"), "string"
            elif word == "DecimalType":
                schema[column] = f"decimal({kind.precision}, {kind.scale})"
            elif word in _TYPES:
                cell, schema[column] = cell.cast("string") if word == "NullType" else cell, _TYPES[word]
            else:
                raise ColumnError(
                    f"Column {name!r} holds {kind.simpleString()}, which cannot take a role. Use numbers, dates, times or text."
                )
            cells.append(cell.alias(column))
        view = f"tclose_{uuid.uuid4().hex}"
        self._frame.select(*cells).createOrReplaceTempView(view)
        weakref.finalize(self, _drop_view, self.session, view)
        return ibis.table(ibis.schema(schema), name=view)

    def run(self, query: Any, size: int) -> Iterator[pa.RecordBatch]:
        """Yield the result of an ibis expression, ``size`` rows at a time."""
        with self.tagged():
            found = self.frame(query).toArrow()
        yield from found.to_batches(max_chunksize=size)

    def frame(self, query: Any) -> Any:
        """Return an ibis expression as a DataFrame."""
        return self.session.sql(ibis.to_sql(query, dialect="pyspark"))

    @contextmanager
    def tagged(self) -> Iterator[None]:
        """Run the block's queries under a tag, by which they can be stopped."""
        self.session.addTag(self._tag)
        try:
            yield
        finally:
            self.session.removeTag(self._tag)

    def stop(self) -> None:
        """Stop the queries that are running."""
        self.session.interruptTag(self._tag)


def _drop_view(session: Any, view: str) -> None:
    """Drop a temporary view; where the session has ended it is gone already."""
    with suppress(Exception):
        session.catalog.dropTempView(view)
