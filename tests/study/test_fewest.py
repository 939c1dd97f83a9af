"""The fewest rows of a class to suppress, against all ways to suppress rows of it."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tclose.judge.emd import exact_emd
from tclose.study.explain.fewest import most_rows_kept
from tests.support.distances import cases

SHAPES = ["ordered", "numeric", "equal", "hierarchical"]


@pytest.mark.parametrize("kind", SHAPES)
@given(st.data())
def test_no_more_rows_can_be_kept(kind: str, data: st.DataObject) -> None:
    distance = data.draw(cases(kind)).comp
    counts = data.draw(st.lists(st.integers(0, 2), min_size=distance.m, max_size=distance.m).filter(any))
    others = data.draw(st.lists(st.integers(0, 4), min_size=distance.m, max_size=distance.m))
    t, least = Fraction(data.draw(st.integers(0, 20)), 20), data.draw(st.integers(1, 3))
    outside = np.array(others)

    def fits(kept: tuple[int, ...]) -> bool:
        return sum(kept) >= least and exact_emd(distance, kept, np.array(kept) + outside) <= t

    ref = max((sum(kept) for kept in product(*(range(count + 1) for count in counts)) if fits(kept)), default=None)
    comp = most_rows_kept(distance, np.array(counts), np.array(counts) + outside, t, least)
    if not outside.any():
        assert comp is None
    elif ref is None:
        assert comp is not None
        assert not comp.any()
    else:
        assert comp is not None
        assert fits(tuple(comp.tolist()))
        assert (comp <= counts).all()
        assert int(comp.sum()) == ref


def test_numbers_of_rows_are_tried_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    from tclose.distances import Ordered

    counts, table = np.array([9, 0, 2, 0, 1]), np.array([20, 20, 20, 20, 20])
    whole = most_rows_kept(Ordered(5), counts, table, Fraction(1, 4), 2)
    monkeypatch.setattr("tclose.study.explain.fewest.BLOCK", 1)
    blocks = most_rows_kept(Ordered(5), counts, table, Fraction(1, 4), 2)
    assert whole is not None
    assert blocks is not None
    assert whole.tolist() == blocks.tolist() == [4, 0, 2, 0, 1]


def test_a_class_that_is_too_large_and_a_matrix_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    from tclose.distances import Ordered

    monkeypatch.setattr("tclose.study.explain.fewest.WORK", 1)
    assert most_rows_kept(Ordered(2), np.array([3, 0]), np.array([4, 4]), Fraction(0), 1) is None
