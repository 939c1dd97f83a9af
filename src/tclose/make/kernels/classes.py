"""Classes classes: lists of rows that rows can leave and join at once, their boxes and what they lose."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.make.kernels.compiling import lean
from tclose.make.kernels.limits import Limits
from tclose.make.kernels.loss import ABOVE, BELOW, LossTable, loss
from tclose.values.arrays import Codes, Ints

SPARE = 64
"""There are numbers for so many classes more, and half as many as there are."""

ROW = np.dtype(
    [
        ("label", np.int64),  # its class
        ("next", np.int32),  # the next row of its class; -1 at the end
        ("before", np.int32),  # the one before; -1 at the start
        ("relief", np.float64),  # how much less its class loses, at most, when it is swapped for another
    ]
)
CLASS = np.dtype(
    [
        ("size", np.int64),
        ("loss", np.float64),  # what each of its rows loses
        ("head", np.int32),  # its first row; -1 without
        ("index", np.int32),  # in its group
        ("leftover", np.int64),  # 1 where it is no class, but a row that is left over
    ]
)
EDGE = np.dtype(
    [
        ("low", np.int32),  # the least code of a class on one quasi-identifier
        ("next_low", np.int32),  # the least when a row with that code leaves; above all codes without others
        ("high", np.int32),  # the largest
        ("next_high", np.int32),  # the largest when a row with that code leaves; below all codes without others
        ("loss", np.float64),  # what each row of the class loses by it
    ]
)


class Given(NamedTuple):
    """What stays as it is while rows change classes."""

    quasi: Codes
    """(rows, quasi): codes of the quasi-identifiers."""
    losses: LossTable
    limits: Limits
    kinds: Codes
    """(rows,): the same number where no limit can tell two rows apart."""


class Classes(NamedTuple):
    """The classes as they stand: lists of rows, linked both ways so that a row can leave at once."""

    rows: NDArray[Any]
    """(rows,) of `ROW`."""
    each: NDArray[Any]
    """(classes,) of `CLASS`; some have no rows."""
    edges: NDArray[Any]
    """(classes, quasi) of `EDGE`."""


def given(quasi: Codes, losses: LossTable, limits: Limits) -> Given:
    """A table and what its classes must keep."""
    kinds = np.zeros(len(quasi), dtype=np.int64)
    for codes in (*limits.codes, *([limits.persons] if len(limits.persons) else [])):
        kinds = np.unique(kinds * (int(codes.max()) + 1) + codes, return_inverse=True)[1]
    return Given(quasi, losses, limits, kinds.astype(np.int32))


def classes_of(labels: Ints, columns: int) -> Classes:
    """The classes with these labels, numbered without gaps. Their edges are not measured yet."""
    order = np.argsort(labels, kind="stable").astype(np.int32)
    sizes = np.bincount(labels)
    count = len(sizes) + len(sizes) // 2 + SPARE
    inside = np.flatnonzero(labels[order[:-1]] == labels[order[1:]])
    rows, each = np.zeros(len(labels), dtype=ROW), np.zeros(count, dtype=CLASS)
    rows["label"], rows["next"], rows["before"] = labels, -1, -1
    rows["next"][order[inside]] = order[inside + 1]
    rows["before"][order[inside + 1]] = order[inside]
    each["size"][: len(sizes)] = sizes
    each["head"] = -1
    each["head"][: len(sizes)] = order[np.cumsum(sizes) - sizes]
    return Classes(rows, each, np.empty((count, columns), dtype=EDGE))


def labels_of(classes: Classes) -> Ints:
    """The class of each row, numbered without gaps."""
    return np.unique(classes.rows["label"], return_inverse=True)[1].astype(np.int64)


def total_loss(classes: Classes) -> float:
    """What all rows lose."""
    return math.fsum(classes.each["size"] * classes.each["loss"])


@lean
def gather(classes: Classes, number: int, leaves: int, rows: Codes) -> int:
    """List the rows of a class, without the one that leaves; how many they are."""
    size, row = 0, classes.each[number].head
    while row >= 0:
        rows[size] = row
        size += row != leaves
        row = classes.rows[row].next
    return size


@lean
def loss_without(given: Given, classes: Classes, row: int) -> float:
    """What each of the other rows of its class loses when a row leaves; nothing where there is no other."""
    number = classes.rows[row].label
    total = 0.0
    if classes.each[number].size == 1:
        return total
    for column in range(given.quasi.shape[1]):
        code, edge = given.quasi[row, column], classes.edges[number, column]
        low = edge.next_low if code == edge.low else edge.low
        high = edge.next_high if code == edge.high else edge.high
        total += edge.loss if low == edge.low and high == edge.high else loss(given.losses, column, low, high)
    return total


@lean
def put(given: Given, classes: Classes, row: int, target: int) -> None:
    """Take a row out of its class and put it at the head of another."""
    link = classes.rows[row]
    here, head = link.label, classes.each[target].head
    if link.before >= 0:
        classes.rows[link.before].next = link.next
    else:
        classes.each[here].head = link.next
    if link.next >= 0:
        classes.rows[link.next].before = link.before
    if head >= 0:
        classes.rows[head].before = row
    link.next, link.before, link.label = head, -1, target
    classes.each[target].head = row
    classes.each[here].size -= 1
    classes.each[target].size += 1
    _narrow(given, classes, here, row)
    _widen(given, classes, target, row)


@lean
def _widen(given: Given, classes: Classes, number: int, row: int) -> None:
    """Let the edges of a class take in a row that has joined it."""
    one = classes.each[number]
    one.loss = 0.0
    for column in range(given.quasi.shape[1]):
        code, edge = given.quasi[row, column], classes.edges[number, column]
        if one.size == 1:
            edge.low = edge.high = code
            edge.next_low, edge.next_high = ABOVE, BELOW
        else:
            edge.next_low = min(edge.next_low, max(edge.low, code))
            edge.low = min(edge.low, code)
            edge.next_high = max(edge.next_high, min(edge.high, code))
            edge.high = max(edge.high, code)
        edge.loss = loss(given.losses, column, edge.low, edge.high)
        one.loss += edge.loss


@lean
def _narrow(given: Given, classes: Classes, number: int, row: int) -> None:
    """Let the edges of a class let go of a row that has left it; most rows are not at an edge."""
    one = classes.each[number]
    one.loss = 0.0
    if one.size == 0:
        return
    for column in range(given.quasi.shape[1]):
        code, edge = given.quasi[row, column], classes.edges[number, column]
        if not edge.next_low < code < edge.next_high:
            _find_edge(given, classes, number, column, edge.low, edge.high)
        one.loss += edge.loss


@lean
def _find_edge(given: Given, classes: Classes, number: int, column: int, lowest: int, highest: int) -> None:
    """Look for the edge of a class on one quasi-identifier, until it is known: no code is below lowest or above highest."""
    low = next_low = ABOVE
    high = next_high = BELOW
    row = classes.each[number].head
    while row >= 0 and not (next_low == lowest and next_high == highest):
        code = given.quasi[row, column]
        next_low = min(next_low, max(low, code))
        low = min(low, code)
        next_high = max(next_high, min(high, code))
        high = max(high, code)
        row = classes.rows[row].next
    edge = classes.edges[number, column]
    edge.low, edge.next_low, edge.high, edge.next_high = low, next_low, high, next_high
    edge.loss = loss(given.losses, column, low, high)


@lean
def measure(given: Given, classes: Classes, number: int) -> None:
    """Find the edges of a class and what it loses; an empty one loses nothing."""
    one = classes.each[number]
    one.loss = 0.0
    if one.size == 0:
        return
    for column in range(given.quasi.shape[1]):
        _find_edge(given, classes, number, column, BELOW, ABOVE)
        one.loss += classes.edges[number, column].loss
