"""Classes: a partition of the rows that kernels change row by row, with the box and the information loss of each class.

It is the one mutable partition of growth, fragmentation and merging. The rows of a class are a linked list, so that a row
changes its class, and two classes are joined, without moving others.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.make.kernels.compiling import lean, once
from tclose.make.kernels.loss import ABOVE, BELOW, LossTable, loss
from tclose.values.arrays import Codes, Ints, grouped, renumber

LEAST_GAIN = 1e-9
"""A smaller gain in information loss may be a matter of rounding."""

ROW = np.dtype(
    [
        ("label", np.int64),  # its class
        ("next", np.int32),  # the next row of its class; -1 for the last
        ("previous", np.int32),  # the previous row of its class; -1 for the first
        ("relief", np.float64),  # upper bound on what its class gains when the row is swapped for another
    ]
)
"""One row."""

CLASS = np.dtype(
    [
        ("size", np.int64),
        ("loss", np.float64),  # information loss of each of its rows; NaN before the class is measured
        ("head", np.int32),  # its first row; -1 if it is empty
        ("index", np.int32),  # its index in its group
        ("leftover", np.int64),  # 1 if it is not a class, but a single row that no class has yet
    ]
)
"""One class."""

EDGE = np.dtype(
    [
        ("low", np.int32),  # the least code
        ("next_low", np.int32),  # the least code after a row with the code low has left; `ABOVE` without another row
        ("high", np.int32),  # the largest code
        ("next_high", np.int32),  # the largest code after a row with the code high has left; `BELOW` without another row
        ("loss", np.float64),  # information loss of the range from low to high
    ]
)
"""The edges of the box of one class along one quasi-identifier."""


class Classes(NamedTuple):
    """A mutable partition of the rows."""

    rows: NDArray[Any]
    """(rows,) of `ROW`."""
    each: NDArray[Any]
    """(classes,) of `CLASS`; some may be empty."""
    edges: NDArray[Any]
    """(classes, quasi) of `EDGE`."""


def classes_of(labels: Ints, columns: int, spare: int = 0) -> Classes:
    """Return the classes with these labels, which have no gaps, and ``spare`` empty ones. They are not measured yet."""
    order, starts = grouped(labels)
    count = len(starts) - 1
    rows, each = np.zeros(len(labels), dtype=ROW), np.zeros(count + spare, dtype=CLASS)
    inside = np.flatnonzero(labels[order[:-1]] == labels[order[1:]])
    rows["label"], rows["next"], rows["previous"] = labels, -1, -1
    rows["next"][order[inside]] = order[inside + 1]
    rows["previous"][order[inside + 1]] = order[inside]
    each["head"] = -1
    each["size"][:count], each["head"][:count], each["loss"][:count] = np.diff(starts), order[starts[:-1]], np.nan
    return Classes(rows, each, np.empty((count + spare, columns), dtype=EDGE))


def labels_of(classes: Classes) -> Ints:
    """Return the class of each row, numbered without gaps."""
    return renumber(classes.rows["label"], len(classes.each))[0]


def total_loss(classes: Classes) -> float:
    """Return the information loss of all rows."""
    return math.fsum(classes.each["size"] * classes.each["loss"])


@lean
def measure(quasi: Codes, losses: LossTable, classes: Classes, number: int) -> None:
    """Compute the edges and the loss of a class; an empty one loses nothing."""
    one = classes.each[number]
    one.loss = 0.0
    if one.size == 0:
        return
    for column in range(quasi.shape[1]):
        _find_edge(quasi, losses, classes, number, column, BELOW, ABOVE)
        one.loss += classes.edges[number, column].loss


@lean
def gather(classes: Classes, number: int, leaves: int, rows: Codes) -> int:
    """List the rows of a class in ``rows``, without the row ``leaves``, and return how many there are."""
    size, row = 0, classes.each[number].head
    while row >= 0:
        rows[size] = row
        size += row != leaves
        row = classes.rows[row].next
    return size


@lean
def join(classes: Classes, into: int, other: int, rows: Codes) -> int:
    """Append the rows of one class to another, list all of them in ``rows``, and return how many there are.

    Edges and losses are left as they are.
    """
    size = gather(classes, into, BELOW, rows)
    row, last = classes.each[other].head, rows[size - 1]
    classes.rows[last].next, classes.rows[row].previous = row, last
    while row >= 0:
        classes.rows[row].label = into
        rows[size] = row
        size += 1
        row = classes.rows[row].next
    classes.each[into].size = size
    classes.each[other].size, classes.each[other].head = 0, -1
    return size


@lean
def loss_without(quasi: Codes, losses: LossTable, classes: Classes, row: int) -> float:
    """Return the loss of each other row of the class after ``row`` has left it; 0 if there is no other."""
    number = classes.rows[row].label
    total = 0.0
    if classes.each[number].size == 1:
        return total
    for column in range(quasi.shape[1]):
        code, edge = quasi[row, column], classes.edges[number, column]
        low = edge.next_low if code == edge.low else edge.low
        high = edge.next_high if code == edge.high else edge.high
        total += edge.loss if low == edge.low and high == edge.high else loss(losses, column, low, high)
    return total


@once
def loss_with_swap(quasi: Codes, losses: LossTable, classes: Classes, leaves: int, comes: int, enough: float) -> float:
    """Return the loss of each row of a class after the row ``comes`` has replaced its row ``leaves``.

    Stops early and returns a lower bound above ``enough``. Inlined: swaps spend most of their time here, and a call takes about
    as long as what it computes.
    """
    number = classes.rows[leaves].label
    total = 0.0
    for column in range(quasi.shape[1]):
        code, new, edge = quasi[leaves, column], quasi[comes, column], classes.edges[number, column]
        low = min(edge.next_low if code == edge.low else edge.low, new)
        high = max(edge.next_high if code == edge.high else edge.high, new)
        total += edge.loss if low == edge.low and high == edge.high else loss(losses, column, low, high)
        if total > enough:
            break
    return total


@lean
def move_row(quasi: Codes, losses: LossTable, classes: Classes, row: int, target: int) -> None:
    """Remove a row from its class and insert it at the head of the class ``target``."""
    link = classes.rows[row]
    here, head = link.label, classes.each[target].head
    if link.previous >= 0:
        classes.rows[link.previous].next = link.next
    else:
        classes.each[here].head = link.next
    if link.next >= 0:
        classes.rows[link.next].previous = link.previous
    if head >= 0:
        classes.rows[head].previous = row
    link.next, link.previous, link.label = head, -1, target
    classes.each[target].head = row
    classes.each[here].size -= 1
    classes.each[target].size += 1
    _narrow(quasi, losses, classes, here, row)
    _widen(quasi, losses, classes, target, row)


@lean
def _widen(quasi: Codes, losses: LossTable, classes: Classes, number: int, row: int) -> None:
    """Update the edges and the loss of a class that a row has joined."""
    one = classes.each[number]
    one.loss = 0.0
    for column in range(quasi.shape[1]):
        code, edge = quasi[row, column], classes.edges[number, column]
        if one.size == 1:
            edge.low = edge.high = code
            edge.next_low, edge.next_high = ABOVE, BELOW
        else:
            edge.next_low = min(edge.next_low, max(edge.low, code))
            edge.low = min(edge.low, code)
            edge.next_high = max(edge.next_high, min(edge.high, code))
            edge.high = max(edge.high, code)
        edge.loss = loss(losses, column, edge.low, edge.high)
        one.loss += edge.loss


@lean
def _narrow(quasi: Codes, losses: LossTable, classes: Classes, number: int, row: int) -> None:
    """Update the edges and the loss of a class that a row has left. Most rows are not at an edge."""
    one = classes.each[number]
    one.loss = 0.0
    if one.size == 0:
        return
    for column in range(quasi.shape[1]):
        code, edge = quasi[row, column], classes.edges[number, column]
        if not edge.next_low < code < edge.next_high:
            _find_edge(quasi, losses, classes, number, column, edge.low, edge.high)
        one.loss += edge.loss


@lean
def _find_edge(quasi: Codes, losses: LossTable, classes: Classes, number: int, column: int, lowest: int, highest: int) -> None:
    """Compute the edges of a class along one quasi-identifier; stops as soon as they must be known.

    No code of the class is below ``lowest`` or above ``highest``.
    """
    low = next_low = ABOVE
    high = next_high = BELOW
    row = classes.each[number].head
    while row >= 0 and not (next_low == lowest and next_high == highest):
        code = quasi[row, column]
        next_low = min(next_low, max(low, code))
        low = min(low, code)
        next_high = max(next_high, min(high, code))
        high = max(high, code)
        row = classes.rows[row].next
    edge = classes.edges[number, column]
    edge.low, edge.next_low, edge.high, edge.next_high = low, next_low, high, next_high
    edge.loss = loss(losses, column, low, high)
