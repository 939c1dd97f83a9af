"""Encoding: codes decode to the input, rows are sorted by them, and how the engine hands rows over never matters."""

from __future__ import annotations

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
import tclose.tables.queried
from tclose.make.encode import EncodedTable, encode
from tclose.tables.coded import coded, narrow, sorted_order
from tclose.tables.readers import open_reader
from tclose.tables.table import open_table
from tclose.values.arrays import renumber
from tests.support.examples import examples

SOME = settings(max_examples=examples(30), deadline=None)

Columns = dict[str, list[Any]]


def encoded(
    columns: Any,
    policy: tc.Policy,
    kept: tuple[str, ...] = (),
    unit: str | None = None,
    feed: Callable[[bytes], Any] = len,
) -> EncodedTable:
    reader = open_reader(columns if isinstance(columns, pa.Table) else pa.table(columns))
    return encode(open_table(reader, dict.fromkeys(reader.names, "auto")), policy, unit, list(kept), feed)


VALUES: dict[str, list[Any]] = {
    "integers": [-3, 0, 2, 10**12],
    "decimals": [Decimal("-1.50"), Decimal("0.25"), Decimal("7.00")],
    "floats": [-0.5, 0.0, 1e300],
    "dates": [date(1, 1, 1), date(2024, 2, 29), date(9999, 12, 31)],
    "texts": ["", "a", "B", "é", "\U0001f600", " a"],
    "truths": [False, True],
}
LINES = ("integers", "decimals", "floats", "dates")


@st.composite
def tables(draw: st.DrawFn) -> tuple[Columns, dict[str, str]]:
    """Columns q0, q1, s0, s1 and kept, and the kind of each."""
    rows = draw(st.integers(1, 25))
    columns, kinds = {}, {}
    for name in ("q0", "q1", "s0", "s1", "kept"):
        kind = kinds[name] = draw(st.sampled_from(sorted(VALUES)))
        missing = name[0] != "s" and draw(st.booleans())
        cell = st.sampled_from(VALUES[kind]) if not missing else st.sampled_from([*VALUES[kind], None])
        columns[name] = draw(st.lists(cell, min_size=rows, max_size=rows))
        if all(value is None for value in columns[name]):
            columns[name][0] = VALUES[kind][0]
    return columns, kinds


POLICY = tc.Policy([tc.Quasi("q0", recode="set"), "q1"], ["s0", "s1"], k=1)


def decoded(table: EncodedTable, columns: Columns, kinds: dict[str, str]) -> None:
    """Every code stands for the value of its row."""
    order = table.order.tolist()
    assert sorted(order) == list(range(len(columns["q0"])))
    for attribute in table.sensitive:
        name = attribute.column.name
        assert [attribute.published[int(code)].as_py() for code in attribute.codes] == [columns[name][row] for row in order]
        assert attribute.counts.tolist() == [columns[name].count(value.as_py()) for value in attribute.published]
    kept = table.kept["kept"]
    assert [kept.values[int(code)].as_py() for code in kept.codes] == [columns["kept"][row] for row in order]
    for name, scale, codes in zip(("q0", "q1"), table.scales, table.quasi, strict=True):
        ascending = sorted({value for value in columns[name] if value is not None}, key=key_of(kinds[name]))
        places = {value: place for place, value in enumerate(ascending)} | {None: len(ascending)}
        assert scale.size == len(set(columns[name]))
        assert codes.tolist() == [places[columns[name][row]] for row in order]
        assert codes.dtype == narrow(scale.size) == np.uint8


def key_of(kind: str) -> Callable[[Any], Any]:
    return (lambda value: value.encode()) if kind == "texts" else (lambda value: value)


def sort_keys(table: EncodedTable) -> list[tuple[int, ...]]:
    columns = [*table.quasi, *(attribute.codes for attribute in table.sensitive), *(kept.codes for kept in table.kept.values())]
    return list(zip(*(codes.tolist() for codes in columns), strict=True))


@SOME
@given(tables())
def test_codes_decode_to_the_input_and_rows_are_sorted(case: tuple[Columns, dict[str, str]]) -> None:
    columns, kinds = case
    table = encoded(columns, POLICY, kept=("kept",))
    decoded(table, columns, kinds)
    keys = sort_keys(table)
    assert keys == sorted(keys)
    for key in set(keys):  # of rows that agree in all, the input's order
        same = [row for row, other in zip(table.order.tolist(), keys, strict=True) if other == key]
        assert same == sorted(same)


@SOME
@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_the_input_never_matters(case: tuple[Columns, dict[str, str]], lots: Any) -> None:
    columns, _ = case
    rows = len(columns["q0"])
    order = lots.sample(range(rows), rows)
    one = encoded(columns, POLICY, kept=("kept",))
    two = encoded({name: [values[row] for row in order] for name, values in columns.items()}, POLICY, kept=("kept",))
    assert sort_keys(one) == sort_keys(two)
    for first, second in zip(one.quasi, two.quasi, strict=True):
        assert first.tolist() == second.tolist()


@SOME
@given(tables(), st.integers(1, 5))
def test_how_many_rows_the_engine_hands_over_at_a_time_never_matters(case: tuple[Columns, dict[str, str]], batch: int) -> None:
    columns, kinds = case
    whole: list[bytes] = []
    parts: list[bytes] = []
    one = encoded(columns, POLICY, kept=("kept",), feed=whole.append)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tclose.tables.queried, "ROWS", batch)
        two = encoded(columns, POLICY, kept=("kept",), feed=parts.append)
    decoded(two, columns, kinds)
    assert one.order.tolist() == two.order.tolist()
    assert sort_keys(one) == sort_keys(two)
    assert whole == parts


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 300, 65536, 65537])
@pytest.mark.parametrize("missing", [False, True])
def test_codes_are_as_narrow_as_their_number_allows(size: int, missing: bool) -> None:
    values: list[Any] = [*range(size), *([None] if missing else [])]
    batches = [pa.record_batch({"c": pa.array(values[start : start + 97], pa.int64())}) for start in range(0, len(values), 97)]
    ((domain, codes),) = coded(batches, 1)
    assert domain.to_pylist() == values
    assert codes.tolist() == list(range(len(values)))
    bytes_needed = 1 if len(values) <= 256 else 2 if len(values) <= 65536 else 4
    assert bytes_needed <= codes.dtype.itemsize <= 2 * bytes_needed
    table = encoded({"q": values, "s": values[:1] * len(values)}, tc.Policy(["q"], [tc.Sensitive("s", distance="equal")], k=1))
    assert table.quasi[0].dtype.itemsize == bytes_needed
    assert table.sensitive[0].codes.dtype == np.uint8


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(1, 6), st.integers(1, 30), st.sampled_from([2, 10, 2**20, 2**31]), st.randoms(use_true_random=False))
def test_sorting_by_keys_whose_product_exceeds_64_bits(columns: int, rows: int, size: int, lots: Any) -> None:
    codes = [
        np.array([lots.randrange(size) if lots.random() < 0.5 else size - 1 for _ in range(rows)], dtype=np.uint32)
        for _ in range(columns)
    ]
    found = sorted_order([(column, size) for column in codes]).tolist()
    assert found == sorted(range(rows), key=lambda row: tuple(int(column[row]) for column in codes))


def test_a_table_of_many_columns_of_many_values() -> None:
    """Forty columns of 1,000 values: the product of their sizes has 400 bits."""
    rows = 1000
    lots = np.random.default_rng(3)
    columns = {f"q{place}": lots.permutation(rows) % (rows if place % 2 else 3) for place in range(40)} | {
        "s": np.arange(rows) % 5
    }
    table = encoded(columns, tc.Policy([f"q{place}" for place in range(40)], ["s"], k=1))
    keys = sort_keys(table)
    assert keys == sorted(keys)
    assert sorted(table.order.tolist()) == list(range(rows))
    for place, codes in enumerate(table.quasi):
        assert (columns[f"q{place}"][table.order] == codes).all()
    few = tc.anonymize(pa.table(columns), tc.Policy([f"q{place}" for place in range(40)], {"s": 0.5}, k=400))
    assert few.audit.k >= 400


@given(st.lists(st.integers(0, 2**62), min_size=1, max_size=20))
def test_renumbered_keys_keep_their_order(keys: list[int]) -> None:
    numbers, indices = renumber(np.array(keys, dtype=np.int64))
    distinct = sorted(set(keys))
    assert [keys[index] for index in indices] == distinct
    assert numbers.tolist() == [distinct.index(key) for key in keys]


def test_persons_are_numbered_and_sorted_last() -> None:
    table = encoded(
        {"q": [1, 1, 1], "s": [1, 1, 1], "who": ["b", "a", "b"]}, tc.Policy(["q"], ["s"], k=1, unit="who"), unit="who"
    )
    assert table.persons is not None
    assert table.persons.tolist() == [0, 1, 1]
    assert table.order.tolist() == [1, 0, 2]


def test_some_rows_of_a_table_keep_what_they_are_compared_with() -> None:
    table = encoded({"q": [3, 1, 2], "s": [9, 8, 9], "kept": list("xyx")}, tc.Policy(["q"], ["s"], k=1), kept=("kept",))
    part = table.take(np.array([0, 2]))
    assert part.rows == 2
    assert part.order.tolist() == [1, 0]
    assert part.sensitive[0].counts.tolist() == [1, 2]
    assert part.sensitive[0].codes.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("columns", "quasi", "error", "says"),
    [
        ({"q": [1.0, float("inf")]}, tc.Quasi("q"), tc.InputError, "finite numbers"),
        ({"q": ["a", "b"]}, tc.Quasi("q", recode="bounds"), tc.PolicyError, "recode: bounds of 'q' needs numbers or dates"),
        ({"q": ["a", "b"]}, tc.Quasi("q", snap=3), tc.PolicyError, "snap of 'q' needs numbers or dates"),
        ({"q": ["a", "b"]}, tc.Quasi("q", hierarchy={"x": ["a"]}), tc.HierarchyError, "Value 'b' of 'q', first in row 2"),
        (
            {"q": ["a", "b"]},
            tc.Quasi("q", hierarchy="dates"),
            tc.PolicyError,
            "a value must be a date, as 2024-03-05. Got 'a', first in row 1",
        ),
        (
            {"q": [1, 2]},
            tc.Quasi("q", hierarchy="dates"),
            tc.PolicyError,
            "a value must be a date, as 2024-03-05. Got '1', first in row 1",
        ),
        (
            {"q": ["1", "2"]},
            tc.Quasi("q", hierarchy={"cuts": [2]}),
            tc.PolicyError,
            "hierarchy: cuts of 'q' needs numbers. The column holds text.",
        ),
    ],
)
def test_what_does_not_fit_a_scale_is_refused(columns: Columns, quasi: tc.Quasi, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        encoded({**columns, "s": [1, 2]}, tc.Policy([quasi], ["s"], k=1))
