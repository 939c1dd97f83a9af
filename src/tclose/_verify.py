"""verify: a published file checked again, from the file and its certificate alone."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tclose._audit import Context, examine
from tclose._files import sha256_of
from tclose._numbers import float_up
from tclose.certificate import describe_sensitive, figures
from tclose.claims import Certificate, read_certificate
from tclose.errors import InputError, PrivacyRiskWarning, TcloseError, raising_alone
from tclose.policy import Policy
from tclose.result import Audit
from tclose.source.files import InputFile
from tclose.source.readers import open_reader
from tclose.source.table import Table


@dataclass(frozen=True)
class Finding:
    """One thing that a certificate says, and whether the release bears it out."""

    what: str
    holds: bool
    detail: str = ""


@dataclass(frozen=True, eq=False)
class Verification:
    """What was found, and the audit of the release under the certificate's policy."""

    findings: list[Finding]
    audit: Audit

    @property
    def holds(self) -> bool:
        """Whether all that the certificate says is so."""
        return all(finding.holds for finding in self.findings)


@raising_alone
def verify(release: Path, certificate: Path) -> Verification:
    """Check a release against its certificate: its bytes, its columns, its limits, and every figure that it can show.

    The loss of ranges and labels (gcp, precision) is the publisher's word: it takes the hierarchies to recompute it.

    Raises
    ------
    InputError
        The release or the certificate cannot be read.
    """
    said = read_certificate(certificate)
    try:
        policy = Policy(**said.policy)
    except (TypeError, ValueError, OverflowError) as error:
        reason = f" {error}" if isinstance(error, TcloseError) else ""
        raise InputError(f"Certificate {certificate.name!r} has no policy that tclose can read.{reason}") from None
    columns, attained, loss = [column.name for column in said.columns], said.attained, said.loss
    file = InputFile.open(release)
    names = open_reader(release).names
    if not columns or not set(columns) <= set(names):
        raise InputError(f"File {release.name!r} has not the columns of the certificate. It is another file.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyRiskWarning)
        audit = examine(release, policy, Context())
    with file.read_as("a file"):  # what was hashed is what was audited
        digest, unique = sha256_of(release), _unique_rows(release, columns)
    sizes = audit.sizes.tolist()
    findings = [
        Finding("The file is the one that was certified", digest == said.release.sha256, f"sha256 {digest}"),
        Finding("Its columns are those of the certificate", columns == names),
        Finding("Roles and limits are those of the policy", _roles(policy, audit) == _roles_said(said)),
        _same("rows", said.rows, audit.rows),
        _same("classes", said.classes, audit.classes),
        Finding("It holds every limit", audit.satisfied, _broken(audit)),
        _same("k", attained.k, audit.k),
        _same("classes with one sensitive value", attained.homogeneous.get("classes"), audit.homogeneous["classes"]),
        _same("rows in such classes", attained.homogeneous.get("rows"), audit.homogeneous["rows"]),
        _same("rows that differ from all others", said.unique_rows, unique),
        _same("dm, the sum of squared class sizes,", loss.get("dm"), sum(size * size for size in sizes)),
        _same("c_avg, the mean class size in k,", loss.get("c_avg"), audit.rows / (len(sizes) * policy.k) if policy.k else None),
    ]
    for name, found in figures(audit).items():
        same = attained.sensitive.get(name) == found
        findings.append(Finding(f"The figures of {name} are as certified", same, f"t = {found['t_exact']}"))
    for name, promise in said.promised.items():
        limit = audit.sensitive[name].limit if name in audit.sensitive else None
        kept = limit is not None and float_up(audit.sensitive[name].t_judged) == promise.t_attained <= promise.t <= float_up(
            limit
        )
        findings.append(Finding(f"{name} is within what was promised", kept, f"t = {promise.t}"))
    return Verification(findings, audit)


def _roles(policy: Policy, audit: Audit) -> tuple[list[str], dict[str, str]]:
    """The quasi-identifiers, and what is said of each sensitive column."""
    sensitive = {
        column.name: describe_sensitive(column, audit.sensitive[column.name].distance, policy) for column in policy.sensitive
    }
    return sorted(audit.quasi), sensitive


def _roles_said(said: Certificate) -> tuple[list[str], dict[str, str]]:
    """The same as the certificate's columns have it."""
    quasi = sorted(column.name for column in said.columns if column.role == "quasi")
    return quasi, {column.name: column.holds for column in said.columns if column.role == "sensitive"}


def _same(what: str, said: Any, found: Any) -> Finding:
    return Finding(f"{what} as certified", said == found, str(found) if said == found else f"certified {said}, found {found}")


def _unique_rows(release: Path, columns: list[str]) -> int:
    """Rows that no other equals in all published columns."""
    cells = Table(open_reader(release), dict.fromkeys(columns, "text")).cells(columns, [])
    return int(np.count_nonzero(cells.sizes == 1))


def _broken(audit: Audit) -> str:
    broken = [judgement for judgement in audit.judgements if judgement.broken.any()]
    return "; ".join(f"{that.model}{f' of {that.sensitive}' if that.sensitive else ''} is broken" for that in broken)
