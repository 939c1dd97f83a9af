"""Problem: the rows to put into classes and what is asked of the classes, as every algorithm gets it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from tclose.make.encode import Attribute, EncodedTable
from tclose.make.kernels.limits import Limits, limits_of
from tclose.make.kernels.loss import LossTable, loss_table
from tclose.make.scales import Scale
from tclose.make.suppression import both_sides
from tclose.policy import Policy
from tclose.values.arrays import Codes


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows to put into classes, what each class must satisfy, and what generalising it loses.

    Attributes
    ----------
    policy : Policy
        What the user asked.
    scales : list of Scale
        The quasi-identifiers: how each is published. A `tclose.make.scales.Tree` has the levels of a hierarchy.
    quasi : (rows, quasi-identifiers) int32
        The code of each row on each scale.
    losses : LossTable
        The information loss of a range of codes on each scale, with the weights of the quasi-identifiers, for kernels.
    sensitive : list of Attribute
        The sensitive attributes: the distance, the code of each row, and how often each value occurs in the input.
    limits : Limits
        All limits of the policy, for kernels: see `tclose.make.kernels.satisfies.satisfies`.
    """

    policy: Policy
    scales: list[Scale]
    quasi: Codes
    losses: LossTable
    sensitive: list[Attribute]
    limits: Limits

    @property
    def rows(self) -> int:
        """The number of rows to put into classes."""
        return len(self.quasi)

    def every(self, step: int) -> Problem:
        """Return the problem of a sample, as a table of its own: one row of each ``step``; rows are sorted by their codes."""
        rows = np.arange(step // 2, self.rows, step)
        parts = [attribute.take(rows) for attribute in self.sensitive]
        sensitive = [replace(part, counts=np.bincount(part.codes, minlength=len(part.values))) for part in parts]
        persons = self.limits.persons[rows].astype(np.int64) if len(self.limits.persons) else None
        limits = limits_of(sensitive, replace(self.policy, n=None), persons)
        return replace(self, quasi=np.take(self.quasi, rows, axis=0), sensitive=sensitive, limits=limits)

    def only(self, sensitive: Collection[str]) -> Problem:
        """Return the problem of the same rows with some of the sensitive attributes, and the limits of these alone."""
        columns = [column for column in self.policy.sensitive if column.name in sensitive]
        attributes = [attribute for attribute in self.sensitive if attribute.column.name in sensitive]
        policy = replace(self.policy, sensitive=columns)
        asked = policy if self.limits.n else replace(policy, n=None)
        persons = self.limits.persons.astype(np.int64) if len(self.limits.persons) else None
        limits = limits_of(both_sides(attributes), asked, persons)
        return replace(self, policy=policy, sensitive=attributes, limits=limits)

    @classmethod
    def of(cls, table: EncodedTable, policy: Policy, *, regions: bool = False) -> Problem:
        """Return the problem that a policy and an encoded table make: codes, information losses and limits for kernels.

        Parameters
        ----------
        table
            The rows to put into classes. Where they are not all rows of the input, a class must be close to the input and to
            these rows.
        regions
            Whether the limits are those of (n,t)-closeness where the policy asks for it. t-closeness implies it: an algorithm
            that does not look for regions keeps classes close to the whole table.
        """
        asked = policy if regions else replace(policy, n=None)
        return cls(
            policy,
            table.scales,
            np.ascontiguousarray(np.array(table.quasi, dtype=np.int32).T),
            loss_table([scale.widths() for scale in table.scales], [float(column.weight) for column in policy.quasi]),
            table.sensitive,
            limits_of(both_sides(table.sensitive), asked, table.persons),
        )
