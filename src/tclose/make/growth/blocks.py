"""Cutting: a table in parts that are alike on the quasi-identifiers, each with sensitive values spread nearly as in the table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.make.kernels.compiling import kernel
from tclose.make.kernels.limits import Codes, Ints, Limits
from tclose.make.kernels.loss import LossTable, loss
from tclose.make.kernels.satisfies import failing

Bools = NDArray[np.bool_]

TAIL = 8
"""One row in so many at either end does not count for the width of a part: cuts that keep the spread leave outliers behind."""
LEAST = 4
"""A plain cut leaves one row in so many, at least, on either side."""
FINER = 4
"""How many times smaller the next windows are."""


class Blocks(NamedTuple):
    """Blocks: parts of a table."""

    rows: Codes
    """(rows,): row numbers; each block is a slice of it, ascending."""
    starts: Ints
    """(blocks + 1,): where the rows of each block start."""


def cut(quasi: Codes, losses: LossTable, limits: Limits, most: int) -> Blocks:
    """Cut the table in two, again and again, while both sides keep every limit, until a block has ``most`` rows at most.

    A block is cut along its widest quasi-identifier, width = NCP times weight between the codes at the eighth and at the last
    but one eighth of its rows; if no cut passes, along the next widest. The first of these cuts whose sides keep the limits
    is taken:

    1. plain: at the boundary between two values that is nearest the median, if each side gets a quarter of the rows;
    2. by windows: rows in the order of their sensitive values are cut into windows of w rows, and of each window the lower half
       goes left. The fewer rows a window has, the more alike are the spreads of both sides. w = 1/4, 1/16, ... of the rows,
       and 2 at last; then the same with the next sensitive column as the first.

    A table that breaks a limit as a whole is given back as one block.

    Parameters
    ----------
    quasi : (rows, quasi) int32
        The codes of the quasi-identifiers.
    limits
        With a share of t only, so that classes within a block have room.
    most : at least 1
    """
    table = _Table(_narrowed(quasi.T), _narrowed(limits.codes), losses, limits)
    everything = np.arange(len(quasi), dtype=np.int32)
    blocks: list[Codes] = []
    waiting = [everything]
    may_cut = _hold(limits, everything)
    while waiting:
        rows = waiting.pop()
        right = _sides(table, rows) if may_cut and len(rows) > most else None
        if right is None:
            blocks.append(rows)
        else:
            waiting += [rows[right], rows[~right]]  # left sides first
    return Blocks(np.concatenate(blocks), np.cumsum([0, *map(len, blocks)]))


class _Table(NamedTuple):
    """What is cut, and what blocks must keep."""

    quasi: NDArray[Any]
    """(quasi, rows), in a type as small as will do,"""
    sensitive: NDArray[Any]
    """(columns, rows)."""
    losses: LossTable
    limits: Limits


def _narrowed(codes: Codes) -> NDArray[Any]:
    """In the smallest type: NumPy counts codes of 16 bits where it would compare larger ones."""
    return np.ascontiguousarray(codes, dtype=np.min_scalar_type(codes.max(initial=0)))


def _hold(limits: Limits, *sides: Codes) -> bool:
    """Whether each side may be a class."""
    return not failing(limits, np.concatenate(sides), np.cumsum([0, *map(len, sides)])).any()


def _sides(table: _Table, rows: Codes) -> Bools | None:
    """Which rows of a block go right by the first cut that passes; None where none does."""
    for place in _widest(table, rows):
        for right in _cuts(table.quasi[place, rows], table.sensitive[:, rows]):
            if _hold(table.limits, rows[~right], rows[right]):
                return right
    return None


def _widest(table: _Table, rows: Codes) -> list[int]:
    """The quasi-identifiers, widest first; of equals the one that is wider with its outliers, and then the first."""
    last = len(rows) - 1
    ends = np.array([0, len(rows) // TAIL, last - len(rows) // TAIL, last])
    low, lower, higher, high = np.array([np.partition(codes[rows], ends)[ends] for codes in table.quasi], dtype=np.int32).T
    inner, outer = np.empty((2, len(low)))
    _measure(table.losses, lower, higher, inner)
    _measure(table.losses, low, high, outer)
    found: list[int] = np.lexsort((-outer, -inner)).tolist()
    return found


@kernel
def _measure(losses: LossTable, low: Codes, high: Codes, widths: NDArray[np.float64]) -> None:
    """What each range of codes loses; nothing where it is one code, which no cut makes narrower."""
    for place in range(len(widths)):
        widths[place] = loss(losses, place, low[place], high[place]) if low[place] < high[place] else 0.0


def _cuts(codes: NDArray[Any], sensitive: NDArray[Any]) -> Iterator[Bools]:
    """Which rows go right, by each cut along one quasi-identifier that is to be tried.

    ``codes`` are those of the block's rows on it, ``sensitive`` (columns, rows) those of their sensitive values.
    """
    size = len(codes)
    by_code = np.argsort(codes, kind="stable")  # of equals the one with the lower row number first
    ranks = np.empty(size, dtype=np.int64)
    ranks[by_code] = np.arange(size)
    left = _nearest_the_median(codes[by_code])
    if LEAST * min(left, size - left) >= size:
        yield ranks >= left
    for column in range(len(sensitive)):
        order = np.lexsort((codes, *np.roll(sensitive, -column, axis=0)[::-1]))
        for window in _windows(size):
            yield _by_windows(ranks, order, window)


def _nearest_the_median(ordered: NDArray[Any]) -> int:
    """How many codes lie below the boundary between two values that is nearest the median, of equals the lower; 0 without."""
    lefts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    return int(lefts[np.abs(2 * lefts - len(ordered)).argmin()]) if len(lefts) else 0


def _windows(size: int) -> Iterator[int]:
    """How many rows windows have: fewer and fewer."""
    window = -(-size // FINER)
    while window > 2:
        yield window
        window = -(-window // FINER)
    yield 2


def _by_windows(ranks: Ints, order: Ints, window: int) -> Bools:
    """Of each window the higher half; with odd windows the left and the right get one row more in turn."""
    size = len(order)
    places = np.arange(size)
    starts = places - places % window
    ends = np.minimum(starts + window, size)
    lefts = (ends + 1) // 2 - (starts + 1) // 2
    right = np.empty(size, dtype=np.bool_)
    right[order[np.argsort(starts * size + ranks[order])]] = places - starts >= lefts
    return right
