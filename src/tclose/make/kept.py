"""Kept values: refuse to publish a column as it is, or as sets of its values, where its values would name people."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tclose.errors import PolicyError
from tclose.make.encode import EncodedTable
from tclose.make.scales import Nominal, Scale
from tclose.policy import Policy, Quasi
from tclose.values.arrays import Ints
from tclose.values.exact import number_of

LONGEST_LABEL = 40
"""Letters, on average: longer texts are free text, in which people write names."""

MOST_WORDS = 5
"""Words, on average: texts with as many or more are free text too."""

FEW = 8
"""A quasi-identifier with fewer values than this is a list of categories, in however small a table."""


def check_kept(table: EncodedTable, policy: Policy) -> None:
    """Raise PolicyError for a kept column that is nearly unique, or free text, unless the policy gives a reason."""
    for name, column in table.kept.items():
        check_kept_values(name, column.values, np.bincount(column.codes, minlength=len(column.values)), policy)


def check_kept_values(name: str, values: pa.Array, counts: Ints, policy: Policy) -> None:
    """Raise PolicyError for a kept column, of which the values and their numbers of rows are known; see `check_kept`."""
    reasons = {column.name: column.despite for column in policy.keep}
    danger = "" if reasons.get(name) else _danger_of_keeping(values, counts)
    if danger:
        raise PolicyError(
            f"Column {name!r} must not be kept as it is: {danger}. Drop it, give it a role, or keep it with {{despite: reason}}."
        )


def check_quasi(table: EncodedTable, policy: Policy) -> None:
    """Raise PolicyError for a quasi-identifier that would publish nearly unique values in sets, unless a reason is given."""
    for column, scale, codes, kind in zip(policy.quasi, table.scales, table.quasi, table.types, strict=True):
        check_quasi_values(column, scale, kind, np.bincount(codes, minlength=scale.size))


def check_quasi_values(column: Quasi, scale: Scale, kind: Any, counts: Ints) -> None:
    """Raise PolicyError for a quasi-identifier, of which the number of rows at each code is known; see `check_quasi`."""
    chosen = column.recode == "set" and not pa.types.is_string(kind)  # numbers, in sets by the owner's own choice
    if not isinstance(scale, Nominal) or chosen or column.despite:
        return
    values, rows = int(np.count_nonzero(counts[: scale.size - scale.missing])), int(counts.sum())
    if values >= FEW and is_nearly_unique(values, rows):
        raise PolicyError(
            f"Quasi-identifier {column.name!r} has {number_of(values, 'value')} in {rows:,} rows, nearly one for each, and the "
            "release would list them in sets. Make it an identifier, publish it by a hierarchy, or set despite: reason."
        )


def _danger_of_keeping(values: pa.Array, counts: Ints) -> str:
    """Return why a column must not be kept as it is, for a sentence; an empty text if nothing speaks against it."""
    rows = int(counts.sum())
    present = values.drop_null()
    if is_nearly_unique(len(present), rows):
        return f"it has {number_of(len(present), 'value')} in {rows:,} rows, nearly one for each"
    return "it is free text" if is_free_text(present, counts[: len(present)]) else ""


def is_free_text(values: pa.Array, counts: Ints) -> bool:
    """Whether a column has texts of many letters or words, in which people write names.

    Parameters
    ----------
    values, counts
        The values of the column, none of them missing, and the number of rows with each.
    """
    if not pa.types.is_string(values.type) or not len(values):
        return False
    letters = np.average(pc.utf8_length(values).to_numpy(zero_copy_only=False), weights=counts)
    words = np.average(pc.count_substring_regex(values, r"\S+").to_numpy(zero_copy_only=False), weights=counts)
    return bool(letters > LONGEST_LABEL or words >= MOST_WORDS)


def is_nearly_unique(values: int, rows: int) -> bool:
    """Whether a column has more than one value for every two rows, on average, so that its values may name people."""
    return rows > 1 and 2 * values > rows
