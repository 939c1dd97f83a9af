"""Alike: classes of several blocks that are published alike are one class to a reader, which must satisfy the limits too.

Merging classes preserves most limits. It may break lenient delta, and entropy and recursive l over persons. For these limits the
classes that are published alike are found, and where they break a limit as one, some of them are merged with others of their own
block. So no row leaves its block.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

import numpy as np
import pyarrow as pa

from tclose.errors import InfeasibleError
from tclose.jobs import check, report
from tclose.make.distributed.block import each_row, encoded_block, problem_of, published_rows, ranked, second_round
from tclose.make.distributed.coding import CLASS
from tclose.make.distributed.plan import ON_ONE_MACHINE, Plan
from tclose.make.encode import EncodedTable
from tclose.make.kernels.limits import Limits, limits_of
from tclose.make.kernels.loss import losses_of_ranges
from tclose.make.kernels.satisfies import failing
from tclose.make.problem import Problem
from tclose.make.recode import recode
from tclose.tables.packed import BLOCK
from tclose.values.arrays import Floats, Ints, grouped
from tclose.values.exact import number_of

KEY, ALONE = "key", "alone"
"""Columns of rows whose classes are settled: a digest of what is published of the class, and whether its block has no other."""


def settle_block(plan: Plan, rows: pa.Table) -> pa.Table:
    """Return the rows of one block with their classes, after the second round."""
    rows = each_row(rows)
    table, order = encoded_block(plan, rows)
    labels = second_round(plan, rows, table, order)
    return _with_classes(plan, rows, table, order, (np.int64(rows[BLOCK][0].as_py()) << 32) + labels)


def merge_block(plan: Plan, rows: pa.Table, away: Ints) -> pa.Table:
    """Return the rows of one block after those of some classes, given by their numbers, were merged with others."""
    numbers, labels = np.unique(rows[CLASS].to_numpy(), return_inverse=True)
    if not np.isin(numbers, away).any():
        return rows.drop_columns([BLOCK])
    table, order = encoded_block(plan, rows)
    keys = np.empty(len(numbers), dtype=np.int64)
    keys[labels] = rows[KEY].to_numpy()
    merged = merge_away(problem_of(plan, table), labels[order].astype(np.int64), np.flatnonzero(np.isin(numbers, away)), keys)
    return _with_classes(plan, rows, table, order, numbers[merged])


def _with_classes(plan: Plan, rows: pa.Table, table: EncodedTable, order: Ints, classes: Ints) -> pa.Table:
    """Return the rows of a block with the numbers of their classes, and what is published of these."""
    labels = np.unique(classes, return_inverse=True)[1].astype(np.int64)
    same = rows.drop_columns([name for name in (BLOCK, CLASS, KEY, ALONE) if name in rows.column_names]).take(order)
    columns = [classes, _keys(plan, table, labels), np.full(len(labels), labels.max() == 0)]
    for name, column in zip((CLASS, KEY, ALONE), columns, strict=True):
        same = same.append_column(name, pa.array(column))
    return same


def _keys(plan: Plan, table: EncodedTable, labels: Ints) -> Ints:
    """Return for each row a digest of what is published of its class; classes of all blocks that are published alike share it."""
    recoded = recode(table, labels, plan.names)
    quasi = [name for scale in plan.scales for name in plan.published_names(scale)]
    published = published_rows(plan.schema(), recoded).select(quasi)
    _, some = np.unique(labels[recoded.rows], return_index=True)
    texts = [column.cast(pa.large_string()).to_pylist() for column in published.take(some).columns]
    digests = [hashlib.blake2b(repr(row).encode(), digest_size=8).digest() for row in zip(*texts, strict=True)]
    return np.array([int.from_bytes(digest, "little", signed=True) for digest in digests], dtype=np.int64)[labels]


def classes_to_merge(plan: Plan, rows: pa.Table) -> tuple[Ints, int]:
    """Return the classes that must be published otherwise, and how many classes there are, of all rows that have some keys.

    Of the classes with one key that break a limit as one, some can stay: as many as satisfy the limits, the largest first.
    """
    coding = plan.coding
    pairs = zip(plan.attributes, coding.sensitive_names, strict=True)
    attributes = [replace(attribute, codes=rows[name].to_numpy()) for attribute, name in pairs]
    persons = None if plan.unit is None else ranked(rows[coding.other_names[-1]]).codes
    limits = limits_of(attributes, plan.policy, persons)
    numbers, labels = np.unique(rows[CLASS].to_numpy(), return_inverse=True)
    members, starts = grouped(np.unique(rows[KEY].to_numpy(), return_inverse=True)[1])
    alone, away = rows[ALONE].to_numpy(zero_copy_only=False), []
    for key in np.flatnonzero(failing(limits, members, starts)).tolist():
        own = members[starts[key] : starts[key + 1]]
        inside, where = grouped(labels[own])
        classes = [own[inside[start:end]] for start, end in pairwise(where)]
        classes.sort(key=lambda part: (not alone[part[0]], -len(part), labels[part[0]]))
        staying: list[Ints] = []
        for part in classes:
            if _satisfies(limits, [*staying, part]):
                staying.append(part)
            else:
                away.append(numbers[labels[part[0]]])
    return np.array(away, dtype=np.int64), len(numbers)


def _satisfies(limits: Limits, parts: Sequence[Ints]) -> bool:
    """Whether the rows of some classes satisfy the limits as one."""
    rows = np.concatenate(parts)
    return not failing(limits, rows, np.array([0, len(rows)]))[0]


def merge_away(problem: Problem, labels: Ints, away: Ints, keys: Ints) -> Ints:
    """Return labels after each of some classes was merged with another one.

    That is the class of another key with which it loses least and satisfies the limits. Where there is none, all rows become one
    class, if they satisfy the limits; else the class stays.

    Parameters
    ----------
    labels : (rows,) int64
        The class of each row, from 0 without gaps.
    away : int64 array
        Classes, ascending.
    keys : (classes,) int64
        What is published of each class.
    """
    parts = _Parts(problem, labels)
    changed = np.zeros(len(keys), dtype=bool)
    for number in away.tolist():
        if changed[number]:  # others were merged into it
            continue
        possible = (changed | (keys != keys[number])) & (parts.sizes > 0)
        possible[number] = False
        gains = np.where(possible, parts.losses_with(number), np.inf)
        for other in np.argsort(gains, kind="stable")[: np.count_nonzero(possible)].tolist():
            if _satisfies(problem.limits, [parts.rows[other], parts.rows[number]]):
                parts.merge(number, other)
                changed[[number, other]] = True
                break
        else:
            everybody = np.zeros(problem.rows, dtype=np.int64)
            if _satisfies(problem.limits, [np.arange(problem.rows)]):
                return everybody
    return parts.labels()


class _Parts:
    """Classes of a block while some are merged.

    Attributes
    ----------
    rows : list of (rows of the class,) int64
    sizes : (classes,) int64
        0 for a class that was merged into another.
    """

    def __init__(self, problem: Problem, labels: Ints) -> None:
        """Take the rows of a block and their classes."""
        members, starts = grouped(labels)
        self._problem = problem
        self.rows = [members[start:end] for start, end in pairwise(starts)]
        self.sizes = np.diff(starts)
        self._low, self._high = (
            fold.reduceat(problem.quasi[members], starts[:-1], axis=0).astype(np.int64) for fold in (np.minimum, np.maximum)
        )

    def losses_with(self, number: int) -> Floats:
        """Return what the information loss of all rows rises by if a class is merged with each of the others."""
        low, high = np.minimum(self._low, self._low[number]), np.maximum(self._high, self._high[number])
        alone = self._losses(self._low, self._high)
        together = self._losses(low, high) * (self.sizes + self.sizes[number])
        rise: Floats = together - alone * self.sizes - alone[number] * self.sizes[number]
        return rise

    def _losses(self, low: Ints, high: Ints) -> Floats:
        """Return the information loss of a row in each class."""
        found = np.zeros(len(low))
        for column, ends in enumerate(zip(low.T, high.T, strict=True)):
            found += losses_of_ranges(self._problem.losses, column, *ends)
        return found

    def merge(self, number: int, other: int) -> None:
        """Merge a class into another."""
        self.rows[other], self.rows[number] = np.concatenate([self.rows[other], self.rows[number]]), np.empty(0, dtype=np.int64)
        self.sizes[other], self.sizes[number] = self.sizes[other] + self.sizes[number], 0
        self._low[other] = np.minimum(self._low[other], self._low[number])
        self._high[other] = np.maximum(self._high[other], self._high[number])

    def labels(self) -> Ints:
        """Return the class of each row, by the number of the class that it was merged into."""
        found = np.empty(self._problem.rows, dtype=np.int64)
        for number, rows in enumerate(self.rows):
            found[rows] = number
        return found


class SettledRows(Protocol):
    """Rows with settled classes, wherever they are."""

    def find(self) -> Iterable[tuple[Ints, int]]:
        """Return what `classes_to_merge` finds in each part of the rows; rows with one key are in one part."""

    def merge(self, away: Ints) -> None:
        """Merge some classes, in each block as `merge_block` does."""


def merge_until_none_breaks(rows: SettledRows) -> None:
    """Merge classes until all that are published alike satisfy the limits as one.

    Each time there are fewer classes.

    Raises
    ------
    InfeasibleError
        A class must be merged that is alone in its block.
    """
    before = None
    while True:
        check()
        found = list(rows.find())
        away, classes = np.sort(np.concatenate([own for own, _ in found])), sum(count for _, count in found)
        if not len(away):
            return
        if classes == before:
            raise InfeasibleError(
                f"{number_of(len(away), 'class', 'classes')} would be published like others and break a limit together with "
                "them, and their blocks have no others to merge them with. Loosen the limits whose classes cannot be joined "
                f"(lenient delta; entropy or recursive l over persons), or {ON_ONE_MACHINE}."
            )
        report(f"{number_of(len(away), 'class', 'classes')} of {classes:,}")
        rows.merge(away)
        before = classes


class PlaceByClass:
    """A function that gives each row the block in which its class was made, as a last column."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches of rows with their blocks."""
        for batch in batches:
            yield batch.append_column(BLOCK, pa.array((batch[CLASS].to_numpy() >> 32).astype(np.int32)))


@dataclass(frozen=True)
class PlaceByKey:
    """A function that puts rows with one key in one part, with the columns that `classes_to_merge` needs."""

    plan: Plan
    parts: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches of rows with the numbers of their parts, in the place of blocks."""
        coding = self.plan.coding
        names = [*coding.sensitive_names, *([] if self.plan.unit is None else coding.other_names[-1:]), CLASS, KEY, ALONE]
        for batch in batches:
            parts = pa.array((batch[KEY].to_numpy() % self.parts).astype(np.int32))
            yield batch.select(names).append_column(BLOCK, parts)
