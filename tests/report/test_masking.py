"""Small cells: what is masked, and that neither sums nor knowledge of the rule give it back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, milp

import tclose as tc
from tclose.report.facts import Facts
from tclose.report.masking import masked_cells, pooled
from tclose.report.papers import papers_in_memory
from tests.support.examples import examples
from tests.support.pages import Page

COUNTS = st.lists(st.one_of(st.integers(1, 12), st.integers(1, 10_000)), min_size=1, max_size=12)


def published(counts: tuple[int, ...], least: int) -> Any:
    """What a reader sees of a table: its sum, and the cells that are not masked; None if it is not shown."""
    hidden = masked_cells(counts, least)
    return (
        None
        if hidden is None
        else (sum(counts), tuple(None if mask else count for count, mask in zip(counts, hidden, strict=True)))
    )


@pytest.mark.parametrize(
    ("counts", "hidden"),
    [
        ([10, 8, 7], [False, False, False]),
        ([100, 4, 50], [False, True, True]),  # one masked cell alone would be the sum minus the others
        ([100, 4, 4, 50], [False, True, True, False]),
        ([100, 1, 1, 1, 50], [False, True, True, True, True]),  # three ones have the sum 3, which tells them all
        ([4, 3, 3], [True, True, True]),
        ([1, 1, 1], None),
        ([3], None),
        ([5], [False]),
    ],
)  # fmt: skip
def test_by_hand(counts: list[int], hidden: list[bool] | None) -> None:
    assert masked_cells(counts, 5) == hidden


@given(COUNTS, st.integers(1, 9))
def test_small_cells_are_masked_and_no_more_than_needed(counts: list[int], least: int) -> None:
    hidden = masked_cells(counts, least)
    if hidden is None:
        assert min(counts) < least
        return
    assert sum(hidden) != 1  # the sum would tell it
    assert all(mask for count, mask in zip(counts, hidden, strict=True) if count < least)
    shown = [count for count, mask in zip(counts, hidden, strict=True) if not mask]
    assert not any(hidden) or not shown or min(shown) >= max(count for count, mask in zip(counts, hidden, strict=True) if mask)


@given(COUNTS, st.integers(2, 9))
def test_a_solver_finds_every_small_value_possible_for_each_masked_cell(counts: list[int], least: int) -> None:
    """Integers of 1 or more with the known sum: each masked cell may be 1, and may be ``least`` or more."""
    hidden = masked_cells(counts, least)
    if hidden is None or not any(hidden):
        return
    total = sum(count for count, mask in zip(counts, hidden, strict=True) if mask)
    cells = sum(hidden)
    for cell in range(cells):
        ends = []
        for sign in (1, -1):
            goal = np.zeros(cells)
            goal[cell] = sign
            found = milp(
                goal,
                constraints=LinearConstraint(np.ones((1, cells)), total, total),
                integrality=np.ones(cells),
                bounds=(1, np.inf),
            )
            ends.append(round(found.x[cell]))
        assert ends[0] == 1
        assert ends[1] >= least


LONG = st.lists(st.sampled_from([1, 2, 4, 5, 9, 30, 31]), min_size=22, max_size=26)


@settings(max_examples=examples(30))
@given(LONG)
def test_one_masked_line_of_a_long_list_is_that_of_several_values(counts: list[int]) -> None:
    """What a reader of the page can compute is the sum of all masked counts: each of them may be 1 or the least that is shown."""
    ill = [f"v{value:02}" for value, count in enumerate(counts) for _ in range(count)]
    table = pa.table({"age": [30] * len(ill), "ill": ill})
    release = tc.anonymize(table, tc.Policy(["age"], {"ill": {"t": 1, "distance": "equal"}}, k=2), algorithm="mondrian")
    ((_, listing),) = Facts(papers_in_memory(release), 5).distributions()
    if listing is None or not listing.note:
        assert min(counts) >= 5 or listing is None
        return
    values = int(listing.note.split()[3])
    together = len(ill) - sum(int(rows.replace(",", "")) for _, rows, _ in listing.rows if rows != "masked")
    assert values == sum(masked_cells(counts, 5) or [])
    assert values > 1
    assert together - (values - 1) >= 5


def test_knowing_the_rule_does_not_give_a_masked_cell_back() -> None:
    """All tables of up to four cells: each masked cell has several values among the tables that look the same when they are published."""
    least, largest = 3, 14
    alike: dict[Any, list[tuple[int, ...]]] = {}
    for cells in (2, 3, 4):
        for counts in product(range(1, largest + 1), repeat=cells):
            alike.setdefault((cells, published(counts, least)), []).append(counts)
    checked = 0
    for (cells, seen), tables in alike.items():
        if seen is None or None not in seen[1]:
            continue  # nothing is masked, or nothing shown
        for cell in (cell for cell in range(cells) if seen[1][cell] is None):
            assert len({counts[cell] for counts in tables}) > 1, (seen, tables)
            checked += 1
    assert checked > 50


@given(COUNTS, st.integers(1, 9))
def test_pooled_ranges_cover_the_table_and_none_is_small(counts: list[int], least: int) -> None:
    ranges = pooled(counts, least)
    if sum(counts) < least:
        assert ranges == []
        return
    assert [cell for first, last in ranges for cell in range(first, last)] == list(range(len(counts)))
    assert all(sum(counts[first:last]) >= least for first, last in ranges)


@given(COUNTS, st.integers(1, 9), st.data())
def test_a_value_that_many_have_stands_alone_if_the_others_are_not_few(
    counts: list[int], least: int, data: st.DataObject
) -> None:
    few = data.draw(st.integers(1, least))
    ranges = pooled(counts, least, few)
    assert [cell for first, last in ranges for cell in range(first, last)] == (list(range(len(counts))) if ranges else [])
    assert all(sum(counts[first:last]) >= few for first, last in ranges)
    for first, last in ranges:
        if last - first > 1 and max(counts[first:last]) >= least:  # only with others that are too few by themselves
            at = first + counts[first:last].index(max(counts[first:last]))
            assert min(sum(counts[first:at]), sum(counts[at + 1 : last])) < few


def test_where_nearly_all_have_one_value_the_others_have_a_line_of_their_own() -> None:
    debts = [0] * 950 + list(range(1, 51))
    policy = tc.Policy(["age"], {"debt": {"t": 0.9}}, k=5)
    page = Page(tc.anonymize(pa.table({"age": [30] * 1000, "debt": debts}), policy, algorithm="mondrian").to_html()).text
    assert "Values of debt in the release value rows share 0 950 95.0% from 1 on 50 5.0%" in page


def test_masked_values_are_not_listed_by_size() -> None:
    ill = ["big"] * 100 + ["z"] * 4 + ["y"] * 2 + ["x"]
    policy = tc.Policy(["age"], {"ill": {"t": 0.9, "distance": "equal"}}, k=2)
    page = tc.anonymize(pa.table({"age": [30] * 107, "ill": ill}), policy, algorithm="mondrian").to_html()
    values = [page.index(f">{value}</") for value in ("big", "x", "y", "z")]
    assert values == sorted(values)


def test_the_share_of_the_most_frequent_value_is_masked_where_its_count_is() -> None:
    def row(ill: list[str], **settings: Any) -> str:
        policy = tc.Policy(["age"], {"ill": {"t": 1, "distance": "equal"}}, k=2, **settings)
        page = tc.anonymize(pa.table({"age": [30] * len(ill), "ill": ill}), policy, algorithm="mondrian").to_html()
        return Page(page).text.partition("fewest values in a class t ")[2][:30]

    small = ["a"] * 4 + ["b"] * 3 + ["c"] * 3
    assert row(small).startswith("ill masked masked 3 0.0000")  # one class is the table
    assert row(small, small_cells=1).startswith("ill 40.0% 40.0% 3 0.0000")
    assert row(["a"] * 30 + ["b"] * 3 + ["c"] * 4).startswith("ill 81.1% 81.1% 3 0.0000")
    assert row(["a"] * 3).startswith("ill masked masked 1 0.0000")


CLASSES, ROWS = 4, 4


def tiny_tables() -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield all tables of 4 classes of 4 rows with 3 values, by the counts of each class."""
    counts = [(one, two, ROWS - one - two) for one in range(ROWS + 1) for two in range(ROWS + 1 - one)]
    for classes in combinations_with_replacement(counts, CLASSES):
        if all(map(sum, zip(*classes, strict=True))):
            yield classes


@pytest.mark.parametrize("digits", [4, 2])
def test_what_attained_values_tell_of_masked_counts_in_tiny_tables(digits: int) -> None:
    """As docs/report.md has it: of all tables that look the same in a report, is some masked count the same? In 1 of 100, yes."""
    alike: dict[Any, list[tuple[int, ...]]] = defaultdict(list)
    for classes in tiny_tables():
        counts = tuple(map(sum, zip(*classes, strict=True)))
        seen = published(counts, 5)
        if seen is not None and None not in seen[1]:
            continue
        far = max(sum(abs(CLASSES * own - whole) for own, whole in zip(one, counts, strict=True)) for one in classes)
        t = -(-far * 10**digits // (2 * CLASSES * ROWS))
        largest, fewest = max(map(max, classes)), min(sum(own > 0 for own in one) for one in classes)
        alike[seen, t, largest, fewest].append(counts)
    told = 0
    for (seen, *_), tables in alike.items():
        hidden = [cell for cell in range(3) if seen is None or seen[1][cell] is None]
        told += len(tables) * any(len({counts[cell] for counts in tables}) == 1 for cell in hidden)
    assert (told, sum(map(len, alike.values()))) == (15, 2649)
