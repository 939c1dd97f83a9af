"""Filling: rows are assigned to classes whose number of rows of each fragment is already fixed."""

from __future__ import annotations

from tclose.make.fragmentation.blocks import blocks_of
from tclose.make.fragmentation.exchange import exchange
from tclose.make.fragmentation.grow import grow
from tclose.make.kernels.loss import LossTable
from tclose.values.arrays import Codes, Ints

BLOCK = 16000
"""A class takes its rows from a block of at most this many."""


def fill(quasi: Codes, losses: LossTable, fragment: Codes, wanted: Ints) -> Ints:
    """Return the class of each row, so that class c gets ``wanted[c, f]`` rows of fragment f at little information loss.

    Classes grow, and then swap rows of the same fragment while that lowers the loss: the sum over classes of their size times the
    loss of their box. For the parameters see `fill_once`.
    """
    return exchange(quasi, losses, fragment, fill_once(quasi, losses, fragment, wanted, BLOCK))


def fill_once(quasi: Codes, losses: LossTable, fragment: Codes, wanted: Ints, block: int) -> Ints:
    """Return the class of each row, so that class c gets ``wanted[c, f]`` rows of fragment f, each row chosen once.

    The table is cut into blocks. The classes of each block grow by the rows that widen them least.

    Parameters
    ----------
    quasi : (rows, quasi) int32
        Codes of the quasi-identifiers.
    fragment : (rows,) int32
        The fragment of each row.
    wanted : (classes, fragments) int64
        No class is empty, and each column adds up to the rows of its fragment. Neighbouring classes should want nearly the same.
    block : int
        The largest number of rows of a block.

    Returns
    -------
    labels : (rows,) int64
    """
    return grow(quasi, losses, fragment, wanted, blocks_of(quasi, losses, fragment, wanted, block))
