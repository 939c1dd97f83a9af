"""t-Mondrian and (n,t)-Mondrian."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.algorithms.base import Partition
from tclose.algorithms.checks import Scratch, holds, refer, scratch_for
from tclose.algorithms.compiling import kernel, lean
from tclose.algorithms.limits import Codes, Ints, Limits
from tclose.algorithms.running import run
from tclose.algorithms.sorting import sort
from tclose.algorithms.widths import Losses, loss, losses_of

if TYPE_CHECKING:
    from tclose.encode import EncodedTable
    from tclose.policy import Policy

STEPS = 64
"""So many places, at most, are tried along one quasi-identifier."""
SPARSE = 32
"""Codes are counted, not sorted, where they lie less than so many times as far apart as there are rows."""
WAITING, CLASSES, REGIONS = range(3)
"""What `Tree.found` counts."""


def mondrian(table: EncodedTable, policy: Policy, limits: Limits) -> Partition:
    """Cut the table in two, again and again, while both sides keep every limit.

    Mondrian (LeFevre, DeWitt and Ramakrishnan 2006) with t-closeness (Li et al. 2007) or (n,t)-closeness (Li et al. 2010)
    as a further condition: a node is cut along its widest quasi-identifier, width = NCP times
    weight, at the boundary between two values that is nearest the median; if a side breaks a limit, along the next widest.
    Values with a hierarchy stand in its order, depth first. Under (n,t)-closeness a side must be within t of some node around
    it that has at least n rows, or have n rows itself; for each attribute it may be another node.

    It differs from the papers in one thing: where no quasi-identifier can be cut at its median, other boundaries are tried,
    widest first, from the median outwards. Classes get smaller by that, and the loss with them.

    A table that breaks a limit as a whole is given back as one class.

    Returns
    -------
    Partition
        Classes are numbered from the lower codes to the higher. Rows with the same codes are in the same class.
    """
    quasi = np.ascontiguousarray(np.array(table.quasi, dtype=np.int32).T)
    losses = losses_of([scale.widths() for scale in table.scales], [float(column.weight) for column in policy.quasi])
    tree, room, scratch = _tree_for(len(quasi), limits), _room_for(len(quasi), losses), scratch_for(limits)
    references = limits.references.copy()  # limits themselves stay as they are
    run(_cut_all, limits, references, losses, quasi, tree, room, scratch)
    while tree.found[WAITING] > 0:  # regions lie deeper in one another than there was room for
        references = np.concatenate([references, np.empty_like(references)])
        run(_cut_all, limits, references, losses, quasi, tree, room, scratch)
    regions, classes = tree.found[REGIONS], tree.found[CLASSES]
    return Partition(tree.labels, _levels(tree.region_of_class[:classes], tree.parents[:regions]))


def _levels(region_of_class: Ints, parents: Ints) -> list[Ints]:
    """The regions as one coarsening for each depth of their tree; the root, which is the whole table, needs none."""
    depth = np.zeros(len(parents), dtype=np.int64)
    for region in range(1, len(parents)):  # parents come before their children
        depth[region] = depth[parents[region]] + 1
    levels = []
    here, inside = region_of_class.copy(), region_of_class >= 0
    for level in range(depth.max(initial=0), 0, -1):
        deeper = inside & (depth[here] > level)  # by one
        here[deeper] = parents[here[deeper]]
        levels.append(np.where(inside & (depth[here] == level), here, -1))
    return levels[::-1]


class Tree(NamedTuple):
    """What cutting gives, and the nodes that wait to be cut."""

    found: Ints
    """(3,): how many nodes wait, and how many classes and regions there are."""
    labels: Ints
    """(rows,): the class of each row."""
    region_of_class: Ints
    """(classes,): under (n,t)-closeness the smallest region of n rows around each class, -1 where there is none."""
    parents: Ints
    """(regions,): the region around each region."""
    starts: Ints
    """(waiting,): the rows of a node start here in `Room.order`,"""
    ends: Ints
    """and end here;"""
    around: Ints
    """the smallest region around it,"""
    depths: Ints
    """and how many there are, one in the other."""


class Room(NamedTuple):
    """What the cutting of one node works with."""

    order: Codes
    """(rows,): row numbers; each node is a slice of it."""
    aside: Codes
    """(rows,): the two sides of a cut that is being tried."""
    low: Codes
    """(quasi,): the node's least codes,"""
    high: Codes
    """its largest,"""
    widest: Ints
    """and its quasi-identifiers, widest first."""
    widths: NDArray[np.float64]
    tallies: Ints
    """(codes,): rows at each code; 0 between nodes."""
    cuts: Ints
    """(codes,): codes after which the rows of a node can be cut,"""
    lefts: Ints
    """how many rows are then on the left,"""
    tries: Ints
    """and the places of those to try, in order."""
    ordered: Ints
    """(rows,) at most: codes of a node, where counting would take longer than sorting."""


def _tree_for(rows: int, limits: Limits) -> Tree:
    regions = rows if limits.n else 0
    labels, *waiting = (np.empty(rows + 1, dtype=np.int64) for _ in range(5))
    for numbers, root in zip(waiting, (0, rows, -1, 0), strict=True):
        numbers[0] = root
    found = np.array([1, 0, 0], dtype=np.int64)
    return Tree(found, labels[:rows], np.empty(regions, dtype=np.int64), np.empty(2 * regions, dtype=np.int64), *waiting)


def _room_for(rows: int, losses: Losses) -> Room:
    quasi, codes = len(losses.weights), int(np.diff(losses.starts).max())
    return Room(
        np.arange(rows, dtype=np.int32),
        np.empty(rows, dtype=np.int32),
        np.empty(quasi, dtype=np.int32),
        np.empty(quasi, dtype=np.int32),
        np.empty(quasi, dtype=np.int64),
        np.empty(quasi, dtype=np.float64),
        np.zeros(codes, dtype=np.int64),
        np.empty(codes, dtype=np.int64),
        np.empty(codes, dtype=np.int64),
        np.empty(codes, dtype=np.int64),
        np.empty(codes // SPARSE, dtype=np.int64),
    )


@kernel
def _cut_all(
    limits: Limits,
    references: Ints,
    losses: Losses,
    quasi: Codes,
    tree: Tree,
    room: Room,
    scratch: Scratch,
    cancel: NDArray[np.uint8],
) -> None:
    """Cut until no node can be cut, left sides first; or until there is no room for the next region.

    ``references`` is what sides must be close to: the table or, overwritten here, the regions around the node at hand.
    """
    waiting, classes, regions = tree.found[WAITING], tree.found[CLASSES], tree.found[REGIONS]
    while waiting > 0 and cancel[0] == 0:
        start, end = tree.starts[waiting - 1], tree.ends[waiting - 1]
        region, depth = tree.around[waiting - 1], tree.depths[waiting - 1]
        if end - start >= limits.n > 0:
            if depth == len(references):
                break
            tree.parents[regions] = region
            region = regions
            regions += 1
            refer(limits, room.order[start:end], references[depth])
            depth += 1
        waiting -= 1
        near = references[:depth] if limits.n > 0 else references
        left = _cut(limits, near, losses, quasi, room, start, end, scratch, cancel)
        if left > 0:
            for first, last in ((start + left, end), (start, start + left)):
                tree.starts[waiting], tree.ends[waiting], tree.around[waiting], tree.depths[waiting] = first, last, region, depth
                waiting += 1
            continue
        for row in room.order[start:end]:
            tree.labels[row] = classes
        if limits.n > 0:
            tree.region_of_class[classes] = region
        classes += 1
    tree.found[WAITING], tree.found[CLASSES], tree.found[REGIONS] = waiting, classes, regions


@lean
def _cut(
    limits: Limits,
    near: Ints,
    losses: Losses,
    quasi: Codes,
    room: Room,
    start: int,
    end: int,
    scratch: Scratch,
    cancel: NDArray[np.uint8],
) -> int:
    """Cut one node, and give the number of rows on the left; 0 where no cut keeps the limits."""
    if end - start < 2 * limits.k:
        return 0
    rows = room.order[start:end]
    low, high = room.low, room.high
    _find_box(quasi, rows, low, high)
    _order_by_width(losses, room)
    for others in (False, True):
        for column in room.widest:
            if low[column] == high[column]:
                continue
            codes = quasi[:, column]
            tries = _outward(room, _boundaries(codes, rows, low[column], high[column], room), len(rows), limits.k)
            for place in room.tries[1:tries] if others else room.tries[: min(tries, 1)]:
                if cancel[0]:
                    return 0
                if _try(limits, near, codes, room, rows, place, scratch):
                    left: int = room.lefts[place]
                    return left
    return 0


@lean
def _find_box(quasi: Codes, rows: Codes, low: Codes, high: Codes) -> None:
    """The least and the largest code of some rows on each quasi-identifier."""
    for column in range(quasi.shape[1]):
        low[column] = high[column] = quasi[rows[0], column]
    for row in rows:
        for column in range(quasi.shape[1]):
            code = quasi[row, column]
            if code < low[column]:
                low[column] = code
            elif code > high[column]:
                high[column] = code


@lean
def _order_by_width(losses: Losses, room: Room) -> None:
    """Put the quasi-identifiers in order, widest first; of equals the first."""
    widest, widths = room.widest, room.widths
    for column in range(len(widest)):
        widths[column] = loss(losses, column, room.low[column], room.high[column])
        place = column
        while place > 0 and widths[widest[place - 1]] < widths[column]:
            widest[place] = widest[place - 1]
            place -= 1
        widest[place] = column


@lean
def _boundaries(codes: Codes, rows: Codes, low: int, high: int, room: Room) -> int:
    """List where the codes of some rows can be cut, and give the number of such places."""
    found, passed = 0, 0
    if high - low < SPARSE * len(rows):
        tallies = room.tallies[: high - low + 1]
        for row in rows:
            tallies[codes[row] - low] += 1
        for place in range(high - low):
            if tallies[place] > 0:
                passed += tallies[place]
                room.cuts[found], room.lefts[found] = low + place, passed
                found += 1
        for place in range(len(tallies)):
            tallies[place] = 0
        return found
    ordered = room.ordered[: len(rows)]
    for place in range(len(rows)):
        ordered[place] = codes[rows[place]]
    sort(ordered)
    for place in range(len(rows) - 1):
        if ordered[place] != ordered[place + 1]:
            room.cuts[found], room.lefts[found] = ordered[place], place + 1
            found += 1
    return found


@lean
def _outward(room: Room, found: int, size: int, k: int) -> int:
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


@lean
def _try(limits: Limits, near: Ints, codes: Codes, room: Room, rows: Codes, boundary: int, scratch: Scratch) -> bool:
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
    sides = room.aside[:size], room.aside[size : len(rows)]
    for side in sides if 2 * size <= len(rows) else (sides[1], sides[0]):  # the smaller one fails more often, and sooner
        if not holds(limits, near, side, scratch):
            return False
    for place in range(len(rows)):
        rows[place] = room.aside[place]
    return True
