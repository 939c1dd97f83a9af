"""Classes of several blocks that are published alike satisfy the limits as one, which merging might have broken."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.make.distributed.alike import (
    PlaceByClass,
    PlaceByKey,
    classes_to_merge,
    merge_away,
    merge_block,
    merge_until_none_breaks,
    settle_block,
)
from tclose.make.distributed.block import encoded_block, problem_of, publish_block
from tclose.make.distributed.cuts import cut_into_blocks
from tclose.make.distributed.plan import Plan
from tests.naive.cluster import Cluster
from tests.support.examples import examples
from tests.support.planned import planned, some_people, terms_of

LENIENT = tc.Policy(
    quasi=["age", "sex"], sensitive=[tc.Sensitive("pay", delta="0.7", delta_kind="lenient"), "ill"], k=2, other="drop", unit="row"
)
ENTROPY = tc.Policy(quasi=["age", "sex"], sensitive=[tc.Sensitive("ill", l="2.8", l_kind="entropy"), "pay"], k=2, unit="who")
RECURSIVE = tc.Policy(quasi=["age", "sex"], sensitive=[tc.Sensitive("ill", l=3, l_kind="recursive", c=3), "pay"], k=2, unit="who")


class Settled:
    """Rows with settled classes in memory, each block by itself; see `tclose.make.distributed.alike.SettledRows`."""

    def __init__(self, plan: Plan, blocks: list[pa.Table]) -> None:
        self.plan, self.blocks, self.merges = plan, blocks, 0

    @classmethod
    def of(cls, plan: Plan, rows: pa.Table, most: int) -> Settled:
        cluster = Cluster(rows)
        blocks = cut_into_blocks(cluster, terms_of(plan, most))
        return cls(plan, [settle_block(plan, cluster.of_block(block)) for block in blocks])

    def placed(self) -> list[pa.Table]:
        """Each block, with its number."""
        return [pa.Table.from_batches(list(PlaceByClass()(block.combine_chunks().to_batches()))) for block in self.blocks]

    def find(self) -> list[tuple[Any, int]]:
        rows = pa.concat_tables(self.blocks, promote_options="permissive").combine_chunks()
        placed = pa.Table.from_batches(list(PlaceByKey(self.plan, 3)(rows.to_batches())))
        parts = np.unique(placed["block"].to_numpy())
        return [classes_to_merge(self.plan, placed.filter(pc.field("block") == part)) for part in parts]

    def merge(self, away: Any) -> None:
        self.blocks = [merge_block(self.plan, block, away) for block in self.placed()]
        self.merges += 1

    def published(self) -> pa.Table:
        return pa.concat_tables([publish_block(self.plan, block)[0] for block in self.placed()])


def few_ages(rows: int, seed: int) -> pa.Table:
    """People of few ages: many classes are published alike."""
    table = some_people(rows, seed)
    ages = pa.array(table["age"].to_numpy() // 10 * 10)
    return table.set_column(table.column_names.index("age"), "age", ages)


@settings(max_examples=examples(30))
@given(
    seed=st.integers(0, 1000),
    rows=st.integers(40, 240),
    most=st.sampled_from([30, 60, 1000]),
    policy=st.sampled_from([LENIENT, ENTROPY, RECURSIVE]),
)
def test_what_is_published_satisfies_the_limits(seed: int, rows: int, most: int, policy: tc.Policy) -> None:
    table = few_ages(rows, seed)
    try:
        plan, coded = planned(table, policy)
        settled = Settled.of(plan, coded, most)
        merge_until_none_breaks(settled)
    except tc.InfeasibleError as error:
        assert any(word in str(error) for word in ("one class of all rows", "no others to merge"))  # noqa: PT017
        return
    published = settled.published()
    for unit in {policy.unit, None}:  # as the owner sees it, and as a reader does
        assert tc.audit(published, replace(policy, unit=unit)).satisfied
    for name in ("pay", "ill"):
        assert Counter(published[name].to_pylist()) == Counter(table[name].to_pylist())


@pytest.mark.parametrize(("policy", "seeds"), [(LENIENT, 4), (ENTROPY, 12)], ids=["lenient", "entropy"])
def test_some_classes_are_merged_indeed(policy: tc.Policy, seeds: int) -> None:
    """Without that, what is published would break the policy."""
    merged = 0
    for seed in range(seeds):
        plan, coded = planned(few_ages(200, seed), policy)
        settled = Settled.of(plan, coded, 40)
        before = tc.audit(settled.published(), policy).satisfied
        merge_until_none_breaks(settled)
        assert before == (not settled.merges)
        merged += settled.merges > 0
    assert merged


def three_classes(sensitive: list[str], who: list[str], alone: int = 0) -> tuple[Plan, pa.Table]:
    """Rows of three classes, two of which are published alike, and a plan that asks that no value has most persons of a class.

    ``alone`` is the number of the class that is alone in its block, if any: 1, 2 or 3.
    """
    table = pa.table({"age": [20, 20, 20, 20, 30, 30], "ill": sensitive, "who": who})
    policy = tc.Policy(quasi=["age"], sensitive=[tc.Sensitive("ill", l=2, l_kind="recursive", c="1.6")], k=2, unit="who")
    plan, rows = planned(table, policy)
    found = {
        "class": [1 << 32, 1 << 32, 2 << 32, 2 << 32, 7, 7],
        "key": [5, 5, 5, 5, 6, 6],
        "alone": [alone == number for number in (1, 1, 2, 2, 3, 3)],
    }
    for name, column in found.items():
        rows = rows.append_column(name, pa.array(column))
    return plan, rows.drop_columns(["count"])


def test_of_two_classes_that_break_a_limit_together_one_stays() -> None:
    """By hand: in each class one person has a and one has b. Of the four, P2 is in both: two have a, and P2 alone has b."""
    plan, rows = three_classes(["a", "b", "a", "b", "a", "b"], ["P1", "P2", "P3", "P2", "P4", "P5"])
    away, classes = classes_to_merge(plan, rows)
    assert (away.tolist(), classes) == ([2 << 32], 3)
    plan, rows = three_classes(["a", "b", "a", "b", "a", "b"], ["P1", "P2", "P3", "P6", "P4", "P5"])
    assert classes_to_merge(plan, rows)[0].tolist() == []


def test_a_class_that_is_alone_in_its_block_stays_first() -> None:
    """It has no other one to be merged with: the first class of the same two goes."""
    plan, rows = three_classes(["a", "b", "a", "b", "a", "b"], ["P1", "P2", "P3", "P2", "P4", "P5"], alone=2)
    assert classes_to_merge(plan, rows)[0].tolist() == [1 << 32]


def test_of_classes_that_cannot_all_stay_the_largest_does() -> None:
    """The class with the greater number has four rows; both together break the limit, as P2 alone has b."""
    table = pa.table({
        "age": [20] * 6 + [30] * 2,
        "ill": ["a", "b", "a", "b", "a", "b", "a", "b"],
        "who": ["P1", "P2", "P3", "P2", "P4", "P2", "P5", "P6"],
    })  # fmt: skip
    policy = tc.Policy(quasi=["age"], sensitive=[tc.Sensitive("ill", l=2, l_kind="recursive", c="2.5")], k=2, unit="who")
    plan, rows = planned(table, policy)
    columns = {"class": [1 << 32] * 2 + [2 << 32] * 4 + [7] * 2, "key": [5] * 6 + [6] * 2, "alone": [False] * 8}
    for name, column in columns.items():
        rows = rows.append_column(name, pa.array(column))
    away, classes = classes_to_merge(plan, rows.drop_columns(["count"]))
    assert (away.tolist(), classes) == ([1 << 32], 3)


def test_a_class_is_merged_with_one_that_is_published_otherwise() -> None:
    """The class at 20 loses nothing with the other one at 20, which would change nothing. So it goes to the one at 30."""
    plan, rows = three_classes(["a", "b", "a", "b", "a", "b"], ["P1", "P2", "P3", "P2", "P4", "P5"])
    table, order = encoded_block(plan, rows)
    problem, labels = problem_of(plan, table), np.array([0, 0, 1, 1, 2, 2])[order]
    merged = merge_away(problem, labels, np.array([1]), np.array([5, 5, 6]))
    assert {number: (merged == number).sum() for number in (0, 2)} == {0: 2, 2: 4}


def test_where_no_other_class_will_do_all_become_one_or_the_class_stays() -> None:
    """With the class at 30, too, most persons have a; all together are one class that satisfies the limit, or none does."""
    for who, expected in ((["P1", "P5", "P3", "P2", "P4", "P2"], 1), (["P1", "P2", "P3", "P2", "P4", "P2"], 3)):
        plan, rows = three_classes(["a", "b", "a", "b", "a", "b"], ["P1", "P2", "P3", "P6", "P4", "P5"])
        rows = rows.set_column(rows.column_names.index("o0"), "o0", pa.array(who))
        table, order = encoded_block(plan, rows)
        merged = merge_away(problem_of(plan, table), np.array([0, 0, 1, 1, 2, 2])[order], np.array([1]), np.array([5, 5, 6]))
        assert len(np.unique(merged)) == expected


def test_a_class_that_has_no_other_in_its_block_is_told() -> None:
    plan, _ = three_classes(["a", "b", "a", "b", "a", "b"], ["P1", "P2", "P3", "P6", "P4", "P5"])

    class Stuck(Settled):
        def find(self) -> list[tuple[Any, int]]:
            return [(np.array([7]), 2), (np.array([], dtype=np.int64), 1)]

        def merge(self, away: Any) -> None:
            assert away.tolist() == [7]

    with pytest.raises(tc.InfeasibleError, match=r"1 class would be published like others .* no others to merge"):
        merge_until_none_breaks(Stuck(plan, []))
