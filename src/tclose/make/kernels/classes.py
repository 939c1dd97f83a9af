"""Standing classes: lists of rows that rows can leave and join at once, their boxes and what they lose."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.make.fragmentation.blocks import ABOVE, BELOW
from tclose.make.kernels.compiling import lean
from tclose.make.kernels.limits import Codes, Ints, Limits
from tclose.make.kernels.loss import Losses, loss

LARGEST = 5000
"""Classes with more rows stay as they are: to look whether one may lose a row takes time with every row it has."""
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
        ("total", np.float64),  # what each of its rows loses
        ("head", np.int32),  # its first row; -1 without
        ("place", np.int32),  # in its group
        ("waiting", np.int64),  # 1 where it is no class, but a row that is left over
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
    losses: Losses
    limits: Limits
    alike: Codes
    """(rows,): the same number where no limit can tell two rows apart."""


class Standing(NamedTuple):
    """The classes as they stand: lists of rows, linked both ways so that a row can leave at once."""

    rows: NDArray[Any]
    """(rows,) of `ROW`."""
    classes: NDArray[Any]
    """(classes,) of `CLASS`; some have no rows."""
    edges: NDArray[Any]
    """(classes, quasi) of `EDGE`."""


class Groups(NamedTuple):
    """Classes that may take rows from one another."""

    order: Ints
    """(classes,): numbers of classes, one group after the other,"""
    starts: Ints
    """(groups + 1,): and where each group starts."""
    spares: Ints
    """Numbers that no class has,"""
    spare_starts: Ints
    """(groups + 1,): and where those for each group start."""


def given(quasi: Codes, losses: Losses, limits: Limits) -> Given:
    """A table and what its classes must keep."""
    alike = np.zeros(len(quasi), dtype=np.int64)
    for codes in (*limits.codes, *([limits.persons] if len(limits.persons) else [])):
        alike = np.unique(alike * (int(codes.max()) + 1) + codes, return_inverse=True)[1]
    return Given(quasi, losses, limits, alike.astype(np.int32))


def standing(labels: Ints, columns: int) -> Standing:
    """The classes with these labels, numbered without gaps. Their edges are not measured yet."""
    order = np.argsort(labels, kind="stable").astype(np.int32)
    sizes = np.bincount(labels)
    count = len(sizes) + len(sizes) // 2 + SPARE
    inside = np.flatnonzero(labels[order[:-1]] == labels[order[1:]])
    rows, classes = np.zeros(len(labels), dtype=ROW), np.zeros(count, dtype=CLASS)
    rows["label"], rows["next"], rows["before"] = labels, -1, -1
    rows["next"][order[inside]] = order[inside + 1]
    rows["before"][order[inside + 1]] = order[inside]
    classes["size"][: len(sizes)] = sizes
    classes["head"] = -1
    classes["head"][: len(sizes)] = order[np.cumsum(sizes) - sizes]
    return Standing(rows, classes, np.empty((count, columns), dtype=EDGE))


def groups(stand: Standing, number: int, together: int) -> Groups:
    """Groups of so many classes with similar boxes: similar first on one quasi-identifier, for the next number on the next."""
    sizes, columns = stand.classes["size"], stand.edges.shape[1]
    known = np.flatnonzero((sizes > 0) & (sizes <= LARGEST))
    middles = stand.edges["low"][known].astype(np.int64) + stand.edges["high"][known]
    order = known[np.lexsort([middles[:, (number + place) % columns] for place in range(columns - 1, -1, -1)])]
    shift = together // 2 * (number // columns % 2)  # so that the borders are not always the same
    starts = np.unique(np.arange(-shift, len(order) + together, together).clip(0, len(order)))
    spares = np.flatnonzero(sizes == 0)
    return Groups(order, starts, spares, np.arange(len(starts)) * len(spares) // max(1, len(starts) - 1))


def groups_by(stand: Standing, keys: Ints) -> Groups:
    """Groups of the classes with the same key, each in the order of its numbers; without numbers to spare."""
    sizes = stand.classes["size"][: len(keys)]
    known = np.flatnonzero((sizes > 0) & (sizes <= LARGEST))
    order = known[np.argsort(keys[known], kind="stable")]
    starts = np.concatenate([[0], 1 + np.flatnonzero(np.diff(keys[order])), [len(order)]])
    return Groups(order, starts, np.empty(0, dtype=np.int64), np.zeros(len(starts), dtype=np.int64))


def labels_of(stand: Standing) -> Ints:
    """The class of each row, numbered without gaps."""
    return np.unique(stand.rows["label"], return_inverse=True)[1].astype(np.int64)


def lost(stand: Standing) -> float:
    """What all rows lose."""
    return math.fsum(stand.classes["size"] * stand.classes["total"])


@lean
def gather(stand: Standing, number: int, leaves: int, rows: Codes) -> int:
    """List the rows of a class, without the one that leaves; how many they are."""
    size, row = 0, stand.classes[number].head
    while row >= 0:
        rows[size] = row
        size += row != leaves
        row = stand.rows[row].next
    return size


@lean
def loss_without(given: Given, stand: Standing, row: int) -> float:
    """What each of the other rows of its class loses when a row leaves; nothing where there is no other."""
    number = stand.rows[row].label
    total = 0.0
    if stand.classes[number].size == 1:
        return total
    for column in range(given.quasi.shape[1]):
        code, edge = given.quasi[row, column], stand.edges[number, column]
        low = edge.next_low if code == edge.low else edge.low
        high = edge.next_high if code == edge.high else edge.high
        total += edge.loss if low == edge.low and high == edge.high else loss(given.losses, column, low, high)
    return total


@lean
def put(given: Given, stand: Standing, row: int, target: int) -> None:
    """Take a row out of its class and put it at the head of another."""
    link = stand.rows[row]
    here, head = link.label, stand.classes[target].head
    if link.before >= 0:
        stand.rows[link.before].next = link.next
    else:
        stand.classes[here].head = link.next
    if link.next >= 0:
        stand.rows[link.next].before = link.before
    if head >= 0:
        stand.rows[head].before = row
    link.next, link.before, link.label = head, -1, target
    stand.classes[target].head = row
    stand.classes[here].size -= 1
    stand.classes[target].size += 1
    _narrow(given, stand, here, row)
    _widen(given, stand, target, row)


@lean
def _widen(given: Given, stand: Standing, number: int, row: int) -> None:
    """Let the edges of a class take in a row that has joined it."""
    one = stand.classes[number]
    one.total = 0.0
    for column in range(given.quasi.shape[1]):
        code, edge = given.quasi[row, column], stand.edges[number, column]
        if one.size == 1:
            edge.low = edge.high = code
            edge.next_low, edge.next_high = ABOVE, BELOW
        else:
            edge.next_low = min(edge.next_low, max(edge.low, code))
            edge.low = min(edge.low, code)
            edge.next_high = max(edge.next_high, min(edge.high, code))
            edge.high = max(edge.high, code)
        edge.loss = loss(given.losses, column, edge.low, edge.high)
        one.total += edge.loss


@lean
def _narrow(given: Given, stand: Standing, number: int, row: int) -> None:
    """Let the edges of a class let go of a row that has left it; most rows are not at an edge."""
    one = stand.classes[number]
    one.total = 0.0
    if one.size == 0:
        return
    for column in range(given.quasi.shape[1]):
        code, edge = given.quasi[row, column], stand.edges[number, column]
        if not edge.next_low < code < edge.next_high:
            _find_edge(given, stand, number, column, edge.low, edge.high)
        one.total += edge.loss


@lean
def _find_edge(given: Given, stand: Standing, number: int, column: int, lowest: int, highest: int) -> None:
    """Look for the edge of a class on one quasi-identifier, until it is known: no code is below lowest or above highest."""
    low = next_low = ABOVE
    high = next_high = BELOW
    row = stand.classes[number].head
    while row >= 0 and not (next_low == lowest and next_high == highest):
        code = given.quasi[row, column]
        next_low = min(next_low, max(low, code))
        low = min(low, code)
        next_high = max(next_high, min(high, code))
        high = max(high, code)
        row = stand.rows[row].next
    edge = stand.edges[number, column]
    edge.low, edge.next_low, edge.high, edge.next_high = low, next_low, high, next_high
    edge.loss = loss(given.losses, column, low, high)


@lean
def measure(given: Given, stand: Standing, number: int) -> None:
    """Find the edges of a class and what it loses; an empty one loses nothing."""
    one = stand.classes[number]
    one.total = 0.0
    if one.size == 0:
        return
    for column in range(given.quasi.shape[1]):
        _find_edge(given, stand, number, column, BELOW, ABOVE)
        one.total += stand.edges[number, column].loss
