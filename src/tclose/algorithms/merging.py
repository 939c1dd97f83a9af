"""Merging: classes that break a limit are joined with others until all hold; for limits that merging preserves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.algorithms.checks import Scratch, failing, holds, scratch_for
from tclose.algorithms.compiling import kernel, lean
from tclose.algorithms.limits import Codes, Ints, Limits
from tclose.algorithms.running import run
from tclose.algorithms.widths import Losses, loss


def merge_failing(labels: Ints, quasi: Codes, losses: Losses, limits: Limits) -> Ints:
    """Join every class that breaks a limit with the class that raises the loss least, again and again, until none does.

    Of equals the first is taken. In the worst case one class of all rows is left.

    Parameters
    ----------
    labels : (rows,) int64
        The class of each row, numbered without gaps.
    quasi : (rows, quasi) int32
        The codes of the quasi-identifiers.

    Returns
    -------
    (rows,) int64
        Classes numbered without gaps.
    """
    order = np.argsort(labels, kind="stable").astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels))])
    bad = failing(limits, order, starts)
    if not bad.any():
        return labels
    classes = _classes_of(quasi, order, starts, losses)
    run(_merge_all, limits, losses, classes, bad, np.empty_like(order), scratch_for(limits))
    merged = np.empty_like(labels)
    for number, first in enumerate(np.flatnonzero(classes.sizes)):
        row = classes.heads[first]
        while row >= 0:
            merged[row] = number
            row = classes.nexts[row]
    return merged


class Classes(NamedTuple):
    """Classes as linked lists of rows, so that two are joined at once."""

    heads: Codes
    """(classes,): the first row of each,"""
    tails: Codes
    """and the last."""
    nexts: Codes
    """(rows,): the next row of the same class, -1 at the end."""
    sizes: Ints
    """(classes,): 0 where a class has gone into another."""
    low: Codes
    """(classes, quasi): the least codes,"""
    high: Codes
    """and the largest."""
    lost: NDArray[np.float64]
    """(classes,): the loss of each of its rows."""


def _classes_of(quasi: Codes, order: Codes, starts: Ints, losses: Losses) -> Classes:
    nexts = np.empty_like(order)
    nexts[order[:-1]] = order[1:]
    nexts[order[starts[1:] - 1]] = -1
    low, high = (end.reduceat(quasi[order], starts[:-1]) for end in (np.minimum, np.maximum))
    classes = Classes(
        order[starts[:-1]], order[starts[1:] - 1], nexts, np.diff(starts), low, high, np.empty(len(starts) - 1, dtype=np.float64)
    )
    _weigh(losses, classes)
    return classes


@kernel
def _weigh(losses: Losses, classes: Classes) -> None:
    """The loss of each class's rows."""
    for number in range(len(classes.sizes)):
        classes.lost[number] = _together(losses, classes, number, number)


@lean
def _together(losses: Losses, classes: Classes, one: int, other: int) -> float:
    """The loss of a row when two classes are one."""
    total = 0.0
    for column in range(classes.low.shape[1]):
        low = min(classes.low[one, column], classes.low[other, column])
        high = max(classes.high[one, column], classes.high[other, column])
        total += loss(losses, column, low, high)
    return total


@kernel
def _merge_all(
    limits: Limits,
    losses: Losses,
    classes: Classes,
    bad: NDArray[np.bool_],
    rows: Codes,
    scratch: Scratch,
    cancel: NDArray[np.uint8],
) -> None:
    """Merge the classes that break a limit, in turn; ``rows`` is room for the rows of one class."""
    for start in range(len(bad)):
        number = start
        while bad[number]:
            partner = _cheapest(losses, classes, number)
            if partner < 0 or cancel[0]:
                return
            _join(losses, classes, partner, number)
            bad[number] = False
            number = partner
            bad[number] = not holds(limits, limits.references, rows[: _gather(classes, number, rows)], scratch)


@lean
def _cheapest(losses: Losses, classes: Classes, number: int) -> int:
    """The class that raises the loss least when this one goes into it; -1 where there is no other."""
    best, least = -1, np.inf
    own = classes.sizes[number] * classes.lost[number]
    for other in range(len(classes.sizes)):
        size = classes.sizes[other]
        if size == 0 or other == number:
            continue
        both = size + classes.sizes[number]
        rise = both * _together(losses, classes, number, other) - own - size * classes.lost[other]
        if rise < least:
            best, least = other, rise
    return best


@lean
def _join(losses: Losses, classes: Classes, into: int, number: int) -> None:
    """Put all rows of one class into another."""
    classes.nexts[classes.tails[into]] = classes.heads[number]
    classes.tails[into] = classes.tails[number]
    classes.lost[into] = _together(losses, classes, into, number)
    classes.sizes[into] += classes.sizes[number]
    classes.sizes[number] = 0
    for column in range(classes.low.shape[1]):
        classes.low[into, column] = min(classes.low[into, column], classes.low[number, column])
        classes.high[into, column] = max(classes.high[into, column], classes.high[number, column])


@lean
def _gather(classes: Classes, number: int, rows: Codes) -> int:
    """Put the rows of a class side by side; how many they are."""
    size, row = 0, classes.heads[number]
    while row >= 0:
        rows[size] = row
        size += 1
        row = classes.nexts[row]
    return size
