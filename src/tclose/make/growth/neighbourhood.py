"""Improving: one step of all groups of classes, on all cores."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tclose.make.growth.rooms import room_for
from tclose.make.kernels.classes import Given, Groups, Standing, measure
from tclose.make.kernels.compiling import kernel
from tclose.make.kernels.running import run, run_parts


def improve(step: Callable[..., None], given: Given, stand: Standing, groups: Groups, *more: float | bool) -> None:
    """Run ``step(part, given, stand, groups, *more, room, cancel)`` for each group.

    Groups have no class in common, so that what comes out does not depend on the number of cores.
    """
    if len(groups.order):
        run_parts(step, len(groups.starts) - 1, lambda: room_for(given, stand, groups), given, stand, groups, *more)


def measure_all(given: Given, stand: Standing) -> None:
    """Find the edges of every class."""
    run(_measure_all, given, stand)


@kernel
def _measure_all(given: Given, stand: Standing, cancel: NDArray[np.uint8]) -> None:
    for number in range(len(stand.classes)):
        if cancel[0]:
            return
        measure(given, stand, number)
