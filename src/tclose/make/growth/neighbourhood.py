"""The neighbourhood: groups of classes with similar boxes, and one step of refining in all groups, on all cores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.make.kernels.classes import Classes, Given, gather, measure
from tclose.make.kernels.compiling import kernel, lean, once
from tclose.make.kernels.limits import Limits
from tclose.make.kernels.loss import BELOW, Box, box_for
from tclose.make.kernels.running import run, run_parts
from tclose.make.kernels.satisfies import satisfies, satisfies_with, scratch_for
from tclose.make.kernels.scratch import Scratch
from tclose.values.arrays import Bytes, Codes, Floats, Ints

LARGEST = 5000
"""Classes with more rows stay as they are: to look whether one may lose a row takes time with every row it has."""
NEAR = 1e-9
"""A smaller gain may be a matter of rounding."""
KINDS = 4096
"""Answers are kept for so many kinds of rows; with more kinds, hardly any question comes twice."""
VALUES = 1024
"""Rows at each value are kept for each class where there are so many values at most."""
KEPT = 2**25
"""For larger groups than that many answers, or counts, are kept for none."""
PER_ROW = 8
"""To count one row takes as long as to look at so many values."""
UNKNOWN, YES, NO = range(3)
LEAVES: Any = np.int64(-1)
JOINS: Any = np.int64(1)
"""How a row changes a class. Integers of NumPy: for each constant of Python a part that takes it would be compiled anew."""


class Groups(NamedTuple):
    """Classes that may take rows from one another."""

    order: Ints
    """(classes,): numbers of classes, one group after the other,"""
    starts: Ints
    """(groups + 1,): and where each group starts."""
    spares: Ints
    """Numbers that no class has,"""
    spare_starts: Ints
    """(groups + 1,): and where those for each group start."""


def groups(classes: Classes, number: int, together: int) -> Groups:
    """Groups of so many classes with similar boxes: similar first on one quasi-identifier, for the next number on the next."""
    sizes, columns = classes.each["size"], classes.edges.shape[1]
    known = np.flatnonzero((sizes > 0) & (sizes <= LARGEST))
    middles = classes.edges["low"][known].astype(np.int64) + classes.edges["high"][known]
    order = known[np.lexsort([middles[:, (number + place) % columns] for place in range(columns - 1, -1, -1)])]
    shift = together // 2 * (number // columns % 2)  # so that the borders are not always the same
    starts = np.unique(np.arange(-shift, len(order) + together, together).clip(0, len(order)))
    spares = np.flatnonzero(sizes == 0)
    return Groups(order, starts, spares, np.arange(len(starts)) * len(spares) // max(1, len(starts) - 1))


def groups_by(classes: Classes, keys: Ints) -> Groups:
    """Groups of the classes with the same key, each in the order of its numbers; without numbers to spare."""
    sizes = classes.each["size"][: len(keys)]
    known = np.flatnonzero((sizes > 0) & (sizes <= LARGEST))
    order = known[np.argsort(keys[known], kind="stable")]
    starts = np.concatenate([[0], 1 + np.flatnonzero(np.diff(keys[order])), [len(order)]])
    return Groups(order, starts, np.empty(0, dtype=np.int64), np.zeros(len(starts), dtype=np.int64))


def improve(step: Callable[..., None], given: Given, classes: Classes, groups: Groups, *more: float | bool) -> None:
    """Run ``step(part, given, classes, groups, *more, scratch, cancel)`` for each group.

    Groups have no class in common, so that what comes out does not depend on the number of cores.
    """
    if len(groups.order):
        run_parts(step, len(groups.starts) - 1, lambda: group_scratch(given, classes, groups), given, classes, groups, *more)


def measure_all(given: Given, classes: Classes) -> None:
    """Find the edges of every class."""
    run(_measure_all, given, classes)


@kernel
def _measure_all(given: Given, classes: Classes, cancel: Bytes) -> None:
    for number in range(len(classes.each)):
        if cancel[0]:
            return
        measure(given, classes, number)


class GroupScratch(NamedTuple):
    """GroupScratch for one thread."""

    rows: Codes
    """Rows of the group at hand,"""
    members: Codes
    """of one class, with or without a row that may come or leave,"""
    side: Codes
    """and of one side of a cut."""
    keys: Ints
    """Codes of the members on one quasi-identifier, each with the place of its row, in order,"""
    lefts: Floats
    """and what rows on the left of each lose."""
    box: Box
    answers: NDArray[np.uint8]
    """(2, classes of the group, kinds): whether a class keeps the limits without a row of a kind, and with one more, as far as
    it was asked."""
    tallies: Codes
    """(classes of the group, values of all columns): rows at each value; none where persons are counted, or they are too many."""
    checks: Scratch


def group_scratch(given: Given, classes: Classes, groups: Groups) -> GroupScratch:
    """GroupScratch for one thread."""
    kinds = int(given.kinds.max()) + 1
    together = int(np.diff(groups.starts).max(initial=0))
    rows = int(np.add.reduceat(classes.each["size"][groups.order], groups.starts[:-1]).max(initial=0)) + 1
    lists = np.empty((3, rows), dtype=np.int32)
    values = int(given.limits.columns["size"].sum())
    tallied = values <= VALUES and together * values <= KEPT and not len(given.limits.persons)
    return GroupScratch(
        lists[0],
        lists[1],
        lists[2],
        np.empty(rows, dtype=np.int64),
        np.empty(rows, dtype=np.float64),
        box_for(given.quasi.shape[1]),
        np.empty((2, together, kinds if kinds <= KINDS and together * kinds <= KEPT else 0), dtype=np.uint8),
        np.empty((together, values if tallied else 0), dtype=np.int32),
        scratch_for(given.limits),
    )


@lean
def enter(given: Given, classes: Classes, group: Ints, scratch: GroupScratch) -> int:
    """Begin with a group: list its rows, count their values, and give their number."""
    rows = 0
    for place in range(len(group)):
        classes.each[group[place]].index = place
        forget(classes, group[place], scratch)
        size = gather(classes, group[place], BELOW, scratch.rows[rows:])
        if scratch.tallies.shape[1] > 0:
            for value in range(scratch.tallies.shape[1]):
                scratch.tallies[place, value] = 0
            for row in scratch.rows[rows : rows + size]:
                count(given.limits, scratch.tallies[place], row, 1)
        rows += size
    return rows


@lean
def count(limits: Limits, tallies: Codes, row: int, change: int) -> None:
    """Count one row more, or less, at its values."""
    start = 0
    for number in range(len(limits.columns)):
        tallies[start + limits.codes[number, row]] += change
        start += limits.columns[number].size


@lean
def forget(classes: Classes, number: int, scratch: GroupScratch) -> None:
    """Nothing is known of a class."""
    place = classes.each[number].index
    for kind in range(scratch.answers.shape[2]):
        scratch.answers[0, place, kind] = scratch.answers[1, place, kind] = UNKNOWN


@lean
def may_change(given: Given, classes: Classes, number: int, row: int, change: int, scratch: GroupScratch) -> bool:
    """Whether a class keeps the limits when a row joins or leaves it."""
    side, place, kind = (change + 1) // 2, classes.each[number].index, given.kinds[row]
    kept = scratch.answers.shape[2] > 0
    if kept and scratch.answers[side, place, kind] != UNKNOWN:
        return bool(scratch.answers[side, place, kind] == YES)
    answer = _keeps(given, classes, number, row, change, scratch)
    if kept:
        scratch.answers[side, place, kind] = YES if answer else NO
    return answer


@once
def _keeps(given: Given, classes: Classes, number: int, row: int, change: int, scratch: GroupScratch) -> bool:
    """Find that out."""
    one, values = classes.each[number], scratch.tallies.shape[1]
    if 0 < values < PER_ROW * one.size:
        return satisfies_with(given.limits, scratch.tallies[one.index], one.size, row, change, scratch.checks)
    size = gather(classes, number, row, scratch.members)
    if change == JOINS:
        scratch.members[size] = row
        size += 1
    return size > 0 and satisfies(given.limits, given.limits.references, scratch.members[:size], scratch.checks)
