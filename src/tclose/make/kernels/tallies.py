"""Tallies: the counts of a growing class at each sensitive value, and its excess with one more row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tclose.make.kernels.compiling import lean, once
from tclose.make.kernels.excess import excess
from tclose.make.kernels.limits import Limits
from tclose.make.kernels.satisfies import scratch_for
from tclose.make.kernels.scratch import Scratch
from tclose.values.arrays import Bools, Codes, Floats, Ints

PERSONS, CACHED = range(2)
"""The entries of `Tallies.numbers`: how many persons the class has, and how many excesses are cached."""


class Tallies(NamedTuple):
    """The counts of a class in all sensitive columns, and a cache of its excesses with one more row."""

    starts: Ints
    """(columns + 1,): where the values of each column start in counts, touched, excesses and known."""
    counts: Ints
    """Number of rows at each value."""
    touched: Ints
    """The values that occur, at the start of each column's part."""
    distinct: Ints
    """(columns,): how many values occur."""
    seen: Bools
    """(persons,): whether the class has a row of each person."""
    numbers: Ints
    """See `PERSONS` and `CACHED`."""
    excesses: Floats
    """The excess of the column with one more row of each value; 0 if it is not known."""
    known: Bools
    """Whether the excess is known."""
    cached: Ints
    """The indices of the excesses that are known."""
    scratch: Scratch
    excess: int
    """The address of `tclose.make.kernels.excess.excess`."""


def tallies_for(limits: Limits) -> Tallies:
    """Return the tallies of an empty class."""
    starts = np.concatenate([[0], np.cumsum(limits.columns["size"])]).astype(np.int64)
    values = int(starts[-1])
    return Tallies(
        starts,
        np.zeros(values, dtype=np.int64),
        np.empty(values, dtype=np.int64),
        np.zeros(len(limits.columns), dtype=np.int64),
        np.zeros(1 + int(limits.persons.max(initial=-1)), dtype=np.bool_),
        np.zeros(2, dtype=np.int64),
        np.zeros(values, dtype=np.float64),
        np.zeros(values, dtype=np.bool_),
        np.empty(values, dtype=np.int64),
        scratch_for(limits),
        excess.address(),
    )


@lean
def reset(limits: Limits, tallies: Tallies, rows: Codes) -> None:
    """Reset to an empty class; ``rows`` are those that the class has."""
    for number in range(len(limits.columns)):
        start = tallies.starts[number]
        for index in range(start, start + tallies.distinct[number]):
            tallies.counts[start + tallies.touched[index]] = 0
        tallies.distinct[number] = 0
    if len(limits.persons):
        for row in rows:
            tallies.seen[limits.persons[row]] = False
    tallies.numbers[PERSONS] = 0
    _invalidate(tallies)


@lean
def add(limits: Limits, tallies: Tallies, row: int) -> None:
    """Add one row to the class."""
    for number in range(len(limits.columns)):
        start, code = tallies.starts[number], limits.codes[number, row]
        if tallies.counts[start + code] == 0:
            tallies.touched[start + tallies.distinct[number]] = code
            tallies.distinct[number] += 1
        tallies.counts[start + code] += 1
    if len(limits.persons) and not tallies.seen[limits.persons[row]]:
        tallies.seen[limits.persons[row]] = True
        tallies.numbers[PERSONS] += 1
    _invalidate(tallies)


@lean
def _invalidate(tallies: Tallies) -> None:
    """Invalidate the cached excesses."""
    for index in tallies.cached[: tallies.numbers[CACHED]]:
        tallies.excesses[index] = 0.0
        tallies.known[index] = False
    tallies.numbers[CACHED] = 0


@once
def least_excess_with(limits: Limits, tallies: Tallies, row: int) -> float:
    """Return a lower bound, from the cache alone, on the excess of the class with one more row."""
    total = _missing_persons(limits, tallies, row)
    for number in range(len(limits.columns)):
        total += tallies.excesses[tallies.starts[number] + limits.codes[number, row]]
    return total


@lean
def excess_with(limits: Limits, tallies: Tallies, size: int, row: int) -> float:
    """Return the excess of the class of ``size`` rows with one more row: the sum over all columns, plus (k - persons) / k."""
    for number in range(len(limits.columns)):
        code = limits.codes[number, row]
        index = tallies.starts[number] + code
        if not tallies.known[index]:
            tallies.excesses[index] = _column_excess(limits, tallies, number, size, code)
            tallies.known[index] = True
            tallies.cached[tallies.numbers[CACHED]] = index
            tallies.numbers[CACHED] += 1
    return least_excess_with(limits, tallies, row)


@once
def _missing_persons(limits: Limits, tallies: Tallies, row: int) -> float:
    """Return the share of k persons that the class lacks with one more row; 0 if rows are counted."""
    if len(limits.persons) == 0:
        return 0.0
    found = tallies.numbers[PERSONS] + (not tallies.seen[limits.persons[row]])
    missing: float = max(0.0, (limits.k - found) / limits.k)
    return missing


@once
def _column_excess(limits: Limits, tallies: Tallies, number: int, size: int, code: int) -> float:
    """Return the excess of one column with one more row of a value."""
    start, end, distinct = tallies.starts[number], tallies.starts[number + 1], tallies.distinct[number]
    counts, touched, scratch = tallies.counts[start:end], tallies.touched[start:end], tallies.scratch
    new = counts[code] == 0
    counts[code] += 1
    if new:
        touched[distinct] = code
    found: float = excess(
        tallies.excess,
        limits,
        number,
        size + 1,
        distinct + new,
        Scratch(counts, touched, scratch.further, scratch.spare, scratch.marks, scratch.nobody, scratch.column_satisfies),
    )
    counts[code] -= 1
    if new:  # sorting may have moved the new value
        index = 0
        while touched[index] != code:
            index += 1
        touched[index] = touched[distinct]
    return found
