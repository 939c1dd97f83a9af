"""Neighbourhoods: groups of classes with similar boxes, among which rows move; all groups at once, on all cores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tclose.make.kernels.classes import Classes, classes_of, gather, measure
from tclose.make.kernels.compiling import kernel, lean, once
from tclose.make.kernels.limits import Limits
from tclose.make.kernels.loss import BELOW, Box, LossTable, box_for
from tclose.make.kernels.running import run, run_parts
from tclose.make.kernels.satisfies import satisfies, satisfies_with, scratch_for
from tclose.make.kernels.scratch import Scratch
from tclose.values.arrays import Bytes, Codes, Floats, Ints, grouped, renumber

SPARE = 64
"""How many empty classes there are for splits, besides half as many as there are classes."""
LARGEST = 5000
"""Classes with more rows stay as they are: the check whether one may lose a row takes time with every row that it has."""
KINDS = 4096
"""Answers are cached for at most this many kinds of rows; with more kinds hardly any question comes twice."""
VALUES = 1024
"""The rows at each value are counted for each class if there are at most this many values."""
CACHE = 2**25
"""A group for which more answers, or counts, would be needed has no cache."""
PER_ROW = 8
"""Counting one row takes as long as looking at this many values."""
UNKNOWN, YES, NO = range(3)
"""A cached answer."""
LEAVES: Any = np.int64(-1)
JOINS: Any = np.int64(1)
"""How a row changes a class. Integers of NumPy: for each constant of Python a part would be compiled once more."""


class Given(NamedTuple):
    """The table and its limits, which stay the same while rows change classes."""

    quasi: Codes
    """(rows, quasi): codes of the quasi-identifiers."""
    losses: LossTable
    limits: Limits
    kinds: Codes
    """(rows,): the kind of each row; no limit can tell two rows of the same kind apart."""


class Groups(NamedTuple):
    """Groups of classes that may take rows from one another."""

    order: Ints
    """(classes,): numbers of classes, group after group."""
    starts: Ints
    """(groups + 1,): where each group starts in ``order``."""
    spares: Ints
    """Numbers of empty classes."""
    spare_starts: Ints
    """(groups + 1,): where the empty classes for each group start in ``spares``."""


def given(quasi: Codes, losses: LossTable, limits: Limits) -> Given:
    """Return a table and its limits, with the kind of each row."""
    kinds = np.zeros(len(quasi), dtype=np.int64)
    for codes in (*limits.codes, *([limits.persons] if len(limits.persons) else [])):
        kinds = renumber(kinds * (int(codes.max()) + 1) + codes)[0]
    return Given(quasi, losses, limits, kinds.astype(np.int32))


def measured(given: Given, labels: Ints) -> Classes:
    """Return the classes with these labels, measured, and empty ones for splits."""
    count = int(labels.max()) + 1
    classes = classes_of(labels, given.quasi.shape[1], spare=count // 2 + SPARE)
    run(_measure_all, given.quasi, given.losses, classes)
    return classes


@kernel
def _measure_all(quasi: Codes, losses: LossTable, classes: Classes, cancel: Bytes) -> None:
    for number in range(len(classes.each)):
        if cancel[0]:
            return
        measure(quasi, losses, classes, number)


def similar(classes: Classes, number: int, together: int) -> Groups:
    """Return groups of at most ``together`` classes with similar boxes.

    Classes are sorted by the middles of their boxes, first along the quasi-identifier ``number`` modulo the number of them, so
    that groups differ from round to round.
    """
    sizes, columns = classes.each["size"], classes.edges.shape[1]
    known = np.flatnonzero((sizes > 0) & (sizes <= LARGEST))
    middles = classes.edges["low"][known].astype(np.int64) + classes.edges["high"][known]
    order = known[np.lexsort([middles[:, (number + index) % columns] for index in range(columns - 1, -1, -1)])]
    shift = together // 2 * (number // columns % 2)  # so that the borders between groups change
    starts = np.unique(np.arange(-shift, len(order) + together, together).clip(0, len(order)))
    spares = np.flatnonzero(sizes == 0)
    return Groups(order, starts, spares, np.arange(len(starts)) * len(spares) // max(1, len(starts) - 1))


def with_equal_keys(classes: Classes, keys: Ints) -> Groups:
    """Return groups of the classes with the same key, each in the order of their numbers; without empty classes."""
    sizes = classes.each["size"][: len(keys)]
    known = np.flatnonzero((sizes > 0) & (sizes <= LARGEST))
    order, starts = grouped(keys[known])
    return Groups(known[order], starts, np.empty(0, dtype=np.int64), np.zeros(len(starts), dtype=np.int64))


def improve(step: Callable[..., None], given: Given, classes: Classes, groups: Groups, *more: float | bool) -> None:
    """Run ``step(part, given, classes, groups, *more, scratch, cancel)`` for each group.

    Groups have no class in common, so that the result does not depend on the number of cores.
    """
    if len(groups.order):
        scratch = lambda: group_scratch(given, classes, groups)  # noqa: E731 - one for each thread
        run_parts(step, len(groups.starts) - 1, scratch, given, classes, groups, *more)


class GroupScratch(NamedTuple):
    """Memory for one thread that works on a group."""

    rows: Codes
    """The rows of the group."""
    members: Codes
    """The rows of one class, with or without a row that may join or leave."""
    side: Codes
    """The rows on one side of a cut."""
    keys: Ints
    """The codes of the members on one quasi-identifier, each with the index of its row, sorted."""
    lefts: Floats
    """For each key the loss of each row left of it."""
    box: Box
    answers: Bytes
    """(2, classes of the group, kinds): whether a class satisfies the limits without a row of a kind, and with one more, as far
    as known."""
    tallies: Codes
    """(classes of the group, values of all columns): the number of rows at each value; no values if persons are counted, or there
    are too many."""
    checks: Scratch


def group_scratch(given: Given, classes: Classes, groups: Groups) -> GroupScratch:
    """Return memory for one thread."""
    kinds = int(given.kinds.max()) + 1
    together = int(np.diff(groups.starts).max(initial=0))
    rows = int(np.add.reduceat(classes.each["size"][groups.order], groups.starts[:-1]).max(initial=0)) + 1
    lists = np.empty((3, rows), dtype=np.int32)
    values = int(given.limits.columns["size"].sum())
    tallied = values <= VALUES and together * values <= CACHE and not len(given.limits.persons)
    return GroupScratch(
        lists[0],
        lists[1],
        lists[2],
        np.empty(rows, dtype=np.int64),
        np.empty(rows, dtype=np.float64),
        box_for(given.quasi.shape[1]),
        np.empty((2, together, kinds if kinds <= KINDS and together * kinds <= CACHE else 0), dtype=np.uint8),
        np.empty((together, values if tallied else 0), dtype=np.int32),
        scratch_for(given.limits),
    )


@lean
def enter(given: Given, classes: Classes, group: Ints, scratch: GroupScratch) -> int:
    """Begin to work on a group: list its rows, count their values, and return how many rows there are."""
    rows = 0
    for index in range(len(group)):
        classes.each[group[index]].index = index
        forget(classes, group[index], scratch)
        size = gather(classes, group[index], BELOW, scratch.rows[rows:])
        if scratch.tallies.shape[1] > 0:
            for value in range(scratch.tallies.shape[1]):
                scratch.tallies[index, value] = 0
            for row in scratch.rows[rows : rows + size]:
                count(given.limits, scratch.tallies[index], row, 1)
        rows += size
    return rows


@lean
def count(limits: Limits, tallies: Codes, row: int, change: int) -> None:
    """Add a row to the counts of a class (change 1), or remove it (-1)."""
    start = 0
    for number in range(len(limits.columns)):
        tallies[start + limits.codes[number, row]] += change
        start += limits.columns[number].size


@lean
def forget(classes: Classes, number: int, scratch: GroupScratch) -> None:
    """Invalidate the cached answers of a class."""
    index = classes.each[number].index
    for kind in range(scratch.answers.shape[2]):
        scratch.answers[0, index, kind] = scratch.answers[1, index, kind] = UNKNOWN


@lean
def may_change(given: Given, classes: Classes, number: int, row: int, change: int, scratch: GroupScratch) -> bool:
    """Return whether a class satisfies the limits after a row has joined or left it; cached by the kind of the row."""
    side, index, kind = (change + 1) // 2, classes.each[number].index, given.kinds[row]
    cached = scratch.answers.shape[2] > 0
    if cached and scratch.answers[side, index, kind] != UNKNOWN:
        return bool(scratch.answers[side, index, kind] == YES)
    answer = _check_change(given, classes, number, row, change, scratch)
    if cached:
        scratch.answers[side, index, kind] = YES if answer else NO
    return answer


@once
def is_refused(given: Given, classes: Classes, number: int, row: int, change: int, scratch: GroupScratch) -> bool:
    """Return whether it is cached that a class fails a limit after a row has joined or left it."""
    if scratch.answers.shape[2] == 0:
        return False
    return bool(scratch.answers[(change + 1) // 2, classes.each[number].index, given.kinds[row]] == NO)


@once
def _check_change(given: Given, classes: Classes, number: int, row: int, change: int, scratch: GroupScratch) -> bool:
    """Check the limits after the change, from tallies or rows, whichever are fewer."""
    one, values = classes.each[number], scratch.tallies.shape[1]
    if 0 < values < PER_ROW * one.size:
        return satisfies_with(given.limits, scratch.tallies[one.index], one.size, row, change, scratch.checks)
    size = gather(classes, number, row, scratch.members)
    if change == JOINS:
        scratch.members[size] = row
        size += 1
    return size > 0 and satisfies(given.limits, given.limits.references, scratch.members[:size], scratch.checks)
