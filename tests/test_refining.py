"""Moves and swaps of rows between classes that hold: by hand, against naive twins, and what always holds."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tclose.algorithms import moving, running, standing, swapping
from tclose.algorithms.moving import move_all
from tclose.algorithms.refining import refine
from tclose.algorithms.running import run_parts
from tclose.algorithms.standing import Groups, Standing, alike_of, classes_of, groups
from tclose.algorithms.swapping import swap_all, together_to_swap
from tests import naive_growth
from tests.growth_tables import M, Table, lists, many, people, tables, width

ROUNDS = 7
RISES = st.sampled_from([0.0, 0.25, 1.5])


def stage(
    step: Callable[..., None], table: Table, labels: list[int], rise: float = 0.0, similar: Groups | None = None
) -> Standing:
    """Classes after moves, or swaps, in groups; in one group if none are given."""
    classes, alike = classes_of(table.quasi, table.losses, np.array(labels)), alike_of(table.limits)
    similar = similar or groups(classes, 0, max(labels) + 1)
    room: Any = partial(moving.room_for, table.limits, int(alike.max()) + 1, similar.rows)
    if step is swap_all:
        room = partial(swapping.room_for, table.limits, similar.rows)
    parts = len(similar.starts) - 1
    run_parts(step, parts, room, table.quasi, table.losses, table.limits, alike, classes, similar, rise)
    return classes


def moved(table: Table, labels: list[int]) -> list[int]:
    found: list[int] = stage(move_all, table, labels).labels.tolist()
    return found


def swapped(table: Table, labels: list[int]) -> list[int]:
    found: list[int] = stage(swap_all, table, labels).labels.tolist()
    return found


def refined(table: Table, labels: list[int], rounds: int = ROUNDS, hear: Callable[[float], bool] = lambda _: True) -> list[int]:
    found: list[int] = refine(table.quasi, table.losses, table.limits, np.array(labels), rounds, hear).tolist()
    return found


# By hand: a class of s rows that spans w of the eight steps between the ages 0 and 8 loses s * w / 8


@pytest.mark.parametrize(("k", "expected"), [(2, [0, 0, 1, 1, 1, 1]), (3, [0, 0, 0, 1, 1, 1])])
def test_a_row_goes_where_the_loss_falls_if_enough_stay(k: int, expected: list[int]) -> None:
    # 7 stretches {0, 1, 7}, which loses 21/8; {0, 1} would lose 2/8. In {7, 8, 8} it costs 1/8.
    assert moved(people([0, 1, 7, 7, 8, 8], [0] * 6, k=k), [0, 0, 0, 1, 1, 1]) == expected


@pytest.mark.parametrize(("t", "expected"), [("1/2", [0, 0, 1, 1, 1, 1]), ("1/4", [0, 0, 0, 1, 1, 1])])
def test_a_row_stays_if_the_class_left_behind_would_break_t(t: str, expected: list[int]) -> None:
    # Half of the table has the value 0, and of {0, 1} without the 7 none: a distance of 1/2.
    assert moved(people([0, 1, 7, 7, 8, 8], [1, 1, 0, 0, 1, 0], t=t), [0, 0, 0, 1, 1, 1]) == expected


@pytest.mark.parametrize(("t", "expected"), [("1/9", [0] * 6 + [1] * 3), ("1/18", [0] * 7 + [1] * 2)])
def test_a_row_stays_if_the_class_that_it_would_join_would_break_t(t: str, expected: list[int]) -> None:
    # 5/9 of the table have the value 0. The class left behind has 1/2 of them, {7, 8} has 1/2, and {7, 7, 8} would have 2/3.
    assert moved(people([0, 0, 0, 1, 1, 1, 7, 7, 8], [0, 1, 0, 1, 0, 1, 0, 0, 1], t=t), [0] * 7 + [1] * 2) == expected


def test_a_class_that_took_a_row_is_asked_anew() -> None:
    # 9/16 of the table have the value 0. {7, 8} has 1/2 of them, 2/3 with one more 7, and 3/4 with both.
    table = people([0] * 12 + [7, 7, 7, 8], [0, 1] * 6 + [0, 0, 0, 1], t="1/9")
    assert moved(table, [0] * 14 + [1] * 2) == [0] * 12 + [1, 0, 1, 1]


def test_a_class_is_given_up_if_its_rows_lose_less_elsewhere() -> None:
    # {1, 7} loses 12/8, and no row may leave it alone; in {0, 1} and {7, 8} its rows cost 1/8 each.
    assert moved(people([0, 1, 1, 7, 7, 8], [0] * 6, k=2), [0, 0, 1, 1, 2, 2]) == [0, 0, 0, 2, 2, 2]


def test_a_class_is_put_back_if_one_of_its_rows_finds_no_place() -> None:
    # {1, 7} again. Half of the table has the value 1; with the 7, {7, 8} would have 2/3 of them, which is 1/6 more.
    ages, values, labels = [0, 0, 1, 1, 1, 7, 7, 8], [0, 1, 0, 1, 0, 1, 1, 0], [0, 0, 0, 0, 1, 1, 2, 2]
    assert moved(people(ages, values, k=2, t="1/6"), labels) == [0, 0, 0, 0, 0, 2, 2, 2]
    table = people(ages, values, k=2, t="1/10")
    classes = stage(move_all, table, labels)
    assert lists(classes) == [[0, 1, 2, 3], [4, 5], [6, 7]]
    assert_measured(table, classes)


def test_rows_with_equal_sensitive_values_are_swapped() -> None:
    # {0, 8} and {8, 0} with the values 0, 1 and 0, 1: whatever t is, the rows with the value 0 may change places.
    assert swapped(people([0, 8, 8, 0], [0, 1, 0, 1], k=2, t=0), [0, 0, 1, 1]) == [1, 0, 0, 1]


@pytest.mark.parametrize(
    ("values", "t", "expected"),
    [
        ([0, 1, 1, 1], "1/4", [1, 0, 0, 1]),  # the class with the one 0 is the other one then
        ([0, 1, 1, 0], "1/2", [1, 0, 0, 1]),  # one class has both 0 then,
        ([0, 1, 1, 0], "1/4", [0, 0, 1, 1]),  # twice their share of the table
    ],
)
def test_rows_with_other_sensitive_values_are_swapped_if_both_classes_hold(
    values: list[int], t: str, expected: list[int]
) -> None:
    assert swapped(people([0, 8, 8, 0], values, k=2, t=t), [0, 0, 1, 1]) == expected


@pytest.mark.parametrize(("persons", "expected"), [([0, 1, 2, 3], [1, 0, 0, 1]), ([0, 1, 1, 2], [0, 0, 1, 1])])
def test_rows_are_not_swapped_if_a_class_would_have_too_few_persons(persons: list[int], expected: list[int]) -> None:
    # Either swap that helps brings the two rows with the age 8 together.
    table = Table([(0,), (8,), (8,), (0,)], ([0] * 4, "equal", {}, [0] * M), k=2, persons=persons)
    assert swapped(table, [0, 0, 1, 1]) == expected


def test_classes_of_one_row() -> None:
    assert refined(people([5], [0]), [0]) == [0]
    assert refined(people([0, 1, 7, 8], [0] * 4), [0, 1, 1, 2]) == [0, 0, 1, 2]
    assert swapped(people([0, 8, 4], [0] * 3), [0, 0, 1]) == [1, 0, 0]  # the first of two that help alike


def test_large_classes_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    table, labels = people([0, 1, 7, 7, 8], [0] * 5, k=2), [0, 0, 0, 1, 1]
    assert refined(table, labels) == [0, 0, 1, 1, 1]
    for largest in (2, 0):
        monkeypatch.setattr(standing, "LARGEST", largest)
        assert refined(table, labels) == labels


def test_it_ends_when_it_is_told_to() -> None:
    table, labels = people([0, 1, 7, 7, 8, 4], [0] * 6, k=2), [0, 0, 0, 1, 1, 1]
    heard: list[float] = []

    def hear(loss: float) -> bool:
        heard.append(loss)
        return len(heard) < 2

    found = refined(table, labels, 9, hear)
    assert len(heard) == 2
    assert heard[-1] == table.lost(found) / 6 < table.lost(labels) / 6
    assert refined(table, labels, 0) == labels


def test_a_round_that_raised_the_loss_is_not_taken() -> None:
    # Rows lose 5/9 on average, and a move may cost 0.19 in the first of nine rounds. Only a 1 can move, and costs 5/8 - 4/8.
    table, labels = people([0, 0, 5, 5, 1, 1, 3, 5, 5], [0] * 9, k=4), [0] * 4 + [1] * 5
    assert stage(move_all, table, labels, rise=0.19).labels.tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 1]
    assert refined(table, labels, 9, lambda _: False) == labels


@pytest.mark.parametrize(("rows", "expected"), [(1, 2), (5, 2), (6, 3), (1000, 7)])
def test_classes_with_many_rows_are_swapped_in_small_groups(rows: int, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Five classes of two rows each: a group of six rows has three of them.
    monkeypatch.setattr(swapping, "ROWS", rows)
    monkeypatch.setattr(swapping, "TOGETHER", 7)
    table = people([0] * 10, [0] * 10)
    assert together_to_swap(classes_of(table.quasi, table.losses, np.arange(10) // 2)) == expected


def test_rows_are_alike_if_no_limit_tells_them_apart() -> None:
    columns = [([0, 0, 1, 0, 0], "equal", {"l": 1}, [0] * M), ([3, 3, 3, 2, 3], "ordered", {"t": 1}, [0, 1, 0, 0])]
    assert alike_of(Table([(0,)] * 5, *columns).limits).tolist() == [1, 1, 2, 0, 1]
    assert alike_of(Table([(0,)] * 5, *columns, persons=[0, 0, 1, 1, 2]).limits).tolist() == [1, 1, 3, 0, 2]


# Against the naive twins


@settings(max_examples=100, deadline=None)
@given(drawn=tables(), number=st.integers(0, 8), together=st.integers(1, 5), largest=st.sampled_from([0, 2, 5, 5000]))
def test_groups_against_naive(drawn: Any, number: int, together: int, largest: int) -> None:
    table, labels = drawn
    classes = classes_of(table.quasi, table.losses, np.array(labels_without_gaps(labels)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(standing, "LARGEST", largest)
        comp = groups(classes, number, together)
    ref = naive_growth.groups(table.rows, lists(classes), number, together, largest)
    parts = [comp.order[a:b].tolist() for a, b in pairwise(comp.starts)]
    assert parts == ref or (parts == [[]] and not ref)
    assert comp.rows == max((sum(int(classes.sizes[label]) for label in group) for group in ref), default=0)


@pytest.mark.parametrize(
    ("step", "twin"), [(move_all, naive_growth.move_all), (swap_all, naive_growth.swap_all)], ids=["moves", "swaps"]
)
@settings(max_examples=120, deadline=None)
@given(drawn=tables(), number=st.integers(0, 5), together=st.integers(2, 6), rise=RISES)
def test_a_stage_against_naive(step: Any, twin: Any, drawn: Any, number: int, together: int, rise: float) -> None:
    table, labels = drawn[0], drawn[0].merged(drawn[1])
    start = classes_of(table.quasi, table.losses, np.array(labels))
    comp = stage(step, table, labels, rise, groups(start, number, together))
    ref = naive_growth.classes_of(labels)
    for group in naive_growth.groups(table.rows, ref, number, together, standing.LARGEST):
        twin(table.rows, ref, group, table.holds, width, Fraction(rise))
    assert lists(comp) == ref
    assert_measured(table, comp)
    assert table.all_hold(comp.labels.tolist())
    assert rise or table.lost(comp.labels.tolist()) <= table.lost(labels)


def assert_measured(table: Table, classes: Standing) -> None:
    """Boxes and losses are those of the classes as they are."""
    filled = classes.sizes > 0
    fresh = classes_of(table.quasi, table.losses, np.array(labels_without_gaps(classes.labels.tolist())))
    for name in ("lows", "next_lows", "highs", "next_highs", "own", "totals"):
        np.testing.assert_array_equal(getattr(classes, name)[filled], getattr(fresh, name))
    assert not classes.totals[~filled].any()


def labels_without_gaps(labels: list[int]) -> list[int]:
    return [sorted(set(labels)).index(label) for label in labels]


@settings(max_examples=80, deadline=None)
@given(
    drawn=tables(),
    together=st.integers(2, 6),
    rows=st.sampled_from([6, 2000]),
    largest=st.sampled_from([4, 5000]),
    data=st.data(),
)
def test_refining_against_naive(drawn: Any, together: int, rows: int, largest: int, data: st.DataObject) -> None:
    table, labels = drawn[0], drawn[0].merged(drawn[1])
    rounds = data.draw(st.integers(0, 12), label="rounds")
    heard = data.draw(st.integers(1, 12), label="heard")

    def in_groups(classes: list[list[int]]) -> int:
        return max(2, min(together, rows * sum(map(bool, classes)) // len(labels)))

    told: list[float] = []

    def hear(loss: float) -> bool:
        told.append(loss)
        return len(told) < heard

    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in (
            (moving, "TOGETHER", together),
            (swapping, "TOGETHER", together),
            (swapping, "ROWS", rows),
            (standing, "LARGEST", largest),
        ):
            patch.setattr(module, name, value)
        comp = refined(table, labels, rounds, hear)
    assert comp == naive_growth.refine(
        table.rows, labels, table.holds, width, rounds, together, in_groups, largest, min(heard, rounds)
    )
    assert sorted(set(comp)) == list(range(max(comp) + 1))
    assert table.all_hold(comp)
    assert table.lost(comp) <= table.lost(labels)
    assert len(told) == min(heard, rounds)
    assert told == sorted(told, reverse=True)


# What changes nothing


@pytest.fixture(scope="module")
def refined_once() -> tuple[Table, list[int], list[int]]:
    """A table, and its labels before and after."""
    table, labels = many()
    found = refined(table, labels)
    assert table.lost(found) < table.lost(labels) / 2
    assert table.all_hold(found)
    return table, labels, found


def test_answers_that_are_kept_change_nothing(refined_once: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    table, labels, found = refined_once
    monkeypatch.setattr(moving, "KINDS", 0)
    assert refined(table, labels) == found


@pytest.mark.parametrize("cores", [1, 3])
def test_cores_change_nothing(cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (moving, swapping):
        monkeypatch.setattr(module, "TOGETHER", 8)
    table, labels = many()
    monkeypatch.setattr(running, "cores", lambda: 2)
    found = refined(table, labels)
    monkeypatch.setattr(running, "cores", lambda: cores)
    assert refined(table, labels) == found
