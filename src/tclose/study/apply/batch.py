"""A batch: new rows beside the release that they may join, and what a reader would find who has both files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from tclose.columns.domains import kind_to_read
from tclose.errors import ColumnError
from tclose.judge.audit import Context, examine
from tclose.judge.gate import reference_of
from tclose.judge.result import Audit
from tclose.policy import Policy
from tclose.release.opened import Opened
from tclose.study.apply.covering import covers
from tclose.study.apply.newcomers import published_values
from tclose.tables.readers import open_reader
from tclose.tables.table import open_table
from tclose.values.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Batch:
    """New rows, beside the release that they may join.

    Attributes
    ----------
    policy : Policy
        By which a reader judges the release.
    old : pyarrow.Table
        The release.
    own : pyarrow.Table
        The sensitive and kept columns of the new rows, as they would be published, and the unit if there is one.
    classes : pyarrow.Table
        The published quasi-identifiers of each class, by its number.
    covered : (classes, rows) bool
        Which classes a row can join.
    unit : str or None
    """

    policy: Policy
    old: pa.Table
    own: pa.Table
    classes: pa.Table
    covered: Bools
    unit: str | None

    @classmethod
    def of(cls, opened: Opened, policy: Policy, old: pa.Table, audit: Audit) -> Batch:
        """Return the rows of an open table beside a release with its audit."""
        quasi = list(audit.quasi)
        numbers = class_of_rows(old, quasi)
        firsts = np.unique(numbers, return_index=True)[1]
        classes = old.select(quasi).take(pa.array(firsts))
        values, known = published_values(opened, policy, old)
        old, values = _in_common_types(old, values)
        covered = np.broadcast_to(known, (len(firsts), len(known))).copy()
        for column in policy.quasi:
            cells, ranks = opened.source.rows([column.name])[0]
            shown = {name: classes[name].to_pylist() for name in quasi if name.removeprefix(column.name) in _PARTS}
            covered &= covers(column, shown, opened.source.values(column.name, cells).to_pylist())[:, ranks]
        return cls(audit.policy, old, values, classes, covered, opened.unit)

    def added(self, classes: Ints) -> pa.Table:
        """Return the new rows that join a class, as they are published, and their unit."""
        rows = pa.array(np.flatnonzero(classes >= 0))
        joined = self.classes.take(pa.array(classes[classes >= 0]))
        own = self.own.take(rows)
        columns = {name: joined[name] if name in joined.column_names else own[name] for name in self.old.column_names}
        return pa.table(columns if self.unit is None else {**columns, self.unit: own[self.unit]})

    def union(self, classes: Ints) -> pa.Table:
        """Return the release with the new rows that join a class."""
        added = self.added(classes).select(self.old.column_names)
        return pa.concat_tables([self.old, added])

    def audit_alone(self, classes: Ints) -> Audit | None:
        """Return the audit of the rows that are added, compared with one another; None if there are none."""
        if not (classes >= 0).any():
            return None
        return examine(self.added(classes), replace(self.policy, unit=self.unit), Context(warn=lambda _: None))

    def audit_compared(self, classes: Ints) -> Audit | None:
        """Return the audit of the rows that are added, compared with the distribution in the union; None if there are none."""
        if not (classes >= 0).any():
            return None
        kinds = {column.name: kind_to_read(column) for column in self.policy.sensitive}
        union = open_table(open_reader(self.union(classes)), kinds)
        context = Context(reference_of(union, self.policy), warn=lambda _: None)
        return examine(self.added(classes), replace(self.policy, unit=self.unit), context)

    def audit_union(self, classes: Ints) -> Audit:
        """Return the audit of the release with the rows that are added."""
        return examine(self.union(classes), self.policy, Context(warn=lambda _: None))

    def broken_alone(self, classes: Ints) -> Ints:
        """Return the numbers of the classes whose added rows break a limit, compared with all added rows or with the union."""
        audits = [audit for audit in (self.audit_alone(classes), self.audit_compared(classes)) if audit is not None]
        return np.unique(np.concatenate([np.empty(0, np.int64), *(self._numbers(audit, _broken(audit)) for audit in audits)]))

    def broken_in_union(self, classes: Ints) -> Ints:
        """Return the numbers of the classes that break a limit in the union."""
        audit = self.audit_union(classes)
        return self._numbers(audit, _broken(audit))

    def coded(self) -> tuple[list[Ints], list[Floats]]:
        """Return for each sensitive attribute the code of each new row's value, and the share of each code in the release."""
        codes, shares = [], []
        for column in self.policy.sensitive:
            both = pa.concat_tables([self.old.select([column.name]), self.own.select([column.name])])
            number = class_of_rows(both, [column.name])
            codes.append(number[self.old.num_rows :])
            shares.append(np.bincount(number[: self.old.num_rows], minlength=int(number.max()) + 1) / self.old.num_rows)
        return codes, shares

    def _numbers(self, audit: Audit, found: Ints) -> Ints:
        """Return this batch's numbers of classes of an audit."""
        number = {key: number for number, key in enumerate(zip(*map(_texts, self.classes.columns), strict=True))}
        keys = list(zip(*(_texts(audit.quasi[name]) for name in self.classes.column_names), strict=True))
        return np.array([number[keys[one]] for one in found.tolist()], dtype=np.int64)


def _in_common_types(old: pa.Table, new: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Return a release and new rows with the columns that both have in one type; raise ColumnError where there is none."""
    for name in old.column_names:
        if name in new.column_names:
            parts = [pa.table({name: table[name]}) for table in (old, new)]
            try:
                both = pa.concat_tables(parts, promote_options="permissive")
            except pa.ArrowException:
                raise ColumnError(f"Column {name!r} of the new rows has another type than in the release. Mend it.") from None
            old = old.set_column(old.column_names.index(name), name, both[name][: old.num_rows])
            new = new.set_column(new.column_names.index(name), name, both[name][old.num_rows :])
    return old, new


_PARTS = ("", ".min", ".max", ".missing")


def _broken(audit: Audit) -> Ints:
    """Return the numbers of the classes of an audit that break some limit."""
    return np.flatnonzero(np.logical_or.reduce([judgement.broken for judgement in audit.judgements]))


def _texts(column: Any) -> list[str | None]:
    """Return the cells of a column as text, as an audit by a reader's policy has them."""
    return column.cast(pa.string()).to_pylist()  # type: ignore[no-any-return]


def class_of_rows(table: pa.Table, quasi: Sequence[str]) -> Ints:
    """Return the number of each row's class; rows that agree in all quasi-identifiers have one number."""
    numbers = np.zeros(table.num_rows, dtype=np.int64)
    for name in quasi:
        cells = table[name].combine_chunks().dictionary_encode()
        size = len(cells.dictionary) + 1
        codes = cells.indices.cast(pa.int64()).fill_null(size - 1).to_numpy(zero_copy_only=False)
        numbers = np.unique(numbers * size + codes, return_inverse=True)[1]
    return numbers
