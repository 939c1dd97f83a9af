"""Tallies: the sensitive values of a class that grows, and how far from its limits it would be with one row more."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.make.kernels.compiling import lean, once
from tclose.make.kernels.excess import excess
from tclose.make.kernels.limits import Codes, Ints, Limits
from tclose.make.kernels.loss import Floats
from tclose.make.kernels.satisfies import Scratch, scratch_for

PERSONS, FOUND = range(2)
"""What `Tallies.numbers` holds: how many persons the class has, and how many excesses are known."""


class Tallies(NamedTuple):
    """The counts of a class in all sensitive columns, and what is known of its excess with one row more."""

    starts: Ints
    """(columns + 1,): where the values of each column start in counts, touched, excesses and known."""
    counts: Ints
    """Rows at each value."""
    touched: Ints
    """Values that occur, at the start of each column's part."""
    distinct: Ints
    """(columns,): how many they are."""
    seen: NDArray[np.bool_]
    """(persons,): whether the class has a row of each."""
    numbers: Ints
    """See `PERSONS` and `FOUND`."""
    excesses: Floats
    """The excess of the column with one row more of each value; 0 where it is not known,"""
    known: NDArray[np.bool_]
    """and whether it is."""
    found: Ints
    """Places where it is known."""
    scratch: Scratch
    """Room for checks."""
    excess: int
    """The address of `excess`."""


def tallies_for(limits: Limits) -> Tallies:
    """Room for the counts of one class, which has no row."""
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
def drop_all(limits: Limits, tallies: Tallies, rows: Codes) -> None:
    """Let the class, which has these rows, have none."""
    for number in range(len(limits.columns)):
        start = tallies.starts[number]
        for place in range(start, start + tallies.distinct[number]):
            tallies.counts[start + tallies.touched[place]] = 0
        tallies.distinct[number] = 0
    if len(limits.persons):
        for row in rows:
            tallies.seen[limits.persons[row]] = False
    tallies.numbers[PERSONS] = 0
    _forget(tallies)


@lean
def take(limits: Limits, tallies: Tallies, row: int) -> None:
    """Take one row in."""
    for number in range(len(limits.columns)):
        start, code = tallies.starts[number], limits.codes[number, row]
        if tallies.counts[start + code] == 0:
            tallies.touched[start + tallies.distinct[number]] = code
            tallies.distinct[number] += 1
        tallies.counts[start + code] += 1
    if len(limits.persons) and not tallies.seen[limits.persons[row]]:
        tallies.seen[limits.persons[row]] = True
        tallies.numbers[PERSONS] += 1
    _forget(tallies)


@lean
def _forget(tallies: Tallies) -> None:
    """Let no excess be known: the class is another one."""
    for place in tallies.found[: tallies.numbers[FOUND]]:
        tallies.excesses[place] = 0.0
        tallies.known[place] = False
    tallies.numbers[FOUND] = 0


@once
def known_with(limits: Limits, tallies: Tallies, row: int) -> float:
    """What is known of the excess of the class with one row more: it is not below that."""
    total = _missing_persons(limits, tallies, row)
    for number in range(len(limits.columns)):
        total += tallies.excesses[tallies.starts[number] + limits.codes[number, row]]
    return total


@lean
def excess_with(limits: Limits, tallies: Tallies, size: int, row: int) -> float:
    """The excess of the class, which has so many rows, with one row more: of all columns, and (k - persons) / k."""
    for number in range(len(limits.columns)):
        code = limits.codes[number, row]
        place = tallies.starts[number] + code
        if not tallies.known[place]:
            tallies.excesses[place] = _find(limits, tallies, number, size, code)
            tallies.known[place] = True
            tallies.found[tallies.numbers[FOUND]] = place
            tallies.numbers[FOUND] += 1
    return known_with(limits, tallies, row)


@once
def _missing_persons(limits: Limits, tallies: Tallies, row: int) -> float:
    """The share of k persons that the class would not have; 0 where rows are counted."""
    if len(limits.persons) == 0:
        return 0.0
    found = tallies.numbers[PERSONS] + (not tallies.seen[limits.persons[row]])
    missing: float = max(0.0, (limits.k - found) / limits.k)
    return missing


@once
def _find(limits: Limits, tallies: Tallies, number: int, size: int, code: int) -> float:
    """The excess of one column with one row more of a value."""
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
    if new:  # it may have been sorted in between others
        place = 0
        while touched[place] != code:
            place += 1
        touched[place] = touched[distinct]
    return found
