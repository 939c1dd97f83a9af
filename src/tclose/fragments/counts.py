"""The multiplicity matrix M of several sensitive attributes: how many rows have each tuple of values; only those that occur."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.distances import Distance
from tclose.fragments.axes import Axis, axis_of

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Counts:
    """The cells of M that are not 0, after Bagai et al. 2023, section 2.1.

    Attributes
    ----------
    cells : (cells, attributes) int64
        The codes of each cell, in ascending order.
    rows : (cells,) int64
        How many rows of the table it has.
    axes : one `Axis` for each attribute
    values : one list for each attribute
        What its codes stand for.
    """

    cells: Ints
    rows: Ints
    axes: Sequence[Axis]
    values: Sequence[Sequence[Any]] = field(repr=False)

    @classmethod
    def of_codes(cls, codes: Sequence[NDArray[Any]], distances: Sequence[Distance], values: Sequence[Sequence[Any]]) -> Counts:
        """Count the rows of a table: one array of codes for each attribute."""
        number = np.zeros(len(codes[0]), dtype=np.int64)
        for column in codes:  # the number of each tuple so far, renumbered without gaps so that it never grows large
            number = np.unique(number, return_inverse=True)[1] * (int(column.max()) + 1) + column.astype(np.int64)
        _, first, rows = np.unique(number, return_index=True, return_counts=True)
        cells = np.stack([column[first].astype(np.int64) for column in codes], axis=1)
        return cls(cells, rows.astype(np.int64), [axis_of(distance, int(rows.sum())) for distance in distances], values)

    @cached_property
    def total(self) -> int:
        """|M|, the rows of the table."""
        return int(self.rows.sum())

    def marginal(self, attribute: int, cells: Ints | slice = slice(None)) -> Ints:
        """The slice-sums of one attribute: rows at each of its codes, over some of the cells."""
        size = self.axes[attribute].distance.m
        counts: Ints = np.zeros(size, dtype=np.int64)
        np.add.at(counts, self.cells[cells, attribute], self.rows[cells])
        return counts
