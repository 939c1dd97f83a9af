"""Nearest rows: classes whose number of rows of each bucket is fixed are filled with rows that are near one another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tclose.jobs import report
from tclose.make.kernels.compiling import kernel, lean, once
from tclose.make.kernels.loss import LossTable, loss
from tclose.make.kernels.running import run
from tclose.values.arrays import Bytes, Codes, Floats, Ints

VISITS = 10_000_000
"""The number of rows that a kernel measures before it returns, so that progress can be reported."""


class Buckets(NamedTuple):
    """The rows of each bucket that no class has yet, and memory to find the nearest."""

    rows: Codes
    starts: Ints
    """(buckets + 1,): where the rows of each bucket start."""
    left: Ints
    """(buckets,): how many of them no class has; they come first."""
    distances: Floats
    """(rows of the largest bucket,): the distance of each row of a bucket."""
    chosen: Ints
    """(rows of the largest bucket,): indices of the nearest."""


def fill_along(quasi: Codes, losses: LossTable, bucket: Codes, wanted: Ints, order: Ints) -> Ints:  # noqa: ARG001
    """Return the class of each row: every class takes the next rows of each bucket along the order.

    Parameters
    ----------
    bucket : (rows,) int32
        The bucket of each row.
    wanted : (classes, buckets) int64
        How many rows of each bucket every class takes; each column adds up to the rows of its bucket.
    order : (rows,) int64
        All rows, in an order in which neighbours are near one another.
    """
    labels = np.empty(len(order), dtype=np.int64)
    for number, takes in enumerate(wanted.T):
        labels[order[bucket[order] == number]] = np.repeat(np.arange(len(wanted)), takes)
    return labels


def fill_nearest(quasi: Codes, losses: LossTable, bucket: Codes, wanted: Ints, order: Ints) -> Ints:
    """Return the class of each row: a class starts at the first row left of the order, and takes the nearest rows of each bucket.

    The distance of two rows is the information loss of the smallest box around both; ties: the row that comes first in the order
    wins. Parameters are those of `fill_along`.
    """
    rows = order[np.argsort(bucket[order], kind="stable")].astype(np.int32)
    sizes = wanted.sum(axis=0)
    largest = int(sizes.max())
    buckets = Buckets(rows, np.concatenate([[0], np.cumsum(sizes)]), sizes, np.empty(largest), np.empty(largest, dtype=np.int64))
    labels = np.full(len(order), -1, dtype=np.int64)
    fixed, filled = (wanted.astype(np.int64), order.astype(np.int32)), np.zeros(1, dtype=np.int64)
    while filled[0] < len(wanted):
        run(_take_nearest, quasi, losses, *fixed, buckets, labels, filled, VISITS)
        report(f"{filled[0]:,} of {len(wanted):,} classes")
    return labels


@kernel
def _take_nearest(
    quasi: Codes,
    losses: LossTable,
    wanted: Ints,
    order: Codes,
    buckets: Buckets,
    labels: Ints,
    filled: Ints,
    visits: int,
    cancel: Bytes,
) -> None:
    """Fill classes, one after the other, until all are filled or many rows were measured; ``filled`` counts the classes."""
    first = 0
    while filled[0] < len(wanted) and visits > 0:
        number = filled[0]
        while labels[order[first]] >= 0:
            first += 1
        for bucket in range(wanted.shape[1]):
            if cancel[0]:
                return
            visits -= buckets.left[bucket]
            _take(quasi, losses, order[first], wanted[number, bucket], bucket, buckets, labels, number)
        filled[0] += 1


@once
def _take(
    quasi: Codes,
    losses: LossTable,
    middle: int,
    needed: int,
    bucket: int,
    buckets: Buckets,
    labels: Ints,
    number: int,
) -> None:
    """Give the nearest rows of one bucket to a class that starts at the row ``middle``."""
    if needed == 0:
        return
    start, left = buckets.starts[bucket], buckets.left[bucket]
    rows = buckets.rows[start : start + left]
    for index in range(left):
        buckets.distances[index] = _distance(quasi, losses, middle, rows[index])
    find_nearest(buckets.distances[:left], needed, buckets.chosen)
    for index in buckets.chosen[:needed]:
        labels[rows[index]] = number
    kept = 0
    for index in range(left):
        row = rows[index]
        rows[kept] = row
        kept += labels[row] < 0
    buckets.left[bucket] = kept


@once
def _distance(quasi: Codes, losses: LossTable, a: int, b: int) -> float:
    """Return the information loss of the smallest box around two rows."""
    total = 0.0
    for column in range(quasi.shape[1]):
        low, high = min(quasi[a, column], quasi[b, column]), max(quasi[a, column], quasi[b, column])
        total += loss(losses, column, low, high)
    return total


@lean
def find_nearest(distances: Floats, size: int, nearest: Ints) -> None:
    """List the indices of the ``size`` least distances, ascending; ties: the first wins.

    ``nearest`` is a heap with the farthest of them at its root, until it is sorted in the end.
    """
    for index in range(size):
        nearest[index] = index
    for start in range(size // 2 - 1, -1, -1):
        _sift_down(distances, nearest, start, size)
    for index in range(size, len(distances)):
        if distances[index] < distances[nearest[0]]:
            nearest[0] = index
            _sift_down(distances, nearest, 0, size)
    for end in range(size - 1, 0, -1):
        nearest[0], nearest[end] = nearest[end], nearest[0]
        _sift_down(distances, nearest, 0, end)


@lean
def _sift_down(distances: Floats, heap: Ints, start: int, end: int) -> None:
    """Move the index at ``start`` down the heap until no child is farther, or as far and later."""
    moved, at = heap[start], start
    while 2 * at + 1 < end:
        child = 2 * at + 1
        if child + 1 < end and _is_before(distances, heap[child], heap[child + 1]):
            child += 1
        if not _is_before(distances, moved, heap[child]):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = moved


@lean
def _is_before(distances: Floats, one: int, other: int) -> bool:
    """Return whether an index is nearer than another, or as near and earlier."""
    return distances[one] < distances[other] or (distances[one] == distances[other] and one < other)
