"""Grids: ``snap: auto``, the finest grid of round numbers, or units of the calendar, with at least k persons in each cell."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tclose.errors import InfeasibleError
from tclose.make.scales.rulers import Clock, Ruler, ruler
from tclose.values.arrays import Bools, Ints

TAIL = 20
"""A cell can be part of an open end if fewer than 1/TAIL of the persons are beyond it: at most about a tenth are in open ends."""


class Grid(NamedTuple):
    """A grid that was chosen for a quasi-identifier; an open end is named by the key of its innermost cell, see `Ruler.cells`."""

    snap: Fraction | str
    bottom: int | None
    top: int | None

    def settings(self, name: str, values: Sequence[Any]) -> dict[str, Any]:
        """Return snap, top and bottom of the column with these distinct values, ascending, for which the grid was chosen."""
        measure = ruler(name, values, self.snap, None, None)
        low, high = self.limits(measure)
        bottom, top = (None if limit is None else measure.limit(limit) for limit in (low, high))
        return {"snap": self.snap, "top": top, "bottom": bottom}

    def limits(self, measure: Ruler) -> tuple[int | None, int | None]:
        """Return the positions of the open bottom and top on a ruler; None for no open end."""
        low = None if self.bottom is None else measure.cell(self.bottom, self.snap).high
        return low, None if self.top is None else measure.cell(self.top, self.snap).low


def choose_grid(
    name: str, values: Sequence[Any], ranks: NDArray[Any], persons: NDArray[Any] | None, k: int, *, ends: bool = True
) -> Grid | None:
    """Return the finest grid on which at least k persons have a value in each cell that has a value.

    None where there is none to choose: a column without values, or with times of day.

    Cells with fewer persons are allowed near the ends, if they are merged outward into an open end of at least k persons. A cell
    can be merged if fewer than k persons, or fewer than 1/`TAIL` of those with a value, have a value beyond it. No sensitive
    value is looked at.

    Parameters
    ----------
    values : sequence
        The distinct values, ascending.
    ranks : (rows,) integers
        The index of each row's value; ``len(values)`` stands for a missing cell.
    persons : (rows,) integers or None
        The person of each row, numbered from 0; None if each row is one.
    ends : bool
        Whether cells may be merged into open ends.

    Raises
    ------
    InfeasibleError
        There is no such grid.
    """
    return grid_for(name, values, people_of_rows(len(values), ranks, persons), k, ends=ends)


def people_of_rows(size: int, ranks: NDArray[Any], persons: NDArray[Any] | None) -> People:
    """Return the persons of some rows, from the index of each row's value among ``size`` values; see `choose_grid`."""
    return CountedPeople.of_rows(size, ranks) if persons is None else _People(size, ranks, persons)


def grid_for(name: str, values: Sequence[Any], people: People, k: int, *, ends: bool = True) -> Grid | None:
    """Return the grid of `choose_grid` for persons of whom it is known who has which value, or how many have each."""
    measure = ruler(name, values, None, None, None) if values else None
    if measure is None or isinstance(measure, Clock):
        return None
    for snap, keys, on_edge in measure.grids():
        found = _open_ends(keys, on_edge, people, k)
        if found is not None and (ends or found == (None, None)):
            return Grid(snap, *found)
    whom = "rows" if isinstance(people, CountedPeople) else "persons"
    raise InfeasibleError(
        f"snap: auto of {name!r} found no grid with at least k={k} {whom} in each cell. Give snap a number or a unit of the "
        "calendar, give a hierarchy, or take a smaller k."
    )


def coarsest_grid(name: str, values: Sequence[Any]) -> Grid:
    """Return the coarsest grid of the series, without open ends: years, or two cells that contain all numbers."""
    *_, (snap, _, _) = ruler(name, values, None, None, None).grids()
    return Grid(snap, None, None)


class People(Protocol):
    """Persons by their values, wherever it is known who has which value.

    Attributes
    ----------
    total : int
        The persons who have a value.
    below, above : (values + 1,) int64
        The persons who have one of the values before an index; and those who have one from the index on.
    """

    total: int
    below: Ints
    above: Ints

    def in_cells(self, cell_of_value: Ints) -> Ints:
        """Return how many persons have a value in each cell; cells ascend with values."""

    def between(self, start: int, end: int) -> int:
        """Return how many persons have one of the values from one index up to another, excluded."""


class CountedPeople:
    """Persons by their values, each with one value: how many have each value. See `People`."""

    def __init__(self, counts: Ints) -> None:
        """Take the number of persons with each value."""
        self._counts = counts
        self.total = int(counts.sum())
        self.below = np.append(0, np.cumsum(counts))
        self.above = self.total - self.below

    @classmethod
    def of_rows(cls, size: int, ranks: NDArray[Any]) -> CountedPeople:
        """Return the persons of whom each has one row, from the index of its value among ``size`` values."""
        return cls(np.bincount(ranks[ranks < size], minlength=size))

    def in_cells(self, cell_of_value: Ints) -> Ints:
        """Return how many persons have a value in each cell; cells ascend with values."""
        found = np.zeros(int(cell_of_value[-1]) + 1, dtype=np.int64)
        np.add.at(found, cell_of_value, self._counts)
        return found

    def between(self, start: int, end: int) -> int:
        """Return how many persons have one of the values from one index up to another, excluded."""
        return int(self._counts[start:end].sum())


class _People:
    """Persons by their values, some with several. See `People`."""

    def __init__(self, size: int, ranks: NDArray[Any], persons: NDArray[Any]) -> None:
        """Take the index of each row's value among ``size`` values, and the row's person."""
        present = ranks < size
        who = persons[present]
        order = np.lexsort((ranks[present], who))
        who, self._ranks = who[order], ranks[present][order].astype(np.int64)
        borders = np.ones(len(who) + 1, dtype=np.bool_)
        borders[1:-1] = who[1:] != who[:-1]
        self._first = borders[:-1]
        lowest, highest = self._ranks[self._first], self._ranks[borders[1:]]
        self.total = len(lowest)
        self.below = np.append(0, np.cumsum(np.bincount(lowest, minlength=size)))
        self.above = self.total - np.append(0, np.cumsum(np.bincount(highest, minlength=size)))

    def in_cells(self, cell_of_value: Ints) -> Ints:
        """Return how many persons have a value in each cell; cells ascend with values."""
        cells = cell_of_value[self._ranks]
        first = self._first.copy()
        first[1:] |= cells[1:] != cells[:-1]  # the rows of a person are sorted by their values
        return np.bincount(cells[first], minlength=int(cell_of_value[-1]) + 1)

    def between(self, start: int, end: int) -> int:
        """Return how many persons have one of the values from one index up to another, excluded."""
        inside = (self._ranks >= start) & (self._ranks < end)
        owners = np.cumsum(self._first)
        return len(np.unique(owners[inside]))


def _open_ends(keys: Ints, on_edge: Bools | None, people: People, k: int) -> tuple[int | None, int | None] | None:
    """Return the keys of the innermost cells of the open bottom and top of a grid, None for no open end; None if the grid fails.

    Of all open ends that leave no cell with fewer than k persons, the smallest bottom is taken, then the smallest top.

    Parameters
    ----------
    keys : (values,) integers
        The key of the cell of each value.
    on_edge : (values,) bool or None
        Where values are dense, whether each lies on an edge of the grid: "20 or less" includes 20, which begins the next cell.
    """
    if (keys[1:] < keys[:-1]).any():  # where clocks are set back, a later time may be on an earlier day
        return None
    begins = np.append(True, keys[1:] != keys[:-1])
    starts = np.append(np.flatnonzero(begins), len(keys))
    cells = len(starts) - 1
    few = np.flatnonzero(people.in_cells(np.cumsum(begins) - 1) < k)
    may_be_low = _are_few(people.below[starts[:-1]], people, k)
    may_be_high = _are_few(people.above[starts[1:]], people, k)
    needed = few[~may_be_high[few]]  # these must be in the bottom; the last may be an edge that is included
    for low in range(int(needed[-1]) if len(needed) else 0, cells):
        if low and not may_be_low[low - 1]:
            return None
        inside = _inside(low, keys, on_edge, starts, people, k) if low else 0
        if inside is None:
            continue
        left = few[np.searchsorted(few, inside) :]
        high = int(left[0]) if len(left) else cells
        if high < cells and not may_be_high[high]:
            continue
        while 0 < high < cells and people.above[starts[high]] < k:
            high -= 1
        meet = on_edge is not None and 0 < low == high < cells and keys[starts[high]] == keys[starts[high] - 1] + 1
        if inside <= high and high > 0 and not meet:
            return int(keys[starts[low] - 1]) if low else None, int(keys[starts[high]]) if high < cells else None
    return None


def _are_few(beyond: Ints, people: People, k: int) -> Bools:
    """Whether the persons beyond each cell are so few that the cell can be merged into an open end."""
    return (beyond < k) | (beyond * TAIL < people.total)


def _inside(low: int, keys: Ints, on_edge: Bools | None, starts: Ints, people: People, k: int) -> int | None:
    """Return the first cell that is not checked yet if the first ``low`` cells are the open bottom.

    None if the bottom has fewer than k persons or all values, or, where it takes the edge of the next cell, the rest of that cell
    has fewer than k persons.
    """
    start, end = int(starts[low]), int(starts[low + 1])
    shared = on_edge is not None and bool(on_edge[start]) and bool(keys[start] == keys[start - 1] + 1)
    rest = people.between(start + 1, end) if shared and start + 1 < end else k
    if people.below[start + shared] < k or rest < k or start + shared == len(keys):
        return None
    return low + shared
