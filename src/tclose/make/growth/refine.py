"""Refining: rows are moved and swapped between classes, and classes split, so that less information is lost."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tclose.make.growth import move, split, swap
from tclose.make.growth.neighbourhood import Given, measured, similar
from tclose.make.kernels.classes import Classes, labels_of, total_loss
from tclose.values.arrays import Ints

RISE = 0.4
"""How much a move may raise the loss in the first round, as a share of the mean loss of a row."""
CALM = 0.1
"""In this share of the rounds, the last ones, no move may raise the loss."""
TRIAL = 3
"""Rounds after which the best of several partitions is known."""
SWAPS = 3
"""Rows are swapped in every third round, and moved in the others."""
EARLY = 5
"""The number of rounds that fit into the time is estimated only after 1/EARLY of it: the first rounds are the slowest."""


class Refined(NamedTuple):
    """The result of refining."""

    labels: Ints
    """(rows,): the class of each row, numbered without gaps."""
    start: int
    """The index of the partition that it started from."""
    rounds: int
    """How many rounds there were."""
    ended: str
    """Why it ended: "rounds", "time" or "interrupt"."""


class _Course:
    """A partition while it is refined, and the best that it was after any round."""

    classes: Classes
    rise: float
    """How much a move may raise the loss in the first round."""

    def __init__(self, labels: Ints, start: int) -> None:
        """Take the partition that refining starts from, and its index."""
        self.best, self.start = labels, start
        self.least = math.inf

    def measure(self, given: Given) -> None:
        """Measure the classes of the partition before the first round."""
        self.classes = measured(given, self.best)
        self.least = total_loss(self.classes)
        self.rise = RISE * self.least / len(self.best)

    def go_on(self, given: Given, number: int, falling: float) -> None:
        """Refine the partition for one round, in which moves may raise the loss by a share of what they may at first."""
        _round(given, self.classes, number, self.rise * falling)
        now = total_loss(self.classes)
        if now < self.least:
            self.best, self.least = labels_of(self.classes), now


def refine(
    given: Given,
    starts: Sequence[Ints],
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

    Of several partitions to start from, the one with the least loss after `TRIAL` rounds is refined further; ties: the first.

    Parameters
    ----------
    starts : sequence of (rows,) int64
        Partitions to start from: classes that satisfy the limits, numbered without gaps.
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
    courses = [_Course(labels, start) for start, labels in enumerate(starts)]
    try:
        for course in courses:
            course.measure(given)
        while number < rounds:
            for course in courses:
                course.go_on(given, number, _falling(number, rounds))
            number += 1
            if number == TRIAL:
                courses = [_best_of(courses)]
            hear(_best_of(courses).least / len(starts[0]))
            gone = time.monotonic() - started
            if seconds is not None and number < rounds and gone >= seconds / EARLY and number * seconds < rounds * gone:
                rounds, ended = max(number, int(number * seconds / gone)), "time"
    except KeyboardInterrupt:
        if seconds is None:
            raise
        ended = "interrupt"
    best = _best_of(courses)
    return Refined(best.best, best.start, number, ended)


def losses_after_trial(given: Given, starts: Sequence[Ints], rounds: int) -> list[float]:
    """Return what is lost by each of several partitions after the first `TRIAL` of these rounds."""
    courses = [_Course(labels, start) for start, labels in enumerate(starts)]
    for course in courses:
        course.measure(given)
        for number in range(min(TRIAL, rounds)):
            course.go_on(given, number, _falling(number, rounds))
    return [course.least for course in courses]


def _falling(number: int, rounds: int) -> float:
    """Return how much a move may raise the loss in a round, as a share of what it may at first."""
    return max(0.0, 1 - (number + 1) / max(1.0, rounds * (1 - CALM)))


def _best_of(courses: Sequence[_Course]) -> _Course:
    """Return the partition that has lost least after any round of refining; ties: the first."""
    return min(courses, key=lambda course: course.least)


def _round(given: Given, classes: Classes, number: int, rise: float) -> None:
    """Swap rows in all groups; or split classes, then move rows."""
    if number % SWAPS == SWAPS - 1:
        swap.swap(given, classes, similar(classes, number // SWAPS, swap.group_size(classes)), rise)
        return
    turn = number - number // SWAPS
    split.split(given, classes, similar(classes, turn, move.TOGETHER))
    move.move(given, classes, similar(classes, turn, move.TOGETHER), rise)
