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
from tclose.study.scene import CONTROL
from tests.naive import edges as naive
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


@settings(max_examples=60, deadline=None)
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
