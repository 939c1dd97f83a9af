"""Counted cells: the combinations of values that occur in some columns, with their counts; their classes and histograms.

An engine hands over counted combinations instead of rows: there are only as many as the columns have, however long the table is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tclose import jobs
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
        chunks: list[list[Any]] = [[] for _ in (*quasi, *sensitive)]
        counts = [np.empty(0, dtype=np.int64)]
        for batch in batches:
            jobs.check()
            for index, column in enumerate(batch.columns[:-1]):
                chunks[index].append(column.dictionary_encode())
            counts.append(batch.columns[-1].cast(pa.int64()).to_numpy())
        self._counts = np.concatenate(counts)
        self._columns = {name: _rank_values(parts) for name, parts in zip((*quasi, *sensitive), chunks, strict=True) if parts}
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
        """Yield the histograms over the classes, some classes at a time, from a code for each combination."""
        numbers, some = self._class_of_cells
        keys, counts = _totals_by_key(numbers * len(table) + codes, self._counts, len(some) * len(table))
        owners, values = np.divmod(keys, len(table))
        starts = np.append(np.flatnonzero(np.diff(owners, prepend=-1)), len(owners))
        first = 0
        while first < len(starts) - 1:
            jobs.check()
            last = max(int(np.searchsorted(starts, starts[first] + CHUNK, side="right")) - 1, first + 1)
            part = slice(starts[first], starts[last])
            yield Histograms(starts[first : last + 1] - starts[first], values[part], counts[part], table, first)
            first = last

    def pairs(self, name: str) -> tuple[Ints, Ints]:
        """Return for each combination its value in a column of whole numbers, and the number of its class."""
        domain, ranks = self._columns[name]
        return domain.to_numpy(zero_copy_only=False).astype(np.int64)[ranks], self._class_of_cells[0]

    def quasi_values(self, name: str) -> pa.Array:
        """Return the value that each class has in one quasi-identifier, as an Arrow array."""
        domain, ranks = self._columns[name]
        return domain.take(pa.array(ranks[self._class_of_cells[1]]))


def _rank_values(chunks: list[Any]) -> tuple[pa.Array, Ints]:
    """Return the values of a column, ascending, missing last, and the index of each counted combination's value."""
    column = pa.chunked_array(chunks).unify_dictionaries()
    values = column.chunk(0).dictionary
    order = pc.sort_indices(values)
    ranks = np.empty(len(values) + 1, dtype=np.int64)
    ranks[order.to_numpy()] = np.arange(len(values))
    ranks[-1] = len(values)  # missing cells come last
    indices = np.concatenate([chunk.indices.fill_null(len(values)).to_numpy() for chunk in column.chunks])
    domain = values.take(order)
    if column.null_count:
        domain = pa.concat_arrays([domain, pa.nulls(1, domain.type)])
    return domain, ranks[indices]


def _number_tuples(columns: Iterable[tuple[Ints, int]], length: int) -> tuple[Ints, Ints]:
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


def _sums_by_group(groups: Ints, values: Ints) -> Ints:
    """Return the sum of the values of each group, as integers: ``np.bincount`` would sum in floats."""
    sums = np.zeros(int(groups.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(sums, groups, values)
    return sums
