"""Made: a release of a raw table, made quickly, to show that one satisfies the policy and what it costs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

from tclose.errors import InfeasibleError, InputError, PolicyError
from tclose.release.anonymize import anonymize
from tclose.release.detail import DetailLost
from tclose.study.explain.trial import Figures, Rows
from tclose.values.exact import number_of

MOST_ROWS = 100_000
"""A larger table is not tried: who asks for an explanation should wait for seconds, not for minutes."""


@dataclass(frozen=True)
class Made:
    """A release that the command anonymize makes of the table.

    Attributes
    ----------
    suppressed : int
        The rows that it does not publish.
    detail_lost : float
        The share of the detail of the quasi-identifiers that is lost, GCP, after little refining; see `DetailLost`.
    after : Figures
        Of the release.
    """

    suppressed: int
    detail_lost: float
    after: Figures

    @property
    def what(self) -> str:
        """What to do, in words."""
        gone = f", {number_of(self.suppressed, 'row')} suppressed" if self.suppressed else ""
        return f"tclose anonymize ({100 * self.detail_lost:.0f}% of the detail lost{gone})"

    def to_dict(self) -> dict[str, Any]:
        """Return the release as a mapping for JSON."""
        facts = {"kind": "anonymize", "what": self.what, "suppressed": self.suppressed, "detail_lost": self.detail_lost}
        return {**facts, "after": self.after.to_dict()}


def make_release(rows: Rows) -> Made | None:
    """Return what a release of the rows attains and loses; None if the table is large, or the policy is not one for a release."""
    if len(rows.classes) > MOST_ROWS:
        return None
    unit = rows.policy.unit
    named = [unit] if unit is not None and unit in rows.table.column_names else []
    policy = replace(rows.policy, identifiers=named, drop=[], keep=[], other="drop", input=None)
    try:
        with warnings.catch_warnings():  # of the table itself an explanation warned already
            warnings.simplefilter("ignore")
            release = anonymize(rows.table, policy, effort="fast")
    except (
        InfeasibleError,
        InputError,
        PolicyError,
    ):  # no k, a column that must not be published: anonymize says it in its own words
        return None
    return Made(release.suppressed, DetailLost.of(release).overall, Figures.of(release.audit))
