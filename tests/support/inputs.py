"""The kinds of input that an audit takes, made of a dict of columns."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

Columns = Mapping[str, list[Any]]
Maker = Callable[[Columns], Any]

KINDS_OF_INPUT = (
    "pandas",
    "pandas, text index",
    "pandas, shuffled index",
    "pyarrow",
    "pyarrow, many chunks",
    "polars",
    "csv",
    "parquet",
    "arrow file",
    "arrow stream",
)


def contain(kind: str, columns: Columns, folder: Path) -> Any:
    """A dict of columns as one of `KINDS_OF_INPUT`; files go to a folder."""
    table = pa.table(dict(columns))
    if kind.startswith("pandas"):
        frame = pd.DataFrame({name: pd.Series(values, dtype=_dtype(values)) for name, values in columns.items()})
        if kind == "pandas, text index":
            frame.index = pd.Index([f"row {number}" for number in range(len(frame))])
        elif kind == "pandas, shuffled index":
            frame.index = pd.Index(random.Random(0).sample(range(len(frame)), len(frame)))
        return frame
    if kind == "pyarrow":
        return table
    if kind == "pyarrow, many chunks":
        return pa.concat_tables([table.slice(0, 0), *(table.slice(row, 1) for row in range(table.num_rows))])
    if kind == "polars":
        return pl.DataFrame(dict(columns))
    if kind == "csv":
        return _write_csv(folder / "table.csv", columns)
    path = folder / {"parquet": "table.parquet", "arrow file": "table.arrow", "arrow stream": "table.ipc"}[kind]
    if kind == "parquet":
        pq.write_table(table, path)
        return path
    writer = pa.ipc.new_file if kind == "arrow file" else pa.ipc.new_stream
    with writer(path, table.schema) as sink:
        sink.write_table(table)
    return path


def _dtype(values: list[Any]) -> Any:
    """Whole numbers with missing ones stay whole numbers; pandas would make them floats."""
    whole = all(isinstance(value, int | None) and not isinstance(value, bool) for value in values)
    return "Int64" if whole else None


def _write_csv(path: Path, columns: Columns) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path
