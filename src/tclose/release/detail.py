"""Figures of a release that its screen, its report and comparisons show alike: detail lost, and shares of commonest values."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tclose.release.release import Release
    from tclose.release.spark_release import SparkRelease


@dataclass(frozen=True)
class DetailLost:
    """The share of the detail of the quasi-identifiers that is lost (GCP): 0 is none, 1 is all.

    Attributes
    ----------
    overall : float
        Of the columns with a stated figure together; of all columns, against the input, if no column has one.
    by_column : dict
        Of each quasi-identifier.
    against_input : tuple of str
        The columns of which nobody can compute it from the release. Their figures are against the input, and no paper has them.
    """

    overall: float
    by_column: dict[str, float]
    against_input: tuple[str, ...]

    @classmethod
    def of(cls, release: Release | SparkRelease) -> DetailLost:
        """Return the figures of the certificate, and those against the input where the certificate has none.

        Both measure how wide the published values are: the certificate as a share of all that is published, or of the hierarchy;
        ``release.loss`` as a share of what the input has. One release has one figure for a column wherever people look at it.
        """
        stated, own = release.certificate["loss"], release.loss.by_attribute["gcp"]
        public = stated.get("by_attribute", {}).get("gcp", {})
        by_column = {name: public.get(name, lost) for name, lost in own.items()}
        return cls(stated.get("gcp", release.loss["gcp"]), by_column, tuple(name for name in own if name not in public))


def commonest_shares(release: Release) -> dict[str, Fraction]:
    """Return the share of the rows of a release that have the commonest value of each sensitive column; missing is a value."""
    counts = {name: np.bincount(release._details.codes_of(name)) for name in release.audit.sensitive}
    return {name: Fraction(int(found.max()), int(found.sum())) for name, found in counts.items()}
