"""Partitioning: suppress the rows that a policy cannot be satisfied with, run the algorithm on the others, trim the classes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tclose.make.algorithm import Partition, Settings
from tclose.make.encode import EncodedTable
from tclose.make.feasibility import rows_to_suppress
from tclose.make.registry import check_accepted
from tclose.make.suppression import trim
from tclose.policy import Policy
from tclose.values.arrays import Ints


def partition_rows(table: EncodedTable, policy: Policy, settings: Settings) -> list[Partition]:
    """Return the classes of the rows of a table, for each table that is published; the label of a suppressed row is -1.

    Raises
    ------
    InfeasibleError
        No release of the table can satisfy the policy.
    PolicyError
        The algorithm cannot do what the policy asks of this table.
    """
    from tclose.make.problem import Problem

    rows = np.flatnonzero(~rows_to_suppress(table, policy))
    part = table if len(rows) == table.rows else table.take(rows)
    problem = Problem.of(part, policy, regions=settings.algorithm.regions)
    check_accepted(settings.algorithm, policy, problem)
    found = settings.algorithm.run(problem, settings.seed, settings.effort, settings.options)
    return [_trimmed(table, policy, rows, partition) for partition in (found if isinstance(found, list) else [found])]


def _trimmed(table: EncodedTable, policy: Policy, rows: Ints, partition: Partition) -> Partition:
    """Return a partition of some rows of a table as one of all its rows, and suppress further rows where that is worth it."""
    labels = np.full(table.rows, -1, dtype=np.int64)
    labels[rows] = partition.labels
    if all(level is None for level in partition.levels):  # at a level of a hierarchy, a class without outliers is no narrower
        labels = trim(table.only(partition.sensitive), labels, partition.asked(policy))
    return replace(partition, labels=labels)
