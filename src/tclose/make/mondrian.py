"""Mondrian: the table is cut in two, again and again, while both sides satisfy t-closeness or (n,t)-closeness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.make.algorithm import Partition
from tclose.make.kernels.compiling import kernel, once
from tclose.make.kernels.limits import Limits, fill_reference
from tclose.make.kernels.loss import RANGE, LossTable, loss
from tclose.make.kernels.running import run
from tclose.make.kernels.satisfies import satisfies, scratch_for
from tclose.make.kernels.scratch import Scratch
from tclose.make.kernels.small import sort
from tclose.values.arrays import Codes, Ints

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tclose.make.problem import Problem

STEPS = 64
"""The largest number of boundaries that are tried along one quasi-identifier."""
SPARSE = 32
"""Codes are counted, not sorted, if their range is less than this many times the number of rows."""
WAITING, CLASSES, REGIONS = range(3)
"""The entries of `Nodes.found`."""
OTHERS, COLUMN, TRY, TRIES = range(4)
"""The entries of `Cutting.at`."""
DONE = 2
"""The value of ``at[OTHERS]`` where nothing is left to try."""

NODE = np.dtype([("start", np.int64), ("end", np.int64), ("around", np.int64), ("depth", np.int64)])
"""A node: where its rows start and end in `Cutting.order`, the smallest region around it, and the number of regions around it."""
CUT = np.dtype([("code", np.int64), ("left", np.int64)])
"""A boundary: the code after which rows are cut, and the number of rows on the left."""


def mondrian(
    problem: Problem,
    seed: int,  # noqa: ARG001 - nothing is random,
    effort: str,  # noqa: ARG001 - nothing is refined,
    options: Mapping[str, Any],  # noqa: ARG001 - and there are no options
) -> Partition:
    """Return the partition of a table that is cut in two, again and again, while both sides satisfy every limit.

    Mondrian (LeFevre, DeWitt and Ramakrishnan 2006) with t-closeness (Li et al. 2007) or (n,t)-closeness (Li et al. 2010)
    as a further condition: a node is cut along its widest quasi-identifier, width = NCP times
    weight, at the boundary between two values that is nearest the median; if a side breaks a limit, along the next widest.
    Values with a hierarchy stand in its order, depth first. Under (n,t)-closeness a side must be within t of some node around
    it that has at least n rows, or have n rows itself; for each attribute it may be another node.

    It differs from the papers in one thing: where no quasi-identifier can be cut at its median, other boundaries are tried,
    widest first, from the median outwards. Classes get smaller by that, and so does the information loss.

    A table that breaks a limit as a whole is returned as one class.

    Returns
    -------
    Partition
        Classes are numbered from the lower codes to the higher. Rows with the same codes are in the same class.
    """
    nodes = cut_all(problem.quasi, problem.losses, problem.limits)
    regions, classes = nodes.found[REGIONS], nodes.found[CLASSES]
    return Partition(nodes.labels, regions=_regions_by_depth(nodes.region_of_class[:classes], nodes.parents[:regions]))


def cut_all(quasi: Codes, losses: LossTable, limits: Limits) -> Nodes:
    """Return Mondrian's classes and regions of a table, cut in two until no node can be cut."""
    nodes, cutting, scratch = _allocate_nodes(len(quasi), limits.n), _allocate_cutting(len(quasi), losses), scratch_for(limits)
    references = limits.references.copy()  # limits themselves stay as they are
    run(_cut_all, limits, references, losses, quasi, nodes, cutting, scratch)
    while nodes.found[WAITING] > 0:  # regions lie deeper in one another than there was memory for
        references = np.concatenate([references, np.empty_like(references)])
        run(_cut_all, limits, references, losses, quasi, nodes, cutting, scratch)
    return nodes


def _regions_by_depth(region_of_class: Ints, parents: Ints) -> list[Ints]:
    """Return for each depth of Mondrian's tree of regions the region of each class, -1 if it has none; without the root."""
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


class Nodes(NamedTuple):
    """The classes and regions found so far, and the nodes that wait to be cut."""

    found: Ints
    """(3,): the numbers of waiting nodes, of classes and of regions."""
    waiting: NDArray[Any]
    """(waiting,) of `NODE`: the nodes that wait to be cut, the next one last."""
    labels: Ints
    """(rows,): the class of each row."""
    region_of_class: Ints
    """(classes,): under (n,t)-closeness the smallest region of n rows around each class, -1 if there is none."""
    parents: Ints
    """(regions,): the region around each region."""


class Cutting(NamedTuple):
    """Memory for the cutting of one node."""

    order: Codes
    """(rows,): the indices of the rows; each node is a slice of it."""
    aside: Codes
    """(rows,): the two sides of a cut that is being tried."""
    box: NDArray[Any]
    """(quasi,) of `RANGE`: the range of the node's codes on each quasi-identifier."""
    widest: Ints
    """(quasi,): the quasi-identifiers of the node, widest first."""
    at: Ints
    """(4,): what is being tried: 0 for boundaries nearest the median and 1 for others; the index of a quasi-identifier in
    ``widest``; the index of a boundary in ``tries``; and the number of tries."""
    tallies: Ints
    """(codes,): the number of rows at each code; all 0 between nodes."""
    cuts: NDArray[Any]
    """(codes,) of `CUT`: the boundaries of a node along one quasi-identifier."""
    tries: Ints
    """(codes,): the indices in ``cuts`` of the boundaries to try, in order. Before that, memory to sort codes."""


def _allocate_nodes(rows: int, n: int) -> Nodes:
    """Return memory for Mondrian's nodes, classes and regions, with the whole table as the only node."""
    regions = rows if n else 0
    waiting = np.empty(rows + 1, dtype=NODE)
    waiting[0] = (0, rows, -1, 0)
    found, labels = np.array([1, 0, 0], dtype=np.int64), np.empty(rows, dtype=np.int64)
    return Nodes(found, waiting, labels, np.empty(regions, dtype=np.int64), np.empty(2 * regions, dtype=np.int64))


def _allocate_cutting(rows: int, losses: LossTable) -> Cutting:
    """Return memory for the cutting of one of Mondrian's nodes."""
    quasi, codes = len(losses.columns), int(losses.columns["size"].max())
    return Cutting(
        np.arange(rows, dtype=np.int32),
        np.empty(rows, dtype=np.int32),
        np.empty(quasi, dtype=RANGE),
        np.empty(quasi, dtype=np.int64),
        np.empty(4, dtype=np.int64),
        np.zeros(codes, dtype=np.int64),
        np.empty(codes, dtype=CUT),
        np.empty(codes, dtype=np.int64),
    )


@kernel
def _cut_all(
    limits: Limits,
    references: Ints,
    losses: LossTable,
    quasi: Codes,
    nodes: Nodes,
    cutting: Cutting,
    scratch: Scratch,
    cancel: NDArray[np.uint8],
) -> None:
    """Cut Mondrian's nodes until none can be cut, left sides first; or until there is no memory for the next region.

    ``references`` are the distributions that sides must be close to: the table or, overwritten here, the regions around the node.
    `satisfies` is called here, not by a part: what a part calls is optimised with it, and again with each of its callers.
    """
    waiting, classes, regions = nodes.found[WAITING], nodes.found[CLASSES], nodes.found[REGIONS]
    while waiting > 0 and cancel[0] == 0:
        node = nodes.waiting[waiting - 1]
        start, end, region, depth = node.start, node.end, node.around, node.depth
        rows = cutting.order[start:end]
        if end - start >= limits.n > 0:
            if depth == len(references):
                break
            nodes.parents[regions] = region
            region = regions
            regions += 1
            fill_reference(limits, rows, references[depth])
            depth += 1
        waiting -= 1
        near = references[:depth] if limits.n > 0 else references
        left = 0
        _start_node(losses, quasi, rows, limits.k, cutting)
        while left == 0 and cancel[0] == 0 and _next_boundary(quasi, rows, limits.k, cutting):
            left = _split_rows(quasi, rows, cutting)
            for on_the_left in (2 * left <= end - start, 2 * left > end - start):  # the smaller side fails more often, and sooner
                side = cutting.aside[:left] if on_the_left else cutting.aside[left : end - start]
                if left > 0 and not satisfies(limits, near, side, scratch):
                    left = 0
        if left > 0:
            for index in range(end - start):
                rows[index] = cutting.aside[index]
            for first, last in ((start + left, end), (start, start + left)):
                node = nodes.waiting[waiting]
                node.start, node.end, node.around, node.depth = first, last, region, depth
                waiting += 1
            continue
        for row in rows:
            nodes.labels[row] = classes
        if limits.n > 0:
            nodes.region_of_class[classes] = region
        classes += 1
    nodes.found[WAITING], nodes.found[CLASSES], nodes.found[REGIONS] = waiting, classes, regions


@once
def _start_node(losses: LossTable, quasi: Codes, rows: Codes, k: int, cutting: Cutting) -> None:
    """Start to cut one of Mondrian's nodes: find its box, and sort its quasi-identifiers, widest first."""
    cutting.at[OTHERS], cutting.at[COLUMN], cutting.at[TRY], cutting.at[TRIES] = 0, -1, 0, 0
    if len(rows) < 2 * k:
        cutting.at[OTHERS] = DONE
        return
    box, widest = cutting.box, cutting.widest
    for column in range(quasi.shape[1]):
        box[column].low = box[column].high = quasi[rows[0], column]
    for row in rows:
        for column in range(quasi.shape[1]):
            code, own = quasi[row, column], box[column]
            if code < own.low:
                own.low = code
            elif code > own.high:
                own.high = code
    for column in range(quasi.shape[1]):
        box[column].loss = loss(losses, column, box[column].low, box[column].high)
        index = column
        while index > 0 and box[widest[index - 1]].loss < box[column].loss:
            widest[index] = widest[index - 1]
            index -= 1
        widest[index] = column


@once
def _next_boundary(quasi: Codes, rows: Codes, k: int, cutting: Cutting) -> bool:
    """Choose the next boundary at which Mondrian tries to cut a node, nearest the median first; return False if none is left."""
    at = cutting.at
    at[TRY] += 1
    while at[TRY] >= at[TRIES]:
        at[COLUMN] += 1
        if at[COLUMN] == len(cutting.widest):
            at[COLUMN] = 0
            at[OTHERS] += 1
        if at[OTHERS] >= DONE:
            return False
        found = _list_boundaries(quasi, cutting.widest[at[COLUMN]], rows, cutting)
        tries = _order_boundaries(cutting, found, len(rows), k)
        at[TRY], at[TRIES] = at[OTHERS], tries if at[OTHERS] or tries == 0 else 1
    return True


@once
def _list_boundaries(quasi: Codes, column: int, rows: Codes, cutting: Cutting) -> int:
    """List in ``cutting.cuts`` the codes after which Mondrian can cut a node along a quasi-identifier; return their number."""
    low, high = cutting.box[column].low, cutting.box[column].high
    if low == high:
        return 0
    found, passed = 0, 0
    if high - low < SPARSE * len(rows):
        for row in rows:
            cutting.tallies[quasi[row, column] - low] += 1
        for index in range(high - low + 1):
            if cutting.tallies[index] > 0:
                passed += cutting.tallies[index]
                cutting.cuts[found].code, cutting.cuts[found].left = low + index, passed
                found += 1
                cutting.tallies[index] = 0
        return found - 1  # none after the last code
    ordered = cutting.tries[: len(rows)]
    for index in range(len(rows)):
        ordered[index] = quasi[rows[index], column]
    sort(ordered)
    for index in range(1, len(rows)):
        if ordered[index - 1] != ordered[index]:
            cutting.cuts[found].code, cutting.cuts[found].left = ordered[index - 1], index
            found += 1
    return found


@once
def _order_boundaries(cutting: Cutting, found: int, size: int, k: int) -> int:
    """List in ``cutting.tries`` the boundaries at which Mondrian tries to cut, from the median outwards; return their number.

    None leaves fewer than k rows on a side. On each side of the median, tries are ``size // STEPS`` rows apart at least.
    """
    cuts = cutting.cuts
    above = 0
    while above < found and 2 * cuts[above].left < size:
        above += 1
    below, tries = above - 1, 0
    lowest, highest = size, 0  # rows on the left at the outermost tries
    while True:
        while below >= 0 and cuts[below].left > lowest - size // STEPS:
            below -= 1
        while above < found and cuts[above].left < highest + size // STEPS:
            above += 1
        short = cuts[below].left if below >= 0 else 0
        long = size - cuts[above].left if above < found else 0
        if short < k and long < k:
            return tries
        if short >= long:
            cutting.tries[tries], lowest = below, short
            below -= 1
        else:
            cutting.tries[tries], highest = above, size - long
            above += 1
        tries += 1


@once
def _split_rows(quasi: Codes, rows: Codes, cutting: Cutting) -> int:
    """Write the rows on both sides of Mondrian's current boundary to ``cutting.aside``; return the number on the left."""
    column, cut = cutting.widest[cutting.at[COLUMN]], cutting.cuts[cutting.tries[cutting.at[TRY]]]
    left, right = 0, cut.left
    for row in rows:
        if quasi[row, column] <= cut.code:
            cutting.aside[left] = row
            left += 1
        else:
            cutting.aside[right] = row
            right += 1
    return left
