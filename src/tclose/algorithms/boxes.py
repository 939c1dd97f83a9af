"""Boxes: the range of codes that a class covers on each quasi-identifier, while it grows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tclose.algorithms.compiling import lean, once
from tclose.algorithms.limits import Codes
from tclose.algorithms.widths import Floats, Losses, loss


class Box(NamedTuple):
    """The box around the rows of a class."""

    lows: Codes
    """(quasi,): its least codes, -1 without a row;"""
    highs: Codes
    """its largest,"""
    own: Floats
    """and what it loses by them."""


def box_for(columns: int) -> Box:
    """Room for a box over so many quasi-identifiers."""
    return Box(np.empty(columns, dtype=np.int32), np.empty(columns, dtype=np.int32), np.empty(columns, dtype=np.float64))


@lean
def empty(box: Box) -> None:
    """Let the box be around no row."""
    for column in range(len(box.lows)):
        box.lows[column] = -1


@once
def loss_with(codes: Codes, losses: Losses, box: Box, enough: float) -> float:
    """What the class would lose with one row more; where that reaches enough, a part of it."""
    total = 0.0
    for column in range(len(codes)):
        code = codes[column]
        if code < box.lows[column]:
            total += loss(losses, column, code, box.highs[column])
        elif code > box.highs[column]:
            total += loss(losses, column, box.lows[column], code)
        else:
            total += box.own[column]
        if total >= enough:
            break
    return total


@lean
def widen(codes: Codes, losses: Losses, box: Box) -> None:
    """Take one row in."""
    for column in range(len(codes)):
        code = codes[column]
        if box.lows[column] < 0:
            box.lows[column] = box.highs[column] = code
        box.lows[column] = min(box.lows[column], code)
        box.highs[column] = max(box.highs[column], code)
        box.own[column] = loss(losses, column, box.lows[column], box.highs[column])
