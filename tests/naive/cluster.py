"""A cluster of one: coded rows in memory, in blocks, asked as those on Spark are, with plain loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tclose.make.distributed.coding import STRATUM, TIE, at_random
from tclose.make.distributed.cuts import Cuts, Histogram


class Cluster:
    """Rows in blocks; see `tclose.make.distributed.cuts.BlockRows`."""

    def __init__(self, rows: pa.Table) -> None:
        self.rows = rows
        self.blocks = [0] * rows.num_rows
        self._columns = {name: rows[name].to_pylist() for name in rows.column_names}
        self._level = 0

    def histogram(self, blocks: Sequence[int], columns: Sequence[str]) -> Histogram:
        return _counted(
            (block, number, self._columns[name][row])
            for row, block in enumerate(self.blocks)
            for number, name in enumerate(columns)
            if block in blocks
        )

    def histogram_along(self, columns: dict[int, str]) -> Histogram:
        return _counted(
            (block, self._columns[STRATUM][row], self._columns[columns[block]][row])
            for row, block in enumerate(self.blocks)
            if block in columns
        )

    def persons(self, blocks: Sequence[int], columns: Sequence[str]) -> Histogram:
        who = self._columns[max(name for name in self._columns if name.startswith("o"))]
        owners = {
            (block, number, self._columns[name][row], who[row])
            for row, block in enumerate(self.blocks)
            for number, name in enumerate(columns)
            if block in blocks
        }
        return _counted(owner[:3] for owner in owners)

    def cut(self, cuts: Cuts) -> None:
        where = {(cut[0], cut[1]): cut[2:] for cut in zip(*map(np.ndarray.tolist, cuts), strict=True)}
        ties = at_random([np.array(self._columns[TIE]), np.full(len(self.blocks), self._level)], 0).tolist()
        for row, block in enumerate(self.blocks):
            cut = where.get((block, self._columns[STRATUM][row]))
            if cut is not None:
                column, code, tie, left, right = cut
                own = self._columns[f"b{column}"][row]
                self.blocks[row] = right if own > code or (own == code and ties[row] >= tie) else left
        self._level += 1

    def join(self, parents: dict[int, int]) -> None:
        self.blocks = [parents.get(block, block) for block in self.blocks]

    def of_block(self, block: int) -> pa.Table:
        """The rows of one block, with its number."""
        own = np.flatnonzero(np.array(self.blocks) == block)
        return self.rows.take(own).append_column("block", pa.array([block] * len(own), pa.int32()))


def _counted(entries: object) -> Histogram:
    counts = Counter(entries)  # type: ignore[call-overload]
    columns = np.array([[*entry, count] for entry, count in counts.items()], dtype=np.int64).reshape(-1, 4)
    return Histogram(*columns.T)
