"""CODIP: several tables, each with all quasi-identifiers and a group of the sensitive attributes (Fang et al. 2011).

A table with many sensitive attributes must be close to the whole in each of them, which costs much detail. Each of the tables
here must be close in its own attributes only. What is lost is the association between attributes of different tables, so
attributes that go together stay together. Our reconstruction: the text of the paper was not at hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tclose.jobs import announce
from tclose.make.algorithm import Partition
from tclose.values.arrays import Floats, renumber

if TYPE_CHECKING:
    from tclose.make.problem import Problem
    from tclose.policy import Policy

ASSOCIATED = 0.05
"""Groups of attributes are joined while their mean association is at least this; on Adult pairs have 0.05 to 0.09."""


def codip(problem: Problem, seed: int, effort: str, options: Mapping[str, Any]) -> list[Partition]:  # noqa: ARG001
    """Group the sensitive attributes by association, and let classes grow for each group by itself."""
    from tclose.make.growth.growth import growth
    from tclose.make.registry import ALGORITHMS

    partitions = []
    for number, group in enumerate(groups := groups_of(problem), start=1):
        announce(f"Table {number} of {len(groups)}:")
        names = tuple(problem.sensitive[index].column.name for index in group)
        found = growth(problem.only(names), seed, effort, ALGORITHMS["growth"].defaults)
        partitions.append(Partition(found.labels, sensitive=names, course=found.course))
    return partitions


def refuses(policy: Policy, problem: Problem | None) -> str:  # noqa: ARG001 - the policy tells all
    """Return why a policy cannot be satisfied by several tables; empty if it can."""
    if len(policy.sensitive) < 2:
        return "It divides the sensitive columns among tables, and needs two or more of them."
    if policy.keep or policy.other == "keep":
        return "A column that is kept as it is would stand in every table, and join their rows again."
    if policy.k == 1:
        return "Every table must ask for something by itself: k above 1."
    if policy.n is not None and any(column.t is None for column in policy.sensitive):
        return "Under (n,t)-closeness every table needs a t, so every sensitive column does."
    return ""


def groups_of(problem: Problem) -> list[list[int]]:
    """Return the sensitive attributes in two or more groups, by their indices."""
    codes = [attribute.codes for attribute in problem.sensitive]
    return grouped_by_association(association_matrix(codes))


def association_matrix(columns: Sequence[NDArray[Any]]) -> Floats:
    """Return the normalised mutual information I(A; B) / sqrt(H(A) H(B)) of each pair of columns of codes.

    1: each value of one goes with one value of the other; 0: they are independent, or one of them has a single value.
    """
    matrix = np.eye(len(columns))
    entropies = [_entropy(column) for column in columns]
    for a, b in combinations(range(len(columns)), 2):
        both = columns[a].astype(np.int64) * (int(columns[b].max()) + 1) + columns[b]
        shared = entropies[a] + entropies[b] - _entropy(both)
        scale = float(np.sqrt(entropies[a] * entropies[b]))
        matrix[a, b] = matrix[b, a] = min(1.0, max(0.0, shared / scale)) if scale > 0 else 0.0
    return matrix


def _entropy(codes: NDArray[Any]) -> float:
    """Return the entropy of a column of codes, in nats."""
    shares = np.bincount(renumber(codes)[0]) / len(codes)
    return float(-(shares * np.log(shares)).sum())


def grouped_by_association(association: Floats) -> list[list[int]]:
    """Return groups of columns, joined from the most associated pair on (average linkage); ties: the first pair wins.

    Groups are joined while their mean association is at least `ASSOCIATED` and more than two of them are left: one table with
    all columns is what other algorithms make.
    """
    groups = [[index] for index in range(len(association))]
    while len(groups) > 2:
        means = {
            pair: association[np.ix_(groups[pair[0]], groups[pair[1]])].mean() for pair in combinations(range(len(groups)), 2)
        }
        a, b = max(means, key=means.__getitem__)
        if means[a, b] < ASSOCIATED:
            break
        groups[a] = sorted(groups[a] + groups.pop(b))
    return groups
