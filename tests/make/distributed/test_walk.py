"""Walks: rows come to the blocks that they are cut into, batch by batch, and counts add up to those of all rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.make.distributed import walk as walks
from tclose.make.distributed.cuts import Cuts, Histogram, cut_into_blocks
from tclose.make.distributed.walk import CountAlong, CountCodes, ListPersons, PlaceRows, Walk
from tests.naive.cluster import Cluster
from tests.support.planned import planned, some_people, terms_of


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
    def blocks(self) -> list[int]:
        return [block for batch in PlaceRows(self.walk, [])(self.batches) for block in batch["block"].to_pylist()]

    def _added(self, count: Any) -> Histogram:
        """What the batches count, each half of them by itself, as on two executors."""
        added: Counter[tuple[int, ...]] = Counter()
        for half in (self.batches[::2], self.batches[1::2]):
            for batch in count(half):
                for *key, number in zip(*batch.to_pydict().values(), strict=True):
                    added[tuple(key)] += number
        return Histogram(*np.array([[*key, number] for key, number in added.items()], dtype=np.int64).reshape(-1, 4).T)


def test_a_row_on_the_border_goes_where_its_number_at_random_says() -> None:
    """By hand: block 0, stratum 0 is cut along column 1 at code 5; of rows at 5, none goes right; stratum 1 goes right from 5 on."""
    rows = pa.table({"b0": [9, 9, 9, 9], "b1": [4, 5, 6, 5], "stratum": [0, 0, 0, 1], "tie": [7, 7, 7, 7]})
    cuts = Cuts(*map(np.array, ([0, 0], [0, 1], [1, 1], [5, 5], [2**31, 0], [1, 1], [2, 2])))
    walk = Walk(["b0", "b1"]).cut(cuts)
    (batch,) = rows.to_batches()
    assert walk.blocks(batch).tolist() == [1, 1, 2, 2]
    assert walk.join({1: 0, 2: 0}).blocks(batch).tolist() == [0, 0, 0, 0]


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(1, 300),
    most=st.integers(5, 120),
    size=st.integers(1, 100),
    t=st.sampled_from(["0.05", "0.2"]),
    persons=st.booleans(),
)
def test_a_walk_is_that_of_plain_loops(seed: int, rows: int, most: int, size: int, t: str, persons: bool) -> None:
    """Blocks that are cut, joined again and cut further, by the histograms of batches and by those of all rows."""
    policy = tc.Policy(quasi=["age", "sex"], sensitive={"pay": t, "ill": t}, k=1, other="drop")
    if persons:
        rows = max(rows, 30)
        ill = tc.Sensitive("ill", t=t, l="1.5", l_kind="entropy")
        policy = replace(policy, sensitive=[tc.Sensitive("pay", t=t), ill], unit="who")
    plan, coded = planned(some_people(rows, seed), policy)
    ref, comp = Cluster(coded), Walked(coded, plan.coding.bin_names, size)
    assert cut_into_blocks(comp, terms_of(plan, most)) == cut_into_blocks(ref, terms_of(plan, most))
    assert comp.blocks == ref.blocks


def test_codes_far_apart_are_counted_too() -> None:
    """A table of all pairs would be longer than memory: pairs are sorted instead."""
    codes = np.array([0, 2**31 - 1, 5, 5], dtype=np.int32)
    found = walks._counted(np.array([3, 2_000_000, 3, 3]), codes)
    assert [column.tolist() for column in found] == [[3, 3, 2_000_000], [0, 5, 2**31 - 1], [1, 2, 1]]
