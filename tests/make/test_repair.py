"""Repair: classes that break a limit once they are published are merged, whichever algorithm made them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import tclose as tc
from tclose.make import repair
from tclose.make.encode import EncodedTable
from tclose.make.kernels.limits import Limits
from tclose.make.repair import Grouping, failing_classes
from tests.support.examples import examples
from tests.support.releases import EXAMPLES, FEW, Case, cases
from tests.support.verdicts import encoded_table, verdicts

# --- which classes fail -----------------------------------------------------------------------------------------------


def verdict(columns: dict[str, list[Any]], policy: tc.Policy, labels: list[int]) -> list[bool]:
    """Which classes the maker finds failing; the judge finds the same."""
    table = encoded_table(columns, policy)
    found = verdicts(table, policy, np.array(labels)[table.order])
    assert found.maker.tolist() == found.judge.tolist()
    return [bool(fails) for fails in found.maker]


def test_classes_that_are_published_alike_can_break_lenient_delta() -> None:
    """v is 2/7 of the table. Of {a, b} the first class has none and the second a half; together they have 1/11."""
    columns = {"q": list("ababababa") + list("ab") + ["c"] * 10, "s": list("xxxxxxxxx") + list("xv") + list("xv") * 5}
    policy = tc.Policy(["q"], {"s": {"delta": 0.7, "delta_kind": "lenient"}}, k=1)
    assert verdict(columns, policy, [0] * 9 + [1] * 2 + [2] * 10) == [True, True, False]
    told_apart: dict[str, list[Any]] = columns | {"q": list("abababab") + ["a"] + ["b", "b"] + ["c"] * 10}
    assert verdict(told_apart, policy, [0] * 9 + [1] * 2 + [2] * 10) == [False, False, False]


def test_classes_that_are_published_alike_can_break_entropy_l_over_persons() -> None:
    """Each class has one person at each value; together they have one person at x, and two at y."""
    columns = {"q": list("abab"), "s": list("xyxy"), "who": ["Ada", "Bo", "Ada", "Cy"]}
    asked: dict[str, Any] = {"s": {"l": 2, "l_kind": "entropy"}}
    policy = tc.Policy(["q"], asked, k=1, unit="who", identifiers=["who"])
    assert verdict(columns, policy, [0, 0, 1, 1]) == [True, True]
    assert verdict(columns, tc.Policy(["q"], asked, k=1), [0, 0, 1, 1]) == [False, False]


def test_names_of_quasi_identifiers_do_not_stand_in_the_way_of_repair() -> None:
    columns: dict[str, list[Any]] = {"class": list("abab") * 2, "classclass": list("aabb") * 2, "s": list(range(8))}
    policy = tc.Policy(["class", "classclass"], ["s"], k=3)
    assert verdict(columns, policy, [row % 4 for row in range(8)]) == [True] * 4


@pytest.mark.filterwarnings("ignore::tclose.PrivacyRiskWarning")  # of two values the kept one often tells the other
@settings(FEW, max_examples=examples(EXAMPLES // 6))
@given(cases(least=4, containers=["pyarrow"]), st.one_of(st.none(), st.integers(1, 12)), st.booleans())
def test_the_maker_finds_what_the_judge_finds_with_every_algorithm(case: Case, n: int | None, lenient: bool) -> None:
    """In each round of merging: against the published rows, over rows and over persons."""
    assume(n is None or any(column.t is not None for column in case.policy.sensitive))
    sensitive = [replace(column, delta_kind="lenient" if lenient else "strict") for column in case.policy.sensitive]
    policy = replace(case.policy, n=n, sensitive=sensitive)
    found = []

    def compared(table: EncodedTable, limits: Limits, labels: NDArray[np.int64], alike: NDArray[np.int64]) -> Any:
        found.append(verdicts(table, policy, labels, limits))
        return failing_classes(table, limits, labels, alike)

    with pytest.MonkeyPatch.context() as patch, suppress(tc.InfeasibleError):
        patch.setattr(repair, "failing_classes", compared)
        tc.anonymize(pa.table(case.columns), policy, algorithm=case.algorithm)
    for maker, judge, sure in found:
        assert (maker >= judge).all()
        if sure and policy.suppression == 0:  # else it compares with the input, too
            assert maker.tolist() == judge.tolist()


# --- merging ----------------------------------------------------------------------------------------------------------


def test_merging_always_ends() -> None:
    """Each round leaves fewer classes, whichever fail; at last there is one."""
    grouping = Grouping(np.arange(6), [np.array([0, 0, 0, 0, 1, 1]), np.array([2, 2, 3, 3, -1, -1])])
    after = grouping.without(np.array([1]))
    assert after.merged.tolist() == [0, 0, 1, 2, 3, 4]  # the smallest region around it
    after = after.without(np.array([0]))
    assert after.merged.tolist() == [0, 0, 0, 0, 1, 2]  # the next one
    after = after.without(np.array([2]))
    assert after.merged.tolist() == [0, 0, 0, 0, 1, 1]
    assert after.without(np.array([1])).merged.tolist() == [0] * 6  # all rows


@given(st.lists(st.lists(st.integers(-1, 3), min_size=7, max_size=7), max_size=3), st.sets(st.integers(0, 6), min_size=1))
def test_a_failing_class_is_merged_with_another(levels: list[list[int]], failing: set[int]) -> None:
    before = Grouping(np.arange(7), [np.array(level) for level in levels])
    after = before.without(np.array(sorted(failing)))
    assert after.count < before.count
    sizes = np.bincount(after.merged)
    assert (sizes[after.merged[sorted(failing)]] > 1).all()


def test_mondrian_ends_where_labels_of_a_hierarchy_lie_inside_one_another() -> None:
    q = ["q020", "q030", "q001", "q011", "q023", "q000", "q020", "q001", "q011", "q030", "q011", "q030", "q022", "q010", "q020"]
    zips = [
        "84048",
        "42115",
        "42115",
        "61765",
        "12185",
        "848",
        "848",
        "67199",
        "12185",
        "67199",
        "67199",
        "84048",
        "61765",
        "12185",
        "67199",
    ]
    s = [222, 322, 100, 6, 23, 282, 77, 220, 291, 9, 120, 210, 212, 181, -12]
    tree = {
        "ROOT": {
            "G0": ["q000", "q001"],
            "G1": ["q010", "q011"],
            "G2": ["q020", "q021", "q022", "q023"],
            "G3": {"S3": ["q030", "q031"]},
        }
    }
    policy = tc.Policy({"q": {"hierarchy": tree}, "zip": None}, {"s": 0.05}, k=1, n=2)
    release = tc.anonymize(pa.table({"q": q, "zip": zips, "s": s}), policy, algorithm="mondrian")
    assert tc.audit(release.table, policy).satisfied


@pytest.mark.parametrize("recode", ["range", "bounds", "set"])
def test_mondrian_uses_regions(recode: Any) -> None:
    """Two towns of opposite ills: each is far from the table, and many classes of one town are close to the town."""
    columns = {
        "zip": [town + house // 4 for town in (0, 100) for house in range(40)],
        "s": ["flu"] * 36 + ["gout"] * 4 + ["gout"] * 36 + ["flu"] * 4,
    }
    policy = tc.Policy([tc.Quasi("zip", recode=recode)], {"s": {"t": 0.11, "distance": "equal"}}, k=2, n=40)
    release = tc.anonymize(pa.table(columns), policy, algorithm="mondrian")
    assert release.audit.classes > 2
    assert release.audit.sensitive["s"].t > 0.3  # from the table
    assert tc.audit(release.table, policy).satisfied


@pytest.mark.parametrize("algorithm", ["growth", "fragmentation"])
def test_algorithms_without_regions_keep_classes_close_to_the_table(algorithm: str) -> None:
    rows = 60
    columns = {"age": [row * 7 % 31 for row in range(rows)], "s": [row % 5 for row in range(rows)]}
    policy = tc.Policy(["age"], {"s": 0.2}, k=3, n=5)
    release = tc.anonymize(pa.table(columns), policy, algorithm=algorithm)
    assert release.audit.classes > 1
    assert release.audit.sensitive["s"].t <= 0.2
