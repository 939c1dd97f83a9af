"""Small tables of every kind of column, for Hypothesis."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

CELLS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "text": (pa.string(), st.sampled_from(["", "a", "A", "b", "é", "z", "10", "9", "'", "\U0001f600", "a b"]) | st.text(max_size=3)),
    "integer": (pa.int64(), st.integers(-3, 3) | st.sampled_from([2**63 - 1, -(2**63)])),
    "small": (pa.uint8(), st.integers(0, 3)),
    "decimal": (pa.decimal128(20, 2), st.decimals(-2, 2, places=2) | st.just(Decimal("123456789012345678.91"))),
    "float": (pa.float64(), st.sampled_from([0.0, -0.0, 1.5, -1.5, 1e300, float("inf"), float("nan"), 0.1])),
    "date": (pa.date32(), st.dates(date(2023, 12, 30), date(2024, 1, 2)) | st.just(date(1, 1, 1))),
    "timestamp": (pa.timestamp("us"), st.datetimes(datetime(2024, 1, 1), datetime(2024, 1, 1, 0, 0, 0, 3))),
    "time": (pa.time64("us"), st.sampled_from([time(0), time(8, 30), time(23, 59, 59, 999_999)])),
    "boolean": (pa.bool_(), st.booleans()),
}  # fmt: skip
NAMES = ("a", "A", 'say "so"', "c0", "input")


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Some rows with nulls, duplicates and every kind of column."""
    rows = draw(st.integers(1, 12))
    kinds = draw(st.lists(st.sampled_from(list(CELLS)), min_size=3, max_size=5))
    columns = [
        pa.array(draw(st.lists(st.none() | CELLS[kind][1], min_size=rows, max_size=rows)), CELLS[kind][0], from_pandas=False)
        for kind in kinds
    ]
    return pa.table(columns, names=list(NAMES[: len(kinds)]))
