"""t-Incognito: the least generalisation of whole columns under which all classes satisfy every limit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tclose.jobs import announce, check, report
from tclose.make.algorithm import Partition
from tclose.make.incognito.histogram import Histogram, failing_classes, histogram_of, number_tuples, roll_up
from tclose.make.incognito.lattice import Node, candidates_of, minimal, subsets, walk
from tclose.make.kernels.limits import Limits, limits_of
from tclose.make.kernels.satisfies import failing, scratch_for
from tclose.make.kernels.scratch import Scratch
from tclose.make.suppression import both_sides
from tclose.policy.models import merging_may_break
from tclose.values.arrays import Bools, Floats, Ints, grouped

if TYPE_CHECKING:
    from tclose.make.problem import Problem

OFTEN = 20
"""Nodes that are tested between two reports."""
MOST_LISTED = 1000
"""Minimal nodes that the record lists."""


def incognito(
    problem: Problem,
    seed: int,  # noqa: ARG001 - nothing is random,
    effort: str,  # noqa: ARG001 - nothing is refined,
    options: Mapping[str, Any],  # noqa: ARG001 - and there are no options
) -> Partition:
    """Generalise whole columns, each to one level of its hierarchy, as little as the limits allow.

    Incognito (LeFevre, DeWitt and Ramakrishnan 2005) with t-closeness (Li, Li and Venkatasubramanian 2007). The steps are our
    reconstruction. A node of the lattice is one level for each quasi-identifier; rows that are published alike are a class. Two
    properties save tests, for limits that merging classes preserves: what satisfies them goes on doing so when it is generalised
    further, and with fewer quasi-identifiers. So subsets of the quasi-identifiers come first, smaller ones before larger ones. A
    node is a candidate if all of its parts satisfy the limits; it is not tested if a specialisation of it satisfies them.

    Of the minimal nodes, those without a specialisation that satisfies the limits, the one with the least information loss is
    chosen; ties: the least height, then the first.

    Where rows may be suppressed, or merging may break a limit, neither property holds, and every node is tested. The classes of
    a node that fail are suppressed; what is left must satisfy the limits against the input and against itself, and lose least.

    Under (n,t)-closeness classes are kept close to the whole table.
    """
    search = Search.of(problem)
    announce("Testing nodes:")
    if search.allowed == 0 and not merging_may_break(replace(problem.policy, n=None)):
        passing = search.pruned()
        chosen = min(minimal(passing), key=lambda node: (search.loss(node), sum(node), node), default=None)
    else:
        passing, losses = search.every_node()
        nodes = [tuple(heights) for heights in np.argwhere(passing).tolist()]
        chosen = min(nodes, key=lambda node: (losses[node], sum(node), node), default=None)
    if chosen is None:
        # Kernels that round accept no class that is too near to a limit. Feasibility was checked exactly: one class will do.
        chosen = tuple(levels - 1 for levels in search.levels)
        passing[chosen] = True
        return Partition(search.labels(chosen), levels=search.levels_of(chosen), course=search.course(passing, chosen))
    labels = search.labels(chosen)
    left = search.without_failing(labels) if search.allowed else labels
    assert left is not None
    return Partition(left, levels=search.levels_of(chosen), course=search.course(passing, chosen))


@dataclass(eq=False)
class Search:
    """A search of the lattice.

    Attributes
    ----------
    problem : Problem
    levels : list of int
        The number of levels of each quasi-identifier.
    groups : list of lists of (size,) int64
        For each quasi-identifier and each height, the group of each code.
    charges : list of lists of (size,) float64
        For each quasi-identifier and each height, the weighted NCP of each code.
    allowed : int
        How many rows may be suppressed.
    finest : Histogram
        That of the rows as they are.
    limits : Limits
    scratch : Scratch
        Both for `failing_classes`.
    tested : dict of int
        The number of nodes that were tested, by the number of quasi-identifiers in the node.
    """

    problem: Problem
    levels: list[int]
    groups: list[list[Ints]]
    charges: list[list[Floats]]
    allowed: int
    finest: Histogram
    limits: Limits
    scratch: Scratch
    tested: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, problem: Problem) -> Search:
        """Return the search for the classes of a problem."""
        groups = [[scale.groups(level) for level in range(scale.levels)][::-1] for scale in problem.scales]
        weights = [float(column.weight) for column in problem.policy.quasi]
        charges = [
            [_charges(scale, level, weight / sum(weights)) for level in range(scale.levels)][::-1]
            for scale, weight in zip(problem.scales, weights, strict=True)
        ]
        rows = int(problem.sensitive[0].counts.sum())  # of the input: some may be suppressed already
        allowed = int(problem.policy.suppression * rows) - (rows - problem.rows)
        finest, limits = histogram_of(problem.quasi, problem.limits)
        finest = roll_up(finest, list(enumerate(of_column[0] for of_column in groups)))
        levels = [scale.levels for scale in problem.scales]
        return cls(problem, levels, groups, charges, allowed, finest, limits, scratch_for(limits))

    def failing(self, histogram: Histogram, *, first: bool) -> Bools:
        """Return for each class whether it fails a limit; with ``first``, the first that is found is enough."""
        return failing_classes(self.limits, self.scratch, histogram, first=first)

    def pruned(self) -> Bools:
        """Return which nodes of the whole lattice satisfy the limits, found by way of all subsets of the quasi-identifiers."""
        passing: dict[tuple[int, ...], Bools] = {}
        for columns in subsets(self.levels):
            candidates = candidates_of(columns, self.levels, passing)
            if candidates.any():
                classes = Classes(self, columns, candidates)
                passing[columns] = walk(candidates, self._testing(columns, classes.satisfy), marking=True)
            else:
                passing[columns] = candidates
        return passing[tuple(range(len(self.levels)))]

    def every_node(self) -> tuple[Bools, Floats]:
        """Return which nodes satisfy the limits once the classes that fail are suppressed, and the information loss of each."""
        columns = tuple(range(len(self.levels)))
        candidates = np.ones(self.levels, dtype=np.bool_)
        losses = np.full(self.levels, math.inf)
        classes = Classes(self, columns, candidates)

        def satisfies(node: Node) -> bool:
            bad = self.failing(classes.at(node), first=self.allowed == 0)
            if not bad.any():
                losses[node] = self.loss(node)
            elif int(classes.at(node).sizes[bad].sum()) <= self.allowed:
                labels = self.without_failing(self.labels(node))
                losses[node] = math.inf if labels is None else self.loss(node, labels)
            return bool(losses[node] < math.inf)

        return walk(candidates, self._testing(columns, satisfies), marking=False), losses

    def without_failing(self, labels: Ints) -> Ints | None:
        """Suppress the classes that fail a limit, until none does; None if too many rows would be, or all.

        Each time the published rows are others, and classes are compared with these as with the input.
        """
        policy, persons = replace(self.problem.policy, n=None), self.problem.limits.persons.astype(np.int64)
        labels = labels.copy()
        while True:
            rows, starts = grouped(labels)
            if not len(rows) or len(labels) - len(rows) > self.allowed:
                return None
            published = [attribute.take(rows) for attribute in self.problem.sensitive]
            limits = limits_of(both_sides(published), policy, persons[rows] if len(persons) else None)
            bad = failing(limits, np.arange(len(rows), dtype=np.int32), starts)
            if not bad.any():
                labels[rows] = np.repeat(np.arange(len(bad)), np.diff(starts))
                return labels
            labels[rows[np.repeat(bad, np.diff(starts))]] = -1

    def loss(self, node: Node, labels: Ints | None = None) -> float:
        """Return the GCP of a node; a row with the label -1 loses everything."""
        quasi = self.problem.quasi if labels is None else self.problem.quasi[labels >= 0]
        total = [float(len(self.problem.quasi) - len(quasi))]
        for column, height in enumerate(node):
            charges = self.charges[column][height]
            total += (np.bincount(quasi[:, column], minlength=len(charges)) * charges).tolist()
        return math.fsum(total) / len(self.problem.quasi)

    def labels(self, node: Node) -> Ints:
        """Return the class of each row."""
        of_columns = [self.groups[column][height] for column, height in enumerate(node)]
        return number_tuples(
            [(group[codes], int(group.max()) + 1) for group, codes in zip(of_columns, self.problem.quasi.T, strict=True)]
        )[0]

    def levels_of(self, node: Node) -> list[int]:
        """Return the levels of a node, counted from the root."""
        return [levels - 1 - height for levels, height in zip(self.levels, node, strict=True)]

    def course(self, passing: Bools, chosen: Node) -> dict[str, Any]:
        """Return how the search went, for the private record."""
        names = [scale.name for scale in self.problem.scales]
        least = minimal(passing)
        return {
            "levels": dict(zip(names, self.levels_of(chosen), strict=True)),
            "levels_in_all": dict(zip(names, self.levels, strict=True)),
            "nodes": passing.size,
            "nodes_tested": self.tested.get(passing.ndim, 0),
            "nodes_tested_of_subsets": sum(count for size, count in self.tested.items() if size < passing.ndim),
            "minimal_nodes": len(least),
            "minimal": [self.levels_of(node) for node in least[:MOST_LISTED]],
        }

    def _testing(self, columns: tuple[int, ...], satisfies: Callable[[Node], bool]) -> Callable[[Node], bool]:
        """Return the test of nodes, which are counted and reported."""
        size, most = len(columns), len(self.levels)

        def test(node: Node) -> bool:
            check()
            self.tested[size] = self.tested.get(size, 0) + 1
            done = sum(self.tested.values())
            if done % OFTEN == 1:
                report(f"{done:,}; {size} of {most} quasi-identifiers, whose lattice has {math.prod(self.levels):,}")
            return satisfies(node)

        return test


class Classes:
    """The histograms of the nodes of some quasi-identifiers: each is rolled up from that of a specialisation."""

    def __init__(self, search: Search, columns: tuple[int, ...], candidates: Bools) -> None:
        """Begin with the least height of each quasi-identifier among the candidates."""
        self._search, self._columns = search, columns
        self._nodes: list[tuple[Node, Histogram]] = []
        lowest = tuple(np.argwhere(candidates).min(axis=0).tolist())
        self._add(lowest, search.finest)

    def satisfy(self, node: Node) -> bool:
        """Return whether all classes of a node satisfy the limits."""
        return not self._search.failing(self.at(node), first=True).any()

    def at(self, node: Node) -> Histogram:
        """Return the histogram of a node. Nodes are asked for in lexicographic order.

        Those that are kept lie each above the one before, up to the latest: with few of them one is near to any node.
        """
        while any(own > asked for own, asked in zip(self._nodes[-1][0], node, strict=True)):
            self._nodes.pop()
        if self._nodes[-1][0] != node:
            self._add(node, self._nodes[-1][1])
        return self._nodes[-1][1]

    def _add(self, node: Node, source: Histogram) -> None:
        groups = [(column, self._search.groups[column][height]) for column, height in zip(self._columns, node, strict=True)]
        self._nodes.append((node, roll_up(source, groups)))


def _charges(scale: Any, level: int, weight: float) -> Floats:
    """Return the weighted NCP of each code of a scale whose values are published at a level."""
    groups = scale.groups(level)
    codes, starts = grouped(groups)
    ncp = scale.at_level(level).publish(codes, starts).ncp
    return np.asarray(ncp[groups] * weight, dtype=np.float64)
