"""Coded rows: each cell of some columns as its index among the values of its column.

A column of few values takes a byte a row: 10,000,000 rows of ten such columns are 100 MB.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tclose import jobs
from tclose.values.arrays import renumber

Codes = NDArray[Any]
"""Unsigned integers, as narrow as the number of values allows."""


def coded(batches: Iterable[pa.RecordBatch], count: int) -> list[tuple[pa.Array, Codes]]:
    """Return for each of ``count`` columns its values, ascending, missing last, and each row's index among them."""
    coders = [Coder() for _ in range(count)]
    source, of_this_job = iter(batches), copy_context()

    def next_batch() -> Any:
        """Return the next batch of rows from the engine; None after the last."""
        return of_this_job.run(next, source, None)

    # The engine makes the next batch while this one is coded, and Arrow releases the GIL. Each column gets its batches in order.
    with ThreadPoolExecutor() as pool:
        coming = pool.submit(next_batch)
        while (batch := coming.result()) is not None:
            jobs.check()
            coming = pool.submit(next_batch)
            list(pool.map(Coder.add, coders, batch.columns))
    return [coder.ranked() for coder in coders]


def narrow(size: int) -> Any:
    """Return the narrowest unsigned dtype for codes from 0 to ``size - 1``."""
    return np.min_scalar_type(max(size - 1, 0))


def sorted_order(columns: Sequence[tuple[Codes, int]]) -> NDArray[np.int64]:
    """Return the indices of the rows, sorted by their codes column by column; equal rows stay in their order.

    Parameters
    ----------
    columns
        The codes of each column, and a number above all of them.
    """
    keys, bound = np.zeros(len(columns[0][0]), dtype=np.int64), 1
    for codes, size in columns:
        if bound * size > np.iinfo(np.int64).max:
            keys, found = renumber(keys)
            bound = len(found)
        keys *= size
        keys += codes
        bound *= size
    return np.argsort(keys, kind="stable")


def count_unique(columns: Sequence[Codes]) -> int:
    """Return the number of unique rows, which differ from both neighbours in sorted columns."""
    differs = np.logical_or.reduce([codes[1:] != codes[:-1] for codes in columns])
    ends = np.concatenate([[True], differs, [True]])
    return int(np.count_nonzero(ends[1:] & ends[:-1]))


class Coder:
    """One column as its batches arrive: values are numbered from 1 in the order of their first occurrence; 0 is missing."""

    def __init__(self) -> None:
        """Start the coding of a column with no values and no rows."""
        self._values: pa.Array | None = None
        self._chunks: list[Codes] = []

    def add(self, column: Any) -> None:
        """Add the next rows of the column: number their new values, and note the numbers of the cells."""
        encoded = column.dictionary_encode()
        found = encoded.dictionary
        if self._values is None:
            self._values = found.slice(0, 0)
        known = pc.index_in(found, value_set=self._values)
        numbers = known.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64) + 1
        new = numbers == 0
        numbers[new] = len(self._values) + 1 + np.arange(int(new.sum()))
        if new.any():
            self._values = pa.concat_arrays([self._values, found.filter(pa.array(new))])
        numbers = np.append(numbers, 0).astype(narrow(len(self._values) + 1))
        self._chunks.append(numbers[encoded.indices.fill_null(len(found)).to_numpy(zero_copy_only=False)])

    def ranked(self) -> tuple[pa.Array, Codes]:
        """Return the values of the column, ascending, missing last, and each row's index among them."""
        values = self._values if self._values is not None else pa.nulls(0)
        order = pc.sort_indices(values)
        ranks = np.empty(len(values) + 1, dtype=narrow(len(values) + 1))
        ranks[order.to_numpy() + 1] = np.arange(len(values))
        ranks[0] = len(values)  # missing cells come last
        codes = np.empty(sum(map(len, self._chunks)), dtype=ranks.dtype)
        start, missing = 0, False
        while self._chunks:
            chunk = self._chunks.pop(0)  # freed as soon as it is translated
            codes[start : start + len(chunk)] = ranks[chunk]
            missing |= not chunk.all()
            start += len(chunk)
        domain = values.take(order)
        return (pa.concat_arrays([domain, pa.nulls(1, domain.type)]) if missing else domain), codes
