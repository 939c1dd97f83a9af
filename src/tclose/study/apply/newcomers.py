"""Newcomers: what is published of new rows, and which of them are of persons who are in the release already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tclose.distances.choose import as_number
from tclose.errors import PolicyError
from tclose.policy import Policy
from tclose.release.opened import Opened
from tclose.tables.readers import open_reader
from tclose.tables.table import open_table
from tclose.values.arrays import Bools
from tclose.values.bins import interval_of


def known_persons(opened: Opened, policy: Policy, people: Sequence[Any] | None) -> Bools:
    """Return which new rows are of persons who are in the release already: a unit, or some identifier, is the same.

    Parameters
    ----------
    people
        Tables with the identifiers of those who are in the release.

    Raises
    ------
    PolicyError
        The policy names identifiers, and the people of the release are not given.
    """
    names = [opened.unit] if opened.unit is not None else list(policy.identifiers)
    if names and not people:
        raise PolicyError(
            f"A person must not be in the release twice, and {names[0]!r} says who is who. Give the table that the release was "
            "made from (people, or --people): its identifiers are compared, and nothing else of it is read."
        )
    rows = len(opened.source.column(policy.quasi[0].name))
    found = np.zeros(rows, dtype=np.bool_)
    for table in people or ():
        source = open_table(open_reader(table, policy.input), dict.fromkeys(names, "text"), given=policy.input)
        for name in names:
            there = set(source.column(name).to_pylist()) - {None}
            found |= np.array([person in there for person in opened.source.column(name).to_pylist()], dtype=np.bool_)
    return found


def published_values(opened: Opened, policy: Policy, old: pa.Table) -> tuple[pa.Table, Bools]:
    """Return the sensitive and kept columns of new rows as they would be published, with the unit, and which rows can be.

    A value of a column that is published in intervals gets the published label that contains it; without one the row cannot be
    published.
    """
    source = opened.source
    rows = len(source.column(policy.quasi[0].name))
    known = np.ones(rows, dtype=np.bool_)
    names = [*opened.roles.kept, *([] if opened.unit is None else [opened.unit])]
    found = dict(zip(names, source.take(names, np.arange(rows)).columns, strict=True)) if names else {}
    for column in policy.sensitive:
        values = source.take([column.name], np.arange(rows))[column.name]
        if column.bins is not None and column.publish is None:
            labels = _labels(values.to_pylist(), sorted(set(old[column.name].to_pylist()) - {None}))
            known &= np.array(
                [value is None or label is not None for value, label in zip(values.to_pylist(), labels, strict=True)]
            )
            values = pa.chunked_array([pa.array(labels, pa.string())])
        found[column.name] = values
    return pa.table(found), known


def _labels(values: Sequence[Any], labels: Sequence[str]) -> list[str | None]:
    """Return for each value the label of the published interval that contains it; None if there is none."""
    intervals = [(interval_of(label), label) for label in labels]
    chosen: dict[Any, str | None] = {None: None}
    for value in set(values) - {None}:
        number = as_number(value)
        chosen[value] = next((label for ends, label in intervals if ends is not None and ends[0] <= number < ends[1]), None)
    return [chosen[value] for value in values]
