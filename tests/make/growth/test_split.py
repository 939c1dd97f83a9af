"""Classes are cut in two: by hand, against the naive twin, and what always holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from tclose.make.growth import neighbourhood
from tclose.make.growth import split as split_module
from tclose.make.growth.move import move
from tclose.make.growth.neighbourhood import Given, Groups, improve, similar
from tclose.make.growth.split import split
from tclose.make.kernels.classes import Classes
from tests import naive
from tests.support.examples import examples
from tests.support.growth_tables import M, Table, assert_measured, labels_without_gaps, lists, many, people, stood, tables, width

FEW = 4
Split = Callable[[Given, Classes, Groups], None]


@pytest.fixture(scope="module")
def with_few_steps() -> Split:
    """A kernel knows `STEPS` from the moment when it was compiled: so here is one that never saw the others."""
    compiled: Any = njit(nogil=True)(split_module._split_classes.py_func)  # type: ignore[attr-defined]

    def split_few(given: Given, classes: Classes, groups: Groups) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(split_module, "STEPS", FEW)
            improve(compiled, given, classes, groups)

    return split_few


def cut(table: Table, labels: list[int], split: Split = split) -> list[int]:
    """The classes of all rows, in one group."""
    classes = stood(table, labels)
    split(table.given, classes, similar(classes, 0, max(labels) + 1))
    assert_measured(table, classes)
    found: list[int] = classes.rows["label"].tolist()
    return found


# By hand: a class of s rows that spans w of the eight steps between the ages 0 and 8 loses s * w / 8


def test_a_class_is_cut_where_the_loss_falls_most() -> None:
    # Of 48/8 are left: 2 * 1 + 4 * 2 with {0, 1}, 3 * 6 + 3 * 1 with {0, 1, 6}, and 4 * 7 with {0, 1, 6, 7}.
    assert cut(people([0, 1, 6, 7, 8, 8], [0] * 6, k=2), [0] * 6) == [0, 0, 1, 1, 1, 1]
    # The rows above the cut get the new number, whatever comes first in the table.
    assert cut(people([8, 0, 7, 1], [0] * 4, k=2), [0] * 4) == [1, 0, 1, 0]


def test_rows_with_the_same_code_stay_together() -> None:
    assert cut(people([0, 4, 4, 8], [0] * 4, k=2), [0] * 4) == [0] * 4
    assert cut(people([0, 4, 4, 8], [0] * 4), [0] * 4) == [0, 2, 2, 1]
    assert cut(people([3] * 6, [0] * 6), [0] * 6) == [0] * 6


@pytest.mark.parametrize(("k", "expected"), [(2, [0, 0, 1, 1, 1]), (3, [0] * 5)])
def test_a_class_is_not_cut_where_a_side_has_too_few_rows(k: int, expected: list[int]) -> None:
    assert cut(people([0, 1, 7, 8, 8], [0] * 5, k=k), [0] * 5) == expected


@pytest.mark.parametrize(
    ("persons", "expected"), [([0, 1, 2, 3], [0, 0, 1, 1]), ([0, 1, 2, 2], [0] * 4), ([0, 0, 1, 2], [0] * 4)]
)
def test_a_class_is_not_cut_where_a_side_has_too_few_persons(persons: list[int], expected: list[int]) -> None:
    table = Table([(0,), (1,), (7,), (8,)], ([0] * 4, "equal", {}, [0] * M), k=2, persons=persons)
    assert cut(table, [0] * 4) == expected


@pytest.mark.parametrize(
    ("values", "t", "expected"),
    [
        ([1, 1, 0, 0, 1, 0], "1/2", [0, 0, 1, 1, 1, 1]),
        ([1, 1, 0, 0, 1, 0], "1/6", [0, 0, 0, 1, 1, 1]),  # {0, 1} has none of the 0, {0, 1, 6} one of three,
        ([1, 1, 0, 0, 1, 0], "1/7", [0, 0, 0, 0, 1, 1]),  # {0, 1, 6, 7} two of four
        ([1, 1, 0, 0, 0, 0], "1/3", [0, 0, 0, 1, 1, 1]),  # 2/3 of the table are 0, none of {0, 1}, 1/3 of {0, 1, 6},
        ([1, 1, 0, 0, 0, 0], "1/4", [0] * 6),  # 1/2 of {0, 1, 6, 7}, but then all others
        ([0, 0, 0, 0, 1, 1], "1/4", [0] * 6),  # here all below a cut
    ],
)
def test_a_class_is_cut_where_both_sides_keep_t(values: list[int], t: str, expected: list[int]) -> None:
    # As above: without t, {0, 1} and the rest lose least, then {0, 1, 6} and the rest, then {0, 1, 6, 7} and the rest.
    assert cut(people([0, 1, 6, 7, 8, 8], values, k=2, t=t), [0] * 6) == expected


def test_a_class_is_cut_again_as_long_as_it_can_be() -> None:
    # {0, 1, 4, 4, 8, 8} loses 48/8. First the 8 go, and then the 4; the new classes have their turn in the next round.
    assert cut(people([0, 1, 4, 4, 8, 8], [0] * 6, k=2), [0] * 6) == [0, 0, 2, 2, 1, 1]


def test_the_best_of_all_quasi_identifiers_counts() -> None:
    # On the line from 0 to a both sides save a/8, in the tree 1/2; where that is the same, the first one counts.
    for a, expected in ((3, [0, 1, 0, 1]), (4, [0, 1, 1, 0]), (5, [0, 1, 1, 0])):
        rows = [(0, 0, 0), (a, 0, 1), (a, 0, 0), (0, 0, 1)]
        assert cut(Table(rows, ([0] * 4, "equal", {}, [0] * M), k=2), [0] * 4) == expected


def test_of_cuts_that_help_alike_the_uppermost_counts() -> None:
    assert cut(people([0, 4, 8], [0] * 3), [0] * 3) == [0, 2, 1]


@pytest.mark.parametrize(("spare", "expected"), [(0, [0] * 6), (1, [0, 0, 0, 0, 1, 1]), (2, [0, 0, 2, 2, 1, 1])])
def test_without_a_number_to_spare_a_class_is_not_cut(spare: int, expected: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbourhood, "SPARE", spare)
    assert cut(people([0, 1, 4, 4, 8, 8], [0] * 6, k=2), [0] * 6) == expected


@pytest.mark.parametrize(
    ("spare", "expected"),
    [
        (0, [0, 0, 1, 1, 2, 3]),  # for three classes there is one number: the last group has it
        (1, [0, 0, 1, 3, 2, 4]),
        (2, [0, 3, 1, 4, 2, 5]),
    ],
)
def test_numbers_to_spare_are_dealt_out_to_groups(spare: int, expected: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbourhood, "SPARE", spare)
    table = people([0, 1, 4, 5, 7, 8], [0] * 6)
    classes = stood(table, [0, 0, 1, 1, 2, 2])
    split(table.given, classes, similar(classes, 0, 1))
    assert classes.rows["label"].tolist() == expected


def test_numbers_of_classes_that_were_given_up_are_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    # {1, 7} is given up, and its number goes to the 1 that were in {0, 0, 1, 1}; the one number to spare to the 8.
    monkeypatch.setattr(neighbourhood, "SPARE", 0)
    table = people([0, 0, 1, 1, 7, 7, 8, 8], [0] * 8, k=2)
    classes = stood(table, [0, 0, 0, 1, 1, 2, 2, 2])
    move(table.given, classes, similar(classes, 0, 3), 0.0)
    assert [len(members) for members in lists(classes)] == [4, 0, 4, 0]
    split(table.given, classes, similar(classes, 0, 3))
    assert classes.rows["label"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_large_classes_are_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    table = people([0, 1, 2, 7, 8], [0] * 5)
    monkeypatch.setattr(neighbourhood, "LARGEST", 2)
    assert cut(table, [0, 0, 0, 1, 1]) == [0, 0, 0, 1, 2]


def test_few_places_are_tried_along_a_quasi_identifier(with_few_steps: Split) -> None:
    # The 8 alone is the best cut, then the 2. With four steps, two rows of eight lie above the first cut that is tried.
    table = people([0, 1, 1, 2, 2, 2, 2, 8], [0] * 8)
    assert cut(table, [0] * 8) == [0, 3, 3, 2, 2, 2, 2, 1]
    assert cut(table, [0] * 8, with_few_steps) == [0, 2, 2, 1, 1, 1, 1, 1]
    # A cut with too few rows above is none that was tried: the next one may come right after it.
    assert cut(people([0, 0, 0, 0, 0, 7, 8, 8], [0] * 8, k=3), [0] * 8, with_few_steps) == [0] * 5 + [1] * 3


# Against the naive twin


@pytest.mark.parametrize("steps", [split_module.STEPS, FEW])
@settings(max_examples=examples(150), deadline=None)
@given(
    drawn=tables(),
    number=st.integers(0, 5),
    together=st.integers(1, 6),
    largest=st.sampled_from([6, 5000]),
    spare=st.sampled_from([0, 1, 3, 64]),
    whole=st.booleans(),
)
def test_splitting_against_naive(
    steps: int, drawn: Any, number: int, together: int, largest: int, spare: int, whole: bool, with_few_steps: Split
) -> None:
    table = drawn[0]
    labels = [0] * len(table.rows) if whole else labels_without_gaps(table.merged([label // 3 for label in drawn[1]]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbourhood, "LARGEST", largest)
        patch.setattr(neighbourhood, "SPARE", spare)
        comp = stood(table, labels)
        groups = similar(comp, number, together)
        (with_few_steps if steps == FEW else split)(table.given, comp, groups)
    ref = naive.growth.with_spares(labels, spare)
    split_naively(table, ref, number, together, largest, steps)
    assert lists(comp) == ref
    assert_measured(table, comp)
    found = comp.rows["label"].tolist()
    assert table.all_hold(found)
    assert table.lost(found) <= table.lost(labels)


def split_naively(table: Table, classes: list[list[int]], number: int, together: int, largest: int, steps: int) -> None:
    parts = naive.growth.groups(table.rows, classes, number, together, largest)
    for group, free in zip(parts, naive.growth.spares(classes, max(1, len(parts))), strict=False):
        naive.growth.split_all(table.rows, classes, group, free, table.holds, width, table.k, steps)


def test_a_large_class_against_naive() -> None:
    table, _ = many(300)
    comp = stood(table, [0] * 300)
    split(table.given, comp, similar(comp, 0, 1))
    ref = naive.growth.with_spares([0] * 300, neighbourhood.SPARE)
    split_naively(table, ref, 0, 1, neighbourhood.LARGEST, split_module.STEPS)
    assert lists(comp) == ref
    assert np.count_nonzero(comp.each["size"]) > 5
