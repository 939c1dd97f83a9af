"""Moves and swaps of rows between classes that hold: by hand, against naive twins, and what always holds."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tclose.make.growth import move, neighbourhood, refine, swap
from tclose.make.growth.neighbourhood import Given, Groups, similar
from tclose.make.growth.refine import Refined
from tclose.make.kernels import running
from tclose.make.kernels.classes import Classes
from tests import naive
from tests.support.examples import examples
from tests.support.growth_tables import M, Table, assert_measured, labels_without_gaps, lists, many, people, stood, tables, width

ROUNDS = 7
Step = Callable[[Given, Classes, Groups, float], None]
RISES = st.sampled_from([0.0, 0.25, 1.5])


def stage(step: Step, table: Table, labels: list[int], rise: float = 0.0, groups: Groups | None = None) -> Classes:
    """Classes after moves, or swaps, in groups; in one group if none are given."""
    classes = stood(table, labels)
    step(table.given, classes, groups or similar(classes, 0, max(labels) + 1), rise)
    return classes


def moved(table: Table, labels: list[int]) -> list[int]:
    return labels_in(stage(move.move, table, labels))


def swapped(table: Table, labels: list[int]) -> list[int]:
    return labels_in(stage(swap.swap, table, labels))


def labels_in(classes: Classes) -> list[int]:
    found: list[int] = classes.rows["label"].tolist()
    return found


def refined(table: Table, labels: list[int], rounds: int = ROUNDS) -> list[int]:
    found: list[int] = refine.refine(table.given, [np.array(labels)], rounds).labels.tolist()
    return found


def timed(table: Table, labels: list[int], rounds: int, times: list[float]) -> tuple[Refined, list[float]]:
    """With a second, of which these shares are gone after each round; and what was heard."""
    heard: list[float] = []
    clock = iter([0.0, *times])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(refine, "time", SimpleNamespace(monotonic=lambda: next(clock)))
        found = refine.refine(table.given, [np.array(labels)], rounds, seconds=1.0, hear=heard.append)
    return found, heard


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
    classes = stage(move.move, table, labels)
    assert lists(classes)[:3] == [[0, 1, 2, 3], [4, 5], [6, 7]]
    assert_measured(table, classes)


@pytest.mark.parametrize(("rows", "expected"), [(move.DISSOLVED, 2), (move.DISSOLVED + 1, 3)])
def test_large_classes_are_not_given_up(rows: int, expected: int) -> None:
    # {0, 1}, {1, 7} and {7, 8} again, each code many times.
    ages = [age for pair in ((0, 1), (1, 7), (7, 8)) for age in (pair * rows)[:rows]]
    found = moved(people(ages, [0] * len(ages), k=rows), [row // rows for row in range(3 * rows)])
    assert len(set(found)) == expected


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
    assert moved(people([0, 1, 7, 8], [0] * 4), [0, 1, 1, 2]) == [0, 0, 1, 2]
    assert refined(people([0, 1, 7, 8], [0] * 4), [0, 1, 1, 2]) == [0, 1, 3, 2]
    assert swapped(people([0, 8, 4], [0] * 3), [0, 0, 1]) == [1, 0, 0]  # the first of two that help alike


def test_large_classes_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    table, labels = people([0, 1, 7, 7, 8], [0] * 5, k=2), [0, 0, 0, 1, 1]
    assert refined(table, labels) == [0, 0, 1, 1, 1]
    for largest in (2, 0):
        monkeypatch.setattr(neighbourhood, "LARGEST", largest)
        assert refined(table, labels) == labels


def test_without_rounds_labels_stay() -> None:
    table, labels = people([0, 1, 7, 7, 8, 4], [0] * 6, k=2), [0, 0, 0, 1, 1, 1]
    assert refined(table, labels, 0) == labels
    assert timed(table, labels, 0, [])[0][1:] == (0, 0, "rounds")


@pytest.mark.parametrize(
    ("times", "rounds", "ended"),
    [
        ([1 / 9] * 9, 9, "rounds"),
        ([1 / 16, 2.0], 2, "time"),  # the second round took too long
        ([2.0], 1, "time"),
        ([1 / 5, 2 / 5, 3 / 5, 4 / 5, 1.0], 5, "time"),
        ([1 / 5] * 5, 5, "time"),  # that was so after the first; that the others took no time comes too late
        ([1 / 16] * 8 + [2.0], 9, "rounds"),  # all were done, the last one late
        ([0.0] * 9, 9, "rounds"),  # a clock with long ticks
    ],
)
def test_it_ends_when_the_time_is_over(times: list[float], rounds: int, ended: str) -> None:
    table, labels = people([0, 1, 7, 7, 8, 4], [0] * 6, k=2), [0, 0, 0, 1, 1, 1]
    found, heard = timed(table, labels, 9, times)
    assert (found.rounds, found.ended, len(heard)) == (rounds, ended, rounds)
    assert heard[-1] == table.lost(found.labels.tolist()) / 6 < table.lost(labels) / 6


@pytest.mark.parametrize(
    ("where", "call", "rounds", "expected"),
    [
        ("_round", 1, 0, [0, 0, 0, 1, 1]),
        ("_round", 2, 1, [0, 0, 1, 1, 1]),
        ("total_loss", 3, 1, [0, 0, 1, 1, 1]),  # the first one is that at the start
        ("labels_of", 1, 0, [0, 0, 0, 1, 1]),
        ("hear", 1, 1, [0, 0, 1, 1, 1]),
    ],
)
def test_an_interrupt_ends_refining_if_there_is_a_time(
    where: str, call: int, rounds: int, expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first round moves a 7 from {0, 1, 7} to {7, 8}; the others change nothing.
    table, labels = people([0, 1, 7, 7, 8], [0] * 5, k=2), np.array([0, 0, 0, 1, 1])
    calls: list[str] = []

    def interrupted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any) -> Any:
            calls.append(name)
            if name == where and calls.count(name) == call:
                raise KeyboardInterrupt
            return function(*args)

        return called

    for name in ("_round", "total_loss", "labels_of"):
        monkeypatch.setattr(refine, name, interrupted(name, getattr(refine, name)))
    hear = interrupted("hear", lambda _: None)
    found = refine.refine(table.given, [labels], 3, seconds=600.0, hear=hear)
    assert (found.labels.tolist(), found.rounds, found.ended) == (expected, rounds, "interrupt")
    calls.clear()
    with pytest.raises(KeyboardInterrupt):
        refine.refine(table.given, [labels], 3, hear=hear)


def test_a_round_that_raised_the_loss_is_not_taken() -> None:
    # Rows lose 5/9 on average, and a move may cost 0.19 in the first of nine rounds. Only a 1 can move, and costs 5/8 - 4/8.
    table, labels = people([0, 0, 5, 5, 1, 1, 3, 5, 5], [0] * 9, k=4), [0] * 4 + [1] * 5
    assert labels_in(stage(move.move, table, labels, rise=0.19)) == [0, 0, 0, 0, 0, 1, 1, 1, 1]
    assert timed(table, labels, 9, [2.0])[0].labels.tolist() == labels


@pytest.mark.parametrize(("rows", "expected"), [(1, 2), (5, 2), (6, 3), (1000, 7)])
def test_classes_with_many_rows_are_swapped_in_small_groups(rows: int, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Five classes of two rows each: a group of six rows has three of them.
    monkeypatch.setattr(swap, "ROWS", rows)
    monkeypatch.setattr(swap, "TOGETHER", 7)
    table = people([0] * 10, [0] * 10)
    assert swap.group_size(stood(table, [row // 2 for row in range(10)])) == expected


def test_rows_are_alike_if_no_limit_tells_them_apart() -> None:
    columns = [([0, 0, 1, 0, 0], "equal", {"l": 1}, [0] * M), ([3, 3, 3, 2, 3], "ordered", {"t": 1}, [0, 1, 0, 0])]
    assert Table([(0,)] * 5, *columns).given.kinds.tolist() == [1, 1, 2, 0, 1]
    assert Table([(0,)] * 5, *columns, persons=[0, 0, 1, 1, 2]).given.kinds.tolist() == [1, 1, 3, 0, 2]


# Against the naive twins


@settings(max_examples=examples(100), deadline=None)
@given(drawn=tables(), number=st.integers(0, 8), together=st.integers(1, 5), largest=st.sampled_from([0, 2, 5, 5000]))
def test_groups_against_naive(drawn: Any, number: int, together: int, largest: int) -> None:
    table, labels = drawn
    stood_classes = stood(table, labels_without_gaps(labels))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbourhood, "LARGEST", largest)
        comp = similar(stood_classes, number, together)
    classes = lists(stood_classes)
    ref = naive.growth.groups(table.rows, classes, number, together, largest)
    assert [comp.order[a:b].tolist() for a, b in pairwise(comp.starts)] == ref
    if ref:
        assert [comp.spares[a:b].tolist() for a, b in pairwise(comp.spare_starts)] == naive.growth.spares(classes, len(ref))
        scratch = neighbourhood.group_scratch(table.given, stood_classes, comp)
        assert len(scratch.rows) > max(sum(len(classes[label]) for label in group) for group in ref)
        assert scratch.answers.shape[1] == max(map(len, ref))


@pytest.mark.parametrize(
    ("step", "twin"), [(move.move, naive.growth.move_all), (swap.swap, naive.growth.swap_all)], ids=["moves", "swaps"]
)
@settings(max_examples=examples(120), deadline=None)
@given(drawn=tables(), number=st.integers(0, 5), together=st.integers(2, 6), rise=RISES)
def test_a_stage_against_naive(step: Step, twin: Any, drawn: Any, number: int, together: int, rise: float) -> None:
    table, labels = drawn[0], drawn[0].merged(drawn[1])
    comp = stage(step, table, labels, rise, similar(stood(table, labels), number, together))
    ref = naive.growth.with_spares(labels, neighbourhood.SPARE)
    for group in naive.growth.groups(table.rows, ref, number, together, neighbourhood.LARGEST):
        twin(table.rows, ref, group, table.holds, width, Fraction(rise))
    assert lists(comp) == ref
    assert_measured(table, comp)
    assert table.all_hold(labels_in(comp))
    assert rise or table.lost(labels_in(comp)) <= table.lost(labels)


@settings(max_examples=examples(80), deadline=None)
@given(
    drawn=tables(),
    together=st.integers(2, 6),
    rows=st.sampled_from([6, 2000]),
    largest=st.sampled_from([4, 5000]),
    spare=st.sampled_from([0, 1, 64]),
    values=st.sampled_from([0, 1024]),
    rounds=st.integers(0, 12),
    paces=st.lists(st.sampled_from([1 / 64, 1 / 16, 1 / 8, 1 / 4, 2.0]), min_size=12, max_size=12),
)
def test_refining_against_naive(
    drawn: Any, together: int, rows: int, largest: int, spare: int, values: int, rounds: int, paces: list[float]
) -> None:
    table, labels = drawn[0], drawn[0].merged(drawn[1])
    times = [sum(paces[: number + 1]) for number in range(len(paces))]

    def in_groups(classes: list[list[int]]) -> int:
        return max(2, min(together, rows * sum(map(bool, classes)) // len(labels)))

    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in (
            (move, "TOGETHER", together),
            (swap, "TOGETHER", together),
            (swap, "ROWS", rows),
            (neighbourhood, "LARGEST", largest),
            (neighbourhood, "SPARE", spare),
            (neighbourhood, "VALUES", values),
        ):
            patch.setattr(module, name, value)
        found, heard = timed(table, labels, rounds, times)
    comp = found.labels.tolist()
    ref = naive.growth.refine(table.rows, labels, table.holds, width, rounds, times, together, in_groups, largest, table.k, spare)
    assert (comp, found.rounds, found.ended) == ref
    assert sorted(set(comp)) == list(range(max(comp) + 1))
    assert table.all_hold(comp)
    assert table.lost(comp) <= table.lost(labels)
    assert len(heard) == found.rounds
    assert heard == sorted(heard, reverse=True)


@settings(max_examples=examples(60), deadline=None)
@given(drawn=tables(), other=st.randoms(use_true_random=False), rounds=st.integers(0, 8))
def test_of_two_partitions_the_better_after_some_rounds_is_refined(drawn: Any, other: Any, rounds: int) -> None:
    table = drawn[0]
    shuffled = list(drawn[1])
    other.shuffle(shuffled)
    starts = [np.array(table.merged(labels)) for labels in (drawn[1], shuffled)]
    heard: list[list[float]] = [[], []]
    alone = [refine.refine(table.given, [start], rounds, hear=heard[at].append) for at, start in enumerate(starts)]
    lost = [float(table.lost(start.tolist())) for start in starts] if not rounds else [x[: refine.TRIAL][-1] for x in heard]
    found = refine.refine(table.given, starts, rounds)
    assume(lost[0] == lost[1] or abs(lost[0] - lost[1]) > 1e-9)  # the losses of a start are rounded
    assert found.start == lost.index(min(lost))
    assert found.labels.tolist() == alone[found.start].labels.tolist()
    rows = 1 if not rounds else len(table.rows)  # what is heard is the mean loss of a row
    trial = refine.losses_after_trial(table.given, starts, rounds)
    assert trial == pytest.approx([rows * each for each in lost])


# What changes nothing


@pytest.fixture(scope="module")
def refined_once() -> tuple[Table, list[int], list[int]]:
    """A table, and its labels before and after."""
    table, labels = many()
    found = refined(table, labels)
    assert table.lost(found) < table.lost(labels) / 2
    assert table.all_hold(found)
    return table, labels, found


@pytest.mark.parametrize("names", [["KINDS"], ["VALUES"], ["KINDS", "VALUES"]])
def test_answers_and_tallies_that_are_kept_change_nothing(
    names: list[str], refined_once: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, labels, found = refined_once
    for name in names:
        monkeypatch.setattr(neighbourhood, name, 0)
    assert refined(table, labels) == found


@pytest.mark.parametrize("cores", [1, 3])
def test_cores_change_nothing(cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (move, swap):
        monkeypatch.setattr(module, "TOGETHER", 8)
    table, labels = many()
    monkeypatch.setattr(running, "cores", lambda: 2)
    found = refined(table, labels)
    monkeypatch.setattr(running, "cores", lambda: cores)
    assert refined(table, labels) == found
