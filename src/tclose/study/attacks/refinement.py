"""Refinement: which person cannot be in which class, given the published values and the sizes of all classes together.

The published values of one class allow everybody whom they contain. All classes together allow less: each person is in exactly
one class, and each class has as many rows as are published. Whoever has a register of exactly the people in the release can rule
out pairs of a person and a class (downcoding, Cohen 2022; combinatorial refinement, Chhillar et al. 2025).

People with the same quasi-identifiers are a supply of a flow, classes are its demands, and the truth is one feasible flow. A pair
that has no flow in it has some in another feasible flow if and only if a cycle of the residual graph goes through it, that is, if
both of its ends are strongly connected. Besides, somebody must attain each end of a published range. Where one combination of
quasi-identifiers alone can, at least one of its people is in the class: a lower bound of the flow. Where several can, nothing is
concluded, nor from the labels of hierarchies. So an attacker may rule out more pairs than are counted here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tclose.make.encode import Attribute
from tclose.study.attacks.record import Outcome
from tclose.study.scene import CHUNK, Scene, find_keys
from tclose.values.arrays import Bools, Floats, Ints

MOST = 400_000_000
"""The largest number of pairs of a row and a class that are looked at."""


class Refined(NamedTuple):
    """Which classes the people in a release can be in."""

    number: Ints
    """(rows,): the combination of quasi-identifiers of each row in the release."""
    allowed: Bools
    """(combinations, classes): whether the published values of the class contain the combination."""
    by_sizes: Bools
    """(combinations, classes): whether the sizes of all classes leave the pair possible as well,"""
    possible: Bools
    """(combinations, classes): and the ends of ranges that somebody attains, too."""


def too_large(scene: Scene) -> str | None:
    """Return why a release is too large for this attack; None if it is not."""
    rows, classes = len(scene.published), scene.classes
    if rows * classes <= MOST:
        return None
    return f"Refinement was not tried: it looks at all pairs of {rows:,} rows and {classes:,} classes, and at most at {MOST:,}."


def refine(scene: Scene) -> Refined:
    """Return which pairs of people and classes are possible, given all classes together."""
    members = scene.published
    used, number = np.unique(scene.combinations[1][members], return_inverse=True)
    first = scene.combinations[0][used]
    allowed = np.empty((len(first), scene.classes), dtype=np.bool_)
    for part, contains in scene.containing(first):
        allowed[part] = contains
    pairs, rows = np.unique(number * scene.classes + scene.labels[members], return_counts=True)
    people, classes = np.divmod(pairs, scene.classes)
    by_sizes = possible_pairs(allowed, people, classes, rows > 0)
    possible = by_sizes
    while True:
        least = find_keys(pairs, _needed(scene, first, possible))[1]
        fewer = possible_pairs(possible, people, classes, rows > least)
        if np.array_equal(fewer, possible):
            return Refined(number, allowed, by_sizes, possible)
        possible = fewer


def refinement(scene: Scene, found: Refined, attribute: Attribute) -> Outcome:
    """Return how often an attacker is certain of a person's value, and right: no other value occurs in the classes left possible.

    ``figures`` counts pairs of a member and a class: those that single classes allow, and the share of them that is impossible,
    by the sizes of classes alone, and with the ends of ranges. Members are ``narrowed`` if a class is ruled out for them. Each
    row of a person is a member here: the register has one line for each. ``bits`` are upper bounds of the logarithm, to base 2,
    of the number of consistent assignments of members to classes: the sum over members of that of their possible classes.
    """
    counts, truth = scene.counts(attribute), attribute.codes[scene.published].astype(np.int64)
    before, after = (_beliefs(_spread(pairs, counts), found.number, truth) for pairs in (found.allowed, found.possible))
    allowed, by_sizes, possible = (pairs.sum(axis=1)[found.number] for pairs in (found.allowed, found.by_sizes, found.possible))
    return Outcome(
        name="refinement",
        sensitive=attribute.column.name,
        knows="the quasi-identifiers of exactly the people in the release",
        does=f"rules out classes for them until their {attribute.column.name} is certain",
        before=float((counts.sum(axis=0) > 0).sum() == 1),
        members=_certain(after),
        controls=np.zeros(0),
        class_known=_certain(_beliefs(counts, scene.labels[scene.published], truth)),
        lowers="l: 2 or more, or a smaller t: they limit what a class tells, also someone who knows whose it is",
        figures={
            "pairs": int(allowed.sum()),
            "impossible_by_sizes": float(1 - by_sizes.sum() / allowed.sum()),
            "impossible": float(1 - possible.sum() / allowed.sum()),
            "narrowed": int((possible < allowed).sum()),
            "one_class_before": int((allowed == 1).sum()),
            "one_class": int((possible == 1).sum()),
            "certain_before": float(_certain(before).mean()),
            "belief_before": float(before.mean()),
            "belief_after": float(after.mean()),
            "bits_before": float(np.log2(allowed).sum()),
            "bits_after": float(np.log2(possible).sum()),
        },
        everybody=True,
        proves=True,
    )


def possible_pairs(allowed: Bools, people: Ints, classes: Ints, movable: Bools) -> Bools:
    """Return which allowed pairs have flow in some feasible flow.

    Parameters
    ----------
    allowed : (people, classes) bool
        The pairs that can have flow. ``people`` are kinds of people, who cannot be told apart.
    people, classes : (pairs,) int64
        The pairs with flow in a feasible flow, ascending by people.
    movable : (pairs,) bool
        Whether there is more flow than the lower bound of the pair.

    Returns
    -------
    (people, classes) bool
    """
    from_people, from_classes = people[movable], classes[movable]
    # A person can leave a class for each other class that allows them: edges of the residual graph, from class to class.
    leaves = np.zeros((allowed.shape[1], allowed.shape[1]), dtype=np.bool_)
    order = np.argsort(from_classes, kind="stable")
    _add_rows(leaves, from_classes[order], lambda part: allowed[from_people[order[part]]])
    component = strong_components(leaves)
    found = np.zeros_like(allowed)
    found[people, classes] = True
    _add_rows(found, from_people, lambda part: allowed[from_people[part]] & (component[from_classes[part], None] == component))
    return found


def strong_components(edges: Bools) -> Ints:
    """Return the number of the strongly connected component of each node of a directed graph: (nodes, nodes) bool, from and to.

    Mostly one component has nearly all nodes and a large share of all possible edges. It is found by rows of the matrix, as the
    nodes that reach the one with most edges and are reached from it. The rest of the graph is left to networkx.

    >>> strong_components(np.array([[0, 1, 0], [1, 0, 0], [1, 0, 0]], dtype=bool)).tolist()
    [0, 0, 1]
    """
    import networkx as nx

    component = np.zeros(len(edges), dtype=np.int64)
    if len(edges):
        start = int(edges.sum(axis=1).argmax())
        rest = np.flatnonzero(~(_reached(edges, start) & _reached(np.ascontiguousarray(edges.T), start)))
        graph = nx.DiGraph()
        graph.add_nodes_from(rest.tolist())
        graph.add_edges_from(rest[np.argwhere(edges[np.ix_(rest, rest)])].tolist())
        for number, nodes in enumerate(nx.strongly_connected_components(graph), start=1):
            component[list(nodes)] = number
    return component


def _reached(edges: Bools, start: int) -> Bools:
    """Return which nodes of a directed graph can be reached from one of them."""
    found = np.zeros(len(edges), dtype=np.bool_)
    new = np.arange(len(edges)) == start
    while new.any():
        found |= new
        new = edges[new].any(axis=0) & ~found
    return found


def _add_rows(matrix: Bools, numbers: Ints, rows: Callable[[slice], Bools]) -> None:
    """Set in each row of a matrix what is set in some of the rows for it, which are made a part at a time.

    ``numbers`` are the rows of the matrix that they are for, ascending.
    """
    step = max(1, CHUNK // max(matrix.shape[1], 1))
    for start in range(0, len(numbers), step):
        part = slice(start, start + step)
        starts = np.flatnonzero(np.diff(numbers[part], prepend=-1))
        matrix[numbers[part][starts]] |= np.logical_or.reduceat(rows(part), starts, axis=0)


def _needed(scene: Scene, first: Ints, possible: Bools) -> Ints:
    """Return the pairs that must have flow, as ``combination * classes + class``, ascending.

    They are those where one combination of quasi-identifiers alone can attain an end of a published range, or a member of a set.
    """
    people, classes = np.nonzero(possible)
    found = [np.zeros(0, dtype=np.int64)]
    for attained, scale, codes in zip(scene.attained, scene.table.scales, scene.table.quasi, strict=True):
        fits, ends = attained.fitting(classes * scale.size + codes[first[people]])
        counts = np.bincount(ends, minlength=len(attained.persons))  # of combinations: an alternative that none fits is not true
        proven = attained.proven(np.where(counts > 0, attained.persons, 0))
        some = fits[(proven & (counts == 1))[ends]]
        found.append(people[some] * scene.classes + classes[some])
    return np.unique(np.concatenate(found))


def _spread(pairs: Bools, counts: Floats) -> Floats:
    """Return for each combination how many rows with each value are in the classes of its pairs: (combinations, values)."""
    step = max(1, CHUNK // max(pairs.shape[1], 1))
    parts = [pairs[start : start + step].astype(np.float64) @ counts for start in range(0, len(pairs), step)]
    return np.concatenate(parts)


def _beliefs(counts: Floats, number: Ints, truth: Ints) -> Floats:
    """Return the belief in the true value of each row: its share of what is counted for the row's combination or class."""
    beliefs: Floats = counts[number, truth] / counts.sum(axis=1)[number]
    return beliefs


def _certain(beliefs: Floats) -> Floats:
    """Return 1 where no other value than the true one is possible, else 0."""
    found: Floats = (beliefs == 1).astype(np.float64)
    return found
