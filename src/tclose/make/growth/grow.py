"""Growing: classes in blocks take, row by row, the rows that bring them nearer to their limits at the least information loss."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.make.kernels.compiling import kernel, lean, once
from tclose.make.kernels.limits import Limits
from tclose.make.kernels.loss import Box, LossTable, box_for, clear_box, loss_with, widen
from tclose.make.kernels.running import run_parts
from tclose.make.kernels.satisfies import satisfies
from tclose.make.kernels.tallies import Tallies, add, excess_with, least_excess_with, reset, tallies_for
from tclose.make.models.base import NEAR
from tclose.make.models.closeness import least_t
from tclose.values.arrays import Bytes, Codes, Floats, Ints

LARGEST = 200
"""A class may always grow to this many rows, and to 4 k."""
PER_T = 6
"""A class may also grow to PER_T / t rows: the smaller t is, the more rows it takes to be close."""
MOST = 1000
"""For its t alone a class may not grow beyond this many rows."""
FAILURES = 8
"""A block is given up after this many failed classes in a row: a skewed rest would cost quadratic time."""

States = NDArray[np.uint64]


class GrowScratch(NamedTuple):
    """Memory for one thread: the class that grows, and the rows of its block that no class has."""

    box: Box
    tallies: Tallies
    members: Codes
    """The rows of the class."""
    indices: Ints
    """The index in ``rows`` of each member."""
    rows: Codes
    """The rows of the block that no class has."""
    bounds: Floats
    """For each of these rows a lower bound on the loss of the class with it, which never falls as a class grows; infinite for
    members."""


def grow_classes(quasi: Codes, losses: LossTable, limits: Limits, rows: Codes, starts: Ints, seed: int) -> Ints:
    """Return the class of each row, after classes that satisfy the limits have grown in each block.

    The rows of a block are shuffled. A class starts with the first row left. While it fails a limit it takes, of the rows that
    lower its excess (or keep it at 0), the one with which it loses least; ties: the first wins. If no row lowers the excess,
    those that raise it least are considered. A class that still fails a limit with as many rows as `_largest` allows is
    dissolved: its first row is left over, the others are free again.

    A block in which no class succeeds is tried once more, strictly: a row must lower the excess by at least half of what any
    row can. This helps if quasi-identifiers say much about sensitive values: then each similar row lowers the excess, but
    hardly.

    Parameters
    ----------
    rows, starts
        Block b has the rows ``rows[starts[b]:starts[b+1]]``.
    seed : int
        At least 0.

    Returns
    -------
    (rows,) int64
        Classes numbered from 0 without gaps, block after block; -1 for rows that are left over. The same for the same seed,
        on any machine.
    """
    local = limits._replace(  # the rows of a block are adjacent in memory
        codes=np.take(limits.codes, rows, axis=1),
        persons=limits.persons[rows] if len(limits.persons) else limits.persons,
        pairs=np.take(limits.pairs, rows, axis=1),
    )
    blocks, largest = len(starts) - 1, _largest(limits)
    states = np.maximum(np.random.SeedSequence(seed).generate_state(blocks, np.uint64), 1)  # of xorshift, never 0
    labels, classes = np.full(len(rows), -1, dtype=np.int64), np.zeros(blocks, dtype=np.int64)
    local_quasi, longest = np.take(quasi, rows, axis=0), int(np.diff(starts).max(initial=0))

    def scratch() -> GrowScratch:
        return grow_scratch(quasi.shape[1], local, largest, longest)

    for strict in (False, True):
        settings = (starts, states.copy(), largest, FAILURES, strict)
        run_parts(_grow_block, blocks, scratch, local_quasi, losses, local, *settings, labels, classes)
    found = np.full(len(quasi), -1, dtype=np.int64)
    before = np.repeat(np.cumsum(classes) - classes, np.diff(starts))
    found[rows] = np.where(labels < 0, -1, before + labels)
    return found


def _largest(limits: Limits) -> int:
    """Return how many rows a class may have before it is dissolved."""
    t = least_t(limits)
    return max(LARGEST, 4 * limits.k, min(MOST, int(PER_T / t) if t > 0 else MOST))


def grow_scratch(columns: int, limits: Limits, largest: int, longest: int) -> GrowScratch:
    """Return memory for classes of at most ``largest`` rows in blocks of at most ``longest``; ``columns`` quasi-identifiers."""
    return GrowScratch(
        box_for(columns),
        tallies_for(limits),
        np.empty(min(largest, longest), dtype=np.int32),
        np.empty(min(largest, longest), dtype=np.int64),
        np.empty(longest, dtype=np.int32),
        np.empty(longest, dtype=np.float64),
    )


@kernel
def _grow_block(
    block: int,
    quasi: Codes,
    losses: LossTable,
    limits: Limits,
    starts: Ints,
    states: States,
    largest: int,
    failures: int,
    strict: bool,
    labels: Ints,
    classes: Ints,
    scratch: GrowScratch,
    cancel: Bytes,
) -> None:
    """Grow classes from the rows of one block, and number them from 0. A block that has classes already is left as it is."""
    if classes[block] > 0:
        return
    left = starts[block + 1] - starts[block]
    for index in range(left):
        scratch.rows[index] = starts[block] + index
    _shuffle(scratch.rows[:left], states[block : block + 1])
    failed = 0
    while left > 0 and failed < failures:
        size, fine = grow_class(quasi, losses, limits, largest, strict, scratch, left, cancel)
        if cancel[0]:
            return
        if fine:
            for row in scratch.members[:size]:
                labels[row] = classes[block]
            classes[block] += 1
        failed = 0 if fine else failed + 1
        left = _remove(scratch.rows[:left], scratch.indices[: size if fine else 1])


@lean
def _shuffle(rows: Codes, state: States) -> None:
    """Shuffle rows at random (Fisher and Yates), with numbers from xorshift (Marsaglia 2003)."""
    for index in range(len(rows) - 1, 0, -1):
        state[0] ^= state[0] << np.uint64(13)
        state[0] ^= state[0] >> np.uint64(7)
        state[0] ^= state[0] << np.uint64(17)
        other = np.int64(state[0] % np.uint64(index + 1))
        rows[index], rows[other] = rows[other], rows[index]


@lean
def _remove(rows: Codes, indices: Ints) -> int:
    """Remove the rows at some indices, close the gaps, and return how many rows are left."""
    for index in indices:
        rows[index] = -1
    kept = 0
    for row in rows:
        rows[kept] = row
        kept += row >= 0
    return kept


@once
def grow_class(
    quasi: Codes,
    losses: LossTable,
    limits: Limits,
    largest: int,
    strict: bool,
    scratch: GrowScratch,
    left: int,
    cancel: Bytes,
) -> tuple[int, bool]:
    """Grow one class from the first of the ``left`` rows; return its number of rows, and whether it satisfies the limits."""
    clear_box(scratch.box)
    for index in range(left):
        scratch.bounds[index] = 0.0
    size: Any = np.int64(0)  # for a Python literal all parts would be compiled once more
    index, fine = 0, False
    while index >= 0 and cancel[0] == 0:
        row = scratch.rows[index]
        now = excess_with(limits, scratch.tallies, size, row)
        add(limits, scratch.tallies, row)
        widen(quasi[row], losses, scratch.box)
        scratch.bounds[index] = np.inf
        scratch.members[size], scratch.indices[size] = row, index
        size += 1
        # With an excess a class does not satisfy the limits, and the exact check is not cheap.
        fine = now <= NEAR and satisfies(limits, limits.references, scratch.members[:size], scratch.tallies.scratch)
        if fine or size == min(largest, left):
            break
        index = _next(quasi, losses, limits, strict, scratch, left, size, now, cancel)
    reset(limits, scratch.tallies, scratch.members[:size])
    return size, fine


@once
def _next(
    quasi: Codes,
    losses: LossTable,
    limits: Limits,
    strict: bool,
    scratch: GrowScratch,
    left: int,
    size: int,
    now: float,
    cancel: Bytes,
) -> int:
    """Return the index of the row to take next; -1 if there is none, or on cancellation. ``now`` is the excess of the class."""
    if not strict:
        index = _cheapest(quasi, losses, limits, scratch, left, size, now - NEAR if now > NEAR else NEAR, cancel)
        if index >= 0 or cancel[0]:
            return index
    lowest = np.inf
    for other in range(left):
        if scratch.bounds[other] == np.inf or least_excess_with(limits, scratch.tallies, scratch.rows[other]) >= lowest:
            continue
        if cancel[0]:
            return -1
        lowest = min(lowest, excess_with(limits, scratch.tallies, size, scratch.rows[other]))
    most = max(lowest, (lowest + now) / 2) if strict else lowest
    return _cheapest(quasi, losses, limits, scratch, left, size, most + NEAR, cancel)


@lean
def _cheapest(
    quasi: Codes, losses: LossTable, limits: Limits, scratch: GrowScratch, left: int, size: int, most: float, cancel: Bytes
) -> int:
    """Return the index of the row with which the class loses least among those that leave it at most this excess; -1 without one.

    Cheap tests come first: the excess with a row is computed only for a row that would be the best so far.
    """
    best, least = -1, np.inf
    for index in range(left):
        if scratch.bounds[index] >= least:
            continue
        row = scratch.rows[index]
        if least_excess_with(limits, scratch.tallies, row) > most:
            continue
        scratch.bounds[index] = loss_with(quasi[row], losses, scratch.box, least)
        if scratch.bounds[index] >= least:
            continue
        if cancel[0]:
            return -1
        if excess_with(limits, scratch.tallies, size, row) <= most:
            best, least = index, scratch.bounds[index]
    return best
