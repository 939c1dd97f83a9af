"""Ends of ranges that few attain are moved block by block, and stay so where classes of several blocks are published alike."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.judge.edges import column_with_ends_of_few
from tclose.make.distributed.block import release_block
from tclose.make.distributed.cuts import cut_into_blocks
from tclose.make.distributed.plan import Plan
from tclose.make.encode import chosen_grids
from tclose.release.published import on_chosen_grids
from tests.naive.cluster import Cluster
from tests.support.examples import examples
from tests.support.planned import planned, some_people, terms_of

POLICY = tc.Policy(quasi=["age", "sex"], sensitive={"ill": 0.3}, k=4, edges=2, unit="row", other="drop")
AGES: dict[str, Any] = {
    "whole": lambda age: age,
    "decimal": lambda age: Decimal(age) / 4,
    "float": lambda age: age / 8,
    "day": lambda age: date(2024, 1, 1) + timedelta(days=11 * age),
}


def with_ages(table: pa.Table, kind: str) -> pa.Table:
    """The table with its ages as values of another kind."""
    ages = [None if age is None else AGES[kind](age) for age in table["age"].to_pylist()]
    column = pa.array(ages, pa.decimal128(6, 2)) if kind == "decimal" else pa.array(ages)
    return table.set_column(table.column_names.index("age"), "age", column)


def released_in_blocks(table: pa.Table, policy: tc.Policy, most: int) -> tuple[Plan, list[pa.Table]]:
    """What is published of each block, with what the judge needs beside it."""
    plan, rows = planned(table, policy)
    cluster = Cluster(rows)
    return plan, [release_block(plan, cluster.of_block(block))[0] for block in cut_into_blocks(cluster, terms_of(plan, most))]


def ends_of_few(plan: Plan, published: pa.Table, edges: int) -> str | None:
    """What the gate finds."""
    policy = replace(on_chosen_grids(plan.policy, chosen_grids(plan.scales)), edges=edges)
    raw = {name: published[beside].combine_chunks() for name, beside in plan.raw_names.items()}
    return column_with_ends_of_few(policy, published, raw, None if plan.unit is None else published[plan.unit])


@settings(max_examples=examples(40))
@given(
    seed=st.integers(0, 1000),
    kind=st.sampled_from(sorted(AGES)),
    recode=st.sampled_from(["range", "bounds"]),
    snap=st.sampled_from([None, "auto", "some"]),
    unit=st.sampled_from(["who", "row"]),
    edges=st.integers(2, 4),
)
def test_no_end_is_attained_by_few_in_all_blocks_together(
    seed: int, kind: str, recode: Any, snap: str | None, unit: str, edges: int
) -> None:
    table = with_ages(some_people(160, seed, missing=seed % 2 == 0), kind)
    given_snap: Any = ("quarter" if kind == "day" else 3) if snap == "some" else snap
    age = tc.Quasi("age", recode="range" if snap == "auto" else recode, snap=given_snap)
    policy = replace(POLICY, quasi=[age, "sex"], unit=unit, edges=edges)
    try:
        plan, parts = released_in_blocks(table, policy, 60)
    except tc.InfeasibleError as error:
        assert "no grid" in str(error)  # noqa: PT017 - of k persons in each cell
        return
    for published in (*parts, pa.concat_tables(parts)):
        assert published.schema == plan.judged_schema()
        assert ends_of_few(plan, published, edges) is None


def test_classes_of_several_blocks_that_are_published_alike() -> None:
    """In one block two are 20 years old. In the other one alone is 21, and the range moves to 20, where nobody is: both say 20."""
    ages = [20, 20, 29, 29, 21, 25, 29, 29]
    table = pa.table({"age": ages, "ill": ["a", "b"] * 4})
    plan, rows = planned(table, replace(POLICY, quasi=[tc.Quasi("age", recode="bounds")], k=4))
    rows = rows.append_column("block", pa.array([0] * 8, pa.int32()))
    one, other = (release_block(plan, rows.slice(start, 4))[0] for start in (0, 4))
    for published in (one, other):
        assert set(zip(published["age.min"].to_pylist(), published["age.max"].to_pylist(), strict=True)) == {(20, 29)}
    for published in (one, other, pa.concat_tables([one, other])):
        assert ends_of_few(plan, published, 2) is None
        assert ends_of_few(plan, published, 3) == "age"


def test_the_gate_finds_ends_that_were_not_moved() -> None:
    table = some_people(100)
    plan, (published, *_) = released_in_blocks(table, replace(POLICY, edges=2), 1000)
    assert ends_of_few(plan, published, 2) is None
    assert ends_of_few(plan, published, 40) == "age"


def test_times_of_day_have_no_ends_to_move() -> None:
    table = some_people(20).append_column("at", pa.array([3_600_000_000 * (row % 5) for row in range(20)], pa.time64("us")))
    with pytest.raises(tc.PolicyError, match="times of day have none"):
        planned(table, replace(POLICY, quasi=["at", "sex"]))


def test_raw_columns_have_names_of_their_own() -> None:
    table = some_people(60).append_column("raw age", pa.array(["x"] * 60))
    plan, (published,) = released_in_blocks(table, replace(POLICY, keep=["raw age"]), 1000)
    assert plan.raw_names == {"age": "raw  age"}
    assert sorted(np.array(published["raw  age"].to_pylist())) == sorted(table["age"].to_pylist())
