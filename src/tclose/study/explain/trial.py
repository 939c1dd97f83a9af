"""Trial: the rows of a table in memory, to be audited again after a change."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from tclose import jobs
from tclose.columns.domains import Domain, domain_of, kind_to_read
from tclose.judge.audit import Context, examine, quasi_kinds
from tclose.judge.result import Audit
from tclose.policy import Policy
from tclose.tables.readers import open_reader
from tclose.tables.table import open_table
from tclose.values.arrays import Bools, Ints, renumber
from tclose.values.exact import INT64_MAX, float_up


@dataclass(frozen=True)
class Figures:
    """What an audit of a changed table, or under a changed policy, found.

    Attributes
    ----------
    rows, classes : int
    broken, rows_broken : int
        The classes that break a limit, and the rows in them.
    k : int
        The rows, or persons where they are counted, of the smallest class.
    t : dict of Fraction
        By sensitive column, the largest distance of a class from the table.
    """

    rows: int
    classes: int
    broken: int
    rows_broken: int
    k: int
    t: dict[str, Fraction]

    @property
    def satisfied(self) -> bool:
        """Whether every limit of the policy is satisfied."""
        return self.broken == 0

    @classmethod
    def of(cls, audit: Audit) -> Figures:
        """Return the figures of an audit."""
        broken = broken_classes(audit)
        k = audit.k_persons if audit.counts_persons and audit.k_persons is not None else audit.k
        distances = {name: attribute.t_judged for name, attribute in audit.sensitive.items()}
        return cls(audit.rows, audit.classes, int(broken.sum()), int(audit.sizes[broken].sum()), k, distances)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as a mapping for JSON."""
        facts = {key: getattr(self, key) for key in ("rows", "classes", "broken", "rows_broken", "k", "satisfied")}
        return {**facts, "t": {name: {"t": float_up(t), "t_exact": str(t)} for name, t in self.t.items()}}


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a table that a policy speaks of, in memory.

    Attributes
    ----------
    table : pyarrow table
        The quasi-identifiers, the sensitive columns and the unit, read again as they were.
    policy : Policy
    quasi : list of str
        The columns of the quasi-identifiers: a release may have two for one.
    classes : (rows,) int64
        The class of each row, numbered as in the audit.
    domains : dict of Domain
        Of each sensitive column.
    codes : dict of (rows,) int64
        The code of each row in each sensitive column.
    """

    table: pa.Table
    policy: Policy
    quasi: list[str]
    classes: Ints
    domains: dict[str, Domain]
    codes: dict[str, Ints]

    @classmethod
    def of(cls, table: Any, policy: Policy) -> Rows:
        """Return the rows of a table: a path, or anything that `tclose.audit` takes."""
        reader = open_reader(table, policy.input)
        needed = quasi_kinds(policy, reader.names)
        quasi = list(needed)
        needed |= {column.name: kind_to_read(column) for column in policy.sensitive}
        optional = [policy.unit] if policy.unit not in (None, "row") and policy.unit in reader.names else []
        source = open_table(reader, needed, optional=optional, given=policy.input)
        names = [*needed, *optional]
        ranked = dict(zip(names, source.rows(names), strict=True))
        numbers = np.zeros(len(ranked[names[0]][1]), dtype=np.int64)
        bound = 1
        for name in quasi:
            cells, ranks = ranked[name]
            if bound * len(cells) > INT64_MAX:
                numbers, found = renumber(numbers)
                bound = len(found)
            numbers, bound = numbers * len(cells) + ranks, bound * len(cells)
        domains, codes = {}, {}
        for column in policy.sensitive:
            cells, ranks = ranked[column.name]
            counts = np.bincount(ranks, minlength=len(cells)).astype(np.int64)
            binned = column.bins is not None and column.publish is None
            domains[column.name] = domain_of(source, column, cells, counts, binned=binned)
            codes[column.name] = domains[column.name].codes[ranks]
        return cls(source.take(names, np.arange(len(numbers))), policy, quasi, renumber(numbers)[0], domains, codes)

    def counts(self, name: str, number: int | None = None) -> Ints:
        """Return the rows of the table, or of a class, at each value of a sensitive column."""
        codes = self.codes[name] if number is None else self.codes[name][self.classes == number]
        return np.bincount(codes, minlength=len(self.domains[name].values)).astype(np.int64)

    def audit(self, table: pa.Table | None = None, policy: Policy | None = None) -> Audit:
        """Return the audit of these rows, or of a changed table, under their policy or another."""
        jobs.check()
        return examine(self.table if table is None else table, policy or self.policy, Context(warn=_ignore))

    def without(self, suppressed: Bools) -> Rows:
        """Return the rows that are left if some are suppressed."""
        return Rows.of(self.table.filter(pa.array(~suppressed)), self.policy)


def broken_classes(audit: Audit) -> Bools:
    """Return for each class of an audit whether it breaks a limit."""
    none = np.zeros(audit.classes, dtype=bool)
    broken: Bools = np.logical_or.reduce([none, *(judgement.broken for judgement in audit.judgements)])
    return broken


def _ignore(_: str) -> None:
    """Ignore a warning: whoever asked was told when the table was first audited."""
