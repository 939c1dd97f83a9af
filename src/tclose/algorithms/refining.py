"""Refining: classes that keep the limits become classes that keep them and lose less."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tclose.algorithms import moving, splitting, swapping
from tclose.algorithms.limits import Codes, Ints, Limits
from tclose.algorithms.moving import move_all
from tclose.algorithms.running import run_parts
from tclose.algorithms.standing import Standing, alike_of, classes_of, groups, lost
from tclose.algorithms.swapping import swap_all, together_to_swap
from tclose.algorithms.widths import Losses

RISE = 0.4
"""How much a move may raise the loss in the first round, as a share of what a row loses on average."""
CALM = 0.1
"""In this share of the rounds, the last ones, no move may raise the loss."""
SPLIT = 1
SWAPS = 3
"""Rows are swapped in every third round, and moved in the others."""


class Refined(NamedTuple):
    """What refining gives."""

    labels: Ints
    """(rows,): the class of each row, numbered without gaps."""
    rounds: int
    """How many rounds it took,"""
    ended: str
    """and why it ended: "rounds", "time" or "interrupt"."""


def refine(
    quasi: Codes,
    losses: Losses,
    limits: Limits,
    labels: Ints,
    rounds: int,
    seconds: float | None = None,
    hear: Callable[[float], None] = lambda _: None,
) -> Refined:
    """Move and swap rows between classes that keep every limit, so that less is lost.

    In each round classes with similar boxes make groups, similar first on one quasi-identifier, in the next round on the next.
    Each row goes to the class of its group, or changes places with the row, that makes the loss least, if both classes keep the
    limits: even when the loss rises a little, less from round to round, in the last ones not at all (threshold accepting, Dueck
    and Scheuer 1990, with the best move in place of a random one). After moves each class is given up whose rows lose less
    elsewhere.

    Parameters
    ----------
    labels : (rows,) int64
        Classes that keep the limits, numbered without gaps.
    rounds : int
        At most.
    seconds : float, optional
        The time that it may take. Where that is too short there are fewer rounds, and what comes out depends on how fast the
        machine is. With a time, Ctrl-C ends refining and nothing else.
    hear : callable
        Called after each round with what a row loses on average.

    Returns
    -------
    Refined
        With the classes of the round with the least loss; it is never above the loss at the start.
    """
    classes, alike = classes_of(quasi, losses, labels), alike_of(limits)
    best, least = labels, lost(classes)
    rise = RISE * least / len(labels)
    number, ended, started = 0, "rounds", time.monotonic()
    while number < rounds:
        falling = max(0.0, 1 - (number + 1) / max(1.0, rounds * (1 - CALM)))
        try:
            _round(quasi, losses, limits, alike, classes, number, rise * falling)
        except KeyboardInterrupt:
            if seconds is None:
                raise
            ended = "interrupt"
            break
        number += 1
        now = lost(classes)
        if now < least:
            best, least = classes.labels.copy(), now
        hear(least / len(labels))
        possible = rounds if seconds is None else int(number * seconds / (time.monotonic() - started))
        if possible < rounds:
            rounds, ended = max(number, possible), "time"
    return Refined(np.unique(best, return_inverse=True)[1].astype(np.int64), number, ended)


def _round(quasi: Codes, losses: Losses, limits: Limits, alike: Codes, classes: Standing, number: int, rise: float) -> None:
    """Swap rows, or move them, in all groups."""
    step: Callable[..., None]
    room: Callable[[], Any]
    if number % SWAPS == SWAPS - 1:
        similar = groups(classes, number // SWAPS, together_to_swap(classes))
        step, room = swap_all, partial(swapping.room_for, limits, similar.rows)
    else:
        similar = groups(classes, number, moving.TOGETHER)
        if SPLIT and number % SPLIT == 0:
            run_parts(
                splitting.split_all,
                len(similar.starts) - 1,
                partial(splitting.room_for, limits, quasi.shape[1], similar.rows),
                *(quasi, losses, limits, classes, similar),
            )
            similar = groups(classes, number, moving.TOGETHER)
        step, room = move_all, partial(moving.room_for, limits, int(alike.max()) + 1, similar.rows)
    run_parts(step, len(similar.starts) - 1, room, quasi, losses, limits, alike, classes, similar, rise)
