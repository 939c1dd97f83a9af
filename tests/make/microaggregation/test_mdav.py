"""Distances between rows, centroids and MDAV: by hand, and against their naive twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from tclose.jobs import Job
from tclose.make.kernels.nearest import find_nearest
from tclose.make.microaggregation import mdav as module
from tclose.make.microaggregation.mdav import mdav
from tclose.make.microaggregation.space import Space, find_centroid, measure, space_of
from tclose.make.scales import Line
from tests import naive
from tests.support.examples import examples
from tests.support.microaggregated import Drawn, labels_of, problem_of, problems

FREE = {"distance": "ordered"}


@njit
def _measured(space: Any, rows: Any, point: Any, table: Any, distances: Any) -> None:
    """Only kernels can call the parts."""
    find_centroid(space, rows, point)
    measure(space, point, np.arange(len(distances)).astype(np.int32), table, distances)


def from_centroid(space: Space, rows: list[int]) -> tuple[list[float], list[float]]:
    """The centroid of some rows, and the squared distance of all rows from it."""
    point, distances = np.empty(len(space.rows)), np.empty(space.rows.shape[1])
    _measured(space, np.array(rows, dtype=np.int32), point, np.empty(len(space.metric.codes)), distances)
    return point.tolist(), distances.tolist()


def numbers(codes: list[int], k: int, kind: str = "numbers") -> Drawn:
    return problem_of([kind], [(code,) for code in codes], [[0] * len(codes)], [FREE], k=k)


# Distances and centroids


def test_numbers_are_as_far_apart_as_their_share_of_the_range() -> None:
    # Of 2 to 10: the mean of 2, 4 and 6 is 4, a quarter of the way.
    point, away = from_centroid(space_of(numbers([0, 2, 4, 8], k=1).problem), [0, 1, 2])
    assert (point, away) == ([0.25], [1 / 16, 0, 1 / 16, 9 / 16])


def test_a_missing_cell_is_far_from_every_number_and_the_centroid_of_most() -> None:
    space = space_of(numbers([0, 8, 9, 9], k=1, kind="numbers, missing").problem)
    assert from_centroid(space, [0, 1, 2]) == ([0.5], [0.25, 0.25, 1, 1])
    assert from_centroid(space, [0, 2, 3]) == ([-np.inf], [1, 1, 0, 0])


def test_values_with_a_hierarchy_are_as_far_apart_as_what_is_above_both_loses() -> None:
    # a and b are below x, half of the leaves; c and d are elsewhere.
    space = space_of(numbers([0, 1, 2, 3], k=1, kind="tree").problem)
    assert from_centroid(space, [0]) == ([0], [0, 1 / 4, 1, 1])
    assert from_centroid(space, [1, 2, 3, 1]) == ([1], [1 / 4, 0, 1, 1])


def test_the_centroid_of_a_hierarchy_need_not_be_the_most_frequent_value() -> None:
    # Of c, c, c, a, a, b, b: c is 4 away from the others in all, a is 2/4 away from b, b and 3 from c, c, c.
    space = space_of(numbers([2, 2, 2, 0, 0, 1, 1], k=1, kind="tree").problem)
    assert from_centroid(space, [0, 1, 2, 3, 4, 5, 6])[0] == [0]


def test_values_without_an_order_are_equal_or_apart_and_the_most_frequent_one_is_in_the_middle() -> None:
    space = space_of(numbers([2, 0, 0, 3, 3], k=1, kind="set").problem)
    assert from_centroid(space, [0, 1, 2, 3, 4]) == ([0], [1, 0, 0, 1, 1])  # of two, the first


def test_all_values_beyond_a_limit_lie_in_the_middle_of_what_they_span() -> None:
    drawn = numbers([0, 1, 2], k=1)
    scale, _ = Line.of("q", [0, 1, 2, 6, 10], top=6)
    problem = type(drawn.problem)(
        **{**vars(drawn.problem), "scales": [scale], "quasi": np.array([[0], [2], [3]], dtype=np.int32)}
    )
    assert from_centroid(space_of(problem), [0])[1] == [0, 0.2**2, 0.8**2]


def test_weights_count_squares() -> None:
    drawn = problem_of(["numbers", "set"], [(0, 0), (4, 1)], [[0, 0]], [FREE], k=1, weights=[4.0, 0.5])
    assert from_centroid(space_of(drawn.problem), [0])[1] == [0, 4 / 4 + 0.5]


@settings(max_examples=examples(80), deadline=None)
@given(problems(), st.data())
def test_centroids_and_distances_are_their_naive_twins(drawn: Drawn, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, drawn.problem.rows - 1), min_size=1, unique=True))
    space = space_of(drawn.problem)
    for _ in range(2):  # the first time leaves no trace
        point, away = from_centroid(space, rows)
        centre = drawn.table.centroid(rows)
        assert point == [-np.inf if place is None else place for place in centre]
        assert away == [drawn.table.squared(centre, row) for row in drawn.table.rows]


@njit
def _call(distances: Any, size: int, found: Any) -> None:
    find_nearest(distances, size, found)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.data())
def test_the_nearest_are_the_first_of_all_sorted(distances: list[int], data: st.DataObject) -> None:
    size = data.draw(st.integers(1, len(distances)))
    found = np.full(len(distances), -1)
    _call(np.array(distances, dtype=np.float64), size, found)
    assert found[:size].tolist() == sorted(range(len(distances)), key=lambda index: (distances[index], index))[:size]


# MDAV


def test_classes_lie_around_the_farthest_rows() -> None:
    # The mean is 5 on a scale from 0 to 8: farthest is 0, its class 0 and 1; from it 8 is farthest, its class 8 and 7; and the rest.
    assert mdav(space_of(numbers([0, 1, 6, 6, 7, 8], k=2).problem), 2).tolist() == [0, 0, 2, 2, 1, 1]


def test_fewer_than_2k_rows_are_one_class() -> None:
    assert mdav(space_of(numbers([0, 4, 8], k=2).problem), 2).tolist() == [0, 0, 0]
    assert mdav(space_of(numbers([0, 1, 4, 7, 8], k=2).problem), 2).tolist() == [0, 0, 1, 1, 1]


def test_rows_that_are_all_alike_are_taken_in_their_order() -> None:
    assert mdav(space_of(numbers([3] * 7, k=2).problem), 2).tolist() == [0, 0, 1, 1, 2, 2, 2]


@settings(max_examples=examples(80), deadline=None)
@given(problems())
def test_mdav_is_its_naive_twin(drawn: Drawn) -> None:
    ref = naive.microaggregation.mdav(drawn.table, drawn.k)
    assert mdav(space_of(drawn.problem), drawn.k).tolist() == labels_of(ref)
    sizes = [len(members) for members in ref]
    assert len(sizes) == 1 or all(drawn.k <= size < 2 * drawn.k for size in sizes)


def test_progress_is_reported_and_the_work_can_be_interrupted_and_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    space = space_of(numbers([0, 1, 6, 6, 7, 8], k=2).problem)
    monkeypatch.setattr(module, "VISITS", 1)
    heard: list[tuple[str, str]] = []
    with Job(lambda *what: heard.append(what)):
        assert mdav(space, 2).tolist() == [0, 0, 2, 2, 1, 1]
    figures = [figure for stage, figure in heard if stage == "Making classes of" and figure]
    assert [figure for figure in figures if "compiling" not in figure] == ["2 of 6 rows", "4 of 6 rows", "6 of 6 rows"]
