"""l-diversity of one tallied column, distinct, entropy or recursive: whether it is satisfied, and its excess."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tclose.make.kernels.compiling import lean, once
from tclose.make.kernels.scratch import Scratch
from tclose.make.kernels.small import at_most, sort
from tclose.make.logarithms import entropy_is_at_least_log
from tclose.make.models.base import NEAR, OnClass, rounded_down
from tclose.policy import Policy, Sensitive
from tclose.values.arrays import Codes, Ints

if TYPE_CHECKING:
    from tclose.make.encode import Attribute
    from tclose.make.kernels.limits import Limits

DISTINCT, ENTROPY, RECURSIVE = 1, 2, 3
"""Kinds of l; 0 where it is not limited."""


@once
def satisfies_l(limits: Limits, number: int, rows: Codes, scratch: Scratch, touched: Ints) -> bool:
    """Return whether column ``number`` is l-diverse over rows and, if persons are counted, over persons too.

    Over rows it must be in any case: a reader of the release can judge rows only.
    """
    column = limits.columns[number]
    if len(touched) < column.l:  # no kind of l-diversity allows fewer values
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
    """Count the persons at each value."""
    for row in rows:
        if not scratch.marks[pairs[row]]:
            scratch.marks[pairs[row]] = True
            scratch.further[codes[row]] += 1
    for row in rows:
        scratch.marks[pairs[row]] = False


@lean
def _is_diverse(column: Any, counts: Ints, touched: Ints, spare: Ints) -> bool:
    """Return whether counts satisfy entropy or recursive l-diversity; at least l values occur."""
    ordered, size = spare[: len(touched)], counts[touched[0]]
    ordered[0] = size
    for index in range(1, len(touched)):
        ordered[index] = counts[touched[index]]
        size += ordered[index]
    sort(ordered)  # so that the sum of floats does not depend on the order of the rows
    largest = ordered[len(ordered) - 1]
    if column.l_kind == ENTROPY:
        if ordered[0] == largest:  # exp(entropy) is exactly the number of values
            return True
        entropy = math.log(size)
        for count in ordered:
            entropy -= count * math.log(count) / size
        diverse: bool = entropy >= column.log_l + NEAR
        return diverse
    tail = size
    for index in range(len(ordered) - column.l + 1, len(ordered)):  # the l - 1 largest
        tail -= ordered[index]
    return not at_most(column.c_above, column.c_below, largest, tail)


@once
def excess_of_l(column: Any, size: int, counts: Ints, touched: Ints, ordered: Ints) -> float:
    """Return the excess of l over rows; ``ordered`` is scratch memory.

    Distinct: max(0, l - values) / l. Entropy: max(0, ln l - H). Recursive: max(0, r_1 - c (r_l + ... + r_m)) / s.
    """
    missing: float = 0.0
    if column.l_kind == DISTINCT:
        missing = (column.l - len(touched)) / column.l
    elif column.l_kind == ENTROPY:
        missing = column.log_l - np.log(size)
        for code in touched:
            missing += counts[code] * np.log(counts[code]) / size
    else:
        for index in range(len(touched)):
            ordered[index] = counts[touched[index]]
        sort(ordered[: len(touched)])
        tail = 0
        for count in ordered[: max(0, len(touched) - column.l + 1)]:  # all but the l - 1 largest
            tail += count
        missing = (ordered[len(touched) - 1] - column.c_above / column.c_below * tail) / size
    return max(0.0, missing)


def _fill(_: Policy, attribute: Attribute) -> Mapping[str, float]:
    column = attribute.column
    if column.l is None:
        return {}
    kind = {"distinct": DISTINCT, "entropy": ENTROPY, "recursive": RECURSIVE}[column.l_kind]
    above, below = rounded_down(column.c or Fraction(0))
    return {"l_kind": kind, "l": math.ceil(column.l), "log_l": math.log(column.l), "c_above": above, "c_below": below}


def _has_few_values(l: Fraction, _: Sensitive, counts: Ints) -> bool:  # noqa: E741 - the name of the model
    """Whether there are fewer than l values."""
    return int(np.count_nonzero(counts)) < l


def _has_little_entropy(l: Fraction, _: Sensitive, counts: Ints) -> bool:  # noqa: E741
    """Whether the entropy is below ln l."""
    return not entropy_is_at_least_log(counts, l)


def _exceeds_c(c: Fraction, column: Sensitive, counts: Ints) -> bool:
    """Whether the most frequent value has c times the rows or more that the l-th and all less frequent values have together."""
    ascending = np.sort(counts)
    tail = int(ascending[: max(len(counts) - math.ceil(column.l or 0) + 1, 0)].sum())
    return int(ascending[-1]) >= c * tail


FAMILY = OnClass(
    unlimited={"l_kind": 0, "l": 0, "log_l": 0.0, "c_above": 0, "c_below": 1},
    fill=_fill,
    breaks={"l_distinct": _has_few_values, "l_entropy": _has_little_entropy, "c_recursive": _exceeds_c},
)
