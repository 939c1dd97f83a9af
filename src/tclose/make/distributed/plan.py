"""The plan of a release on a cluster: all that is known of a table before its rows are put into classes, from histograms alone.

It travels to the machines that have the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from tclose.errors import InfeasibleError
from tclose.make.algorithm import Settings
from tclose.make.distributed.coding import Coding, RowCoding, coarsened
from tclose.make.edges import can_move_ends, edge_grid, moving_ends
from tclose.make.encode import Attribute, attribute_of, scale_of_quasi
from tclose.make.kept import check_kept_values, check_quasi_values
from tclose.make.one_class import check_k, check_n, too_uneven
from tclose.make.recode import type_of_column
from tclose.make.scales import Published, Scale
from tclose.make.scales.grids import CountedPeople, Grid, People, grid_for
from tclose.make.scales.widened import widen
from tclose.policy import Policy
from tclose.policy.fields import AUTO
from tclose.policy.models import merging_may_break
from tclose.tables.coded import narrow
from tclose.tables.table import Table
from tclose.values.arrays import Ints

BINS = 256
"""Coarse codes of a quasi-identifier at most: boundaries at which blocks can be cut."""
STRATA = 256
"""Combinations of coarse sensitive values at most: those of eight columns, where more have a limit."""
DRIFT_OF_BLOCKS = Fraction(3, 5)
"""The share of t by which the sensitive values of a block may differ from those of the table, in the first round."""
DRIFT_IN_BLOCKS = Fraction(4, 5)
"""The same for the parts of such a block in which classes grow: the block may have used up `DRIFT_OF_BLOCKS`."""
ON_ONE_MACHINE = "make the release on one machine, as in anonymize(df.toArrow(), policy)"
"""The end of a sentence: what to do where a cluster cannot help."""


@dataclass(frozen=True, eq=False)
class Plan:
    """What is known of a table and its release before rows are put into classes.

    Attributes
    ----------
    policy : Policy
        What is asked of every class: t-closeness to the whole table also where the policy has an n, which it implies.
    seed, effort
        Of growth.
    names : list of str
        All columns of the input, in its order: that of publication.
    rows : int
    scales, types, counts : lists
        The scale of each quasi-identifier, the type of its values, and how often each code occurs.
    attributes : list of Attribute
        The sensitive attributes, without rows.
    coding : RowCoding
    kept : mapping
        The columns that are published as they are, with their types.
    least : int
        A block of fewer rows may have fewer than k rows, or persons.
    unit : str or None
        The column that names persons, if they are counted.
    ends : list of str
        The quasi-identifiers whose values the judge needs beside what is published of them: the ends of ranges may be moved.
    """

    policy: Policy
    seed: int
    effort: str
    names: list[str]
    rows: int
    scales: list[Scale]
    types: list[Any]
    counts: list[Ints]
    attributes: list[Attribute]
    coding: RowCoding
    kept: Mapping[str, Any]
    least: int
    unit: str | None
    ends: list[str]

    @property
    def read(self) -> list[str]:
        """The columns of the input that are read, in the order that `RowCoding` expects."""
        sensitive = [attribute.column.name for attribute in self.attributes]
        return [*(scale.name for scale in self.scales), *sensitive, *self.kept, *([] if self.unit is None else [self.unit])]

    @property
    def limits_persons(self) -> bool:
        """Whether classes must satisfy limits over persons which their union may break."""
        return self.unit is not None and merging_may_break(self.policy)

    def published_names(self, scale: Scale) -> list[str]:
        """Return the names of the columns in which a quasi-identifier is published."""
        return list(scale.publish(np.arange(scale.size), np.array([0, scale.size])).columns)

    def schema(self) -> pa.Schema:
        """Return the names and types of the published columns, in the order of publication."""
        parts: dict[str, list[tuple[str, Any]]] = {}
        for scale, kind in zip(self.scales, self.types, strict=True):
            forms = _forms(scale)
            parts[scale.name] = [
                (name, type_of_column(kind, *(form.columns[name] for form in forms))) for name in self.published_names(scale)
            ]
        parts |= {attribute.column.name: [(attribute.column.name, attribute.published.type)] for attribute in self.attributes}
        parts |= {name: [(name, kind)] for name, kind in self.kept.items()}
        return pa.schema([field for name in self.names for field in parts.get(name, [])])

    @property
    def raw_names(self) -> dict[str, str]:
        """The names under which the columns `ends` travel beside what is published: nothing else is called that."""
        taken, mark = {*self.names, *self.schema().names}, "raw "
        while any(name.startswith(mark) for name in taken):
            mark += " "
        return {name: mark + name for name in self.ends}

    def judged_schema(self) -> pa.Schema:
        """Return the published columns, and after them what is judged and not published: raw columns, and last the unit."""
        schema = self.schema()
        for name, index in zip(self.raw_names.values(), self.coding.raw, strict=True):
            schema = schema.append(pa.field(name, self.types[index]))
        return schema if self.unit is None else schema.append(pa.field(self.unit, pa.string()))


def _forms(scale: Scale) -> list[Published]:
    """Return all that may be published on a scale: of all codes as one class, and of each; and with ends that are moved."""
    everything = np.arange(scale.size)
    found = []
    for starts in (np.array([0, scale.size]), np.arange(scale.size + 1)):
        found.append(scale.publish(everything, starts))
        with suppress(InfeasibleError):  # where the calendar ends; whether a range ends there is not known yet
            found.append(widen(scale, everything, starts, None).publish(everything, starts))
    return found


PeopleOf = Callable[[str, Coding, int], People]
"""Returns the persons that a unit names, from a column, the codes of its values, and a size: codes from it on are left out."""


def plan_of(
    source: Table,
    policy: Policy,
    settings: Settings,
    kept: Sequence[str],
    unit: str | None,
    people_of: PeopleOf,
    ends: Sequence[str] = (),
) -> Plan:
    """Return the plan of a release, from the histograms of the columns of a table.

    Parameters
    ----------
    people_of
        Asked only where a unit names persons, and a grid must have k of them in each cell.
    ends
        See `Plan`.

    Raises
    ------
    InfeasibleError
        No release of the table can satisfy the policy.
    PolicyError
        The policy asks for something that cannot be done on a cluster, or would publish values that name people.
    """
    asked = replace(policy, n=None)
    scales, types, counted, quasi = [], [], [], []
    for column in policy.quasi:
        cells, counts = source.cells([], [column.name]).domain(column.name)
        if column.snap == AUTO:  # else the error would be about the grid, not about k
            _check_k(source, asked, int(counts.sum()), unit)
        found = _Column(column.name, cells, counts, None if unit is None else people_of)
        show = source.show(column.name, suppression=bool(policy.suppression))
        scale, codes = scale_of_quasi(source, column, cells, show, partial(found.grid, policy.k or 1))
        scale = found.moving_ends(scale, codes, policy)
        of_codes = np.zeros(scale.size, dtype=np.int64)
        np.add.at(of_codes, codes, counts)
        kind = source.values(column.name, cells).type
        check_quasi_values(column, scale, kind, of_codes)
        scales.append(scale)
        types.append(kind)
        counted.append(of_codes)
        quasi.append(Coding(cells, codes.astype(narrow(scale.size)), coarsened(of_codes, BINS)))
    limited = [index for index, column in enumerate(policy.sensitive) if _is_limited(column)][: STRATA.bit_length() - 1]
    most = int(STRATA ** (1 / max(1, len(limited))))
    attributes, sensitive = [], []
    for column in policy.sensitive:
        cells, counts = source.cells([], [column.name]).domain(column.name)
        attribute, codes = attribute_of(source, column, cells, counts)
        attributes.append(attribute)
        sensitive.append(Coding(cells, codes.astype(narrow(len(attribute.values))), coarsened(attribute.counts, most)))
    rows = int(counted[0].sum())
    _check_feasible(source, policy, attributes, rows, unit)
    names = [column.name for column in policy.quasi]
    raw = [names.index(name) for name in ends]
    coding = RowCoding(quasi, sensitive, limited, len(kept) + (unit is not None), settings.seed, raw)
    return Plan(
        asked,
        settings.seed,
        settings.effort,
        list(source.names),
        rows,
        scales,
        types,
        counted,
        attributes,
        coding,
        _kept(source, policy, kept),
        1 + ((policy.k or 1) - 1) * (1 if unit is None else source.most_rows(unit)),
        unit,
        list(ends),
    )


class _Column(NamedTuple):
    """A column as its grids see it.

    Attributes
    ----------
    name : str
    cells, counts
        Its values, ascending, missing last, and how often each occurs.
    people_of : PeopleOf or None
        None if each row is a person.
    """

    name: str
    cells: pa.Array
    counts: Ints
    people_of: PeopleOf | None

    def people(self, indexes: Ints, size: int) -> People:
        """Return the persons by an index of each value, which is below a size, or equal to it for a value that is left out."""
        if self.people_of is not None:
            return self.people_of(self.name, Coding(self.cells, indexes.astype(np.int32), np.empty(0, dtype=np.int32)), size)
        found = np.zeros(size + 1, dtype=np.int64)
        np.add.at(found, indexes, self.counts)
        return CountedPeople(found[:size])

    def grid(self, k: int, name: str, values: Sequence[Any]) -> Grid | None:
        """Return the grid of ``snap: auto`` for the values of the column; a missing cell has none, and comes last."""
        return grid_for(name, values, self.people(np.arange(len(self.cells)), len(values)), k)

    def moving_ends(self, scale: Scale, codes: Ints, policy: Policy) -> Scale:
        """Return the scale of the column, of which the code of each value is known, with ends that move as the policy asks."""
        if policy.edges == 1:
            return scale
        can_move_ends([scale], policy)
        grid = edge_grid(scale, policy.k or 1, lambda indexes, size: self.people(indexes[codes], size))
        return moving_ends(scale, policy.edges, grid)


def _is_limited(column: Any) -> bool:
    """Whether a sensitive column has a limit that compares classes with the table."""
    return column.t is not None or column.beta is not None or column.delta is not None


def _kept(source: Table, policy: Policy, kept: Sequence[str]) -> dict[str, Any]:
    """Return the types of columns that are published as they are; raise PolicyError if their values would name people."""
    found = {}
    for name in kept:
        cells, counts = source.cells([], [name]).domain(name)
        values = source.values(name, cells)
        check_kept_values(name, values, counts, policy)
        found[name] = values.type
    return found


def _check_k(source: Table, policy: Policy, rows: int, unit: str | None) -> None:
    """Raise InfeasibleError if the table has fewer rows, or persons, than k."""
    check_k(*((rows, "row") if unit is None else (source.count_values(unit)[1], "person")), policy)


def _check_feasible(source: Table, policy: Policy, attributes: Sequence[Attribute], rows: int, unit: str | None) -> None:
    """Raise InfeasibleError if one class of all rows breaks a limit: then every release does, unless rows are suppressed.

    Both are looked at: persons, as the owner counts, and rows, as a reader does, who does not have the unit.
    """
    _check_k(source, policy, rows, unit)
    check_n(rows, policy)
    for attribute in attributes:
        column = attribute.column
        persons = None
        if unit is not None:
            cells, of_persons = source.cells([], [column.name], unit).domain(column.name)
            persons = np.zeros(len(attribute.counts), dtype=np.int64)
            np.add.at(persons, attribute_of(source, column, cells, of_persons)[1], of_persons)
        broken = too_uneven(column, policy, attribute.counts) or too_uneven(column, policy, attribute.counts, persons)
        if broken:
            raise InfeasibleError(
                f"{broken} of {column.name!r} cannot be satisfied: one class of all rows breaks it, and on Spark no row is "
                f"suppressed. Loosen it, or {ON_ONE_MACHINE}."
            )
