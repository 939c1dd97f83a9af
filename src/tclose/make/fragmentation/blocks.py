"""Blocks: a table and its classes are halved into small parts, each with as many rows of each fragment as its classes want."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.make.kernels.compiling import kernel, once
from tclose.make.kernels.loss import ABOVE, BELOW, RANGE, LossTable, loss
from tclose.make.kernels.running import run
from tclose.values.arrays import Bools, Bytes, Codes, Ints

DEEPEST = 64
"""No list of classes can be halved more often."""


class ClassBlocks(NamedTuple):
    """Blocks of a table, and the classes that are filled with the rows of each."""

    rows: Codes
    """(rows,): row numbers; each block is a slice of it, ordered by fragment and first quasi-identifier."""
    starts: Ints
    """(blocks + 1,): where the rows of each block start."""
    classes: Ints
    """(blocks + 1,): the first class of each block."""


class _CutScratch(NamedTuple):
    """Memory for the two sides of a cut that is being tried."""

    upto: Ints
    """(classes + 1, fragments): how many rows of each fragment the classes before each class want."""
    before: Ints
    """(classes + 1,): the same, summed over all fragments."""
    ends: Ints
    """The ends of the parts that start at the current class, the longest first."""
    passed: Ints
    """(fragments,): how many rows of each fragment were seen."""
    boxes: NDArray[Any]
    """(2, quasi) of `RANGE`: the boxes around both scratch."""
    right: Bools
    """(rows,): which rows go right."""
    aside: Codes
    """(rows,): memory to reorder rows."""


def blocks_of(quasi: Codes, losses: LossTable, fragment: Codes, wanted: Ints, most: int) -> ClassBlocks:
    """Return blocks of rows and of classes to fill with them: both are halved to at most ``most`` rows or one class.

    The left half gets as many rows of each fragment as its classes want: those with the lowest codes on one quasi-identifier.
    It is the quasi-identifier for which the boxes around both halves lose least, the same for all fragments.
    """
    rows, columns = quasi.shape
    classes, fragments = wanted.shape
    upto = np.zeros((classes + 1, fragments), dtype=np.int64)
    np.cumsum(wanted, axis=0, out=upto[1:])
    orders = np.empty((columns, rows), dtype=np.int32)
    for column in range(columns):
        orders[column] = np.lexsort((quasi[:, column], fragment))
    scratch = _CutScratch(
        upto,
        upto.sum(axis=1),
        np.empty(DEEPEST, dtype=np.int64),
        np.empty(fragments, dtype=np.int64),
        np.empty((2, columns), dtype=RANGE),
        np.empty(rows, dtype=np.bool_),
        np.empty(rows, dtype=np.int32),
    )
    starts, firsts = np.empty(classes + 1, dtype=np.int64), np.empty(classes + 1, dtype=np.int64)
    found = run(_halve_all, quasi, losses, fragment, orders, scratch, most, starts, firsts)
    starts[found], firsts[found] = rows, classes
    return ClassBlocks(orders[0], starts[: found + 1], firsts[: found + 1])


@kernel
def _halve_all(
    quasi: Codes,
    losses: LossTable,
    fragment: Codes,
    orders: Codes,
    scratch: _CutScratch,
    most: int,
    starts: Ints,
    firsts: Ints,
    cancel: Bytes,
) -> int:
    """Halve all blocks of rows and classes, left sides first, and return the number of blocks."""
    blocks, depth = 0, 1
    first = start = scratch.before[0]  # 0, in the type of the others
    scratch.ends[0] = len(scratch.upto) - 1
    while depth > 0:
        last = scratch.ends[depth - 1]
        size = scratch.before[last] - scratch.before[first]
        if size <= most or last == first + 1:
            starts[blocks], firsts[blocks] = start, first
            blocks += 1
            first, start, depth = last, start + size, depth - 1
            continue
        middle = (first + last) // 2
        best, least, left = 0, np.inf, size
        for turn in range(len(orders) + 1):
            if cancel[0]:
                return blocks
            column = turn if turn < len(orders) else best  # the last turn repeats the best one, whose sides are taken
            left = _assign_left_half(quasi, fragment, orders, column, start, size, scratch, first, middle)
            after = _loss_of_halves(losses, scratch, left, size)
            if after < least:
                best, least = column, after
        for column in range(len(orders)):
            _reorder_by_side(orders, column, start, size, scratch, left)
        scratch.ends[depth] = middle
        depth += 1
    return blocks


@once
def _assign_left_half(
    quasi: Codes,
    fragment: Codes,
    orders: Codes,
    column: int,
    start: int,
    size: int,
    scratch: _CutScratch,
    first: int,
    middle: int,
) -> int:
    """Assign rows of a block to its left half per fragment quota, the lowest codes first, and return its size."""
    for index in range(len(scratch.passed)):
        scratch.passed[index] = 0
    for other in range(quasi.shape[1]):
        for side in range(2):
            scratch.boxes[side, other].low, scratch.boxes[side, other].high = ABOVE, BELOW
    lefts = 0
    for at in range(start, start + size):
        row = orders[column, at]
        part = fragment[row]
        side = 0 if scratch.passed[part] < scratch.upto[middle, part] - scratch.upto[first, part] else 1
        scratch.passed[part] += 1
        scratch.right[row] = side == 1
        lefts += 1 - side
        for other in range(quasi.shape[1]):
            code, box = quasi[row, other], scratch.boxes[side, other]
            if code < box.low:
                box.low = code
            if code > box.high:
                box.high = code
    return lefts


@once
def _loss_of_halves(losses: LossTable, scratch: _CutScratch, left: int, size: int) -> float:
    """Return the information loss of the boxes around both halves of a block."""
    total = 0.0
    for side, rows in ((0, left), (1, size - left)):
        for column in range(scratch.boxes.shape[1]):
            if rows > 0:
                total += rows * loss(losses, column, scratch.boxes[side, column].low, scratch.boxes[side, column].high)
    return total


@once
def _reorder_by_side(orders: Codes, column: int, start: int, size: int, scratch: _CutScratch, left: int) -> None:
    """Reorder the rows of a block so that those of the left half come first; rows of one half keep their order."""
    near, far = 0, left
    for index in range(start, start + size):
        row = orders[column, index]
        if scratch.right[row]:
            scratch.aside[far] = row
            far += 1
        else:
            scratch.aside[near] = row
            near += 1
    for index in range(size):
        orders[column, start + index] = scratch.aside[index]
