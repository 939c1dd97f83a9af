"""Counted cells: the combinations of values that occur in some columns, with their counts; their classes and histograms.

An engine hands over counted combinations instead of rows: there are only as many as the columns have, however long the table is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa

from tclose import jobs
from tclose.tables.coded import Coder, Codes
from tclose.values import arrays
from tclose.values.arrays import Ints, renumber
from tclose.values.exact import INT64_MAX
from tclose.values.histograms import Histograms

CHUNK = 1_000_000
"""Cells whose histograms are judged at a time: kernels need some arrays of that length."""


class Cells:
    """Counted combinations of quasi-identifiers and sensitive values.

    Rows that agree on all quasi-identifiers form a class. Classes are numbered by their sorted values, missing last, so all
    engines agree, and so do counts of rows and of persons.
    """

    def __init__(self, batches: Iterable[pa.RecordBatch], quasi: Sequence[str], sensitive: Sequence[str]) -> None:
        """Take batches with a column for each quasi-identifier, one for each sensitive attribute, and last the count."""
        coders = {name: Coder() for name in (*quasi, *sensitive)}
        counts = [np.empty(0, dtype=np.int64)]
        for batch in batches:
            jobs.check()
            for coder, column in zip(coders.values(), batch.columns[:-1], strict=True):
                coder.add(column)
            counts.append(batch.columns[-1].cast(pa.int64()).to_numpy())
        self._counts = np.concatenate(counts)
        self._columns = {name: coder.ranked() for name, coder in coders.items()}
        self._quasi = quasi

    def __len__(self) -> int:
        """Return the number of different combinations of quasi-identifiers and sensitive values."""
        return len(self._counts)

    @cached_property
    def _class_of_cells(self) -> tuple[Ints, Ints]:
        """The number of the class of each combination, and the index of one combination of each class."""
        columns = (self._columns[name] for name in self._quasi)
        return _number_tuples(((ranks, len(domain)) for domain, ranks in columns), len(self))

    @property
    def sizes(self) -> Ints:
        """The size of each class: its rows, or its persons if the engine counted persons."""
        return _sums_by_group(self._class_of_cells[0], self._counts)

    def domain(self, name: str) -> tuple[pa.Array, Ints]:
        """Return the values of a column, ascending, missing last, and the number of rows with each."""
        domain, ranks = self._columns[name]
        return domain, _sums_by_group(ranks, self._counts)

    def histograms(self, sensitive: str, codes: Ints, table: Ints) -> Iterator[Histograms]:
        """Yield the histograms of a sensitive column in the classes, some classes at a time.

        Parameters
        ----------
        codes : (m,) int64
            The code of each value of the column's domain.
        table : (m,) int64
            How often each code occurs in the table.
        """
        return self._histograms_of_codes(codes[self._columns[sensitive][1]], table)

    def tuples(self, codes: Mapping[str, Ints]) -> tuple[list[Ints], Iterator[Histograms]]:
        """Return the tuples of values of some columns that occur, as codes by column, sorted; and their histograms by class.

        Parameters
        ----------
        codes
            For each column the code of each value of its domain; every code occurs.
        """
        ranks = {name: self._columns[name][1] for name in codes}
        coded = ((own[ranks[name]], int(own.max()) + 1) for name, own in codes.items())
        numbers, some = _number_tuples(coded, len(self))
        return [own[ranks[name][some]] for name, own in codes.items()], self._histograms_of_codes(
            numbers, _sums_by_group(numbers, self._counts)
        )

    def _histograms_of_codes(self, codes: Ints, table: Ints) -> Iterator[Histograms]:
        """Return the histograms over the classes, some classes at a time, from a code for each combination."""
        return histograms_of(self._class_of_cells[0], codes, self._counts, table)

    def pairs(self, name: str) -> tuple[Ints, Ints]:
        """Return for each combination its value in a column of whole numbers, and the number of its class."""
        domain, ranks = self._columns[name]
        return domain.to_numpy(zero_copy_only=False).astype(np.int64)[ranks], self._class_of_cells[0]

    def quasi_values(self, name: str) -> pa.Array:
        """Return the value that each class has in one quasi-identifier, as an Arrow array."""
        domain, ranks = self._columns[name]
        return domain.take(pa.array(ranks[self._class_of_cells[1]]))


def histograms_of(numbers: Ints, codes: Ints, counts: Ints, table: Ints, first: int = 0) -> Iterator[Histograms]:
    """Yield the histograms of some classes, as many at a time as `CHUNK` allows.

    Parameters
    ----------
    numbers, codes, counts : (combinations,) int64
        The class of each combination, from 0 without gaps; the code of its sensitive value; and its number of rows.
    table : (m,) int64
        How often each code occurs in the whole table.
    first : int
        The number of the first of these classes in the whole table.
    """
    bound = (int(numbers.max(initial=-1)) + 1) * len(table)
    keys, counts = _totals_by_key(numbers * len(table) + codes, counts, bound)
    owners, values = np.divmod(keys, len(table))
    starts = np.append(np.flatnonzero(np.diff(owners, prepend=-1)), len(owners))
    start = 0
    while start < len(starts) - 1:
        jobs.check()
        end = max(int(np.searchsorted(starts, starts[start] + CHUNK, side="right")) - 1, start + 1)
        part = slice(starts[start], starts[end])
        yield Histograms(starts[start : end + 1] - starts[start], values[part], counts[part], table, first + start)
        start = end


def _number_tuples(columns: Iterable[tuple[Codes, int]], length: int) -> tuple[Ints, Ints]:
    """Return a number for each combination, from 0 by the order of its codes; and for each number the index of one with it.

    Parameters
    ----------
    columns
        The code of each cell in each column, and how many codes there are.
    """
    keys, bound = np.zeros(length, dtype=np.int64), 1
    for codes, size in columns:
        if bound * size > INT64_MAX:
            keys, bound = renumber(keys, bound)[0], length
        keys, bound = keys * size + codes, bound * size
    return renumber(keys, bound)


def _totals_by_key(keys: Ints, counts: Ints, bound: int) -> tuple[Ints, Ints]:
    """Return the keys that occur, ascending, and the sum of the counts at each; keys are below ``bound``, counts above 0."""
    if bound <= arrays.FEW * len(keys):
        sums = np.zeros(bound, dtype=np.int64)
        np.add.at(sums, keys, counts)
        found = np.flatnonzero(sums)
        return found, sums[found]
    order = np.argsort(keys)  # equal keys are summed, so their order does not matter
    firsts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    return keys[order[firsts]], np.add.reduceat(counts[order], firsts)


def _sums_by_group(groups: Codes, values: Ints) -> Ints:
    """Return the sum of the values of each group, as integers: ``np.bincount`` would sum in floats."""
    sums = np.zeros(int(groups.max()) + 1 if len(groups) else 0, dtype=np.int64)
    np.add.at(sums, groups, values)
    return sums
