"""Boxes: the range of codes that a class covers on each quasi-identifier, while it grows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.make.kernels.compiling import lean, once
from tclose.make.kernels.limits import Codes
from tclose.make.kernels.loss import RANGE, Losses, loss

Box = NDArray[Any]
"""(quasi,) of `RANGE`: the box around the rows of a class; low is -1 before it has rows."""


def box_for(columns: int) -> Box:
    """Room for a box over so many quasi-identifiers."""
    return np.empty(columns, dtype=RANGE)


@lean
def empty(box: Box) -> None:
    """Let the box be around no row."""
    for column in range(len(box)):
        box[column].low = -1


@once
def loss_with(codes: Codes, losses: Losses, box: Box, enough: float) -> float:
    """What the class would lose with one row more; where that reaches enough, a part of it."""
    total = 0.0
    for column in range(len(codes)):
        code, own = codes[column], box[column]
        if own.low <= code <= own.high:
            total += own.loss
        else:
            total += loss(losses, column, min(own.low, code), max(own.high, code))
        if total >= enough:
            break
    return total


@lean
def widen(codes: Codes, losses: Losses, box: Box) -> None:
    """Take one row in."""
    for column in range(len(codes)):
        code, own = codes[column], box[column]
        if own.low < 0:
            own.low = own.high = code
        own.low, own.high = min(own.low, code), max(own.high, code)
        own.loss = loss(losses, column, own.low, own.high)


@lean
def loss_of(box: Box) -> float:
    """What each row in the box loses."""
    total = 0.0
    for column in range(len(box)):
        total += box[column].loss
    return total
