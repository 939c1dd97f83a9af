"""Blocks: parts of a table with similar quasi-identifiers and nearly the distribution of sensitive values of the whole table."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.make.kernels.limits import Limits
from tclose.make.kernels.loss import LossTable, losses_of_ranges
from tclose.make.kernels.running import run_parts
from tclose.make.kernels.satisfies import failing, find_failing, scratch_for
from tclose.make.kernels.scratch import Scratch
from tclose.values.arrays import Bools, Bytes, Codes, Ints

TAIL = 8
"""The trimmed width of a block ignores 1/TAIL of its rows at either end: cuts by windows leave outliers on both sides."""
LEAST = 4
"""A plain cut leaves at least 1/LEAST of the rows on either side."""
FINER = 4
"""How many times smaller the next windows are."""


HUGE = 6
"""A part with more than this many times the rows that are wanted is cut within looser limits, rather than not at all."""


class Blocks(NamedTuple):
    """A table cut into blocks."""

    rows: Codes
    """(rows,): row numbers; each block is a slice of it, ascending."""
    starts: Ints
    """(blocks + 1,): where the rows of each block start."""


def cut(quasi: Codes, losses: LossTable, limits: Limits, most: int, looser: Limits | None = None) -> Blocks:
    """Cut the table in two, and each part again, while both sides satisfy every limit, until a block has at most ``most`` rows.

    A block is cut along its widest quasi-identifier; if no cut there satisfies the limits, along the next widest. The width is
    the weighted NCP between the codes at the first and the last eighth of its rows. Two kinds of cuts are tried in turn:

    1. plain: at the boundary between two values that is nearest to the median, if each side gets at least a quarter of the rows;
    2. by windows: the rows are sorted by their sensitive values and cut into windows of w rows, and the lower half of each window
       goes left. The fewer rows a window has, the more similar are the distributions on both sides. w = 1/4, 1/16, ... of the
       rows, and finally 2; then the same with the next sensitive column as the first to sort by.

    A part of which no cut satisfies the limits is a block. If it has more than `HUGE` times ``most`` rows, it is first tried to
    cut it within looser limits, where there are any.
    A table that fails a limit as a whole is returned as one block.

    Parameters
    ----------
    quasi : (rows, quasi) int32
        The codes of the quasi-identifiers.
    limits
        With a share of t only, so that classes within a block have slack.
    most : at least 1
    looser
        With a larger share of t.
    """
    table = _Table(_narrowed(quasi.T), _narrowed(limits.codes), losses, [limits, *([] if looser is None else [looser])], most)
    everything = np.arange(len(quasi), dtype=np.int32)
    alone = np.array([0, len(quasi)])
    parts = [_Part(everything, len(quasi) > most and not failing(limits, everything, alone).any())]
    while any(part.to_cut for part in parts):
        halves = [[part] for part in parts]
        run_parts(_halve, len(parts), lambda: scratch_for(limits), table, parts, halves)
        parts = [half for pair in halves for half in pair]
    blocks = [part.rows for part in parts]
    return Blocks(np.concatenate(blocks), np.cumsum([0, *map(len, blocks)]))


class _Table(NamedTuple):
    """The table that is cut, and the limits of its blocks."""

    quasi: NDArray[Any]
    """(quasi, rows): codes of the quasi-identifiers, in the smallest type that holds them."""
    sensitive: NDArray[Any]
    """(columns, rows): codes of the sensitive values, in the smallest type that holds them."""
    losses: LossTable
    limits: Sequence[Limits]
    """Those of blocks, and looser ones."""
    most: int
    """A part with more rows is cut, if it can be."""


class _Part(NamedTuple):
    """A part of the table: a block, or still to be cut."""

    rows: Codes
    """Row numbers, ascending."""
    to_cut: bool


def _narrowed(codes: Codes) -> NDArray[Any]:
    """Return codes in the smallest type: NumPy sorts codes of 16 bits by counting, and larger ones by comparing."""
    return np.ascontiguousarray(codes, dtype=np.min_scalar_type(codes.max(initial=0)))


def _halve(number: int, table: _Table, parts: list[_Part], halves: list[list[_Part]], scratch: Scratch, cancel: Bytes) -> None:
    """Cut one part in two, the left side first, if it is still to be cut. Where no cut satisfies the limits, it is a block.

    This is not a kernel: NumPy works without the GIL too.
    """
    rows = parts[number].rows
    if not parts[number].to_cut:
        return
    right = _right_side(table, rows, scratch, cancel)
    sides = [rows] if right is None else [rows[~right], rows[right]]
    halves[number] = [_Part(side, right is not None and len(side) > table.most) for side in sides]


def _right_side(table: _Table, rows: Codes, scratch: Scratch, cancel: Bytes) -> Bools | None:
    """Return which rows of a part go right by the first cut that satisfies the limits; None if there is none."""
    bad = np.empty(2, dtype=np.bool_)
    columns = _widest(table, rows)
    possible = table.limits if len(rows) > HUGE * table.most else table.limits[:1]
    for limits, column in itertools.product(possible, columns):
        for right in _cuts(table.quasi[column, rows], table.sensitive[:, rows]):
            left = rows[~right]
            sides, starts = np.concatenate([left, rows[right]]), np.array([0, len(left), len(rows)])
            find_failing(limits, sides, starts, scratch, bad, cancel)
            if cancel[0]:
                return None
            if not bad.any():
                return right
    return None


def _widest(table: _Table, rows: Codes) -> list[int]:
    """Return the quasi-identifiers of a block, widest first: sorted by trimmed width; ties by full width, then the first wins."""
    last = len(rows) - 1
    ends = np.array([0, len(rows) // TAIL, last - len(rows) // TAIL, last])
    low, lower, higher, high = np.array([np.partition(codes[rows], ends)[ends] for codes in table.quasi], dtype=np.int32).T
    trimmed, full = _widths(table.losses, lower, higher), _widths(table.losses, low, high)
    found: list[int] = np.lexsort((-full, -trimmed)).tolist()
    return found


def _widths(losses: LossTable, low: Codes, high: Codes) -> NDArray[np.float64]:
    """Return the loss of a range on each quasi-identifier; 0 for a single code, which no cut makes narrower."""
    return np.where(low < high, losses_of_ranges(losses, np.arange(len(low)), low, high), 0.0)


def _cuts(codes: NDArray[Any], sensitive: NDArray[Any]) -> Iterator[Bools]:
    """Yield which rows go right, for each cut along one quasi-identifier that is tried.

    ``codes`` are those of the block's rows on the quasi-identifier, ``sensitive`` (columns, rows) those of their sensitive
    values.
    """
    size = len(codes)
    by_code = np.argsort(codes, kind="stable")  # ties: the lower row number comes first
    ranks = np.empty(size, dtype=np.int64)
    ranks[by_code] = np.arange(size)
    left = _nearest_the_median(codes[by_code])
    if LEAST * min(left, size - left) >= size:
        yield ranks >= left
    for column in range(len(sensitive)):
        order = np.lexsort((codes, *np.roll(sensitive, -column, axis=0)[::-1]))
        for window in _window_sizes(size):
            yield _by_windows(ranks, order, window)


def _nearest_the_median(ordered: NDArray[Any]) -> int:
    """Return how many codes lie below the boundary between two values that is nearest to the median; 0 without a boundary.

    Ties: the lower boundary wins.
    """
    lefts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    return int(lefts[np.abs(2 * lefts - len(ordered)).argmin()]) if len(lefts) else 0


def _window_sizes(size: int) -> Iterator[int]:
    """Yield the numbers of rows of the windows that are tried, descending."""
    window = -(-size // FINER)
    while window > 2:
        yield window
        window = -(-window // FINER)
    yield 2


def _by_windows(ranks: Ints, order: Ints, window: int) -> Bools:
    """Return which rows go right: the higher half of each window. Of odd windows, left and right get the extra row in turn."""
    size = len(order)
    indices = np.arange(size)
    starts = indices - indices % window
    ends = np.minimum(starts + window, size)
    lefts = (ends + 1) // 2 - (starts + 1) // 2
    right = np.empty(size, dtype=np.bool_)
    right[order[np.argsort(starts * size + ranks[order])]] = indices - starts >= lefts
    return right
