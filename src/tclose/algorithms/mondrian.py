"""t-Mondrian and (n,t)-Mondrian."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tclose.algorithms.base import Partition
from tclose.algorithms.checks import Scratch, holds_near, refer, scratch_for
from tclose.algorithms.limits import Codes, Ints, Limits
from tclose.algorithms.running import run
from tclose.algorithms.widths import Losses, loss, losses_of

if TYPE_CHECKING:
    from tclose.encode import EncodedTable
    from tclose.policy import Policy

STEPS = 64
"""So many places, at most, are tried along one quasi-identifier."""


def mondrian(table: EncodedTable, policy: Policy, limits: Limits) -> Partition:
    """Cut the table in two, again and again, while both sides keep every limit."""
    quasi = np.ascontiguousarray(np.array(table.quasi, dtype=np.int32).T)
    losses = losses_of([scale.widths() for scale in table.scales], [float(column.weight) for column in policy.quasi])
    labels, region_of_class, parents = run(_cut_all, limits, losses, quasi)
    return Partition(labels, _levels(region_of_class, parents))


def _levels(region_of_class: Ints, parents: Ints) -> list[Ints]:
    """The regions as one coarsening for each depth of their tree; the root, which is the whole table, needs none."""
    depth = np.zeros(len(parents), dtype=np.int64)
    for region in range(1, len(parents)):  # parents come before their children
        depth[region] = depth[parents[region]] + 1
    levels = []
    for level in range(depth.max(initial=0), 0, -1):
        deep = (region_of_class >= 0) & (depth[region_of_class] >= level)
        here = np.where(deep, region_of_class, -1)
        while (above := deep & (depth[here] > level)).any():
            here[above] = parents[here[above]]
        levels.append(here)
    return levels[::-1]


class Cutting(NamedTuple):
    """What the cutting of one node works with."""

    order: Codes
    """(rows,): row numbers; each node is a slice of it."""
    aside: Codes
    """(rows,): the two sides of a cut that is being tried."""
    tallies: Ints
    """(codes,): rows at each code; 0 between nodes."""
    cuts: Codes
    """(codes,): codes after which the rows of a node can be cut,"""
    lefts: Ints
    """(codes,): and how many rows are then on the left,"""
    tries: Ints
    """(codes,): and the places of those to try, in order."""


@njit(cache=True, nogil=True)
def _cut_all(limits: Limits, losses: Losses, quasi: Codes, cancel: NDArray[np.uint8]) -> Any:
    """The class of each row; the smallest region of n rows around each class, and the region around each region."""
    rows, width = quasi.shape
    codes = max(1, np.max(np.diff(losses.starts)))
    room = Cutting(
        np.arange(rows).astype(np.int32),
        np.empty(rows, np.int32),
        np.zeros(codes, np.int64),
        np.empty(codes, np.int32),
        np.empty(codes, np.int64),
        np.empty(codes, np.int64),
    )
    scratch = scratch_for(limits)
    labels = np.empty(rows, np.int64)
    # A node that waits is a slice of rows and, under (n,t)-closeness, the region around it and how many regions that is in.
    starts, ends, depths, around = (
        np.empty(rows + 1, np.int64),
        np.empty(rows + 1, np.int64),
        np.empty(rows + 1, np.int64),
        np.empty(rows + 1, np.int64),
    )
    starts[0], ends[0], depths[0], around[0] = 0, rows, 0, -1
    waiting, classes, regions = 1, 0, 0
    capacity = 2 * rows if limits.n > 0 else 0
    parents = np.empty(capacity, np.int64)
    region_of_class = np.empty(rows if limits.n > 0 else 0, np.int64)
    references = limits.references.copy()
    while waiting > 0 and cancel[0] == 0:
        waiting -= 1
        start, end, depth, region = starts[waiting], ends[waiting], depths[waiting], around[waiting]
        if limits.n > 0 and end - start >= limits.n:
            if depth == len(references):
                references = np.concatenate((references, np.empty_like(references)))
            refer(limits, room.order[start:end], references[depth])
            parents[regions] = region
            region = regions
            regions += 1
            depth += 1
        near = references[:depth] if limits.n > 0 else references
        left = _cut(limits, near, losses, quasi, room, start, end, scratch, cancel)
        if left > 0:
            starts[waiting], ends[waiting], depths[waiting], around[waiting] = start + left, end, depth, region
            starts[waiting + 1], ends[waiting + 1], depths[waiting + 1], around[waiting + 1] = start, start + left, depth, region
            waiting += 2
        else:
            for row in room.order[start:end]:
                labels[row] = classes
            if limits.n > 0:
                region_of_class[classes] = region
            classes += 1
    return labels, region_of_class[:classes], parents[:regions]


@njit(cache=True, nogil=True)
def _cut(
    limits: Limits,
    near: Ints,
    losses: Losses,
    quasi: Codes,
    room: Cutting,
    start: int,
    end: int,
    scratch: Scratch,
    cancel: NDArray[np.uint8],
) -> int:
    """Cut one node, and give the number of rows on the left; 0 where no cut keeps the limits."""
    if end - start < 2 * limits.k:
        return 0
    rows = room.order[start:end]
    low, high = _box(quasi, rows)
    widest = _by_width(losses, low, high)
    for others in (False, True):
        for column in widest:
            if low[column] == high[column]:
                continue
            codes = quasi[:, column]
            tries = _outward(room, _boundaries(codes, rows, low[column], high[column], room), len(rows), limits.k)
            for place in room.tries[1:tries] if others else room.tries[: min(tries, 1)]:
                if cancel[0]:
                    return 0
                if _try(limits, near, codes, room, rows, place, scratch):
                    return room.lefts[place]
    return 0


@njit(cache=True, nogil=True)
def _box(quasi: Codes, rows: Codes) -> Any:
    """The least and the largest code of some rows on each quasi-identifier."""
    low, high = quasi[rows[0]].copy(), quasi[rows[0]].copy()
    for row in rows:
        for column in range(quasi.shape[1]):
            code = quasi[row, column]
            if code < low[column]:
                low[column] = code
            elif code > high[column]:
                high[column] = code
    return low, high


@njit(cache=True, nogil=True)
def _by_width(losses: Losses, low: Codes, high: Codes) -> Ints:
    """The quasi-identifiers, widest first; of equals the first."""
    order = np.empty(len(low), np.int64)
    widths = np.empty(len(low), np.float64)
    for column in range(len(low)):
        widths[column] = loss(losses, column, low[column], high[column])
        place = column
        while place > 0 and widths[order[place - 1]] < widths[column]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = column
    return order


@njit(cache=True, nogil=True)
def _boundaries(codes: Codes, rows: Codes, low: int, high: int, room: Cutting) -> int:
    """List where the codes of some rows can be cut, and give the number of such places."""
    found, passed = 0, 0
    if high - low < 4 * len(rows) + 64:  # counting
        tallies = room.tallies[: high - low + 1]
        for row in rows:
            tallies[codes[row] - low] += 1
        for place in range(high - low):
            if tallies[place] > 0:
                passed += tallies[place]
                room.cuts[found], room.lefts[found] = low + place, passed
                found += 1
        tallies[:] = 0
        return found
    ordered = np.empty(len(rows), np.int32)
    for place in range(len(rows)):
        ordered[place] = codes[rows[place]]
    ordered.sort()
    for place in range(len(rows) - 1):
        if ordered[place] != ordered[place + 1]:
            room.cuts[found], room.lefts[found] = ordered[place], place + 1
            found += 1
    return found


@njit(cache=True, nogil=True)
def _outward(room: Cutting, found: int, size: int, k: int) -> int:
    """List the boundaries worth a try, the one nearest the median first, then outwards; of equals the lower one first.

    None leaves fewer than k rows on a side. On each side of the median, tries are ``size // STEPS`` rows apart at least.
    """
    lefts = room.lefts[:found]
    above = 0
    while above < found and 2 * lefts[above] < size:
        above += 1
    below, tries = above - 1, 0
    lowest, highest = size, 0  # rows on the left at the outermost tries
    while True:
        while below >= 0 and lefts[below] > lowest - size // STEPS:
            below -= 1
        while above < found and lefts[above] < highest + size // STEPS:
            above += 1
        short = lefts[below] if below >= 0 else 0
        long = size - lefts[above] if above < found else 0
        if max(short, long) < k:
            return tries
        if short >= long:
            room.tries[tries], lowest = below, lefts[below]
            below -= 1
        else:
            room.tries[tries], highest = above, lefts[above]
            above += 1
        tries += 1


@njit(cache=True, nogil=True)
def _try(limits: Limits, near: Ints, codes: Codes, room: Cutting, rows: Codes, boundary: int, scratch: Scratch) -> bool:
    """Cut at a boundary if both sides keep the limits; rows of one side keep their order."""
    cut, size = room.cuts[boundary], room.lefts[boundary]
    if min(size, len(rows) - size) < limits.k:
        return False
    left, right = 0, size
    for row in rows:
        if codes[row] <= cut:
            room.aside[left] = row
            left += 1
        else:
            room.aside[right] = row
            right += 1
    for side in (room.aside[:size], room.aside[size : len(rows)]):
        if not holds_near(limits, near, side, scratch):
            return False
    rows[:] = room.aside[: len(rows)]
    return True
