"""Cells: counted combinations of values, however an engine cuts them into batches."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tclose.tables import counted as module
from tclose.tables.counted import Cells
from tclose.values import arrays
from tests.support.examples import examples

Row = tuple[int | None, str | None, int]


def batches(rows: list[Row], size: int) -> list[pa.RecordBatch]:
    """Distinct rows with their counts, so many in each batch, in no order."""
    counted = list(Counter(rows).items())
    parts = [counted[start : start + size] for start in range(0, len(counted), size)]
    return [
        pa.record_batch(
            [
                pa.array([row[0] for row, _ in part], pa.int64()),
                pa.array([row[1] for row, _ in part], pa.string()),
                pa.array([row[2] for row, _ in part], pa.int64()),
                pa.array([count for _, count in part], pa.decimal128(38, 0)),
            ],
            names=["a", "b", "s", "weight"],
        )
        for part in parts
    ]


def test_a_small_table_by_hand() -> None:
    cells = Cells(batches([(2, "x", 5), (1, None, 5), (1, "y", 7), (1, "y", 7), (None, "x", 5)], 2), ["a", "b"], ["s"])
    assert cells.quasi_values("a").to_pylist() == [1, 1, 2, None]  # missing last
    assert cells.quasi_values("b").to_pylist() == ["y", None, "x", "x"]
    assert cells.sizes.tolist() == [2, 1, 1, 1]
    domain, counts = cells.domain("s")
    assert (domain.to_pylist(), counts.tolist()) == ([5, 7], [3, 2])
    (part,) = cells.histograms("s", np.array([1, 0]), np.array([2, 3]))  # code 0 is the value 7
    assert [part.dense(number).tolist() for number in range(4)] == [[2, 0], [0, 1], [0, 1], [0, 1]]


@settings(max_examples=examples(150), deadline=None)
@given(
    st.lists(st.tuples(st.none() | st.integers(0, 3), st.none() | st.sampled_from("pqr"), st.integers(0, 4)), min_size=1),
    st.integers(1, 7),
    st.integers(1, 9),
    st.sampled_from([0, 1, 100]),
)
def test_batches_and_chunks_never_matter(rows: list[Row], batch: int, chunk: int, few: int) -> None:
    def last(row: tuple[Any, ...]) -> list[tuple[bool, Any]]:
        return [(cell is None, cell) for cell in row[:2]]

    cells = Cells(batches(rows, batch), ["a", "b"], ["s"])
    classes = sorted({row[:2] for row in rows}, key=last)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHUNK", chunk)
        patch.setattr(arrays, "FEW", few)  # keys are sorted, or counted
        assert list(zip(cells.quasi_values("a").to_pylist(), cells.quasi_values("b").to_pylist(), strict=True)) == classes
        assert cells.sizes.tolist() == [sum(row[:2] == owner for row in rows) for owner in classes]
        domain, counts = cells.domain("s")
        parts = list(cells.histograms("s", np.arange(len(domain)), counts))
    assert [part.first for part in parts] == np.cumsum([0, *(len(part) for part in parts[:-1])]).tolist()
    comp = [part.dense(number).tolist() for part in parts for number in range(len(part))]
    ref = [[sum(row == (*owner, value) for row in rows) for value in domain.to_pylist()] for owner in classes]
    assert comp == ref


def test_tuples_stand_in_lexicographic_order_of_their_codes() -> None:
    cells = Cells(batches([(2, "x", 5), (1, "y", 7), (1, "y", 7), (1, "x", 7), (2, "y", 5)], 2), ["a"], ["b", "s"])
    parts, histograms = cells.tuples({"s": np.array([1, 0]), "b": np.array([0, 1])})  # code 0 is the value 7
    assert [codes.tolist() for codes in parts] == [[0, 0, 1, 1], [0, 1, 0, 1]]  # (7, x) (7, y) (5, x) (5, y)
    (part,) = histograms
    assert (part.table.tolist(), [part.dense(number).tolist() for number in range(2)]) == (
        [1, 2, 1, 1],
        [[1, 2, 0, 0], [0, 0, 1, 1]],
    )


def test_keys_of_many_wide_columns_do_not_wrap() -> None:
    # Twelve columns of 1,000 values each: 10^36 possible classes, more than 64 bits can number.
    rng = np.random.default_rng(3)
    table = rng.integers(0, 1000, (2000, 12))
    table[1000:] = table[:1000]
    table[1000:, 11] += 1  # differs in the last column only
    names = [f"q{place}" for place in range(12)]
    batch = pa.record_batch([*(pa.array(column) for column in table.T), pa.array(np.ones(2000, np.int64))], names=[*names, "n"])
    cells = Cells([batch], names, [])
    assert len(cells.sizes) == 2000
    comp = np.stack([cells.quasi_values(name).to_numpy() for name in names], axis=1)
    assert comp.tolist() == sorted(table.tolist())
