"""Leftovers: rows without a class are put into classes that keep the limits with them; where none does, classes are merged."""

from __future__ import annotations

import numpy as np

from tclose.algorithms import moving
from tclose.algorithms.cutting import Parts
from tclose.algorithms.improving import measure_all
from tclose.algorithms.limits import Ints
from tclose.algorithms.merging import merge_failing
from tclose.algorithms.standing import Given, groups_by, labels_of, standing

WIDEST = 8192
"""Among so many classes, on average, a row may look for one that takes it; among those of its block in any case."""


def place(given: Given, labels: Ints, blocks: Parts) -> Ints:
    """Put each row without a class, labelled -1, into the class that loses least by it and keeps every limit with it.

    It looks among the classes of its block; where none can take it, among those of two blocks side by side, then of four, and so
    on. Rows that no class can take are classes of their own in the end, and merged with others until all hold: in the worst
    case all rows are one class.

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
    labels = labels.copy()
    labels[left] = int(labels.max()) + 1 + np.arange(len(left))
    stand = standing(labels, given.quasi.shape[1])
    stand.classes["waiting"][labels[left]] = 1
    measure_all(given, stand)
    number = len(blocks.starts) - 1
    block = np.empty(int(labels.max()) + 1, dtype=np.int64)  # of each class
    block[labels[blocks.rows]] = np.repeat(np.arange(number), np.diff(blocks.starts))
    together = 1
    while (stand.classes["waiting"] * stand.classes["size"]).any():
        moving.place(given, stand, groups_by(stand, block // together))
        together *= 2
        if together >= 2 * number or together * len(block) > WIDEST * number:
            break
    return merge_failing(labels_of(stand), given.quasi, given.losses, given.limits)
