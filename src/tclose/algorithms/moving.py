"""Moving: rows go to other classes, and classes are given up, so that less is lost while every class keeps the limits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tclose.algorithms.blocks import BELOW
from tclose.algorithms.compiling import lean, once
from tclose.algorithms.limits import Ints
from tclose.algorithms.rooms import NEAR, NO, UNKNOWN, YES, Room, count, enter, forget, may_change
from tclose.algorithms.standing import Given, Standing, gather, loss_without, put
from tclose.algorithms.widths import loss

TOGETHER = 128
"""So many classes make a group: a row looks for a better class among those of its group."""

ABANDONED = 200
"""Classes with more rows are not given up: that they could be is unlikely, and to find out takes long."""


@once
def move_rows(given: Given, stand: Standing, group: Ints, rise: float, room: Room, cancel: NDArray[np.uint8]) -> None:
    """Move each row of a group to its best class, if the loss rises by less than allowed; then give up classes."""
    rows = enter(given, stand, group, room)
    for row in room.rows[:rows]:
        if cancel[0]:
            return
        target = _best(given, stand, group, row, rise, room)
        if target >= 0:
            _move(given, stand, row, target, room)
    for number in group:
        if cancel[0]:
            return
        _give_up(given, stand, group, number, room)


@once
def place_rows(given: Given, stand: Standing, group: Ints, room: Room, cancel: NDArray[np.uint8]) -> None:
    """Put each row of a group that is left over into the class that loses least by it and keeps the limits."""
    enter(given, stand, group, room)
    for number in group:
        if cancel[0]:
            return
        if stand.classes[number].waiting == 1:
            row = stand.classes[number].head
            target = _cheapest(given, stand, group, row, np.inf, room)
            if target >= 0:
                _move(given, stand, row, target, room)


@once
def _best(given: Given, stand: Standing, group: Ints, row: int, rise: float, room: Room) -> int:
    """The class to which this row goes; -1 where it stays."""
    here = stand.classes[stand.rows[row].label]
    least = NEAR if rise == 0 else -rise
    gain = here.size * here.total - (here.size - 1) * loss_without(given, stand, row)
    if gain <= least or not _may_leave(given, stand, row, room):
        return -1
    return _cheapest(given, stand, group, row, gain - least, room)


@lean
def _cheapest(given: Given, stand: Standing, group: Ints, row: int, enough: float, room: Room) -> int:
    """The other class that loses least by taking a row, less than enough, and keeps the limits; -1 where none does."""
    best, here = -1, stand.rows[row].label
    for there in group:
        more = _rise_with(given, stand, there, row, enough)
        if more < enough and there != here and _may_join(given, stand, there, row, room):
            best, enough = there, more
    return best


@lean
def _may_leave(given: Given, stand: Standing, row: int, room: Room) -> bool:
    """Whether the class of a row keeps the limits without it."""
    here = stand.rows[row].label
    place, kind = stand.classes[here].place, given.alike[row]
    if room.leaves.shape[1] > 0 and room.leaves[place, kind] != UNKNOWN:
        return bool(room.leaves[place, kind] == YES)
    answer = may_change(given, stand, here, row, -1, room)
    if room.leaves.shape[1] > 0:
        room.leaves[place, kind] = YES if answer else NO
    return answer


@lean
def _may_join(given: Given, stand: Standing, number: int, row: int, room: Room) -> bool:
    """Whether a class keeps the limits with one row more."""
    place, kind = stand.classes[number].place, given.alike[row]
    if room.joins.shape[1] > 0 and room.joins[place, kind] != UNKNOWN:
        return bool(room.joins[place, kind] == YES)
    answer = may_change(given, stand, number, row, 1, room)
    if room.joins.shape[1] > 0:
        room.joins[place, kind] = YES if answer else NO
    return answer


@lean
def _rise_with(given: Given, stand: Standing, number: int, row: int, enough: float) -> float:
    """How much more a class loses with one row more; infinite where that is above enough, or it can take none."""
    there = stand.classes[number]
    if there.size == 0 or there.waiting == 1 or there.total > enough:  # each row loses as much as before, or more
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
        count(given.limits, room.tallies[stand.classes[here].place], row, -1)
        count(given.limits, room.tallies[stand.classes[target].place], row, 1)
