"""Repair: classes that the gate would stop are merged with others until it lets the release pass.

Merging preserves all limits but (n,t)-closeness, lenient delta, and entropy and recursive l over persons; and classes that are
published alike are one to a reader. What such limits ask is a question about published values, so the gate is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tclose.judge.audit import quasi_kinds
from tclose.judge.gate import as_read, stopped
from tclose.policy import Policy
from tclose.tables.duckdb import Table
from tclose.tables.readers import open_reader

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Grouping:
    """Classes of a partition, some of them merged.

    Attributes
    ----------
    merged : (classes,) int64
        What each class of the partition is now, numbered from 0 without gaps.
    regions : list of (classes,) int64
        Regions that the classes of the partition were made in, larger ones before smaller ones: for each class the number of its
        region, -1 where it has none.
    """

    merged: Ints
    regions: Sequence[Ints]

    @property
    def count(self) -> int:
        """How many classes there are now."""
        return int(self.merged.max()) + 1

    def without(self, failing: Ints) -> Grouping:
        """Merge each failing class with all classes of the smallest region around it that has others; else with all others.

        There are fewer classes afterwards, if there was a failing one and another: the first that fails is merged at least.
        """
        merged, touched = self.merged.copy(), np.zeros(self.count, dtype=bool)
        for number in failing.tolist():
            if touched[number]:
                continue
            joined = np.unique(merged[self._around(merged, number)])
            merged[np.isin(merged, joined)] = number
            touched[joined] = True
        return Grouping(np.unique(merged, return_inverse=True)[1].astype(np.int64), self.regions)

    def _around(self, merged: Ints, number: int) -> Bools:
        """The classes of the partition in the smallest region around a class that has others."""
        own = np.flatnonzero(merged == number)
        for region in reversed(self.regions):
            inside: Bools = region == region[own[0]]
            if region[own[0]] >= 0 and inside[own].all() and (merged[inside] != number).any():
                return inside
        return np.ones(len(merged), dtype=bool)


def failing_classes(table: pa.Table, classes: Ints, policies: Sequence[Policy]) -> Ints:
    """The classes that the gate would stop under some policy: their numbers, ascending.

    Parameters
    ----------
    table
        What is published, and perhaps the unit.
    classes : (published rows,) int64
        The class of each row.
    """
    broken = np.logical_or.reduce([stopped(table, policy) for policy in policies])
    if not broken.any():
        return np.empty(0, dtype=np.int64)
    kinds = quasi_kinds(policies[0], table.column_names)
    name = max(kinds, key=len) + "'"  # longer than each of them, so none of them
    numbered = as_read(table.select(list(kinds))).append_column(name, pa.array(classes))
    cells = Table(open_reader(numbered), {**kinds, name: "value"}).cells(list(kinds), [name])
    own, seen = cells.pairs(name)  # a reader numbers classes by their values
    return np.unique(own[broken[seen]])
