"""The seams for algorithms: toy ones that register themselves, what an algorithm refuses, and levels of hierarchies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.make.algorithm import Algorithm, Partition
from tclose.make.problem import Problem
from tclose.make.registry import ALGORITHMS
from tclose.make.scales import Line, Tree
from tclose.policy import Policy
from tests.support.examples import examples

AGES = [23, 61, 35, 35, 47, 19, 52, 28]
TABLE = pa.table({"age": AGES, "zip": ["47677", "47602", "47905", "47909", "47678", "47906", "47605", "47673"], "pay": [3, 4, 5, 6, 7, 8, 9, 10]})  # fmt: skip


def in_order(problem: Problem, seed: int, effort: str, options: Mapping[str, Any]) -> Partition:
    """Classes of k rows in the order of the first quasi-identifier; the last takes the rest."""
    rows, k = problem.rows, problem.limits.k
    labels = np.empty(rows, dtype=np.int64)
    labels[np.argsort(problem.quasi[:, 0], kind="stable")] = np.minimum(np.arange(rows) // k, rows // k - 1)
    return Partition(labels, course={"seed": seed, "effort": effort, **options})


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    def add(run: Any, **settings: Any) -> str:
        monkeypatch.setitem(ALGORITHMS, "toy", Algorithm("toy", "a toy", "nowhere", run, **settings))
        return "toy"

    return add


def test_an_algorithm_needs_a_function_and_an_entry(register: Any) -> None:
    release = tc.anonymize(TABLE, tc.Policy(["age"], ["pay"], k=3, other="drop"), algorithm=register(in_order), seed=7)
    ranks = sorted(range(len(AGES)), key=lambda row: (AGES[row], TABLE["pay"][row].as_py()))
    ref = {row: min(rank // 3, 1) for rank, row in enumerate(ranks)}
    assert release.partition.tolist() == [ref[row] for row in range(len(AGES))]
    assert release.table["age"].to_pylist() == ["[19, 28]"] * 3 + ["[35, 61]"] * 5
    assert (release.record["algorithm"], release.record["course"]) == ("toy", {"seed": 7, "effort": "balanced"})


def one_attribute(policy: Policy, problem: Problem | None) -> str:
    if len(policy.sensitive) > 1:
        return f"It takes one sensitive attribute. The policy has {len(policy.sensitive)}."
    if problem is not None and problem.sensitive[0].distance.name != "equal":
        return f"It takes the equal distance. {policy.sensitive[0].name!r} has the {problem.sensitive[0].distance.name} one."
    return ""


def test_what_an_algorithm_cannot_do_is_said_before_the_table_is_read(register: Any) -> None:
    policy = tc.Policy(["age"], ["pay", "zip"], k=2)
    with pytest.raises(tc.PolicyError) as caught:
        tc.anonymize(Path("no.csv"), policy, algorithm=register(in_order, refuses=one_attribute))
    reason = "It takes one sensitive attribute. The policy has 2."
    assert str(caught.value) == f"toy cannot make this release. {reason} Choose growth, which can."


def test_what_only_the_table_tells_is_refused_before_the_algorithm_runs(register: Any) -> None:
    def never(*_: Any) -> Partition:
        pytest.fail("the algorithm was run")

    with pytest.raises(tc.PolicyError) as caught:
        tc.anonymize(TABLE, tc.Policy(["age"], ["pay"], k=2, other="drop"), algorithm=register(never, refuses=one_attribute))
    reason = "It takes the equal distance. 'pay' has the ordered one."
    assert str(caught.value) == f"toy cannot make this release. {reason} Choose growth, which can."


def test_an_algorithm_refuses_nothing_unless_it_says_so() -> None:
    policy = tc.Policy(["age"], {"pay": 0.3, "zip": {"l": 2}}, k=2, n=4, unit="who", suppression=0.1)
    assert tc.list_algorithms()[0].refuses(policy, None) == ""
    assert Algorithm("toy", "a toy", "nowhere", lambda *_: Partition(np.zeros(1, dtype=np.int64))).refuses(policy, None) == ""


def full_domain(*levels: int | None) -> Any:
    """Rows that are published alike, each quasi-identifier at its level, are a class; None publishes a value as it is."""

    def run(problem: Problem, *_: Any) -> Partition:
        keys = []
        for scale, level, codes in zip(problem.scales, levels, problem.quasi.T, strict=True):
            # Nodes are numbered from the root down: the largest of the first levels is the lowest.
            keys.append(codes if level is None else scale.widths().ancestors[: level + 1].max(axis=0)[codes])
        labels = np.unique(np.array(keys), axis=1, return_inverse=True)[1].ravel()
        return Partition(labels.astype(np.int64), levels=levels)

    return run


def test_a_level_publishes_its_label_not_the_lowest_common_one(register: Any) -> None:
    # Of 47677, 47678 and 47673 the lowest common label is 4767*; 47602 and 47605 would share 4760*.
    policy = tc.Policy([tc.Quasi("zip", hierarchy="prefixes")], ["pay"], k=2, other="drop")
    release = tc.anonymize(TABLE, policy, algorithm=register(full_domain(3)))
    assert Counter(release.table["zip"].to_pylist()) == {"476**": 5, "479**": 3}
    assert release.audit.k == 3
    holds = {column["name"]: column["holds"] for column in release.certificate["columns"]}
    assert holds["zip"].startswith("The label of the hierarchy of 'zip' above the value, 3 levels below the root; ")
    assert release.loss.by_attribute["gcp"]["zip"] == (5 * 5 + 3 * 3) / 8 / 8
    assert tc.audit(release.table, policy).satisfied


def test_levels_of_some_quasi_identifiers_and_values_of_others(register: Any) -> None:
    table = pa.table({"zip": ["476", "476", "479", "479"], "sex": ["f", "f", "m", "m"], "pay": [1, 2, 3, 4]})
    policy = tc.Policy([tc.Quasi("zip", hierarchy="prefixes"), "sex"], ["pay"], k=2)
    release = tc.anonymize(table, policy, algorithm=register(full_domain(0, None)))
    assert release.table.select(["zip", "sex"]).to_pylist() == [{"zip": "***", "sex": "f"}] * 2 + [{"zip": "***", "sex": "m"}] * 2


def test_an_algorithm_may_suppress_rows_and_a_level_shows_the_same_characters(register: Any) -> None:
    # 479061, the fourth leaf and the only value of six characters, is suppressed: the tree of the others has a level less.
    table = pa.table({"zip": ["47677", "47602", "47905", "47909", "479061"], "pay": [1, 2, 3, 4, 5]})

    def run(problem: Problem, *_: Any) -> Partition:
        found = full_domain(3)(problem)
        return Partition(np.where(problem.quasi[:, 0] == 3, -1, found.labels), found.levels)

    policy = tc.Policy([tc.Quasi("zip", hierarchy="prefixes")], ["pay"], k=2, suppression="1/5")
    release = tc.anonymize(table, policy, algorithm=register(run))
    assert release.table["zip"].to_pylist() == ["476**", "476**", "479**", "479**"]
    assert release.partition.tolist() == [0, 0, 1, 1, -1]


TREE = tc.Hierarchy.from_mapping({"a": {"b": ["1", "2"], "3": None, "c": {"d": ["4", "5", "6"]}}, "7": None, "e": ["8"]})


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.sets(st.integers(0, 7), min_size=1), min_size=1, max_size=6), st.integers(0, 5))
def test_a_class_is_published_at_its_level_or_above_all_its_values(classes: list[set[int]], level: int) -> None:
    scale, codes = Tree.of("q", TREE.leaves, TREE)
    flat = np.array([codes[leaf] for members in classes for leaf in sorted(members)])
    comp = scale.at_level(level).publish(flat, np.cumsum([0, *map(len, classes)])).columns["q"]
    ref = []
    for members in classes:
        paths = [TREE.path(TREE.leaf(TREE.leaves[leaf])) for leaf in members]
        common = [nodes[0] for nodes in zip(*paths, strict=False) if len(set(nodes)) == 1]
        ref.append(TREE.labels[common[: level + 1][-1]])
    assert [comp.values[index] for index in comp.indices] == ref


def test_without_a_hierarchy_there_are_two_levels(register: Any) -> None:
    table = pa.table({"age": [1, 1, None, 2], "job": ["cook", "cook", "smith", None], "pay": [1, 2, 3, 4]})
    policy = tc.Policy(["age", "job"], ["pay"], k=2)
    release = tc.anonymize(table, policy, algorithm=register(lambda *_: Partition(np.zeros(4, dtype=np.int64), levels=(0, 0))))
    assert release.table.select(["age", "job"]).to_pylist() == [{"age": "*", "job": "*"}] * 4
    assert release.loss.by_attribute["gcp"] == {"age": 1, "job": 1} == release.loss.by_attribute["lm"]
    assert release.loss["sse"] == 4
    assert (
        release.certificate["columns"][0]["holds"] == "'*' in every row: nothing is published of 'age', nor which rows miss it."
    )
    line = Line.of("age", [1, 2])[0]
    assert line.at_level(1) is line
    with pytest.raises(TypeError, match="recode: bounds of 'age' has no levels"):
        Line.of("age", [1, 2], recode="bounds")[0].at_level(1)


def test_at_the_root_nobody_sees_which_cells_are_missing(register: Any) -> None:
    table = pa.table({"zip": ["476", "479", None, None], "sex": ["f", "f", "m", "m"], "pay": [1, 2, 3, 4]})
    policy = tc.Policy([tc.Quasi("zip", hierarchy="prefixes"), "sex"], {"pay": 1}, k=2, n=2)
    release = tc.anonymize(table, policy, algorithm=register(lambda *_: Partition(np.array([0, 0, 1, 1]), levels=(0, 1))))
    assert release.table["zip"].to_pylist() == ["*** or missing"] * 4
    assert release.loss.by_attribute["gcp"]["zip"] == 1


@settings(max_examples=examples(60), deadline=None)
@given(st.sets(st.sampled_from([*TREE.leaves]), min_size=1), st.booleans())
def test_groups_of_a_level_lie_inside_those_above_it(leaves: set[str], missing: bool) -> None:
    scale, codes = Tree.of("q", sorted(leaves), TREE, missing=missing)
    above = np.zeros(scale.size, dtype=np.int64)
    for level in range(scale.levels):
        groups = scale.groups(level)
        published = scale.at_level(level).publish(np.arange(scale.size), np.arange(scale.size + 1)).columns["q"]
        assert len(set(zip(groups, above, strict=True))) == len(set(groups)) == len({*groups})
        assert [a == b for a in groups for b in groups] == [a == b for a in published.indices for b in published.indices]
        above = groups
    assert len(set(above)) == scale.size == len(codes)
