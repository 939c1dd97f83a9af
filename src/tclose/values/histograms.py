"""Histograms of one sensitive attribute: what every distance and every model computes on. Plain arrays, no table library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.values.arrays import Ints
from tclose.values.exact import product


@dataclass(frozen=True)
class Histograms:
    """Counts of an attribute's values in some classes of a table, and in the whole table.

    Class i holds ``counts[starts[i]:starts[i+1]]`` rows of the values ``codes[starts[i]:starts[i+1]]``, codes ascending,
    counts above 0. Every class has rows. Codes are positions in the attribute's domain, 0 to m-1.

    Attributes
    ----------
    starts : (classes + 1,) int64
    codes, counts : (touched values,) int64
    table : (m,) int64
        How often each value occurs in the whole table, which may hold more classes than these.
    first : int
        Number of the first class, when these are a part of the table's.
    """

    starts: Ints
    codes: Ints
    counts: Ints
    table: Ints
    first: int = 0

    @classmethod
    def of(cls, classes: Sequence[Sequence[int]], table: Sequence[int] | None = None) -> Histograms:
        """Return the histograms of dense counts, a list for each class; the table's counts are their sum unless given."""
        dense = np.asarray(classes, dtype=np.int64)
        rows, codes = np.nonzero(dense)
        starts = np.searchsorted(rows, np.arange(len(dense) + 1))
        whole = dense.sum(axis=0) if table is None else np.asarray(table, dtype=np.int64)
        return cls(starts.astype(np.int64), codes.astype(np.int64), dense[rows, codes], whole)

    @cached_property
    def rows(self) -> int:
        """The number of rows of the whole table, n, also of classes that are not in these histograms."""
        return int(self.table.sum())

    @cached_property
    def sizes(self) -> Ints:
        """The number of rows of each class, s, as an array."""
        return self.sums(self.counts)

    @cached_property
    def distinct(self) -> Ints:
        """The number of different sensitive values that occur in each class."""
        return np.diff(self.starts)

    @cached_property
    def numbers(self) -> Ints:
        """The index of the class of each entry of ``codes`` and ``counts``, from 0 in this part of the table."""
        return np.repeat(np.arange(len(self)), self.distinct)

    @cached_property
    def descending(self) -> Ints:
        """The counts of the values in each class, class by class, the largest count first."""
        return self.counts[np.lexsort((-self.counts, self.numbers))]

    @cached_property
    def shares(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The share of each entry's value in its class (P) and in the whole table (Q), as floats."""
        return self.counts / self.repeated(self.sizes), self.table[self.codes] / self.rows

    @cached_property
    def lifts(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Numerators c*n and denominators s*T of p/q for each entry: its share in the class over its share in the table."""
        return product(self.counts, self.rows), product(self.repeated(self.sizes), self.table[self.codes])

    def __len__(self) -> int:
        """Return the number of classes in the histograms."""
        return len(self.starts) - 1

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the sum over each class of ``values``, which has one number for each entry of ``counts``."""
        result: NDArray[Any] = np.add.reduceat(values, self.starts[:-1])
        return result

    def repeated(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return ``values``, which has one number for each class, repeated for each entry of the class."""
        return np.repeat(values, self.distinct)

    def take(self, chosen: Ints) -> Histograms:
        """Return the histograms of some classes, in the order in which they are chosen."""
        lengths = self.distinct[chosen]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        positions = np.arange(starts[-1]) + np.repeat(self.starts[chosen] - starts[:-1], lengths)
        return Histograms(starts, self.codes[positions], self.counts[positions], self.table)

    def dense(self, number: int) -> Ints:
        """Return the counts of one class at all values of the domain, zeros included."""
        part = slice(self.starts[number], self.starts[number + 1])
        counts = np.zeros_like(self.table)
        counts[self.codes[part]] = self.counts[part]
        return counts

    def merged(self, groups: Ints) -> Histograms:
        """Return the histograms of unions of classes: class i goes to union ``groups[i]``; unions are numbered without gaps."""
        keys = groups[self.numbers] * len(self.table) + self.codes
        cells, inverse = np.unique(keys, return_inverse=True)
        counts = np.zeros(len(cells), dtype=np.int64)
        np.add.at(counts, inverse, self.counts)
        unions, codes = np.divmod(cells, len(self.table))
        starts = np.searchsorted(unions, np.arange(int(groups.max()) + 2))
        return Histograms(starts.astype(np.int64), codes, counts, self.table)

    def largest(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the maximum over each class of ``values``, which has one number for each entry of ``counts``."""
        result: NDArray[Any] = np.maximum.reduceat(values, self.starts[:-1])
        return result

    @classmethod
    def join(cls, parts: Sequence[Histograms]) -> Histograms:
        """Return the histograms of consecutive parts of a table's classes as one object."""
        offsets = np.cumsum([0, *(len(part.codes) for part in parts)])
        starts = [part.starts[:-1] + offset for part, offset in zip(parts, offsets, strict=False)]
        codes, counts = (np.concatenate([getattr(part, name) for part in parts]) for name in ("codes", "counts"))
        return cls(np.concatenate([*starts, offsets[-1:]]), codes, counts, parts[0].table, parts[0].first)
