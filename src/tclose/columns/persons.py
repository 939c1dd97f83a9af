"""Persons: whom k and l count, rows or the persons that a column names."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from tclose.errors import InputError, PolicyError, PrivacyRiskWarning
from tclose.policy import Policy
from tclose.tables.coded import Codes
from tclose.tables.table import Table
from tclose.values.exact import in_row, number_of

FEWEST_ROWS, FEWEST_COLUMNS = 10, 4
"""Rows and columns below which rows that are nearly the same say nothing."""

NEARLY_SAME = 0.1
"""The share of the rows that are nearly the same as the row before, from which on they may be several rows of one person."""

BY_CHANCE = 5
"""That share is at least this many times the share that the same rows have in a random order."""

REMEDY = "Set unit to the column that names a person, or unit: row if each row is one."


def unit_to_release(source: Table, policy: Policy) -> str | None:
    """Return the column that names the persons to count in a release; None if each row is a person.

    The unit is a column of the table: `tclose.columns.roles.roles_of` has seen to it.

    Raises
    ------
    InputError
        The unit is missing in some row.
    PolicyError
        The policy names no unit, and an identifier repeats: rows and persons are not the same.
    """
    if policy.unit is not None:
        return _named_unit(source, policy)
    repeated = _repeated_identifiers(source, policy)
    if not repeated:
        return None
    name, (rows, values) = next(iter(repeated.items()))
    raise PolicyError(
        f"Identifier {name!r} has {number_of(values, 'value')} in {rows:,} rows: some persons have several rows. {REMEDY}"
    )


def unit_to_audit(source: Table, policy: Policy, warn: Callable[[str], None]) -> str | None:
    """Return the column that names the persons to count in an audit; None if rows are counted.

    An audit may lack the unit, as a release does, and may be of a table with repeated identifiers and no unit. ``warn`` is called
    with a sentence then.

    Raises
    ------
    InputError
        The unit is missing in some row.
    """
    if policy.unit not in (None, "row") and policy.unit not in source:
        warn(f"The unit {policy.unit!r} is not a column of the table, so k and l count rows, not persons.")
        return None
    if policy.unit is not None:
        return _named_unit(source, policy)
    repeated = _repeated_identifiers(source, policy)
    if not repeated:
        return None
    unit = min(repeated, key=lambda name: repeated[name][1])  # the fewest persons: k is not shown larger than it is
    found = ", ".join(
        f"{name!r} has {number_of(values, 'value')} in {number_of(rows, 'row')}" for name, (rows, values) in repeated.items()
    )
    warn(f"Identifiers repeat: {found}. k is given in rows, and in persons as {unit!r} names them. {REMEDY}")
    return unit


def _named_unit(source: Table, policy: Policy) -> str | None:
    """Return the column that the policy names as the unit; None for ``unit: row``. Raise InputError if it has missing cells."""
    if policy.unit == "row":
        return None
    unit = str(policy.unit)
    count, row = source.missing(unit)
    if count:
        raise InputError(
            f"The unit {unit!r} must name a person in every row. Got {count} missing{in_row(', the first in row', row)}."
        )
    return unit


def _repeated_identifiers(source: Table, policy: Policy) -> dict[str, tuple[int, int]]:
    """Return the identifiers with fewer different values than rows, each with its numbers of rows and of values."""
    counts = {str(name): source.count_values(name) for name in policy.identifiers if name in source}
    return {name: (rows, values) for name, (rows, values) in counts.items() if values < rows}


def rows_like_the_row_before(columns: Sequence[Codes]) -> float:
    """Return the share of rows that agree with the row before in all columns but one at most; 0 if that may be chance.

    Several rows of one person agree so if they stand together: they differ only in what has changed in between.

    Parameters
    ----------
    columns
        The codes of each column that has several values, and some value twice: the others tell nothing.
    """
    if len(columns) < FEWEST_COLUMNS or len(columns[0]) < FEWEST_ROWS:
        return 0.0
    rows = len(columns[0])
    found = _nearly_same(columns, rows)
    if found < NEARLY_SAME:
        return 0.0
    order = np.random.default_rng(0).permutation(rows)
    by_chance = _nearly_same((own[order] for own in columns), rows)  # one by one: a large table has no room for all again
    return found if found >= BY_CHANCE * by_chance else 0.0


def _nearly_same(columns: Iterable[Codes], rows: int) -> float:
    """Return the share of rows that agree with the row before in all columns but one at most."""
    different = np.zeros(rows - 1, dtype=np.int32)
    for codes in columns:
        different += codes[1:] != codes[:-1]
    return float((different <= 1).sum() / rows)


def warn_of_risk(sentence: str) -> None:
    """Warn the caller of a public function, with a sentence, that numbers may promise more protection than there is."""
    warnings.warn(sentence, PrivacyRiskWarning, stacklevel=6)  # shown at the line that called the public function
