"""Leftovers: rows without a class are put into classes that keep the limits with them; where none does, classes are merged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tclose.make.growth.blocks import Blocks
from tclose.make.growth.move import place_rows
from tclose.make.growth.neighbourhood import groups_by, measure_all
from tclose.make.kernels.classes import Given, classes_of
from tclose.make.kernels.limits import Limits
from tclose.make.kernels.merge import merge_failing
from tclose.make.kernels.satisfies import failing
from tclose.values.arrays import Ints

WIDEST = 8192
"""Among so many classes, on average, a row may look for one that takes it; among those of its block in any case."""


def place_leftovers(given: Given, labels: Ints, blocks: Blocks) -> Ints:
    """Put each row without a class, labelled -1, into the class that loses least by it and keeps every limit with it.

    It looks among the classes of its block; where none can take it, among those of two blocks side by side, then of four, and so
    on. All rows of a block that no class can take are a class together, if that keeps the limits; else those of two blocks, and
    so on. What is left then is merged with classes until all hold: in the worst case all rows are one class.

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
    """Put rows into classes, as far as there is one for them. Classes may have gaps in their numbers."""
    classes = classes_of(_each_alone(labels), given.quasi.shape[1])
    labels = classes.rows["label"]
    classes.each["leftover"][labels[left]] = 1
    measure_all(given, classes)
    of_class = np.empty(int(labels.max()) + 1, dtype=np.int64)
    of_class[labels] = block
    number = int(block.max()) + 1
    for together in _spans(number):
        waiting = (classes.each["leftover"] == 1) & (classes.each["size"] > 0)
        if not waiting.any() or (together > 1 and together * len(of_class) > WIDEST * number):
            break
        place_rows(given, classes, groups_by(classes, of_class // together))
    waiting = (classes.each["leftover"] == 1) & (classes.each["size"] > 0)
    return np.where(waiting[labels], -1, labels)


def _put_together(limits: Limits, labels: Ints, block: Ints) -> Ints:
    """Make a class of all rows without one in a block, in two blocks, and so on, where they keep the limits together.

    Classes may have gaps in their numbers.
    """
    labels = labels.copy()
    for together in _spans(int(block.max()) + 1):
        left = np.flatnonzero(labels < 0)
        if not len(left):
            break
        keys = block[left] // together
        order = np.argsort(keys, kind="stable")
        starts = np.concatenate([[0], 1 + np.flatnonzero(np.diff(keys[order])), [len(left)]])
        fine = np.repeat(~failing(limits, left[order], starts), np.diff(starts))
        labels[left[order][fine]] = int(labels.max()) + 1 + keys[order][fine]
    return labels


def _each_alone(labels: Ints) -> Ints:
    """Classes numbered without gaps, and after them each row without a class as one of its own."""
    left = np.flatnonzero(labels < 0)
    numbers = labels.copy()
    numbers[left] = int(labels.max()) + 1 + np.arange(len(left))
    return np.unique(numbers, return_inverse=True)[1].astype(np.int64)


def _spans(blocks: int) -> Iterator[int]:
    """1, 2, 4, ... blocks, until there are no more."""
    span = 1
    while span < 2 * blocks:
        yield span
        span *= 2
