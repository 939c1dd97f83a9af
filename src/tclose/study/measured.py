"""A table, measured: its audit, and how often each sensitive value occurs in it and in some of its classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tclose.columns.domains import Domain, domain_of, kind_to_read
from tclose.judge.audit import Context, examine, quasi_kinds
from tclose.judge.result import Audit
from tclose.judge.transport import Move, plan
from tclose.policy import Policy, Sensitive
from tclose.tables.counted import Cells
from tclose.tables.readers import open_reader
from tclose.tables.table import open_table
from tclose.values.arrays import Ints
from tclose.values.hierarchy import printed
from tclose.values.histograms import Histograms


@dataclass(frozen=True, eq=False)
class Distribution:
    """How often each value of a sensitive attribute occurs in a table and in its classes.

    Attributes
    ----------
    name : str
    values : list of str
        In the order of the domain, as they print; "missing" for a missing one.
    counts : (values,) int64
        The rows of the table at each value.
    domain : Domain
    """

    name: str
    values: list[str]
    counts: Ints
    domain: Domain
    _cells: Cells

    @property
    def in_order(self) -> bool:
        """Whether the values lie on a line, so that neighbours can be pooled."""
        return self.domain.distance.shape == "line"

    def of_classes(self, numbers: list[int]) -> dict[int, Ints]:
        """Return the counts of some classes at all values of the domain."""
        found: dict[int, Ints] = {}
        for part in self._parts():
            inside = [number for number in numbers if part.first <= number < part.first + len(part)]
            found |= {number: part.dense(number - part.first) for number in inside}
        return {number: found[number] for number in numbers}

    def rows_with(self, code: int) -> Ints:
        """Return how many rows of each class have one value of the domain."""
        parts = list(self._parts())
        return np.concatenate([part.sums(np.where(part.codes == code, part.counts, 0)) for part in parts])

    def plan(self, counts: Ints) -> list[tuple[int, int, Fraction]]:
        """Return an optimal transport plan from the distribution of a class to that of the table: (from, to, mass)."""
        return plan(self.domain.distance, counts.tolist(), self.counts.tolist())

    def moves(self, moved: list[tuple[int, int, Fraction]]) -> list[Move]:
        """Return the moves of a transport plan with the names of their values, heaviest first."""
        moves = [
            Move(self.values[source], self.values[target], mass, Fraction(self.domain.distance.ground(source, target)))
            for source, target, mass in moved
        ]
        return sorted(moves, key=lambda move: -move.cost)

    def _parts(self) -> Iterator[Histograms]:
        """Yield the histograms of all classes, a part of them at a time."""
        return self._cells.histograms(self.name, self.domain.codes, self.counts)


@dataclass(frozen=True, eq=False)
class Measured:
    """A table, measured under a policy.

    Attributes
    ----------
    audit : Audit
    distributions : dict of Distribution
        Of each sensitive attribute.
    """

    audit: Audit
    distributions: dict[str, Distribution]


def measure(table: Any, policy: Policy, audit: Audit | None = None) -> Measured:
    """Return a table, measured under a policy; ``audit`` is its audit if it is known."""
    reader = open_reader(table, policy.input)
    quasi = quasi_kinds(policy, reader.names)
    needed = quasi | {column.name: kind_to_read(column) for column in policy.sensitive}
    source = open_table(reader, needed, given=policy.input)
    cells = source.cells(list(quasi), [column.name for column in policy.sensitive])
    distributions = {}
    for column in policy.sensitive:
        found, counts = cells.domain(column.name)
        domain = domain_of(source, column, found, counts, binned=_is_in_bins(column))
        values = list(map(value_in_words, domain.values))
        distributions[column.name] = Distribution(column.name, values, domain.table(counts), domain, cells)
    found_audit = examine(table, policy, Context(warn=_ignore)) if audit is None else audit
    return Measured(found_audit, distributions)


def _is_in_bins(column: Sensitive) -> bool:
    """Whether a sensitive attribute is judged, and published, in bins."""
    return column.bins is not None and column.publish is None


def _ignore(_: str) -> None:
    """Ignore a warning: whoever made or verified the table was told."""


def worst_classes(audit: Audit, name: str, most: int) -> list[int]:
    """Return the numbers of the classes farthest from the table in an attribute, farthest first, ties: the first wins."""
    values = np.asarray(audit.sensitive[name].verdicts["t"].values)
    return [int(number) for number in np.argsort(-values, kind="stable")[:most]]


def people_in_words(audit: Audit, number: int) -> str:
    """Return the quasi-identifiers of a class in words."""
    cells = {name: column[number].as_py() if column[number].is_valid else None for name, column in audit.quasi.items()}
    return ", ".join(f"{name} {value_in_words(cell)}" for name, cell in cells.items())


def value_in_words(value: Any) -> str:
    """Return a value as text; "missing" for a missing one."""
    return "missing" if value is None else printed(value)
