"""Joined: what someone sees who joins several tables of the same rows again, by the quasi-identifiers of a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.make.codip import association_matrix
from tclose.values.arrays import Ints, renumber


@dataclass(frozen=True)
class Association:
    """How much two sensitive attributes tell of one another in the input, and whether one of the tables shows it.

    Attributes
    ----------
    between : (str, str)
    strength : float
        Normalised mutual information: 0 for independent attributes, 1 if each tells the other.
    kept : bool
        Whether one table has both.
    """

    between: tuple[str, str]
    strength: float
    kept: bool


@dataclass(frozen=True)
class Guess:
    """How often the best guess of a sensitive value is right, for someone who knows the class of each person.

    Attributes
    ----------
    by_class : float
        Knowing the class alone.
    by_join : float
        Knowing the person's other sensitive values in the same table, too.
    if_joined : float
        Knowing all other sensitive values, if one table had all of them in the same classes.
    """

    by_class: float
    by_join: float
    if_joined: float


@dataclass(frozen=True)
class Joined:
    """What joining several tables shows, and what publishing them apart loses.

    Attributes
    ----------
    tables : tuple of tuple of str
        The sensitive attributes of each table.
    smallest_intersection : int
        The least number of rows, or of persons where the policy counts them, that are together in a class of every table.
    associations : tuple of Association
        Each pair of sensitive attributes.
    guesses : mapping of Guess
        For each sensitive attribute, what knowing others of the same person adds (background join).
    """

    tables: tuple[tuple[str, ...], ...]
    smallest_intersection: int
    associations: tuple[Association, ...]
    guesses: Mapping[str, Guess]

    @property
    def association_lost(self) -> float:
        """The share of all association between sensitive attributes that no table shows; 0 if there is none."""
        whole = sum(pair.strength for pair in self.associations)
        return sum(pair.strength for pair in self.associations if not pair.kept) / whole if whole else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, for JSON."""
        return {**asdict(self), "association_lost": self.association_lost}


def joined_tables(
    codes: Mapping[str, NDArray[Any]],
    tables: Sequence[Sequence[str]],
    classes: Sequence[Ints],
    persons: NDArray[Any] | None = None,
) -> Joined:
    """Return what joining several tables shows.

    Parameters
    ----------
    codes
        The code of each row of the input, for each sensitive attribute.
    tables
        The sensitive attributes of each table.
    classes
        For each table the published class of each row; -1 where the row is suppressed.
    persons : (rows,) integers, optional
        The person of each row, where persons are counted.
    """
    guesses = {}
    for table, labels in zip(tables, classes, strict=True):
        there = labels >= 0
        for name in table:
            same = [codes[other][there] for other in table if other != name]
            others = [codes[other][there] for other in codes if other not in table]
            guesses[name] = guess_of(labels[there], codes[name][there], same, others)
    return Joined(
        tuple(map(tuple, tables)),
        smallest_intersection(classes, persons),
        associations_of(list(codes), list(codes.values()), tables),
        guesses,
    )


def smallest_intersection(classes: Sequence[Ints], persons: NDArray[Any] | None = None) -> int:
    """Return the least number of rows, or of persons if they are given, that are together in a class of every table.

    Parameters
    ----------
    classes
        For each table the published class of each row of the input; -1 where the row is suppressed. To be in a table and not in
        another one tells rows apart, too; rows that are in no table are not seen.
    persons : (rows,) integers, optional
        The person of each row.
    """
    seen = np.any([labels >= 0 for labels in classes], axis=0)
    keys = np.zeros(int(seen.sum()), dtype=np.int64)
    for labels in classes:
        keys = renumber(keys * (int(labels.max()) + 2) + labels[seen] + 1)[0]
    if persons is not None:  # one row of each person is enough
        who = persons[seen].astype(np.int64)
        keys = keys[renumber(keys * (int(who.max()) + 1) + who)[1]]
    return int(np.bincount(keys).min())


def associations_of(
    names: Sequence[str], codes: Sequence[NDArray[Any]], tables: Sequence[Sequence[str]]
) -> tuple[Association, ...]:
    """Return the association of each pair of sensitive attributes in the input, and whether a table keeps it."""
    matrix = association_matrix(codes)
    return tuple(
        Association((names[a], names[b]), float(matrix[a, b]), any({names[a], names[b]} <= set(table) for table in tables))
        for a, b in combinations(range(len(names)), 2)
    )


def guess_of(labels: Ints, target: NDArray[Any], same_table: Sequence[NDArray[Any]], others: Sequence[NDArray[Any]]) -> Guess:
    """Return how often the best guess of a value is right, from the class and from other values of the same person.

    Parameters
    ----------
    labels : (rows,) int64
        The class of each row.
    target : (rows,) integers
        The codes of the attribute that is guessed.
    same_table, others : sequences of (rows,) integers
        The codes of the other sensitive attributes: of the same table, and of all others.
    """
    in_table = [labels, *same_table]
    return Guess(_success(target, [labels]), _success(target, in_table), _success(target, [*in_table, *others]))


def _success(target: NDArray[Any], known: Sequence[NDArray[Any]]) -> float:
    """Return the share of rows that have the most frequent value among the rows that agree in what is known."""
    keys = np.zeros(len(target), dtype=np.int64)
    for column in known:
        keys = renumber(keys * (int(column.max()) + 1) + column)[0]
    pairs, first = renumber(keys * (int(target.max()) + 1) + target)
    most = np.zeros(int(keys.max()) + 1, dtype=np.int64)
    np.maximum.at(most, keys[first], np.bincount(pairs))
    return float(most.sum() / len(target))
