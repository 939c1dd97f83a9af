"""Standing classes: lists of rows that rows can leave and join at once, their boxes and what they lose."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tclose.algorithms.blocks import ABOVE, BELOW
from tclose.algorithms.compiling import kernel, lean
from tclose.algorithms.limits import Codes, Ints, Limits
from tclose.algorithms.widths import Floats, Losses, loss

LARGEST = 5000
"""Classes with more rows stay as they are: to look whether one may lose a row takes time with every row it has."""


SPARE = 64
"""There are numbers for so many classes more, and half as many as there are."""


class Standing(NamedTuple):
    """The classes as they stand: lists of rows, linked both ways so that a row can leave at once, their boxes and losses."""

    labels: Ints
    """(rows,): the class of each row."""
    nexts: Codes
    """(rows,): the next row of its class, -1 at the end,"""
    befores: Codes
    """and the one before, -1 at the start."""
    heads: Codes
    """(classes,): the first row of each class,"""
    sizes: Ints
    """and how many it has."""
    lows: Codes
    """(classes, quasi): the least code of each class,"""
    next_lows: Codes
    """the least when a row with that code leaves, `ABOVE` all without others,"""
    highs: Codes
    """the largest code,"""
    next_highs: Codes
    """and the largest when a row with that code leaves, `BELOW` all without others."""
    own: Floats
    """(classes, quasi): what each row of a class loses,"""
    totals: Floats
    """(classes,): in all."""
    places: Codes
    """(classes,): where each class is in its group."""
    reliefs: Floats
    """(rows,): how much less the class of a row loses, at most, when the row is swapped for another."""


class Groups(NamedTuple):
    """Classes that may take rows from one another."""

    order: Ints
    """(classes,): numbers of classes, one group after the other,"""
    starts: Ints
    """(groups + 1,): where each group starts,"""
    rows: int
    """and the rows of the largest."""
    spares: Ints
    """Numbers that no class has,"""
    spare_starts: Ints
    """(groups + 1,): and where those for each group start."""


def classes_of(quasi: Codes, losses: Losses, labels: Ints) -> Standing:
    """The classes with these labels."""
    rows, columns = quasi.shape
    order = np.argsort(labels, kind="stable").astype(np.int32)
    sizes = np.bincount(labels)
    count = len(sizes) + len(sizes) // 2 + SPARE
    starts = np.cumsum(sizes) - sizes
    nexts, befores = np.full(rows, -1, dtype=np.int32), np.full(rows, -1, dtype=np.int32)
    inside = np.flatnonzero(labels[order[:-1]] == labels[order[1:]])
    nexts[order[inside]] = order[inside + 1]
    befores[order[inside + 1]] = order[inside]
    heads = np.full(count, -1, dtype=np.int32)
    heads[: len(sizes)] = order[starts]
    boxes = np.empty((4, count, columns), dtype=np.int32)
    classes = Standing(
        labels.astype(np.int64),
        nexts,
        befores,
        heads,
        np.pad(sizes, (0, count - len(sizes))).astype(np.int64),
        boxes[0],
        boxes[1],
        boxes[2],
        boxes[3],
        np.empty((count, columns), dtype=np.float64),
        np.empty(count, dtype=np.float64),
        np.empty(count, dtype=np.int32),
        np.empty(rows, dtype=np.float64),
    )
    measure_all(quasi, losses, classes)
    return classes


def alike_of(limits: Limits) -> Codes:
    """Numbers of rows, without gaps: the same where no limit can tell two rows apart."""
    numbers = np.zeros(limits.codes.shape[1], dtype=np.int64)
    for codes in (*limits.codes, *([limits.persons] if len(limits.persons) else [])):
        numbers = np.unique(numbers * (int(codes.max()) + 1) + codes, return_inverse=True)[1]
    return numbers.astype(np.int32)


def groups(classes: Standing, number: int, together: int) -> Groups:
    """Groups of classes with similar boxes: similar first on one quasi-identifier, for the next number on the next."""
    columns = classes.lows.shape[1]
    known = np.flatnonzero((classes.sizes > 0) & (classes.sizes <= LARGEST))
    middles = classes.lows[known].astype(np.int64) + classes.highs[known]
    order = known[np.lexsort([middles[:, (number + place) % columns] for place in range(columns - 1, -1, -1)])]
    shift = together // 2 * (number // columns % 2)  # so that the borders are not always the same
    starts = np.arange(-shift, len(order), together).clip(0)
    rows = np.add.reduceat(classes.sizes[order], starts).max(initial=0) if len(order) else 0
    spares = np.flatnonzero(classes.sizes == 0)
    spare_starts = np.arange(len(starts) + 1) * len(spares) // max(1, len(starts))
    return Groups(order, np.append(starts, len(order)).astype(np.int64), int(rows), spares, spare_starts)


def lost(classes: Standing) -> float:
    """What all rows lose."""
    return math.fsum(classes.sizes * classes.totals)


@kernel
def measure_all(quasi: Codes, losses: Losses, classes: Standing) -> None:
    """Find the box and the loss of every class."""
    for number in range(len(classes.sizes)):
        measure(quasi, losses, classes, number)


@lean
def gather(classes: Standing, number: int, leaves: int, rows: Codes) -> int:
    """List the rows of a class, without the one that leaves; how many they are."""
    size, row = 0, classes.heads[number]
    while row >= 0:
        rows[size] = row
        size += row != leaves
        row = classes.nexts[row]
    return size


@lean
def loss_without(quasi: Codes, losses: Losses, classes: Standing, number: int, row: int) -> float:
    """What each of the other rows of a class loses when one leaves; nothing where there is no other."""
    total = 0.0
    if classes.sizes[number] == 1:
        return total
    for column in range(quasi.shape[1]):
        code, low, high = quasi[row, column], classes.lows[number, column], classes.highs[number, column]
        after_low = classes.next_lows[number, column] if code == low else low
        after_high = classes.next_highs[number, column] if code == high else high
        if after_low == low and after_high == high:
            total += classes.own[number, column]
        else:
            total += loss(losses, column, after_low, after_high)
    return total


@lean
def put(quasi: Codes, losses: Losses, classes: Standing, row: int, target: int) -> None:
    """Take a row out of its class and put it at the head of another."""
    here, before, after = classes.labels[row], classes.befores[row], classes.nexts[row]
    if before >= 0:
        classes.nexts[before] = after
    else:
        classes.heads[here] = after
    if after >= 0:
        classes.befores[after] = before
    head = classes.heads[target]
    if head >= 0:
        classes.befores[head] = row
    classes.nexts[row], classes.befores[row], classes.heads[target] = head, -1, row
    classes.labels[row] = target
    classes.sizes[here] -= 1
    classes.sizes[target] += 1
    measure(quasi, losses, classes, here)
    measure(quasi, losses, classes, target)


@lean
def measure(quasi: Codes, losses: Losses, classes: Standing, number: int) -> None:
    """Find the box of a class and what it loses; an empty one loses nothing."""
    classes.totals[number] = 0.0
    if classes.sizes[number] == 0:
        return
    for column in range(quasi.shape[1]):
        low: Any = ABOVE
        next_low: Any = ABOVE
        high: Any = BELOW
        next_high: Any = BELOW
        row = classes.heads[number]
        while row >= 0:
            code = quasi[row, column]
            next_low = min(next_low, max(low, code))
            low = min(low, code)
            next_high = max(next_high, min(high, code))
            high = max(high, code)
            row = classes.nexts[row]
        classes.lows[number, column], classes.next_lows[number, column] = low, next_low
        classes.highs[number, column], classes.next_highs[number, column] = high, next_high
        classes.own[number, column] = loss(losses, column, low, high)
        classes.totals[number] += classes.own[number, column]
