"""Edges of published ranges: who alone can be there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.study.attacks.edges import compare, find_edges
from tclose.study.attacks.refinement import refine
from tclose.study.scene import CONTROL
from tests.naive import edges as naive
from tests.support.examples import examples
from tests.support.scenes import scene_of

POLICY = tc.Policy(["age"], {"ill": 1}, k=2)
COUNTRIES = {"Lyon": "France", "Nice": "France", "Bonn": "Germany", "Kiel": "Germany"}
TREE = tc.Hierarchy.from_mapping({"France": ["Lyon", "Nice"], "Germany": ["Bonn", "Kiel"]})


def found_in(ages: list[Any], labels: list[int], policy: tc.Policy = POLICY) -> tuple[list[int], list[int]]:
    """The rows whose class is proven, and those of controls who are said to be in a class."""
    table = pa.table({"age": ages, "ill": ["flu", "gout"] * (len(ages) // 2) + ["flu"] * (len(ages) % 2)})
    scene, order = scene_of(table, policy, labels)
    edges = find_edges(scene)
    return sorted(order[edges.pinned].tolist()), sorted(order[edges.mistaken].tolist())


def test_who_alone_has_the_age_at_an_end_is_in_the_class() -> None:
    # [20, 29] and [25, 40]: nobody else is 20, 29 or 40. Two are 25, and both lie in both ranges.
    assert found_in([20, 25, 29, 25, 30, 40], [0, 0, 0, 1, 1, 1]) == ([0, 2, 5], [])


def test_who_else_could_be_there_proves_nothing() -> None:
    # As above, but somebody of 20, of 29 and of 40 is in the register, and not in the table.
    assert found_in([20, 25, 29, 25, 30, 40, 20, 29, 40], [0, 0, 0, 1, 1, 1, *[CONTROL] * 3]) == ([], [])
    assert found_in([20, 25, 29, 25, 30, 40, 20, 29, 40], [0, 0, 0, 1, 1, 1, *[-1] * 3]) == ([], [])


def test_a_release_with_one_row_in_each_class_is_found_out() -> None:
    assert found_in([20, 25, 29, 40], [0, 1, 2, 3]) == ([0, 1, 2, 3], [])


def test_cells_of_a_grid_with_several_people_prove_nothing() -> None:
    ages, labels = [20, 25, 26, 29, 31, 32, 33, 48], [0] * 4 + [1] * 4
    assert found_in(ages, labels) == ([0, 3, 4, 7], [])
    # [20, 29] is one cell of four people. In [30, 49] somebody is from 40 to 49, and there is one who is.
    on_a_grid = tc.Policy([tc.Quasi("age", snap=10)], {"ill": 1}, k=2)
    assert found_in(ages, labels, on_a_grid) == ([7], [])
    assert found_in([*ages, 47], [*labels, CONTROL], on_a_grid) == ([], [])
    beyond = tc.Policy([tc.Quasi("age", snap=10, top=30)], {"ill": 1}, k=2)
    assert found_in(ages, labels, beyond) == ([], [])


def test_means_and_labels_of_hierarchies_prove_nothing() -> None:
    assert found_in([20, 25, 29], [0, 0, 0], tc.Policy([tc.Quasi("age", recode="centroid")], {"ill": 1}, k=2)) == ([], [])
    intervals = tc.Policy([tc.Quasi("age", hierarchy={"intervals": [5, 10]})], {"ill": 1}, k=2)
    assert found_in([20, 25, 29, None], [0, 0, 0, 0], intervals) == ([3], [])  # but one who misses it is told: "or missing"


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_the_same_people_as_one_by_one(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 14))
    row = st.tuples(st.sampled_from([None, 20, 21, 22, 25]), st.sampled_from("abc"), st.sampled_from(list(COUNTRIES)))
    rows = data.draw(st.lists(row, min_size=count, max_size=count))
    drawn = data.draw(st.lists(st.sampled_from([CONTROL, -1, 0, 1, 2]), min_size=count, max_size=count))
    used = sorted({label for label in drawn if label >= 0})
    labels = [used.index(label) if label >= 0 else label for label in drawn]
    persons = data.draw(st.lists(st.integers(0, count), min_size=count, max_size=count)) if data.draw(st.booleans()) else None
    if not used or (persons and any(len({drawn[i] < 0 for i in range(count) if persons[i] == one}) > 1 for one in persons)):
        return  # nothing is published; or somebody is half in the table
    ages, jobs, towns = zip(*rows, strict=True)
    columns: dict[str, Any] = {"age": pa.array(ages, pa.int64()), "job": jobs, "town": towns, "ill": ["flu"] * count}
    table = pa.table(columns | ({"who": persons} if persons else {}))
    quasi = [tc.Quasi("age", type="integer"), tc.Quasi("job", type="category"), tc.Quasi("town", hierarchy=TREE)]
    scene, order = scene_of(table, tc.Policy(quasi, ["ill"], k=2, unit="who" if persons else None), labels)
    edges = find_edges(scene)
    assert set(order[edges.pinned].tolist()) == naive.pinned(rows, labels, persons or range(count), COUNTRIES)
    assert not edges.mistaken.any()


# --- ends that are moved ----------------------------------------------------------------------------------------------


def test_one_person_at_each_end_is_found_out_with_edges_1_and_not_with_2() -> None:
    table = pa.table({"age": [21, 22, 23, 23, 31, 31, 38, 39], "ill": ["flu", "gout"] * 4})
    found = []
    for edges in (1, 2):
        policy = tc.Policy(["age"], {"ill": 0.5}, k=4, edges=edges)
        release = tc.anonymize(table, policy, algorithm="mondrian")
        found.append(next(one for one in tc.attack(table, policy, release=release) if one.name == "edges"))
    assert [one.figures["pinned"] for one in found] == [2, 0]  # those of 21 and of 39
    assert [one.members.share for one in found] == [2 / 8, 0]
    assert [one.figures["outermost"] for one in found] == [2, 2]  # as they are, whatever is published
    assert "edges: 2" in found[0].lowers
    assert "snap: auto" in found[0].lowers


SETTINGS: list[dict[str, Any]] = [
    {}, {"snap": 5}, {"snap": 5, "top": 12, "bottom": 3}, {"top": 12}, {"recode": "bounds"}, {"recode": "bounds", "snap": 5},
]  # fmt: skip
TENS = tc.Policy([tc.Quasi("age", snap=10)], {"ill": 1}, k=2, edges=2)


def test_what_moved_ends_prove() -> None:
    # [10, 39]: nobody is from 10 to 19. So somebody is from 20 to 29, and one person alone is. Two are from 30 to 39.
    assert found_in([25, 31, 32], [0, 0, 0], TENS) == ([0], [])
    # Somebody else of 27 could be the one, and two from 10 to 19 could have attained the end; but one could not.
    assert found_in([25, 31, 32, 27], [0, 0, 0, CONTROL], TENS) == ([], [])
    assert found_in([25, 31, 32, 15, 16], [0, 0, 0, CONTROL, CONTROL], TENS) == ([], [])
    assert found_in([25, 31, 32, 15], [0, 0, 0, CONTROL], TENS) == ([0], [])
    # [20, 39]: two are from 20 to 29; or some from 30 to 39 alone, if the end was moved. There are two of both.
    assert found_in([25, 26, 31, 32], [0, 0, 0, 0], TENS) == ([], [])
    # [20, 29] is one cell: had an end been moved, there would be another. Two are there, and there are two.
    assert found_in([25, 26], [0, 0], TENS) == ([0, 1], [])


def test_an_end_that_was_not_moved_has_as_many_persons() -> None:
    # Grids of the rows: 2. Nothing moves to 20.5: two are there, and there are two.
    halves = tc.Policy([tc.Quasi("age")], {"ill": 1}, k=2, edges=2)
    ages = [20.5, 20.5, 22.5, 22.5]
    assert found_in(ages, [0] * 4, halves) == ([0, 1, 2, 3], [])
    assert found_in([*ages, 20.5], [*[0] * 4, CONTROL], halves) == ([2, 3], [])


@settings(max_examples=examples(40), deadline=None)
@given(st.data())
def test_what_is_claimed_is_true_and_proves_what_it_proves_one_by_one(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 16))
    tenths = st.integers(0, 60).map(lambda number: number / 10)
    age = data.draw(st.sampled_from([st.integers(0, 30), tenths]))
    ages = data.draw(st.lists(st.one_of(age, age, age, st.none()), min_size=count, max_size=count))
    ages[0] = data.draw(age)
    drawn = data.draw(st.lists(st.sampled_from([0, 0, 1, CONTROL]), min_size=count - 1, max_size=count - 1))
    labels = [1 if 1 in drawn else 0, *drawn]
    labels = labels if 0 in labels else [min(label, 0) for label in labels]
    asked = data.draw(st.sampled_from(SETTINGS))
    persons = data.draw(st.lists(st.integers(0, count), min_size=count, max_size=count)) if data.draw(st.booleans()) else None
    if persons and any(len({labels[row] < 0 for row in range(count) if persons[row] == one}) > 1 for one in persons):
        return  # somebody is half in the table
    table = pa.table({"age": ages, "ill": ["flu"] * count} | ({"who": persons} if persons else {}))
    quasi, unit = tc.Quasi("age", **asked), "who" if persons else None
    policy = tc.Policy([quasi], ["ill"], k=2, edges=data.draw(st.integers(2, 3)), unit=unit)
    scene, _ = scene_of(table, policy, labels)
    (claims,), (codes,), size = scene.attained, scene.table.quasi, scene.table.scales[0].size
    inside = np.concatenate([contains for _, contains in scene.containing(np.arange(count))])
    assert all(inside[row, label] for row, label in enumerate(scene.labels) if label >= 0)
    true, possible, fitting = [], [], []
    for claim, least in enumerate(claims.persons.tolist()):
        found = {divmod(int(key), size) for key in claims.keys[claims.claims == claim]}
        rows = [(row, label) for label, code in found for row in range(count) if codes[row] == code and inside[row, label]]
        fitting.append(rows)
        possible.append(len({int(scene.persons[row]) for row, _ in rows}) >= least)
        true.append(len({int(scene.persons[row]) for row, label in rows if scene.labels[row] == label}) >= least)
    pinned = set()
    for claim, (rows, other) in enumerate(zip(fitting, claims.other.tolist(), strict=True)):
        assert true[claim] or (other >= 0 and true[other])
        if len({int(scene.persons[row]) for row, _ in rows}) == claims.persons[claim] and not (other >= 0 and possible[other]):
            pinned |= {row for row, label in rows if scene.labels[row] == label}
    edges = find_edges(scene)
    assert set(np.flatnonzero(edges.pinned).tolist()) == pinned
    assert not edges.mistaken.any()
    refined = refine(scene)
    assert all(refined.possible[number, label] for number, label in zip(refined.number, scene.labels[scene.members], strict=True))


def test_who_is_outermost_by_raw_value_whatever_is_published() -> None:
    table = pa.table({"age": [20, 25, 25, 29, 29, 31, 32, 32], "ill": list("abcdabcd")})
    for policy in (
        POLICY,
        tc.Policy([tc.Quasi("age", snap=10)], {"ill": 1}, k=4),
        tc.Policy([tc.Quasi("age", top=30)], {"ill": 1}, k=4),
    ):
        release = tc.anonymize(table, policy, algorithm="mondrian")
        release.partition[:] = [0, 0, 0, 0, 0, 1, 1, 1]
        found = next(one for one in tc.attack(table, policy, release=release) if one.name == "edges")
        assert found.figures["outermost"] == 2  # those of 20 and of 31


def test_what_is_known_of_people_at_an_edge() -> None:
    # The classes [20, 29] and [25, 40], of three each; those of 20, 29 and 40 are pinned.
    table = pa.table({"age": [20, 25, 29, 25, 30, 40], "ill": ["flu", "flu", "gout", "cold", "cold", "flu"]})
    release = tc.anonymize(table, POLICY, algorithm="mondrian")
    release.partition[:] = [0, 0, 0, 1, 1, 1]
    found = next(one for one in tc.attack(table, POLICY, release=release) if one.name == "edges")
    assert (found.members.share, found.figures["pinned"], found.figures["outermost"]) == (1 / 2, 3, 4)  # 25 is alone in its class
    told = found.figures["sensitive"]["ill"]
    # 20 and 40 lie in one range only; 29 in both: gout is 1 of 6 there.
    assert told["pinned"]["belief_before"] == pytest.approx((2 / 3 + 1 / 6 + 1 / 3) / 3)
    assert told["pinned"]["belief_after"] == pytest.approx((2 / 3 + 1 / 3 + 1 / 3) / 3)
    shares = told["pinned"]["class_shares"]
    assert (shares.right.share, shares.others.share) == (1 / 3, 1)  # flu is right about 20; of the others, about all
    assert shares.difference == pytest.approx(-2 / 3)
    assert found.to_dict()["figures"]["sensitive"]["ill"]["pinned"]["class_shares"]["right"]["persons"] == 3


def test_nobody_to_compare_with() -> None:
    assert compare(np.ones(3), np.ones(3, dtype=np.bool_), np.arange(3)) is None
    assert compare(np.ones(3), np.zeros(3, dtype=np.bool_), np.arange(3)) is None
