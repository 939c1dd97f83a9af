"""Walks: rows come to the blocks that they are cut into, batch by batch, and counts add up to those of all rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.make.distributed import walk as walks
from tclose.make.distributed.block import release_block
from tclose.make.distributed.coding import at_random
from tclose.make.distributed.cuts import Cuts, Histogram, cut_into_blocks
from tclose.make.distributed.walk import CountAlong, CountCodes, ListPersons, PlaceRows, Walk
from tests.naive.cluster import Cluster
from tests.support.planned import equal_rows_once, planned, some_people, terms_of


class Walked:
    """Coded rows in batches of some size; see `tclose.make.distributed.cuts.BlockRows`."""

    def __init__(self, rows: pa.Table, names: Sequence[str], size: int) -> None:
        self.batches = rows.to_batches(max_chunksize=size)
        self.walk = Walk(names)

    def histogram(self, blocks: Sequence[int], columns: Sequence[str]) -> Histogram:
        return self._added(CountCodes(self.walk, blocks, columns))

    def histogram_along(self, columns: dict[int, str]) -> Histogram:
        return self._added(CountAlong(self.walk, columns))

    def persons(self, blocks: Sequence[int], columns: Sequence[str]) -> Histogram:
        found = ListPersons(self.walk, blocks, columns, "o0")(self.batches)
        owners = {tuple(row.values()) for batch in found for row in batch.to_pylist()}
        counts = Counter(owner[:3] for owner in owners)
        return Histogram(*np.array([[*key, number] for key, number in counts.items()], dtype=np.int64).reshape(-1, 4).T)

    def cut(self, cuts: Cuts) -> None:
        self.walk = self.walk.cut(cuts)

    def join(self, parents: dict[int, int]) -> None:
        self.walk = self.walk.join(parents)

    @property
    def parts(self) -> Counter[tuple[int, int]]:
        """How many rows with each number at random each block has."""
        found: Counter[tuple[int, int]] = Counter()
        for batch in PlaceRows(self.walk, ["tie"])(self.batches):
            for tie, count, block in zip(*batch.to_pydict().values(), strict=True):
                found[tie, block] += count
        return found

    def _added(self, count: Any) -> Histogram:
        """What the batches count, each half of them by itself, as on two executors."""
        added: Counter[tuple[int, ...]] = Counter()
        for half in (self.batches[::2], self.batches[1::2]):
            for batch in count(half):
                for *key, number in zip(*batch.to_pydict().values(), strict=True):
                    added[tuple(key)] += number
        return Histogram(*np.array([[*key, number] for key, number in added.items()], dtype=np.int64).reshape(-1, 4).T)


def test_rows_on_the_border_go_where_their_numbers_at_random_say() -> None:
    """By hand: stratum 0 of block 0 is cut along column 1 at code 5; of rows at 5 half goes left; all of stratum 1 do."""
    rows = pa.table({
        "b0": [9, 9, 9, 9, 9], "b1": [4, 5, 6, 5, 5], "stratum": [0, 0, 0, 1, 0], "tie": [7, 7, 7, 7, 7], "count": [1, 10, 1, 1, 5],
    })  # fmt: skip
    cuts = Cuts(*map(np.array, ([0, 0], [0, 1], [1, 1], [5, 5], [2**30, 2**31], [1, 1], [2, 2])))
    walk = Walk(["b0", "b1"]).cut(cuts)
    (batch,) = rows.to_batches()
    chance = at_random([np.array([7]), np.array([0])], 0)[0]
    half = 2 + (chance >= 2**30)  # of five
    found = sorted(zip(*(column.tolist() for column in walk.place(batch)), strict=True))
    assert found == [(0, 1, 1), (1, 1, 5), (1, 2, 5), (2, 2, 1), (3, 1, 1), (4, 1, half), (4, 2, 5 - half)]
    back = walk.join({1: 0, 2: 0}).place(batch)
    assert back.blocks.tolist() == [0] * 7
    assert np.bincount(back.rows, back.counts).tolist() == [1, 10, 1, 1, 5]


def test_a_block_that_stays_may_have_strata_that_no_cut_names() -> None:
    """Blocks 1 and 3 are cut, in stratum 0; block 2, whose number is between theirs, has stratum 5 and stays."""
    rows = pa.table({"b0": [0, 1, 2], "stratum": [0, 5, 0], "tie": [7, 7, 7], "count": [1, 1, 1]})
    first = Cuts(*map(np.array, ([0], [0], [0], [1], [2**31], [1], [3])))
    then = Cuts(*map(np.array, ([1, 3], [0, 0], [0, 0], [5, 5], [0, 0], [4, 6], [5, 7])))
    walk = Walk(["b0"]).cut(first).join({0: 2})
    (batch,) = rows.to_batches()
    assert walk.place(batch).blocks.tolist() == [1, 2, 3]
    assert walk.cut(then).place(batch).blocks.tolist() == [4, 2, 6]


def test_a_table_may_have_as_many_strata_as_fit_in_a_byte() -> None:
    """300 salaries are put into 256 strata, of which the last one is cut like others."""
    table = pa.table({"age": [20 + row % 40 for row in range(1200)], "pay": [1000 + row % 300 for row in range(1200)]})
    plan, coded = planned(table, tc.Policy(quasi=["age"], sensitive={"pay": 0.2}, k=2))
    assert pc.min_max(coded["stratum"]).as_py() == {"min": 0, "max": 255}
    ref, comp = Cluster(coded), Walked(coded, plan.coding.bin_names, 500)
    blocks = cut_into_blocks(comp, terms_of(plan, 400))
    assert len(blocks) > 1
    assert blocks == cut_into_blocks(ref, terms_of(plan, 400))


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(1, 300),
    most=st.integers(5, 120),
    size=st.integers(1, 100),
    t=st.sampled_from(["0.05", "0.2"]),
    persons=st.booleans(),
    once=st.booleans(),
)
def test_a_walk_is_that_of_plain_loops(seed: int, rows: int, most: int, size: int, t: str, persons: bool, once: bool) -> None:
    """Blocks that are cut, joined again and cut further, by the histograms of batches and by those of all rows."""
    policy = tc.Policy(quasi=["age", "sex"], sensitive={"pay": t, "ill": t}, k=1, other="drop")
    if persons:
        rows = max(rows, 30)
        ill = tc.Sensitive("ill", t=t, l="1.5", l_kind="entropy")
        policy = replace(policy, sensitive=[tc.Sensitive("pay", t=t), ill], unit="who")
    plan, coded = planned(some_people(rows, seed), policy)
    coded = equal_rows_once(coded) if once else coded
    ref, comp = Cluster(coded), Walked(coded, plan.coding.bin_names, size)
    assert cut_into_blocks(comp, terms_of(plan, most)) == cut_into_blocks(ref, terms_of(plan, most))
    ties, parts = coded["tie"].to_pylist(), Counter[tuple[int, int]]()
    for row, block, count in ref.parts:
        parts[ties[row], block] += count
    assert comp.parts == parts


def test_a_table_of_equal_rows_is_cut_to_any_size() -> None:
    """Nine of ten rows are equal: one row stands for them, and they are shared out."""
    table = pa.table({"age": [30] * 900 + [*range(100)], "ill": ["a", "b"] * 500})
    policy = tc.Policy(quasi=["age"], sensitive={"ill": 0.2}, k=2)
    plan, coded = planned(table, policy)
    coded = equal_rows_once(coded)
    assert coded.num_rows < 110
    cluster = Cluster(coded)
    blocks = cut_into_blocks(cluster, terms_of(plan, 50))
    assert max(blocks.values()) <= 50
    assert sum(blocks.values()) == 1000
    made = [release_block(plan, cluster.of_block(block))[0] for block in blocks]
    assert sum(part.num_rows for part in made) == 1000
    assert tc.audit(pa.concat_tables(made), policy).satisfied


def test_codes_far_apart_are_counted_too() -> None:
    """A table of all pairs would be longer than memory: pairs are sorted instead."""
    codes = np.array([0, 2**31 - 1, 5, 5], dtype=np.int32)
    found = walks._counted(np.array([3, 2_000_000, 3, 3]), codes, np.array([1, 1, 2, 3]))
    assert [column.tolist() for column in found] == [[3, 3, 2_000_000], [0, 5, 2**31 - 1], [1, 5, 1]]
