"""What is known of a release: the published table measured again, its certificate, and the record if its owner reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from tclose.errors import InputError
from tclose.judge.gate import as_read
from tclose.policy import Policy
from tclose.release.certificate import CERTIFICATE, RECORD
from tclose.release.claims import read_json
from tclose.release.entries import Count, Entry, Share, entries_of
from tclose.release.release import Release
from tclose.release.verify import verify
from tclose.study.measured import Measured, measure


@dataclass(frozen=True, eq=False)
class Papers:
    """A release and what is written about it.

    Attributes
    ----------
    measured : Measured
        The published table, measured against itself under the certificate's policy.
    certificate : mapping
        With the name and sha256 of the file, if there is one.
    record : mapping
        Empty if it is not known.
    policy : Policy or None
        That of the record. A public report takes its ``context`` and ``small_cells``, and nothing else of the record.
    """

    measured: Measured
    certificate: Mapping[str, Any]
    record: Mapping[str, Any]
    policy: Policy | None

    @property
    def context(self) -> dict[str, str]:
        """The policy's texts for the report, by topic."""
        return {} if self.policy is None else self.policy.context or {}

    @property
    def small_cells(self) -> int:
        """Counts below this are masked in public reports."""
        return int(Policy.__dataclass_fields__["small_cells"].default if self.policy is None else self.policy.small_cells)


class InputEntry(Entry):
    """The input of a release."""

    rows: Count


class LossByAttributeEntry(Entry):
    """The information loss of each quasi-identifier, against the input."""

    gcp: dict[str, Share] = Field(default_factory=dict)


class LossEntry(Entry):
    """The information loss of a release, against the input."""

    by_attribute: LossByAttributeEntry = LossByAttributeEntry()


class RecordEntry(Entry):
    """The private record of a release, as far as an internal report shows it."""

    algorithm: str
    seed: Annotated[int, Field(ge=0)]
    effort: str
    options: dict[str, str | int | float | bool | None]
    versions: dict[str, str]
    policy: dict[str, Any]
    input: InputEntry
    suppressed: Count
    loss: LossEntry


REMEDY = "Give the one that was written with the release, with --record."


def papers_in_memory(release: Release) -> Papers:
    """Return the papers of a release that may not be written yet."""
    measured = measure(as_read(release._details.coded), Policy(**release.certificate["policy"]))
    return Papers(measured, release.certificate, release.record, Policy(**release.record["policy"]))


def papers_beside(path: Path, record: Path | None = None) -> Papers:
    """Return the papers of a release on the disk, which is verified first.

    Parameters
    ----------
    record
        The private record; by default the one beside the release, if there is one.

    Raises
    ------
    InputError
        The release is not as certified, or the record is of another one.
    """
    found = verify(path)
    if not found.holds:
        wrong = next(finding for finding in found.findings if not finding.holds)
        raise InputError(f"{path.name} is not as certified, and has no report: {wrong.what}? No. Try 'tclose verify'.")
    said = read_json(path.with_name(path.name + CERTIFICATE), "Certificate")  # which was checked by `verify`
    certificate = {name: entry for name, entry in said.items() if entry is not None}  # null is as good as absent
    beside = path.with_name(path.name + RECORD)
    known: tuple[Mapping[str, Any], Policy | None] = ({}, None)
    if record is not None or beside.is_file():
        known = read_record(record or beside, certificate)
    return Papers(measure(path, found.audit.policy, found.audit), certificate, *known)


def read_record(path: Path, certificate: Mapping[str, Any]) -> tuple[dict[str, Any], Policy]:
    """Return the record in a file, and its policy; raise InputError if it is damaged, or that of another release."""
    found = read_json(path, "Record")
    if not isinstance(found, Mapping) or found.get("release") != certificate["release"]:
        raise InputError(f"Record {path.name!r} belongs to another release.")
    record = entries_of(found, RecordEntry, path.name, "the private record of a release", REMEDY).model_dump()
    try:
        return record, Policy(**record["policy"])
    except (TypeError, ValueError, OverflowError, ArithmeticError, RecursionError):
        pass
    raise InputError(f"Record {path.name!r} has no policy that tclose can read. {REMEDY}")
