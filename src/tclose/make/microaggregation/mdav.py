"""MDAV: classes of k rows around the rows that are farthest from the middle, and from one another.

Maximum distance to average vector (Domingo-Ferrer and Mateo-Sanz 2002; generic form: Domingo-Ferrer and Torra 2005, algorithm
5.1). Of the rows without a class, the one that is farthest from their centroid and its k - 1 nearest are a class; then the one
that is farthest from that row and its k - 1 nearest; and so on. The last rows, fewer than 2k, are one class. Ties: the first
wins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tclose.jobs import announce, report
from tclose.make.kernels.compiling import kernel, lean
from tclose.make.kernels.nearest import find_nearest
from tclose.make.kernels.running import run
from tclose.make.microaggregation.space import Space, find_centroid, measure
from tclose.values.arrays import Bytes, Codes, Floats, Ints

VISITS = 30_000_000
"""The number of rows that a kernel measures before it returns, so that progress can be reported."""

LEFT, CLASSES = range(2)
"""The entries of `Open.numbers`: how many rows have no class yet, and how many classes there are."""


class Open(NamedTuple):
    """The rows that have no class yet, and memory to find the next class."""

    numbers: Ints
    """See `LEFT` and `CLASSES`."""
    labels: Ints
    """(rows,): the class of each row; -1 if it has none yet."""
    rows: Codes
    """(rows,): the rows without a class, ascending, at the start."""
    distances: Floats
    """(rows,): the squared distance of each of them from the last seed."""
    chosen: Ints
    """(rows,): indices in ``rows``."""
    point: Floats
    """(quasi,): a centroid or a row."""
    table: Floats
    """(codes of all quasi-identifiers,): the squared distance of each code from the point."""


def mdav(space: Space, k: int) -> Ints:
    """Return the class of each row, numbered as classes are made. Each has k to 2k - 1 rows, if the table has k."""
    return make_classes(space, _mdav, k)


def make_classes(space: Space, make: Callable[..., None], *args: Any) -> Ints:
    """Return the class of each row: ``make(space, state, *args, visits, cancel)`` makes classes until all rows have one."""
    quasi, rows = space.rows.shape
    state = Open(
        np.array([rows, 0], dtype=np.int64),
        np.full(rows, -1, dtype=np.int64),
        np.arange(rows, dtype=np.int32),
        np.empty(rows),
        np.empty(rows, dtype=np.int64),
        np.empty(quasi),
        np.empty(len(space.metric.codes)),
    )
    announce("Making classes of")
    while state.numbers[LEFT] > 0:
        run(make, space, state, *args, VISITS)
        report(f"{rows - state.numbers[LEFT]:,} of {rows:,} rows")
    return state.labels


@kernel
def _mdav(space: Space, state: Open, k: int, visits: int, cancel: Bytes) -> None:
    """Make classes of the k nearest rows, until all rows have a class or many were measured."""
    while state.numbers[LEFT] > 0 and visits > 0 and cancel[0] == 0:
        left = state.numbers[LEFT]
        visits -= left
        choose_seed(space, state)
        size = k if left >= 2 * k else left
        find_nearest(state.distances[:left], size, state.chosen)
        close_class(state, state.chosen[:size])


@lean
def choose_seed(space: Space, state: Open) -> None:
    """Choose the row that the next class is made around, and measure the distance of all rows without a class from it.

    Classes are made in pairs: one around the row that is farthest from the centroid of these rows, then one around the row that
    is farthest from that row, from which distances are known.
    """
    left = state.numbers[LEFT]
    rows, distances = state.rows[:left], state.distances[:left]
    if state.numbers[CLASSES] % 2 == 0:
        find_centroid(space, rows, state.point)
        measure(space, state.point, rows, state.table, distances)
    farthest = 0
    for index in range(left):
        if distances[index] > distances[farthest]:
            farthest = index
    for quasi in range(len(state.point)):
        state.point[quasi] = space.positions[quasi, rows[farthest]]
    measure(space, state.point, rows, state.table, distances)


@lean
def close_class(state: Open, chosen: Ints) -> None:
    """Make a class of the rows at some indices; the others move up."""
    for index in chosen:
        state.labels[state.rows[index]] = state.numbers[CLASSES]
    kept = 0
    for index in range(state.numbers[LEFT]):
        row = state.rows[index]
        state.rows[kept], state.distances[kept] = row, state.distances[index]
        kept += state.labels[row] < 0
    state.numbers[LEFT] = kept
    state.numbers[CLASSES] += 1
