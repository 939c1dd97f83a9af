"""apply: new rows of the same kind join the published classes of a release, as far as no limit is broken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tclose.errors import ColumnError, InputError, PolicyError, raising_alone
from tclose.jobs import announce
from tclose.judge.audit import Context, examine
from tclose.judge.result import Audit
from tclose.make.losses import Losses
from tclose.make.registry import DEFAULT, find_algorithm
from tclose.policy import Policy
from tclose.release.certificate import CERTIFICATE, RECORD, PublicFacts, certificate
from tclose.release.claims import read_json
from tclose.release.entries import Entry, entries_of
from tclose.release.opened import Opened, open_input
from tclose.release.release import Details, Release
from tclose.release.verify import verify
from tclose.study.apply.choosing import Newcomers, choose_classes
from tclose.study.apply.covering import covers
from tclose.study.apply.newcomers import known_persons, published_values
from tclose.tables.moments import Moments
from tclose.tables.readers import open_reader
from tclose.tables.table import open_table
from tclose.values.arrays import Bools, Floats, Ints
from tclose.values.exact import number_of
from tclose.values.formula_guard import unguarded

REMEDY = "Give the one that was written with the release."


@dataclass(frozen=True, eq=False, repr=False)
class Applied:
    """A release with new rows in its classes.

    Attributes
    ----------
    table : pyarrow.Table
        The rows of the old release and those that were added, as it is written.
    audit : Audit
        Of that table, against itself.
    alone : Audit or None
        Of the added rows by themselves: whoever has the old file can subtract it. None if no row was added.
    rows : int
        New rows in all.
    added : int
        Those that are in the release.
    refused : int
        Rows of persons who are in the old release already.
    strange : int
        Rows that no published class stands for, or with a sensitive value that no published interval has.
    held_back : int
        The other rows that are not in the release: with them some limit would be broken.
    """

    alone: Audit | None
    rows: int
    added: int
    refused: int
    strange: int
    _release: Release

    @property
    def table(self) -> pa.Table:
        """The release with the added rows, as it is written."""
        return self._release.table

    @property
    def audit(self) -> Audit:
        """The audit of the release with the added rows, against itself."""
        return self._release.audit

    @property
    def held_back(self) -> int:
        """The rows that fit a published class, and are held back because some limit would be broken with them."""
        return self.rows - self.added - self.refused - self.strange

    def write(self, path: str | Path, *, force: bool = False) -> list[Path]:
        """Write the release with the added rows, and its papers; see `Release.write`."""
        return self._release.write(path, force=force)

    def __repr__(self) -> str:
        """Return in one line how many of the new rows joined the release."""
        return f"<Applied: {self.added:,} of {number_of(self.rows, 'new row')} added; {self.audit!r}>"


class RecordEntry(Entry):
    """The private record of a release, as far as new rows need it."""

    release: dict[str, str]
    policy: dict[str, Any]


@raising_alone
def apply(record: str | Path, table: Any, *, people: Sequence[Any] | None = None) -> Applied:
    """Add new rows of the same kind to a release: each joins a published class that stands for it, or is held back.

    Whoever has the old release can subtract it from the new one. So the added rows satisfy k and every limit of the policy by
    themselves, compared with the distribution among them, and the union does so too. Rows with which some limit would be broken
    are held back, and counted.

    Parameters
    ----------
    record : path
        The private record of the release, ``release.csv.private.json``. The release and its certificate lie beside it.
    table : path, pandas, polars or pyarrow table, DuckDB relation or ibis table
        The new rows, with the columns of the table that the release was made from.
    people : sequence of tables, optional
        The table that the release was made from, and those that were added since, or their columns with identifiers alone. A
        person who is in one of them is refused. They must be given if the policy names a unit or identifiers.

    Returns
    -------
    Applied

    Raises
    ------
    InputError
        The release is not as certified, or the new rows do not fit the policy.
    PolicyError
        New rows cannot be added to such a release, or people are not given.

    Examples
    --------
    >>> import tempfile, tclose as tc
    >>> may = pa.table({"age": [21, 22, 23, 24] * 5 + [41, 42, 43, 44] * 5, "salary": [3, 4, 5, 6] * 10})
    >>> release = tc.anonymize(may, tc.Policy(quasi=["age"], sensitive={"salary": 0.05}, k=4))
    >>> record = release.write(Path(tempfile.mkdtemp()) / "release.csv")[2]
    >>> apply(record, pa.table({"age": [21, 22, 23, 24, 41], "salary": [3, 4, 5, 6, 4]}))
    <Applied: 4 of 5 new rows added; <Audit: 44 rows in 2 classes, k=20; salary t=0.0000; satisfied>>
    """
    path, policy = _release_of_record(Path(record))
    announce("Verifying")
    found = verify(path)
    if not found.holds:
        raise InputError(f"{path.name} is not as certified, so nothing can be added to it. Try 'tclose verify'.")
    _check_can_be_added_to(policy, read_json(path.with_name(path.name + CERTIFICATE), "Certificate"))
    announce("Reading")
    opened = open_input(table, policy, find_algorithm(DEFAULT))
    refused = known_persons(opened, policy, people)
    old, moments = _as_published(path, policy, found.audit)
    added = _Batch.of(opened, policy, old, found.audit)
    announce("Choosing")
    newcomers = Newcomers(added.covered & ~refused, *added.coded(), policy.k or 1)
    classes = choose_classes(newcomers, added.broken_alone, added.broken_in_union)
    audit, alone = added.audit_union(classes), added.audit_alone(classes)
    made = _release(path, Path(record), policy, opened, added.union(classes), moments, audit, classes)
    strange = int(np.count_nonzero(~added.covered.any(axis=0) & ~refused))
    return Applied(alone, len(classes), int((classes >= 0).sum()), int(refused.sum()), strange, made)


def _release_of_record(record: Path) -> tuple[Path, Policy]:
    """Return the path of the release that a private record belongs to, and the policy in the record."""
    if not record.name.endswith(RECORD):
        raise InputError(f"{record.name!r} is no private record: its name must end in {RECORD}. {REMEDY}")
    found = entries_of(read_json(record, "Record"), RecordEntry, record.name, "the private record of a release", REMEDY)
    try:
        policy = Policy(**found.policy)
    except (TypeError, ValueError, OverflowError, ArithmeticError, RecursionError):
        raise InputError(f"Record {record.name!r} has no policy that tclose can read. {REMEDY}") from None
    return record.with_name(record.name.removesuffix(RECORD)), policy


def _check_can_be_added_to(policy: Policy, certificate: Mapping[str, Any]) -> None:
    """Raise PolicyError for a release that new rows cannot be added to."""
    if "tables" in certificate:
        raise PolicyError("Rows cannot be added to one of several tables of the same people. Make the release anew.")
    if policy.edges > 1:
        raise PolicyError(
            f"Rows cannot be added under edges={policy.edges}: who attains the ends of published ranges is not known any more. "
            "Make the release anew."
        )
    mean = next((column.name for column in policy.quasi if column.recode == "centroid"), None)
    if mean is not None:
        raise PolicyError(f"Rows cannot be added where {mean!r} is published as means: they do not say whom they stand for.")


def _as_published(path: Path, policy: Policy, audit: Audit) -> tuple[pa.Table, dict[str, Moments]]:
    """Return the published table in its types, without the formula guard, and how its timestamps are written."""
    reader = open_reader(path)
    kinds = dict.fromkeys(reader.names, "auto") | {column.name: "value" for column in audit.policy.sensitive}
    source = open_table(reader, kinds)
    table = source.take(reader.names, np.arange(audit.rows))
    if policy.formula_guard and path.suffix.lower() == ".csv":
        table = pa.table({name: _unguarded(table[name]) for name in reader.names})
    return table, source.moments


def _unguarded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of a CSV without the formula guard of its texts."""
    if not pa.types.is_string(column.type):
        return column
    texts = column.combine_chunks().dictionary_encode()
    values = pa.array([None if text is None else unguarded(text) for text in texts.dictionary.to_pylist()], pa.string())
    return pa.chunked_array([pa.DictionaryArray.from_arrays(texts.indices, values).cast(pa.string())])


@dataclass(frozen=True, eq=False)
class _Batch:
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
    def of(cls, opened: Opened, policy: Policy, old: pa.Table, audit: Audit) -> _Batch:
        """Return the rows of an open table beside a release with its audit."""
        quasi = list(audit.quasi)
        numbers = _class_of_rows(old, quasi)
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
        """Return the audit of the rows that are added, by themselves; None if there are none."""
        if not (classes >= 0).any():
            return None
        return examine(self.added(classes), replace(self.policy, unit=self.unit), Context(warn=lambda _: None))

    def audit_union(self, classes: Ints) -> Audit:
        """Return the audit of the release with the rows that are added."""
        return examine(self.union(classes), self.policy, Context(warn=lambda _: None))

    def broken_alone(self, classes: Ints) -> Ints:
        """Return the numbers of the classes whose added rows break a limit by themselves."""
        audit = self.audit_alone(classes)
        return np.empty(0, dtype=np.int64) if audit is None else self._numbers(audit, _broken(audit))

    def broken_in_union(self, classes: Ints) -> Ints:
        """Return the numbers of the classes that break a limit in the union."""
        audit = self.audit_union(classes)
        return self._numbers(audit, _broken(audit))

    def coded(self) -> tuple[list[Ints], list[Floats]]:
        """Return for each sensitive attribute the code of each new row's value, and the share of each code in the release."""
        codes, shares = [], []
        for column in self.policy.sensitive:
            both = pa.concat_tables([self.old.select([column.name]), self.own.select([column.name])])
            number = _class_of_rows(both, [column.name])
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


def _class_of_rows(table: pa.Table, quasi: Sequence[str]) -> Ints:
    """Return the number of each row's class; rows that agree in all quasi-identifiers have one number."""
    numbers = np.zeros(table.num_rows, dtype=np.int64)
    for name in quasi:
        cells = table[name].combine_chunks().dictionary_encode()
        size = len(cells.dictionary) + 1
        codes = cells.indices.cast(pa.int64()).fill_null(size - 1).to_numpy(zero_copy_only=False)
        numbers = np.unique(numbers * size + codes, return_inverse=True)[1]
    return numbers


def _release(
    path: Path,
    record: Path,
    policy: Policy,
    opened: Opened,
    table: pa.Table,
    moments: dict[str, Moments],
    audit: Audit,
    classes: Ints,
) -> Release:
    """Return the union as a release with papers of its own; they say what was added."""
    said = read_json(path.with_name(path.name + CERTIFICATE), "Certificate")
    sizes = audit.sizes.tolist()
    loss = {"dm": sum(size * size for size in sizes), **({"c_avg": audit.rows / (len(sizes) * policy.k)} if policy.k else {})}
    facts = PublicFacts(loss, said["columns"], _unique_rows(table), "sorted", said["counted"], {})
    rows = {"rows": len(classes), "added": int((classes >= 0).sum())}
    papers = {key: value for key, value in read_json(record, "Record").items() if key != "release"}
    papers["applied"] = [*papers.get("applied", []), rows]
    table = table.sort_by([(name, "ascending") for name in table.column_names])  # old and new rows together
    coded = pa.table({name: table[name].combine_chunks().dictionary_encode() for name in table.column_names})
    inputs = (path.absolute(), record.absolute())
    details = Details(coded, audit.policy, audit, inputs, {}, moments, ())
    return Release(classes, audit, Losses(loss, {}), certificate(audit, facts), papers, opened.readings, details)


def _unique_rows(table: pa.Table) -> int:
    """Return the number of rows that no other row equals in all columns."""
    numbers = _class_of_rows(table, table.column_names)
    return int(np.count_nonzero(np.bincount(numbers) == 1))
