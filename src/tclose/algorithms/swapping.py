"""Swapping: two classes exchange a row each, so that less is lost while both keep the limits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.algorithms.checks import Scratch, holds, scratch_for
from tclose.algorithms.compiling import kernel, lean
from tclose.algorithms.limits import Codes, Limits
from tclose.algorithms.standing import Groups, Standing, gather, loss_without, put
from tclose.algorithms.widths import Losses, loss

TOGETHER = 64
"""So many classes make a group;"""
ROWS = 2000
"""fewer if they have more rows than that: each row looks at all others of its group."""
NEAR = 1e-9
"""A smaller gain may be a matter of rounding."""


class Room(NamedTuple):
    """What one thread works with."""

    rows: Codes
    """Rows of the group at hand,"""
    members: Codes
    """and of one class."""
    scratch: Scratch


def room_for(limits: Limits, rows: int) -> Room:
    """Room for one thread, for groups with so many rows."""
    return Room(np.empty(rows, dtype=np.int32), np.empty(rows + 1, dtype=np.int32), scratch_for(limits))


def together_to_swap(classes: Standing) -> int:
    """How many classes make a group."""
    most = ROWS * int(np.count_nonzero(classes.sizes)) // len(classes.labels)
    return max(2, min(TOGETHER, most))


@kernel
def swap_all(
    part: int,
    quasi: Codes,
    losses: Losses,
    limits: Limits,
    alike: Codes,
    classes: Standing,
    groups: Groups,
    rise: float,
    room: Room,
    cancel: NDArray[np.uint8],
) -> None:
    """Swap each row at the edge of its class with the best row of its group, if the loss rises by less than allowed.

    ``alike`` gives rows the same number that are the same to every limit.
    """
    rows = 0
    for number in groups.order[groups.starts[part] : groups.starts[part + 1]]:
        rows += gather(classes, number, -1, room.rows[rows:])
        _relieve(quasi, losses, classes, number)
    for row in room.rows[:rows]:
        if cancel[0]:
            return
        if classes.reliefs[row] <= NEAR:
            continue
        other = _best(quasi, losses, limits, alike, classes, row, room.rows[:rows], rise, room)
        if other >= 0:
            here, there = classes.labels[row], classes.labels[other]
            put(quasi, losses, classes, row, there)
            put(quasi, losses, classes, other, here)
            _relieve(quasi, losses, classes, here)
            _relieve(quasi, losses, classes, there)


@lean
def _relieve(quasi: Codes, losses: Losses, classes: Standing, number: int) -> None:
    """Find the reliefs of the rows of a class."""
    row = classes.heads[number]
    while row >= 0:
        less = classes.totals[number] - loss_without(quasi, losses, classes, number, row)
        classes.reliefs[row] = classes.sizes[number] * less
        row = classes.nexts[row]


@lean
def _best(
    quasi: Codes,
    losses: Losses,
    limits: Limits,
    alike: Codes,
    classes: Standing,
    row: int,
    rows: Codes,
    rise: float,
    room: Room,
) -> int:
    """The row to swap this one with; -1 where there is none."""
    here = classes.labels[row]
    size, relief = classes.sizes[here], classes.reliefs[row]
    best, most = -1, NEAR if rise == 0 else -rise
    for other in rows:
        there = classes.labels[other]
        if here == there or relief + classes.reliefs[other] <= most:
            continue
        # What the class at hand may lose with the other row, if that class gains as much as it can.
        enough = classes.totals[here] + (classes.reliefs[other] - most) / size
        gain = size * (classes.totals[here] - _loss_with(quasi, losses, classes, row, other, enough))
        enough = classes.totals[there] + (gain - most) / classes.sizes[there]
        gain += classes.sizes[there] * (classes.totals[there] - _loss_with(quasi, losses, classes, other, row, enough))
        if gain > most and abs(gain) > NEAR and _may_swap(limits, alike, classes, row, other, room):
            best, most = other, gain
    return best


@lean
def _loss_with(quasi: Codes, losses: Losses, classes: Standing, leaves: int, comes: int, enough: float) -> float:
    """What each row of a class would lose with another row in place of one of its own; infinite where that is above enough."""
    number = classes.labels[leaves]
    total = 0.0
    for column in range(quasi.shape[1]):
        code, new = quasi[leaves, column], quasi[comes, column]
        low, high = classes.lows[number, column], classes.highs[number, column]
        after_low = min(classes.next_lows[number, column] if code == low else low, new)
        after_high = max(classes.next_highs[number, column] if code == high else high, new)
        if after_low == low and after_high == high:
            total += classes.own[number, column]
        else:
            total += loss(losses, column, after_low, after_high)
        if total > enough:
            return np.inf
    return total


@lean
def _may_swap(limits: Limits, alike: Codes, classes: Standing, row: int, other: int, room: Room) -> bool:
    """Whether both classes keep the limits when these rows change places."""
    if alike[row] == alike[other]:
        return True
    return _keeps(limits, classes, row, other, room) and _keeps(limits, classes, other, row, room)


@lean
def _keeps(limits: Limits, classes: Standing, leaves: int, comes: int, room: Room) -> bool:
    """Whether a class keeps the limits with another row in place of one of its own."""
    size = gather(classes, classes.labels[leaves], leaves, room.members)
    room.members[size] = comes
    return holds(limits, limits.references, room.members[: size + 1], room.scratch)
