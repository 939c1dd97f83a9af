"""Merging: classes that fail a limit are merged with others until all satisfy the limits; for limits that merging preserves."""

from __future__ import annotations

from typing import Any

import numpy as np

from tclose.make.kernels.classes import Classes, classes_of, join, labels_of, measure
from tclose.make.kernels.compiling import kernel, lean, once
from tclose.make.kernels.limits import Limits
from tclose.make.kernels.loss import LossTable, loss
from tclose.make.kernels.running import run
from tclose.make.kernels.satisfies import failing, find_failing, scratch_for
from tclose.make.kernels.scratch import Scratch
from tclose.values.arrays import Bools, Bytes, Codes, Ints, grouped


def merge_failing(labels: Ints, quasi: Codes, losses: LossTable, limits: Limits) -> Ints:
    """Merge every class that fails a limit with the class that raises the information loss least, until no class fails.

    Ties: the first wins. In the worst case one class of all rows is left.

    Parameters
    ----------
    labels : (rows,) int64
        The class of each row, numbered without gaps.
    quasi : (rows, quasi) int32
        The codes of the quasi-identifiers.

    Returns
    -------
    (rows,) int64
        Classes numbered without gaps.
    """
    bad = failing(limits, *grouped(labels))
    if not bad.any():
        return labels
    classes = classes_of(labels, quasi.shape[1])
    run(_merge_all, limits, quasi, losses, classes, bad, np.empty(len(labels), dtype=np.int32), scratch_for(limits))
    return labels_of(classes)


def _merge_all(
    limits: Limits,
    quasi: Codes,
    losses: LossTable,
    classes: Classes,
    bad: Bools,
    rows: Codes,
    scratch: Scratch,
    cancel: Bytes,
) -> None:
    """Merge the failing classes, in turn; ``rows`` is memory for the rows of one class.

    This is not a kernel: checks would be compiled once more for it, and the search for partners takes longer than this loop.
    """
    ends = np.zeros(2, dtype=np.int64)
    for start in range(len(bad)):
        number = start
        while bad[number]:
            partner, ends[1] = _merge(quasi, losses, classes, number, rows)
            if partner < 0 or cancel[0]:
                return
            bad[number] = False
            number = partner
            find_failing(limits, rows, ends, scratch, bad[number : number + 1], cancel)


@kernel
def _merge(quasi: Codes, losses: LossTable, classes: Classes, number: int, rows: Codes) -> Any:
    """Merge a class into the one that raises the loss least; return that one and its size, and list its rows.

    The class is -1 if there is no other.
    """
    for index in range(len(classes.each)):
        if np.isnan(classes.each[index].loss):
            measure(quasi, losses, classes, index)
    partner, size = _cheapest(losses, classes, number), 0
    if partner >= 0:
        size = _join_measured(losses, classes, partner, number, rows)
    return partner, size


@once
def _cheapest(losses: LossTable, classes: Classes, number: int) -> int:
    """Return the class that raises the loss least when this one is merged into it; -1 if there is no other."""
    best, least = -1, np.inf
    one = classes.each[number]
    for index in range(len(classes.each)):
        other = classes.each[index]
        before, size = one.size * one.loss + other.size * other.loss, one.size + other.size
        # No row loses less than before, so one comparison rules out most classes.
        if other.size == 0 or index == number or size * other.loss - before >= least:
            continue
        rise = size * _loss_together(losses, classes, number, index) - before
        if rise < least:
            best, least = index, rise
    return best


@lean
def _loss_together(losses: LossTable, classes: Classes, one: int, other: int) -> float:
    """Return the loss of each row after two classes were merged."""
    total = 0.0
    for column in range(classes.edges.shape[1]):
        a, b = classes.edges[one, column], classes.edges[other, column]
        total += loss(losses, column, min(a.low, b.low), max(a.high, b.high))
    return total


@once
def _join_measured(losses: LossTable, classes: Classes, into: int, number: int, rows: Codes) -> int:
    """Join one class to another with edges and loss, list all their rows in ``rows``, and return how many there are."""
    size = join(classes, into, number, rows)
    there = classes.each[into]
    there.loss = classes.each[number].loss = 0.0
    for column in range(classes.edges.shape[1]):
        a, b = classes.edges[into, column], classes.edges[number, column]
        a.next_low = min(max(a.low, b.low), min(a.next_low, b.next_low))
        a.next_high = max(min(a.high, b.high), max(a.next_high, b.next_high))
        a.low, a.high = min(a.low, b.low), max(a.high, b.high)
        a.loss = loss(losses, column, a.low, a.high)
        there.loss += a.loss
    return size
