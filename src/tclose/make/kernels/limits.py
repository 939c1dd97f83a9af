"""Limits: a policy as plain arrays that kernels read, and the cumulated counts of the table that classes are compared with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.errors import InputError
from tclose.make.kernels.compiling import kernel, lean
from tclose.make.kernels.shapes import cumulate, cumulated_size
from tclose.make.models import AGAINST_TABLE, ATTRIBUTE, COLUMN, ON_CLASS, REGISTERED
from tclose.make.models.base import Family
from tclose.policy import Policy
from tclose.policy.models import asked_of
from tclose.values.arrays import Codes, Ints, renumber
from tclose.values.exact import INT64_MAX

if TYPE_CHECKING:
    from tclose.make.encode import Attribute


class Limits(NamedTuple):
    """All limits of a class.

    Limits are exact: a class at exactly t = 3/10 passes. If the numbers do not fit into 64 bits, and for logarithms, a class
    nearer than `NEAR` to its limit is refused, so that no class passes that an exact judge refuses.
    """

    k: int
    n: int
    """(n,t)-closeness: the least number of rows of a region; 0 if t is judged against the table."""
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
    """Arrays of the attributes, one after the other, such as the positions of the values; see `shape_of`."""
    references: Ints
    """(tables, ...): for each attribute the number of rows n, the number of rows at each value, and its cumulated counts; see
    `cumulate`. One table here; an algorithm may use several regions instead."""


BLANK = Limits(
    0,
    0,
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
        column = columns[index]
        column["first"], column["last"], column["size"] = number, number + len(group), len(group[0].counts)
        _fill(column, ON_CLASS, policy, group[0], shapes)
        for attribute in group:
            _check_size(attribute, rows)
            record = records[number]
            _fill(record, AGAINST_TABLE, policy, attribute, shapes)
            record["size"], record["occurring"] = len(attribute.counts), np.count_nonzero(attribute.counts)
            record["reference"] = sum(map(len, references))
            references.append(_reference(attribute.counts, record))
            number += 1
    all_shapes, table = np.concatenate([*shapes, np.empty(0, dtype=np.int64)]), np.concatenate(references)
    cumulate_counts(records, all_shapes, table)
    return Limits(
        int(policy.k or 1),
        int(policy.n or 0),
        columns,
        codes,
        who,
        pairs,
        1 + max(int(who.max(initial=0)), int(pairs.max(initial=0))),
        records,
        all_shapes,
        table[None, :],
    )


def _fill(record: Any, families: Sequence[Family], policy: Policy, attribute: Attribute, shapes: list[Ints]) -> None:
    """Fill in the fields of these families; an array is added to ``shapes``."""
    for family in families:
        for name, value in {**family.unlimited, **family.fill(policy, attribute)}.items():
            if isinstance(value, np.ndarray):
                record[name] = sum(map(len, shapes))
                shapes.append(value)
            else:
                record[name] = value


def _check_size(attribute: Attribute, rows: int) -> None:
    """Refuse a table whose number of rows, times that of a class, does not fit into 64 bits."""
    n = int(attribute.counts.sum())
    if n * max(n, rows) > INT64_MAX:
        raise InputError(f"A table must have fewer than {math.isqrt(INT64_MAX):,} rows. Got {n:,}.")


def _reference(counts: Ints, record: Any) -> Ints:
    """Return the number of rows of a table, the number at each value, and room for the cumulated counts."""
    cumulated = cumulated_size(int(record["kind"]), len(counts), int(record["nodes"]))
    return np.concatenate([[counts.sum()], counts, np.zeros(cumulated, dtype=np.int64)]).astype(np.int64)


def _pairs(persons: Codes, codes: Codes) -> Codes:
    """Return the number of each row's pair of person and value, without gaps."""
    both = persons.astype(np.int64) * (int(codes.max(initial=0)) + 1) + codes
    return renumber(both)[0].astype(np.int32)


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
