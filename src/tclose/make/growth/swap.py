"""Swapping: two classes exchange a row each, so that less is lost while both keep the limits."""

from __future__ import annotations

import numpy as np

from tclose.make.growth.neighbourhood import NEAR, Groups, GroupScratch, enter, improve
from tclose.make.kernels.classes import Classes, Given, gather, loss_without, put
from tclose.make.kernels.compiling import kernel, once
from tclose.make.kernels.loss import BELOW, loss
from tclose.make.kernels.satisfies import satisfies
from tclose.values.arrays import Bytes

TOGETHER = 64
"""So many classes make a group;"""
ROWS = 2000
"""fewer if they have more rows than that: each row looks at all others of its group."""


def group_size(classes: Classes) -> int:
    """How many classes make a group."""
    most = ROWS * int(np.count_nonzero(classes.each["size"])) // len(classes.rows)
    return max(2, min(TOGETHER, most))


def swap(given: Given, classes: Classes, groups: Groups, rise: float) -> None:
    """Swap each row at the edge of its class with the best row of its group, if the loss rises by less than that."""
    improve(_swap_rows, given, classes, groups, rise)


@kernel
def _swap_rows(
    part: int, given: Given, classes: Classes, groups: Groups, rise: float, scratch: GroupScratch, cancel: Bytes
) -> None:
    """See `swap`."""
    group = groups.order[groups.starts[part] : groups.starts[part + 1]]
    rows = enter(given, classes, group, scratch)
    for number in group:
        _relieve(given, classes, number)
    for row in scratch.rows[:rows]:
        if cancel[0]:
            return
        if classes.rows[row].relief <= NEAR:
            continue
        other = _best(given, classes, row, rows, rise, scratch)
        if other >= 0:
            here, there = classes.rows[row].label, classes.rows[other].label
            put(given, classes, row, there)
            put(given, classes, other, here)
            _relieve(given, classes, here)
            _relieve(given, classes, there)


@once
def _relieve(given: Given, classes: Classes, number: int) -> None:
    """Find the reliefs of the rows of a class."""
    one, row = classes.each[number], classes.each[number].head
    while row >= 0:
        classes.rows[row].relief = one.size * (one.loss - loss_without(given, classes, row))
        row = classes.rows[row].next


@once
def _best(given: Given, classes: Classes, row: int, rows: int, rise: float, scratch: GroupScratch) -> int:
    """The row to swap this one with; -1 where there is none."""
    label = classes.rows[row].label
    here, relief = classes.each[label], classes.rows[row].relief
    best: int = BELOW
    most = NEAR if rise == 0 else -rise
    for other in scratch.rows[:rows]:
        second = classes.rows[other]
        if second.label == label or relief + second.relief <= most:
            continue
        there = classes.each[second.label]
        # What the class at hand may lose with the other row, if that class gains as much as it can.
        enough = here.loss + (second.relief - most) / here.size
        gain = here.size * (here.loss - _loss_with(given, classes, row, other, enough))
        enough = there.loss + (gain - most) / there.size
        gain += there.size * (there.loss - _loss_with(given, classes, other, row, enough))
        if gain > most and abs(gain) > NEAR and _may_swap(given, classes, row, other, scratch):
            best, most = other, gain
    return best


@once
def _loss_with(given: Given, classes: Classes, leaves: int, comes: int, enough: float) -> float:
    """What each row of a class would lose with another row in place of one of its own; infinite where that is above enough."""
    number = classes.rows[leaves].label
    total = 0.0
    for column in range(given.quasi.shape[1]):
        code, new, edge = given.quasi[leaves, column], given.quasi[comes, column], classes.edges[number, column]
        low = min(edge.next_low if code == edge.low else edge.low, new)
        high = max(edge.next_high if code == edge.high else edge.high, new)
        total += edge.loss if low == edge.low and high == edge.high else loss(given.losses, column, low, high)
        if total > enough:
            return np.inf
    return total


@once
def _may_swap(given: Given, classes: Classes, row: int, other: int, scratch: GroupScratch) -> bool:
    """Whether both classes keep the limits when these rows change places."""
    if given.kinds[row] == given.kinds[other]:
        return True
    for leaves, comes in ((row, other), (other, row)):
        size = gather(classes, classes.rows[leaves].label, leaves, scratch.members)
        scratch.members[size] = comes
        if not satisfies(given.limits, given.limits.references, scratch.members[: size + 1], scratch.checks):
            return False
    return True
