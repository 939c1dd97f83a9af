"""A cluster of one: coded rows in memory, in blocks, asked as those on Spark are, with plain loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from tclose.make.distributed.coding import STRATUM, TIE, TIES, at_random
from tclose.make.distributed.cuts import Cuts, Histogram
from tclose.tables.packed import COUNT


class Cluster:
    """Rows in blocks; see `tclose.make.distributed.cuts.BlockRows`. ``parts`` has for each row and block how many equal rows are there."""

    def __init__(self, rows: pa.Table) -> None:
        self.rows = rows
        self._columns = {name: rows[name].to_pylist() for name in rows.column_names}
        self.parts = [(row, 0, count) for row, count in enumerate(self._columns[COUNT])]
        self._level = 0

    @property
    def blocks(self) -> list[int]:
        """The block of each row, where each stands for itself alone."""
        return [block for _, block, _ in self.parts]

    def histogram(self, blocks: Sequence[int], columns: Sequence[str]) -> Histogram:
        return _counted(
            ((block, number, self._columns[name][row]), count)
            for row, block, count in self.parts
            for number, name in enumerate(columns)
            if block in blocks
        )

    def histogram_along(self, columns: dict[int, str]) -> Histogram:
        return _counted(
            ((block, self._columns[STRATUM][row], self._columns[columns[block]][row]), count)
            for row, block, count in self.parts
            if block in columns
        )

    def persons(self, blocks: Sequence[int], columns: Sequence[str]) -> Histogram:
        who = self._columns[max(name for name in self._columns if name.startswith("o"))]
        owners = {
            (block, number, self._columns[name][row], who[row])
            for row, block, _ in self.parts
            for number, name in enumerate(columns)
            if block in blocks
        }
        return _counted((owner[:3], 1) for owner in owners)

    def cut(self, cuts: Cuts) -> None:
        where = {(cut[0], cut[1]): cut[2:] for cut in zip(*map(np.ndarray.tolist, cuts), strict=True)}
        chances = at_random([np.array(self._columns[TIE]), np.full(self.rows.num_rows, self._level)], 0).tolist()
        parts = []
        for row, block, count in self.parts:
            cut = where.get((block, self._columns[STRATUM][row]))
            if cut is None:
                parts.append((row, block, count))
                continue
            column, code, tie, left, right = cut
            own = self._columns[f"b{column}"][row]
            lefts = count if own < code else 0 if own > code else (count * tie + chances[row]) // TIES
            parts += [(row, side, part) for side, part in ((left, lefts), (right, count - lefts)) if part]
        self.parts = parts
        self._level += 1

    def join(self, parents: dict[int, int]) -> None:
        self.parts = [(row, parents.get(block, block), count) for row, block, count in self.parts]

    def of_block(self, block: int) -> pa.Table:
        """The rows of one block, with its number."""
        own = [(row, count) for row, of, count in self.parts if of == block]
        found = self.rows.drop_columns([COUNT]).take([row for row, _ in own])
        found = found.append_column(COUNT, pa.array([count for _, count in own], pa.int64()))
        return found.append_column("block", pa.array([block] * len(own), pa.int32()))


def _counted(entries: Iterable[tuple[tuple[int, ...], int]]) -> Histogram:
    counts: Counter[tuple[int, ...]] = Counter()
    for entry, count in entries:
        counts[entry] += count
    columns = np.array([[*entry, count] for entry, count in counts.items()], dtype=np.int64).reshape(-1, 4)
    return Histogram(*columns.T)
