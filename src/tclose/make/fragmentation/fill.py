"""Filling: the rows of fragments put into classes of which it is settled how many rows of each fragment they take."""

from __future__ import annotations

import numpy as np

from tclose.make.fragmentation.blocks import blocks_of
from tclose.make.fragmentation.exchange import exchange
from tclose.make.fragmentation.grow import grow
from tclose.make.kernels.loss import LossTable
from tclose.values.arrays import Codes, Ints

BLOCK = 16000
"""So many rows, at most, are looked through for each class."""


def fill(quasi: Codes, losses: LossTable, fragment: Codes, wanted: Ints) -> Ints:
    """Put the rows into classes so that class c gets ``wanted[c, f]`` rows of fragment f, and the classes lose little.

    The table is cut into blocks, the classes of each block grow by the rows that widen them least, and then swap rows of the same
    fragment while that makes the loss fall: the sum over classes of their size times what a row loses by their box.

    Parameters
    ----------
    quasi : (rows, quasi) int32
        Codes of the quasi-identifiers.
    fragment : (rows,) int32
        The fragment of each row.
    wanted : (classes, fragments) int64
        No class is empty, and columns add up to the rows of each fragment. Classes that stand near one another in the list should
        want nearly the same.

    Returns
    -------
    labels : (rows,) int64
    """
    quasi, wanted = np.ascontiguousarray(quasi, dtype=np.int32), np.ascontiguousarray(wanted, dtype=np.int64)
    fragment = np.ascontiguousarray(fragment, dtype=np.int32)
    blocks = blocks_of(quasi, losses, fragment, wanted, BLOCK)
    return exchange(quasi, losses, fragment, grow(quasi, losses, fragment, wanted, blocks))
