"""Classes in which everybody, or nobody, has the commonest value: counted from the release alone, and told on the first page."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import tclose as tc
from tclose.report.commonest import Group
from tclose.report.facts import Facts
from tclose.report.papers import papers_in_memory
from tests.support.pages import Page


def release_of(towns: dict[str, list[int]], **settings: Any) -> tc.Release:
    """A release whose classes are the towns, each with these numbers."""
    rows = [(town, number) for town, numbers in towns.items() for number in numbers]
    table = pa.table({"town": [town for town, _ in rows], "n": [number for _, number in rows]})
    return tc.anonymize(table, tc.Policy(["town"], {"n": {"t": 1, **settings}}, k=5), effort="fast")


TOWNS = {"A": [0] * 6, "B": [1, 2, 1, 2, 1], "C": [0] * 7 + [1, 2]}
"""Of 20 rows 13 are 0: in A everybody is, in B nobody, in C some."""


def test_what_is_counted_and_said() -> None:
    facts = Facts(papers_in_memory(release_of(TOWNS)), 5)
    (found,) = facts.commonest
    assert (found.value, found.everybody, found.nobody) == ("0", Group(1, 6), Group(1, 5))
    assert facts.sure == [
        "In 1 of 3 classes, with 6 of 20 rows, everybody has n 0, the commonest value (65.0% of all rows). In 1 class, with 5 rows, "
        "nobody has it. Whoever knows that a person is in such a class knows this of the person. What would close it, in the "
        "policy: l: 2, where everybody has it; or distance: equal with a t below 0.35. Bins, or coarser values, would make it tell "
        "less."
    ]


def test_it_stands_on_the_first_page_and_is_not_said_twice() -> None:
    text = Page(release_of(TOWNS).to_html()).text
    assert text.index("everybody has n 0, the commonest value") < text.index("Identity and versions")
    assert "6 of 20 rows are in such a class, with those at the top of this page." in text
    without = Page(release_of({"A": [0] * 6 + [1], "B": [0] * 6 + [1, 2]}).to_html()).text
    assert "commonest" not in without
    assert "no row is in such a class." in without


@pytest.mark.parametrize(("settings", "left"), [({"l": 2}, (0, 5)), ({"distance": "equal", "t": 0.34}, (0, 0))])
def test_what_is_advised_closes_it(settings: dict[str, Any], left: tuple[int, int]) -> None:
    """Everybody in a class has 0: under the equal distance it is 7/20 from the table; nobody has: 13/20."""
    (found,) = Facts(papers_in_memory(release_of(TOWNS, **settings)), 1).commonest
    assert found.everybody.rows == left[0]
    assert found.nobody.rows <= left[1]


def test_a_rare_value_that_nobody_has_and_a_constant_column_tell_nothing() -> None:
    rare = {"A": [0] * 5 + [1] * 4, "B": [2, 3, 4, 5, 6]}
    assert Facts(papers_in_memory(release_of(rare)), 1).sure == []  # 5 of 14 are 0
    assert Facts(papers_in_memory(release_of({"A": [0] * 5, "B": [0] * 5})), 1).sure == []


def test_small_counts_are_not_told_in_public() -> None:
    """One class of 5 in which everybody has it: few rows, if 6 are few."""
    release = release_of({"A": [0] * 5, "C": [0] * 12 + [1] * 7})
    assert Facts(papers_in_memory(release), 5).sure[0].startswith("In 1 of 2 classes, with 5 of 24 rows, everybody has n 0,")
    masked = Facts(papers_in_memory(release), 6)
    assert masked.sure[0].startswith("In some classes everybody has the commonest value of n. Whoever knows ")
    assert "a t below" not in masked.sure[0]
    assert not masked.homogeneous_at_top


def test_with_the_equal_distance_the_advice_is_a_smaller_t() -> None:
    (said,) = Facts(papers_in_memory(release_of(TOWNS, distance="equal")), 1).sure
    assert "l: 2, where everybody has it; or a t below 0.35." in said


def test_several_columns_have_a_sentence_each_and_many_are_cut() -> None:
    columns = {f"n{number}": [0] * 6 + [1, 0, 0, 1, 0, 0] for number in range(8)}
    table = pa.table({"town": ["A"] * 6 + ["B"] * 6, **columns})
    release = tc.anonymize(table, tc.Policy(["town"], dict.fromkeys(columns, 1), k=5), effort="fast")
    said = Facts(papers_in_memory(release), 1).sure
    assert ["everybody has" in sentence for sentence in said] == [True] * 6 + [False]
    assert said[-1] == "It is alike with 2 more sensitive columns."
