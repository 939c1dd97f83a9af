"""What is known of a release: the published table measured again, its certificate, and the record if its owner reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tclose.errors import InputError
from tclose.judge.gate import as_read
from tclose.policy import Policy
from tclose.release.certificate import CERTIFICATE, RECORD
from tclose.release.claims import read_json
from tclose.release.release import Release
from tclose.release.verify import verify
from tclose.report.measured import Measured, measure


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
        Empty if it is not known. A public report takes the policy's ``context`` and ``small_cells`` from it, and nothing else.
    """

    measured: Measured
    certificate: Mapping[str, Any]
    record: Mapping[str, Any]

    @property
    def context(self) -> dict[str, str]:
        """The policy's texts for the report, by topic."""
        found: dict[str, str] = self.record.get("policy", {}).get("context", {})
        return found

    @property
    def small_cells(self) -> int:
        """Counts below this are masked in public reports."""
        return int(self.record.get("policy", {}).get("small_cells", Policy.__dataclass_fields__["small_cells"].default))


def papers_in_memory(release: Release) -> Papers:
    """Return the papers of a release that may not be written yet."""
    policy = Policy(**release.certificate["policy"])
    return Papers(measure(as_read(release._details.coded), policy), release.certificate, release.record)


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
    certificate = read_json(path.with_name(path.name + CERTIFICATE), "Certificate")
    beside = path.with_name(path.name + RECORD)
    known: Any = {}
    if record is not None or beside.is_file():
        known = read_json(record or beside, "Record")
        if not isinstance(known, Mapping) or known.get("release") != certificate["release"]:
            raise InputError(f"Record {(record or beside).name!r} belongs to another release.")
        _check_policy(known, (record or beside).name)
    return Papers(measure(path, found.audit.policy, found.audit), certificate, known)


def read_findings(path: Path | None, key: str) -> Any:
    """Return what `tclose.attack` or `tclose.utility` found, from a JSON file that has some key; None without a file."""
    if path is None:
        return None
    found = read_json(path, "File")
    if not isinstance(found, Mapping) or key not in found or found.get("internal") is not True:
        raise InputError(f"File {path.name!r} is not the JSON of what was measured: it has no {key!r}.")
    return found


def _check_policy(record: Mapping[str, Any], name: str) -> None:
    """Raise InputError if a record has no policy that can be read."""
    try:
        Policy(**record["policy"])
    except (TypeError, KeyError, ValueError) as error:
        raise InputError(f"Record {name!r} has no policy that tclose can read.") from error
