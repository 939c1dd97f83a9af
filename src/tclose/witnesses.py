"""Witnesses: the regions that show (n,t)-closeness, under the numbers that whoever audits a table gives to its classes.

An algorithm knows regions of its own classes. A reader numbers classes by their sorted values, and sees one class where two are
published alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tclose._audit import levels_of, quasi_kinds
from tclose.policy import Policy
from tclose.source.readers import open_reader
from tclose.source.table import Table

Ints = NDArray[np.int64]
_CLASS = "class"


@dataclass(frozen=True, eq=False)
class Witnesses:
    """Regions of classes.

    Attributes
    ----------
    classes : (published rows,) int64
        The class of each published row.
    regions : list of (classes,) int64
        For each way to put classes together the region of each class, -1 where it has none. The algorithm's come first, larger
        ones before smaller ones.
    """

    classes: Ints
    regions: list[Ints]

    def numbered(self, table: pa.Table, policy: Policy) -> list[Ints]:
        """The regions by the numbers of the classes that a reader of the table sees; -1 where those have several."""
        if not self.regions:
            return []
        owners, numbers, _ = self._owners(table, policy)
        found = []
        for groups in self.regions:
            least, most = (np.full(int(numbers.max()) + 1, start, dtype=np.int64) for start in (len(groups), -1))
            np.minimum.at(least, numbers, groups[owners])
            np.maximum.at(most, numbers, groups[owners])
            found.append(np.where(least == most, least, -1))
        return found

    def collapsed(self, table: pa.Table, policy: Policy, broken: Ints) -> Witnesses:
        """Make one class of the smallest region around each of these classes, as a reader numbers them; or of the whole table."""
        owners, numbers, _ = self._owners(table, policy)
        joined = np.arange(int(self.classes.max()) + 1)
        for number in broken.tolist():
            inside = owners[numbers == number]
            around = next((groups for groups in reversed(self.regions) if _one(groups[inside])), np.zeros_like(joined))
            members = np.flatnonzero(around == around[inside[0]])
            joined[np.isin(joined, joined[members])] = joined[members[0]]
        _, first, places = np.unique(joined, return_index=True, return_inverse=True)
        regions = []
        for groups in self.regions:
            alike = np.array([_one(groups[places == place]) for place in range(len(first))])
            regions.append(np.where(alike, groups[first], -1))
        return replace(self, classes=places[self.classes], regions=regions)

    def with_levels(self, table: pa.Table, policy: Policy) -> Witnesses:
        """And the levels of hierarchies, which a reader does not have: all regions that (n,t)-closeness was looked for in."""
        owners, numbers, levels = self._owners(table, policy)
        regions = list(self.regions)
        for level in levels:
            groups = np.full(int(self.classes.max()) + 1, -1, dtype=np.int64)
            groups[owners] = level[numbers]
            regions.append(groups)
        return replace(self, regions=regions)

    def _owners(self, table: pa.Table, policy: Policy) -> tuple[Ints, Ints, Iterator[Ints]]:
        """Pairs of a class and the number that a reader gives to it; and levels, by such numbers."""
        kinds = quasi_kinds(policy, table.column_names)
        renamed = table.select(list(kinds)).append_column(_CLASS if _CLASS not in kinds else _CLASS * 2, pa.array(self.classes))
        name = renamed.column_names[-1]
        source = Table(open_reader(renamed), {**kinds, name: "value"})
        cells = source.cells(list(kinds), [name])
        return (*cells.pairs(name), levels_of(source, cells, list(kinds), policy))


def _one(groups: Ints) -> bool:
    """Whether all are in one region."""
    return bool(groups[0] >= 0 and (groups == groups[0]).all())
