"""The lattice: all combinations of levels of the quasi-identifiers, and which of them an algorithm has to test.

A node has a height for each quasi-identifier: how many levels its values are generalised, 0 if they are published as they are. A
node is a generalisation of another one if none of its heights is smaller.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from tclose.values.arrays import Bools

if TYPE_CHECKING:
    from tclose.make.problem import Problem
    from tclose.make.scales import Scale
    from tclose.policy import Policy

MOST_NODES = 10_000_000
"""Nodes of the lattices of all subsets of the quasi-identifiers: each may have to be tested."""

Node = tuple[int, ...]
"""The height of each quasi-identifier."""


def refuses(policy: Policy, problem: Problem | None) -> str:
    """Return in one sentence what Incognito cannot do of what a policy asks; empty if it can do all of it."""
    for column in policy.quasi:
        if column.recode in ("bounds", "centroid"):
            return f"It publishes quasi-identifiers at levels, and recode: {column.recode} of {column.name!r} has none."
    nodes = 0 if problem is None else number_of_nodes(problem.scales)
    if nodes > MOST_NODES:
        return f"The levels of the quasi-identifiers can be combined in {nodes:,} ways. It tries at most {MOST_NODES:,}."
    return ""


def number_of_nodes(scales: Sequence[Scale]) -> int:
    """Return the number of nodes in the lattices of all subsets of the quasi-identifiers."""
    return math.prod(scale.levels + 1 for scale in scales) - 1


def subsets(levels: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield all subsets of the quasi-identifiers, smaller ones first, as ascending indices."""
    for size in range(1, len(levels) + 1):
        yield from combinations(range(len(levels)), size)


def candidates_of(columns: tuple[int, ...], levels: Sequence[int], passing: dict[tuple[int, ...], Bools]) -> Bools:
    """Return which nodes of a subset can satisfy the limits: those of which each part without one quasi-identifier does.

    This is the join and the prune of a-priori. ``passing`` has the nodes that satisfy the limits, for each smaller subset.
    """
    found = np.ones([levels[column] for column in columns], dtype=np.bool_)
    for axis in range(len(columns)):
        others = columns[:axis] + columns[axis + 1 :]
        if others:
            found &= np.expand_dims(passing[others], axis)
    return found


def walk(candidates: Bools, satisfies: Callable[[Node], bool], *, marking: bool) -> Bools:
    """Return which candidates satisfy the limits.

    Nodes are tested in lexicographic order, in which every node comes after its specialisations, as it does breadth-first. With
    ``marking``, a node above one that satisfies the limits is not tested: it satisfies them too.
    """
    found = np.zeros_like(candidates)
    for heights in np.argwhere(candidates).tolist():
        node = tuple(heights)
        found[node] = (marking and any(found[below] for below in specialisations(node))) or satisfies(node)
    return found


def specialisations(node: Node) -> Iterator[Node]:
    """Yield the direct specialisations of a node: one quasi-identifier is one level lower."""
    for axis, height in enumerate(node):
        if height:
            yield (*node[:axis], height - 1, *node[axis + 1 :])


def minimal(passing: Bools) -> list[Node]:
    """Return the nodes that satisfy the limits while none of their specialisations does, in lexicographic order."""
    at_or_below = passing.copy()
    for axis in range(passing.ndim):
        at_or_below = np.logical_or.accumulate(at_or_below, axis=axis)
    nodes = [tuple(heights) for heights in np.argwhere(passing).tolist()]
    return [node for node in nodes if not any(at_or_below[below] for below in specialisations(node))]
