"""Growing: classes that take, one after the other, the rows that widen them least."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tclose.make.fragmentation.blocks import Blocks
from tclose.make.kernels.compiling import kernel, once
from tclose.make.kernels.loss import Box, LossTable, box_for, clear_box, loss_with, widen
from tclose.make.kernels.running import run
from tclose.values.arrays import Bytes, Codes, Floats, Ints


class _Growth(NamedTuple):
    """A class that grows, and the rows that are left for it."""

    box: Box
    needs: Ints
    """(fragments,): how many rows of each fragment it still wants."""
    rows: Codes
    """Rows that no class has, and some taken by this one: -1."""
    bounds: Floats
    """For each row what the class would lose with it, at least: a class does not lose less when it grows."""


def grow(quasi: Codes, losses: LossTable, fragment: Codes, wanted: Ints, blocks: Blocks) -> Ints:
    """Fill the classes of each block with its rows; the class of each row.

    A class starts with the first row left, and takes again and again, among the fragments of which it still wants rows, the one
    with which it loses least; of equals the first.
    """
    rows, columns = quasi.shape
    labels = np.empty(rows, dtype=np.int64)
    room = int(np.diff(blocks.starts).max(initial=0))
    growth = _Growth(
        box_for(columns),
        np.empty(wanted.shape[1], dtype=np.int64),
        np.empty(room, dtype=np.int32),
        np.empty(room, dtype=np.float64),
    )
    run(_grow_all, quasi, losses, fragment, wanted, blocks, growth, labels)
    return labels


@kernel
def _grow_all(
    quasi: Codes,
    losses: LossTable,
    fragment: Codes,
    wanted: Ints,
    blocks: Blocks,
    growth: _Growth,
    labels: Ints,
    cancel: Bytes,
) -> None:
    for block in range(len(blocks.starts) - 1):
        start, left = blocks.starts[block], blocks.starts[block + 1] - blocks.starts[block]
        first, last = blocks.classes[block], blocks.classes[block + 1]
        for place in range(left):
            growth.rows[place] = blocks.rows[start + place]
        if last == first + 1:  # any number of rows, all for one class
            for row in growth.rows[:left]:
                labels[row] = first
            continue
        for number in range(first, last):
            left = _fill(quasi, losses, fragment, wanted[number], growth, left, labels, number, cancel)
            if cancel[0]:
                return


@once
def _fill(
    quasi: Codes,
    losses: LossTable,
    fragment: Codes,
    wanted: Ints,
    growth: _Growth,
    left: int,
    labels: Ints,
    number: int,
    cancel: Bytes,
) -> int:
    """Fill one class; how many rows are left for others."""
    missing = 0
    for place in range(len(wanted)):
        growth.needs[place] = wanted[place]
        missing += wanted[place]
    clear_box(growth.box)
    for place in range(left):
        growth.bounds[place] = 0.0
    while missing > 0 and cancel[0] == 0:
        place = _least(quasi, losses, fragment, growth, left)
        row = growth.rows[place]
        growth.rows[place] = -1
        growth.bounds[place] = np.inf
        growth.needs[fragment[row]] -= 1
        missing -= 1
        labels[row] = number
        widen(quasi[row], losses, growth.box)
    kept = 0
    for place in range(left):
        if growth.rows[place] >= 0:
            growth.rows[kept] = growth.rows[place]
            kept += 1
    return kept


@once
def _least(quasi: Codes, losses: LossTable, fragment: Codes, growth: _Growth, left: int) -> int:
    """The place of the row with which the class loses least; without a row yet, of the first that it wants."""
    best, least = -1, np.inf
    for place in range(left):
        if growth.bounds[place] >= least or growth.rows[place] < 0 or growth.needs[fragment[growth.rows[place]]] == 0:
            continue
        if growth.box[0].low < 0:
            return place
        growth.bounds[place] = loss_with(quasi[growth.rows[place]], losses, growth.box, least)
        if growth.bounds[place] < least:
            best, least = place, growth.bounds[place]
    return best
