"""Moving: rows go to other classes, and classes are given up, so that less is lost while every class keeps the limits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.algorithms.checks import Scratch, holds, scratch_for
from tclose.algorithms.compiling import kernel, lean
from tclose.algorithms.limits import Codes, Ints, Limits
from tclose.algorithms.standing import Groups, Standing, gather, loss_without, put
from tclose.algorithms.widths import Losses, loss

TOGETHER = 512
"""So many classes make a group: a row looks for a better class among those of its group."""
KINDS = 4096
"""Answers are kept for so many kinds of rows; with more kinds, hardly any question comes twice."""
NEAR = 1e-9
"""A smaller gain may be a matter of rounding."""
UNKNOWN, YES, NO = range(3)


class Room(NamedTuple):
    """What one thread works with."""

    rows: Codes
    """Rows of the group at hand,"""
    members: Codes
    """and of one class, with or without the row that may come or leave."""
    leaves: NDArray[np.uint8]
    """(classes of the group, kinds): whether a class keeps the limits without a row of a kind, as far as it was asked,"""
    joins: NDArray[np.uint8]
    """and whether with one more."""
    scratch: Scratch


def room_for(limits: Limits, kinds: int, rows: int) -> Room:
    """Room for one thread, for groups with so many rows."""
    kept = kinds if kinds <= KINDS else 0
    leaves, joins = np.empty((TOGETHER, kept), dtype=np.uint8), np.empty((TOGETHER, kept), dtype=np.uint8)
    return Room(np.empty(rows, dtype=np.int32), np.empty(rows + 1, dtype=np.int32), leaves, joins, scratch_for(limits))


@kernel
def move_all(
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
    """Move each row of one group to its best class, if the loss rises by less than allowed; then give up classes.

    ``alike`` gives rows the same number that are the same to every limit.
    """
    group = groups.order[groups.starts[part] : groups.starts[part + 1]]
    rows = enter(classes, group, room)
    for row in room.rows[:rows]:
        if cancel[0]:
            return
        target = _best(quasi, losses, limits, alike, classes, group, row, rise, room)
        if target >= 0:
            move(quasi, losses, classes, row, target, room)
    for number in group:
        if cancel[0]:
            return
        _give_up(quasi, losses, limits, alike, classes, group, number, room)


@lean
def enter(classes: Standing, group: Ints, room: Room) -> int:
    """Begin with a group: list its rows, and give their number."""
    rows = 0
    for place in range(len(group)):
        classes.places[group[place]] = place
        forget(classes, group[place], room)
        rows += gather(classes, group[place], -1, room.rows[rows:])
    return rows


@lean
def _best(
    quasi: Codes,
    losses: Losses,
    limits: Limits,
    alike: Codes,
    classes: Standing,
    group: Ints,
    row: int,
    rise: float,
    room: Room,
) -> int:
    """The class to which this row goes; -1 where it stays."""
    here = classes.labels[row]
    size = classes.sizes[here]
    best, most = -1, NEAR if rise == 0 else -rise
    gain = size * classes.totals[here] - (size - 1) * loss_without(quasi, losses, classes, here, row)
    if gain <= most or not _may_leave(limits, alike, classes, row, room):
        return -1
    for there in group:
        now = gain - rise_with(quasi, losses, classes, there, row, gain - most)
        if now > most and there != here and may_join(limits, alike, classes, there, row, room):
            best, most = there, now
    return best


@lean
def _may_leave(limits: Limits, alike: Codes, classes: Standing, row: int, room: Room) -> bool:
    """Whether the class of a row keeps the limits without it."""
    here = classes.labels[row]
    place, kind = classes.places[here], alike[row]
    if room.leaves.shape[1] > 0 and room.leaves[place, kind] != UNKNOWN:
        return bool(room.leaves[place, kind] == YES)
    size = gather(classes, here, row, room.members)
    answer = size > 0 and holds(limits, limits.references, room.members[:size], room.scratch)
    if room.leaves.shape[1] > 0:
        room.leaves[place, kind] = YES if answer else NO
    return answer


@lean
def may_join(limits: Limits, alike: Codes, classes: Standing, number: int, row: int, room: Room) -> bool:
    """Whether a class keeps the limits with one row more."""
    place, kind = classes.places[number], alike[row]
    if room.joins.shape[1] > 0 and room.joins[place, kind] != UNKNOWN:
        return bool(room.joins[place, kind] == YES)
    size = gather(classes, number, -1, room.members)
    room.members[size] = row
    answer = holds(limits, limits.references, room.members[: size + 1], room.scratch)
    if room.joins.shape[1] > 0:
        room.joins[place, kind] = YES if answer else NO
    return answer


@lean
def rise_with(quasi: Codes, losses: Losses, classes: Standing, number: int, row: int, enough: float) -> float:
    """How much more a class loses with one row more; infinite where that is above enough, or the class is empty."""
    size, total = classes.sizes[number], classes.totals[number]
    if size == 0 or total > enough:  # each row loses as much as before, or more
        return np.inf
    most = (enough + size * total) / (size + 1)
    after = 0.0
    for column in range(quasi.shape[1]):
        code, low, high = quasi[row, column], classes.lows[number, column], classes.highs[number, column]
        if code < low:
            after += loss(losses, column, code, high)
        elif code > high:
            after += loss(losses, column, low, code)
        else:
            after += classes.own[number, column]
        if after > most:
            return np.inf
    rise: float = (size + 1) * after - size * total
    return rise


@lean
def _give_up(
    quasi: Codes, losses: Losses, limits: Limits, alike: Codes, classes: Standing, group: Ints, number: int, room: Room
) -> None:
    """Give all rows of a class to others, each to the one that loses least by it, if less is lost then; else leave it."""
    size = gather(classes, number, -1, room.rows)
    left = size * classes.totals[number] - NEAR
    for place in range(size):
        row = room.rows[place]
        best, least = -1, left
        for there in group:
            more = np.inf if there == number else rise_with(quasi, losses, classes, there, row, least)
            if more < least and may_join(limits, alike, classes, there, row, room):
                best, least = there, more
        if best < 0:
            for back in room.rows[:place]:
                move(quasi, losses, classes, back, number, room)
            return
        left -= least
        move(quasi, losses, classes, row, best, room)


@lean
def move(quasi: Codes, losses: Losses, classes: Standing, row: int, target: int, room: Room) -> None:
    """Put a row into another class; what was known of both is out of date."""
    here = classes.labels[row]
    put(quasi, losses, classes, row, target)
    forget(classes, here, room)
    forget(classes, target, room)


@lean
def forget(classes: Standing, number: int, room: Room) -> None:
    """Nothing is known of a class."""
    place = classes.places[number]
    for kind in range(room.leaves.shape[1]):
        room.leaves[place, kind] = room.joins[place, kind] = UNKNOWN
