"""Leftovers: rows without a class are put into classes that keep the limits with them; where none does, classes are merged."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from tclose.algorithms.compiling import kernel, lean
from tclose.algorithms.limits import Codes, Ints, Limits
from tclose.algorithms.merging import merge_failing
from tclose.algorithms.moving import TOGETHER, Room, enter, may_join, move, rise_with, room_for
from tclose.algorithms.running import run_parts
from tclose.algorithms.standing import Groups, Standing, alike_of, classes_of, groups
from tclose.algorithms.widths import Losses


def place(quasi: Codes, losses: Losses, limits: Limits, labels: Ints) -> Ints:
    """Put each row without a class, labelled -1, into the class that loses least by it and keeps every limit with it.

    It looks among classes with similar boxes, similar first on one quasi-identifier, then on the next. Rows that no class can
    take are classes of their own in the end, and merged with others until all hold: in the worst case all rows are one class.

    Returns
    -------
    (rows,) int64
        Classes numbered without gaps.
    """
    left = np.flatnonzero(labels < 0)
    labels = labels.copy()
    labels[left] = int(labels.max(initial=-1)) + 1 + np.arange(len(left))
    classes, alike = classes_of(quasi, losses, labels), alike_of(limits)
    waiting = np.zeros(len(classes.sizes), dtype=np.bool_)
    waiting[labels[left]] = True
    kinds = int(alike.max()) + 1
    for number in range(quasi.shape[1]):
        if not (waiting & (classes.sizes > 0)).any():
            break
        similar = groups(classes, number, TOGETHER)
        room = partial(room_for, limits, kinds, similar.rows)
        run_parts(place_all, len(similar.starts) - 1, room, quasi, losses, limits, alike, classes, waiting, similar)
    return merge_failing(np.unique(classes.labels, return_inverse=True)[1].astype(np.int64), quasi, losses, limits)


@kernel
def place_all(
    part: int,
    quasi: Codes,
    losses: Losses,
    limits: Limits,
    alike: Codes,
    classes: Standing,
    waiting: NDArray[np.bool_],
    groups: Groups,
    room: Room,
    cancel: NDArray[np.uint8],
) -> None:
    """Put the waiting rows of one group into its classes."""
    group = groups.order[groups.starts[part] : groups.starts[part + 1]]
    enter(classes, group, room)
    for number in group:
        if cancel[0]:
            return
        if waiting[number]:
            row = classes.heads[number]
            target = _cheapest(quasi, losses, limits, alike, classes, waiting, group, row, room)
            if target >= 0:
                move(quasi, losses, classes, row, target, room)


@lean
def _cheapest(
    quasi: Codes,
    losses: Losses,
    limits: Limits,
    alike: Codes,
    classes: Standing,
    waiting: NDArray[np.bool_],
    group: Ints,
    row: int,
    room: Room,
) -> int:
    """The class that loses least by taking a row; -1 where none can."""
    best, least = -1, np.inf
    for there in group:
        if waiting[there]:
            continue
        more = rise_with(quasi, losses, classes, there, row, least)
        if more < least and may_join(limits, alike, classes, there, row, room):
            best, least = there, more
    return best
