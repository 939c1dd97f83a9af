"""Which person cannot be in which class, on tables that can be counted, and against slow twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.study.attacks import refinement as module
from tclose.study.attacks.refinement import possible_pairs, refine, refinement, strong_components
from tclose.study.scene import CONTROL
from tclose.values.arrays import Ints
from tests.naive import refinement as naive
from tests.support.examples import examples
from tests.support.scenes import scene_of

COUNTRIES = {"Lyon": "France", "Nice": "France", "Bonn": "Germany", "Kiel": "Germany", "Cadiz": "Spain"}
TREE = tc.Hierarchy.from_mapping({"France": ["Lyon", "Nice"], "Germany": ["Bonn", "Kiel"], "Spain": ["Cadiz"]})


def refined(columns: dict[str, Any], quasi: list[Any], labels: list[int]) -> dict[str, Any]:
    """The figures of the attack on rows with given classes, and how often it is certain."""
    scene, _ = scene_of(pa.table(columns), tc.Policy(quasi, {"ill": 1}, k=2), labels)
    found = refinement(scene, refine(scene), scene.table.sensitive[0])
    return {**found.figures, "certain": found.members.mean()}


def test_the_sizes_of_classes_rule_out_what_a_label_allows() -> None:
    # The classes "France" and "*". Both from France might be in "*", but then nobody would be left for "France".
    columns = {"town": ["Lyon", "Nice", "Bonn", "Cadiz"], "ill": ["flu", "flu", "gout", "cold"]}
    found = refined(columns, [tc.Quasi("town", hierarchy=TREE)], [0, 0, 1, 1])
    assert (found["pairs"], found["impossible_by_sizes"], found["impossible"]) == pytest.approx((6, 2 / 6, 2 / 6))
    assert (found["narrowed"], found["one_class_before"], found["one_class"]) == (2, 2, 4)
    assert (found["certain_before"], found["certain"]) == (0, 2 / 4)  # of the flu of those from France
    assert (found["belief_before"], found["belief_after"]) == pytest.approx((1 / 2, 3 / 4))
    assert (found["bits_before"], found["bits_after"]) == (2, 0)


def test_ends_of_ranges_rule_out_what_sizes_allow() -> None:
    # [1, 5] and [3, 9]: those of 3 and 5 could change places, but for the ends of the ranges.
    found = refined({"age": [1, 5, 3, 9], "ill": ["flu", "flu", "gout", "cold"]}, ["age"], [0, 0, 1, 1])
    assert (found["impossible_by_sizes"], found["impossible"]) == pytest.approx((0, 2 / 6))
    assert (found["one_class"], found["certain"]) == (4, 1 / 2)


def test_who_is_not_in_the_release_is_not_in_the_register() -> None:
    found = refined({"age": [1, 5, 3, 9, 5, 3], "ill": ["flu"] * 6}, ["age"], [0, 0, 1, 1, CONTROL, -1])
    assert (found["pairs"], found["one_class"]) == (6, 4)


def test_nothing_is_ruled_out_where_everybody_fits_everywhere() -> None:
    for labels in ([0] * 6, [0, 0, 0, 1, 1, 1]):
        found = refined({"age": [1, 5, 9, 1, 5, 9], "ill": list("abcabc")}, ["age"], labels)
        assert (found["impossible"], found["narrowed"], found["certain"]) == (0, 0, 0)
        assert found["bits_before"] == found["bits_after"] == (6 if labels[-1] else 0)


@settings(max_examples=examples(40), deadline=None)
@given(st.data())
def test_possible_pairs_as_by_a_linear_program(data: st.DataObject) -> None:
    people, classes = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 4))

    def numbers(most: int) -> Ints:
        drawn = data.draw(st.lists(st.integers(0, most), min_size=people * classes, max_size=people * classes))
        return np.array(drawn, dtype=np.int64).reshape(people, classes)

    flow = np.maximum(numbers(4) - 2, 0)
    allowed = (flow > 0) | (numbers(2) == 0)
    least = np.minimum(numbers(1), flow)
    some, in_class = np.nonzero(flow)
    movable = flow[some, in_class] > least[some, in_class]
    found = possible_pairs(allowed, some.astype(np.int64), in_class.astype(np.int64), movable)
    assert np.array_equal(found, naive.possible(allowed, flow, least))


@settings(max_examples=examples(30), deadline=None)
@given(st.data())
def test_what_is_ruled_out_as_by_all_assignments(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 6))
    row = st.tuples(st.sampled_from([None, 20, 21, 22]), st.sampled_from("ab"), st.sampled_from(list(COUNTRIES)))
    rows = data.draw(st.lists(row, min_size=count, max_size=count))
    drawn = data.draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
    labels = [sorted(set(drawn)).index(label) for label in drawn]
    assume(len(set(labels)) > 1)
    ages, jobs, towns = zip(*rows, strict=True)
    table = pa.table({"age": pa.array(ages, pa.int64()), "job": jobs, "town": towns, "ill": ["flu"] * count})
    quasi = [tc.Quasi("age", type="integer"), tc.Quasi("job", type="category"), tc.Quasi("town", hierarchy=TREE)]
    scene, order = scene_of(table, tc.Policy(quasi, ["ill"], k=2), labels)
    found = refine(scene)
    for ends, pairs in ((False, found.by_sizes), (True, found.possible)):
        tried = naive.assignments(rows, labels, COUNTRIES, ends=ends)
        for index, number in zip(order.tolist(), found.number.tolist(), strict=True):
            left = {one[index] for one in tried}
            if not ends:
                assert set(np.flatnonzero(pairs[number]).tolist()) == left
            assert set(np.flatnonzero(pairs[number]).tolist()) >= left  # what is ruled out is impossible
        assert np.log2(len(tried)) <= np.log2(pairs.sum(axis=1)[found.number]).sum() + 1e-9


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(1, 9), st.integers(0, 2**32 - 1), st.sampled_from([0.05, 0.15, 0.4]))
def test_strongly_connected_components(nodes: int, seed: int, share: float) -> None:
    edges = np.random.default_rng(seed).random((nodes, nodes)) < share
    paths = edges | np.eye(nodes, dtype=np.bool_)
    for _ in range(nodes):
        paths = paths @ paths
    component = strong_components(edges)
    assert np.array_equal(component[:, None] == component, paths & paths.T)


def test_a_release_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 10)
    table = pa.table({"age": list(range(12)), "ill": list("abcd") * 3})
    policy = tc.Policy(["age"], {"ill": 1}, k=3)
    found = tc.attack(table, policy, release=tc.anonymize(table, policy, algorithm="mondrian"))
    assert "refinement" not in [one.name for one in found]
    assert found.skipped == ["Refinement was not tried: it looks at all pairs of 12 rows and 4 classes, and at most at 10."]
    assert found.to_dict()["skipped"] == found.skipped
