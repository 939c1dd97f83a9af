"""What all tests share: where the public tables are, and the kinds of input that an audit takes."""

from __future__ import annotations

import csv
import os
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, settings

# How fast the machine is decides no test.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

Columns = Mapping[str, list[Any]]
Maker = Callable[[Columns], Any]

PROJECT = Path(__file__).resolve().parents[1]


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("needs_data"):
        _data_folder()


@pytest.fixture
def data() -> Path:
    """The folder of public tables; its tests are marked ``needs_data``."""
    return _data_folder()


@pytest.fixture(scope="session")
def warm() -> None:
    """All kernels compiled, on a new machine too: a command that has to compile says so, where a test may expect silence."""
    from tclose.release.warmup import warm_up

    warm_up()


def _data_folder() -> Path:
    """TCLOSE_DATA, else ``../shared/data`` beside the project; without either the test is skipped, or fails if TCLOSE_NO_SKIP=1."""
    places = [Path(os.environ["TCLOSE_DATA"])] if os.environ.get("TCLOSE_DATA") else []
    places.append(PROJECT.parent / "shared" / "data")
    for place in places:
        if place.is_dir():
            return place
    missing = "The public tables are missing: set TCLOSE_DATA to their folder, or put it at ../shared/data."
    if os.environ.get("TCLOSE_NO_SKIP") == "1":
        pytest.fail(missing, pytrace=False)
    pytest.skip(missing)


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


@pytest.fixture(params=KINDS_OF_INPUT)
def container(request: pytest.FixtureRequest, tmp_path: Path) -> Maker:
    """Turns a dict of columns into one kind of input."""
    return lambda columns: contain(request.param, columns, tmp_path)


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
