"""Arrays: names for the types of arrays, labels without gaps, and labels as slices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Codes = NDArray[np.int32]
"""Codes of values, and numbers of rows: what kernels read most."""
Bytes = NDArray[np.uint8]

FEW = 2
"""Keys below a bound of at most this many times their number are renumbered by a table of all possible keys, without sorting."""


def renumber(keys: Ints, bound: int | None = None) -> tuple[Ints, Ints]:
    """Return keys as numbers from 0 without gaps, in the same order, and for each number the index of a key that has it.

    Parameters
    ----------
    keys : (n,) int64
        From 0 on.
    bound : int, optional
        A number above all keys. With one that is not much above n, nothing is sorted.

    Examples
    --------
    >>> numbers, indices = renumber(np.array([7, 3, 7, 9]))
    >>> numbers.tolist(), np.array([7, 3, 7, 9])[indices].tolist()
    ([1, 0, 1, 2], [3, 7, 9])
    """
    if bound is not None and bound <= FEW * len(keys):
        last = np.full(bound, -1)
        last[keys] = np.arange(len(keys))
        return (np.cumsum(last >= 0) - 1)[keys], last[last >= 0]
    order = np.argsort(keys)
    new = np.diff(keys[order], prepend=-1) != 0
    numbers = np.empty_like(keys)
    numbers[order] = np.cumsum(new) - 1
    return numbers, order[new]


def grouped(labels: Ints) -> tuple[Ints, Ints]:
    """Return the indices of rows sorted by class label, and where the rows of each label start; the last entry is the end.

    Rows with the label -1 are not among them. Rows with the same label keep their order.

    Examples
    --------
    >>> rows, starts = grouped(np.array([1, -1, 0, 1]))
    >>> rows.tolist(), starts.tolist()
    ([2, 0, 3], [0, 1, 3])
    """
    rows = np.argsort(labels, kind="stable")[np.count_nonzero(labels < 0) :]
    starts = np.flatnonzero(np.diff(labels[rows], prepend=-1))
    return rows, np.append(starts, len(rows)).astype(np.int64)
