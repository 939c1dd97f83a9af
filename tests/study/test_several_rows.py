"""Several rows of a person: what their classes leave together, counted by hand and by loops."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.study.attacks.believed import believed
from tclose.study.attacks.record import Outcome, record_of
from tclose.study.attacks.several_rows import same_in_all_rows, several_rows
from tclose.study.scene import CONTROL
from tests.naive.several_rows import certain
from tests.support.examples import examples
from tests.support.scenes import scene_of

POLICY = tc.Policy(["age"], {"pay": 1}, k=2, unit="who")
PEOPLE = [
    ("Anna", 1, 10), ("Ben", 2, 20), ("Cem", 3, 30),
    ("Anna", 7, 10), ("Ben", 8, 20), ("Dora", 9, 40),
    ("Cem", 20, 30), ("Dora", 21, 40), ("Eva", 22, 50),
]  # fmt: skip
LABELS = [0, 0, 0, 1, 1, 1, 2, 2, 2]


def table_of(people: list[tuple[str, int, int]]) -> pa.Table:
    """People by name, age and pay as a table."""
    return pa.table(dict(zip(("who", "age", "pay"), map(list, zip(*people, strict=True)), strict=True)))


def attack_on(people: list[tuple[str, int, int]], labels: list[int]) -> tc.Attack:
    """The attack on people with given classes."""
    scene, _ = scene_of(table_of(people), POLICY, labels)
    return record_of(scene, several_rows(scene, believed(scene, scene.table.sensitive[0])))


def test_two_classes_leave_one_value() -> None:
    # Each class has three values. Anna and Ben share both of theirs; the classes of Cem have 30 alone in common, those of Dora 40.
    table = table_of(PEOPLE)
    release = tc.anonymize(table, POLICY, algorithm="mondrian")
    release.partition[:] = LABELS
    found = {one.name: one for one in tc.attack(table, POLICY, release=release)}
    sure = found["several rows"]
    assert (sure.members.share, sure.members.persons, sure.class_known.share) == (2 / 5, 5, 2 / 5)  # type: ignore[union-attr]
    assert (sure.before, sure.figures) == (0, {"one_row": 0})
    assert found["homogeneity"].members.share == 0
    assert sure.sentence == (
        "Someone who knows the quasi-identifiers of all rows of a person and that they are in the release is certain of their pay, "
        "which is the same in all of them: right for 40.0% of the people in the release."
    )
    assert sure.lowers == "one row a person, larger classes (k), or coarser values"


def test_controls_are_attacked_in_the_same_way() -> None:
    # The rows of both fit the first class and the last, which have 30 in common: Fay earns that, and Gus does not.
    # Hal is 2 in one row, and nobody is as old as he is in the other: that row rules nothing out.
    others = [("Fay", 2, 30), ("Fay", 21, 30), ("Gus", 2, 20), ("Gus", 21, 20), ("Hal", 2, 10), ("Hal", 90, 10)]
    found = attack_on([*PEOPLE, *others], [*LABELS, *[CONTROL] * 6])
    assert found.controls is not None
    assert (found.members.share, found.controls.share, found.controls.persons) == (2 / 5, 1 / 3, 3)


def test_one_row_may_be_enough() -> None:
    found = attack_on([("Anna", 1, 10), ("Ben", 2, 10), ("Anna", 7, 10), ("Cem", 8, 30)], [0, 0, 1, 1])
    assert (found.members.share, found.figures["one_row"]) == (2 / 3, 2 / 3)


def test_no_group_is_the_worst_about_which_an_attack_is_right_less_often_than_about_all() -> None:
    # Of the two rows of each person one is proven: that of the even persons at age 1, that of the odd ones at age 2.
    people = [(f"P{who}", age, who) for who in range(80) for age in (1, 2)]
    scene, order = scene_of(table_of(people), POLICY, [0] * 160)
    proven = np.array([(row // 2 + row) % 2 for row in range(160)], dtype=np.float64)[order]
    sure = Outcome("sure", "pay", "", "", None, proven, np.zeros(0), None, "", proves=True)
    found = record_of(scene, sure)
    assert (found.members.share, found.worst) == (1, None)
    mean = record_of(scene, replace(sure, proves=False))
    assert mean.members.share == 1 / 2
    assert mean.worst is not None
    assert (mean.worst.column, mean.worst.share, mean.worst.persons) == ("age", 1 / 2, 80)


def test_columns_that_differ_within_persons_are_not_attacked() -> None:
    def same(*others: tuple[str, int, int], unit: str | None = "who") -> bool:
        people = [(f"P{row // 2}", row, row // 2) for row in range(18)] + list(others)
        policy = tc.Policy(["age"], {"pay": 1}, k=2, unit=unit, identifiers=[] if unit == "who" else ["who"])
        scene, _ = scene_of(table_of(people), policy, [*[0] * (len(people) - 1), -1])
        return same_in_all_rows(scene, scene.table.sensitive[0])

    assert same()
    assert same(("Q", 1, 1), ("Q", 2, 2))  # nine of ten persons
    assert not same(("Q", 1, 1), ("Q", 2, 2), ("R", 1, 1), ("R", 2, 2))  # nine of eleven
    assert same(("Q", 1, 1), ("Q", 2, 2), ("R", 1, 1))  # who has one row does not count
    alone = [("Anna", 1, 10), ("Ben", 2, 20), ("Cem", 3, 30)]
    scene, _ = scene_of(table_of(alone), POLICY, [0, 0, 0])
    assert not same_in_all_rows(scene, scene.table.sensitive[0])


def test_the_attack_is_tried_where_it_can_be() -> None:
    def names(columns: dict[str, Any], policy: tc.Policy) -> list[tuple[str, str | None]]:
        found = tc.attack(pa.table(columns), policy, algorithm="mondrian", holdout="1/4")
        return [(one.name, one.sensitive) for one in found if one.name == "several rows"]

    columns = {
        "who": [row // 3 for row in range(60)],
        "age": [row * 7 % 31 for row in range(60)],
        "pay": [row // 3 % 7 for row in range(60)],
        "ill": ["flu", "gout", "cold"] * 20,
    }
    sensitive = {"pay": 1, "ill": 1}
    assert names(columns, tc.Policy(["age"], sensitive, k=3, unit="who")) == [("several rows", "pay")]
    assert names(columns, tc.Policy(["age"], sensitive, k=3, unit="row", drop=["who"])) == []


@settings(max_examples=examples(40), deadline=None)
@given(st.data())
def test_who_is_certain_by_loops(data: st.DataObject) -> None:
    count = data.draw(st.integers(3, 16))
    ages, sizes = (data.draw(st.lists(st.integers(0, 4), min_size=count, max_size=count)) for _ in range(2))
    whose = data.draw(st.lists(st.sampled_from("abcdefg"), min_size=count, max_size=count))
    pays = {person: data.draw(st.integers(0, 4)) for person in "abcdefg"}
    pay = [data.draw(st.integers(0, 4)) if person == "g" else pays[person] for person in whose]  # one person's differs
    held_back = data.draw(st.sets(st.sampled_from("abcdefg"))) - {whose[0]}
    drawn = [0, *data.draw(st.lists(st.sampled_from([0, 1, 2, -1]), min_size=count - 1, max_size=count - 1))]
    classes = [CONTROL if person in held_back else label for person, label in zip(whose, drawn, strict=True)]
    known = sorted({label for label in classes if label >= 0})
    labels = [known.index(label) if label >= 0 else label for label in classes]
    table = pa.table({"who": whose, "age": ages, "size": sizes, "pay": pay})
    scene, _ = scene_of(table, tc.Policy(["age", "size"], {"pay": 1}, k=2, unit="who"), labels)
    found = record_of(scene, several_rows(scene, believed(scene, scene.table.sensitive[0])))
    inside = sorted({person for person, label in zip(whose, labels, strict=True) if label >= 0})
    ref = [certain(whose, (ages, sizes), pay, labels, person) for person in inside]
    assert found.members.persons == len(ref)
    assert found.members.share == pytest.approx(sum(ref) / len(ref))
    others = [certain(whose, (ages, sizes), pay, labels, person) for person in sorted(held_back & set(whose))]
    assert (found.controls is None) == (not others)
    if found.controls is not None:
        assert found.controls.share == pytest.approx(sum(others) / len(others))
