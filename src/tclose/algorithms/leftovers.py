"""Leftovers: rows without a class are put into classes that keep the limits with them; where none does, classes are merged."""

from __future__ import annotations

import numpy as np

from tclose.algorithms import moving
from tclose.algorithms.improving import measure_all
from tclose.algorithms.limits import Ints
from tclose.algorithms.merging import merge_failing
from tclose.algorithms.standing import Given, groups, labels_of, standing


def place(given: Given, labels: Ints) -> Ints:
    """Put each row without a class, labelled -1, into the class that loses least by it and keeps every limit with it.

    It looks among classes with similar boxes, similar first on one quasi-identifier, then on the next. Rows that no class can
    take are classes of their own in the end, and merged with others until all hold: in the worst case all rows are one class.

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
    for number in range(given.quasi.shape[1]):
        if not (stand.classes["waiting"] * stand.classes["size"]).any():
            break
        moving.place(given, stand, groups(stand, number, moving.TOGETHER))
    return merge_failing(labels_of(stand), given.quasi, given.losses, given.limits)
