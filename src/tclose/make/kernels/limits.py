"""Limits: all that a policy asks of a class, as plain arrays that kernels read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.errors import InputError
from tclose.policy import Policy, Sensitive
from tclose.values.exact import INT64_MAX

if TYPE_CHECKING:
    from tclose.make.encode import Attribute

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]

NEAR = 1e-9
"""What only floats can decide is refused when it is nearer to its limit than this."""

UNLIMITED, LINE, EQUAL, TREE, MATRIX = range(5)
"""How the earth mover's distance of an attribute is computed; unlimited: there is no t, or all values are the same."""

DISTINCT, ENTROPY, RECURSIVE = 1, 2, 3
BASIC, ENHANCED = 1, 2
STRICT, LENIENT = 1, 2

COLUMN = np.dtype(
    [
        ("first", np.int64),  # its attributes: the column against one table or several
        ("last", np.int64),
        ("size", np.int64),  # m
        ("l_kind", np.int64),  # 0 where l is not limited
        ("l", np.int64),  # rounded up
        ("log_l", np.float64),
        ("c_above", np.int64),
        ("c_below", np.int64),
    ]
)
"""What one sensitive column asks of its values alone. A limit x is x_above / x_below."""

ATTRIBUTE = np.dtype(
    [
        ("kind", np.int64),
        ("size", np.int64),  # m
        ("occurring", np.int64),  # values that the table has
        ("nodes", np.int64),  # of the tree; else 0
        ("scale", np.int64),  # n * s * scale * EMD is an integer
        ("largest_exact", np.int64),  # the largest class whose n * s * scale fits into 64 bits
        ("t_above", np.int64),
        ("t_below", np.int64),
        ("beta_kind", np.int64),  # 0 where beta is not limited
        ("lift_above", np.int64),  # 1 + beta: the largest p/q
        ("lift_below", np.int64),
        ("delta_kind", np.int64),  # 0 where delta is not limited
        ("delta", np.float64),
        ("shape", np.int64),  # where its part of `Limits.shapes` starts
        ("reference", np.int64),  # where its part of a row of `Limits.references` starts
    ]
)
"""What one column asks against one table."""


class Limits(NamedTuple):
    """What decides whether a set of rows may be a class.

    Limits are exact: a class at exactly t = 3/10 passes. Where 64 bits cannot hold the numbers, and for logarithms, a class
    nearer than `NEAR` to its limit is refused, so that nothing passes that an exact judge refuses.
    """

    k: int
    n: int
    """(n,t)-closeness: the rows of a region; 0 where t is judged against the table."""
    alpha_above: int
    alpha_below: int
    columns: NDArray[Any]
    """(columns,) of `COLUMN`."""
    codes: Codes
    """(columns, rows)."""
    persons: Codes
    """(rows,): who each row is about; empty where rows are counted."""
    pairs: Codes
    """(columns, rows): the number of each pair of person and value; (0, rows) where rows are counted."""
    marks: int
    """More than any number in persons and pairs."""
    attributes: NDArray[Any]
    """(attributes,) of `ATTRIBUTE`, those of one column side by side."""
    shapes: Ints
    """Line: the place of each value. Tree: the leaf of each value, then the parent and the weight w_N of each node. Matrix:
    its rows."""
    references: Ints
    """(tables, ...): for each attribute the number of rows n, the rows of each value, and (line) T and W of the sparse form,
    or (tree) the rows below each node. Here of one table; an algorithm may hand over several regions instead."""


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
"""No limits: it says to the compiler which types limits have."""


def limits_of(attributes: Sequence[Attribute], policy: Policy, persons: Ints | None = None) -> Limits:
    """What a policy asks of a class.

    Parameters
    ----------
    attributes
        The sensitive attributes. One column may be given several times with different ``counts``: then a class must be close
        to each of these tables.
    persons : (rows,) integers, optional
        Who each row is about, numbered from 0: k and l count persons.
    """
    groups: dict[tuple[int, int], list[Attribute]] = {}
    for attribute in attributes:
        groups.setdefault((id(attribute.codes), id(attribute.column)), []).append(attribute)
    # Linear programs come last: most classes that fail have failed before.
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
    for place, group in enumerate(grouped):
        columns[place] = (number, number + len(group), len(group[0].counts), *_diversity(group[0].column))
        for attribute in group:
            shape, reference = _against(attribute, rows, records[number : number + 1])
            records[number]["shape"] = sum(map(len, shapes))
            records[number]["reference"] = sum(map(len, references))
            shapes.append(shape)
            references.append(reference)
            number += 1
    alpha = Fraction(1) if policy.alpha is None else policy.alpha
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
        np.concatenate(shapes),
        np.concatenate(references)[None, :],
    )


def tightened(limits: Limits, share: Fraction) -> Limits:
    """The same limits with every t times a share, for algorithms that leave room for what comes after them."""
    attributes = limits.attributes.copy()
    for record in attributes:
        t = Fraction(int(record["t_above"]), int(record["t_below"])) * share
        record["t_above"], record["t_below"] = _rounded_down(t)
    return limits._replace(attributes=attributes)


def _pairs(persons: Codes, codes: Codes) -> Codes:
    """The number of each row's pair of person and value, without gaps."""
    both = persons.astype(np.int64) * (int(codes.max(initial=0)) + 1) + codes
    numbers: Codes = np.unique(both, return_inverse=True)[1].astype(np.int32)
    return numbers


def _diversity(column: Sensitive) -> tuple[float, ...]:
    """The fields of `COLUMN` from ``l_kind`` on."""
    if column.l is None:
        return 0, 0, 0.0, 0, 1
    kind = {"distinct": DISTINCT, "entropy": ENTROPY, "recursive": RECURSIVE}[column.l_kind]
    return kind, math.ceil(column.l), math.log(column.l), *_rounded_down(column.c or Fraction(0))


def _against(attribute: Attribute, rows: int, record: NDArray[Any]) -> tuple[Ints, Ints]:
    """Fill in the record of one attribute, and give its shape and its table's reference."""
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
    # A shape that had to be rounded to fit is never exact, whatever the class.
    record["largest_exact"] = INT64_MAX // (n * scale) if n * scale and scale == distance.scale else 0
    record["nodes"] = nodes = (len(shape) - len(counts)) // 2 if kind == TREE else 0
    return shape, np.concatenate([[n], counts, _cumulated(kind, counts, shape, nodes)])


def _shape(attribute: Attribute, n: int) -> tuple[int, int, Ints]:
    """The kind of a distance, its scale, and its plain numbers."""
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
    """Numbers up to ``scale`` on a coarser grid if they are too large, rounded up: a metric stays one."""
    if scale <= largest:
        return scale, numbers.astype(np.int64)
    return largest, np.array([-(-int(number) * largest // scale) for number in numbers], dtype=np.int64)


def _cumulated(kind: int, counts: Ints, shape: Ints, nodes: int) -> Ints:
    """What the sparse form of a distance needs besides the counts; `satisfies.fill_reference` does the same for a region."""
    if kind == LINE:
        T = np.cumsum(counts)
        return np.concatenate([T, [0], np.cumsum(T[:-1] * np.diff(shape))])
    below = np.zeros(nodes, dtype=np.int64)
    if kind == TREE:
        leaves, parents = shape[: len(counts)], shape[len(counts) : len(counts) + nodes]
        np.add.at(below, leaves, counts)
        for node in range(nodes - 1, 0, -1):  # parents come before their children
            below[parents[node]] += below[node]
    return below


def _rounded_down(limit: Fraction) -> tuple[int, int]:
    """The limit as a ratio of 64-bit integers; one that is finer is rounded to the strict side, by less than a float would."""
    if max(limit.numerator, limit.denominator) <= INT64_MAX:
        return limit.numerator, limit.denominator
    below = 2 ** next(power for power in range(61, -1, -1) if limit * 2**power <= INT64_MAX)
    return math.floor(limit * below), below
