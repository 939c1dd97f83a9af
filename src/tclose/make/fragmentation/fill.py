"""Filling: rows are assigned to classes whose number of rows of each fragment is already fixed."""

from __future__ import annotations

import numpy as np

from tclose.make.fragmentation.blocks import blocks_of
from tclose.make.fragmentation.exchange import exchange
from tclose.make.fragmentation.grow import grow
from tclose.make.kernels.loss import LossTable
from tclose.values.arrays import Codes, Ints

BLOCK = 16000
"""A class takes its rows from a block of at most this many."""


def fill(quasi: Codes, losses: LossTable, fragment: Codes, wanted: Ints) -> Ints:
    """Return the class of each row, so that class c gets ``wanted[c, f]`` rows of fragment f at little information loss.

    The table is cut into blocks. The classes of each block grow by the rows that widen them least, and then swap rows of the same
    fragment while that lowers the loss: the sum over classes of their size times the loss of their box.

    Parameters
    ----------
    quasi : (rows, quasi) int32
        Codes of the quasi-identifiers.
    fragment : (rows,) int32
        The fragment of each row.
    wanted : (classes, fragments) int64
        No class is empty, and each column adds up to the rows of its fragment. Neighbouring classes should want nearly the same.

    Returns
    -------
    labels : (rows,) int64
    """
    quasi, wanted = np.ascontiguousarray(quasi, dtype=np.int32), np.ascontiguousarray(wanted, dtype=np.int64)
    fragment = np.ascontiguousarray(fragment, dtype=np.int32)
    blocks = blocks_of(quasi, losses, fragment, wanted, BLOCK)
    return exchange(quasi, losses, fragment, grow(quasi, losses, fragment, wanted, blocks))
