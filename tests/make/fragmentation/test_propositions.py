"""The propositions of Bagai et al. 2023, in fractions: those that hold, and those that do not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.make.fragmentation.fragment import Fragment
from tests import naive
from tests.support.examples import examples
from tests.support.matrices import CLOSED, KINDS, MIXES, Drawn, arrays, matrices, parts_of, paths, sides, sums

SOME = settings(max_examples=examples(40), deadline=None)
FEW = settings(max_examples=examples(20), deadline=None)

Vector = Sequence[Any]


def paper_emd(p: Vector, q: Vector) -> Fraction:
    """Definition 2: of two vectors of one sum, in steps of their own length."""
    assert sum(p) == sum(q)
    return tc.emd(p, q, exact=True) * sum(p) if sum(p) else Fraction(0)


def paper_delta(p: Vector) -> Fraction:
    """The distance to all mass at the last place if the vector is left-heavy, else at the first (theorem 10)."""
    k, mass = len(p), sum(p)
    first, last = ([mass if place == end else 0 for place in range(k)] for end in (0, k - 1))
    centre = Fraction(sum(share * (place + 1) for place, share in enumerate(p)), mass)
    return paper_emd(p, last if centre < Fraction(k + 1, 2) else first)


def spreads(mass: int, k: int) -> Iterator[list[int]]:
    """All ways to put so many rows at k values."""
    if k == 1:
        yield [mass]
        return
    for first in range(mass + 1):
        for rest in spreads(mass - first, k - 1):
            yield [first, *rest]


@st.composite
def pairs(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Two vectors of one length and one sum."""
    k, mass = draw(st.integers(1, 5)), draw(st.integers(1, 12))
    both = [sorted(draw(st.lists(st.integers(0, mass), min_size=k - 1, max_size=k - 1))) for _ in range(2)]
    left, right = ([b - a for a, b in zip([0, *cuts], [*cuts, mass], strict=True)] for cuts in both)
    return left, right


# Vectors


@SOME
@given(pairs())
def test_proposition_3_no_distance_is_above_the_mass(both: tuple[list[int], list[int]]) -> None:
    assert 0 <= paper_emd(*both) <= sum(both[0])


@SOME
@given(pairs(), st.data())
def test_proposition_5_a_sum_is_no_farther_than_its_terms(both: tuple[list[int], list[int]], data: st.DataObject) -> None:
    others = data.draw(pairs().filter(lambda other: len(other[0]) == len(both[0])))
    added = [[a + b for a, b in zip(left, right, strict=True)] for left, right in zip(both, others, strict=True)]
    assert paper_emd(*added) <= paper_emd(*both) + paper_emd(*others)


@SOME
@given(pairs(), pairs())
def test_proposition_7_side_by_side_is_no_farther_than_both(
    first: tuple[list[int], list[int]], second: tuple[list[int], list[int]]
) -> None:
    assert paper_emd(first[0] + second[0], first[1] + second[1]) <= paper_emd(*first) + paper_emd(*second)


def test_proposition_7_is_not_proved_by_places_without_mass() -> None:
    # The proof says that they change nothing. They do: the same step is a smaller part of a longer way.
    assert paper_emd([1, 0], [0, 1]) == 1
    assert paper_emd([1, 0, 0], [0, 1, 0]) == Fraction(1, 2)


@pytest.mark.parametrize(("mass", "k"), [(1, 1), (6, 2), (5, 3), (4, 4)])
def test_theorem_10_the_corners_of_the_simplex_are_the_farthest(mass: int, k: int) -> None:
    for p in spreads(mass, k):
        worst = max(paper_emd(p, q) for q in spreads(mass, k))
        assert worst == paper_delta(p) == naive.fragments.box_delta(p, list(range(k)), naive.ground_ordered(k), "published")


@pytest.mark.parametrize("kind", CLOSED)
@FEW
@given(data=st.data())
def test_theorem_10_for_other_distances_over_the_values_that_occur(kind: str, data: st.DataObject) -> None:
    side = data.draw(sides(kind))
    m = len(side.values)
    p = data.draw(st.lists(st.integers(0, 2), min_size=m, max_size=m).filter(any))
    found = tc.find_fragmentation(p, 0, distances=[side.distance], values=[side.values], strategy=[])
    near = [q for q in spreads(sum(p), m) if all(b or not a for a, b in zip(q, p, strict=True))]
    assert found.bounds[0] == max(side.emd(p, q) for q in near)
    assert found.fragments[0].worst(0) == found.bounds[0]


# Fragmentations


def fragments_by(drawn: Drawn, path: list[tuple[int, int, int]], bound: str) -> Any:
    return drawn.fragmented(0, strategy=path, bound=bound)


@st.composite
def conforming(draw: st.DrawFn, kinds: Sequence[str]) -> tuple[Drawn, np.ndarray[Any, Any], list[tuple[int, int, int]]]:
    """A matrix, a way down, and a class with the same share of every fragment where the way ends."""
    drawn = [draw(sides(kind)) for kind in kinds]
    shape = [len(side.values) for side in drawn]
    part = draw(arrays(shape, 2).filter(np.any))
    path = draw(paths(shape))
    owner = np.zeros(shape, dtype=np.int64)
    for number, fragment in enumerate(Drawn(np.ones(shape, dtype=np.int64), drawn).fragmented(0, strategy=path).fragments):
        owner[np.ix_(*fragment.sides)] = number
    counts = part.copy()
    for _ in range(draw(st.integers(0, 2))):  # other classes that take as many rows of each fragment
        for number in range(len(path) + 1):
            inside = np.argwhere(owner == number)
            for _ in range(int(part[owner == number].sum())):
                counts[tuple(inside[draw(st.integers(0, len(inside) - 1))])] += 1
    return Drawn(counts, drawn), part, path


@SOME
@given(st.data())
def test_proposition_18_and_theorem_20(data: st.DataObject) -> None:
    drawn, part, path = data.draw(conforming(data.draw(MIXES)))
    emds = drawn.emds(part)
    by_bound = {}
    for bound in ("corrected", "published"):
        found = fragments_by(drawn, path, bound)
        assert found.conforms(part)
        assert all(fragment.conforms(part) for fragment in found.fragments)
        for s, emd in enumerate(emds):
            assert emd <= found.bounds[s] + (Fraction(1, 10**9) if isinstance(emd, float) else 0)
        assert found.promise(found.taken(part)) == found.bounds
        by_bound[bound] = found
    assert all(c <= p for c, p in zip(by_bound["corrected"].bounds, by_bound["published"].bounds, strict=True))
    if all(side.distance == "ordered" for side in drawn.sides):
        for s, emd in enumerate(emds):
            moved = [paper_emd(*slices(fragment, part, drawn, s)) for fragment in by_bound["published"].fragments]
            assert emd <= sum(moved)


def slices(fragment: Fragment, part: np.ndarray[Any, Any], drawn: Drawn, s: int) -> list[list[Fraction]]:
    """The slice-sums of a fragment of the matrix and of a class, over the fragment's own values, as shares."""
    box = np.ix_(*fragment.sides)
    return [[Fraction(count, int(counts.sum())) for count in sums(counts[box], s)] for counts in (drawn.counts, part)]


@SOME
@given(st.data())
def test_proposition_18_for_ordered_attributes(data: st.DataObject) -> None:
    drawn, part, path = data.draw(conforming(["ordered", "ordered"]))
    found = fragments_by(drawn, path, "published")
    for s, emd in enumerate(drawn.emds(part)):
        each = [slices(fragment, part, drawn, s) for fragment in found.fragments]
        assert emd <= sum(paper_emd(*both) for both in each) <= found.bounds[s]


@SOME
@given(st.data())
def test_proposition_22_bounds_are_between_0_and_1_and_0_at_single_cells(data: st.DataObject) -> None:
    drawn = data.draw(matrices(data.draw(MIXES), largest=3, most=3))
    for bound in ("corrected", "published"):
        found = drawn.fragmented(0, bound=bound)
        assert set(found.bounds) == {Fraction(0)}
        for step in found.walk():
            assert all(0 <= value <= 1 for value in step.bounds)
    assert len(drawn.fragmented(0).fragments) == len(drawn.cells)


@SOME
@given(st.data())
def test_the_corrected_bound_is_never_above_the_published_one(data: st.DataObject) -> None:
    drawn = data.draw(matrices(data.draw(MIXES)))
    path = data.draw(paths(drawn.counts.shape, most=6))
    corrected, published = (fragments_by(drawn, path, bound) for bound in ("corrected", "published"))
    for fragment, other in zip(corrected.fragments, published.fragments, strict=True):
        assert fragment.values == other.values
        for s in range(len(drawn.sides)):
            assert fragment.worst(s) <= other.worst(s, "published")
    assert all(c <= p for c, p in zip(corrected.bounds, published.bounds, strict=True))


@pytest.mark.parametrize("kind", CLOSED)
@SOME
@given(data=st.data())
def test_proposition_21_holds_along_the_split_attribute_when_corrected(kind: str, data: st.DataObject) -> None:
    drawn = data.draw(matrices([kind, data.draw(st.sampled_from(KINDS))], least=2))
    (whole,) = drawn.fragmented(0, strategy=[]).fragments
    for parts in naive.fragments.splits(drawn.cells, tuple(side.tolist() for side in whole.sides), drawn.ways, "corrected"):
        if parts[0][1] == whole.sides[1].tolist():  # along the first attribute
            split = whole.parts(0, [np.array(part[0]) for part in parts])
            assert sum((part.worst(0) for part in split), Fraction(0)) <= whole.worst(0)


@SOME
@given(st.data())
def test_a_run_of_an_order_is_never_worse_in_two(data: st.DataObject) -> None:
    drawn = data.draw(matrices([data.draw(st.sampled_from(["ordered", "numeric", "equal"])), "equal"], least=2))
    (whole,) = drawn.fragmented(0, strategy=[]).fragments
    parts = whole.split(0, data.draw(st.integers(1, len(drawn.sides[0].values) - 1)))
    assert parts[0].worst(0) + parts[1].worst(0) <= whole.worst(0)
    assert (parts[0] | parts[1]) == whole


def test_proposition_21_does_not_hold_for_any_metric() -> None:
    # Two pairs far apart in themselves and near each other: to b all move .4 + .5 / 2, in pairs twice .4.
    near = Fraction(1, 2)
    metric = [[0, 1, near, near], [1, 0, near, near], [near, near, 0, 1], [near, near, 1, 0]]
    found = tc.find_fragmentation([4, 1, 4, 1], 0, distances=[metric], strategy=[(0, 0, 2)])
    assert [step.bounds for step in found.walk()] == [(Fraction(13, 20),), (Fraction(16, 20),)]


@pytest.mark.parametrize(
    ("matrix", "t", "bound", "psi"),
    [
        # Along the rows: from (1/2, 1/2) to (0, 2/3), then (0, 1/3); no other split is better.
        ([[2, 1], [1, 2]], "2/5", "corrected", "1/5 4/15 0"),
        ([[2, 0], [0, 1]], "1/2", "published", "1/3 1/2 0"),
    ],
)
def test_psi_may_rise_on_the_way(matrix: list[list[int]], t: str, bound: str, psi: str) -> None:
    steps = tc.find_fragmentation(matrix, t, bound=bound).walk()
    found = [sum((max(value - Fraction(t), Fraction(0)) for value in step.bounds), Fraction(0)) for step in steps]
    assert found == [Fraction(value) for value in psi.split()]


@SOME
@given(st.data())
def test_what_a_class_may_be_is_within_the_bounds_of_the_whole(data: st.DataObject) -> None:
    # Any class conforms to the box of all values.
    drawn = data.draw(matrices(data.draw(MIXES), largest=3))
    part = data.draw(parts_of(drawn.counts))
    assume(part.any())
    found = drawn.fragmented(0, strategy=[])
    assert found.conforms(part)
    assert found.promise([int(part.sum())]) == found.bounds
    assert all(emd <= float(bound) + 1e-9 for emd, bound in zip(drawn.emds(part), found.bounds, strict=True))
