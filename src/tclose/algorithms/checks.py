"""Checks: whether a set of rows may be a class. Kernels over `Limits`; they share nothing with the judges of `tclose.models`.

A check of s rows with r distinct values takes O(s + r log r), however large the domain: counts are kept in `Scratch` and
cleared by the list of touched values. What is cheap, and fails most, comes first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.algorithms.closeness import close
from tclose.algorithms.compare import at_most
from tclose.algorithms.compiling import kernel, lean, once
from tclose.algorithms.flow import room_for
from tclose.algorithms.limits import DISTINCT, ENHANCED, ENTROPY, LINE, MATRIX, NEAR, STRICT, TREE, UNLIMITED, Codes, Ints, Limits
from tclose.algorithms.running import run
from tclose.algorithms.sorting import sort


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
    )


def failing(limits: Limits, rows: NDArray[Any], starts: Ints) -> NDArray[np.bool_]:
    """Which classes break a limit; class i holds ``rows[starts[i]:starts[i+1]]``."""
    bad = np.empty(len(starts) - 1, dtype=np.bool_)
    run(_find_failing, limits, np.ascontiguousarray(rows, dtype=np.int32), starts.astype(np.int64), scratch_for(limits), bad)
    return bad


@kernel
def _find_failing(
    limits: Limits, rows: Codes, starts: Ints, scratch: Scratch, bad: NDArray[np.bool_], cancel: NDArray[np.uint8]
) -> None:
    for number in range(len(bad)):
        if cancel[0]:
            return
        bad[number] = not holds(limits, limits.references, rows[starts[number] : starts[number + 1]], scratch)


@lean
def holds(limits: Limits, references: Ints, rows: Codes, scratch: Scratch) -> bool:
    """Whether these rows may be a class: within t of one of the tables or regions in ``references``, the last tried first.

    ``limits.references`` holds one, the table. Under (n,t)-closeness that and a class of n rows itself serve as regions, unless
    others are given.
    """
    if len(rows) < limits.k:  # fewer rows are fewer persons too
        return False
    if len(limits.persons) and not _has_persons(limits.persons, rows, limits.k, scratch.marks):
        return False
    for number in range(len(limits.columns)):
        distinct = tally(limits.codes[number], rows, scratch.counts, scratch.touched)
        fine = _spread_holds(limits, references, number, len(rows), distinct, scratch)
        if fine and limits.columns[number].l_kind > 0:
            fine = _diversity_holds(limits, number, rows, distinct, scratch)
        clear(scratch.counts, scratch.touched[:distinct])
        if not fine:
            return False
    return True


@lean
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


@lean
def clear(counts: Ints, touched: Ints) -> None:
    """Set counts back to 0 where they were touched."""
    for code in touched:
        counts[code] = 0


@lean
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
def _spread_holds(limits: Limits, references: Ints, number: int, size: int, distinct: int, scratch: Scratch) -> bool:
    """alpha, beta, delta and t of one tallied column."""
    counts, touched = scratch.counts, scratch.touched[:distinct]
    if limits.alpha_above < limits.alpha_below:
        for code in touched:
            if not at_most(counts[code], size, limits.alpha_above, limits.alpha_below):
                return False
    column = limits.columns[number]
    for place in range(column.first, column.last):
        attribute = limits.attributes[place]
        if attribute.beta_kind > 0 or attribute.delta_kind > 0:
            table = limits.references[0, attribute.reference : attribute.reference + 1 + attribute.size]
            if not _shares_hold(attribute, table[0], table[1:], size, counts, touched):
                return False
    for place in range(column.first, column.last):
        attribute = limits.attributes[place]
        if attribute.kind == UNLIMITED or size >= limits.n > 0:  # a class of n rows is a region itself, at distance 0
            continue
        near = False
        for region in range(len(references) - 1, -1, -1):
            if close(attribute, limits.shapes, references[region], size, scratch, distinct):
                near = True
                break
        if not near:
            return False
    return True


@lean
def _shares_hold(attribute: Any, n: int, table: Ints, size: int, counts: Ints, touched: Ints) -> bool:
    """beta and delta: each value's share p = c/s in the class against its share q = T/n in the table."""
    if attribute.delta_kind == STRICT and len(touched) < attribute.occurring:
        return False
    for code in touched:
        above, below = counts[code] * n, size * table[code]  # p/q
        if below == 0:
            return False
        if attribute.beta_kind > 0 and not at_most(above, below, attribute.lift_above, attribute.lift_below):
            return False
        lift = above / below
        if attribute.beta_kind == ENHANCED and above > below and lift - 1 + np.log(table[code] / n) > -NEAR * lift:
            return False
        if attribute.delta_kind > 0 and above != below and abs(np.log(lift)) >= attribute.delta - NEAR * (1 + attribute.delta):
            return False
    return True


@lean
def _diversity_holds(limits: Limits, number: int, rows: Codes, distinct: int, scratch: Scratch) -> bool:
    """The l of one tallied column, over rows and, where they are counted, over persons: a reader can judge rows only."""
    column, touched = limits.columns[number], scratch.touched[:distinct]
    if distinct < column.l:  # no reading of l-diversity allows fewer values
        return False
    if column.l_kind == DISTINCT:
        return True
    if not _is_diverse(column, scratch.counts, touched, scratch.spare):
        return False
    if not len(limits.persons):
        return True
    pairs = limits.pairs[number]
    for row in rows:
        if not scratch.marks[pairs[row]]:
            scratch.marks[pairs[row]] = True
            scratch.further[limits.codes[number, row]] += 1
    fine = _is_diverse(column, scratch.further, touched, scratch.spare)
    for row in rows:
        scratch.marks[pairs[row]] = False
    clear(scratch.further, touched)
    return fine


@lean
def _is_diverse(column: Any, counts: Ints, touched: Ints, ordered: Ints) -> bool:
    """Entropy or recursive l; there are l values at least."""
    size, least, largest = 0, counts[touched[0]], counts[touched[0]]
    for place in range(len(touched)):
        count = counts[touched[place]]
        ordered[place] = count
        size += count
        least, largest = min(least, count), max(largest, count)
    if column.l_kind == ENTROPY:
        if least == largest:  # exp(entropy) is the number of values
            return True
        entropy = np.log(size)
        for count in ordered[: len(touched)]:
            entropy -= count * np.log(count) / size
        diverse: bool = entropy >= column.log_l + NEAR
        return diverse
    sort(ordered[: len(touched)])
    tail = size
    for count in ordered[len(touched) - column.l + 1 : len(touched)]:  # the l - 1 largest
        tail -= count
    return not at_most(column.c_above, column.c_below, largest, tail)


@lean
def refer(limits: Limits, rows: Codes, reference: Ints) -> None:
    """Make a region of some rows: fill in one row of `Limits.references`."""
    for place in range(len(reference)):
        reference[place] = 0
    for number in range(len(limits.columns)):
        codes = limits.codes[number]
        for place in range(limits.columns[number].first, limits.columns[number].last):
            attribute = limits.attributes[place]
            start, m = attribute.reference, attribute.size
            reference[start] = len(rows)
            counts, more = reference[start + 1 : start + 1 + m], reference[start + 1 + m :]
            for row in rows:
                counts[codes[row]] += 1
            shape = limits.shapes[attribute.shape :]
            if attribute.kind == LINE:
                _cumulate_line(shape[:m], counts, more[:m], more[m : 2 * m])
            elif attribute.kind == TREE:
                _cumulate_tree(shape[:m], shape[m : m + attribute.nodes], counts, more)


@lean
def _cumulate_line(v: Ints, counts: Ints, T: Ints, W: Ints) -> None:
    """T_i = rows up to value i, W_j = sum_{i<j} T_i (v_{i+1} - v_i)."""
    T[0] = counts[0]
    for code in range(1, len(v)):
        T[code] = T[code - 1] + counts[code]
        W[code] = W[code - 1] + T[code - 1] * (v[code] - v[code - 1])


@lean
def _cumulate_tree(leaves: Ints, parents: Ints, counts: Ints, below: Ints) -> None:
    """Rows below each node."""
    for code in range(len(leaves)):
        node = leaves[code]
        while node >= 0:
            below[node] += counts[code]
            node = parents[node]
