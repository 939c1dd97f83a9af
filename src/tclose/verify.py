"""verify: a published file checked again, from the file and its certificate alone."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tclose._audit import Context, examine
from tclose._files import sha256_of
from tclose.certificate import figures, read_certificate
from tclose.errors import InputError, PrivacyRiskWarning, TcloseError
from tclose.policy import Policy
from tclose.result import Audit
from tclose.source.readers import open_reader

_OVER_PERSONS = ("l_distinct", "l_entropy", "c_recursive")
"""Figures that a release made for persons cannot show: it does not say who is who."""


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


def verify(release: Path, certificate: Path) -> Verification:
    """Check a release against its certificate: its bytes, its columns, its limits, and every figure.

    Raises
    ------
    InputError
        The release or the certificate cannot be read.
    """
    said = read_certificate(certificate)
    try:
        policy = Policy(**said["policy"])
        columns = [column["name"] for column in said["columns"]]
        rows, digest, attained = said["rows"], said["release"]["sha256"], said["attained"]
        by_rows = said["counted"] == "rows"
        regions = [np.array(groups, dtype=np.int64) for groups in said.get("regions", [])]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = f" {error}" if isinstance(error, TcloseError) else ""
        raise InputError(f"Certificate {certificate.name!r} is not as tclose writes it.{reason} Ask for it again.") from None
    reader = open_reader(release)
    if not set(columns) <= set(reader.names):
        raise InputError(f"File {release.name!r} has not the columns of the certificate. It is another file.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyRiskWarning)
        audit = examine(release, policy, Context(regions=regions))
    found = sha256_of(release)
    findings = [
        Finding("The file is the one that was certified", found == digest, f"sha256 {found}"),
        Finding("It has the rows and the columns that the certificate names", rows == audit.rows and columns == reader.names),
        Finding("It holds every limit", audit.satisfied, _limits(audit)),
        Finding(f"k is {attained['k']}", attained["k"] == audit.k),
    ]
    for name, figures_said in attained["sensitive"].items():
        same = _comparable(figures_said, by_rows) == _comparable(figures(audit)[name], by_rows)
        findings.append(Finding(f"The figures of {name} are as certified", same, f"t = {audit.sensitive[name].t_exact}"))
    return Verification(findings, audit)


def _limits(audit: Audit) -> str:
    broken = [judgement for judgement in audit.judgements if judgement.broken.any()]
    return "; ".join(f"{that.model}{f' of {that.sensitive}' if that.sensitive else ''} is broken" for that in broken)


def _comparable(found: Mapping[str, Any], by_rows: bool) -> dict[str, Any]:
    return {key: value for key, value in found.items() if by_rows or not key.startswith(_OVER_PERSONS)}
