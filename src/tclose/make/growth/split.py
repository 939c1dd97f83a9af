"""Splitting: a class is cut in two along a quasi-identifier, if both sides keep the limits."""

from __future__ import annotations

import numpy as np

from tclose.make.growth.neighbourhood import NEAR, Groups, GroupScratch, improve
from tclose.make.kernels.classes import Classes, Given, gather, put
from tclose.make.kernels.compiling import kernel, once
from tclose.make.kernels.loss import ABOVE, BELOW, box_loss, clear_box, widen
from tclose.make.kernels.satisfies import satisfies
from tclose.make.kernels.small import sort
from tclose.values.arrays import Bytes

STEPS = 64
"""So many places, at most, are tried along one quasi-identifier."""
PLACE = 2**32 - 1
"""The half of a key that holds the place of a row; the other half holds its code."""


def split(given: Given, classes: Classes, groups: Groups) -> None:
    """Split classes, as long as their group has numbers for new ones."""
    improve(_split_classes, given, classes, groups)


@kernel
def _split_classes(part: int, given: Given, classes: Classes, groups: Groups, scratch: GroupScratch, cancel: Bytes) -> None:
    """See `split`."""
    group = groups.order[groups.starts[part] : groups.starts[part + 1]]
    spares = groups.spares[groups.spare_starts[part] : groups.spare_starts[part + 1]]
    used = 0
    for number in group:
        while used < len(spares) and cancel[0] == 0 and _split(given, classes, number, spares[used], scratch):
            used += 1


@once
def _split(given: Given, classes: Classes, number: int, new: int, scratch: GroupScratch) -> bool:
    """Cut one class where that makes the loss least; whether it could be cut."""
    k, one = given.limits.k, classes.each[number]
    if one.size < 2 * k:
        return False
    size = gather(classes, number, BELOW, scratch.members)
    column, cut, most = -1, ABOVE, NEAR
    for tried in range(given.quasi.shape[1]):
        if classes.edges[number, tried].low == classes.edges[number, tried].high:
            continue
        _order(given, tried, size, scratch)
        clear_box(scratch.box)
        last = size
        for place in range(size - 1, k - 1, -1):
            widen(given.quasi[scratch.members[scratch.keys[place] & PLACE]], given.losses, scratch.box)
            code, before = scratch.keys[place] >> 32, scratch.keys[place - 1] >> 32
            if code == before or size - place < k or last - place < size // STEPS:
                continue
            gain = size * one.loss - place * scratch.lefts[place] - (size - place) * box_loss(scratch.box)
            if gain > most:
                last = place
                if _sides_hold(given, size, place, scratch):
                    column, cut, most = tried, before, gain
    if column < 0:
        return False
    for row in scratch.members[:size]:
        if given.quasi[row, column] > cut:
            put(given, classes, row, new)
    return True


@once
def _order(given: Given, column: int, size: int, scratch: GroupScratch) -> None:
    """Put the rows of a class in the order of their codes, and find what those on the left of each place lose."""
    for place in range(size):
        scratch.keys[place] = (np.int64(given.quasi[scratch.members[place], column]) << 32) + place
    sort(scratch.keys[:size])
    clear_box(scratch.box)
    for place in range(size):
        scratch.lefts[place] = box_loss(scratch.box) if place > 0 else 0.0
        widen(given.quasi[scratch.members[scratch.keys[place] & PLACE]], given.losses, scratch.box)


@once
def _sides_hold(given: Given, size: int, left: int, scratch: GroupScratch) -> bool:
    """Whether both sides of a cut keep the limits."""
    for start, end in ((0, left), (left, size)):
        for place in range(start, end):
            scratch.side[place - start] = scratch.members[scratch.keys[place] & PLACE]
        if not satisfies(given.limits, given.limits.references, scratch.side[: end - start], scratch.checks):
            return False
    return True
