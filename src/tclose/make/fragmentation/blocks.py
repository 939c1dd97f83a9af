"""Blocks: a table and its classes cut into small parts, each with all the rows that its classes want."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.make.kernels.compiling import kernel, once
from tclose.make.kernels.loss import ABOVE, BELOW, RANGE, LossTable, loss
from tclose.make.kernels.running import run
from tclose.values.arrays import Bools, Bytes, Codes, Ints

DEEPEST = 64
"""No list can be halved more often."""


class Blocks(NamedTuple):
    """Parts of a table that are filled each by itself."""

    rows: Codes
    """(rows,): row numbers; each block is a slice of it, ordered by fragment and first quasi-identifier."""
    starts: Ints
    """(blocks + 1,): where the rows of each block start,"""
    classes: Ints
    """and its first class."""


class _Sides(NamedTuple):
    """The two sides of a cut that is being tried."""

    upto: Ints
    """(classes + 1, fragments): how many rows of each fragment the classes before each one want."""
    before: Ints
    """(classes + 1,): of all fragments."""
    ends: Ints
    """Where the parts end that start at the class at hand, the longest first."""
    passed: Ints
    """(fragments,): rows seen of each fragment."""
    boxes: NDArray[Any]
    """(2, quasi) of `RANGE`: the codes of both sides."""
    right: Bools
    """(rows,): which rows go right."""
    aside: Codes


def blocks_of(quasi: Codes, losses: LossTable, fragment: Codes, wanted: Ints, most: int) -> Blocks:
    """Halve the list of classes, and the rows with it, until a part has ``most`` rows or one class.

    The left half gets as many rows of each fragment as its classes want: the lowest ones on one quasi-identifier, the same for
    all fragments, the one whose cut leaves the least loss in the boxes around both halves.
    """
    rows, columns = quasi.shape
    classes, fragments = wanted.shape
    upto = np.zeros((classes + 1, fragments), dtype=np.int64)
    np.cumsum(wanted, axis=0, out=upto[1:])
    orders = np.empty((columns, rows), dtype=np.int32)
    for column in range(columns):
        orders[column] = np.lexsort((quasi[:, column], fragment))
    sides = _Sides(
        upto,
        upto.sum(axis=1),
        np.empty(DEEPEST, dtype=np.int64),
        np.empty(fragments, dtype=np.int64),
        np.empty((2, columns), dtype=RANGE),
        np.empty(rows, dtype=np.bool_),
        np.empty(rows, dtype=np.int32),
    )
    starts, firsts = np.empty(classes + 1, dtype=np.int64), np.empty(classes + 1, dtype=np.int64)
    found = run(_halve_all, quasi, losses, fragment, orders, sides, most, starts, firsts)
    starts[found], firsts[found] = rows, classes
    return Blocks(orders[0], starts[: found + 1], firsts[: found + 1])


@kernel
def _halve_all(
    quasi: Codes,
    losses: LossTable,
    fragment: Codes,
    orders: Codes,
    sides: _Sides,
    most: int,
    starts: Ints,
    firsts: Ints,
    cancel: Bytes,
) -> int:
    """Halve, left sides first; the number of blocks. A column's order stays one within each block."""
    blocks, depth = 0, 1
    first = start = sides.before[0]  # 0, in the type of the others
    sides.ends[0] = len(sides.upto) - 1
    while depth > 0:
        last = sides.ends[depth - 1]
        size = sides.before[last] - sides.before[first]
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
            column = turn if turn < len(orders) else best  # once more at the end: its sides are what the rows are put on
            left = _try(quasi, fragment, orders, column, start, size, sides, first, middle)
            after = _loss_after(losses, sides, left, size)
            if after < least:
                best, least = column, after
        for column in range(len(orders)):
            _part(orders, column, start, size, sides, left)
        sides.ends[depth] = middle
        depth += 1
    return blocks


@once
def _try(
    quasi: Codes, fragment: Codes, orders: Codes, column: int, start: int, size: int, sides: _Sides, first: int, middle: int
) -> int:
    """Give the first rows of each fragment to the left, as many as the classes before the middle want; how many they are."""
    for place in range(len(sides.passed)):
        sides.passed[place] = 0
    for other in range(quasi.shape[1]):
        for side in range(2):
            sides.boxes[side, other].low, sides.boxes[side, other].high = ABOVE, BELOW
    lefts = 0
    for at in range(start, start + size):
        row = orders[column, at]
        place = fragment[row]
        side = 0 if sides.passed[place] < sides.upto[middle, place] - sides.upto[first, place] else 1
        sides.passed[place] += 1
        sides.right[row] = side == 1
        lefts += 1 - side
        for other in range(quasi.shape[1]):
            code, box = quasi[row, other], sides.boxes[side, other]
            if code < box.low:
                box.low = code
            if code > box.high:
                box.high = code
    return lefts


@once
def _loss_after(losses: LossTable, sides: _Sides, left: int, size: int) -> float:
    """What the boxes around both sides lose."""
    total = 0.0
    for side, rows in ((0, left), (1, size - left)):
        for column in range(sides.boxes.shape[1]):
            if rows > 0:
                total += rows * loss(losses, column, sides.boxes[side, column].low, sides.boxes[side, column].high)
    return total


@once
def _part(orders: Codes, column: int, start: int, size: int, sides: _Sides, left: int) -> None:
    """Put the rows of the left side first; rows of one side keep their order."""
    near, far = 0, left
    for place in range(start, start + size):
        row = orders[column, place]
        if sides.right[row]:
            sides.aside[far] = row
            far += 1
        else:
            sides.aside[near] = row
            near += 1
    for place in range(size):
        orders[column, start + place] = sides.aside[place]
