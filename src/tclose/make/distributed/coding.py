"""Coding: the cells of columns as codes, batch by batch, wherever the batches are.

The codes are those of `tclose.make.encode`, which has all rows at once. Here the values of each column are known beforehand, from
its histogram, and rows are coded where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tclose.errors import InputError
from tclose.tables.arrow import is_zoned
from tclose.tables.coded import narrow
from tclose.tables.packed import COUNT
from tclose.values.arrays import Codes, Ints

CLASS, STRATUM, TIE = "class", "stratum", "tie"
"""Columns of coded rows besides their codes, `BLOCK` and `COUNT`: the class once there is one, the sensitive values, roughly, and
a number that is as good as random."""

TIES = 2**31
"""Numbers at random are from 0 to this one, excluded."""


@dataclass(frozen=True, eq=False)
class Coding:
    """The values of one column, and the code of each.

    Attributes
    ----------
    cells : pyarrow array
        The values, ascending, missing last.
    codes : (values,) integers
        Their codes.
    coarse : (codes,) integers
        A coarser number for each code, which ascends with codes.
    """

    cells: pa.Array
    codes: Codes
    coarse: Codes

    def code(self, column: pa.Array) -> Codes:
        """Return the code of each cell of a column; raise InputError for a value that was not there when values were counted."""
        if is_zoned(column.type):
            column = column.cast(pa.timestamp(column.type.unit))
        found = pc.index_in(column.cast(self.cells.type), value_set=self.cells)
        if found.null_count:
            raise InputError("The table has changed while it was read. Run it again when nothing writes to it.")
        codes: Codes = self.codes[found.to_numpy(zero_copy_only=False)]
        return codes


@dataclass(frozen=True, eq=False)
class PersonCoding:
    """How rows of two columns, values and persons, are coded: the code of the value, and the person as it is."""

    values: Coding

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches of codes and persons."""
        for batch in batches:
            codes = pa.array(self.values.code(batch.column(0)), pa.int32())
            yield pa.record_batch([codes, batch.column(1)], names=["code", "person"])


def coarsened(counts: Ints, most: int) -> Codes:
    """Return a number for each code, ascending, of which there are at most ``most``, each with about as many rows.

    >>> coarsened(np.array([4, 1, 1, 4]), 3).tolist(), coarsened(np.array([4, 1, 1, 4]), 4).tolist()
    ([0, 1, 1, 2], [0, 1, 2, 3])
    """
    if len(counts) <= most:
        return np.arange(len(counts), dtype=narrow(len(counts)))
    middles = np.cumsum(counts) - counts / 2
    parts = np.minimum((middles * most / counts.sum()).astype(np.int64), most - 1)
    return np.unique(parts, return_inverse=True)[1].astype(narrow(most))


@dataclass(frozen=True, eq=False)
class RowCoding:
    """How rows are coded.

    The columns of a batch are the quasi-identifiers, the sensitive columns, others as they are, a hash of all these, and the
    number of equal rows for which a row stands.

    Attributes
    ----------
    quasi, sensitive : sequences of Coding
    limited : sequence of int
        The sensitive columns that have a limit; a stratum is a combination of their coarse values.
    others : int
        How many other columns there are.
    salt : int
        Numbers at random depend on it, and on the hash of a row.
    raw : sequence of int
        The quasi-identifiers whose values stay beside their codes, for the judge.
    """

    quasi: Sequence[Coding]
    sensitive: Sequence[Coding]
    limited: Sequence[int]
    others: int
    salt: int
    raw: Sequence[int] = ()

    @property
    def names(self) -> list[str]:
        """The names of the columns of coded rows."""
        return [*self.quasi_names, *self.counted_names, *self.other_names, *self.raw_names]

    @property
    def quasi_names(self) -> list[str]:
        """The columns with the codes of quasi-identifiers."""
        return [f"q{index}" for index in range(len(self.quasi))]

    @property
    def bin_names(self) -> list[str]:
        """The columns with the coarse codes of quasi-identifiers, along which blocks are cut."""
        return [f"b{index}" for index in range(len(self.quasi))]

    @property
    def counted_names(self) -> list[str]:
        """The columns that are counted, or say how rows come to blocks."""
        return [*self.bin_names, *self.sensitive_names, STRATUM, TIE, COUNT]

    @property
    def other_names(self) -> list[str]:
        """The columns that are as they were; under names of their own, because those of users may differ in case only."""
        return [f"o{index}" for index in range(self.others)]

    @property
    def raw_names(self) -> list[str]:
        """The columns with values of quasi-identifiers."""
        return [f"r{index}" for index in self.raw]

    @property
    def sensitive_names(self) -> list[str]:
        """The columns with the codes of sensitive values."""
        return [f"s{index}" for index in range(len(self.sensitive))]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches of coded rows."""
        for batch in batches:
            *columns, hashes, counts = batch.columns
            quasi = [coding.code(column) for coding, column in zip(self.quasi, columns, strict=False)]
            sensitive = [coding.code(column) for coding, column in zip(self.sensitive, columns[len(quasi) :], strict=False)]
            bins = [coding.coarse[codes] for coding, codes in zip(self.quasi, quasi, strict=True)]
            made = [*quasi, *bins, *sensitive, self.strata(sensitive), at_random([hashes.to_numpy()], self.salt), counts]
            others = [*columns[len(quasi) + len(sensitive) :], *(columns[index] for index in self.raw)]
            yield pa.record_batch([*map(pa.array, made), *others], names=self.names)

    def strata(self, sensitive: Sequence[Codes]) -> Codes:
        """Return the stratum of each row, from its sensitive codes."""
        strata = np.zeros(len(sensitive[0]), dtype=np.int32)
        for index in self.limited:
            coarse = self.sensitive[index].coarse
            strata = strata * np.int32(int(coarse.max()) + 1) + coarse[sensitive[index]]
        return strata.astype(np.uint8)  # at most STRATA of them

    def coarse_of_strata(self, strata: Ints) -> dict[int, Ints]:
        """Return for each limited sensitive column its coarse value in each of some strata."""
        found: dict[int, Ints] = {}
        for index in reversed(self.limited):
            strata, found[index] = np.divmod(strata, int(self.sensitive[index].coarse.max()) + 1)
        return found


def at_random(columns: Sequence[NDArray[Any]], salt: int) -> Ints:
    """Return a number for each row that depends on its codes and is as good as random (splitmix64, Steele et al. 2014)."""
    mixed = np.full(len(columns[0]), salt % 2**63, dtype=np.uint64)
    for codes in columns:
        mixed = _mix(mixed + codes.astype(np.uint64))
    return (mixed >> np.uint64(33)).astype(np.int64)


def _mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers whose bits all depend on all bits of the given ones."""
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
