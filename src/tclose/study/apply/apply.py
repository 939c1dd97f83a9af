"""apply: new rows of the same kind join the published classes of a release, as far as no limit is broken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tclose.errors import InputError, PolicyError, raising_alone
from tclose.jobs import announce
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
from tclose.study.apply.batch import Batch, class_of_rows
from tclose.study.apply.choosing import Newcomers, choose_classes
from tclose.study.apply.newcomers import known_persons
from tclose.tables.moments import Moments
from tclose.tables.readers import open_reader
from tclose.tables.table import open_table
from tclose.values.arrays import Ints
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
    alone, compared : Audit or None
        Of the added rows by themselves, which whoever has the old file gets by subtracting it: compared with one another, and
        with the distribution in the union, which everybody knows. None if no row was added.
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
    compared: Audit | None
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
    themselves, compared with one another and with the distribution in the union; and the union does so too. Rows with which some
    limit would be broken are held back, and counted.

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
    added = Batch.of(opened, policy, old, found.audit)
    announce("Choosing")
    newcomers = Newcomers(added.covered & ~refused, *added.coded(), policy.k or 1)
    classes = choose_classes(newcomers, added.broken_alone, added.broken_in_union)
    audit = added.audit_union(classes)
    made = _release(path, Path(record), policy, opened, added.union(classes), moments, audit, classes)
    strange = int(np.count_nonzero(~added.covered.any(axis=0) & ~refused))
    alone, compared = added.audit_alone(classes), added.audit_compared(classes)
    return Applied(alone, compared, len(classes), int((classes >= 0).sum()), int(refused.sum()), strange, made)


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
    numbers = class_of_rows(table, table.column_names)
    return int(np.count_nonzero(np.bincount(numbers) == 1))
