"""Cuts: a table on a cluster is cut into blocks, decided from histograms; rows stay where they are.

They are the cuts of `tclose.make.growth.blocks`, which has the rows. From histograms a cut by windows becomes one by strata: rows
with like sensitive values are a stratum, and each stratum gives a wanted number of rows to the left side, those with the lowest
codes. So the sides have the sizes of a plain cut, and a distribution of sensitive values between that of a plain cut and that of
the block.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from tclose.jobs import check, report
from tclose.make.distributed.coding import TIES, RowCoding
from tclose.make.encode import Attribute
from tclose.make.growth.blocks import LEAST, TAIL
from tclose.make.kernels.loss import LossTable, losses_of_ranges
from tclose.make.one_class import has_limit, too_far, too_uneven
from tclose.policy import Policy
from tclose.values.arrays import Floats, Ints

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""How near both sides come to the block's own distribution of sensitive values, tried in turn: 0 is the plain cut."""


class Histogram(NamedTuple):
    """Rows counted by block, by group and by code: one entry for each combination that occurs.

    A group is the number of the column that has the code; where one column of a block is counted, it is the stratum of the row.
    """

    blocks: Ints
    groups: Ints
    codes: Ints
    counts: Ints


class Cuts(NamedTuple):
    """Where blocks are cut: one entry for each block and stratum.

    A row goes left if its coarse code along the column is below ``bins``, right if it is above. Of the rows on it the share
    ``ties`` of `TIES` goes left: of equal rows that share, rounded up or down at random. The left side becomes the block
    ``left``, the right side the block ``right``.
    """

    blocks: Ints
    strata: Ints
    columns: Ints
    bins: Ints
    ties: Ints
    left: Ints
    right: Ints


class BlockRows(Protocol):
    """Coded rows in blocks, wherever they are; at first all rows are block 0."""

    def histogram(self, blocks: Sequence[int], columns: Sequence[str]) -> Histogram:
        """Return the rows of some blocks, counted by the codes of each of some columns; columns are numbered as given."""

    def histogram_along(self, columns: dict[int, str]) -> Histogram:
        """Return the rows of blocks, counted by stratum and by the codes of a column of each block."""

    def persons(self, blocks: Sequence[int], columns: Sequence[str]) -> Histogram:
        """Return the persons of some blocks, counted by the codes of each of some columns; columns are numbered as given."""

    def cut(self, cuts: Cuts) -> None:
        """Cut blocks; columns are those of coarse codes, numbered in their order."""

    def join(self, parents: dict[int, int]) -> None:
        """Give the rows of some blocks to others."""


@dataclass(frozen=True, eq=False)
class Terms:
    """What blocks must satisfy, and how they are cut.

    Attributes
    ----------
    policy : Policy
    attributes : sequence of Attribute
        The sensitive attributes, without rows.
    losses : LossTable
        The information loss of ranges of codes.
    coding : RowCoding
    most : int
        A block with at most this many rows is not cut.
    drift : Fraction
        The share of t by which the sensitive values of a block may differ from those of the table.
    least : int
        The rows that a block must have.
    over_persons : bool
        Whether a block must satisfy limits over persons as one class, which classes that do so do not imply.
    """

    policy: Policy
    attributes: Sequence[Attribute]
    losses: LossTable
    coding: RowCoding
    most: int
    drift: Fraction
    least: int = 1
    over_persons: bool = False

    @cached_property
    def limited(self) -> dict[int, str]:
        """The sensitive attributes that have a limit, by index, and the columns with their codes: no others are counted."""
        names = enumerate(zip(self.attributes, self.coding.sensitive_names, strict=True))
        return {index: name for index, (attribute, name) in names if has_limit(attribute.column, self.policy)}

    def satisfied_over_persons_by(self, counts: Mapping[int, Ints], persons: Mapping[int, Ints]) -> bool:
        """Whether rows and persons with these counts of sensitive values satisfy every limit on the values of a class alone."""
        columns = {index: self.attributes[index].column for index in counts}
        return not any(too_uneven(columns[index], self.policy, own, persons[index]) for index, own in counts.items())

    def satisfied_by(self, counts: Mapping[int, Ints], share: Fraction = Fraction(1)) -> bool:
        """Whether rows with these counts of sensitive values, by attribute, satisfy every limit, with a share of each t."""
        for index, own in counts.items():
            attribute = self.attributes[index]
            column = attribute.column
            column = column if column.t is None else replace(column, t=column.t * share)
            if not own.any() or too_far(column, self.policy, attribute.distance, own, attribute.counts):
                return False
            if too_uneven(column, self.policy, own):
                return False
        return True


def cut_into_blocks(rows: BlockRows, terms: Terms) -> dict[int, int]:
    """Cut a table in two, and each part again, until a block has at most ``terms.most`` rows; return the rows of each block.

    A block is cut along its widest quasi-identifier, as in `tclose.make.growth.blocks.cut`, at the boundary between two coarse
    codes that is nearest to the median, with the least share of `SHARES` for which both sides satisfy the limits with a share of
    t. A block of which a side does not satisfy the limits, once its rows are counted, stays whole. So every block satisfies the
    limits as one class, and can be released by itself.
    """
    names, level, fresh = terms.coding.bin_names, 0, 1
    final: dict[int, int] = {}
    sides: dict[int, tuple[int, int]] = {}
    waiting = [0]
    while waiting:
        check()
        level += 1
        report(f"cut {level}, {len(waiting) + len(final):,} blocks")
        found = _Counted.of(rows.histogram(waiting, [*names, *terms.limited.values()]), len(names))
        broken = {block for block in waiting if found.size(block) < terms.least}
        broken |= {block for block in waiting if not terms.satisfied_by(found.sensitive(block, terms))}
        if terms.over_persons:
            persons = _Counted.of(rows.persons(waiting, list(terms.limited.values())), 0)
            broken |= {
                block
                for block in set(waiting) - broken
                if not terms.satisfied_over_persons_by(found.sensitive(block, terms), persons.sensitive(block, terms))
            }
        parents = {side: block for block, both in sides.items() if broken.intersection(both) for side in both}
        if parents:
            rows.join(parents)
        for side, parent in parents.items():
            final[parent] = final.get(parent, 0) + found.size(side)
        whole = [block for block in waiting if block not in parents]
        final |= {block: found.size(block) for block in whole if found.size(block) <= terms.most}
        widest = {block: found.widest(block, terms) for block in whole if block not in final}
        sides = {block: (fresh + 2 * index, fresh + 2 * index + 1) for index, block in enumerate(widest)}
        fresh += 2 * len(sides)
        if sides:
            along = _Counted.of(rows.histogram_along({block: names[column] for block, column in widest.items()}), 0)
            cuts = [_cut_of(block, widest[block], sides[block], found, along, terms) for block in sides]
            rows.cut(Cuts(*map(np.concatenate, zip(*cuts, strict=True))))
        waiting = [side for both in sides.values() for side in both]
    return final


class _Counted:
    """A histogram, block by block."""

    def __init__(self, parts: dict[int, Histogram], quasi: int) -> None:
        """Take the entries of each block; the first ``quasi`` columns are quasi-identifiers, the others sensitive."""
        self._parts, self._quasi = parts, quasi

    @classmethod
    def of(cls, histogram: Histogram, quasi: int) -> _Counted:
        """Return a histogram sorted and split by block."""
        order = np.lexsort((histogram.codes, histogram.groups, histogram.blocks))
        entries = Histogram(*(column[order] for column in histogram))
        blocks, starts = np.unique(entries.blocks, return_index=True)
        ends = [*starts[1:].tolist(), len(order)]
        parts = {
            int(block): Histogram(*(column[start:end] for column in entries))
            for block, start, end in zip(blocks, starts.tolist(), ends, strict=True)
        }
        return cls(parts, quasi)

    def column(self, block: int, number: int) -> tuple[Ints, Ints]:
        """Return the codes of a column that occur in a block, ascending, and their counts."""
        part = self._parts.get(block)
        if part is None:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        own = part.groups == number
        return part.codes[own], part.counts[own]

    def size(self, block: int) -> int:
        """Return the number of rows of a block."""
        return int(self.column(block, 0)[1].sum())

    def sensitive(self, block: int, terms: Terms) -> dict[int, Ints]:
        """Return the counts of each sensitive attribute with a limit in a block, by its index."""
        found = {}
        for number, index in enumerate(terms.limited):
            counts = np.zeros(len(terms.attributes[index].counts), dtype=np.int64)
            codes, own = self.column(block, self._quasi + number)
            counts[codes] = own
            found[index] = counts
        return found

    def strata(self, block: int) -> Histogram:
        """Return the entries of a block, sorted by stratum, then by code."""
        return self._parts[block]

    def widest(self, block: int, terms: Terms) -> int:
        """Return the quasi-identifier along which a block is widest: by trimmed width; ties by full width, then the first."""
        trimmed, full = (
            [self._width(block, column, tail, terms) for column in range(self._quasi)] for tail in (self.size(block) // TAIL, 0)
        )
        return int(np.lexsort((-np.array(full), -np.array(trimmed)))[0])

    def _width(self, block: int, column: int, tail: int, terms: Terms) -> float:
        """Return the loss of the range of a block's codes without ``tail`` rows at either end; 0 for a single coarse code."""
        bins, counts = self.column(block, column)
        reached = np.cumsum(counts)
        low, high = bins[np.searchsorted(reached, [tail, reached[-1] - 1 - tail], side="right")]
        if low == high:
            return 0.0
        coarse = terms.coding.quasi[column].coarse
        ends = np.array([np.searchsorted(coarse, low), np.searchsorted(coarse, high, side="right") - 1])
        return float(losses_of_ranges(terms.losses, column, ends[:1], ends[1:])[0])


def _cut_of(block: int, column: int, sides: tuple[int, int], found: _Counted, along: _Counted, terms: Terms) -> Cuts:
    """Return the first cut of a block whose sides satisfy the limits with a share of t, or else the one by equal shares."""
    part = along.strata(block)
    strata, starts = np.unique(part.groups, return_index=True)
    sizes = np.add.reduceat(part.counts, starts)
    whole, coarse = found.sensitive(block, terms), terms.coding.coarse_of_strata(strata)
    for wanted in _wanted(found.column(block, column), part, starts, sizes):
        left = {index: _side(counts, index, wanted, sizes, coarse, terms) for index, counts in whole.items()}
        right = {index: whole[index] - own for index, own in left.items()}
        if terms.satisfied_by(left, terms.drift) and terms.satisfied_by(right, terms.drift):
            break
    bins, ties = _thresholds(part, starts, wanted)
    same = np.ones(len(strata), dtype=np.int64)
    return Cuts(block * same, strata, column * same, bins, ties, sides[0] * same, sides[1] * same)


def _wanted(column: tuple[Ints, Ints], part: Histogram, starts: Ints, sizes: Ints) -> Iterator[Floats]:
    """Yield how many rows of each stratum go left, for each cut that is tried."""
    bins, counts = column
    reached, size = np.cumsum(counts), int(counts.sum())
    boundary = int(np.abs(2 * reached[:-1] - size).argmin()) if len(bins) > 1 else -1
    if boundary < 0 or LEAST * min(reached[boundary], size - reached[boundary]) < size:
        yield sizes / 2
        return
    plain = np.add.reduceat(np.where(part.codes <= bins[boundary], part.counts, 0), starts)
    for share in SHARES if len(sizes) > 1 else SHARES[:1]:  # of one stratum all are the plain cut
        yield (1 - share) * plain + share * sizes * (plain.sum() / size)


def _side(counts: Ints, index: int, wanted: Floats, sizes: Ints, coarse: dict[int, Ints], terms: Terms) -> Ints:
    """Return about how many rows of each sensitive value go left, from the rows of each stratum that do."""
    if index not in coarse:
        return np.asarray(np.rint(counts * (wanted.sum() / sizes.sum())), dtype=np.int64)
    of_code = terms.coding.sensitive[index].coarse
    gone, all_rows = (np.bincount(coarse[index], weights=rows, minlength=int(of_code.max()) + 1) for rows in (wanted, sizes))
    return np.asarray(np.rint(counts * (gone / np.maximum(all_rows, 1))[of_code]), dtype=np.int64)


def _thresholds(part: Histogram, starts: Ints, wanted: Floats) -> tuple[Ints, Ints]:
    """Return for each stratum the coarse code and the number at random from which on rows go right, by the wanted left rows."""
    ends = np.append(starts[1:], len(part.counts))
    bins, ties = np.empty(len(starts), dtype=np.int64), np.empty(len(starts), dtype=np.int64)
    for index, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        reached = np.cumsum(part.counts[start:end])
        at = min(int(np.searchsorted(reached, wanted[index], side="right")), end - start - 1)
        below = wanted[index] - (reached[at] - part.counts[start + at])
        bins[index], ties[index] = part.codes[start + at], int(min(1.0, below / part.counts[start + at]) * TIES)
    return bins, ties
