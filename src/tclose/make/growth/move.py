"""Moving: rows go to other classes, and classes are given up, so that less is lost while every class keeps the limits."""

from __future__ import annotations

import numpy as np

from tclose.make.growth.neighbourhood import JOINS, LEAVES, NEAR, Groups, GroupScratch, count, enter, forget, improve, may_change
from tclose.make.kernels.classes import Classes, Given, gather, loss_without, put
from tclose.make.kernels.compiling import kernel, lean, once
from tclose.make.kernels.loss import BELOW, loss
from tclose.values.arrays import Bytes, Ints

TOGETHER = 128
"""So many classes make a group: a row looks for a better class among those of its group."""

ABANDONED = 200
"""Classes with more rows are not given up: that they could be is unlikely, and to find out takes long."""


def move(given: Given, classes: Classes, groups: Groups, rise: float) -> None:
    """Move each row to the best class of its group, if the loss rises by less than that; then give up classes."""
    improve(_move_rows, given, classes, groups, rise, False)


def place_rows(given: Given, classes: Classes, groups: Groups) -> None:
    """Put each row that is left over into the class of its group that loses least by it and keeps the limits."""
    improve(_move_rows, given, classes, groups, 0.0, True)


@kernel
def _move_rows(
    part: int,
    given: Given,
    classes: Classes,
    groups: Groups,
    rise: float,
    placing: bool,
    scratch: GroupScratch,
    cancel: Bytes,
) -> None:
    """See `move`. Rows that are left over go at any loss; while placing, no other row moves, and no class is given up."""
    group = groups.order[groups.starts[part] : groups.starts[part + 1]]
    rows = enter(given, classes, group, scratch)
    for row in scratch.rows[:rows]:
        if cancel[0]:
            return
        target = _best(given, classes, group, row, rise, placing, scratch)
        if target >= 0:
            _move(given, classes, row, target, scratch)
    for number in group:
        if placing or cancel[0]:
            return
        _give_up(given, classes, group, number, scratch)


@once
def _best(given: Given, classes: Classes, group: Ints, row: int, rise: float, placing: bool, scratch: GroupScratch) -> int:
    """The class to which this row goes; -1 where it stays."""
    number, enough = classes.rows[row].label, np.inf
    here = classes.each[number]
    if here.leftover == 0:
        least = NEAR if rise == 0 else -rise
        enough = here.size * here.loss - (here.size - 1) * loss_without(given, classes, row) - least
        if placing or enough <= 0 or not may_change(given, classes, number, row, LEAVES, scratch):
            return -1
    return _cheapest(given, classes, group, row, enough, scratch)


@lean
def _cheapest(given: Given, classes: Classes, group: Ints, row: int, enough: float, scratch: GroupScratch) -> int:
    """The other class that loses least by taking a row, less than enough, and keeps the limits; -1 where none does."""
    best, here = -1, classes.rows[row].label
    for there in group:
        if classes.each[there].leftover == 1:  # rows that are left over take none, and come last
            break
        more = _rise_with(given, classes, there, row, enough)
        if more < enough and there != here and may_change(given, classes, there, row, JOINS, scratch):
            best, enough = there, more
    return best


@lean
def _rise_with(given: Given, classes: Classes, number: int, row: int, enough: float) -> float:
    """How much more a class loses with one row more; infinite where that is above enough, or it has no row."""
    there = classes.each[number]
    if there.size == 0 or there.loss > enough:  # each row loses as much as before, or more
        return np.inf
    most = (enough + there.size * there.loss) / (there.size + 1)
    after = 0.0
    for column in range(given.quasi.shape[1]):
        code, edge = given.quasi[row, column], classes.edges[number, column]
        if edge.low <= code <= edge.high:
            after += edge.loss
        else:
            after += loss(given.losses, column, min(edge.low, code), max(edge.high, code))
        if after > most:
            return np.inf
    rise: float = (there.size + 1) * after - there.size * there.loss
    return rise


@once
def _give_up(given: Given, classes: Classes, group: Ints, number: int, scratch: GroupScratch) -> None:
    """Give all rows of a class to others, each to the one that loses least by it, if less is lost then; else leave it."""
    if classes.each[number].size > ABANDONED:
        return
    size = gather(classes, number, BELOW, scratch.rows)
    left = size * classes.each[number].loss - NEAR
    for place in range(size):
        row = scratch.rows[place]
        before = left
        target = _cheapest(given, classes, group, row, left, scratch)
        if target < 0:
            for back in scratch.rows[:place]:
                _move(given, classes, back, number, scratch)
            return
        left = before - _rise_with(given, classes, target, row, before)
        _move(given, classes, row, target, scratch)


@lean
def _move(given: Given, classes: Classes, row: int, target: int, scratch: GroupScratch) -> None:
    """Put a row into another class; what was known of both is out of date."""
    here = classes.rows[row].label
    put(given, classes, row, target)
    forget(classes, here, scratch)
    forget(classes, target, scratch)
    if scratch.tallies.shape[1] > 0:
        count(given.limits, scratch.tallies[classes.each[here].index], row, LEAVES)
        count(given.limits, scratch.tallies[classes.each[target].index], row, JOINS)
