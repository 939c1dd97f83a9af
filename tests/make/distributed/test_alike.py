"""Classes of several blocks that are published alike satisfy the limits as one, which merging might have broken."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.make.distributed.alike import (
    PlaceByClass,
    classes_to_merge,
    merge_block,
    merge_until_none_breaks,
    settle_block,
    settled_schema,
)
from tclose.make.distributed.block import publish_block
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
        names = settled_schema(self.plan).names
        return [pa.Table.from_batches(list(PlaceByClass(names)(block.combine_chunks().to_batches()))) for block in self.blocks]

    def find(self) -> list[tuple[Any, int]]:
        rows = pa.concat_tables(self.blocks)
        part = rows["key"].to_numpy() % 3
        return [classes_to_merge(self.plan, rows.filter(pa.array(part == number))) for number in np.unique(part)]

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
    assert tc.audit(published, policy).satisfied
    for name in ("pay", "ill"):
        assert Counter(published[name].to_pylist()) == Counter(table[name].to_pylist())


@pytest.mark.parametrize("policy", [LENIENT, ENTROPY, RECURSIVE], ids=["lenient", "entropy", "recursive"])
def test_some_classes_are_merged_indeed(policy: tc.Policy) -> None:
    """Without that, what is published would break the policy."""
    merged = 0
    for seed in range(30):
        plan, coded = planned(few_ages(200, seed), policy)
        settled = Settled.of(plan, coded, 40)
        before = tc.audit(settled.published(), policy).satisfied
        try:
            merge_until_none_breaks(settled)
        except tc.InfeasibleError:
            continue
        assert before == (not settled.merges)
        merged += settled.merges > 0
    print(policy.sensitive[0], merged)
    assert merged
