"""Moving: rows move to other classes, and classes are dissolved, so that less information is lost."""

from __future__ import annotations

import numpy as np

from tclose.make.growth.neighbourhood import (
    JOINS,
    LEAVES,
    Given,
    Groups,
    GroupScratch,
    count,
    enter,
    forget,
    improve,
    is_refused,
    may_change,
)
from tclose.make.kernels.classes import LEAST_GAIN, Classes, gather, loss_without, move_row
from tclose.make.kernels.compiling import kernel, lean, once
from tclose.make.kernels.loss import BELOW, loss
from tclose.values.arrays import Bytes, Ints

TOGETHER = 128
"""How many classes form a group: a row looks for a better class among those of its group."""

DISSOLVED = 200
"""Classes with more rows are not dissolved: it is unlikely that they could be, and takes long to find out."""


def move(given: Given, classes: Classes, groups: Groups, rise: float) -> None:
    """Move each row to the best class of its group, if the loss rises by less than ``rise``; then dissolve classes."""
    improve(_move_rows, given, classes, groups, rise, False)


def place_rows(given: Given, classes: Classes, groups: Groups) -> None:
    """Put each leftover row into the class of its group that loses least by it and satisfies the limits with it."""
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
    """Move the rows of one group; see `move`. Leftover rows move at any loss; while placing, no other row moves."""
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
        _dissolve(given, classes, group, number, scratch)


@once
def _best(given: Given, classes: Classes, group: Ints, row: int, rise: float, placing: bool, scratch: GroupScratch) -> int:
    """Return the class that a row moves to; -1 if it stays."""
    number, enough = classes.rows[row].label, np.inf
    here = classes.each[number]
    if here.leftover == 0:
        least = LEAST_GAIN if rise == 0 else -rise
        without = loss_without(given.quasi, given.losses, classes, row)
        enough = here.size * here.loss - (here.size - 1) * without - least
        if placing or enough <= 0 or not may_change(given, classes, number, row, LEAVES, scratch):
            return -1
    return _cheapest(given, classes, group, row, enough, scratch)


@lean
def _cheapest(given: Given, classes: Classes, group: Ints, row: int, enough: float, scratch: GroupScratch) -> int:
    """Return the class that loses least by taking the row and satisfies the limits; -1 if none loses less than ``enough``."""
    best, here = -1, classes.rows[row].label
    for there in group:
        if classes.each[there].leftover == 1:  # leftover rows take none, and come last
            break
        if is_refused(given, classes, there, row, JOINS, scratch):
            continue
        more = _rise_with(given, classes, there, row, enough)
        if more < enough and there != here and may_change(given, classes, there, row, JOINS, scratch):
            best, enough = there, more
    return best


@once
def _rise_with(given: Given, classes: Classes, number: int, row: int, enough: float) -> float:
    """Return how much more a class loses by taking the row; infinite if that is above ``enough``, or the class is empty."""
    there = classes.each[number]
    if there.size == 0 or there.loss > enough:  # no row loses less than before
        return np.inf
    most = (enough + there.size * there.loss) / (there.size + 1)
    if _loses_more(given, classes, number, row, most):
        return np.inf
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
def _loses_more(given: Given, classes: Classes, number: int, row: int, most: float) -> bool:
    """Return whether a class with the row loses more than ``most``, by more than rounding: a quick test of what the row adds."""
    after, most = classes.each[number].loss, most + LEAST_GAIN * (1 + most)
    for column in range(given.quasi.shape[1]):
        code, edge = given.quasi[row, column], classes.edges[number, column]
        if code < edge.low:
            after += loss(given.losses, column, code, edge.high) - edge.loss
        elif code > edge.high:
            after += loss(given.losses, column, edge.low, code) - edge.loss
        if after > most:
            return True
    return False


@once
def _dissolve(given: Given, classes: Classes, group: Ints, number: int, scratch: GroupScratch) -> None:
    """Move each row of a class to the class that loses least by it, if less is lost afterwards; otherwise change nothing."""
    if classes.each[number].size > DISSOLVED:
        return
    size = gather(classes, number, BELOW, scratch.rows)
    left = size * classes.each[number].loss - LEAST_GAIN
    for index in range(size):
        row = scratch.rows[index]
        before = left
        target = _cheapest(given, classes, group, row, left, scratch)
        if target < 0:
            for back in scratch.rows[:index]:
                _move(given, classes, back, number, scratch)
            return
        left = before - _rise_with(given, classes, target, row, before)
        _move(given, classes, row, target, scratch)


@lean
def _move(given: Given, classes: Classes, row: int, target: int, scratch: GroupScratch) -> None:
    """Move a row to another class; the cached answers of both classes become invalid."""
    here = classes.rows[row].label
    move_row(given.quasi, given.losses, classes, row, target)
    forget(classes, here, scratch)
    forget(classes, target, scratch)
    if scratch.tallies.shape[1] > 0:
        count(given.limits, scratch.tallies[classes.each[here].index], row, LEAVES)
        count(given.limits, scratch.tallies[classes.each[target].index], row, JOINS)
