"""Spilled cells: counted combinations that stay in the engine, and come home a part of the classes at a time.

What stays in memory is about classes, and about tuples of sensitive values; a class of a release has many combinations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tclose.tables.counted import Cells, histograms_of
from tclose.tables.duckdb import DuckDB
from tclose.tables.memory import Budget
from tclose.tables.stored import StoredCounts
from tclose.values.arrays import Bools, Ints
from tclose.values.histograms import Histograms

PER_CLASS, PER_VALUE, PER_FIGURE = 80, 24, 160
"""Bytes kept for each class: its size and number; its value of each quasi-identifier; what all models find in each attribute."""

PER_TUPLE = 200
"""Bytes kept for each tuple of sensitive values."""

PER_CELL = 400
"""Bytes taken for each combination while its class is judged."""


SURE = 0.8
"""The share of an estimated number that is surely there: estimates are off by some percent."""


def spilled_cells(
    engine: DuckDB, quasi: Sequence[str], sensitive: Sequence[str], unit: str | None, budget: Budget
) -> SpilledCells:
    """Return the counted combinations of an engine's columns; raise InputError if what is kept of them would not fit into memory.

    The number of classes is estimated first: to count them takes long, and much room on the disk.
    """
    _check(int(SURE * engine.estimate_number(quasi)), 0, quasi, sensitive, budget)
    stored = engine.store_counts(quasi, sensitive, unit)
    _check(stored.number(quasi), stored.number(sensitive), quasi, sensitive, budget)
    return SpilledCells(stored, quasi, sensitive, budget.parts // PER_CELL)


def _check(classes: int, tuples: int, quasi: Sequence[str], sensitive: Sequence[str], budget: Budget) -> None:
    """Raise InputError if the figures of so many classes and tuples of sensitive values would not fit into memory."""
    kept = classes * (PER_CLASS + PER_VALUE * len(quasi) + PER_FIGURE * len(sensitive)) + tuples * PER_TUPLE
    budget.check_figures(kept, f"The table has at least {classes:,} classes, and figures of each are kept")


class SpilledCells(Cells):
    """`Cells` of which only the classes are in memory. Combinations are read from the engine whenever they are asked for."""

    def __init__(self, stored: StoredCounts, quasi: Sequence[str], sensitive: Sequence[str], part: int) -> None:
        """Read the classes, and the tuples of sensitive values; ``part`` combinations are judged at a time, about."""
        with closing(stored.counts(quasi)) as batches:
            super().__init__(batches, quasi, [])
        with closing(stored.counts(sensitive)) as batches:
            self._tuples = Cells(batches, [], sensitive)
        self._stored, self._names, self._part = stored, [*quasi, *sensitive], part

    def domain(self, name: str) -> tuple[pa.Array, Ints]:
        """Return the values of a sensitive column, ascending, missing last, and the number of rows with each."""
        return self._tuples.domain(name)

    def histograms(self, sensitive: str, codes: Ints, table: Ints) -> Iterator[Histograms]:
        """Yield the histograms of a sensitive column in the classes, some classes at a time; see `Cells.histograms`."""
        return self._judged_by(lambda part: self._codes(part, sensitive, codes), table)

    def tuples(self, codes: Mapping[str, Ints]) -> tuple[list[Ints], Iterator[Histograms]]:
        """Return the tuples of values that occur, as codes by column, sorted; and their histograms by class."""
        parts, whole = self._tuples.tuples(codes)
        table = next(whole).table

        def numbers(part: pa.Table) -> Ints:
            """Return the index of each combination's tuple: of its first code among the first codes, then of both, and so on."""
            known, found = np.zeros(len(table), dtype=np.int64), np.zeros(len(part), dtype=np.int64)
            for (name, own), of_tuples in zip(codes.items(), parts, strict=True):
                size = int(own.max()) + 1
                prefixes, known = np.unique(known * size + of_tuples, return_inverse=True)
                found = np.searchsorted(prefixes, found * size + self._codes(part, name, own))
            return found

        return parts, self._judged_by(numbers, table)

    def _judged_by(self, codes: Callable[[pa.Table], Ints], table: Ints) -> Iterator[Histograms]:
        """Yield the histograms over the classes, from a function that codes the combinations of some whole classes."""
        first, sizes = 0, self.sizes
        for part in self._whole_classes():
            numbers = np.cumsum(self._borders(part)) - 1
            counts = part.column(part.num_columns - 1).cast(pa.int64()).to_numpy()
            for histograms in histograms_of(numbers, codes(part), counts, table, first):
                if not np.array_equal(histograms.sizes, sizes[first : first + len(histograms)]):
                    raise RuntimeError("The engine and Arrow sort the classes differently.")
                first += len(histograms)
                yield histograms

    def _whole_classes(self) -> Iterator[pa.Table]:
        """Yield all combinations in the order of the classes, so that no class is in two parts."""
        rest: list[pa.Table] = []
        with closing(self._stored.in_order(self._part)) as batches:
            for batch in batches:
                part = pa.concat_tables([*rest, pa.Table.from_batches([batch])]).combine_chunks()
                last = int(np.flatnonzero(self._borders(part))[-1])
                if last:
                    yield part.slice(0, last)
                rest = [part.slice(last)]
        yield from rest

    def _borders(self, part: pa.Table) -> Bools:
        """Return which combinations are the first of their class, in the order of the classes."""
        borders = np.zeros(len(part), dtype=np.bool_)
        borders[0] = True
        for index in range(len(self._quasi)):
            cells, _ = _indices(part.column(index))
            borders[1:] |= cells[1:] != cells[:-1]
        return borders

    def _codes(self, part: pa.Table, name: str, codes: Ints) -> Ints:
        """Return the code of each combination's value in a sensitive column, from the code of each value of its domain."""
        cells, values = _indices(part.column(self._names.index(name)))
        known = pc.index_in(values, value_set=self.domain(name)[0]).to_numpy()
        return np.append(codes[known], codes[-1])[cells]  # a missing value is the last


def _indices(column: pa.ChunkedArray) -> tuple[Ints, pa.Array]:
    """Return the index of each cell of a column among some values, and these values; a missing cell has the index after them."""
    encoded = (column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()).dictionary_encode()
    return encoded.indices.cast(pa.int64()).fill_null(len(encoded.dictionary)).to_numpy(), encoded.dictionary
