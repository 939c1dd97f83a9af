"""The contract of an engine, kept by DuckDB and by plain Python; and an audit through either gives the same result."""

from __future__ import annotations

import importlib
import warnings
from collections import Counter
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.tables.reader import MemoryReader, Reader
from tclose.tables.table import Table, open_table
from tests.naive.engine import NaiveReader
from tests.support.examples import examples
from tests.support.typed_tables import CELLS, tables

READERS: dict[str, Callable[[pa.Table], Reader]] = {
    "duckdb": lambda table: MemoryReader(table, "The table"),
    "naive": NaiveReader,
}


def opened(table: pa.Table, engine: str) -> Table:
    # As a sensitive column: there NaN is missing, and -0.0 is 0.0. As a quasi-identifier DuckDB refuses a column of both.
    return open_table(READERS[engine](table), dict.fromkeys(table.column_names, "value"))


def plain(cells: list[Any]) -> list[Any]:
    """Cells as every engine has them."""
    return [None if cell != cell else 0.0 if isinstance(cell, float) and cell == 0 else cell for cell in cells]


def in_order(cells: list[Any]) -> list[Any]:
    """The values of a column, ascending, missing last; texts by their letters' numbers."""
    return [*sorted(set(cells) - {None}), *([None] if None in cells else [])]


@pytest.mark.parametrize("engine", READERS)
@settings(max_examples=examples(8))
@given(table=tables())
def test_the_contract(engine: str, table: pa.Table) -> None:
    source = opened(table, engine)
    names = table.column_names
    columns = {name: plain(table[name].to_pylist()) for name in names}
    kinds = {name: next(kind for kind, (given, _) in CELLS.items() if given == table[name].type) for name in names}
    assert source.kinds == {name: "integer" if kind == "small" else kind for name, kind in kinds.items()}
    asked: Any = source._engine

    rows = [row for batch in asked.rows(names) for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)]
    assert rows == list(zip(*columns.values(), strict=True))
    for unit in (None, names[-1]):
        by = names[:2] if unit is None else names[:-1]
        cells = list(zip(*(columns[name] for name in by), strict=True))
        ref = Counter(cells if unit is None else [cell for cell, _ in set(zip(cells, columns[unit], strict=True))])
        counted = [
            row for batch in asked.counts(by, unit) for row in zip(*(part.to_pylist() for part in batch.columns), strict=True)
        ]
        assert {tuple(row): count for *row, count in counted} == ref
        assert len(counted) == len(ref)
    for name, ref_cells in columns.items():
        found = asked.column(name)
        assert (found.type, found.to_pylist()) == (table[name].type, ref_cells)
        present = [cell for cell in ref_cells if cell is not None]
        assert asked.distinct(name) == (len(present), len(set(present)))
        assert asked.most(name) == max(Counter(present).values(), default=0)
        missing = [row for row, cell in enumerate(ref_cells, 1) if cell is None]
        assert asked.missing(name) == (len(missing), min(missing, default=0))
        if present:
            wanted = in_order(ref_cells)[-1 - (None in ref_cells) :: -2]  # every second value, the greatest among them
            row = next(row for row, cell in enumerate(ref_cells, 1) if cell in wanted)
            assert asked.first(name, pa.array(wanted, found.type)) == (wanted.index(ref_cells[row - 1]), row)

    # Over any engine: values ascend, missing last, and so do classes.
    for name, (values, codes) in zip(names, source.rows(names), strict=True):
        assert values.to_pylist() == in_order(columns[name])
        assert values.take(pa.array(codes)).to_pylist() == columns[name]
    counts = source.cells(names[:2], names[2:])
    by_rank = [[in_order(columns[name]).index(cell) for cell in columns[name]] for name in names[:2]]
    ref_classes = sorted(Counter(zip(*by_rank, strict=True)).items())
    assert counts.sizes.tolist() == [size for _, size in ref_classes]
    values, how_often = counts.domain(names[2])
    assert dict(zip(values.to_pylist(), how_often.tolist(), strict=True)) == Counter(columns[names[2]])


@settings(max_examples=examples(10))
@given(cells=st.lists(
    st.none() | st.sampled_from(["1.5", "7", "NA", "n", "-3", "01", "1,5", "2024-01-31", "2024-02-30", "31.01.2024", "01/02/2024",
                                 "2024-01-31T08:30Z", "2024-01-31 08:30:00", "[1, 2]", "?", ".5", "12.12.2024"]),
    min_size=1, max_size=14,
))  # fmt: skip
def test_what_text_nearly_is(cells: list[str | None]) -> None:
    comp, ref = (opened(pa.table({"a": pa.array(cells, pa.string())}), engine) for engine in READERS)
    assert comp._engine.nearly("a") == ref._engine.nearly("a")


@pytest.fixture
def through_the_naive_engine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tc.Audit]:
    def audited(table: pa.Table, policy: tc.Policy) -> tc.Audit:
        with monkeypatch.context() as patch:
            patch.setattr(importlib.import_module("tclose.judge.audit"), "open_reader", lambda table, _: NaiveReader(table))
            return tc.audit(table, policy)

    return audited


@pytest.mark.parametrize("seed", range(4))
def test_an_audit_is_the_same_through_either_engine(seed: int, through_the_naive_engine: Callable[..., tc.Audit]) -> None:
    rng = np.random.default_rng(seed)

    def some(values: list[Any], kind: pa.DataType) -> pa.Array:
        return pa.array([values[index] for index in rng.integers(0, len(values), 60)], kind)

    table = pa.table({
        "who": some([f"P{number}" for number in range(40)], pa.string()),
        "zip": some(["476", "479", "é", None], pa.string()),
        "day": some([date(2024, 1, 1), date(2024, 1, 2), None], pa.date32()),
        "pay": some([Decimal("1.50"), Decimal("2.25"), Decimal("-3.00")], pa.decimal128(9, 2)),
        "ill": some(["flu", "cold", "NA", None], pa.string()),
        "size": some([0.5, 1.5, 2.0], pa.float64()),
    })  # fmt: skip
    policy = tc.Policy(
        quasi=["zip", "day"],
        sensitive=[
            tc.Sensitive("pay", t=0.3, distance="numeric"),
            tc.Sensitive("ill", t=0.4, l=2),
            tc.Sensitive("size", bins=2, t=0.2),
        ],
        identifiers=["who"],
        unit="who" if seed % 2 else None,
        k=3,
    )
    found = []
    for audit in (tc.audit, through_the_naive_engine):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found.append(
                (audit(table, policy), sorted(str(each.message) for each in told if each.category is not DeprecationWarning))
            )
    (comp, comp_told), (ref, ref_told) = found
    assert comp.to_dict() == ref.to_dict()
    assert comp.class_table() == ref.class_table()
    assert comp.readings == ref.readings
    assert comp_told == ref_told
