"""How coarse published values are, in words, from the release alone."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tclose as tc
from tclose.report.facts import Facts
from tclose.report.papers import papers_in_memory
from tclose.report.published import coarseness_in_words, coarseness_of, published_columns
from tests.support.pages import Page


def words_of(labels: list[Any], sizes: list[int], holds: str = "") -> list[tuple[float, str]]:
    """How coarse a column is that is published with these labels, by an audit that has nothing else."""

    class Found:
        quasi = {"a": pa.array(labels)}  # noqa: RUF012 - of this test alone

    Found.sizes = np.array(sizes)  # type: ignore[attr-defined]
    columns = published_columns(Found)  # type: ignore[arg-type]
    return coarseness_of("a", columns, Found, holds)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("labels", "sizes", "words"),
    [
        (["[10, 20]", "[20, 40]"], [3, 1], [(1, "in ranges 12.5 wide on average")]),
        (["[0.5, 1.5)", "2"], [3, 1], [(0.75, "in ranges 1 wide on average"), (0.25, "as they are")]),
        (["90 or more", "less than 5", "[3, 90 or more]"], [1, 1, 2], [(1, "in ranges that are open at one end")]),
        (["[2020-01-01, 2020-01-11]"], [5], [(1, "in ranges of 11 days on average")]),
        (["{a, b}", '{"c, d", e, f}', "g"], [1, 1, 2], [(0.5, "in sets of 2.5 values on average"), (0.5, "as they are")]),
        (["476**", "4800*"], [1, 1], [(1, "with 1.5 characters hidden on average")]),
        (["*", "any value or missing"], [1, 1], [(1, "as * (any value)")]),
        (["x", None], [1, 1], [(1, "as they are")]),
    ],
)
def test_labels_in_words(labels: list[Any], sizes: list[int], words: list[tuple[float, str]]) -> None:
    assert words_of(labels, sizes) == words


def test_labels_of_a_hierarchy_and_means_are_not_called_single_values() -> None:
    assert words_of(["lung", "gut", "*"], [4, 4, 2], "The smallest group of the hierarchy of 'a'.") == [
        (0.8, "as 2 values or groups of its hierarchy"),
        (0.2, "as * (any value)"),
    ]
    assert words_of([2.5], [4], "The mean of 'a' over the rows of the class.") == [(1, "as means over each class")]


def test_dates_bounds_and_sets_of_a_release() -> None:
    days = [date(2020, 1, 1) + timedelta(number) for number in range(40)]
    table = pa.table({"day": days, "age": [*range(40)], "pet": ["cat", "dog"] * 20, "ill": ["a", "b"] * 20})
    policy = tc.Policy(["day", tc.Quasi("age", recode="bounds"), "pet"], {"ill": 0.9}, k=20)
    release = tc.anonymize(table, policy, algorithm="mondrian")
    facts = Facts(papers_in_memory(release), 5)
    said = {name: words for name, [(_, words)] in facts.coarseness.items()}
    assert " days on average" in said["day"]
    assert said["age"].startswith("between bounds that differ by ")
    assert "Values of age.min in the release" in Page(release.to_html()).text


@pytest.mark.parametrize("values", [21, 22, 30])
def test_a_cut_list_names_the_last_value_and_its_sum_tells_of_none(values: int) -> None:
    """What is cut has a sum that is the reader's to know; whether values in it are masked is decided before the list is cut."""
    ill = [f"v{number:02}" for number in range(values) for _ in range(20)] + ["rare"] * 2 + ["seldom"] * 9
    table = pa.table({"age": [number % 7 for number in range(len(ill))], "ill": ill})
    release = tc.anonymize(table, tc.Policy(["age"], {"ill": 1}, k=5), algorithm="mondrian")
    ((_, listing),) = Facts(papers_in_memory(release), 5).distributions()
    assert listing is not None
    last = {row[0]: row[1:] for row in listing.rows[20:]}
    assert "1 value more" not in last
    assert last["2 values more"] == ("masked", "masked")  # one line, which has the counts of two values in it
    assert listing.note.startswith("The rows of 2 values are masked: ")
    assert all(row[1] in ("20", "masked") or row[0] == f"{values - 20} values more" for row in listing.rows)


def test_shares_of_few_rows_are_not_told() -> None:
    def said(*parts: tuple[float, str]) -> str:
        return coarseness_in_words(parts, 100, 5)

    assert said((1, "as *")) == "as *"
    assert said((1, "as they are")) == "as it is"
    assert said((0.95, "as sets"), (0.05, "as *")) == "95.0% of the rows as sets; the others as *"
    assert said((0.96, "as sets"), (0.04, "as *")) == "most rows as sets; the others as *"
    assert said((0.96, "as they are"), (0.04, "as sets")) == "most rows as they are; the others as sets"
    assert (
        said((0.6, "as they are"), (0.3, "as sets"), (0.1, "as *")) == "60.0% of the rows as they are; 30.0% as sets; 10.0% as *"
    )


def test_screen_and_page_say_alike_how_columns_are_published() -> None:
    """Two classes of age 20 and of ages 30 to 40: of 8 rows 4 are as they are."""
    people = pa.table({"age": [20] * 4 + [30, 30, 40, 40], "sex": ["F"] * 8, "ill": ["flu", "gout"] * 4})
    release = tc.anonymize(people, tc.Policy(["age", "sex"], {"ill": 0.5}, k=4))
    screen = release._details.in_words
    assert screen == {"age": "50.0% of the rows as they are; the others in ranges 10 wide on average", "sex": "as it is"}
    page = dict(Facts(papers_in_memory(release), 1).coarse)
    assert page == {"age": "50.0% of the rows as they are; the others in ranges 10 wide on average", "sex": "as it is"}


def test_columns_of_which_most_rows_are_as_they_are_answer_no_finer_questions_in_the_others() -> None:
    """Of 20 rows 12 have the age of all in their class, and 8 a range; all rows have their own sex."""
    people = pa.table({"age": [20] * 12 + [30, 30, 40, 40] * 2, "sex": ["F"] * 20, "ill": ["flu", "gout"] * 10})
    facts = Facts(papers_in_memory(tc.anonymize(people, tc.Policy(["age", "sex"], {"ill": 0.5}, k=8))), 1)
    assert facts.coarseness["age"][0] == (0.6, "as they are")
    assert "Questions finer than the published values of age. How each is published is in section 10." in facts.not_good_for()


def test_labels_of_a_hierarchy_come_with_the_detail_that_they_lost() -> None:
    tree = {"body": {"lung": ["flu", "cold"], "gut": ["colic", "ulcer"]}}
    people = pa.table({"was": ["flu", "cold", "colic", "ulcer"] * 2, "ill": ["a", "b"] * 4})
    policy = tc.Policy([tc.Quasi("was", hierarchy=tree)], {"ill": 1}, k=4)
    facts = Facts(papers_in_memory(tc.anonymize(people, policy)), 1)
    lost = facts.certificate["loss"]["by_attribute"]["gcp"]["was"]
    assert facts.coarse == [("was", f"as 2 values or groups of its hierarchy; {100 * lost:.1f}% of its detail is lost")]


def test_the_share_of_the_most_frequent_value_is_masked_with_its_count_in_a_long_list_too() -> None:
    """All 30 counts are masked, and the most frequent value is one of those that are cut."""
    ill = [f"v{number:02}" for number in range(30) for _ in range(9 if number == 29 else 3)]
    table = pa.table({"age": [number % 7 for number in range(len(ill))], "ill": ill})
    release = tc.anonymize(table, tc.Policy(["age"], {"ill": 1}, k=5), algorithm="mondrian")
    facts = Facts(papers_in_memory(release), 5)
    ((_, listing),) = facts.distributions()
    assert listing is not None
    assert {row[1] for row in listing.rows} == {"masked"}
    assert listing.rows[-1][0] == "10 values more"
    assert facts.inference().rows[0][2] == "masked"
