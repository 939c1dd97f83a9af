"""Wang's two algorithms: rows grouped by their sensitive values, and classes of about one row of each group."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tclose as tc
from tclose.distances import Equal, Ordered
from tclose.make.wang import groups_by_component, groups_by_distance, shared_out, sizes_of_groups
from tests import naive

ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=30)


def attributes(rows: list[tuple[int, int]]) -> list[Any]:
    """An ordered attribute of five values, whose ground distances are quarters, and one of equally distant values."""
    codes = np.array(rows).T
    return [SimpleNamespace(codes=codes[0], distance=Ordered(5)), SimpleNamespace(codes=codes[1], distance=Equal(5))]


@given(ROWS, st.integers(1, 6))
def test_groups_by_distance_are_those_of_the_naive_twin(rows: list[tuple[int, int]], k: int) -> None:
    k = min(k, len(rows))

    def square(a: int, b: int) -> float:
        return ((rows[a][0] - rows[b][0]) / 4) ** 2 + (rows[a][1] != rows[b][1])

    assert groups_by_distance(attributes(rows), k).tolist() == naive.wang.groups_by_distance(rows, k, square)


@given(ROWS, st.integers(1, 6))
def test_groups_along_a_component_have_equal_sizes_and_follow_it(rows: list[tuple[int, int]], k: int) -> None:
    k = min(k, len(rows))
    groups = groups_by_component(attributes(rows), k)
    assert np.bincount(groups, minlength=k).tolist() == sizes_of_groups(len(rows), k).tolist()
    codes = np.array(rows, dtype=float)
    deviations = codes.std(axis=0)
    if deviations.min() > 0 and abs(np.corrcoef(codes.T)[0, 1]) > 1e-6:  # else any direction is as good
        along = (codes - codes.mean(axis=0)) / deviations @ [1, np.sign(np.corrcoef(codes.T)[0, 1])]
        for number in range(k - 1):
            assert along[groups == number].max() <= along[groups > number].min() + 1e-6


def test_one_attribute_is_cut_along_its_order() -> None:
    rows = [(value, 0) for value in (4, 0, 3, 1, 2, 2)]
    assert groups_by_component(attributes(rows), 3).tolist() == [2, 0, 2, 0, 1, 1]
    assert groups_by_distance(attributes(rows), 3).tolist() == [0, 1, 0, 1, 2, 2]


@given(st.lists(st.integers(1, 8), min_size=1, max_size=6).filter(lambda sizes: max(sizes) - min(sizes) <= 1))
def test_every_class_takes_a_row_of_each_group_and_all_rows_are_taken(sizes: list[int]) -> None:
    wanted = shared_out(np.array(sizes))
    assert wanted.sum(axis=0).tolist() == sizes
    assert wanted.min() == 1
    assert wanted.sum(axis=1).max() - wanted.sum(axis=1).min() <= len(sizes)


@pytest.mark.parametrize("algorithm", ["wang-clustering", "wang-pca"])
def test_several_sensitive_attributes_are_close(algorithm: str) -> None:
    people = pa.table(
        {"age": [row * 7 % 40 for row in range(80)], "pay": [row * 11 % 23 for row in range(80)], "ill": ["a", "b"] * 40}
    )
    asked = tc.Policy(["age"], {"pay": 0.25, "ill": 0.3}, k=4)
    release = tc.anonymize(people, asked, algorithm=algorithm)
    assert not release.audit.violations
    assert release.audit.classes > 4
