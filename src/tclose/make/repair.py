"""Repair: classes that break a limit once they are published are merged with others until none does.

Merging preserves all limits but (n,t)-closeness, lenient delta, and entropy and recursive l over persons. Classes that are
published alike are one class to a reader; and (n,t)-closeness depends on what is published around a class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tclose.make.algorithm import Partition
from tclose.make.encode import EncodedTable
from tclose.make.recode import Recoded, recode
from tclose.make.suppression import both_sides
from tclose.policy import Policy
from tclose.policy.models import merging_may_break
from tclose.values.arrays import Bools, Ints, grouped

if TYPE_CHECKING:
    from tclose.make.kernels.limits import Limits


def publish(
    table: EncodedTable, labels: Ints, partition: Partition, policy: Policy, names: Sequence[str], *, keep_order: bool = False
) -> tuple[Ints, Recoded]:
    """Return labels and published values of classes that satisfy every limit as published; failing ones are merged.

    Classes that break a limit are merged with others, round by round. Each round leaves fewer classes; feasibility was checked
    before, so one class of all rows satisfies the policy.

    Parameters
    ----------
    table
        The rows that are published.
    labels : (rows,) int64
        The class of each row, numbered from 0 without gaps.
    partition
        What the classes came from: classes are merged inside its regions first.
    names, keep_order
        As for `recode`.

    Returns
    -------
    labels, recoded
        The class of each row after merging, and what is published.
    """
    recoded = recode(table, labels, names, keep_order=keep_order)
    if not _publishing_may_break(policy, recoded):
        return labels, recoded
    from tclose.make.kernels.limits import limits_of  # Numba is loaded on use

    limits = limits_of(both_sides(table.sensitive), policy, table.persons)
    grouping = Grouping(np.arange(int(labels.max()) + 1), partition.regions)
    while grouping.count > 1:
        failing = failing_classes(table, limits, grouping.merged[labels], recoded.classes)
        if not len(failing):
            break
        grouping = grouping.without(failing)
        recoded = recode(table, grouping.merged[labels], names, keep_order=keep_order)
    return grouping.merged[labels], recoded


def failing_classes(table: EncodedTable, limits: Limits, labels: Ints, alike: Ints) -> Ints:
    """Return the numbers of the classes that break a limit as they are published, ascending.

    Parameters
    ----------
    limits
        Against the input and against the published rows; see `both_sides`.
    labels : (rows,) int64
        The class of each row.
    alike : (classes,) int64
        What is published of each class: classes with the same number are one to a reader.
    """
    from tclose.make.kernels.satisfies import failing
    from tclose.make.models import closeness, without
    from tclose.make.regions import far_from_regions

    rows, starts = grouped(alike[labels])
    if not limits.n:
        return np.flatnonzero(failing(limits, rows, starts)[alike])
    others = without(limits._replace(n=0), closeness.FAMILY)  # t is asked of regions
    broken = failing(others, rows, starts) | far_from_regions(table, limits, rows, starts)
    return np.flatnonzero(broken[alike])


def _publishing_may_break(policy: Policy, recoded: Recoded) -> bool:
    """Whether the published classes may break a limit that the classes of a partition satisfy."""
    if policy.n is not None:
        return True
    alike = len(np.unique(recoded.classes)) < len(recoded.classes)
    return alike and merging_may_break(policy)


@dataclass(frozen=True, eq=False)
class Grouping:
    """Classes of a partition, some of them merged.

    Attributes
    ----------
    merged : (classes,) int64
        The number of each class of the partition after merging, from 0 without gaps.
    regions : list of (classes,) int64
        Regions that the classes of the partition were made in, larger ones before smaller ones: for each class the number of its
        region, -1 where it has none.
    """

    merged: Ints
    regions: Sequence[Ints]

    @property
    def count(self) -> int:
        """The number of classes of the partition after merging."""
        return int(self.merged.max()) + 1

    def without(self, failing: Ints) -> Grouping:
        """Return the grouping in which each failing class is merged with the classes of the smallest region around it.

        There are fewer classes afterwards, if there was a failing one and another: the first that fails is merged at least.
        """
        merged, touched = self.merged.copy(), np.zeros(self.count, dtype=bool)
        for number in failing.tolist():
            if touched[number]:
                continue
            joined = np.unique(merged[self._classes_around(merged, number)])
            merged[np.isin(merged, joined)] = number
            touched[joined] = True
        return Grouping(np.unique(merged, return_inverse=True)[1].astype(np.int64), self.regions)

    def _classes_around(self, merged: Ints, number: int) -> Bools:
        """Return the classes of the smallest region around a class that has other classes; all classes if there is none."""
        own = np.flatnonzero(merged == number)
        for region in reversed(self.regions):
            inside: Bools = region == region[own[0]]
            if region[own[0]] >= 0 and inside[own].all() and (merged[inside] != number).any():
                return inside
        return np.ones(len(merged), dtype=bool)
