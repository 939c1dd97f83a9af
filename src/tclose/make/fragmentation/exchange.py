"""Exchange: classes that swap rows of one fragment so that they lose less."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.make.kernels.compiling import kernel, lean, once
from tclose.make.kernels.loss import ABOVE, BELOW, LossTable, loss
from tclose.make.kernels.running import run
from tclose.values.arrays import Bytes, Codes, Floats, Ints

ROUNDS = 56
"""How often classes are put into groups."""
LAST = 4
"""In so many rounds at the end no swap may raise the loss."""
RISE = 0.1
"""How much a swap may raise the loss in the first round, as a share of what a class loses on average."""
TOGETHER = 64
"""So many classes make a group;"""
ROWS = 4000
"""fewer if they have more rows than that."""
NEAR = 1e-9
"""A smaller gain may be a matter of rounding."""


EDGES = np.dtype([("low", np.int32), ("next_low", np.int32), ("high", np.int32), ("next_high", np.int32), ("loss", np.float64)])
"""The least code of a class on one quasi-identifier, and the least when a row with that code leaves, `ABOVE` all without others;
the largest code, and the largest when a row with that code leaves, `BELOW` all without others; what each row loses."""


class Classes(NamedTuple):
    """The classes as they stand, and what they lose."""

    labels: Ints
    """(rows,): the class of each row."""
    members: Codes
    """(rows,): row numbers; each class is a slice of it."""
    starts: Ints
    """(classes + 1,): where the rows of each class start."""
    places: Codes
    """(rows,): where each row is among the members."""
    boxes: NDArray[Any]
    """(classes, quasi) of `EDGES`."""
    totals: Floats
    """(classes,): what each row of a class loses in all; NaN before a class is measured."""
    reliefs: Floats
    """(rows,): how much less all rows of its class lose, at most, when a row leaves for another; 0 inside the box."""


def exchange(quasi: Codes, losses: LossTable, fragment: Codes, labels: Ints) -> Ints:
    """Swap rows of the same fragment between classes; the class of each row in the end.

    Every class keeps the number of rows of each fragment that it had. In each round classes with similar boxes make groups,
    similar first on one quasi-identifier, in the next round on the next. Each row at the edge of its class's box is swapped
    with the row of its group that makes the loss least, even when it rises a little: less from round to round, in the last ones
    not at all (threshold accepting, Dueck and Scheuer 1990, with the best swap in place of a random one).

    Returns
    -------
    (rows,) int64
        Those of the round with the least loss; it is never above the loss at the start.
    """
    classes = classes_of(quasi, losses, labels)
    sizes = np.diff(classes.starts)
    best, least = labels, math.fsum(sizes * classes.totals)
    rise = RISE * least / len(sizes)
    for number in range(ROUNDS):
        rows, starts = _groups(classes, fragment, number)
        falling = max(0.0, 1 - (number + 1) / (ROUNDS - LAST))
        run(sweep, quasi, losses, classes, rows, starts, rise * falling)
        now = math.fsum(sizes * classes.totals)
        if now < least:
            best, least = classes.labels.copy(), now
    return best


def classes_of(quasi: Codes, losses: LossTable, labels: Ints) -> Classes:
    """The classes with these labels."""
    rows, columns = quasi.shape
    members = np.argsort(labels, kind="stable").astype(np.int32)
    count = int(labels.max()) + 1
    places = np.empty(rows, dtype=np.int32)
    places[members] = np.arange(rows, dtype=np.int32)
    classes = Classes(
        labels.copy(),
        members,
        np.searchsorted(labels[members], np.arange(count + 1)).astype(np.int64),
        places,
        np.empty((count, columns), dtype=EDGES),
        np.full(count, np.nan),
        np.empty(rows, dtype=np.float64),
    )
    run(sweep, quasi, losses, classes, members[:0], classes.starts[:1], 0.0)
    return classes


def _groups(classes: Classes, fragment: Codes, number: int) -> tuple[Codes, Ints]:
    """Rows that may be swapped with one another, one set after the other, and where each set starts."""
    columns, sizes = classes.boxes.shape[1], np.diff(classes.starts)
    middles = classes.boxes["low"] + classes.boxes["high"]
    order = np.lexsort([middles[:, (number + place) % columns] for place in range(columns - 1, -1, -1)])
    most = max(2, min(TOGETHER, ROWS * len(sizes) // len(fragment)))
    shift = most // 2 * (number // columns % 2)  # so that the borders are not always the same
    group = np.empty(len(sizes), dtype=np.int64)
    group[order] = (np.arange(len(sizes)) + shift) // most
    key = group[classes.labels] * (int(fragment.max()) + 1) + fragment
    rows = np.argsort(key, kind="stable").astype(np.int32)
    starts = np.flatnonzero(np.diff(key[rows], prepend=-1))
    return rows, np.append(starts, len(rows)).astype(np.int64)


@kernel
def sweep(quasi: Codes, losses: LossTable, classes: Classes, rows: Codes, starts: Ints, rise: float, cancel: Bytes) -> None:
    """Swap each row at an edge with the best row of its set, if the loss rises by less than allowed.

    Before that, classes that were never measured are.
    """
    for number in range(len(classes.totals)):
        if np.isnan(classes.totals[number]) and cancel[0] == 0:
            _measure(quasi, losses, classes, number)
    for place in range(len(starts) - 1):
        candidates = rows[starts[place] : starts[place + 1]]
        for row in candidates:
            if cancel[0]:
                return
            if classes.reliefs[row] <= NEAR:
                continue
            other = _best(quasi, losses, classes, row, candidates, rise)
            if other >= 0:
                _swap(classes, row, other)
                for number in (classes.labels[row], classes.labels[other]):
                    _measure(quasi, losses, classes, number)


@once
def _best(quasi: Codes, losses: LossTable, classes: Classes, row: int, candidates: Codes, rise: float) -> int:
    """The row to swap this one with; -1 where there is none."""
    here = classes.labels[row]
    size = classes.starts[here + 1] - classes.starts[here]
    best, most = -1, NEAR if rise == 0 else -rise
    for other in candidates:
        there = classes.labels[other]
        if here == there or classes.reliefs[row] + classes.reliefs[other] <= most:
            continue
        # What the class at hand may lose with the other row, if that class gains as much as it can.
        enough = classes.totals[here] + (classes.reliefs[other] - most) / size
        after = _loss_with(quasi, losses, classes, here, row, other, enough)
        if after > enough:
            continue
        gain = size * (classes.totals[here] - after)
        other_size = classes.starts[there + 1] - classes.starts[there]
        enough = classes.totals[there] + (gain - most) / other_size
        gain += other_size * (classes.totals[there] - _loss_with(quasi, losses, classes, there, other, row, enough))
        if gain > most and abs(gain) > NEAR:
            best, most = other, gain
    return best


@lean
def _loss_with(quasi: Codes, losses: LossTable, classes: Classes, number: int, leaves: int, comes: int, enough: float) -> float:
    """What a class would lose with another row in place of one of its own; where that is above enough, a part of it."""
    total = 0.0
    for column in range(quasi.shape[1]):
        code, new = quasi[leaves, column], quasi[comes, column]
        box = classes.boxes[number, column]
        after_low, after_high = box.next_low if code == box.low else box.low, box.next_high if code == box.high else box.high
        if new < after_low:
            after_low = new
        if new > after_high:
            after_high = new
        if after_low == box.low and after_high == box.high:
            total += box.loss
        else:
            total += loss(losses, column, after_low, after_high)
        if total > enough:
            break
    return total


@once
def _swap(classes: Classes, a: int, b: int) -> None:
    """Put each of two rows in the place of the other."""
    classes.labels[a], classes.labels[b] = classes.labels[b], classes.labels[a]
    classes.places[a], classes.places[b] = classes.places[b], classes.places[a]
    classes.members[classes.places[a]], classes.members[classes.places[b]] = a, b


@lean
def _measure(quasi: Codes, losses: LossTable, classes: Classes, number: int) -> None:
    """Find the box of a class, what it loses, and what it would lose without each of its rows."""
    members = classes.members[classes.starts[number] : classes.starts[number + 1]]
    for row in members:
        classes.reliefs[row] = 0.0
    classes.totals[number] = 0.0
    for column in range(quasi.shape[1]):
        low = next_low = ABOVE
        high = next_high = BELOW
        for row in members:
            code = quasi[row, column]
            if code < low:
                low, next_low = code, low
            elif code < next_low:
                next_low = code
            if code > high:
                high, next_high = code, high
            elif code > next_high:
                next_high = code
        box = classes.boxes[number, column]
        box.low, box.next_low, box.high, box.next_high = low, next_low, high, next_high
        box.loss = loss(losses, column, low, high)
        classes.totals[number] += box.loss
        if next_low == low and next_high == high:
            continue
        for row in members:
            code = quasi[row, column]
            after_low, after_high = (next_low if code == low else low), (next_high if code == high else high)
            if after_low != low or after_high != high:
                after = loss(losses, column, after_low, after_high) if after_low <= after_high else 0.0
                classes.reliefs[row] += len(members) * (box.loss - after)
