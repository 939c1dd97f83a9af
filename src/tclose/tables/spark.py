"""Spark: a DataFrame that stays on its cluster. ibis writes the SQL, Spark runs it, and answers come home as Arrow.

Only what Spark Connect has too is used, and no setting of the session is changed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import uuid
import warnings
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa

from tclose import extras
from tclose.errors import ColumnError, InputError
from tclose.tables.remote import RemoteReader

_TYPES = {
    "ByteType": "int8", "ShortType": "int16", "IntegerType": "int32", "LongType": "int64", "FloatType": "float32",
    "DoubleType": "float64", "BooleanType": "boolean", "DateType": "date", "TimeType": "time", "TimestampNTZType": "timestamp(6)",
    "TimestampType": "timestamp('UTC', 6)", "NullType": "string",
}  # fmt: skip
"""ibis' name for each type that is read as it is."""

_TEXTS = ("StringType", "VarcharType", "CharType")

_QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
"""Settings of a session that a command starts: its screen is its own."""

JAVAS = (17, 21)
"""The versions of Java that Spark 4 runs on."""


def is_spark(data: Any) -> bool:
    """Whether a table is a DataFrame of Spark, found out without importing PySpark."""
    return type(data).__module__.startswith("pyspark.sql.") and hasattr(data, "toArrow")


class SparkReader(RemoteReader):
    """A DataFrame of Spark, or of Spark Connect."""

    title = "The table"
    stay = (
        "The rows of a Spark DataFrame stay on the cluster, and this needs them in memory: only audit and anonymize count there. "
        "Where they fit, hand over df.toArrow(), or a sample of it."
    )
    failure = (
        "{title} cannot be read, or the work on it failed: Spark stopped with {error}. Spark's logs have the reason; they may "
        "quote rows."
    )

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
        places = [f"c{place}" for place in range(len(self.names))]
        fields = dict(zip(self.names, zip(places, self._frame.schema.fields, strict=True), strict=True))
        cells, schema = [], {}
        for name, column in columns.items():
            place, field = fields[name]
            cell, kind = functions.col(place), field.dataType
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
        # By their places: to Spark names that differ in case only are one.
        self._frame.toDF(*places).select(*cells).createOrReplaceTempView(view)
        weakref.finalize(self, _drop_view, self.session, view)
        return ibis.table(ibis.schema(schema), name=view)

    def is_set(self, setting: str) -> bool:
        """Whether a setting of the session, which is true or false, is true."""
        return bool(self.session.conf.get(setting) == "true")

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


@contextmanager
def session(master: str | None = None) -> Iterator[Any]:
    """Yield a session of Spark that ends with this block; by default on all cores of this machine.

    Raises
    ------
    InputError
        Java, which Spark needs, is missing or too old; or the cluster cannot be reached.
    MissingExtraError
        PySpark is not installed.
    """
    check_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # executors on this machine find the same packages
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PySpark warns of versions of pandas, which is not used here
        sessions = extras.load("pyspark.sql").SparkSession
        builder = sessions.builder.master(master or "local[*]").appName("tclose")
        for key, value in _QUIET.items():
            builder = builder.config(key, value)
        try:
            spark = builder.getOrCreate()
        except Exception as error:  # noqa: BLE001 - of Java, of the network, of the cluster
            raise InputError(
                f"Spark did not start: {type(error).__name__}. Check the address of the cluster, and that Java runs."
            ) from None
    try:
        yield spark
    finally:
        spark.stop()


def check_java() -> None:
    """Raise InputError if there is no Java that Spark can use; the message says how to have it."""
    home = os.environ.get("JAVA_HOME")
    java = Path(home, "bin", "java") if home else shutil.which("java")
    try:
        said = subprocess.run([str(java), "-version"], capture_output=True, text=True, check=False).stderr if java else ""
    except OSError:
        said = ""
    version = re.search(r'version "(\d+)', said)
    if version is None or int(version[1]) not in JAVAS:
        found = "none was found" if version is None else f"found Java {version[1]}"
        raise InputError(
            f"Spark needs Java {' or '.join(map(str, JAVAS))}, and {found}. Install it, as with 'apt-get install "
            "default-jre-headless', or set JAVA_HOME to its folder."
        )
