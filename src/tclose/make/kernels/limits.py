"""Limits: a policy as plain arrays that kernels read, and the cumulated counts of the table that classes are compared with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.errors import InputError
from tclose.make.kernels.compiling import kernel, lean, once
from tclose.policy import Policy, Sensitive
from tclose.policy.models import asked_of
from tclose.values.arrays import Codes, Ints, renumber
from tclose.values.exact import INT64_MAX

if TYPE_CHECKING:
    from tclose.make.encode import Attribute

NEAR = 1e-9
"""A class that only floats can judge is refused if it is nearer to its limit than this."""

REGISTERED = {
    "k": "satisfies",
    "t": "closeness",
    "n,t": "closeness",
    "l_distinct": "diversity",
    "l_entropy": "diversity",
    "c_recursive": "diversity",
    "beta": "shares",
    "beta_enhanced": "shares",
    "delta": "shares",
    "share": "shares",
}
"""The module with the check of each privacy model that can be limited, by its key in `tclose.policy.models`."""

UNLIMITED, LINE, EQUAL, TREE, MATRIX = range(5)
"""The shape of an attribute's ground distance; unlimited if there is no t, or all values are the same."""

DISTINCT, ENTROPY, RECURSIVE = 1, 2, 3
BASIC, ENHANCED = 1, 2
STRICT, LENIENT = 1, 2

COLUMN = np.dtype(
    [
        ("first", np.int64),  # its first attribute; the column has one for each table that it is compared with
        ("last", np.int64),  # the index after its last attribute
        ("size", np.int64),  # m
        ("l_kind", np.int64),  # 0 if l is not limited
        ("l", np.int64),  # rounded up
        ("log_l", np.float64),
        ("c_above", np.int64),
        ("c_below", np.int64),
    ]
)
"""The limits of one sensitive column on its values alone. A limit x is stored as x_above / x_below."""

ATTRIBUTE = np.dtype(
    [
        ("kind", np.int64),
        ("size", np.int64),  # m
        ("occurring", np.int64),  # number of values that occur in the table
        ("nodes", np.int64),  # number of nodes of the tree; else 0
        ("scale", np.int64),  # n * s * scale * EMD is an integer
        ("largest_exact", np.int64),  # the largest class whose n * s * scale fits into 64 bits
        ("t_above", np.int64),
        ("t_below", np.int64),
        ("beta_kind", np.int64),  # 0 if beta is not limited
        ("lift_above", np.int64),  # 1 + beta, the largest lift p/q
        ("lift_below", np.int64),
        ("delta_kind", np.int64),  # 0 if delta is not limited
        ("delta", np.float64),
        ("shape", np.int64),  # where its part of `Limits.shapes` starts
        ("reference", np.int64),  # where its part of a row of `Limits.references` starts
    ]
)
"""The limits of one column against one table."""


class Limits(NamedTuple):
    """All limits of a class.

    Limits are exact: a class at exactly t = 3/10 passes. If the numbers do not fit into 64 bits, and for logarithms, a class
    nearer than `NEAR` to its limit is refused, so that no class passes that an exact judge refuses.
    """

    k: int
    n: int
    """(n,t)-closeness: the least number of rows of a region; 0 if t is judged against the table."""
    alpha_above: int
    alpha_below: int
    columns: NDArray[Any]
    """(columns,) of `COLUMN`."""
    codes: Codes
    """(columns, rows): the sensitive values."""
    persons: Codes
    """(rows,): the person of each row; empty if rows are counted."""
    pairs: Codes
    """(columns, rows): the number of each pair of person and value; (0, rows) if rows are counted."""
    marks: int
    """A number above all in persons and pairs."""
    attributes: NDArray[Any]
    """(attributes,) of `ATTRIBUTE`; those of one column are adjacent."""
    shapes: Ints
    """Line: the position of each value. Tree: the leaf of each value, then the parent and the weight w_N of each node. Matrix:
    its rows."""
    references: Ints
    """(tables, ...): for each attribute the number of rows n, the number of rows at each value, and its cumulated counts; see
    `_cumulate_line` and `_cumulate_tree`. One table here; an algorithm may use several regions instead."""


BLANK = Limits(
    *(0, 0, 0, 0),
    np.empty(0, dtype=COLUMN),
    np.empty((0, 0), dtype=np.int32),
    np.empty(0, dtype=np.int32),
    np.empty((0, 0), dtype=np.int32),
    0,
    np.empty(0, dtype=ATTRIBUTE),
    np.empty(0, dtype=np.int64),
    np.empty((0, 0), dtype=np.int64),
)
"""No limits, from which the compiler learns the types."""


def limits_of(attributes: Sequence[Attribute], policy: Policy, persons: Ints | None = None) -> Limits:
    """Return the limits that a policy sets for a class.

    Parameters
    ----------
    attributes
        The sensitive attributes. One column may be given several times with different ``counts``: a class must then be close
        to each of these tables.
    persons : (rows,) integers, optional
        The person of each row, numbered from 0. With it, k and l count persons.
    """
    unknown = [model.name for model, _ in asked_of(policy) if model.key not in REGISTERED]
    if unknown:  # a fault of ours: nothing would keep to that limit
        raise TypeError(f"No kernel for the limit {unknown[0]!r}.")
    groups: dict[tuple[int, int], list[Attribute]] = {}
    for attribute in attributes:
        groups.setdefault((id(attribute.codes), id(attribute.column)), []).append(attribute)
    # Metrics come last: they take longest, and most classes that fail have failed another limit before.
    grouped = sorted(groups.values(), key=lambda group: group[0].distance.shape == "metric")
    rows = len(attributes[0].codes)
    codes = np.array([group[0].codes for group in grouped], dtype=np.int32)
    who = np.empty(0, dtype=np.int32) if persons is None else np.ascontiguousarray(persons, dtype=np.int32)
    pairs = np.empty((0, rows), dtype=np.int32) if persons is None else np.array([_pairs(who, row) for row in codes])

    columns = np.zeros(len(grouped), dtype=COLUMN)
    records = np.zeros(len(attributes), dtype=ATTRIBUTE)
    shapes: list[Ints] = []
    references: list[Ints] = []
    number = 0
    for index, group in enumerate(grouped):
        columns[index] = (number, number + len(group), len(group[0].counts), *_diversity(group[0].column))
        for attribute in group:
            shape, reference = _against(attribute, rows, records[number : number + 1])
            records[number]["shape"] = sum(map(len, shapes))
            records[number]["reference"] = sum(map(len, references))
            shapes.append(shape)
            references.append(reference)
            number += 1
    alpha = Fraction(1) if policy.alpha is None else policy.alpha
    all_shapes, table = np.concatenate(shapes), np.concatenate(references)
    cumulate_counts(records, all_shapes, table)
    return Limits(
        int(policy.k or 1),
        int(policy.n or 0),
        *_rounded_down(alpha),
        columns,
        codes,
        who,
        pairs,
        1 + max(int(who.max(initial=0)), int(pairs.max(initial=0))),
        records,
        all_shapes,
        table[None, :],
    )


def tightened(limits: Limits, share: Fraction) -> Limits:
    """Return the same limits with every t times a share, for algorithms that leave slack for later stages."""
    attributes = limits.attributes.copy()
    for record in attributes:
        t = Fraction(int(record["t_above"]), int(record["t_below"])) * share
        record["t_above"], record["t_below"] = _rounded_down(t)
    return limits._replace(attributes=attributes)


def _pairs(persons: Codes, codes: Codes) -> Codes:
    """Return the number of each row's pair of person and value, without gaps."""
    both = persons.astype(np.int64) * (int(codes.max(initial=0)) + 1) + codes
    return renumber(both)[0].astype(np.int32)


def _diversity(column: Sensitive) -> tuple[float, ...]:
    """Return the fields of `COLUMN` from ``l_kind`` on."""
    if column.l is None:
        return 0, 0, 0.0, 0, 1
    kind = {"distinct": DISTINCT, "entropy": ENTROPY, "recursive": RECURSIVE}[column.l_kind]
    return kind, math.ceil(column.l), math.log(column.l), *_rounded_down(column.c or Fraction(0))


def _against(attribute: Attribute, rows: int, record: NDArray[Any]) -> tuple[Ints, Ints]:
    """Fill in the record of one attribute; return its shape, and its reference with counts that are not cumulated yet."""
    column, distance, counts = attribute.column, attribute.distance, attribute.counts.astype(np.int64)
    n = int(counts.sum())
    if n * max(n, rows) > INT64_MAX:
        raise InputError(f"A table must have fewer than {math.isqrt(INT64_MAX):,} rows. Got {n:,}.")
    if column.beta is not None:
        record["beta_kind"] = BASIC if column.beta_kind == "basic" else ENHANCED
        record["lift_above"], record["lift_below"] = _rounded_down(1 + column.beta)
    if column.delta is not None:
        record["delta_kind"] = STRICT if column.delta_kind == "strict" else LENIENT
        record["delta"] = float(column.delta)
    record["size"], record["occurring"] = len(counts), np.count_nonzero(counts)
    record["t_above"], record["t_below"] = _rounded_down(Fraction(1) if column.t is None else column.t)
    limited = column.t is not None and distance.scale > 0
    kind, scale, shape = _shape(attribute, max(n, rows)) if limited else (UNLIMITED, 0, np.empty(0, dtype=np.int64))
    record["kind"], record["scale"] = kind, scale
    # With a shape that was rounded to fit, no class is compared exactly.
    record["largest_exact"] = INT64_MAX // (n * scale) if n * scale and scale == distance.scale else 0
    record["nodes"] = nodes = (len(shape) - len(counts)) // 2 if kind == TREE else 0
    cumulated = 2 * len(counts) if kind == LINE else nodes
    return shape, np.concatenate([[n], counts, np.zeros(cumulated, dtype=np.int64)])


def _shape(attribute: Attribute, n: int) -> tuple[int, int, Ints]:
    """Return the kind of a distance, its scale, and its part of `Limits.shapes`."""
    distance: Any = attribute.distance
    if distance.shape == "set":
        return EQUAL, 1, np.empty(0, dtype=np.int64)
    if distance.shape == "line":
        scale, places = _on_a_grid(distance.scale, distance.positions, INT64_MAX // (2 * n))
        return LINE, scale, places
    if distance.shape == "tree":
        nodes = distance.ancestors  # of each depth; children have larger numbers, so a code's leaf is the largest
        parents, weights = np.zeros((2, int(nodes.max()) + 2), dtype=np.int64)  # the last is for -1, which is no node
        parents[nodes[1:]], weights[nodes] = nodes[:-1], distance.weights
        parents[0] = -1
        return TREE, distance.scale, np.concatenate([nodes.max(axis=0), parents[:-1], weights[:-1]])
    scale, rounded = _on_a_grid(distance.scale, distance.matrix.ravel(), 2**40)
    return MATRIX, scale, rounded


def _on_a_grid(scale: int, numbers: NDArray[Any], largest: int) -> tuple[int, Ints]:
    """Return numbers up to ``scale`` on a coarser grid if they are too large, rounded up: a metric stays a metric."""
    if scale <= largest:
        return scale, numbers.astype(np.int64)
    return largest, np.array([-(-int(number) * largest // scale) for number in numbers], dtype=np.int64)


def _rounded_down(limit: Fraction) -> tuple[int, int]:
    """Return the limit as a ratio of 64-bit integers; a finer one is rounded to the strict side, by less than a float is."""
    if max(limit.numerator, limit.denominator) <= INT64_MAX:
        return limit.numerator, limit.denominator
    below = 2 ** next(power for power in range(61, -1, -1) if limit * 2**power <= INT64_MAX)
    return math.floor(limit * below), below


@kernel
def cumulate_counts(attributes: NDArray[Any], shapes: Ints, reference: Ints) -> None:
    """Cumulate the counts of a table for all attributes."""
    for number in range(len(attributes)):
        cumulate(attributes[number], shapes, reference)


@lean
def fill_reference(limits: Limits, rows: Codes, reference: Ints) -> None:
    """Fill in one row of `Limits.references` for the region of these rows."""
    for index in range(len(reference)):
        reference[index] = 0
    for number in range(len(limits.columns)):
        for index in range(limits.columns[number].first, limits.columns[number].last):
            attribute = limits.attributes[index]
            reference[attribute.reference] = len(rows)
            counts = attribute.reference + 1
            for row in rows:
                reference[counts + limits.codes[number, row]] += 1
            cumulate(attribute, limits.shapes, reference)


@once
def cumulate(attribute: Any, shapes: Ints, reference: Ints) -> None:
    """Cumulate the counts of one attribute, which stand before them in ``reference``; they are 0 before."""
    if attribute.kind == LINE:
        _cumulate_line(attribute, shapes, reference)
    elif attribute.kind == TREE:
        _cumulate_tree(attribute, shapes, reference)


@once
def _cumulate_line(attribute: Any, shapes: Ints, reference: Ints) -> None:
    """Fill in T_i, the number of rows up to value i, and W_j = sum_{i<j} T_i (v_{i+1} - v_i), v the positions of the values."""
    v, counts = attribute.shape, attribute.reference + 1
    T = counts + attribute.size
    W = T + attribute.size
    reference[T] = reference[counts]
    for code in range(1, attribute.size):
        reference[T + code] = reference[T + code - 1] + reference[counts + code]
        reference[W + code] = reference[W + code - 1] + reference[T + code - 1] * (shapes[v + code] - shapes[v + code - 1])


@once
def _cumulate_tree(attribute: Any, shapes: Ints, reference: Ints) -> None:
    """Fill in the number of rows below each node."""
    leaves, counts = attribute.shape, attribute.reference + 1
    parents, below = leaves + attribute.size, counts + attribute.size
    for code in range(attribute.size):
        node = shapes[leaves + code]
        while node >= 0:
            reference[below + node] += reference[counts + code]
            node = shapes[parents + node]
