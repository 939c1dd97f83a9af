"""Costs: what three values of t cost in information, tried on a sample of the table."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from tclose.columns.roles import roles_of
from tclose.errors import GateError, PrivacyRiskWarning, ReadingWarning, TcloseError
from tclose.policy import Policy
from tclose.release.anonymize import anonymize
from tclose.release.detail import DetailLost, commonest_shares
from tclose.release.published import on_chosen_grids
from tclose.tables.reader import Reader
from tclose.tables.table import open_table
from tclose.values.arrays import Ints

LIMITS = (0.1, 0.2, 0.3)
"""The t that are tried."""

MOST_ROWS, FEWEST_ROWS = 10_000, 1_000
"""Rows of the sample: fewer, but not below the second, where there are many quasi-identifiers."""

CELLS = 200_000
"""Cells of quasi-identifiers in the sample: with 20 of them it has all of its rows."""


class Cost(NamedTuple):
    """What a t costs on a sample.

    Attributes
    ----------
    t : float
        Of all sensitive columns.
    gcp : float or None
        The information loss of the release, from 0 to 1, as its screen and its report state it; None if none was made.
    classes : int or None
    refusal : str or None
        Why no release was made, in a sentence.
    shares : dict
        For each sensitive column the largest share of one value in a class, and in the sample; empty if none was made.
    """

    t: float
    gcp: float | None
    classes: int | None
    refusal: str | None
    shares: dict[str, tuple[float, float]]


def rows_to_try(policy: Policy) -> int:
    """Return the number of rows of the sample at most: fewer where the releases would take minutes."""
    return min(MOST_ROWS, max(FEWEST_ROWS, CELLS // len(policy.quasi)))


def costs_of_t(
    reader: Reader, policy: Policy, grids: Mapping[str, Mapping[str, Any]], rows: Ints, limits: Sequence[float] = LIMITS
) -> list[Cost]:
    """Return what each of some values of t costs on some rows of a table.

    Parameters
    ----------
    grids
        The snap, top and bottom of each quasi-identifier with ``snap: auto``, as all rows have them: a sample may have others.
    rows
        The indices of the rows.
    """
    source = open_table(reader, roles_of(policy, reader).kinds, given=policy.input)
    sample = source.take(list(source.kinds), rows)
    asked = replace(on_chosen_grids(policy, grids), input=None, identifiers=[], drop=[])
    found = []
    for t in limits:
        limited = replace(asked, sensitive=[replace(column, t=t) for column in asked.sensitive])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", (ReadingWarning, PrivacyRiskWarning))  # the proposal says how columns are read
            found.append(_cost(sample, limited, t))
    return found


def _cost(sample: Any, policy: Policy, t: float) -> Cost:
    """Return what the release of a sample costs."""
    try:
        release = anonymize(sample, policy)
    except GateError:
        raise
    except TcloseError as error:
        return Cost(t, None, None, str(error), {})
    of_table = commonest_shares(release)
    shares = {name: (found.share, float(of_table[name])) for name, found in release.audit.sensitive.items()}
    return Cost(t, DetailLost.of(release).overall, release.audit.classes, None, shares)
