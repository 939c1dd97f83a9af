"""What the limits of a release mean: t is told by the distance of each sensitive column."""

from __future__ import annotations

import pyarrow as pa
import pytest

import tclose as tc
from tclose.distances.choose import KINDS
from tclose.report.facts import Facts
from tclose.report.meanings import BY_DISTANCE, meanings_of
from tclose.report.papers import papers_in_memory

PEOPLE = pa.table({"age": [20] * 4 + [30] * 4, "pay": [1, 2, 3, 4] * 2, "ill": ["flu", "gout"] * 4, "size": [5, 6, 7, 8] * 2})


def test_t_is_told_by_the_distance_of_each_column() -> None:
    sensitive = {"pay": {"t": 0.5}, "ill": {"t": 0.5}, "size": {"t": 0.5, "distance": "numeric"}}
    said = meanings_of(tc.audit(PEOPLE, tc.Policy(["age"], sensitive, k=2)), {"pay": 4, "ill": 2, "size": 4})
    assert [sentence.partition(":")[0] for sentence in said] == ["k", "t", "t of pay and size", "t of ill"]
    assert "whole range of values" in said[2]
    assert "equally far apart" in said[3]
    assert "range" not in said[3]


def test_a_column_without_t_is_not_told() -> None:
    said = meanings_of(tc.audit(PEOPLE, tc.Policy(["age"], {"pay": {"t": 0.5}, "ill": {"l": 2}}, k=2)), {"pay": 4, "ill": 2})
    assert [sentence.partition(":")[0] for sentence in said] == ["k", "t", "t of pay", "l"]


@pytest.mark.parametrize("distance", ["ordered", "numeric"])
def test_two_numbers_are_as_far_apart_as_any_two_values(distance: str) -> None:
    people = PEOPLE.append_column("smokes", [[0, 1] * 4])
    policy = tc.Policy(["age"], {"pay": {"t": 0.5, "distance": distance}, "smokes": {"t": 0.5, "distance": distance}}, k=2)
    said = " ".join(Facts(papers_in_memory(tc.anonymize(people.select(["age", "pay", "smokes"]), policy)), 1).meanings)
    assert f"t of pay: {BY_DISTANCE[distance]}" in said
    assert f"t of smokes: {BY_DISTANCE['equal']}" in said


@pytest.mark.parametrize("distance", list(KINDS))
def test_every_distance_has_words(distance: str) -> None:
    assert BY_DISTANCE[distance]


def test_a_share_is_bounded_as_the_sentence_on_equal_distances_says() -> None:
    """30% of the table and 50% of a class have the value: the distance is 0.2."""
    table, largest = {"a": 30, "b": 70}, {"a": 50, "b": 50}
    assert tc.emd(largest, table, distance="equal", exact=True) == pytest.approx(0.2)
