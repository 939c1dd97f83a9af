"""Splitting: a class is cut in two along a quasi-identifier, if both sides keep the limits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.algorithms.blocks import ABOVE, BELOW
from tclose.algorithms.checks import Scratch, holds, scratch_for
from tclose.algorithms.compiling import kernel, lean
from tclose.algorithms.limits import Codes, Ints, Limits
from tclose.algorithms.sorting import sort
from tclose.algorithms.standing import Groups, Standing, gather, put
from tclose.algorithms.widths import Floats, Losses, loss

NEAR = 1e-9
"""A smaller gain may be a matter of rounding."""
STEPS = 64
"""So many places, at most, are tried along one quasi-identifier."""


class Room(NamedTuple):
    """What one thread works with."""

    members: Codes
    """The rows of one class,"""
    side: Codes
    """those on one side of a cut,"""
    keys: Ints
    """and their codes on one quasi-identifier, each with the place of its row, in order."""
    lefts: Floats
    """What a row on the left of each place loses."""
    low: Codes
    """(quasi,): the box of one side."""
    high: Codes
    scratch: Scratch


def room_for(limits: Limits, columns: int, rows: int) -> Room:
    """Room for one thread, for classes with so many rows."""
    members, side = np.empty(rows, dtype=np.int32), np.empty(rows, dtype=np.int32)
    low, high = np.empty(columns, dtype=np.int32), np.empty(columns, dtype=np.int32)
    return Room(members, side, np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.float64), low, high, scratch_for(limits))


@kernel
def split_all(
    part: int,
    quasi: Codes,
    losses: Losses,
    limits: Limits,
    classes: Standing,
    groups: Groups,
    room: Room,
    cancel: NDArray[np.uint8],
) -> None:
    """Split the classes of one group, as long as there are numbers for new ones."""
    spare, end = groups.spare_starts[part], groups.spare_starts[part + 1]
    for number in groups.order[groups.starts[part] : groups.starts[part + 1]]:
        while spare < end and cancel[0] == 0 and _split(quasi, losses, limits, classes, number, groups.spares[spare], room):
            spare += 1


@lean
def _split(quasi: Codes, losses: Losses, limits: Limits, classes: Standing, number: int, new: int, room: Room) -> bool:
    """Cut one class where that makes the loss least; whether it could be cut."""
    size = classes.sizes[number]
    if size < 2 * limits.k:
        return False
    gather(classes, number, -1, room.members)
    column, cut, most = -1, ABOVE, NEAR
    for tried in range(quasi.shape[1]):
        if classes.lows[number, tried] == classes.highs[number, tried]:
            continue
        _order(quasi, losses, tried, size, room)
        _start(room)
        last = size
        for place in range(size - 1, limits.k - 1, -1):
            after = _widen(quasi, losses, room.members[room.keys[place] & 0xFFFFFFFF], room)
            code, before = room.keys[place] >> 32, room.keys[place - 1] >> 32
            if code == before or size - place < limits.k or last - place < size // STEPS:
                continue
            gain = size * classes.totals[number] - place * room.lefts[place] - (size - place) * after
            if gain > most:
                last = place
                if _sides_hold(limits, size, place, room):
                    column, cut, most = tried, before, gain
    if column < 0:
        return False
    for row in room.members[:size]:
        if quasi[row, column] > cut:
            put(quasi, losses, classes, row, new)
    return True


@lean
def _order(quasi: Codes, losses: Losses, column: int, size: int, room: Room) -> None:
    """Put the rows of a class in the order of their codes, and find what those on the left of each place lose."""
    for place in range(size):
        room.keys[place] = (np.int64(quasi[room.members[place], column]) << 32) + place
    sort(room.keys[:size])
    _start(room)
    lost = 0.0
    for place in range(size):
        room.lefts[place] = lost
        lost = _widen(quasi, losses, room.members[room.keys[place] & 0xFFFFFFFF], room)


@lean
def _start(room: Room) -> None:
    """An empty box."""
    for column in range(len(room.low)):
        room.low[column], room.high[column] = ABOVE, BELOW


@lean
def _widen(quasi: Codes, losses: Losses, row: int, room: Room) -> float:
    """Take a row into the box; what each row in it loses."""
    total = 0.0
    for column in range(len(room.low)):
        room.low[column] = min(room.low[column], quasi[row, column])
        room.high[column] = max(room.high[column], quasi[row, column])
        total += loss(losses, column, room.low[column], room.high[column])
    return total


@lean
def _sides_hold(limits: Limits, size: int, left: int, room: Room) -> bool:
    """Whether both sides of a cut keep the limits."""
    for place in range(size):
        room.side[place] = room.members[room.keys[place] & 0xFFFFFFFF]
    return holds(limits, limits.references, room.side[:left], room.scratch) and holds(
        limits, limits.references, room.side[left:size], room.scratch
    )
