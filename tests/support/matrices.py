"""Small matrices of sensitive values to draw: attributes of all five distances, beside what their naive twins need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tclose import Hierarchy, find_fragmentation
from tclose.make.fragmentation.result import Fragmentation
from tests import naive
from tests.support.distances import metrics

KINDS = ["ordered", "numeric", "equal", "hierarchical", "matrix"]
CLOSED = KINDS[:4]
"""Those whose earth mover's distance has a closed form."""


@dataclass
class Side:
    """One attribute: what `find_fragmentation` is told of it, and what the naive twins are."""

    distance: Any
    values: list[Any]
    ground: naive.Ground
    emd: Callable[[naive.Masses, naive.Masses], Any]
    ways: naive.fragments.Ways


@st.composite
def trees(draw: st.DrawFn) -> naive.Tree:
    """Of 1 to 5 leaves at any depth."""
    shapes = st.recursive(st.none(), lambda below: st.lists(below, min_size=1, max_size=3), max_leaves=5)
    names = count()

    def named(part: Any) -> naive.Tree:
        label = f"node {next(names)}"
        return label if part is None else (label, [named(child) for child in part])

    return named(draw(shapes.filter(lambda shape: shape is not None)))


@st.composite
def sides(draw: st.DrawFn, kind: str, least: int = 1, most: int = 4) -> Side:
    if kind == "hierarchical":
        tree = draw(trees().filter(lambda tree: least <= len(naive.leaves(tree)) <= most))
        return Side(
            Hierarchy(naive.paths(tree)),
            naive.leaves(tree),
            naive.ground_tree(tree),
            lambda p, q: naive.emd_tree(p, q, tree),
            naive.fragments.ways_of_tree(tree),
        )
    m = draw(st.integers(least, most))
    places = list(range(m))
    if kind == "matrix":
        ground = draw(metrics(m, most=6))
        return Side(ground, places, ground, lambda p, q: naive.emd_lp(p, q, ground), naive.fragments.ways_of_metric(ground))
    if kind == "numeric":
        values = sorted(draw(st.lists(st.fractions(-5, 5, max_denominator=4), min_size=m, max_size=m, unique=True)))
        return Side(
            "numeric",
            values,
            naive.ground_numeric(values),
            lambda p, q: naive.emd_numeric(p, q, values),
            naive.fragments.ways_on_line,
        )
    if kind == "equal":
        return Side("equal", places, naive.ground_equal(m), naive.emd_equal, naive.fragments.ways_of_set)
    return Side("ordered", places, naive.ground_ordered(m), naive.emd_ordered, naive.fragments.ways_on_line)


@dataclass
class Drawn:
    """A matrix of some attributes."""

    counts: np.ndarray[Any, Any]
    sides: list[Side]

    @property
    def cells(self) -> naive.fragments.Cells:
        return {tuple(cell): int(self.counts[tuple(cell)]) for cell in np.argwhere(self.counts).tolist()}

    @property
    def grounds(self) -> list[naive.Ground]:
        return [side.ground for side in self.sides]

    @property
    def ways(self) -> list[naive.fragments.Ways]:
        return [side.ways for side in self.sides]

    def fragmented(self, t: Any, **options: Any) -> Fragmentation:
        distances = [side.distance for side in self.sides]
        return find_fragmentation(self.counts, t, distances=distances, values=[side.values for side in self.sides], **options)

    def emds(self, part: np.ndarray[Any, Any]) -> list[Any]:
        """The distance of a class from the table, for each attribute."""
        return [side.emd(sums(part, s), sums(self.counts, s)) for s, side in enumerate(self.sides)]


def sums(counts: np.ndarray[Any, Any], s: int) -> list[int]:
    """The slice-sums of one attribute."""
    along: list[int] = counts.sum(axis=tuple(axis for axis in range(counts.ndim) if axis != s)).tolist()
    return along


def arrays(shape: Sequence[int], largest: int) -> st.SearchStrategy[np.ndarray[Any, Any]]:
    size = int(np.prod(shape))
    numbers = st.lists(st.integers(0, largest), min_size=size, max_size=size)
    return numbers.map(lambda flat: np.array(flat, dtype=np.int64).reshape(shape))


@st.composite
def matrices(draw: st.DrawFn, kinds: Sequence[str], largest: int = 5, least: int = 1, most: int = 4) -> Drawn:
    """With one attribute of each of these kinds."""
    drawn = [draw(sides(kind, least, most)) for kind in kinds]
    counts = draw(arrays([len(side.values) for side in drawn], largest).filter(np.any))
    return Drawn(counts, drawn)


MIXES = st.one_of(
    st.lists(st.sampled_from(KINDS), min_size=2, max_size=2),
    st.lists(st.sampled_from(CLOSED), min_size=3, max_size=3),
)
"""Two attributes of any kinds, or three."""


@st.composite
def parts_of(draw: st.DrawFn, counts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Any class: some of the rows of a matrix."""
    flat = [draw(st.integers(0, int(rows))) for rows in counts.ravel()]
    return np.array(flat, dtype=np.int64).reshape(counts.shape)


@st.composite
def limits(draw: st.DrawFn, number: int) -> list[Fraction]:
    return [Fraction(draw(st.integers(0, 12)), 20) for _ in range(number)]


@st.composite
def paths(draw: st.DrawFn, shape: Sequence[int], most: int = 4) -> list[tuple[int, int, int]]:
    """A way down of any splits there are: places of values, whether they occur or not."""
    boxes = [list(shape)]
    path = []
    for _ in range(draw(st.integers(0, most))):
        can = [(place, s) for place, box in enumerate(boxes) for s, size in enumerate(box) if size > 1]
        if not can:
            break
        place, s = draw(st.sampled_from(can))
        after = draw(st.integers(1, boxes[place][s] - 1))
        left, right = list(boxes[place]), list(boxes[place])
        left[s], right[s] = after, right[s] - after
        boxes[place : place + 1] = [left, right]
        path.append((place, s, after))
    return path
