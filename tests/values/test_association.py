"""How far one column tells another: by hand, against scipy and against slow twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from tclose.values.association import FEWEST_ROWS, determination, nearly_tells, rank_correlation
from tests import naive

TOWNS = np.repeat(np.arange(5), 20)


def test_a_column_that_tells_another_value_for_value() -> None:
    districts = np.array([2, 0, 1, 0, 2])[TOWNS]  # in no order
    assert determination(TOWNS, districts) == 1
    assert abs(rank_correlation(TOWNS, districts)) < 0.5
    assert nearly_tells(TOWNS, districts)
    assert not nearly_tells(districts, TOWNS)  # a district does not tell the town


def test_a_column_that_tells_the_order_of_another() -> None:
    ages = np.arange(100)
    assert determination(TOWNS, ages) < 0.2  # of twenty ages each
    assert nearly_tells(TOWNS, ages)
    assert nearly_tells(TOWNS, 99 - ages)


def test_columns_that_have_nothing_to_tell() -> None:
    assert determination(TOWNS, np.tile(np.arange(20), 5)) == pytest.approx(0, abs=0.06)
    assert determination(TOWNS, np.zeros(100, dtype=np.int64)) == 0  # one value
    assert determination(np.zeros(100, dtype=np.int64), TOWNS) == 0
    assert determination(np.arange(100), TOWNS) == 0  # no code is that of two rows
    few = np.arange(FEWEST_ROWS - 1)
    assert not nearly_tells(few // 2, few // 4)
    assert not nearly_tells(few[:0], few[:0])


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=FEWEST_ROWS + 5, max_size=60))
def test_against_twins(rows: list[tuple[int, int]]) -> None:
    known, other = (list(codes) for codes in zip(*rows, strict=True))
    comp = determination(np.array(known), np.array(other))
    if len(set(other)) > 1:
        assert comp == pytest.approx(float(naive.determination(known, other)))
        if len(set(known)) > 1:
            assert rank_correlation(np.array(known), np.array(other)) == pytest.approx(spearmanr(known, other).statistic)
    else:
        assert comp == 0
