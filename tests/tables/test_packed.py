"""Rows are packed into cells and come out of them as they were."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tclose.tables import packed
from tclose.tables.packed import by_value, pack, together, unpacked

ROWS = st.lists(st.tuples(st.integers(-3, 3), st.none() | st.text(max_size=3)), max_size=30)


def table_of(rows: list[tuple[int, str | None]]) -> pa.Table:
    """Numbers and texts, of which some are missing."""
    numbers, texts = zip(*rows, strict=True) if rows else ((), ())
    return pa.table({"number": pa.array(numbers, pa.int8()), "text": pa.array(texts, pa.string())})


@given(rows=ROWS, size=st.integers(1, 40), most=st.integers(1, 40))
def test_packed_rows_are_the_same_rows(rows: list[tuple[int, str | None]], size: int, most: int) -> None:
    """Columns are packed by themselves, and come out side by side; batches are larger than those that went in."""
    table = table_of(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed, "TOGETHER", most)
        parts = list(together(table.to_batches(max_chunksize=size)))
    assert all(part.num_rows for part in parts)
    assert all(part.num_rows >= most for part in parts[:-1])
    names = ("text", "number")
    cells = pa.table({name: pa.array([pack(part.select([name])) for part in parts], pa.binary()) for name in names})
    comp = pa.Table.from_batches(unpacked(cells.to_batches()), schema=table.select(names).schema)
    assert comp.to_pylist() == table.select(names).to_pylist()


@given(rows=ROWS)
def test_rows_are_parted_by_value_and_stay_in_their_order(rows: list[tuple[int, str | None]]) -> None:
    batch = pa.record_batch([column.combine_chunks() for column in table_of(rows).columns], ["number", "text"])
    comp = {value: part["text"].to_pylist() for value, part in by_value(batch, "number")}
    ref = {value: [text for number, text in rows if number == value] for value in sorted({number for number, _ in rows})}
    assert comp == ref
    assert list(comp) == list(ref)


def test_a_packed_cell_is_smaller_than_its_rows() -> None:
    codes = np.random.default_rng(0).integers(0, 8, 50_000).astype(np.uint8)
    assert len(pack(pa.record_batch({"code": np.repeat(codes, 4)}))) < 100_000
