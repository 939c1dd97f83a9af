"""Refining: classes that keep the limits become classes that keep them and lose less."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tclose.algorithms import moving, swapping
from tclose.algorithms.limits import Codes, Ints, Limits
from tclose.algorithms.moving import move_all
from tclose.algorithms.running import run_parts
from tclose.algorithms.standing import alike_of, classes_of, groups, lost
from tclose.algorithms.swapping import swap_all, together_to_swap
from tclose.algorithms.widths import Losses

RISE = 0.4
"""How much a move may raise the loss in the first round, as a share of what a row loses on average."""
CALM = 0.1
"""In this share of the rounds, the last ones, no move may raise the loss."""
SWAPS = 3
"""Rows are swapped in every third round, and moved in the others."""


def refine(
    quasi: Codes, losses: Losses, limits: Limits, labels: Ints, rounds: int, hear: Callable[[float], bool] = lambda _: True
) -> Ints:
    """Move rows between classes that keep every limit; the class of each row in the end, numbered without gaps.

    In each round classes with similar boxes make groups, similar first on one quasi-identifier, in the next round on the next.
    Each row goes to the class of its group that makes the loss least, if both its old and its new class keep the limits: even
    when the loss rises a little, less from round to round, in the last ones not at all (threshold accepting, Dueck and
    Scheuer 1990, with the best move in place of a random one). Then each class is given up whose rows lose less elsewhere.

    Parameters
    ----------
    labels : (rows,) int64
        Classes that keep the limits, numbered without gaps.
    hear : callable
        Called after each round with what a row loses on average; refining ends when it gives False.

    Returns
    -------
    (rows,) int64
        Those of the round with the least loss; it is never above the loss at the start.
    """
    classes, alike = classes_of(quasi, losses, labels), alike_of(limits)
    kinds = int(alike.max()) + 1
    best, least = labels, lost(classes)
    rise = RISE * least / len(labels)
    step: Callable[..., None]
    room: Callable[[], Any]
    for number in range(rounds):
        if number % SWAPS == SWAPS - 1:
            similar = groups(classes, number // SWAPS, together_to_swap(classes))
            step, room = swap_all, partial(swapping.room_for, limits, similar.rows)
        else:
            similar = groups(classes, number - number // SWAPS, moving.TOGETHER)
            step, room = move_all, partial(moving.room_for, limits, kinds, similar.rows)
        falling = max(0.0, 1 - (number + 1) / max(1.0, rounds * (1 - CALM)))
        run_parts(step, len(similar.starts) - 1, room, quasi, losses, limits, alike, classes, similar, rise * falling)
        now = lost(classes)
        if now < least:
            best, least = classes.labels.copy(), now
        if not hear(least / len(labels)):
            break
    return np.unique(best, return_inverse=True)[1].astype(np.int64)
