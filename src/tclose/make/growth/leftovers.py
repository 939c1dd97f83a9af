"""Leftovers: rows that no class has are put into classes that satisfy the limits with them; rows that fit nowhere are merged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tclose.make.growth.blocks import Blocks
from tclose.make.growth.move import place_rows
from tclose.make.growth.neighbourhood import Given, measured, with_equal_keys
from tclose.make.kernels.limits import Limits
from tclose.make.kernels.merge import merge_failing
from tclose.make.kernels.satisfies import failing
from tclose.values.arrays import Ints, grouped, renumber

WIDEST = 8192
"""A row may look for a class among this many, on average; among those of its own block in any case."""


def place_leftovers(given: Given, labels: Ints, blocks: Blocks) -> Ints:
    """Put each leftover row, labelled -1, into the class that loses least by it and satisfies every limit with it.

    A row looks among the classes of its block. If none can take it, it looks among those of two adjacent blocks, then of four,
    and so on. Unplaced rows of a block form a new class if it satisfies the limits; else those of two blocks, and so on. The
    rows that are left then are merged with classes until all satisfy the limits: in the worst case all rows are one class.

    Parameters
    ----------
    labels : (rows,) int64
        No class has rows of two blocks.

    Returns
    -------
    (rows,) int64
        Classes numbered without gaps.
    """
    left = np.flatnonzero(labels < 0)
    if not len(left):
        return labels
    block = np.empty(len(labels), dtype=np.int64)
    block[blocks.rows] = np.repeat(np.arange(len(blocks.starts) - 1), np.diff(blocks.starts))
    labels = _put_into_classes(given, labels, left, block)
    labels = _put_together(given.limits, labels, block)
    return merge_failing(_each_alone(labels), given.quasi, given.losses, given.limits)


def _put_into_classes(given: Given, labels: Ints, left: Ints, block: Ints) -> Ints:
    """Put leftover rows into classes, as far as there is one for them; return labels, which may have gaps."""
    classes = measured(given, _each_alone(labels))
    labels = classes.rows["label"]
    classes.each["leftover"][labels[left]] = 1
    block_of_class = np.empty(int(labels.max()) + 1, dtype=np.int64)
    block_of_class[labels] = block
    blocks = int(block.max()) + 1
    for together in _spans(blocks):
        leftover = (classes.each["leftover"] == 1) & (classes.each["size"] > 0)
        if not leftover.any() or (together > 1 and together * len(block_of_class) > WIDEST * blocks):
            break
        place_rows(given, classes, with_equal_keys(classes, block_of_class // together))
    leftover = (classes.each["leftover"] == 1) & (classes.each["size"] > 0)
    return np.where(leftover[labels], -1, labels)


def _put_together(limits: Limits, labels: Ints, block: Ints) -> Ints:
    """Form a class of all leftover rows of a block, of two blocks, and so on, if it satisfies the limits."""
    labels = labels.copy()
    for together in _spans(int(block.max()) + 1):
        left = np.flatnonzero(labels < 0)
        if not len(left):
            break
        keys = block[left] // together
        order, starts = grouped(keys)
        fine = np.repeat(~failing(limits, left[order], starts), np.diff(starts))
        labels[left[order][fine]] = int(labels.max()) + 1 + keys[order][fine]
    return labels


def _each_alone(labels: Ints) -> Ints:
    """Return classes numbered without gaps, followed by each leftover row as a class of its own."""
    left = np.flatnonzero(labels < 0)
    numbers = labels.copy()
    numbers[left] = int(labels.max()) + 1 + np.arange(len(left))
    return renumber(numbers)[0]


def _spans(blocks: int) -> Iterator[int]:
    """Yield 1, 2, 4, ... until all blocks are together."""
    span = 1
    while span < 2 * blocks:
        yield span
        span *= 2
