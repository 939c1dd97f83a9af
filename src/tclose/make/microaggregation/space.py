"""The space of the quasi-identifiers: the distance between two rows, and the centroid of rows.

The squared distance of two rows is the sum over the quasi-identifiers of weight * d^2, where d is

    numbers, dates, times     the difference, as a share of the table's range, as in the NCP
    values with a hierarchy   the NCP of the lowest node above both
    values without an order   0 if they are equal, otherwise 1
    missing cells             0 to one another, 1 to every value

The centroid of rows has the mean of numbers; it is missing if most of the rows miss it. Of other values it has the one with the
least sum of squared distances to the rows, which is the most frequent one if there is no hierarchy. Ties: the first wins. All
of this is computed in floats. It chooses rows and decides no limit.

Domingo-Ferrer and Torra (2005) divide numbers by their standard deviation. Ranges are taken here because the largest d is then
1 for every kind of column, and because the SSE and the NCP of a release are measured in ranges. A weight of (range / standard
deviation)^2 gives the distance of the paper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tclose.make.kernels.compiling import lean
from tclose.make.kernels.loss import LossTable, loss_table
from tclose.make.scales import Nominal, Scale, Widths
from tclose.values.arrays import Codes, Floats, Ints

if TYPE_CHECKING:
    from tclose.make.problem import Problem

MISSING = -np.inf
"""The position of a missing cell among numbers, whose positions go from about 0 to about 1: a cell of a grid may stick out."""


class Space(NamedTuple):
    """The rows in the space of the quasi-identifiers, and memory for a centroid.

    A point has one float for each quasi-identifier: for numbers a position, or `MISSING`; otherwise a code.
    """

    metric: LossTable
    """The quasi-identifiers; values without an order are leaves of one root."""
    coordinates: Floats
    """(codes of all quasi-identifiers,): each code as a coordinate of a point. A cell of a grid has the position of its
    middle; so have all values beyond a limit."""
    rows: Codes
    """(quasi, rows): the code of each row, plus ``start`` of the quasi-identifier: its index in a table of all codes."""
    positions: Floats
    """(quasi, rows): the coordinates of each row."""
    counts: Ints
    """(largest number of codes,): rows at each code; 0 between two centroids."""
    touched: Ints
    """(largest number of codes,): the codes that occur."""
    nodes: Ints
    """(nodes,): rows below each node of a hierarchy; 0 between two centroids."""


def space_of(problem: Problem) -> Space:
    """Return the space of the rows of a problem."""
    weights = [float(column.weight) for column in problem.policy.quasi]
    return make_space(loss_table([_widths(scale) for scale in problem.scales], weights), problem.quasi)


def make_space(metric: LossTable, quasi: Codes) -> Space:
    """Return the space of rows with these codes."""
    most = int(metric.columns["size"].max())
    rows = np.ascontiguousarray((quasi + metric.columns["start"]).T, dtype=np.int32)
    coordinates = np.concatenate([_coordinates(metric, column) for column in metric.columns])
    return Space(
        metric,
        coordinates,
        rows,
        coordinates[rows],
        np.zeros(most, dtype=np.int64),
        np.empty(most, dtype=np.int64),
        np.zeros(len(metric.charges), dtype=np.int64),
    )


def _widths(scale: Scale) -> Widths:
    """Return the widths of a scale; values without an order become the leaves of one root."""
    if not isinstance(scale, Nominal):
        return scale.widths()
    none, codes = np.zeros(scale.size), np.arange(scale.size)
    return Widths(none, none, none, False, np.array([0 * codes, 1 + codes], dtype=np.int32), np.append(1.0, none))


def _coordinates(metric: LossTable, column: Any) -> Floats:
    """Return each code of a quasi-identifier as a coordinate."""
    if column["depth"]:
        return np.arange(column["size"], dtype=np.float64)
    codes = metric.codes[column["start"] : column["start"] + column["size"]]
    found: Floats = (codes["low"] + codes["high"]) / 2
    if column["missing"]:
        found[-1] = MISSING
    return found


@lean
def squared(metric: LossTable, quasi: int, a: float, b: float) -> float:
    """Return the weighted squared distance of two points along one quasi-identifier."""
    column = metric.columns[quasi]
    away = 0.0
    if a == b:
        away = 0.0
    elif column.depth == 0:
        away = 1.0 if a == MISSING or b == MISSING else a - b
    else:
        away = 1.0
        one, other = np.int64(a), np.int64(b)
        level = column.ancestors + column.depth * column.size
        while level > column.ancestors:
            level -= column.size
            node = metric.ancestors[level + one]
            if node >= 0 and node == metric.ancestors[level + other]:
                away = metric.charges[column.charges + node]
                break
    weighted: float = column.weight * away * away
    return weighted


@lean
def find_centroid(space: Space, rows: Codes, centroid: Floats) -> None:
    """Fill in the centroid of some rows, at least one."""
    for quasi in range(len(centroid)):
        centroid[quasi] = _mean(space, quasi, rows) if space.metric.columns[quasi].depth == 0 else _medoid(space, quasi, rows)


@lean
def _mean(space: Space, quasi: int, rows: Codes) -> float:
    """Return the mean of numbers, or `MISSING` if more rows miss it than have it."""
    present, total = 0, 0.0
    for row in rows:
        position = space.positions[quasi, row]
        if position != MISSING:
            present += 1
            total += position
    mean: float = MISSING if 2 * present < len(rows) else total / present
    return mean


@lean
def _medoid(space: Space, quasi: int, rows: Codes) -> float:
    """Return the code that occurs and has the least sum of squared distances to the rows; ties: the first wins.

    At each node on the way from the root to the code, the rows that leave the way are as far as the node's NCP.
    """
    metric, counts, nodes = space.metric, space.counts, space.nodes
    column = metric.columns[quasi]
    distinct = 0
    for row in rows:
        code = space.rows[quasi, row] - column.start
        if counts[code] == 0:
            space.touched[distinct] = code
            distinct += 1
        counts[code] += 1
    touched = space.touched[:distinct]
    for code in touched:
        _count_nodes(metric, column, nodes, code, counts[code])
    best, least = np.int64(-1), np.inf
    for code in touched:
        total, inside, away = 0.0, len(rows), 1.0
        for depth in range(column.depth):
            node = metric.ancestors[column.ancestors + depth * column.size + code]
            if node >= 0:
                total += (inside - nodes[node]) * away * away
                inside, away = nodes[node], metric.charges[column.charges + node]
        total += (inside - counts[code]) * away * away
        if total < least or (total == least and code < best):
            best, least = code, total
    for code in touched:
        _count_nodes(metric, column, nodes, code, -counts[code])
        counts[code] = 0
    return np.float64(best)


@lean
def _count_nodes(metric: LossTable, column: Any, nodes: Ints, code: int, count: int) -> None:
    """Add some rows to all nodes above a code."""
    for depth in range(column.depth):
        node = metric.ancestors[column.ancestors + depth * column.size + code]
        if node >= 0:
            nodes[node] += count


@lean
def measure(space: Space, point: Floats, rows: Codes, table: Floats, distances: Floats) -> None:
    """Fill in the squared distance of each row from a point; ``table`` is memory for the distance of each code."""
    for index in range(len(rows)):
        distances[index] = 0.0
    for quasi in range(len(point)):
        column = space.metric.columns[quasi]
        if column.depth == 0 and column.missing == 0:
            _add_differences(space.positions[quasi], column.weight, point[quasi], rows, distances)
            continue
        for code in range(column.start, column.start + column.size):
            table[code] = squared(space.metric, quasi, point[quasi], space.coordinates[code])
        codes = space.rows[quasi]
        for index in range(len(rows)):
            distances[index] += table[codes[rows[index]]]


@lean
def _add_differences(positions: Floats, weight: float, place: float, rows: Codes, distances: Floats) -> None:
    """Add the squared distance of each row along numbers, of which none is missing."""
    for index in range(len(rows)):
        away = place - positions[rows[index]]
        distances[index] += weight * away * away
