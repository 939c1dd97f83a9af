"""Distances of all five kinds to draw, beside what their naive twins say of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import count, product
from typing import Any

from hypothesis import strategies as st

from tclose import Hierarchy
from tclose.distances import Distance, Equal, Hierarchical, Matrix, Numeric, Ordered
from tests import naive

KINDS = ["ordered", "numeric", "equal", "hierarchical", "matrix"]


@dataclass
class Case:
    """A distance, and what its naive twin says of it."""

    comp: Distance
    ground: naive.Ground
    ref: Callable[[naive.Masses, naive.Masses], Fraction] | None  # a matrix has no closed form: there the programs decide


def hierarchical(tree: naive.Tree) -> Hierarchical:
    return Hierarchical(Hierarchy(naive.paths(tree)), naive.leaves(tree))


@st.composite
def trees(draw: st.DrawFn) -> naive.Tree:
    """Trees of any shape: leaves at different depths, nodes with one child, a single leaf."""
    shape = draw(st.recursive(st.none(), lambda below: st.lists(below, min_size=1, max_size=3), max_leaves=7))
    names = count()

    def named(part: Any) -> naive.Tree:
        label = f"node {next(names)}"
        return label if part is None else (label, [named(child) for child in part])

    return named(shape)


@st.composite
def metrics(draw: st.DrawFn, m: int | None = None, most: int = 9) -> naive.Ground:
    """The lengths of shortest ways in a random graph of m nodes, with edges of at most ``most``, as shares of the longest."""
    m = draw(st.integers(1, 5)) if m is None else m
    edges = {(i, j): draw(st.integers(1, most)) for i in range(m) for j in range(i)}
    d = [[0 if i == j else edges[max(i, j), min(i, j)] for j in range(m)] for i in range(m)]
    for over, i, j in product(range(m), repeat=3):
        d[i][j] = min(d[i][j], d[i][over] + d[over][j])
    longest = max(map(max, d)) or 1
    return [[Fraction(entry, longest) for entry in row] for row in d]


@st.composite
def cases(draw: st.DrawFn, kind: str) -> Case:
    if kind == "hierarchical":
        tree = draw(trees())
        return Case(hierarchical(tree), naive.ground_tree(tree), lambda p, q: naive.emd_tree(p, q, tree))
    if kind == "matrix":
        ground = draw(metrics())
        return Case(Matrix(ground), ground, None)
    if kind == "numeric":
        numbers = st.fractions(-100, 100, max_denominator=20)
        values = sorted(draw(st.lists(numbers, min_size=1, max_size=7, unique=True)))
        return Case(Numeric(values), naive.ground_numeric(values), lambda p, q: naive.emd_numeric(p, q, values))
    m = draw(st.integers(1, 7))
    if kind == "equal":
        return Case(Equal(m), naive.ground_equal(m), naive.emd_equal)
    return Case(Ordered(m), naive.ground_ordered(m), naive.emd_ordered)


def counts(m: int, largest: int = 6) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, largest), min_size=m, max_size=m).filter(any)


def partitions(m: int, largest: int = 6, most: int = 4) -> st.SearchStrategy[list[list[int]]]:
    return st.lists(counts(m, largest), min_size=1, max_size=most)
