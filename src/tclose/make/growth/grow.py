"""Sprouting: classes that grow in blocks, by the rows that bring them nearer to their limits at the least loss."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.make.kernels.compiling import kernel, lean, once
from tclose.make.kernels.limits import NEAR, UNLIMITED, Codes, Ints, Limits
from tclose.make.kernels.loss import Box, Floats, LossTable, box_for, clear_box, loss_with, widen
from tclose.make.kernels.running import run_parts
from tclose.make.kernels.satisfies import satisfies
from tclose.make.kernels.tallies import Tallies, drop_all, excess_with, known_with, take, tallies_for

LARGEST = 200
"""So many rows, and 4 k at least, may be tried for one class;"""
PER_T = 6
"""and 6/t, for the closer a class must be, the more rows it takes,"""
MOST = 1000
"""but not more than that for t alone."""
FAILURES = 8
"""After so many classes in a row that came to nothing a block ends: a skewed rest would cost quadratic time."""

States = NDArray[np.uint64]


class GrowScratch(NamedTuple):
    """What one thread works with: a class that grows, and the rows that are left for it."""

    box: Box
    tallies: Tallies
    members: Codes
    """The rows of the class,"""
    places: Ints
    """and where they are among the rows left."""
    rows: Codes
    """Rows of the block that no class has."""
    bounds: Floats
    """For each what the class would lose with it, at least: a class does not lose less when it grows. Infinite for members."""


def grow_classes(quasi: Codes, losses: LossTable, limits: Limits, rows: Codes, starts: Ints, seed: int) -> Ints:
    """Grow classes that keep the limits in each block; the class of each row.

    A class starts with the first row left, by lot, and while it breaks a limit takes, of the rows left in its block that make
    its excess lower (or keep it at 0), the one with which it loses least; of equals the first. Where no row does, those that
    raise the excess least may come instead. A class that still breaks a limit with so many rows as `_largest` allows gives them
    back: its first row is left over.

    A block in which no class comes to anything is tried once more, strictly: a row must lower the excess by half, at least, of
    what some row can. So it goes where quasi-identifiers say much about sensitive values: each row nearby helps, but hardly.

    Parameters
    ----------
    rows, starts
        Block b holds ``rows[starts[b]:starts[b+1]]``.
    seed : int
        From 0 on.

    Returns
    -------
    (rows,) int64
        Classes numbered from 0 without gaps, block after block; -1 for rows that are left over. The same for the same seed,
        on any machine.
    """
    near = limits._replace(  # the rows of a block side by side, in memory too
        codes=np.take(limits.codes, rows, axis=1),
        persons=limits.persons[rows] if len(limits.persons) else limits.persons,
        pairs=np.take(limits.pairs, rows, axis=1),
    )
    blocks, largest = len(starts) - 1, _largest(limits)
    states = np.maximum(np.random.SeedSequence(seed).generate_state(blocks, np.uint64), 1)  # of xorshift, never 0
    labels, classes = np.full(len(rows), -1, dtype=np.int64), np.zeros(blocks, dtype=np.int64)
    gathered, longest = np.take(quasi, rows, axis=0), int(np.diff(starts).max(initial=0))

    def scratch() -> GrowScratch:
        return grow_scratch(quasi.shape[1], near, largest, longest)

    for strict in (False, True):
        lots = states.copy()
        run_parts(_grow_block, blocks, scratch, gathered, losses, near, starts, lots, largest, FAILURES, strict, labels, classes)
    found = np.full(len(quasi), -1, dtype=np.int64)
    before = np.repeat(np.cumsum(classes) - classes, np.diff(starts))
    found[rows] = np.where(labels < 0, -1, before + labels)
    return found


def _largest(limits: Limits) -> int:
    """How many rows may be tried for one class."""
    bound = limits.attributes[limits.attributes["kind"] != UNLIMITED]
    t = (bound["t_above"] / bound["t_below"]).min(initial=1.0)
    return max(LARGEST, 4 * limits.k, min(MOST, int(PER_T / t) if t > 0 else MOST))


def grow_scratch(columns: int, limits: Limits, largest: int, longest: int) -> GrowScratch:
    """Room for classes of so many rows at most, over so many quasi-identifiers, and for blocks of so many rows."""
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
    cancel: NDArray[np.uint8],
) -> None:
    """Grow classes from the rows of one block, if it has none, and number them from 0."""
    if classes[block] > 0:
        return
    left = starts[block + 1] - starts[block]
    for place in range(left):
        scratch.rows[place] = starts[block] + place
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
        left = _without(scratch.rows[:left], scratch.places[: size if fine else 1])


@lean
def _shuffle(rows: Codes, state: States) -> None:
    """Put rows in an order by lot (Fisher and Yates), with the numbers of xorshift (Marsaglia 2003)."""
    for place in range(len(rows) - 1, 0, -1):
        state[0] ^= state[0] << np.uint64(13)
        state[0] ^= state[0] >> np.uint64(7)
        state[0] ^= state[0] << np.uint64(17)
        other = np.int64(state[0] % np.uint64(place + 1))
        rows[place], rows[other] = rows[other], rows[place]


@lean
def _without(rows: Codes, places: Ints) -> int:
    """Take out the rows at some places and close the gaps; how many are left."""
    for place in places:
        rows[place] = -1
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
    cancel: NDArray[np.uint8],
) -> tuple[int, bool]:
    """Grow one class from the first row left; how many rows it has, and whether it keeps the limits."""
    clear_box(scratch.box)
    for place in range(left):
        scratch.bounds[place] = 0.0
    size: Any = np.int64(0)  # a literal would be one type more to compile for
    place, fine = 0, False
    while place >= 0 and cancel[0] == 0:
        row = scratch.rows[place]
        now = excess_with(limits, scratch.tallies, size, row)
        take(limits, scratch.tallies, row)
        widen(quasi[row], losses, scratch.box)
        scratch.bounds[place] = np.inf
        scratch.members[size], scratch.places[size] = row, place
        size += 1
        # What has an excess does not hold; to ask is not cheap.
        fine = now <= NEAR and satisfies(limits, limits.references, scratch.members[:size], scratch.tallies.scratch)
        if fine or size == min(largest, left):
            break
        place = _next(quasi, losses, limits, strict, scratch, left, size, now, cancel)
    drop_all(limits, scratch.tallies, scratch.members[:size])
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
    cancel: NDArray[np.uint8],
) -> int:
    """The place of the row to take next; -1 where there is none, or no time."""
    if not strict:
        place = _cheapest(quasi, losses, limits, scratch, left, size, now - NEAR if now > NEAR else NEAR, cancel)
        if place >= 0 or cancel[0]:
            return place
    lowest = np.inf
    for other in range(left):
        if scratch.bounds[other] == np.inf or known_with(limits, scratch.tallies, scratch.rows[other]) >= lowest:
            continue
        if cancel[0]:
            return -1
        lowest = min(lowest, excess_with(limits, scratch.tallies, size, scratch.rows[other]))
    most = max(lowest, (lowest + now) / 2) if strict else lowest
    return _cheapest(quasi, losses, limits, scratch, left, size, most + NEAR, cancel)


@lean
def _cheapest(
    quasi: Codes,
    losses: LossTable,
    limits: Limits,
    scratch: GrowScratch,
    left: int,
    size: int,
    most: float,
    cancel: NDArray[np.uint8],
) -> int:
    """The place of the row with which the class loses least, of those with which it has at most this excess; -1 without one.

    What is cheap to know comes first: the excess of a value is found only for a row that would be the best so far.
    """
    best, least = -1, np.inf
    for place in range(left):
        if scratch.bounds[place] >= least:
            continue
        row = scratch.rows[place]
        if known_with(limits, scratch.tallies, row) > most:
            continue
        scratch.bounds[place] = loss_with(quasi[row], losses, scratch.box, least)
        if scratch.bounds[place] >= least:
            continue
        if cancel[0]:
            return -1
        if excess_with(limits, scratch.tallies, size, row) <= most:
            best, least = place, scratch.bounds[place]
    return best
