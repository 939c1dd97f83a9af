"""Walks: which block each row comes to, cut by cut, wherever the row is; and how many rows of each kind a block has.

The driver decides cuts (`tclose.make.distributed.cuts`). Here they are applied to batches of coded rows. A walk is walked anew by
every question: that takes some ten nanoseconds a row and cut, less than to keep the blocks of all rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tclose.make.distributed.coding import STRATUM, TIE, TIES, at_random
from tclose.make.distributed.cuts import Cuts, Histogram
from tclose.tables.packed import BLOCK, COUNT
from tclose.values.arrays import Codes, Ints

ENTRIES = pa.schema([("block", pa.int32()), ("group", pa.int32()), ("code", pa.int32()), ("count", pa.int64())])
"""The columns of batches of counts; see `Histogram`."""
OWNERS = pa.schema([*list(ENTRIES)[:3], ("person", pa.string())])
"""The columns of batches of persons: who has which code of which column in which block."""


class Placed(NamedTuple):
    """Rows of a batch in blocks: how many rows are equal to a row and in a block. A row may be in several blocks."""

    rows: Ints
    blocks: Codes
    counts: Ints


class _Batch(NamedTuple):
    """What cuts look at: coarse codes, by column and row, and of each row its stratum and its number at random."""

    codes: Codes
    strata: Codes
    ties: Ints


@dataclass(frozen=True, eq=False)
class _Cut:
    """Blocks that are cut at the same time.

    Attributes
    ----------
    cuts : Cuts
    first : int
        The least of their numbers.
    entries : (blocks, strata + 1) int32
        The entry of ``cuts`` for each block, from the first on, and each stratum; -1 where there is none, as in the last column,
        which stands for all further strata: those of blocks that are not cut.
    level : int
        How many times blocks were cut before: each time other rows are the first of those that are alike.
    """

    cuts: Cuts
    first: int
    entries: Codes
    level: int

    @classmethod
    def of(cls, cuts: Cuts, level: int) -> _Cut:
        """Return the entries of cuts, by block and stratum."""
        first = int(cuts.blocks.min())
        entries = np.full((int(cuts.blocks.max()) - first + 1, int(cuts.strata.max()) + 2), -1, dtype=np.int32)
        entries[cuts.blocks - first, cuts.strata] = np.arange(len(cuts.blocks))
        return cls(cuts, first, entries, level)

    def apply(self, placed: Placed, batch: _Batch) -> Placed:
        """Return rows in the blocks that they come to; of equal rows for which one stands, some may go left and some right."""
        among = placed.blocks - self.first
        own = np.flatnonzero((among >= 0) & (among < len(self.entries)))
        # In more than a byte: there may be 256 strata.
        strata = np.minimum(batch.strata[placed.rows[own]], self.entries.shape[1] - 1, dtype=np.intp)
        entries = self.entries[among[own], strata]
        own, entries = own[entries >= 0], entries[entries >= 0]
        codes, bins = batch.codes[self.cuts.columns[entries], placed.rows[own]], self.cuts.bins[entries]
        lefts = np.where(codes < bins, placed.counts[own], 0)
        alike = np.flatnonzero(codes == bins)
        ties = batch.ties[placed.rows[own[alike]]]
        chances = at_random([ties, np.full(len(alike), self.level)], 0)
        lefts[alike] = (placed.counts[own[alike]] * self.cuts.ties[entries[alike]] + chances) // TIES

        blocks, counts = placed.blocks.copy(), placed.counts.copy()
        blocks[own] = np.where(lefts > 0, self.cuts.left[entries], self.cuts.right[entries])
        counts[own] = np.where(lefts > 0, lefts, placed.counts[own])
        parted = np.flatnonzero((lefts > 0) & (lefts < placed.counts[own]))
        return Placed(
            np.append(placed.rows, placed.rows[own[parted]]),
            np.append(blocks, self.cuts.right[entries[parted]].astype(blocks.dtype)),
            np.append(counts, placed.counts[own[parted]] - lefts[parted]),
        )


@dataclass(frozen=True, eq=False)
class _Join:
    """Blocks whose rows go to other blocks; ``parents`` has a number for each block, its own where it stays."""

    parents: Codes

    def apply(self, placed: Placed, batch: _Batch) -> Placed:  # noqa: ARG002 - as for cuts
        """Return rows in the blocks that they come to."""
        return placed._replace(blocks=self.parents[placed.blocks])


@dataclass(frozen=True, eq=False)
class Walk:
    """How rows come to their blocks. At first all rows are block 0.

    Attributes
    ----------
    names : sequence of str
        The columns of coarse codes along which blocks are cut.
    steps : tuple
    greatest : int
        The greatest number of a block.
    """

    names: Sequence[str]
    steps: tuple[_Cut | _Join, ...] = ()
    greatest: int = 0

    def cut(self, cuts: Cuts) -> Walk:
        """Return the walk with blocks cut at its end."""
        level = sum(isinstance(step, _Cut) for step in self.steps)
        return replace(self, steps=(*self.steps, _Cut.of(cuts, level)), greatest=int(cuts.right.max()))

    def join(self, parents: Mapping[int, int]) -> Walk:
        """Return the walk with the rows of some blocks given to others at its end."""
        all_blocks = np.arange(self.greatest + 1, dtype=np.int32)
        all_blocks[list(parents)] = list(parents.values())
        return replace(self, steps=(*self.steps, _Join(all_blocks)))

    def place(self, batch: pa.RecordBatch) -> Placed:
        """Return the blocks of the rows of a batch."""
        codes = np.array([batch[name].to_numpy() for name in self.names])
        looked_at = _Batch(codes, batch[STRATUM].to_numpy(), batch[TIE].to_numpy())
        rows = np.arange(batch.num_rows)
        placed = Placed(rows, np.zeros(len(rows), dtype=np.int32), batch[COUNT].to_numpy())
        for step in self.steps:
            placed = step.apply(placed, looked_at)
        return placed


@dataclass(frozen=True)
class PlaceRows:
    """A function that gives rows their blocks, and how many rows equal to them are there, at the end of some of their columns."""

    walk: Walk
    names: Sequence[str]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches of rows with their counts and blocks."""
        for batch in batches:
            placed = self.walk.place(batch)
            rows = batch.select(self.names).take(pa.array(placed.rows))
            yield pa.record_batch(
                [*rows.columns, pa.array(placed.counts), pa.array(placed.blocks)], names=[*self.names, COUNT, BLOCK]
            )


@dataclass(frozen=True)
class CountCodes:
    """A function that counts the rows of some blocks by the codes of each of some columns, which are numbered as given."""

    walk: Walk
    of: Sequence[int]
    columns: Sequence[str]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches of counts: each combination may come several times, and its counts are to be added up."""
        among = _indexes(self.of, self.walk.greatest)
        for batch in batches:
            rows, blocks, counts = _inside(self.walk.place(batch), among)
            for number, name in enumerate(self.columns):
                found = _counted(blocks, batch[name].to_numpy()[rows], counts)
                yield _entries(np.array(self.of), Histogram(found[0], np.full(len(found[0]), number), *found[1:]))


@dataclass(frozen=True)
class CountAlong:
    """A function that counts the rows of blocks by stratum and by the codes of one column each."""

    walk: Walk
    columns: Mapping[int, str]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches of counts: each combination may come several times, and its counts are to be added up."""
        among = _indexes(list(self.columns), self.walk.greatest)
        names = list(self.walk.names)
        along = np.array([names.index(name) for name in self.columns.values()])
        for batch in batches:
            rows, blocks, counts = _inside(self.walk.place(batch), among)
            codes = np.array([batch[name].to_numpy() for name in names])[along[blocks], rows]
            strata = batch[STRATUM].to_numpy()[rows]
            width = int(strata.max(initial=0)) + 1
            pairs, *found = _counted(blocks.astype(np.int64) * width + strata, codes, counts)
            yield _entries(np.array(list(self.columns)), Histogram(*np.divmod(pairs, width), *found))


def _inside(placed: Placed, among: Codes) -> Placed:
    """Return the rows that are in some blocks, with the indexes of their blocks among those."""
    blocks = among[placed.blocks]
    inside = np.flatnonzero(blocks >= 0)
    return Placed(placed.rows[inside], blocks[inside], placed.counts[inside])


@dataclass(frozen=True, eq=False)
class ListPersons:
    """A function that says which persons of some blocks have which code of each of some columns, which are numbered as given."""

    walk: Walk
    of: Sequence[int]
    columns: Sequence[str]
    person: str

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches of persons; each may come several times, and is to be counted once."""
        among = _indexes(self.of, self.walk.greatest)
        for batch in PlaceRows(self.walk, [*self.columns, self.person])(batches):
            inside = batch.filter(pa.array(among[batch[BLOCK].to_numpy()] >= 0))
            for number, name in enumerate(self.columns):
                columns = [inside[BLOCK], np.full(inside.num_rows, number), inside[name].cast(pa.int32()), inside[self.person]]
                arrays = [pa.array(column).cast(field.type) for column, field in zip(columns, OWNERS, strict=True)]
                yield pa.record_batch(arrays, schema=OWNERS)


def _indexes(blocks: Sequence[int], greatest: int) -> Codes:
    """Return for each number of a block its index among some blocks, -1 where it is none of them."""
    found = np.full(greatest + 1, -1, dtype=np.int32)
    found[list(blocks)] = np.arange(len(blocks))
    return found


def _counted(groups: Codes | Ints, codes: Codes, counts: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the groups and codes that occur together, and the sum of their counts."""
    width = int(codes.max(initial=0)) + 1
    pairs = groups.astype(np.int64) * width + codes
    size = int(pairs.max(initial=0)) + 1
    if size <= 4 * len(pairs) + 1024:  # a table of all pairs is faster than sorting, where it is not much longer than the rows
        sums = np.bincount(pairs, counts, minlength=size)  # exact: sums of fewer than 2^53 rows
        found = np.flatnonzero(sums)
        sums = sums[found]
    else:
        found, indexes = np.unique(pairs, return_inverse=True)
        sums = np.bincount(indexes, counts)
    return *np.divmod(found, width), sums.astype(np.int64)


def _entries(blocks: Ints, counted: Histogram) -> pa.RecordBatch:
    """Return counts as a batch, with the numbers of blocks in the place of their indexes."""
    columns = [blocks[counted.blocks], *counted[1:]]
    arrays = [pa.array(column).cast(field.type) for column, field in zip(columns, ENTRIES, strict=True)]
    return pa.record_batch(arrays, schema=ENTRIES)
