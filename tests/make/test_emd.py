"""The earth mover's distance of the maker, in floats and exact, against the naive twin and the judge, which share no code with it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tclose.distances import Matrix, Ordered
from tclose.judge.emd import exact_emd as judged
from tclose.make.emd import emds, exact_emd
from tests import naive
from tests.support.distances import KINDS, cases, counts, partitions
from tests.support.examples import examples


def test_half_the_mass_moves_over_the_whole_range() -> None:
    assert exact_emd(Ordered(3), np.array([1, 1, 0]), np.array([0, 1, 1])) == Fraction(1, 2)


def test_one_value_is_at_distance_0() -> None:
    assert exact_emd(Matrix([[0]]), np.array([3]), np.array([7])) == 0
    assert emds(Ordered(1), np.ones((2, 1)), np.ones(1)).tolist() == [0, 0]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_exact_and_floats_agree_with_the_twin_and_the_judge(kind: str, data: st.DataObject) -> None:
    case = data.draw(cases(kind))
    classes = data.draw(partitions(case.comp.m))
    table = data.draw(st.one_of(st.just(naive.total(classes)), counts(case.comp.m, 10**12)))
    refs = [(case.ref or (lambda p, q: judged(case.comp, p, q)))(p, table) for p in classes]
    assert [exact_emd(case.comp, np.array(p), np.array(table)) for p in classes] == refs
    shares, of_table = np.array([naive.shares(p) for p in classes], dtype=object), np.array(naive.shares(table), dtype=object)
    assert [Fraction(found) for found in emds(case.comp, shares, of_table)] == refs
    floats = emds(case.comp, shares.astype(np.float64), of_table.astype(np.float64))
    assert floats.tolist() == pytest.approx([float(ref) for ref in refs], abs=1e-12)
