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
    """The rows of each bucket that no class has yet."""

    rows: Codes
    starts: Ints
    """(buckets + 1,): where the rows of each bucket start."""
    left: Ints
    """(buckets,): how many of them no class has; they come first."""


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
    buckets = Buckets(rows, np.concatenate([[0], np.cumsum(sizes)]), sizes)
    labels = np.full(len(order), -1, dtype=np.int64)
    scratch = np.empty(2 * int(buckets.left.max()), dtype=np.float64)
    fixed, filled = (wanted.astype(np.int64), order.astype(np.int32)), np.zeros(1, dtype=np.int64)
    while filled[0] < len(wanted):
        run(_take_nearest, quasi, losses, *fixed, buckets, scratch, labels, filled, VISITS)
        report(f"{filled[0]:,} of {len(wanted):,} classes")
    return labels


@kernel
def _take_nearest(
    quasi: Codes,
    losses: LossTable,
    wanted: Ints,
    order: Codes,
    buckets: Buckets,
    scratch: Floats,
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
            _take(quasi, losses, order[first], wanted[number, bucket], bucket, buckets, scratch, labels, number)
        filled[0] += 1


@once
def _take(
    quasi: Codes,
    losses: LossTable,
    middle: int,
    needed: int,
    bucket: int,
    buckets: Buckets,
    scratch: Floats,
    labels: Ints,
    number: int,
) -> None:
    """Give the nearest rows of one bucket to a class that starts at the row ``middle``."""
    if needed == 0:
        return
    start, left = buckets.starts[bucket], buckets.left[bucket]
    rows = buckets.rows[start : start + left]
    farthest, ties = np.inf, needed
    if needed < left:
        for index in range(left):
            scratch[index] = _distance(quasi, losses, middle, rows[index])
        for index in range(left):
            scratch[left + index] = scratch[index]
        farthest = _least(scratch[left : 2 * left], needed - 1)
        for index in range(left):
            ties -= scratch[index] < farthest
    kept = 0
    for index in range(left):
        near = needed == left or scratch[index] < farthest
        if not near and scratch[index] == farthest and ties > 0:
            near = True
            ties -= 1
        if near:
            labels[rows[index]] = number
        else:
            rows[kept] = rows[index]
            kept += 1
    buckets.left[bucket] = kept


@lean
def _least(numbers: Floats, place: int) -> float:
    """Return the number that is at an index when numbers are sorted, counted from 0 (quickselect, Hoare 1961). Reorders them."""
    low, high = 0, len(numbers) - 1
    while low < high:
        pivot = numbers[(low + high) // 2]
        left, right = low, high
        while left <= right:
            while numbers[left] < pivot:
                left += 1
            while numbers[right] > pivot:
                right -= 1
            if left <= right:
                numbers[left], numbers[right] = numbers[right], numbers[left]
                left += 1
                right -= 1
        if place <= right:
            high = right
        elif place >= left:
            low = left
        else:
            break
    found: float = numbers[place]
    return found


@once
def _distance(quasi: Codes, losses: LossTable, a: int, b: int) -> float:
    """Return the information loss of the smallest box around two rows."""
    total = 0.0
    for column in range(quasi.shape[1]):
        low, high = min(quasi[a, column], quasi[b, column]), max(quasi[a, column], quasi[b, column])
        total += loss(losses, column, low, high)
    return total
