"""Refining: rows are moved and swapped between classes, and classes split, so that less information is lost."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from tclose.make.growth import move, split, swap
from tclose.make.growth.neighbourhood import Given, measured, similar
from tclose.make.kernels.classes import Classes, labels_of, total_loss
from tclose.values.arrays import Ints

RISE = 0.4
"""How much a move may raise the loss in the first round, as a share of the mean loss of a row."""
CALM = 0.1
"""In this share of the rounds, the last ones, no move may raise the loss."""
SWAPS = 3
"""Rows are swapped in every third round, and moved in the others."""
EARLY = 5
"""The number of rounds that fit into the time is estimated only after 1/EARLY of it: the first rounds are the slowest."""


class Refined(NamedTuple):
    """The result of refining."""

    labels: Ints
    """(rows,): the class of each row, numbered without gaps."""
    rounds: int
    """How many rounds there were."""
    ended: str
    """Why it ended: "rounds", "time" or "interrupt"."""


def refine(
    given: Given,
    labels: Ints,
    rounds: int,
    seconds: float | None = None,
    hear: Callable[[float], None] = lambda _: None,
) -> Refined:
    """Move and swap rows between classes, which satisfy every limit before and afterwards, to lower the information loss.

    In each round, classes with similar boxes form groups: sorted by one quasi-identifier, in the next round by the next. Each
    row moves to the class of its group, or is swapped with the row, that lowers the loss most, if both classes satisfy the
    limits. The loss may rise a little, less from round to round, in the last ones not at all (threshold accepting, Dueck and
    Scheuer 1990, with the best move in place of a random one). Before rows are moved, classes are split if they can be;
    afterwards a class is dissolved if its rows lose less elsewhere.

    Parameters
    ----------
    labels : (rows,) int64
        Classes that satisfy the limits, numbered without gaps.
    rounds : int
        At most.
    seconds : float, optional
        The time that refining may take. If it is too short, there are fewer rounds, and the result depends on the speed of the
        machine. With a time, Ctrl-C ends refining and nothing else.
    hear : callable
        Called after each round with the mean loss of a row.

    Returns
    -------
    Refined
        With the classes of the round with the least loss, which is never above the loss at the start.
    """
    number, ended, started = 0, "rounds", time.monotonic()
    best = labels
    try:
        classes = measured(given, labels)
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
    """Swap rows in all groups; or split classes, then move rows."""
    if number % SWAPS == SWAPS - 1:
        swap.swap(given, classes, similar(classes, number // SWAPS, swap.group_size(classes)), rise)
        return
    turn = number - number // SWAPS
    split.split(given, classes, similar(classes, turn, move.TOGETHER))
    move.move(given, classes, similar(classes, turn, move.TOGETHER), rise)
