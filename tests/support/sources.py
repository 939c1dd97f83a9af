"""The kinds of sources that are no CSV, Parquet or Arrow file, made of an Arrow table."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import ibis
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat

_SQLITE = {
    pa.int64(): "INTEGER",
    pa.float64(): "REAL",
    pa.string(): "TEXT",
    pa.date32(): "DATE",
    pa.timestamp("us"): "DATETIME",
    pa.bool_(): "BOOLEAN",
}


def _duckdb_file(table: pa.Table, folder: Path) -> Path:
    path = folder / "table.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(path) as connection:
        connection.register("rows", table)
        connection.execute("CREATE TABLE people AS FROM rows")
    return path


def _sqlite_file(table: pa.Table, folder: Path) -> Path:
    path = folder / "table.sqlite"
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    declared = ", ".join(f'"{field.name}" {_SQLITE[field.type]}' for field in table.schema)
    connection.execute(f"CREATE TABLE people ({declared})")
    rows = zip(*([_sqlite_cell(cell) for cell in column.to_pylist()] for column in table.columns), strict=True)
    connection.executemany(f"INSERT INTO people VALUES ({', '.join('?' * table.num_columns)})", rows)
    connection.commit()
    connection.close()
    return path


def _sqlite_cell(cell: Any) -> Any:
    return cell.isoformat(*([" "] if isinstance(cell, dt.datetime) else [])) if isinstance(cell, dt.date) else cell


def _workbook(table: pa.Table, folder: Path) -> Path:
    book = openpyxl.Workbook()
    book.active.append(table.column_names)
    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
        book.active.append(row)
    book.save(folder / "table.xlsx")
    return folder / "table.xlsx"


def _statistics_file(write: Callable[..., object], suffix: str) -> Callable[[pa.Table, Path], Path]:
    def written(table: pa.Table, folder: Path) -> Path:
        write(table.to_pandas(types_mapper={pa.int64(): _nullable()}.get, date_as_object=True), folder / f"table{suffix}")
        return folder / f"table{suffix}"

    return written


def _nullable() -> Any:
    import pandas as pd

    return pd.Int64Dtype()


def _folder(table: pa.Table, folder: Path) -> Path:
    parts = folder / "parts"
    parts.mkdir(exist_ok=True)
    half = table.num_rows // 2
    pq.write_table(table.slice(0, half), parts / "part-0.parquet")
    pq.write_table(table.slice(half), parts / "part-1.pq")
    (parts / "_SUCCESS").write_bytes(b"")
    return parts


def _relation(table: pa.Table, _: Path) -> Any:
    return duckdb.connect().from_arrow(table)


SOURCES: dict[str, Callable[[pa.Table, Path], Any]] = {
    "DuckDB file": _duckdb_file,
    "SQLite file": _sqlite_file,
    "workbook": _workbook,
    "SPSS file": _statistics_file(pyreadstat.write_sav, ".sav"),
    "Stata file": _statistics_file(pyreadstat.write_dta, ".dta"),
    "SAS file": _statistics_file(pyreadstat.write_xport, ".xpt"),
    "folder of Parquet files": _folder,
    "DuckDB relation": _relation,
    "ibis table": lambda table, _: ibis.memtable(table),
}
"""A function for each kind of source: it writes a table to a folder, and returns what is handed to tclose."""
