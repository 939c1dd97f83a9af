"""Kept columns: rows that stand alone, counted by hand and by brute force."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tclose as tc
from tests.support.examples import examples


def kept_of(table: pa.Table, policy: tc.Policy, labels: list[int]) -> tc.Attack:
    """The attack on a release of everybody with given classes."""
    release = tc.anonymize(table, policy, algorithm="mondrian")
    release.partition[:] = labels
    return next(one for one in tc.attack(table, policy, release=release) if one.name == "kept columns")


POLICY = tc.Policy(["age"], {"ill": 1}, k=2, keep=["job", "town"])
PEOPLE = {
    "age": [1, 2, 3, 7, 8, 9],
    "ill": ["flu", "gout"] * 3,
    "job": ["cook", "cook", "smith", "cook", "cook", "cook"],
    "town": ["Ulm", "Ulm", "Ulm", "Ulm", "Ulm", "Bonn"],
}


def test_rows_that_stand_alone_are_counted() -> None:
    # The smith of the first class and the one of Bonn in the second stand alone; without either column one of them does.
    found = kept_of(pa.table(PEOPLE), POLICY, [0, 0, 0, 1, 1, 1])
    assert (found.members.share, found.class_known.share) == (2 / 6, 2 / 6)  # type: ignore[union-attr]
    assert found.figures == {"rows": 2, "column": "job", "without": 1 / 6}
    assert found.lowers == "dropping or generalising job"
    assert found.sentence == (
        "Someone who knows the quasi-identifiers of a person and their job and town finds exactly one row that fits: "
        "true for 33.3% of the people in the release."
    )


def test_a_column_that_says_nothing_singles_nobody_out() -> None:
    columns = {**PEOPLE, "job": ["cook"] * 6, "town": ["Ulm"] * 6}
    assert kept_of(pa.table(columns), POLICY, [0, 0, 0, 1, 1, 1]).members.share == 0


def test_a_column_of_names_is_found_out() -> None:
    table = pa.table({**PEOPLE, "town": [f"town {row}" for row in range(6)]})
    policy = tc.Policy(["age"], {"ill": 1}, k=2, keep={"job": {}, "town": {"despite": "a test"}})
    found = kept_of(table, policy, [0, 0, 0, 1, 1, 1])
    assert (found.members.share, found.figures["column"]) == (1, "town")


def test_without_kept_columns_there_is_no_such_attack() -> None:
    table = pa.table({"age": [1, 2, 3, 4], "ill": ["flu", "gout"] * 2})
    found = tc.attack(table, tc.Policy(["age"], {"ill": 1}, k=2), algorithm="mondrian", holdout="1/4")
    assert "kept columns" not in [one.name for one in found]


def test_a_match_of_a_control_is_a_wrong_one() -> None:
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "age": rng.integers(0, 30, 200),
            "ill": rng.choice(list("ab"), 200),
            "job": rng.choice([f"job {n}" for n in range(20)], 200),
        }
    )
    policy = tc.Policy(["age"], {"ill": 1}, k=4, keep=["job"])
    attacked = tc.attack(table, policy, algorithm="mondrian", holdout="1/4")
    found = next(one for one in attacked if one.name == "kept columns")
    assert found.controls is not None
    assert found.controls.persons == 50
    assert found.members.share > 0.5
    assert 0 < found.controls.share < found.members.share
    assert found.sentence.endswith("of people who are not in it.")


@settings(max_examples=examples(20), deadline=None)
@given(st.data())
def test_rows_that_stand_alone_by_brute_force(data: st.DataObject) -> None:
    rows = data.draw(st.integers(4, 14))
    drawn = [data.draw(st.lists(st.integers(0, top), min_size=rows, max_size=rows)) for top in (5, 2, 1, 2)]
    ages, jobs, towns, labels = drawn
    labels = np.unique(labels, return_inverse=True)[1].tolist()
    table = pa.table({"age": ages, "ill": ["flu", "gout"] * (rows // 2) + ["flu"] * (rows % 2), "job": jobs, "town": towns})
    policy = tc.Policy(["age"], {"ill": 1}, k=2, keep={name: {"despite": "a test"} for name in ("job", "town")})
    inside = [[age for age, label in zip(ages, labels, strict=True) if label == number] for number in range(max(labels) + 1)]
    fitting = [
        sum(
            min(inside[labels[other]]) <= ages[row] <= max(inside[labels[other]])
            and (jobs[other], towns[other]) == (jobs[row], towns[row])
            for other in range(rows)
        )
        for row in range(rows)
    ]
    assert kept_of(table, policy, labels).members.share == pytest.approx(fitting.count(1) / rows)
