"""Persons on Spark, by their values: how many have a value in each cell of a grid. Neither persons nor their values come home."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tclose import extras
from tclose.tables.spark_package import sendable
from tclose.tables.spark_rows import OnBatches, asking, forget
from tclose.values.arrays import Ints


class SparkPeople:
    """Persons by the codes of their values. Attributes and methods are those of `tclose.make.scales.grids.People`."""

    def __init__(self, engine: Any, names: Sequence[str], code: OnBatches, size: int) -> None:
        """Take a column of values and one of persons; a function of batches returns the codes of values, and persons.

        Values with a code of ``size`` or more are left out.
        """
        self._engine = engine
        functions = extras.load("pyspark.sql.functions")
        with asking(engine):
            coded = sendable(engine.reader.session, code)
            frame = engine.reader.frame(engine.query(names)).mapInArrow(coded, "code int, person string")
            self._pairs = frame.where(functions.col("code") < size).distinct().persist()
            weakref.finalize(self, forget, self._pairs)
            ends = self._pairs.groupBy("person").agg(
                functions.min("code").alias("least"), functions.max("code").alias("greatest")
            )
            least, greatest = (_counted(ends.groupBy(end).count(), size) for end in ("least", "greatest"))
        self.total = int(least.sum())
        self.below = np.append(0, np.cumsum(least))
        self.above = self.total - np.append(0, np.cumsum(greatest))

    def in_cells(self, cell_of_value: Ints) -> Ints:
        """Return how many persons have a value in each cell; cells ascend with values."""
        with asking(self._engine):
            cells = sendable(self._engine.reader.session, _InCells(cell_of_value))
            pairs = self._pairs.mapInArrow(cells, "cell int, person string").distinct()
            return _counted(pairs.groupBy("cell").count(), int(cell_of_value[-1]) + 1)

    def between(self, start: int, end: int) -> int:
        """Return how many persons have one of the values from one index up to another, excluded."""
        code = extras.load("pyspark.sql.functions").col("code")
        with asking(self._engine):
            return int(self._pairs.where((code >= start) & (code < end)).select("person").distinct().count())


@dataclass(frozen=True, eq=False)
class _InCells:
    """A function that puts the cell of a grid in the place of each code."""

    cell_of_value: Ints

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches of cells and persons."""
        for batch in batches:
            cells = pa.array(self.cell_of_value[batch.column(0).to_numpy()], pa.int32())
            yield pa.record_batch([cells, batch.column(1)], names=["cell", "person"])


def _counted(counts: Any, size: int) -> Ints:
    """Return a frame of numbers and their counts as an array of counts, from 0 on."""
    found = counts.toArrow()
    of_numbers = np.zeros(size, dtype=np.int64)
    of_numbers[found[0].to_numpy()] = found[1].to_numpy()
    return of_numbers
