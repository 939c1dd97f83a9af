"""Two releases of the same people: what their classes tell together, counted by hand and by brute force."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tclose as tc
from tests.support.examples import examples

POLICY = tc.Policy(["age"], {"ill": 1}, k=2)


def released(table: pa.Table, labels: list[int]) -> tc.Release:
    """A release with given classes."""
    release = tc.anonymize(table, POLICY, algorithm="mondrian")
    release.partition[:] = labels
    return release


def of_both(ages: list[int], ills: list[str], later: list[int], earlier: list[int]) -> tc.Attack:
    table = pa.table({"age": ages, "ill": ills})
    found = tc.attack(table, POLICY, release=released(table, later), earlier=released(table, earlier))
    return next(one for one in found if one.name == "two releases")


def test_what_both_releases_have_is_the_persons() -> None:
    # The one of 2 is with flu and gout in one release, and with gout and cold in the other.
    found = of_both([1, 2, 3], ["flu", "gout", "cold"], [0, 0, 1], [0, 1, 1])
    # Ages 1 to 2 and 3; then 1 and 2 to 3: nobody is in doubt.
    assert found.members.share == found.class_known.share == 1  # type: ignore[union-attr]
    assert found.figures == {"smallest": 1, "below_k": 1, "homogeneous": 1, "one_release": pytest.approx(1 / 3)}
    assert found.controls is None


def test_an_intersection_of_one_person_does_not_tell_what_both_classes_have() -> None:
    # Each pair of classes has one person, and all classes have both values.
    found = of_both([1, 2, 3, 4], ["flu", "gout", "gout", "flu"], [0, 0, 1, 1], [0, 1, 0, 1])
    assert found.figures == {"smallest": 1, "below_k": 1, "homogeneous": 1, "one_release": 0}
    assert found.members.share == 0


def test_the_same_release_twice_tells_nothing_more() -> None:
    ages, ills = [1, 2, 3, 7, 8, 9], ["flu", "flu", "flu", "gout", "flu", "cold"]
    found = of_both(ages, ills, [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1])
    assert found.members.share == found.figures["one_release"] == found.figures["homogeneous"] == 1 / 2
    assert (found.figures["smallest"], found.figures["below_k"]) == (3, 0)


def test_another_algorithm_tells_more() -> None:
    rng = np.random.default_rng(2)
    table = pa.table(
        {"age": rng.integers(0, 40, 300), "size": rng.integers(0, 30, 300), "ill": rng.choice(list("abcdefgh"), 300)}
    )
    policy = tc.Policy(["age", "size"], {"ill": 1}, k=4)
    first, second = (tc.anonymize(table, policy, algorithm=name) for name in ("mondrian", "microaggregation-merge"))
    found = next(one for one in tc.attack(table, policy, release=second, earlier=first) if one.name == "two releases")
    assert found.members.share > found.figures["one_release"]
    assert found.figures["below_k"] > 0.5
    assert "an earlier release is certain of their ill: right for" in found.sentence
    shuffled = rng.permutation(300)
    moved = [tc.anonymize(table.take(shuffled), policy, algorithm=name) for name in ("mondrian", "microaggregation-merge")]
    again = tc.attack(table.take(shuffled), policy, release=moved[1], earlier=moved[0])
    assert next(one for one in again if one.name == "two releases").to_dict() == found.to_dict()


@settings(max_examples=examples(20), deadline=None)
@given(st.data())
def test_two_releases_by_brute_force(data: st.DataObject) -> None:
    rows = data.draw(st.integers(3, 12))
    drawn = [data.draw(st.lists(st.integers(0, top), min_size=rows, max_size=rows)) for top in (5, 2, 2, 2)]
    ages, ills = drawn[0], [str(number) for number in drawn[1]]
    both = [np.unique(labels, return_inverse=True)[1].tolist() for labels in drawn[2:]]
    certain, known = 0, 0
    for row in range(rows):
        values, of_class = [], []
        for labels in both:
            inside = [[ages[other] for other in range(rows) if labels[other] == labels[each]] for each in range(rows)]
            values.append({ills[each] for each in range(rows) if min(inside[each]) <= ages[row] <= max(inside[each])})
            of_class.append({ills[each] for each in range(rows) if labels[each] == labels[row]})
        certain += len(set.intersection(*values)) == 1
        known += len(set.intersection(*of_class)) == 1
    found = of_both(ages, ills, *both)
    assert found.members.share == pytest.approx(certain / rows)
    assert found.class_known.share == pytest.approx(known / rows)  # type: ignore[union-attr]


def test_rows_that_the_earlier_release_suppressed() -> None:
    # No class of the earlier release contains the last person, so it rules nothing out.
    found = of_both([1, 2, 9], ["flu", "gout", "cold"], [0, 0, 1], [0, 0, -1])
    assert found.members.share == found.figures["one_release"] == pytest.approx(1 / 3)


def test_what_cannot_be_an_earlier_release() -> None:
    table = pa.table({"age": [1, 2, 3, 4], "size": [1, 2, 3, 4], "ill": ["flu", "gout"] * 2})
    policy = tc.Policy(["age", "size"], {"ill": 1}, k=2)
    release = tc.anonymize(table, policy, algorithm="mondrian")
    with pytest.raises(tc.PolicyError, match="earlier is compared with a later release"):
        tc.attack(table, policy, earlier=release)
    other = tc.anonymize(table.slice(0, 3), policy, algorithm="mondrian")
    with pytest.raises(tc.PolicyError, match="earlier must be made from this table, of 4 rows"):
        tc.attack(table, policy, release=release, earlier=other)
    fewer = tc.anonymize(table.select(["age", "ill"]), POLICY, algorithm="mondrian")
    with pytest.raises(tc.PolicyError, match="earlier must have the quasi-identifiers of the policy: age, size"):
        tc.attack(table, policy, release=release, earlier=fewer)
