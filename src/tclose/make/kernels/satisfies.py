"""Whether a set of rows satisfies all limits of a class. The kernels share nothing with `tclose.judge.models`.

A check of s rows with r distinct values takes O(s + r log r), however large the domain: counts are kept in `Scratch` and reset
by the list of touched values. The limits of a sensitive column are in `tclose.make.models`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import boolean
from numpy.typing import NDArray

from tclose.make.kernels.compiling import apart, kernel, lean, once
from tclose.make.kernels.emd import flow_size
from tclose.make.kernels.limits import BLANK as NO_LIMITS
from tclose.make.kernels.limits import Limits
from tclose.make.kernels.running import run
from tclose.make.kernels.scratch import BLANK, Scratch
from tclose.make.kernels.shapes import MATRIX
from tclose.make.models import satisfies_all
from tclose.values.arrays import Bools, Bytes, Codes, Ints


def scratch_for(limits: Limits) -> Scratch:
    """Return scratch memory for checks against these limits."""
    values, nodes = int(limits.columns["size"].max()), int(limits.attributes["nodes"].max())
    metric = int(limits.attributes["size"][limits.attributes["kind"] == MATRIX].max(initial=0))
    return Scratch(
        np.zeros(values, dtype=np.int64),
        np.empty(values, dtype=np.int64),
        np.zeros(max(nodes, values if len(limits.persons) else 0), dtype=np.int64),
        np.empty(max(values, nodes, flow_size(metric)), dtype=np.int64),
        np.zeros(limits.marks, dtype=np.bool_),
        np.empty(0, dtype=np.int32),
        column_satisfies.address(),
    )


def failing(limits: Limits, rows: NDArray[Any], starts: Ints) -> Bools:
    """Return for each class whether it fails a limit. Class i has the rows ``rows[starts[i]:starts[i+1]]``."""
    bad = np.empty(len(starts) - 1, dtype=np.bool_)
    run(find_failing, limits, np.ascontiguousarray(rows, dtype=np.int32), starts.astype(np.int64), scratch_for(limits), bad)
    return bad


@kernel
def find_failing(limits: Limits, rows: Codes, starts: Ints, scratch: Scratch, bad: Bools, cancel: Bytes) -> None:
    """Fill in for each class whether it fails a limit."""
    for number in range(len(bad)):
        if cancel[0]:
            return
        bad[number] = not satisfies(limits, limits.references, rows[starts[number] : starts[number + 1]], scratch)


@lean
def satisfies(limits: Limits, references: Ints, rows: Codes, scratch: Scratch) -> bool:
    """Return whether a class of these rows satisfies all limits, its t against any one of the references.

    ``limits.references`` has one reference, the table. Under (n,t)-closeness an algorithm may give regions instead; the last is
    tried first. A class of at least n rows is a region itself.
    """
    if len(rows) < limits.k:  # fewer rows are fewer persons too
        return False
    if len(limits.persons) and not _has_persons(limits.persons, rows, limits.k, scratch.marks):
        return False
    for number in range(len(limits.columns)):
        touched = scratch.touched[: tally(limits.codes[number], rows, scratch.counts, scratch.touched)]
        if not column_satisfies(scratch.column_satisfies, limits, references, number, rows, len(rows), scratch, touched):
            return False
    return True


@once
def satisfies_with(limits: Limits, tallies: Codes, size: int, row: int, change: int, scratch: Scratch) -> bool:
    """Return whether a class of ``size`` rows would satisfy all limits after adding (change 1) or removing (-1) ``row``.

    ``tallies`` has the number of rows at each value before the change, column after column. The time depends on the size of the
    domains, not on that of the class. Only for limits that count no persons.
    """
    if size + change < limits.k:
        return False
    start = 0
    for number in range(len(limits.columns)):
        m, changed = limits.columns[number].size, limits.codes[number, row]
        distinct = 0
        for code in range(m):
            count = tallies[start + code]
            if code == changed:
                count += change
            scratch.counts[code] = count
            scratch.touched[distinct] = code  # overwritten if the value does not occur
            distinct += count > 0
        start += m
        touched = scratch.touched[:distinct]
        if not column_satisfies(
            scratch.column_satisfies, limits, limits.references, number, scratch.nobody, size + change, scratch, touched
        ):
            return False
    return True


@apart(boolean, NO_LIMITS, NO_LIMITS.references, 0, BLANK.nobody, 0, BLANK, BLANK.touched)
def column_satisfies(
    limits: Limits, references: Ints, number: int, rows: Codes, size: int, scratch: Scratch, touched: Ints
) -> bool:
    """Return whether one tallied column satisfies its limits. Afterwards its counts are 0."""
    fine = satisfies_all(limits, references, number, rows, size, scratch, touched)
    for code in touched:
        scratch.counts[code] = 0
    return fine


@once
def tally(codes: Codes, rows: Codes, counts: Ints, touched: Ints) -> int:
    """Count the rows at each value, list the values that occur, and return how many there are."""
    distinct = 0
    for row in rows:
        code = codes[row]
        if counts[code] == 0:
            touched[distinct] = code
            distinct += 1
        counts[code] += 1
    return distinct


@once
def _has_persons(persons: Codes, rows: Codes, k: int, marks: Bools) -> bool:
    """Return whether the rows are about at least k different persons."""
    found, seen = 0, 0
    for row in rows:
        seen += 1
        if not marks[persons[row]]:
            marks[persons[row]] = True
            found += 1
            if found == k:
                break
    for row in rows[:seen]:
        marks[persons[row]] = False
    return found >= k
