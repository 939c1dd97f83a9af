"""Divergences: measures of an audit, never its guarantee."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tclose import emd
from tclose.judge.divergences import jensen_shannon, kullback_leibler, variational
from tclose.values.histograms import Histograms
from tests import naive

PAIRS = [
    (variational, naive.variational),
    (kullback_leibler, naive.kullback_leibler),
    (jensen_shannon, naive.jensen_shannon),
]
CLASSES = st.integers(1, 6).flatmap(
    lambda m: st.lists(st.lists(st.integers(0, 9), min_size=m, max_size=m).filter(any), min_size=1, max_size=4)
)


def test_a_class_of_one_value_out_of_two() -> None:
    # P = (1, 0), Q = (1/2, 1/2), M = (3/4, 1/4).
    classes = Histograms.of([[1, 0], [0, 1]])
    assert variational(classes) == pytest.approx([0.5, 0.5])
    assert kullback_leibler(classes) == pytest.approx([math.log(2)] * 2)
    assert jensen_shannon(classes) == pytest.approx([(math.log(4 / 3) + math.log(2 / 3) / 2 + math.log(2) / 2) / 2] * 2)


@pytest.mark.parametrize(("comp", "ref"), PAIRS)
@given(classes=CLASSES)
def test_divergences_against_naive(
    comp: Callable[[Histograms], Any], ref: Callable[..., float], classes: list[list[int]]
) -> None:
    table = naive.total(classes)
    np.testing.assert_allclose(comp(Histograms.of(classes)), [ref(p, table) for p in classes], atol=1e-12)


@pytest.mark.parametrize(("comp", "ref"), PAIRS)
def test_they_cannot_rank_low_salaries_and_scattered_ones(comp: Callable[[Histograms], Any], ref: Callable[..., float]) -> None:
    # Li et al. 2007: {3k, 4k, 5k} gives more away than {6k, 8k, 11k}, and only the ground distance can tell.
    salaries = range(3, 12)
    low, scattered, rest = ([int(salary in chosen) for salary in salaries] for chosen in ({3, 4, 5}, {6, 8, 11}, {7, 9, 10}))
    measured = comp(Histograms.of([low, scattered, rest]))
    assert measured[0] == measured[1] == pytest.approx(ref(low, [1] * 9))
    assert emd(low, [1] * 9, exact=True) == Fraction(3, 8)
    assert emd(scattered, [1] * 9, exact=True) == Fraction(1, 6)
