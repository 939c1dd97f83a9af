"""Rows without a class are put into classes: by hand, against the naive twin, and what always holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tclose.make.growth import leftovers, neighbourhood
from tclose.make.growth.blocks import Blocks
from tclose.make.growth.leftovers import place_leftovers
from tclose.make.kernels import running
from tests import naive
from tests.support.examples import examples
from tests.support.growth_tables import Table, labels_without_gaps, many, people, tables, width


def placed(table: Table, labels: list[int], blocks: list[int] | None = None) -> list[int]:
    """The classes of all rows; ``blocks`` has the block of each, without gaps. All rows are one block if it is left out."""
    found: list[int] = place_leftovers(table.given, np.array(labels), parts(blocks or [0] * len(labels))).tolist()
    return found


def parts(blocks: list[int]) -> Blocks:
    rows = np.argsort(blocks, kind="stable").astype(np.int32)
    return Blocks(rows, np.concatenate([[0], np.cumsum(np.bincount(blocks))]))


# By hand


def test_without_leftovers_labels_stay() -> None:
    assert placed(people([0, 8, 1, 7], [0] * 4, k=2), [1, 0, 1, 0]) == [1, 0, 1, 0]


def test_a_row_goes_to_the_class_that_loses_least_by_it() -> None:
    # With the 5, {0, 1} would lose 3 * 5/8 - 2 * 1/8 = 13/8 more, and {7, 8} 3 * 3/8 - 2 * 1/8 = 7/8.
    assert placed(people([0, 1, 5, 7, 8], [0] * 5, k=2), [0, 0, -1, 1, 1]) == [0, 0, 1, 1, 1]


@pytest.mark.parametrize(("t", "expected"), [("2/21", 1), ("1/14", 0)])
def test_a_row_goes_to_a_class_that_holds_with_it(t: str, expected: int) -> None:
    # 4/7 of the table have the value 1; with the 5, 2/3 of {7, 8} would, which is 2/21 more, and 3/5 of the other class.
    table = people([0, 0, 1, 1, 5, 7, 8], [0, 1, 0, 1, 1, 1, 0], t=t)
    assert placed(table, [0, 0, 0, 0, -1, 1, 1]) == [0, 0, 0, 0, expected, 1, 1]


@pytest.mark.parametrize(("blocks", "expected"), [([0, 0, 0, 1, 1], 0), ([0, 0, 1, 1, 1], 1)])
def test_a_row_goes_to_a_class_of_its_block(blocks: list[int], expected: int) -> None:
    assert placed(people([0, 1, 5, 7, 8], [0] * 5, k=2), [0, 0, -1, 1, 1], blocks) == [0, 0, expected, 1, 1]


@pytest.mark.parametrize(("widest", "expected"), [(3, [0, 0, 0, 0, 0, 1, 1]), (2, [0] * 7)])
def test_a_row_that_its_block_cannot_take_goes_to_one_beside_it(
    widest: int, expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    # As above, {7, 8} cannot take the 5. Where it may not look further it is merged with {7, 8}, and that with the other class.
    monkeypatch.setattr(leftovers, "WIDEST", widest)
    table = people([0, 0, 1, 1, 5, 7, 8], [0, 1, 0, 1, 1, 1, 0], t="1/14")
    assert placed(table, [0, 0, 0, 0, -1, 1, 1], [1, 1, 1, 1, 0, 0, 0]) == expected


def test_a_row_that_no_class_can_take_is_merged_with_as_few_as_it_takes() -> None:
    # The 2 alone has the value 2. With beta = 1/2 its share may be 3/14 at most: one of five rows, not one of three.
    table = people([0, 1, 3, 4, 7, 8, 2], [0, 1, 0, 1, 0, 1, 2], beta="1/2")
    assert placed(table, [0, 0, 1, 1, 2, 2, -1]) == [0, 0, 0, 0, 1, 1, 0]


@pytest.mark.parametrize(
    ("values", "blocks", "expected"),
    [
        ([0, 1, 0, 1, 0, 1, 0, 1], [0, 0, 0, 0, 1, 1, 2, 2], [1, 1, 1, 1, 2, 2, 0, 0]),
        ([0, 1, 0, 1, 0, 1, 0, 1], [1, 1, 1, 1, 0, 0, 2, 2], [2, 2, 2, 2, 1, 1, 0, 0]),
        ([0, 0, 0, 1, 1, 1, 0, 1], [0, 0, 0, 1, 1, 1, 2, 2], [1, 1, 1, 1, 1, 1, 0, 0]),
    ],
    ids=["of a block", "in the order of blocks", "of two blocks"],
)
def test_rows_that_no_class_can_take_are_a_class_together(values: list[int], blocks: list[int], expected: list[int]) -> None:
    # Half of the table have the value 1; {7, 8}, of which half have it too, would be 1/6 away with another row.
    assert placed(people([0, 1, 2, 3, 4, 5, 7, 8], values, t="1/8"), [-1] * 6 + [0, 0], blocks) == expected


def test_a_table_without_any_class_is_one() -> None:
    assert placed(people([0, 1, 7, 8], [0] * 4, k=2), [-1] * 4) == [0] * 4
    assert placed(people([3], [0]), [-1]) == [0]


def test_in_the_worst_case_all_rows_are_one_class() -> None:
    assert placed(people([0, 1, 4, 7, 8], [0, 1, 2, 0, 1], beta="1/2"), [0, 0, -1, 1, 1]) == [0] * 5
    assert placed(people([0, 1, 7, 8], [0] * 4, k=5), [-1] * 4) == [0] * 4


@pytest.mark.parametrize(("largest", "expected"), [(3, 0), (2, 1), (1, 0)])
def test_large_classes_take_no_row_unless_it_is_merged(largest: int, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbourhood, "LARGEST", largest)
    assert placed(people([0, 1, 1, 2, 7, 8], [0] * 6, k=2), [0, 0, 0, -1, 1, 1]) == [0, 0, 0, expected, 1, 1]


def test_the_labels_at_hand_stay_as_they_are() -> None:
    table, labels = people([0, 1, 5, 7, 8], [0] * 5, k=2), np.array([0, 0, -1, 1, 1])
    place_leftovers(table.given, labels, parts([0] * 5))
    assert labels.tolist() == [0, 0, -1, 1, 1]


# Against the naive twin


@settings(max_examples=examples(150), deadline=None)
@given(
    drawn=tables(),
    widest=st.sampled_from([1, 4, 8192]),
    largest=st.sampled_from([4, 5000]),
    kinds=st.sampled_from([0, 4096]),
    values=st.sampled_from([0, 1024]),
    data=st.data(),
)
def test_placing_against_naive(drawn: Any, widest: int, largest: int, kinds: int, values: int, data: st.DataObject) -> None:
    table, labels = drawn[0], drawn[0].merged(drawn[1])
    left = data.draw(st.sets(st.integers(0, len(labels) - 1)), label="left")
    labels = left_over(table, [-1 if row in left else label for row, label in enumerate(labels)])
    blocks = data.draw(blocks_of(labels), label="blocks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leftovers, "WIDEST", widest)
        patch.setattr(neighbourhood, "KINDS", kinds)
        patch.setattr(neighbourhood, "VALUES", values)
        patch.setattr(neighbourhood, "LARGEST", largest)
        comp = placed(table, labels, blocks)
    assert comp == naive.growth.place(table.rows, labels, blocks, table.holds, width, widest, largest)
    assert sorted(set(comp)) == list(range(max(comp) + 1))
    assert table.all_hold(comp)
    if -1 not in labels:
        assert comp == labels


@st.composite
def blocks_of(draw: st.DrawFn, labels: list[int]) -> list[int]:
    """A block for each row, without gaps, the same for all rows of a class."""
    classes = draw(st.lists(st.integers(0, 4), min_size=max(labels) + 1, max_size=max(labels) + 1))
    found = [classes[label] if label >= 0 else draw(st.integers(0, 4)) for label in labels]
    return labels_without_gaps(found)


def left_over(table: Table, labels: list[int]) -> list[int]:
    """Labels without gaps of the classes that hold; the rows of others are left over too."""
    members = {label: [row for row, other in enumerate(labels) if other == label] for label in sorted(set(labels) - {-1})}
    known = [label for label in members if table.holds(members[label])]
    return [known.index(label) if label in known else -1 for label in labels]


# What changes nothing


@pytest.mark.parametrize("cores", [1, 3])
def test_cores_change_nothing(cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table, labels = many()
    labels = [-1 if row % 12 < 6 and label else label // 2 for row, label in enumerate(labels)]
    blocks = labels_without_gaps([label // 4 if label >= 0 else row % 3 for row, label in enumerate(labels)])
    monkeypatch.setattr(running, "cores", lambda: 2)
    found = placed(table, labels, blocks)
    assert table.all_hold(found)
    assert max(found) > 20
    monkeypatch.setattr(running, "cores", lambda: cores)
    assert placed(table, labels, blocks) == found
