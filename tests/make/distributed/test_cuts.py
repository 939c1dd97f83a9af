"""Blocks of a table are decided from histograms: they satisfy the limits, whatever the table is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.make.distributed.coding import TIES, at_random, coarsened
from tclose.make.distributed.cuts import Histogram, cut_into_blocks
from tests.naive.cluster import Cluster
from tests.support.planned import planned, some_people, terms_of


def test_a_table_is_cut_at_the_median_of_its_widest_column() -> None:
    """By hand: eight ages, one value of sex, and sensitive values that any half has: the four youngest go left."""
    table = pa.table({"age": [20, 21, 22, 23, 40, 41, 42, 43], "sex": ["f"] * 8, "ill": ["a", "b"] * 4})
    plan, rows = planned(table, tc.Policy(quasi=["age", "sex"], sensitive={"ill": 0.5}, k=2))
    cluster = Cluster(rows)
    assert cut_into_blocks(cluster, terms_of(plan, 4)) == {1: 4, 2: 4}
    assert cluster.blocks == [1, 1, 1, 1, 2, 2, 2, 2]


def test_where_values_go_with_the_column_each_stratum_is_cut_by_itself() -> None:
    """The young have a, the old have b: a plain cut would part a from b, so half of each goes left."""
    table = pa.table({"age": [*range(20, 28), *range(40, 48)], "ill": ["a"] * 8 + ["b"] * 8})
    plan, rows = planned(table, tc.Policy(quasi=["age"], sensitive={"ill": 0.1}, k=2))
    cluster = Cluster(rows)
    assert cut_into_blocks(cluster, terms_of(plan, 8)) == {1: 8, 2: 8}
    assert cluster.blocks == [1, 1, 1, 1, 2, 2, 2, 2] * 2


def test_sensitive_columns_without_a_limit_are_not_counted() -> None:
    """They may have a value for each row, and then as many counts."""

    asked: set[str] = set()

    class Heard(Cluster):
        def histogram(self, blocks: Sequence[int], columns: Sequence[str]) -> Histogram:
            asked.update(columns)
            return super().histogram(blocks, columns)

    table = some_people(60).append_column("salary", pa.array(range(60)))
    plan, rows = planned(
        table,
        tc.Policy(quasi=["age"], sensitive={"salary": None, "ill": 0.5, "pay": {"l": 2}}, k=2, other="drop"),
    )
    cluster = Heard(rows)
    assert len(cut_into_blocks(cluster, terms_of(plan, 20))) > 1
    assert {name for name in asked if name.startswith("s")} == {"s1", "s2"}


def test_people_who_are_all_alike_are_cut_at_random() -> None:
    table = pa.table({"age": [30] * 4000, "ill": ["a", "b"] * 2000, "note": list(range(4000))})
    plan, rows = planned(table, tc.Policy(quasi=["age"], sensitive={"ill": 0.3}, keep=[tc.Keep("note", despite="a test")], k=2))
    rows = rows.set_column(rows.column_names.index("tie"), "tie", pa.array(at_random([np.arange(4000)], 0)))
    blocks = cut_into_blocks(Cluster(rows), terms_of(plan, 1000))
    assert len(blocks) > 3
    assert sum(blocks.values()) == 4000
    assert max(blocks.values()) <= 1000


def test_a_block_stays_whole_if_a_side_of_it_breaks_a_limit() -> None:
    """Equal rows have one number at random, so they go to one side, and the other side is empty."""
    table = pa.table({"age": [30] * 8, "ill": ["a", "b"] * 4})
    plan, rows = planned(table, tc.Policy(quasi=["age"], sensitive={"ill": "0.01"}, k=2))
    cluster = Cluster(rows)
    assert cut_into_blocks(cluster, terms_of(plan, 2)) == {0: 8}
    assert set(cluster.blocks) == {0}


@pytest.mark.parametrize(
    ("ill", "who"),
    [(["a"] * 9 + ["b"], ["P1"] * 9 + ["P2"]), (["a"] * 5 + ["b"] * 5, ["P1", "P2", "P3", "P4", "P5"] + ["P6"] * 5)],
    ids=["rows", "persons"],
)
def test_what_all_rows_break_as_one_class_no_release_satisfies(ill: list[str], who: list[str]) -> None:
    """First one person has a and one has b, but nine rows have a; then five rows have each, but of six persons one has b."""
    table = pa.table({"age": range(20, 30), "ill": ill, "who": who})
    policy = tc.Policy(quasi=["age"], sensitive=[tc.Sensitive("ill", l="1.9", l_kind="entropy")], k=2, unit="who")
    with pytest.raises(tc.InfeasibleError, match=r"l=1.9 of 'ill' cannot be satisfied: one class of all rows breaks it"):
        planned(table, policy)
    with pytest.raises(tc.InfeasibleError, match=r"l=1.9"):
        tc.anonymize(table, policy)


@pytest.mark.parametrize("unit", ["row", "who"])
def test_every_block_has_k_rows_or_persons(unit: str) -> None:
    """With 40 persons of 10 rows each a block of 61 rows has 7 of them at least."""
    table = some_people(400).set_column(0, "who", pa.array([f"P{row % 40}" for row in range(400)]))
    policy = tc.Policy(quasi=["age", "sex"], sensitive={"ill": 0.5}, k=7, unit=unit, other="drop")
    plan, coded = planned(table, policy)
    assert plan.least == (61 if unit == "who" else 7)
    cluster = Cluster(coded)
    blocks = cut_into_blocks(cluster, terms_of(plan, 5))
    assert len(blocks) > 3
    for block in blocks:
        rows = [row for row, of in enumerate(cluster.blocks) if of == block]
        assert len(rows) >= plan.least
        assert unit == "row" or len({table["who"][row].as_py() for row in rows}) >= 7


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(1, 300),
    most=st.integers(5, 120),
    t=st.sampled_from(["0.05", "0.2", "0.5"]),
    both=st.booleans(),
)
def test_every_block_satisfies_the_limits_as_one_class(seed: int, rows: int, most: int, t: str, both: bool) -> None:
    table = some_people(rows, seed)
    sensitive: dict[str, Any] = {"ill": t, "pay": t} if both else {"pay": t}
    policy = tc.Policy(quasi=["age", "sex"], sensitive=sensitive, k=1, other="drop")
    plan, coded = planned(table, policy)
    cluster = Cluster(coded)
    blocks = cut_into_blocks(cluster, terms_of(plan, most))
    assert blocks == Counter(cluster.blocks)
    for name in sensitive:
        column = table[name].to_pylist()
        domain = sorted(set(column))
        for block in blocks:
            own = [value for value, of in zip(column, cluster.blocks, strict=True) if of == block]
            counts = [[values.count(value) for value in domain] for values in (own, column)]
            distance = "ordered" if name == "pay" else "equal"
            assert tc.emd(counts[0], counts[1], distance=distance, exact=True) <= Fraction(t)


def test_blocks_do_not_depend_on_the_order_of_rows() -> None:
    table = some_people(500)
    policy = tc.Policy(quasi=["age", "sex"], sensitive={"pay": 0.2}, k=3, other="drop")
    plan, coded = planned(table, policy)
    order = np.random.default_rng(5).permutation(500)
    one, other = Cluster(coded), Cluster(coded.take(order))
    assert cut_into_blocks(one, terms_of(plan, 100)) == cut_into_blocks(other, terms_of(plan, 100))
    assert [one.blocks[row] for row in order] == other.blocks


@given(counts=st.lists(st.integers(1, 50), min_size=1, max_size=40), most=st.integers(1, 10))
def test_coarse_codes_ascend_without_gaps(counts: list[int], most: int) -> None:
    found = coarsened(np.array(counts), most)
    assert (np.diff(found) >= 0).all()
    assert np.unique(found).tolist() == list(range(int(found[-1]) + 1))
    assert found[-1] < most or found.tolist() == list(range(len(counts)))


def test_numbers_at_random_depend_on_the_codes_and_on_nothing_else() -> None:
    codes = np.arange(10_000, dtype=np.int32)
    numbers = at_random([codes, codes[::-1]], 3)
    assert (at_random([codes[:5], codes[::-1][:5]], 3) == numbers[:5]).all()
    assert (at_random([codes, codes[::-1]], 4) != numbers).any()
    assert numbers.min() >= 0
    assert numbers.max() < TIES
    halves = np.bincount(numbers * 2 // TIES)
    assert halves == pytest.approx([5000, 5000], abs=300)
