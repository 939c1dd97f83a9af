"""Labels without gaps, and labels as slices: against what sorting in Python gives."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tclose.values.arrays import grouped, renumber


@given(keys=st.lists(st.integers(0, 40)), bounded=st.booleans())
def test_numbers_have_no_gaps_and_the_same_order(keys: list[int], bounded: bool) -> None:
    numbers, indices = renumber(np.array(keys, dtype=np.int64), max(keys, default=0) + 1 if bounded else None)
    known = sorted(set(keys))
    assert numbers.tolist() == [known.index(key) for key in keys]
    assert [keys[index] for index in indices] == known


@given(labels=st.lists(st.integers(-1, 6)))
def test_rows_are_grouped_by_their_labels(labels: list[int]) -> None:
    rows, starts = grouped(np.array(labels, dtype=np.int64))
    ref = [[row for row, label in enumerate(labels) if label == number] for number in sorted(set(labels) - {-1})]
    assert [rows[a:b].tolist() for a, b in pairwise(starts)] == ref


@pytest.mark.parametrize("labels", [[], [-1, -1]])
def test_no_row_is_no_group(labels: list[int]) -> None:
    rows, starts = grouped(np.array(labels, dtype=np.int64))
    assert (rows.tolist(), starts.tolist()) == ([], [0])
