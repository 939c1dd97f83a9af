"""Spans: the least and the greatest code of each class, and the distribution of its rows over codes that a reader expects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.make.scales.base import Column
from tclose.values.arrays import Bools, Floats, Ints


class Spans(NamedTuple):
    """The codes of each class, from first to last, without the code that stands for missing cells.

    A class whose cells are all missing has that code as first and last.
    """

    first: Ints
    last: Ints
    rows: Ints
    gone: Ints
    """How many rows of the class have a missing cell."""

    @property
    def absent(self) -> Bools:
        """Whether all cells of the quasi-identifier are missing, for each class."""
        return np.equal(self.gone, self.rows)

    @property
    def mixed(self) -> Bools:
        """Whether some cells of the quasi-identifier are missing, but not all, for each class."""
        return np.logical_and(self.gone > 0, self.gone < self.rows)


def spans_of(codes: NDArray[Any], starts: Ints, missing: int | None) -> Spans:
    """Return the least and the greatest code of each class on a scale; ``missing`` is the code of missing cells, or None."""
    rows, begins = np.diff(starts), starts[:-1]
    if not len(begins):
        return Spans(rows, rows, rows, rows)
    first = np.minimum.reduceat(codes, begins).astype(np.int64)
    last = np.maximum.reduceat(codes, begins).astype(np.int64)
    gone = np.zeros(len(rows), dtype=np.int64)
    if missing is not None:
        away = codes == missing
        gone = np.add.reduceat(away, begins, dtype=np.int64)
        last = np.maximum.reduceat(np.where(away, 0, codes), begins).astype(np.int64)
        last = np.where(gone == rows, first, last)
    return Spans(first, last, rows, gone)


def covering(first: Ints, last: Ints, found: Spans, missing: int | None) -> Callable[[int], Bools]:
    """Return a function from a code to which classes cover it: those from first to last code, or with missing cells."""

    def covers(code: int) -> Bools:
        """Whether the published value of each class may stand for the code."""
        return np.greater(found.gone, 0) if code == missing else np.less_equal(first, code) & np.less_equal(code, last)

    return covers


def missing_codes(found: Spans, size: int) -> Ints:
    """Return the code of missing cells for each class that is published as having some, as ``class * size + code``."""
    return np.flatnonzero(found.gone > 0) * size + size - 1


def charged(loss: Floats, found: Spans) -> Floats:
    """Return the information loss of a row of each class: 0 if all cells are missing, 1 if some are, else the given loss."""
    return np.where(found.mixed, 1.0, np.where(found.absent, 0.0, loss))


def column_of_keys(keys: Ints, value: Callable[[int], Any]) -> Column:
    """Return a quasi-identifier's published column from a key for each class, in the order of the keys."""
    distinct, indices = np.unique(keys, return_inverse=True)
    return Column([value(key) for key in distinct.tolist()], indices)


def expected_rows(size: int, found: Spans) -> Floats:
    """Return the rows that a reader expects at each code: each class evenly over its codes, and missing cells if it has some.

    Computed in integer parts of a row, so that the sum is exactly the number of rows, and the same on every machine.
    """
    rows = found.rows
    shift = 62 - int(rows.sum()).bit_length()
    share, rest = np.divmod(rows << shift, found.last - found.first + 1 + found.mixed)
    steps = np.zeros(size + 1, dtype=np.int64)
    np.add.at(steps, found.first, share + 1)  # the first codes of a class get one part more each, until the remainder is used up
    np.add.at(steps, found.first + rest, -1)
    np.add.at(steps, found.last + 1, -share)
    missing = int(share[found.mixed].sum())
    steps[size - 1] += missing
    return np.cumsum(steps)[:size] / float(1 << shift)
