"""Rooms: what one thread works with while rows change classes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.make.fragmentation.blocks import BELOW
from tclose.make.kernels.boxes import Box, box_for
from tclose.make.kernels.classes import Given, Groups, Standing, gather
from tclose.make.kernels.compiling import lean, once
from tclose.make.kernels.limits import Codes, Ints, Limits
from tclose.make.kernels.loss import Floats
from tclose.make.kernels.satisfies import Scratch, holds, holds_with, scratch_for

NEAR = 1e-9
"""A smaller gain may be a matter of rounding."""
KINDS = 4096
"""Answers are kept for so many kinds of rows; with more kinds, hardly any question comes twice."""
VALUES = 1024
"""Rows at each value are kept for each class where there are so many values at most."""
KEPT = 2**25
"""For larger groups than that many answers, or counts, are kept for none."""
PER_ROW = 8
"""To count one row takes as long as to look at so many values."""
UNKNOWN, YES, NO = range(3)
LEAVES: Any = np.int64(-1)
JOINS: Any = np.int64(1)
"""How a row changes a class. Integers of NumPy: for each constant of Python a part that takes it would be compiled anew."""


class Room(NamedTuple):
    """Room for one thread."""

    rows: Codes
    """Rows of the group at hand,"""
    members: Codes
    """of one class, with or without a row that may come or leave,"""
    side: Codes
    """and of one side of a cut."""
    keys: Ints
    """Codes of the members on one quasi-identifier, each with the place of its row, in order,"""
    lefts: Floats
    """and what rows on the left of each lose."""
    box: Box
    answers: NDArray[np.uint8]
    """(2, classes of the group, kinds): whether a class keeps the limits without a row of a kind, and with one more, as far as
    it was asked."""
    tallies: Codes
    """(classes of the group, values of all columns): rows at each value; none where persons are counted, or they are too many."""
    scratch: Scratch


def room_for(given: Given, stand: Standing, groups: Groups) -> Room:
    """Room for one thread."""
    kinds = int(given.alike.max()) + 1
    together = int(np.diff(groups.starts).max(initial=0))
    rows = int(np.add.reduceat(stand.classes["size"][groups.order], groups.starts[:-1]).max(initial=0)) + 1
    lists = np.empty((3, rows), dtype=np.int32)
    values = int(given.limits.columns["size"].sum())
    tallied = values <= VALUES and together * values <= KEPT and not len(given.limits.persons)
    return Room(
        lists[0],
        lists[1],
        lists[2],
        np.empty(rows, dtype=np.int64),
        np.empty(rows, dtype=np.float64),
        box_for(given.quasi.shape[1]),
        np.empty((2, together, kinds if kinds <= KINDS and together * kinds <= KEPT else 0), dtype=np.uint8),
        np.empty((together, values if tallied else 0), dtype=np.int32),
        scratch_for(given.limits),
    )


@lean
def enter(given: Given, stand: Standing, group: Ints, room: Room) -> int:
    """Begin with a group: list its rows, count their values, and give their number."""
    rows = 0
    for place in range(len(group)):
        stand.classes[group[place]].place = place
        forget(stand, group[place], room)
        size = gather(stand, group[place], BELOW, room.rows[rows:])
        if room.tallies.shape[1] > 0:
            for value in range(room.tallies.shape[1]):
                room.tallies[place, value] = 0
            for row in room.rows[rows : rows + size]:
                count(given.limits, room.tallies[place], row, 1)
        rows += size
    return rows


@lean
def count(limits: Limits, tallies: Codes, row: int, change: int) -> None:
    """Count one row more, or less, at its values."""
    start = 0
    for number in range(len(limits.columns)):
        tallies[start + limits.codes[number, row]] += change
        start += limits.columns[number].size


@lean
def forget(stand: Standing, number: int, room: Room) -> None:
    """Nothing is known of a class."""
    place = stand.classes[number].place
    for kind in range(room.answers.shape[2]):
        room.answers[0, place, kind] = room.answers[1, place, kind] = UNKNOWN


@lean
def may_change(given: Given, stand: Standing, number: int, row: int, change: int, room: Room) -> bool:
    """Whether a class keeps the limits when a row joins or leaves it."""
    side, place, kind = (change + 1) // 2, stand.classes[number].place, given.alike[row]
    kept = room.answers.shape[2] > 0
    if kept and room.answers[side, place, kind] != UNKNOWN:
        return bool(room.answers[side, place, kind] == YES)
    answer = _keeps(given, stand, number, row, change, room)
    if kept:
        room.answers[side, place, kind] = YES if answer else NO
    return answer


@once
def _keeps(given: Given, stand: Standing, number: int, row: int, change: int, room: Room) -> bool:
    """Find that out."""
    one, values = stand.classes[number], room.tallies.shape[1]
    if 0 < values < PER_ROW * one.size:
        return holds_with(given.limits, room.tallies[one.place], one.size, row, change, room.scratch)
    size = gather(stand, number, row, room.members)
    if change == JOINS:
        room.members[size] = row
        size += 1
    return size > 0 and holds(given.limits, given.limits.references, room.members[:size], room.scratch)
