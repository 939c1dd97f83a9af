"""Refining: classes that keep the limits become classes that keep them and lose less."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from tclose.make.growth import move, split, swap
from tclose.make.growth.neighbourhood import groups, measure_all
from tclose.make.kernels.classes import Classes, Given, classes_of, labels_of, total_loss
from tclose.values.arrays import Ints

RISE = 0.4
"""How much a move may raise the loss in the first round, as a share of what a row loses on average."""
CALM = 0.1
"""In this share of the rounds, the last ones, no move may raise the loss."""
SWAPS = 3
"""Rows are swapped in every third round, and moved in the others."""
EARLY = 5
"""Before so great a part of the time is gone, a fifth, nobody asks how many rounds fit: the first ones are the slowest."""


class Refined(NamedTuple):
    """What refining gives."""

    labels: Ints
    """(rows,): the class of each row, numbered without gaps."""
    rounds: int
    """How many rounds it took,"""
    ended: str
    """and why it ended: "rounds", "time" or "interrupt"."""


def refine(
    given: Given,
    labels: Ints,
    rounds: int,
    seconds: float | None = None,
    hear: Callable[[float], None] = lambda _: None,
) -> Refined:
    """Move and swap rows between classes that keep every limit, so that less is lost.

    In each round classes with similar boxes make groups, similar first on one quasi-identifier, in the next round on the next.
    Each row goes to the class of its group, or changes places with the row, that makes the loss least, if both classes keep the
    limits: even when the loss rises a little, less from round to round, in the last ones not at all (threshold accepting, Dueck
    and Scheuer 1990, with the best move in place of a random one). Before rows are moved, each class is cut in two that can be;
    afterwards each one is given up whose rows lose less elsewhere.

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
    number, ended, started = 0, "rounds", time.monotonic()
    best = labels
    try:
        classes = classes_of(labels, given.quasi.shape[1])
        measure_all(given, classes)
        least = total_loss(classes)
        rise = RISE * least / len(labels)
        while number < rounds:
            falling = max(0.0, 1 - (number + 1) / max(1.0, rounds * (1 - CALM)))
            _round(given, classes, number, rise * falling)
            number += 1
            now = total_loss(classes)
            if now < least:
                best, least = labels_of(classes), now
            hear(least / len(labels))
            gone = time.monotonic() - started
            if seconds is not None and number < rounds and gone >= seconds / EARLY and number * seconds < rounds * gone:
                rounds, ended = max(number, int(number * seconds / gone)), "time"
    except KeyboardInterrupt:
        if seconds is None:
            raise
        ended = "interrupt"
    return Refined(best, number, ended)


def _round(given: Given, classes: Classes, number: int, rise: float) -> None:
    """Swap rows of all groups; or split classes, then move rows."""
    if number % SWAPS == SWAPS - 1:
        swap.swap(given, classes, groups(classes, number // SWAPS, swap.group_size(classes)), rise)
        return
    turn = number - number // SWAPS
    split.split(given, classes, groups(classes, turn, move.TOGETHER))
    move.move(given, classes, groups(classes, turn, move.TOGETHER), rise)
