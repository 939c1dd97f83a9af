"""The multiplicity matrix M of several sensitive attributes: the number of rows with each tuple of values that occurs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.distances import Distance
from tclose.errors import PolicyError
from tclose.make.fragmentation.axes import Axis, axis_of
from tclose.values.arrays import Ints


@dataclass(frozen=True, eq=False)
class Counts:
    """The cells of M that are not 0, after Bagai et al. 2023, section 2.1.

    Attributes
    ----------
    cells : (cells, attributes) int64
        The codes of each cell, in ascending order.
    rows : (cells,) int64
        The rows of the table in each cell.
    axes : one `Axis` for each attribute
    values : one list for each attribute
        The values that its codes stand for.
    """

    cells: Ints
    rows: Ints
    axes: Sequence[Axis]
    values: Sequence[Sequence[Any]] = field(repr=False)

    @classmethod
    def of_codes(
        cls, codes: Sequence[NDArray[Any]], distances: Sequence[Distance], values: Sequence[Sequence[Any]]
    ) -> tuple[Counts, Ints]:
        """Return the multiplicity matrix of rows, given as codes of each attribute, and the index of each row's cell."""
        number = np.zeros(len(codes[0]), dtype=np.int64)
        for column in codes:  # the number of each tuple so far, renumbered without gaps so that it never grows large
            number = np.unique(number, return_inverse=True)[1] * (int(column.max()) + 1) + column.astype(np.int64)
        _, first, cell_of_row, rows = np.unique(number, return_index=True, return_inverse=True, return_counts=True)
        cells = np.stack([column[first].astype(np.int64) for column in codes], axis=1)
        axes = [axis_of(distance, len(cell_of_row)) for distance in distances]
        return cls(cells, rows.astype(np.int64), axes, values), cell_of_row

    @cached_property
    def total(self) -> int:
        """The number of rows of the table that the matrix counts."""
        return int(self.rows.sum())

    def marginal(self, attribute: int, cells: Ints | slice = slice(None)) -> Ints:
        """Return the slice-sums of one attribute: the number of rows at each of its codes, over some of the cells."""
        size = self.axes[attribute].distance.m
        counts: Ints = np.zeros(size, dtype=np.int64)
        np.add.at(counts, self.cells[cells, attribute], self.rows[cells])
        return counts

    def of_class(self, rows: Any) -> Ints:
        """Return a class's number of rows in each cell; given as an array of the matrix's shape, or ``{(value, ...): count}``."""
        codes, counts = self._codes_and_counts(rows)
        if counts.dtype.kind not in "iu" or counts.min(initial=0) < 0:
            raise PolicyError("A class must hold whole numbers of rows, none below 0. Got others.")
        index = {tuple(cell): number for number, cell in enumerate(self.cells.tolist())}
        held = np.zeros(len(self.rows), dtype=np.int64)
        for cell, count in zip(codes.tolist(), counts.tolist(), strict=True):
            found = index.get(tuple(cell), -1)
            if count and (found < 0 or count > self.rows[found]):
                raise PolicyError("A class must hold no more rows with some values than the table does. Got more.")
            held[found] += count
        return held

    def _codes_and_counts(self, rows: Any) -> tuple[Ints, NDArray[Any]]:
        """Return the codes and counts of a class's cells of the matrix; raise PolicyError if the class does not fit it."""
        if isinstance(rows, Mapping):
            codes_of = [{value: code for code, value in enumerate(values)} for values in self.values]
            keys = [key if isinstance(key, tuple) else (key,) for key in rows]
            try:
                found = [[codes[value] for codes, value in zip(codes_of, key, strict=True)] for key in keys]
            except (KeyError, ValueError):
                raise PolicyError("A class must have values of the matrix, one for each attribute. Got others.") from None
            counts = numbers(list(rows.values())) if rows else np.zeros(0, dtype=np.int64)
            return np.array(found, dtype=np.int64).reshape(len(found), len(codes_of)), counts
        dense = numbers(rows)
        shape = tuple(axis.distance.m for axis in self.axes)
        if dense.shape != shape:
            raise PolicyError(f"A class must have the shape of the matrix, {shape}. Got {dense.shape}.")
        codes = np.argwhere(dense)
        return codes, dense[tuple(codes.T)]


def numbers(given: Any) -> NDArray[Any]:
    """Return numbers that a user gave as an array; of Python's objects if no other type fits."""
    try:
        return np.asarray(given)
    except (ValueError, OverflowError):  # lists of several lengths
        return np.array(None, dtype=object)
