"""Which published classes break a limit: the maker's verdict, and the judge's beside it."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import tclose as tc
from tclose.judge.audit import Context, examine, quasi_kinds
from tclose.judge.gate import as_read
from tclose.make.encode import EncodedTable, encode
from tclose.make.kernels.limits import Limits, limits_of
from tclose.make.recode import recode
from tclose.make.repair import failing_classes
from tclose.make.suppression import both_sides
from tclose.tables.readers import open_reader
from tclose.tables.table import open_table
from tclose.values.arrays import grouped

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


class Verdicts(NamedTuple):
    """Which classes fail."""

    maker: Bools
    judge: Bools
    sure: bool
    """Whether the maker is sure what all labels stand for."""


def encoded_table(columns: dict[str, list[Any]], policy: tc.Policy) -> EncodedTable:
    """A table as algorithms see it."""
    kinds = {column.name: column.read_as for column in policy.quasi}
    kinds |= {column.name: "auto" for column in policy.sensitive}
    unit = None if policy.unit is None else str(policy.unit)
    kinds |= {} if unit is None else {unit: "text"}
    return encode(open_table(open_reader(pa.table(columns)), kinds), policy, unit, [], lambda _: None)


def verdicts(table: EncodedTable, policy: tc.Policy, labels: Ints, limits: Limits | None = None) -> Verdicts:
    """Both verdicts on classes of an encoded table; ``labels`` are those of its rows."""
    limits = limits_of(both_sides(table.sensitive), policy, table.persons) if limits is None else limits
    names = [*(scale.name for scale in table.scales), *(attribute.column.name for attribute in table.sensitive)]
    recoded = recode(table, labels, names)
    maker = np.zeros(int(labels.max()) + 1, dtype=bool)
    maker[failing_classes(table, limits, labels, recoded.classes)] = True
    published = pa.table(recoded.columns)
    judge = _by_judge(published, labels[recoded.rows], _as_read_back(replace(policy, unit=None, identifiers=[]), table))
    if table.persons is not None:
        with_persons = published.append_column(str(policy.unit), pa.array(table.persons[recoded.rows]))
        judge |= _by_judge(with_persons, labels[recoded.rows], _as_read_back(policy, table))
    rows, starts = grouped(labels)
    sure = all(scale.boxes(codes[rows], starts) is not None for scale, codes in zip(table.scales, table.quasi, strict=True))
    return Verdicts(maker, judge, sure)


def _as_read_back(policy: tc.Policy, table: EncodedTable) -> tc.Policy:
    """The policy for a release: distances as the input's types decided them, quasi-identifiers as they are printed."""
    sensitive = [
        replace(column, distance=attribute.distance.name) if column.kind == "auto" else column
        for column, attribute in zip(policy.sensitive, table.sensitive, strict=True)
    ]
    quasi = [replace(column, type="text") for column in policy.quasi]
    return replace(policy, sensitive=sensitive, quasi=quasi, drop=[], keep=[], other=None)


def _by_judge(table: pa.Table, labels: Ints, policy: tc.Policy) -> Bools:
    """Which classes the judge finds failing. It numbers classes by what is published of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tc.PrivacyRiskWarning)  # a release has no unit
        audit = examine(as_read(table), policy, Context())
    broken = np.zeros(audit.classes, dtype=bool)
    for judgement in audit.judgements:
        broken |= judgement.broken
    names = quasi_kinds(policy, table.column_names)
    own = max(names, key=len) + "'"  # longer than each of them, so none of them
    numbered = as_read(table.select(list(names))).append_column(own, pa.array(labels))
    cells = open_table(open_reader(numbered), {**names, own: "value"}).cells(list(names), [own])
    numbers, seen = cells.pairs(own)
    found = np.zeros(int(labels.max()) + 1, dtype=bool)
    found[numbers[broken[seen]]] = True
    return found
