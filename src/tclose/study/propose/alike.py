"""Alike: columns of numbers that go up and down together, so that one nearly tells the other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tclose.study.propose.columns import NUMERIC, Column
from tclose.study.propose.commented import listed_names
from tclose.study.propose.roles import Assigned
from tclose.values import association
from tclose.values.arrays import Ints
from tclose.values.association import NEARLY

MOST_COLUMNS = 50
"""Columns of numbers that are compared, at most."""


@dataclass(frozen=True)
class Alike:
    """Two columns that nearly tell one another, and their rank correlation on the sample."""

    first: Assigned
    second: Assigned
    correlation: float


def alike_columns(assigned: Sequence[Assigned], rows: Ints) -> list[Alike]:
    """Return the pairs of published columns of numbers whose rank correlation on some rows is `NEARLY` or more, up or down.

    Parameters
    ----------
    rows
        The indices of the rows of a sample.
    """
    open_ = [one for one in assigned if one.role in ("quasi", "sensitive") and one.column.kind in NUMERIC]
    found = [
        Alike(first, second, rank_correlation(first.column, second.column, rows))
        for first, second in combinations(open_[:MOST_COLUMNS], 2)
    ]
    return [pair for pair in found if abs(pair.correlation) >= NEARLY]


def rank_correlation(first: Column, second: Column, rows: Ints) -> float:
    """Return the rank correlation of two columns over the rows, of some, in which both have a value."""
    one, other = first.codes[rows].astype(np.int64), second.codes[rows].astype(np.int64)
    both = (one < first.values) & (other < second.values)
    return association.rank_correlation(one[both], other[both])


def decisions_on_alike(pairs: Sequence[Alike]) -> Iterator[str]:
    """Yield what is to be decided about columns that nearly tell one another, by their roles."""
    for group in _groups([pair for pair in pairs if pair.first.role == pair.second.role == "quasi"]):
        yield (
            f"{group.asked} {group.words} What they tell counts {group.times} when classes are formed, and other columns get "
            f"wider ranges: leave one in quasi, and name the other{'' if len(group.columns) == 2 else 's'} in drop."
        )
    told: dict[str, list[Alike]] = {}
    for pair in pairs:
        known = next((one for one in (pair.first, pair.second) if one.role == "quasi"), None)
        if known is not None and pair.first.role != pair.second.role:
            told.setdefault(known.column.name, []).append(pair)
    for name, found in told.items():
        hidden = [one.column.name for pair in found for one in (pair.first, pair.second) if one.role == "sensitive"]
        strongest = max((pair.correlation for pair in found), key=abs)
        most = f"{'up to ' if len(found) > 1 else ''}{_shown(strongest)}"
        yield (
            f"Do others know {listed_names([name])}? It nearly tells {listed_names(hidden)}, which nobody should learn (rank "
            f"correlation {most}): so its ranges must be wide. If nobody knows it, name it in drop, or give it limits of its own "
            "in sensitive."
        )
    for group in _groups([pair for pair in pairs if pair.first.role == pair.second.role == "sensitive"]):
        yield f"{group.asked} {group.words} Each of them needs limits, which cost detail: one may do."


def decisions_on_twins(assigned: Sequence[Assigned], pairs: Sequence[Alike]) -> Iterator[str]:
    """Yield what is to be decided about published columns that tell the same, but for pairs that nearly tell one another."""
    told = {frozenset({pair.first.column.name, pair.second.column.name}) for pair in pairs}
    roles = {one.column.name: one.role for one in assigned if one.role in ("quasi", "sensitive")}
    for one in assigned:
        if one.twin is None:
            continue
        both = frozenset({one.column.name, one.twin})
        if both in told or not both <= roles.keys():
            continue
        told.add(both)
        first, second = sorted(both, key=list(roles).index)
        if roles[first] != roles[second]:
            known, hidden = (first, second) if roles[first] == "quasi" else (second, first)
            yield (
                f"Is {listed_names([known])} to be published? It tells the same as {listed_names([hidden])}, which nobody should "
                "learn: name it in drop, or give it limits of its own in sensitive."
            )
            continue
        cost = "Each of them needs limits, which cost detail: one may do."
        if roles[first] == "quasi":
            cost = "What they tell counts twice when classes are formed: leave one in quasi, and name the other in drop."
        yield f"Are both {listed_names([first, second])} needed? They tell the same. {cost}"


def _shown(correlation: float) -> str:
    """Return a correlation with two decimals, rounded towards 0: one of less than 1 is never shown as 1."""
    return f"{math.trunc(100 * correlation) / 100:.2f}"


@dataclass(frozen=True)
class _Group:
    """Columns of which each nearly tells another one of them, and their smallest rank correlation."""

    columns: list[str]
    weakest: float

    @property
    def asked(self) -> str:
        """The question whether all columns are needed."""
        return f"Are {'both' if len(self.columns) == 2 else 'all of'} {listed_names(self.columns)} needed?"

    @property
    def times(self) -> str:
        """How often what the columns tell counts."""
        return "twice" if len(self.columns) == 2 else f"{len(self.columns):,} times"

    @property
    def words(self) -> str:
        """What a rank correlation means here, in a sentence."""
        if len(self.columns) == 2:
            return f"One nearly tells the other (rank correlation {_shown(self.weakest)})."
        return f"Each nearly tells another one of them (rank correlations of {_shown(abs(self.weakest))} or more)."


def _groups(pairs: Sequence[Alike]) -> list[_Group]:
    """Return the columns of some pairs in groups: columns are in one group if pairs lead from one to the other."""
    return [
        _Group(columns, min((pair.correlation for pair in pairs if pair.first.column.name in columns), key=abs))
        for columns in _joined([(pair.first.column.name, pair.second.column.name) for pair in pairs])
    ]


def groups_alike(assigned: Sequence[Assigned], pairs: Sequence[Alike]) -> tuple[tuple[str, ...], ...]:
    """Return the columns that tell, or nearly tell, one another, in groups."""
    twins = [(one.column.name, one.twin) for one in assigned if one.twin is not None]
    return tuple(map(tuple, _joined([*((pair.first.column.name, pair.second.column.name) for pair in pairs), *twins])))


def _joined(pairs: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Return the names of some pairs in groups: names are in one group if pairs lead from one to the other."""
    groups: list[list[str]] = []
    for pair in pairs:
        joined = [group for group in groups if not set(pair).isdisjoint(group)]
        names = dict.fromkeys([*(name for group in joined for name in group), *pair])
        groups = [*(group for group in groups if group not in joined), list(names)]
    return groups
