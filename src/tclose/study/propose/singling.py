"""Singling out: how many rows a set of columns tells from those of everybody else."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose import jobs
from tclose.study.propose.columns import Column
from tclose.study.propose.samples import sample_rows
from tclose.values.arrays import Ints, renumber
from tclose.values.exact import INT64_MAX

MOST_COLUMNS = 20
"""Sets are made of this many columns at most: those that single out most by themselves."""

MOST_ROWS = {1: None, 2: 1_000_000, 3: 100_000}
"""Rows that are counted for sets of each size at most; of more a sample is counted."""

DENSE = 4
"""Keys below a bound of at most this many times their number are counted in a table of all possible keys, without sorting."""


class SingledOut(NamedTuple):
    """How many rows a set of columns singles out: those whose values together no other person has.

    Attributes
    ----------
    columns : tuple of str
    rows, of : int
        The rows that are singled out, of those that were counted.
    estimate : bool
        Whether a sample was counted. In a sample more rows are singled out than in the table: fewer people are there to share
        their values.
    """

    columns: tuple[str, ...]
    rows: int
    of: int
    estimate: bool

    @property
    def share(self) -> float:
        """The share of the rows that are singled out."""
        return self.rows / self.of


def count_singled_out(codes: Sequence[tuple[NDArray[Any], int]], persons: NDArray[Any] | None = None) -> int:
    """Return the number of rows whose combination of codes no other row, or no other person, has.

    Parameters
    ----------
    codes
        For each column the code of each row, and a number above all codes.
    persons : (rows,) integers or None
        The person of each row; None if each row is one.

    Examples
    --------
    >>> sex, age = np.array([0, 0, 1, 1]), np.array([3, 3, 5, 6])
    >>> count_singled_out([(sex, 2)]), count_singled_out([(sex, 2), (age, 7)])
    (0, 2)
    >>> count_singled_out([(sex, 2)], persons=np.array([8, 9, 4, 4]))
    2
    """
    return _count_single_keys(*_keys(codes), persons)


def _keys(codes: Sequence[tuple[NDArray[Any], int]]) -> tuple[Ints, int]:
    """Return a key for each row, the same for the same combination of codes, and a number above all keys."""
    keys, bound = np.zeros(len(codes[0][0]), dtype=np.int64), 1
    for own, size in codes:
        if bound * size > INT64_MAX:
            keys, some = renumber(keys)
            bound = len(some)
        keys, bound = keys * size + own, bound * size
    return keys, bound


def _count_single_keys(keys: Ints, bound: int, persons: NDArray[Any] | None) -> int:
    """Return the number of rows whose key no other row, or no other person, has; keys are below a bound."""
    if persons is not None:
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
        owners = persons[order]
        alone = np.minimum.reduceat(owners, starts) == np.maximum.reduceat(owners, starts)
        return int(np.diff(np.append(starts, len(keys)))[alone].sum())
    if bound <= DENSE * len(keys):
        return int(np.count_nonzero(np.bincount(keys, minlength=bound) == 1))
    ordered = np.sort(keys)
    new = np.diff(ordered, prepend=-1, append=INT64_MAX) != 0
    return int(np.count_nonzero(new[1:] & new[:-1]))


def singled_out(columns: Sequence[Column], everything: Sequence[Column], unit: Column | None) -> list[SingledOut]:
    """Return how many rows each column, and each set of two or three columns, singles out; the largest shares first.

    Parameters
    ----------
    columns
        Those that are counted: not identifiers.
    everything
        All columns, by which a sample is chosen.
    """
    alone = _count_sets([(column,) for column in columns], everything, unit)
    ranked = sorted(range(len(columns)), key=lambda index: (-alone[index].rows, -columns[index].values))[:MOST_COLUMNS]
    chosen = [columns[index] for index in sorted(ranked)]
    found = [*alone]
    for size in (2, 3):
        jobs.report(f"sets of {size} columns")
        found += _count_sets(list(combinations(chosen, size)), everything, unit)
    return sorted(found, key=lambda one: (len(one.columns), -one.rows))


def _count_sets(sets: Sequence[tuple[Column, ...]], everything: Sequence[Column], unit: Column | None) -> list[SingledOut]:
    """Return how many rows each of some sets of columns, all of one size, singles out."""
    if not sets:
        return []
    most = MOST_ROWS[len(sets[0])]
    total = everything[0].rows
    rows = slice(None) if most is None or total <= most else sample_rows(everything, unit, most)
    names = {column.name: column for one in sets for column in one}
    codes = {name: (column.codes[rows].astype(np.int64), len(column.domain)) for name, column in names.items()}
    persons = None if unit is None else unit.codes[rows]
    counted = len(next(iter(codes.values()))[0])
    found = []
    for first, those in groupby(sets, key=lambda one: [column.name for column in one[:-1]]):  # most begin as the one before
        begun = []
        if first:
            numbers, some = renumber(*_keys([codes[name] for name in first]))
            begun = [(numbers, len(some))]
        for one in those:
            jobs.check()
            rest = count_singled_out([*begun, codes[one[-1].name]], persons)
            found.append(SingledOut(tuple(column.name for column in one), rest, counted, counted < total))
    return found
