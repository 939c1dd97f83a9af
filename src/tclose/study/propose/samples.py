"""Samples: some rows of a table, chosen at random, the same for every order of its rows; all rows of a person, or none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tclose.study.propose.columns import Column
from tclose.tables.coded import sorted_order
from tclose.values.arrays import Ints

SEED = 0


def sample_rows(columns: Sequence[Column], unit: Column | None, most: int) -> Ints:
    """Return the indices of at most ``most`` rows, ascending; all rows of a table that has no more.

    With a unit, persons are chosen, each with all rows, up to the first that would be too much; at least one person is chosen.
    """
    rows = columns[0].rows
    if rows <= most:
        return np.arange(rows)
    random = np.random.default_rng(SEED)
    if unit is None:
        order = sorted_order([(column.codes, len(column.domain)) for column in columns])
        return np.sort(order[random.choice(rows, most, replace=False)])
    persons = random.permutation(len(unit.domain))
    fitting = int(np.searchsorted(np.cumsum(unit.counts[persons]), most, side="right"))
    chosen = np.zeros(len(unit.domain), dtype=np.bool_)
    chosen[persons[: max(fitting, 1)]] = True
    return np.flatnonzero(chosen[unit.codes])
