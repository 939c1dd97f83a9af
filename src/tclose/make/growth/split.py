"""Splitting: a class is cut in two along a quasi-identifier, if both sides satisfy the limits."""

from __future__ import annotations

import numpy as np

from tclose.make.growth.neighbourhood import Given, Groups, GroupScratch, improve
from tclose.make.kernels.classes import LEAST_GAIN, Classes, gather, move_row
from tclose.make.kernels.compiling import kernel, once
from tclose.make.kernels.loss import ABOVE, BELOW, box_loss, clear_box, widen
from tclose.make.kernels.satisfies import satisfies
from tclose.make.kernels.small import sort
from tclose.values.arrays import Bytes

STEPS = 64
"""At most this many cuts are tried along one quasi-identifier."""
INDEX = 2**32 - 1
"""The bits of a key that hold the index of a row; the bits above hold its code."""


def split(given: Given, classes: Classes, groups: Groups) -> None:
    """Split classes, as long as their group has empty classes for the new ones."""
    improve(_split_classes, given, classes, groups)


@kernel
def _split_classes(part: int, given: Given, classes: Classes, groups: Groups, scratch: GroupScratch, cancel: Bytes) -> None:
    """Split the classes of one group; see `split`."""
    group = groups.order[groups.starts[part] : groups.starts[part + 1]]
    spares = groups.spares[groups.spare_starts[part] : groups.spare_starts[part + 1]]
    used = 0
    for number in group:
        while used < len(spares) and cancel[0] == 0 and _split(given, classes, number, spares[used], scratch):
            used += 1


@once
def _split(given: Given, classes: Classes, number: int, new: int, scratch: GroupScratch) -> bool:
    """Split one class where that lowers the loss most, and return whether it was split. Rows above the cut go to ``new``."""
    k, one = given.limits.k, classes.each[number]
    if one.size < 2 * k:
        return False
    size = gather(classes, number, BELOW, scratch.members)
    column, cut, most = -1, ABOVE, LEAST_GAIN
    for tried in range(given.quasi.shape[1]):
        if classes.edges[number, tried].low == classes.edges[number, tried].high:
            continue
        _sort_members(given, tried, size, scratch)
        clear_box(scratch.box)
        last = size
        for index in range(size - 1, k - 1, -1):
            widen(given.quasi[scratch.members[scratch.keys[index] & INDEX]], given.losses, scratch.box)
            code, before = scratch.keys[index] >> 32, scratch.keys[index - 1] >> 32
            if code == before or size - index < k or last - index < size // STEPS:
                continue
            gain = size * one.loss - index * scratch.lefts[index] - (size - index) * box_loss(scratch.box)
            if gain > most:
                last = index
                if _sides_satisfy(given, size, index, scratch):
                    column, cut, most = tried, before, gain
    if column < 0:
        return False
    for row in scratch.members[:size]:
        if given.quasi[row, column] > cut:
            move_row(given.quasi, given.losses, classes, row, new)
    return True


@once
def _sort_members(given: Given, column: int, size: int, scratch: GroupScratch) -> None:
    """Sort the rows of a class by their codes, and compute for each index the loss of each row left of it."""
    for index in range(size):
        scratch.keys[index] = (np.int64(given.quasi[scratch.members[index], column]) << 32) + index
    sort(scratch.keys[:size])
    clear_box(scratch.box)
    for index in range(size):
        scratch.lefts[index] = box_loss(scratch.box) if index > 0 else 0.0
        widen(given.quasi[scratch.members[scratch.keys[index] & INDEX]], given.losses, scratch.box)


@once
def _sides_satisfy(given: Given, size: int, left: int, scratch: GroupScratch) -> bool:
    """Return whether both sides of a cut, with ``left`` rows on the left, satisfy the limits."""
    for start, end in ((0, left), (left, size)):
        for index in range(start, end):
            scratch.side[index - start] = scratch.members[scratch.keys[index] & INDEX]
        if not satisfies(given.limits, given.limits.references, scratch.side[: end - start], scratch.checks):
            return False
    return True
