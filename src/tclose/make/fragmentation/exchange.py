"""Exchange: classes swap rows of the same fragment so that they lose less information."""

from __future__ import annotations

import numpy as np

from tclose.make.kernels.classes import LEAST_GAIN, Classes, classes_of, loss_with_swap, measure, move_row, total_loss
from tclose.make.kernels.compiling import kernel, lean, once
from tclose.make.kernels.loss import LossTable, loss
from tclose.make.kernels.running import run
from tclose.values.arrays import Bytes, Codes, Ints, grouped

ROUNDS = 56
"""How many rounds of swaps there are."""
LAST = 4
"""In this many rounds at the end no swap may raise the loss."""
RISE = 0.1
"""How much a swap may raise the loss in the first round, as a share of the mean loss of a class."""
TOGETHER = 64
"""A group has at most this many classes."""
ROWS = 4000
"""A group of large classes has about this many rows."""


def exchange(quasi: Codes, losses: LossTable, fragment: Codes, labels: Ints) -> Ints:
    """Return the class of each row after rows of the same fragment were swapped between classes.

    Every class keeps its number of rows of each fragment. In each round, classes with similar boxes form groups: sorted by one
    quasi-identifier, in the next round by the next. Each row at an edge of its class's box is swapped with the row of its group
    that lowers the loss most. A swap may raise the loss a little, less from round to round, in the last rounds not at all
    (threshold accepting, Dueck and Scheuer 1990, with the best swap in place of a random one).

    Returns
    -------
    (rows,) int64
        The classes of the round with the least loss, which is never above the loss at the start.
    """
    classes = measured(quasi, losses, labels)
    best, least = labels, total_loss(classes)
    rise = RISE * least / len(classes.each)
    for number in range(ROUNDS):
        rows, starts = _groups(classes, fragment, number)
        falling = max(0.0, 1 - (number + 1) / (ROUNDS - LAST))
        run(sweep, quasi, losses, classes, rows, starts, rise * falling)
        now = total_loss(classes)
        if now < least:
            best, least = classes.rows["label"].copy(), now
    return best


def measured(quasi: Codes, losses: LossTable, labels: Ints) -> Classes:
    """Return the classes with these labels, measured."""
    classes = classes_of(labels, quasi.shape[1])
    run(sweep, quasi, losses, classes, np.empty(0, dtype=np.int32), np.zeros(1, dtype=np.int64), 0.0)
    return classes


def _groups(classes: Classes, fragment: Codes, number: int) -> tuple[Codes, Ints]:
    """Return the rows sorted into sets, each of one fragment and one group of classes, and where each set starts."""
    columns, count = classes.edges.shape[1], len(classes.each)
    middles = classes.edges["low"] + classes.edges["high"]
    order = np.lexsort([middles[:, (number + index) % columns] for index in range(columns - 1, -1, -1)])
    most = max(2, min(TOGETHER, ROWS * count // len(fragment)))
    shift = most // 2 * (number // columns % 2)  # so that the borders between groups change
    group = np.empty(count, dtype=np.int64)
    group[order] = (np.arange(count) + shift) // most
    rows, starts = grouped(group[classes.rows["label"]] * (int(fragment.max()) + 1) + fragment)
    return rows.astype(np.int32), starts


@kernel
def sweep(quasi: Codes, losses: LossTable, classes: Classes, rows: Codes, starts: Ints, rise: float, cancel: Bytes) -> None:
    """Swap each row at an edge with the best row of its set, if the loss rises by less than ``rise``.

    Classes that are not measured yet are measured first.
    """
    for number in range(len(classes.each)):
        if np.isnan(classes.each[number].loss) and cancel[0] == 0:
            measure(quasi, losses, classes, number)
            _set_reliefs(quasi, losses, classes, number)
    for index in range(len(starts) - 1):
        candidates = rows[starts[index] : starts[index + 1]]
        for row in candidates:
            if cancel[0]:
                return
            if classes.rows[row].relief <= LEAST_GAIN:
                continue
            other = _best(quasi, losses, classes, row, candidates, rise)
            if other >= 0:
                here, there = classes.rows[row].label, classes.rows[other].label
                move_row(quasi, losses, classes, row, there)
                move_row(quasi, losses, classes, other, here)
                _set_reliefs(quasi, losses, classes, here)
                _set_reliefs(quasi, losses, classes, there)


@once
def _best(quasi: Codes, losses: LossTable, classes: Classes, row: int, candidates: Codes, rise: float) -> int:
    """Return the row to swap this one with; -1 if there is none."""
    label = classes.rows[row].label
    here, relief = classes.each[label], classes.rows[row].relief
    best, most = -1, LEAST_GAIN if rise == 0 else -rise
    for other in candidates:
        second = classes.rows[other]
        if second.label == label or relief + second.relief <= most:
            continue
        there = classes.each[second.label]
        # The loss that this class may have with the other row, if the other class gains as much as it can.
        enough = here.loss + (second.relief - most) / here.size
        after = loss_with_swap(quasi, losses, classes, row, other, enough)
        if after > enough:
            continue
        gain = here.size * (here.loss - after)
        enough = there.loss + (gain - most) / there.size
        gain += there.size * (there.loss - loss_with_swap(quasi, losses, classes, other, row, enough))
        if gain > most and abs(gain) > LEAST_GAIN:
            best, most = other, gain
    return best


@lean
def _set_reliefs(quasi: Codes, losses: LossTable, classes: Classes, number: int) -> None:
    """Set the relief of each row of a class: what all its rows gain when the row leaves; 0 for a row that is at no edge."""
    one = classes.each[number]
    row = one.head
    while row >= 0:
        relief = 0.0
        for column in range(quasi.shape[1]):
            code, edge = quasi[row, column], classes.edges[number, column]
            low = edge.next_low if code == edge.low else edge.low
            high = edge.next_high if code == edge.high else edge.high
            if low != edge.low or high != edge.high:
                after = loss(losses, column, low, high) if low <= high else 0.0
                relief += one.size * (edge.loss - after)
        classes.rows[row].relief = relief
        row = classes.rows[row].next
