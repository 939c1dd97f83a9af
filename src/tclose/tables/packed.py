"""Rows packed into cells: some hundred thousand rows are one value to an engine, which moves it without looking inside.

What Spark does with rows between Python and Java, it does for each row and column. Packed rows cost it next to nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

BLOCK, COUNT = "block", "count"
"""Columns of rows: the block of a row, and how many rows are equal to one that stands for all of them."""
TOGETHER = 2**17
"""Rows in a cell, about."""


def pack(batch: pa.RecordBatch) -> bytes:
    """Return a batch as the bytes of a stream of Arrow, compressed.

    >>> unpack(pack(pa.record_batch({"age": [23, 31]}))).to_pydict()
    {'age': [23, 31]}
    """
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as stream:
        stream.write_batch(batch)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def unpack(cell: bytes | pa.Buffer) -> pa.RecordBatch:
    """Return the batch that was packed."""
    return pa.ipc.open_stream(cell).read_next_batch()


def unpacked(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield for each row of batches of cells one batch: the columns that are packed in its cells, side by side."""
    for batch in batches:
        for row in range(batch.num_rows):
            parts = [unpack(column[row].as_buffer()) for column in batch.columns]
            arrays = [array for part in parts for array in part.columns]
            yield pa.record_batch(arrays, names=[name for part in parts for name in part.schema.names])


def together(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches that are made of several small ones; none is empty."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(one.num_rows for one in waiting) >= TOGETHER:
            yield pa.concat_batches(waiting)
            waiting = []
    if any(one.num_rows for one in waiting):
        yield pa.concat_batches(waiting)


def by_value(batch: pa.RecordBatch, name: str) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield each value of a column of integers, ascending, with the rows that have it.

    >>> rows = pa.record_batch({"block": [2, 1, 2], "age": [23, 31, 40]})
    >>> [(block, part["age"].to_pylist()) for block, part in by_value(rows, "block")]
    [(1, [31]), (2, [23, 40])]
    """
    values = batch[name].to_numpy()
    order = np.argsort(values, kind="stable")
    sorted_rows = batch.take(pa.array(order))
    found, counts = np.unique(values, return_counts=True)
    for value, end, count in zip(found.tolist(), np.cumsum(counts).tolist(), counts.tolist(), strict=True):
        yield value, sorted_rows.slice(end - count, count)
