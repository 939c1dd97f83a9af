"""Splitting: a class is cut in two along a quasi-identifier, if both sides keep the limits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tclose.make.fragmentation.blocks import ABOVE, BELOW
from tclose.make.growth.neighbourhood import improve
from tclose.make.growth.rooms import NEAR, Room
from tclose.make.kernels.boxes import empty, loss_of, widen
from tclose.make.kernels.classes import Given, Groups, Standing, gather, put
from tclose.make.kernels.compiling import kernel, once
from tclose.make.kernels.satisfies import holds
from tclose.make.kernels.sorting import sort

STEPS = 64
"""So many places, at most, are tried along one quasi-identifier."""
PLACE = 2**32 - 1
"""The half of a key that holds the place of a row; the other half holds its code."""


def split(given: Given, stand: Standing, groups: Groups) -> None:
    """Split classes, as long as their group has numbers for new ones."""
    improve(_split_classes, given, stand, groups)


@kernel
def _split_classes(part: int, given: Given, stand: Standing, groups: Groups, room: Room, cancel: NDArray[np.uint8]) -> None:
    """See `split`."""
    group = groups.order[groups.starts[part] : groups.starts[part + 1]]
    spares = groups.spares[groups.spare_starts[part] : groups.spare_starts[part + 1]]
    used = 0
    for number in group:
        while used < len(spares) and cancel[0] == 0 and _split(given, stand, number, spares[used], room):
            used += 1


@once
def _split(given: Given, stand: Standing, number: int, new: int, room: Room) -> bool:
    """Cut one class where that makes the loss least; whether it could be cut."""
    k, one = given.limits.k, stand.classes[number]
    if one.size < 2 * k:
        return False
    size = gather(stand, number, BELOW, room.members)
    column, cut, most = -1, ABOVE, NEAR
    for tried in range(given.quasi.shape[1]):
        if stand.edges[number, tried].low == stand.edges[number, tried].high:
            continue
        _order(given, tried, size, room)
        empty(room.box)
        last = size
        for place in range(size - 1, k - 1, -1):
            widen(given.quasi[room.members[room.keys[place] & PLACE]], given.losses, room.box)
            code, before = room.keys[place] >> 32, room.keys[place - 1] >> 32
            if code == before or size - place < k or last - place < size // STEPS:
                continue
            gain = size * one.total - place * room.lefts[place] - (size - place) * loss_of(room.box)
            if gain > most:
                last = place
                if _sides_hold(given, size, place, room):
                    column, cut, most = tried, before, gain
    if column < 0:
        return False
    for row in room.members[:size]:
        if given.quasi[row, column] > cut:
            put(given, stand, row, new)
    return True


@once
def _order(given: Given, column: int, size: int, room: Room) -> None:
    """Put the rows of a class in the order of their codes, and find what those on the left of each place lose."""
    for place in range(size):
        room.keys[place] = (np.int64(given.quasi[room.members[place], column]) << 32) + place
    sort(room.keys[:size])
    empty(room.box)
    for place in range(size):
        room.lefts[place] = loss_of(room.box) if place > 0 else 0.0
        widen(given.quasi[room.members[room.keys[place] & PLACE]], given.losses, room.box)


@once
def _sides_hold(given: Given, size: int, left: int, room: Room) -> bool:
    """Whether both sides of a cut keep the limits."""
    for start, end in ((0, left), (left, size)):
        for place in range(start, end):
            room.side[place - start] = room.members[room.keys[place] & PLACE]
        if not holds(given.limits, given.limits.references, room.side[: end - start], room.scratch):
            return False
    return True
