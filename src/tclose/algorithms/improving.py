"""Improving: one step of all groups of classes, on all cores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tclose.algorithms.compiling import kernel
from tclose.algorithms.moving import move_rows, place_rows
from tclose.algorithms.rooms import Room, room_for
from tclose.algorithms.running import run, run_parts
from tclose.algorithms.splitting import split_classes
from tclose.algorithms.standing import Given, Groups, Standing, measure
from tclose.algorithms.swapping import swap_rows

PLACE, SPLIT, MOVE, SWAP = range(4)
"""Steps: rows that are left over are put into classes, classes are split, rows moved or swapped."""


def improve(step: int, given: Given, stand: Standing, groups: Groups, rise: float = 0.0) -> None:
    """Do one step in each group; a move or a swap may raise the loss by less than ``rise``.

    Groups have no class in common, so that what comes out does not depend on the number of cores.
    """
    if len(groups.order):
        run_parts(_improve, len(groups.starts) - 1, lambda: room_for(given, stand, groups), step, given, stand, groups, rise)


@kernel
def _improve(
    part: int,
    step: int,
    given: Given,
    stand: Standing,
    groups: Groups,
    rise: float,
    room: Room,
    cancel: NDArray[np.uint8],
) -> None:
    """One step of one group. All steps are one kernel, for what they have in common would else be compiled with each."""
    group = groups.order[groups.starts[part] : groups.starts[part + 1]]
    if step == PLACE:
        place_rows(given, stand, group, room, cancel)
    elif step == SPLIT:
        spares = groups.spares[groups.spare_starts[part] : groups.spare_starts[part + 1]]
        split_classes(given, stand, group, spares, room, cancel)
    elif step == MOVE:
        move_rows(given, stand, group, rise, room, cancel)
    else:
        swap_rows(given, stand, group, rise, room, cancel)


def measure_all(given: Given, stand: Standing) -> None:
    """Find the edges of every class."""
    run(_measure_all, given, stand)


@kernel
def _measure_all(given: Given, stand: Standing, cancel: NDArray[np.uint8]) -> None:
    for number in range(len(stand.classes)):
        if cancel[0]:
            return
        measure(given, stand, number)
