"""Moving: rows go to other classes, and classes are given up, so that less is lost while every class keeps the limits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tclose.make.fragmentation.blocks import BELOW
from tclose.make.growth.neighbourhood import improve
from tclose.make.growth.rooms import JOINS, LEAVES, NEAR, Room, count, enter, forget, may_change
from tclose.make.kernels.classes import Given, Groups, Standing, gather, loss_without, put
from tclose.make.kernels.compiling import kernel, lean, once
from tclose.make.kernels.limits import Ints
from tclose.make.kernels.loss import loss

TOGETHER = 128
"""So many classes make a group: a row looks for a better class among those of its group."""

ABANDONED = 200
"""Classes with more rows are not given up: that they could be is unlikely, and to find out takes long."""


def move(given: Given, stand: Standing, groups: Groups, rise: float) -> None:
    """Move each row to the best class of its group, if the loss rises by less than that; then give up classes."""
    improve(_move_rows, given, stand, groups, rise, False)


def place(given: Given, stand: Standing, groups: Groups) -> None:
    """Put each row that is left over into the class of its group that loses least by it and keeps the limits."""
    improve(_move_rows, given, stand, groups, 0.0, True)


@kernel
def _move_rows(
    part: int, given: Given, stand: Standing, groups: Groups, rise: float, placing: bool, room: Room, cancel: NDArray[np.uint8]
) -> None:
    """See `move`. Rows that are left over go at any loss; while placing, no other row moves, and no class is given up."""
    group = groups.order[groups.starts[part] : groups.starts[part + 1]]
    rows = enter(given, stand, group, room)
    for row in room.rows[:rows]:
        if cancel[0]:
            return
        target = _best(given, stand, group, row, rise, placing, room)
        if target >= 0:
            _move(given, stand, row, target, room)
    for number in group:
        if placing or cancel[0]:
            return
        _give_up(given, stand, group, number, room)


@once
def _best(given: Given, stand: Standing, group: Ints, row: int, rise: float, placing: bool, room: Room) -> int:
    """The class to which this row goes; -1 where it stays."""
    number, enough = stand.rows[row].label, np.inf
    here = stand.classes[number]
    if here.waiting == 0:
        least = NEAR if rise == 0 else -rise
        enough = here.size * here.total - (here.size - 1) * loss_without(given, stand, row) - least
        if placing or enough <= 0 or not may_change(given, stand, number, row, LEAVES, room):
            return -1
    return _cheapest(given, stand, group, row, enough, room)


@lean
def _cheapest(given: Given, stand: Standing, group: Ints, row: int, enough: float, room: Room) -> int:
    """The other class that loses least by taking a row, less than enough, and keeps the limits; -1 where none does."""
    best, here = -1, stand.rows[row].label
    for there in group:
        if stand.classes[there].waiting == 1:  # rows that are left over take none, and come last
            break
        more = _rise_with(given, stand, there, row, enough)
        if more < enough and there != here and may_change(given, stand, there, row, JOINS, room):
            best, enough = there, more
    return best


@lean
def _rise_with(given: Given, stand: Standing, number: int, row: int, enough: float) -> float:
    """How much more a class loses with one row more; infinite where that is above enough, or it has no row."""
    there = stand.classes[number]
    if there.size == 0 or there.total > enough:  # each row loses as much as before, or more
        return np.inf
    most = (enough + there.size * there.total) / (there.size + 1)
    after = 0.0
    for column in range(given.quasi.shape[1]):
        code, edge = given.quasi[row, column], stand.edges[number, column]
        if edge.low <= code <= edge.high:
            after += edge.loss
        else:
            after += loss(given.losses, column, min(edge.low, code), max(edge.high, code))
        if after > most:
            return np.inf
    rise: float = (there.size + 1) * after - there.size * there.total
    return rise


@once
def _give_up(given: Given, stand: Standing, group: Ints, number: int, room: Room) -> None:
    """Give all rows of a class to others, each to the one that loses least by it, if less is lost then; else leave it."""
    if stand.classes[number].size > ABANDONED:
        return
    size = gather(stand, number, BELOW, room.rows)
    left = size * stand.classes[number].total - NEAR
    for place in range(size):
        row = room.rows[place]
        before = left
        target = _cheapest(given, stand, group, row, left, room)
        if target < 0:
            for back in room.rows[:place]:
                _move(given, stand, back, number, room)
            return
        left = before - _rise_with(given, stand, target, row, before)
        _move(given, stand, row, target, room)


@lean
def _move(given: Given, stand: Standing, row: int, target: int, room: Room) -> None:
    """Put a row into another class; what was known of both is out of date."""
    here = stand.rows[row].label
    put(given, stand, row, target)
    forget(stand, here, room)
    forget(stand, target, room)
    if room.tallies.shape[1] > 0:
        count(given.limits, room.tallies[stand.classes[here].place], row, LEAVES)
        count(given.limits, room.tallies[stand.classes[target].place], row, JOINS)
