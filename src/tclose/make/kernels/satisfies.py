"""Checks: whether a set of rows may be a class. Kernels over `Limits`; they share nothing with `tclose.judge.models`.

A check of s rows with r distinct values takes O(s + r log r), however large the domain: counts are kept in `Scratch` and
cleared by the list of touched values. What is cheap, and fails most, comes first.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import boolean
from numpy.typing import NDArray

from tclose.make.kernels.closeness import close
from tclose.make.kernels.compiling import apart, kernel, lean, once
from tclose.make.kernels.flow import room_for
from tclose.make.kernels.limits import BLANK as NO_LIMITS
from tclose.make.kernels.limits import (
    DISTINCT,
    ENHANCED,
    ENTROPY,
    LINE,
    MATRIX,
    NEAR,
    STRICT,
    TREE,
    UNLIMITED,
    Codes,
    Ints,
    Limits,
)
from tclose.make.kernels.running import run
from tclose.make.kernels.small import at_most, sort


class Scratch(NamedTuple):
    """Room for one thread's checks; between checks all counts and marks are 0."""

    counts: Ints
    """Rows at each value."""
    touched: Ints
    """Values that occur."""
    further: Ints
    """Persons at each value, or rows below each node of a tree."""
    spare: Ints
    """What one part of a check works with: counts to be sorted, touched nodes, or a flow."""
    marks: NDArray[np.bool_]
    """Persons, or pairs of person and value, that were seen."""
    nobody: Codes
    """No rows."""
    column_satisfies: int
    """The address of `column_satisfies`."""


_NONE = np.empty(0, dtype=np.int64)
BLANK = Scratch(_NONE, _NONE, _NONE, _NONE, np.empty(0, dtype=np.bool_), np.empty(0, dtype=np.int32), 0)
"""No room: it says to the compiler which types it has."""


def scratch_for(limits: Limits) -> Scratch:
    """Room for checks against these limits."""
    values, nodes = int(limits.columns["size"].max()), int(limits.attributes["nodes"].max())
    places = int(limits.attributes["size"][limits.attributes["kind"] == MATRIX].max(initial=0))
    return Scratch(
        np.zeros(values, dtype=np.int64),
        np.empty(values, dtype=np.int64),
        np.zeros(max(nodes, values if len(limits.persons) else 0), dtype=np.int64),
        np.empty(max(values, nodes, room_for(places)), dtype=np.int64),
        np.zeros(limits.marks, dtype=np.bool_),
        np.empty(0, dtype=np.int32),
        column_satisfies.address(),
    )


def failing(limits: Limits, rows: NDArray[Any], starts: Ints) -> NDArray[np.bool_]:
    """Which classes break a limit; class i holds ``rows[starts[i]:starts[i+1]]``."""
    bad = np.empty(len(starts) - 1, dtype=np.bool_)
    run(find_failing, limits, np.ascontiguousarray(rows, dtype=np.int32), starts.astype(np.int64), scratch_for(limits), bad)
    return bad


@kernel
def find_failing(
    limits: Limits, rows: Codes, starts: Ints, scratch: Scratch, bad: NDArray[np.bool_], cancel: NDArray[np.uint8]
) -> None:
    """Say of each class whether it breaks a limit."""
    for number in range(len(bad)):
        if cancel[0]:
            return
        bad[number] = not satisfies(limits, limits.references, rows[starts[number] : starts[number + 1]], scratch)


@lean
def satisfies(limits: Limits, references: Ints, rows: Codes, scratch: Scratch) -> bool:
    """Whether these rows may be a class: within t of one of the tables or regions in ``references``, the last tried first.

    ``limits.references`` holds one, the table. Under (n,t)-closeness that and a class of n rows itself serve as regions, unless
    others are given.
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
    """Whether a class of ``size`` rows may be one, with a row more (change 1) or less (-1); only where persons are not counted.

    ``tallies`` counts the rows at each value before that, column after column. It takes time with the values of a domain, not
    with the rows of the class.
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
            scratch.touched[distinct] = code  # overwritten if it does not occur
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
    """Whether one tallied column keeps its limits; its counts are 0 afterwards."""
    far = limits.n == 0 or size < limits.n  # else a class is a region itself, at distance 0
    column = limits.columns[number]
    fine = _none_prevails(limits, size, scratch.counts, touched)
    for place in range(column.first, column.last):
        attribute = limits.attributes[place]
        if fine and (attribute.beta_kind > 0 or attribute.delta_kind > 0):
            fine = _lifts_hold(attribute, limits.references, size, scratch.counts, touched)
        if fine and far and attribute.kind != UNLIMITED:
            fine = close(attribute, limits.shapes, references, size, scratch, touched)
    if fine and column.l_kind > 0:
        fine = _diversity_holds(limits, number, rows, scratch, touched)
    for code in touched:
        scratch.counts[code] = 0
    return fine


@once
def tally(codes: Codes, rows: Codes, counts: Ints, touched: Ints) -> int:
    """Count the codes of some rows, list those that occur, and give their number."""
    distinct = 0
    for row in rows:
        code = codes[row]
        if counts[code] == 0:
            touched[distinct] = code
            distinct += 1
        counts[code] += 1
    return distinct


@once
def _has_persons(persons: Codes, rows: Codes, k: int, marks: NDArray[np.bool_]) -> bool:
    """Whether there are k different persons."""
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


@once
def _none_prevails(limits: Limits, size: int, counts: Ints, touched: Ints) -> bool:
    """alpha: the largest share that a value may have."""
    if limits.alpha_above < limits.alpha_below:
        for code in touched:
            if not at_most(counts[code], size, limits.alpha_above, limits.alpha_below):
                return False
    return True


@once
def _lifts_hold(attribute: Any, references: Ints, size: int, counts: Ints, touched: Ints) -> bool:
    """beta and delta: each value's share p = c/s in the class against its share q = T/n in the table."""
    if attribute.delta_kind == STRICT and len(touched) < attribute.occurring:
        return False
    n = references[0, attribute.reference]
    for code in touched:
        T = references[0, attribute.reference + 1 + code]
        above, below = counts[code] * n, size * T  # p/q
        if below == 0:
            return False
        if attribute.beta_kind > 0 and not at_most(above, below, attribute.lift_above, attribute.lift_below):
            return False
        lift = above / below
        if attribute.beta_kind == ENHANCED and above > below and lift - 1 + math.log(T / n) > -NEAR * lift:
            return False
        if attribute.delta_kind > 0 and above != below and abs(math.log(lift)) >= attribute.delta - NEAR * (1 + attribute.delta):
            return False
    return True


@once
def _diversity_holds(limits: Limits, number: int, rows: Codes, scratch: Scratch, touched: Ints) -> bool:
    """The l of one tallied column, over rows and, where they are counted, over persons: a reader can judge rows only."""
    column = limits.columns[number]
    if len(touched) < column.l:  # no reading of l-diversity allows fewer values
        return False
    if column.l_kind == DISTINCT:
        return True
    fine, counts = True, scratch.counts
    for over_persons in range(2 if len(limits.persons) else 1):
        if over_persons:
            _tally_persons(limits.codes[number], limits.pairs[number], rows, scratch)
            counts = scratch.further
        fine = fine and _is_diverse(column, counts, touched, scratch.spare)
    if len(limits.persons):
        for code in touched:
            scratch.further[code] = 0
    return fine


@once
def _tally_persons(codes: Codes, pairs: Codes, rows: Codes, scratch: Scratch) -> None:
    """Count the persons at each value of some rows."""
    for row in rows:
        if not scratch.marks[pairs[row]]:
            scratch.marks[pairs[row]] = True
            scratch.further[codes[row]] += 1
    for row in rows:
        scratch.marks[pairs[row]] = False


@lean
def _is_diverse(column: Any, counts: Ints, touched: Ints, spare: Ints) -> bool:
    """Entropy or recursive l; there are l values at least."""
    ordered, size = spare[: len(touched)], counts[touched[0]]
    ordered[0] = size
    for place in range(1, len(touched)):
        ordered[place] = counts[touched[place]]
        size += ordered[place]
    sort(ordered)  # so that the order of rows makes no difference to floats
    largest = ordered[len(ordered) - 1]
    if column.l_kind == ENTROPY:
        if ordered[0] == largest:  # exp(entropy) is the number of values
            return True
        entropy = math.log(size)
        for count in ordered:
            entropy -= count * math.log(count) / size
        diverse: bool = entropy >= column.log_l + NEAR
        return diverse
    tail = size
    for place in range(len(ordered) - column.l + 1, len(ordered)):  # the l - 1 largest
        tail -= ordered[place]
    return not at_most(column.c_above, column.c_below, largest, tail)


@lean
def fill_reference(limits: Limits, rows: Codes, reference: Ints) -> None:
    """Make a region of some rows: fill in one row of `Limits.references`."""
    for place in range(len(reference)):
        reference[place] = 0
    for number in range(len(limits.columns)):
        for place in range(limits.columns[number].first, limits.columns[number].last):
            attribute = limits.attributes[place]
            reference[attribute.reference] = len(rows)
            counts = attribute.reference + 1
            for row in rows:
                reference[counts + limits.codes[number, row]] += 1
            if attribute.kind == LINE:
                _cumulate_line(attribute, limits.shapes, reference)
            elif attribute.kind == TREE:
                _cumulate_tree(attribute, limits.shapes, reference)


@once
def _cumulate_line(attribute: Any, shapes: Ints, reference: Ints) -> None:
    """T_i = rows up to value i, W_j = sum_{i<j} T_i (v_{i+1} - v_i)."""
    v, counts = attribute.shape, attribute.reference + 1
    T = counts + attribute.size
    W = T + attribute.size
    reference[T] = reference[counts]
    for code in range(1, attribute.size):
        reference[T + code] = reference[T + code - 1] + reference[counts + code]
        reference[W + code] = reference[W + code - 1] + reference[T + code - 1] * (shapes[v + code] - shapes[v + code - 1])


@once
def _cumulate_tree(attribute: Any, shapes: Ints, reference: Ints) -> None:
    """Rows below each node."""
    leaves, counts = attribute.shape, attribute.reference + 1
    parents, below = leaves + attribute.size, counts + attribute.size
    for code in range(attribute.size):
        node = shapes[leaves + code]
        while node >= 0:
            reference[below + node] += reference[counts + code]
            node = shapes[parents + node]
