"""Merging: classes that break a limit are joined with others until all hold; for limits that merging preserves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.make.kernels.compiling import kernel, lean, once
from tclose.make.kernels.limits import Limits
from tclose.make.kernels.loss import RANGE, LossTable, loss
from tclose.make.kernels.running import run
from tclose.make.kernels.satisfies import failing, find_failing, scratch_for
from tclose.make.kernels.scratch import Scratch
from tclose.values.arrays import Bools, Bytes, Codes, Ints


def merge_failing(labels: Ints, quasi: Codes, losses: LossTable, limits: Limits) -> Ints:
    """Join every class that breaks a limit with the class that raises the loss least, again and again, until none does.

    Of equals the first is taken. In the worst case one class of all rows is left.

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
    order = np.argsort(labels, kind="stable").astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels))])
    bad = failing(limits, order, starts)
    if not bad.any():
        return labels
    classes = _classes_of(quasi, order, starts)
    run(_merge_all, limits, losses, classes, bad, np.empty_like(order), scratch_for(limits))
    merged = np.empty_like(labels)
    for number, first in enumerate(np.flatnonzero(classes.each["size"])):
        row = classes.each["head"][first]
        while row >= 0:
            merged[row] = number
            row = classes.nexts[row]
    return merged


CLASS = np.dtype([("head", np.int32), ("tail", np.int32), ("size", np.int64), ("loss", np.float64)])
"""The first row of a class and the last; its size, 0 where it has gone into another; what each of its rows loses, NaN before
that is known."""


class Classes(NamedTuple):
    """Classes as linked lists of rows, so that two are joined at once."""

    each: NDArray[Any]
    """(classes,) of `CLASS`."""
    nexts: Codes
    """(rows,): the next row of the same class, -1 at the end."""
    boxes: NDArray[Any]
    """(classes, quasi) of `RANGE`."""


def _classes_of(quasi: Codes, order: Codes, starts: Ints) -> Classes:
    each = np.empty(len(starts) - 1, dtype=CLASS)
    each["head"], each["tail"] = order[starts[:-1]], order[starts[1:] - 1]
    each["size"], each["loss"] = np.diff(starts), np.nan
    nexts = np.empty_like(order)
    nexts[order[:-1]] = order[1:]
    nexts[each["tail"]] = -1
    boxes = np.empty((len(each), quasi.shape[1]), dtype=RANGE)
    for end, least in (("low", np.minimum), ("high", np.maximum)):
        boxes[end] = least.reduceat(quasi[order], starts[:-1])
    return Classes(each, nexts, boxes)


@lean
def _together(losses: LossTable, classes: Classes, one: int, other: int) -> float:
    """The loss of a row when two classes are one."""
    total = 0.0
    for column in range(classes.boxes.shape[1]):
        a, b = classes.boxes[one, column], classes.boxes[other, column]
        total += loss(losses, column, a.low if a.low < b.low else b.low, a.high if a.high > b.high else b.high)
    return total


def _merge_all(
    limits: Limits,
    losses: LossTable,
    classes: Classes,
    bad: Bools,
    rows: Codes,
    scratch: Scratch,
    cancel: Bytes,
) -> None:
    """Merge the classes that break a limit, in turn; ``rows`` is room for the rows of one class.

    Not a kernel: checks are compiled anew into each kernel that calls them, and looking for partners takes longer than this loop.
    """
    ends = np.zeros(2, dtype=np.int64)
    for start in range(len(bad)):
        number = start
        while bad[number]:
            partner, ends[1] = _merge(losses, classes, number, rows)
            if partner < 0 or cancel[0]:
                return
            bad[number] = False
            number = partner
            find_failing(limits, rows, ends, scratch, bad[number : number + 1], cancel)


@kernel
def _merge(losses: LossTable, classes: Classes, number: int, rows: Codes) -> Any:
    """Put a class into the one that costs least; that one, its rows side by side, and how many they are. -1 if there is none."""
    if np.isnan(classes.each[0].loss):
        for place in range(len(classes.each)):
            classes.each[place].loss = _together(losses, classes, place, place)
    partner, size = _cheapest(losses, classes, number), 0
    if partner >= 0:
        _join(losses, classes, partner, number)
        row = classes.each[partner].head
        while row >= 0:
            rows[size] = row
            size += 1
            row = classes.nexts[row]
    return partner, size


@once
def _cheapest(losses: LossTable, classes: Classes, number: int) -> int:
    """The class that raises the loss least when this one goes into it; -1 where there is no other."""
    best, least = -1, np.inf
    one = classes.each[number]
    for place in range(len(classes.each)):
        other = classes.each[place]
        before, size = one.size * one.loss + other.size * other.loss, one.size + other.size
        # A row loses no less than before. So most classes are passed over after a look at one number.
        if other.size == 0 or place == number or size * other.loss - before >= least:
            continue
        rise = size * _together(losses, classes, number, place) - before
        if rise < least:
            best, least = place, rise
    return best


@once
def _join(losses: LossTable, classes: Classes, into: int, number: int) -> None:
    """Put all rows of one class into another."""
    here, there = classes.each[number], classes.each[into]
    classes.nexts[there.tail] = here.head
    there.tail = here.tail
    there.loss = _together(losses, classes, into, number)
    there.size += here.size
    here.size = 0
    for column in range(classes.boxes.shape[1]):
        a, b = classes.boxes[into, column], classes.boxes[number, column]
        if b.low < a.low:
            a.low = b.low
        if b.high > a.high:
            a.high = b.high
