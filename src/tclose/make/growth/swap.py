"""Swapping: two classes exchange a row each, so that less is lost while both keep the limits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tclose.make.fragmentation.blocks import BELOW
from tclose.make.growth.neighbourhood import improve
from tclose.make.growth.rooms import NEAR, Room, enter
from tclose.make.kernels.classes import Given, Groups, Standing, gather, loss_without, put
from tclose.make.kernels.compiling import kernel, once
from tclose.make.kernels.loss import loss
from tclose.make.kernels.satisfies import holds

TOGETHER = 64
"""So many classes make a group;"""
ROWS = 2000
"""fewer if they have more rows than that: each row looks at all others of its group."""


def together_to_swap(stand: Standing) -> int:
    """How many classes make a group."""
    most = ROWS * int(np.count_nonzero(stand.classes["size"])) // len(stand.rows)
    return max(2, min(TOGETHER, most))


def swap(given: Given, stand: Standing, groups: Groups, rise: float) -> None:
    """Swap each row at the edge of its class with the best row of its group, if the loss rises by less than that."""
    improve(_swap_rows, given, stand, groups, rise)


@kernel
def _swap_rows(
    part: int, given: Given, stand: Standing, groups: Groups, rise: float, room: Room, cancel: NDArray[np.uint8]
) -> None:
    """See `swap`."""
    group = groups.order[groups.starts[part] : groups.starts[part + 1]]
    rows = enter(given, stand, group, room)
    for number in group:
        _relieve(given, stand, number)
    for row in room.rows[:rows]:
        if cancel[0]:
            return
        if stand.rows[row].relief <= NEAR:
            continue
        other = _best(given, stand, row, rows, rise, room)
        if other >= 0:
            here, there = stand.rows[row].label, stand.rows[other].label
            put(given, stand, row, there)
            put(given, stand, other, here)
            _relieve(given, stand, here)
            _relieve(given, stand, there)


@once
def _relieve(given: Given, stand: Standing, number: int) -> None:
    """Find the reliefs of the rows of a class."""
    one, row = stand.classes[number], stand.classes[number].head
    while row >= 0:
        stand.rows[row].relief = one.size * (one.total - loss_without(given, stand, row))
        row = stand.rows[row].next


@once
def _best(given: Given, stand: Standing, row: int, rows: int, rise: float, room: Room) -> int:
    """The row to swap this one with; -1 where there is none."""
    label = stand.rows[row].label
    here, relief = stand.classes[label], stand.rows[row].relief
    best: int = BELOW
    most = NEAR if rise == 0 else -rise
    for other in room.rows[:rows]:
        second = stand.rows[other]
        if second.label == label or relief + second.relief <= most:
            continue
        there = stand.classes[second.label]
        # What the class at hand may lose with the other row, if that class gains as much as it can.
        enough = here.total + (second.relief - most) / here.size
        gain = here.size * (here.total - _loss_with(given, stand, row, other, enough))
        enough = there.total + (gain - most) / there.size
        gain += there.size * (there.total - _loss_with(given, stand, other, row, enough))
        if gain > most and abs(gain) > NEAR and _may_swap(given, stand, row, other, room):
            best, most = other, gain
    return best


@once
def _loss_with(given: Given, stand: Standing, leaves: int, comes: int, enough: float) -> float:
    """What each row of a class would lose with another row in place of one of its own; infinite where that is above enough."""
    number = stand.rows[leaves].label
    total = 0.0
    for column in range(given.quasi.shape[1]):
        code, new, edge = given.quasi[leaves, column], given.quasi[comes, column], stand.edges[number, column]
        low = min(edge.next_low if code == edge.low else edge.low, new)
        high = max(edge.next_high if code == edge.high else edge.high, new)
        total += edge.loss if low == edge.low and high == edge.high else loss(given.losses, column, low, high)
        if total > enough:
            return np.inf
    return total


@once
def _may_swap(given: Given, stand: Standing, row: int, other: int, room: Room) -> bool:
    """Whether both classes keep the limits when these rows change places."""
    if given.alike[row] == given.alike[other]:
        return True
    for leaves, comes in ((row, other), (other, row)):
        size = gather(stand, stand.rows[leaves].label, leaves, room.members)
        room.members[size] = comes
        if not holds(given.limits, given.limits.references, room.members[: size + 1], room.scratch):
            return False
    return True
