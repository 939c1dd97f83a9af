"""Hilbert order: rows along a curve through all quasi-identifiers on which neighbours are near one another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tclose.values.arrays import Codes, Ints

BITS = 62
"""Bits of an index along the curve."""


def hilbert_order(quasi: Codes, sizes: Sequence[int]) -> Ints:
    """Return the rows in the order of a Hilbert curve; ties: the first row comes first.

    Parameters
    ----------
    quasi : (rows, quasi) int32
        The codes of the quasi-identifiers.
    sizes
        How many codes each has: all are stretched to the same length. Those beyond the first 62 are not looked at.
    """
    columns = min(len(sizes), BITS)
    bits = min(BITS // columns, 31)
    stretched = [(quasi[:, column].astype(np.int64) << bits) // sizes[column] for column in range(columns)]
    order: Ints = np.argsort(hilbert_index(np.array(stretched), bits), kind="stable")
    return order


def hilbert_index(coordinates: Ints, bits: int) -> Ints:
    """Return the index of each point along the Hilbert curve through a cube (Skilling 2004).

    Parameters
    ----------
    coordinates : (dimensions, points) int64
        From 0 to 2^bits - 1; dimensions x bits is at most 62.

    Examples
    --------
    >>> hilbert_index(np.array([[0, 0, 1, 1], [0, 1, 1, 0]]), bits=1).tolist()
    [0, 1, 2, 3]
    """
    x = coordinates.copy()
    for bit in range(bits - 1, 0, -1):  # undo the turns of each level of the curve, from the coarsest on
        lower = (1 << bit) - 1
        for axis in range(len(x)):
            turned = (x[axis] >> bit & 1).astype(bool)
            swapped = np.where(turned, 0, (x[0] ^ x[axis]) & lower)
            x[0] ^= np.where(turned, lower, swapped)
            x[axis] ^= swapped
    for axis in range(1, len(x)):  # from here on a Gray code
        x[axis] ^= x[axis - 1]
    flips = np.zeros_like(x[0])
    for bit in range(bits - 1, 0, -1):
        flips ^= np.where(x[-1] >> bit & 1, (1 << bit) - 1, 0)
    x ^= flips
    index: Ints = np.zeros_like(x[0])
    for bit in range(bits - 1, -1, -1):
        for axis in range(len(x)):
            index = index << 1 | (x[axis] >> bit & 1)
    return index
