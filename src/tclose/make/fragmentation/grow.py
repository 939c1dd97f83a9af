"""Growing: classes take, one after the other, the rows of each fragment that widen them least."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tclose.make.fragmentation.blocks import ClassBlocks
from tclose.make.kernels.compiling import kernel, once
from tclose.make.kernels.loss import Box, LossTable, box_for, clear_box, loss_with, widen
from tclose.make.kernels.running import run_parts
from tclose.values.arrays import Bytes, Codes, Floats, Ints


class _FillScratch(NamedTuple):
    """Memory for one thread: the class that grows, and the rows that no class has."""

    box: Box
    needs: Ints
    """(fragments,): how many rows of each fragment the class still needs."""
    rows: Codes
    """The rows that no class had before this one; -1 for those that it has taken."""
    bounds: Floats
    """For each of these rows a lower bound on the loss of the class with it, which never falls as a class grows."""


def grow(quasi: Codes, losses: LossTable, fragment: Codes, wanted: Ints, blocks: ClassBlocks) -> Ints:
    """Return the class of each row, after the classes of each block were filled with the block's rows.

    A class starts with the first row left. Then it takes, among the rows of the fragments that it still needs, the one with
    which it loses least, until it needs no more; ties: the first wins.
    """
    rows, columns = quasi.shape
    labels = np.empty(rows, dtype=np.int64)
    longest = int(np.diff(blocks.starts).max(initial=0))

    def scratch() -> _FillScratch:
        return _FillScratch(
            box_for(columns),
            np.empty(wanted.shape[1], dtype=np.int64),
            np.empty(longest, dtype=np.int32),
            np.empty(longest, dtype=np.float64),
        )

    run_parts(_fill_block, len(blocks.starts) - 1, scratch, quasi, losses, fragment, wanted, blocks, labels)
    return labels


@kernel
def _fill_block(
    block: int,
    quasi: Codes,
    losses: LossTable,
    fragment: Codes,
    wanted: Ints,
    blocks: ClassBlocks,
    labels: Ints,
    scratch: _FillScratch,
    cancel: Bytes,
) -> None:
    """Fill the classes of one block with its rows, and write the class of each row to ``labels``."""
    start, left = blocks.starts[block], blocks.starts[block + 1] - blocks.starts[block]
    first, last = blocks.classes[block], blocks.classes[block + 1]
    for index in range(left):
        scratch.rows[index] = blocks.rows[start + index]
    if last == first + 1:  # the class takes all rows, however many there are
        for row in scratch.rows[:left]:
            labels[row] = first
        return
    for number in range(first, last):
        left = _fill_class(quasi, losses, fragment, wanted[number], scratch, left, labels, number, cancel)
        if cancel[0]:
            return


@once
def _fill_class(
    quasi: Codes,
    losses: LossTable,
    fragment: Codes,
    wanted: Ints,
    scratch: _FillScratch,
    left: int,
    labels: Ints,
    number: int,
    cancel: Bytes,
) -> int:
    """Fill one class with the rows of fragments that widen it least, and return the number of rows left for others."""
    missing = 0
    for index in range(len(wanted)):
        scratch.needs[index] = wanted[index]
        missing += wanted[index]
    clear_box(scratch.box)
    for index in range(left):
        scratch.bounds[index] = 0.0
    while missing > 0 and cancel[0] == 0:
        index = _least_widening_row(quasi, losses, fragment, scratch, left)
        row = scratch.rows[index]
        scratch.rows[index] = -1
        scratch.bounds[index] = np.inf
        scratch.needs[fragment[row]] -= 1
        missing -= 1
        labels[row] = number
        widen(quasi[row], losses, scratch.box)
    kept = 0
    for index in range(left):
        if scratch.rows[index] >= 0:
            scratch.rows[kept] = scratch.rows[index]
            kept += 1
    return kept


@once
def _least_widening_row(quasi: Codes, losses: LossTable, fragment: Codes, scratch: _FillScratch, left: int) -> int:
    """Return the index of the row with which the class loses least; for an empty class, of the first row that it needs."""
    best, least = -1, np.inf
    for index in range(left):
        if scratch.bounds[index] >= least or scratch.rows[index] < 0 or scratch.needs[fragment[scratch.rows[index]]] == 0:
            continue
        if scratch.box[0].low < 0:
            return index
        scratch.bounds[index] = loss_with(quasi[scratch.rows[index]], losses, scratch.box, least)
        if scratch.bounds[index] < least:
            best, least = index, scratch.bounds[index]
    return best
