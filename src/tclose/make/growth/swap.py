"""Swapping: two classes exchange one row each, so that less information is lost while both satisfy the limits."""

from __future__ import annotations

import numpy as np

from tclose.make.growth.neighbourhood import Given, Groups, GroupScratch, enter, improve
from tclose.make.kernels.classes import LEAST_GAIN, Classes, gather, loss_with_swap, loss_without, move_row
from tclose.make.kernels.compiling import kernel, once
from tclose.make.kernels.loss import BELOW
from tclose.make.kernels.satisfies import satisfies
from tclose.values.arrays import Bytes

TOGETHER = 64
"""A group has at most this many classes."""
ROWS = 2000
"""A group of large classes has about this many rows: each row is compared with all others of its group."""


def group_size(classes: Classes) -> int:
    """Return how many classes form a group."""
    most = ROWS * int(np.count_nonzero(classes.each["size"])) // len(classes.rows)
    return max(2, min(TOGETHER, most))


def swap(given: Given, classes: Classes, groups: Groups, rise: float) -> None:
    """Swap each row at an edge of its class with the best row of its group, if the loss rises by less than ``rise``."""
    improve(_swap_rows, given, classes, groups, rise)


@kernel
def _swap_rows(
    part: int, given: Given, classes: Classes, groups: Groups, rise: float, scratch: GroupScratch, cancel: Bytes
) -> None:
    """Swap the rows of one group; see `swap`."""
    group = groups.order[groups.starts[part] : groups.starts[part + 1]]
    rows = enter(given, classes, group, scratch)
    for number in group:
        _set_reliefs(given, classes, number)
    for row in scratch.rows[:rows]:
        if cancel[0]:
            return
        if classes.rows[row].relief <= LEAST_GAIN:
            continue
        other = _best(given, classes, row, rows, rise, scratch)
        if other >= 0:
            here, there = classes.rows[row].label, classes.rows[other].label
            move_row(given.quasi, given.losses, classes, row, there)
            move_row(given.quasi, given.losses, classes, other, here)
            _set_reliefs(given, classes, here)
            _set_reliefs(given, classes, there)


@once
def _set_reliefs(given: Given, classes: Classes, number: int) -> None:
    """Set the relief of each row of a class: what all its rows gain when the row leaves."""
    one, row = classes.each[number], classes.each[number].head
    while row >= 0:
        classes.rows[row].relief = one.size * (one.loss - loss_without(given.quasi, given.losses, classes, row))
        row = classes.rows[row].next


@once
def _best(given: Given, classes: Classes, row: int, rows: int, rise: float, scratch: GroupScratch) -> int:
    """Return the row to swap this one with; -1 if there is none."""
    label = classes.rows[row].label
    here, relief = classes.each[label], classes.rows[row].relief
    best: int = BELOW
    most = LEAST_GAIN if rise == 0 else -rise
    for other in scratch.rows[:rows]:
        second = classes.rows[other]
        if second.label == label or relief + second.relief <= most:
            continue
        there = classes.each[second.label]
        # The loss that this class may have with the other row, if the other class gains as much as it can.
        enough = here.loss + (second.relief - most) / here.size
        after = loss_with_swap(given.quasi, given.losses, classes, row, other, enough)
        if after > enough:
            continue
        gain = here.size * (here.loss - after)
        enough = there.loss + (gain - most) / there.size
        after = loss_with_swap(given.quasi, given.losses, classes, other, row, enough)
        if after > enough:
            continue
        gain += there.size * (there.loss - after)
        if gain > most and abs(gain) > LEAST_GAIN and _may_swap(given, classes, row, other, scratch):
            best, most = other, gain
    return best


@once
def _may_swap(given: Given, classes: Classes, row: int, other: int, scratch: GroupScratch) -> bool:
    """Return whether both classes satisfy the limits after these rows were swapped."""
    if given.kinds[row] == given.kinds[other]:
        return True
    for leaves, comes in ((row, other), (other, row)):
        size = gather(classes, classes.rows[leaves].label, leaves, scratch.members)
        scratch.members[size] = comes
        if not satisfies(given.limits, given.limits.references, scratch.members[: size + 1], scratch.checks):
            return False
    return True
