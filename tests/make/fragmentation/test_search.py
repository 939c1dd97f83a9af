"""Fragments and the search for them, against a twin that weighs every split anew."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.distances import Equal, Hierarchical, Matrix, Numeric, Ordered
from tclose.make.fragmentation.axes import axis_of
from tclose.make.fragmentation.candidates import Candidates, candidates
from tclose.make.fragmentation.counts import Counts
from tclose.make.fragmentation.fragment import Fragment
from tclose.make.fragmentation.result import Fragmentation
from tclose.make.fragmentation.search import search
from tests import naive
from tests.support.examples import examples
from tests.support.matrices import KINDS, MIXES, limits, matrices, paths

SOME = settings(max_examples=examples(40), deadline=None)
FEW = settings(max_examples=examples(20), deadline=None)

DISEASES = tc.Hierarchy.from_mapping({"*": {"lung": ["flu", "cold"], "gut": {"large": ["colitis", "polyp"], "small": ["ulcer"]}}})


def boxes(found: Fragmentation) -> list[naive.fragments.Box]:
    return [tuple(side.tolist() for side in fragment.sides) for fragment in found.fragments]


# By hand


def test_an_ordered_attribute_is_cut_between_two_values() -> None:
    found = tc.find_fragmentation([5, 1, 0, 1, 5], t=0.21)
    assert boxes(found) == [([0, 1],), ([2, 3, 4],)]  # 2 does not occur: it goes with the next that does
    assert found.bounds == (Fraction(10, 4 * 12),)
    assert repr(found.fragments[1]) == "<Fragment 2..4: 6 rows>"


def test_values_in_no_order_are_parted_by_their_rows() -> None:
    # Alone the most frequent value saves 7 of 12 rows, any other way to part them less.
    found = tc.find_fragmentation({"a": 1, "b": 7, "c": 1, "d": 3}, t=0.4, distances="equal")
    assert [fragment.values for fragment in found.fragments] == [(("a", "c", "d"),), (("b",),)]
    assert found.bounds == (Fraction(4, 12),)
    assert repr(found.fragments[0]) == "<Fragment {a, c, d}: 5 rows>"


def test_a_node_falls_into_its_children() -> None:
    counts = {"flu": 2, "cold": 2, "colitis": 2, "polyp": 1, "ulcer": 1}
    found = tc.find_fragmentation(counts, t=0, distances=DISEASES)
    assert [[fragment.values[0] for fragment in step.fragments] for step in found.walk()] == [
        [("flu", "cold", "colitis", "polyp", "ulcer")],
        [("flu", "cold"), ("colitis", "polyp", "ulcer")],
        [("flu", "cold"), ("colitis", "polyp"), ("ulcer",)],
        [("flu",), ("cold",), ("colitis", "polyp"), ("ulcer",)],
        [("flu",), ("cold",), ("colitis",), ("polyp",), ("ulcer",)],
    ]
    # To a disease of the gut 4 of 8 move over the root; ulcer's two sisters move over the gut, 2/3 as far.
    top = next(found.walk())
    assert top.bounds == (Fraction(4, 8) + Fraction(3, 8) * Fraction(2, 3),)


def test_a_node_with_one_child_that_occurs_is_skipped() -> None:
    found = tc.find_fragmentation({"colitis": 2, "polyp": 1}, t=0, distances=DISEASES, values=[DISEASES.leaves])
    assert [fragment.rows for fragment in found.fragments] == [2, 1]
    assert [len(step.fragments) for step in found.walk()] == [1, 2]


def test_a_matrix_is_cut_by_the_distance_from_its_worst_value() -> None:
    metric = [[0, 0.2, 1], [0.2, 0, 0.9], [1, 0.9, 0]]
    found = tc.find_fragmentation({"a": 4, "b": 4, "c": 1}, t=0.1, distances=[metric])
    assert [fragment.values for fragment in found.fragments] == [(("c",),), (("a", "b"),)]
    assert found.bounds == (Fraction(4, 9) * Fraction(1, 5),)


# Boxes


@SOME
@given(st.data())
def test_parts_have_their_fragment_for_a_union(data: st.DataObject) -> None:
    drawn = data.draw(matrices(data.draw(MIXES), least=2))
    fragment = drawn.fragmented(0, strategy=[]).fragments[0]
    s = data.draw(st.integers(0, len(drawn.sides) - 1))
    left, right = fragment.split(s, data.draw(st.integers(1, len(drawn.sides[s].values) - 1)))
    assert left.rows + right.rows == fragment.rows == drawn.counts.sum()
    assert left.mass + right.mass == 1
    assert left | right == right | left == fragment
    assert hash(left | right) == hash(fragment)
    assert left != right
    assert left.marginal(s).sum() == left.rows


def test_only_neighbours_have_a_union() -> None:
    def refused(first: Any, second: Any) -> None:
        with pytest.raises(tc.PolicyError, match="Only fragments of one matrix that are adjacent"):
            first.union(second)

    whole = tc.find_fragmentation(np.ones((4, 4), dtype=int), t=0, strategy=[]).fragments[0]
    top, bottom = whole.split(0, 2)
    first, second = top.split(0, 1)
    refused(first, bottom)  # the second row is between
    assert (first | (second | bottom)) == whole
    refused(top.split(1, 2)[0], bottom)  # not as wide
    refused(top.split(1, 2)[0], bottom.split(1, 2)[1])  # across
    refused(top, top)
    refused(top, tc.find_fragmentation(np.ones((4, 4), dtype=int), t=0, strategy=[]).fragments[0].split(0, 2)[1])
    refused(top, 3)
    sets = tc.find_fragmentation([1, 1, 1], t=0, distances="equal")
    assert (sets.fragments[0] | sets.fragments[2]).values == ((0, 2),)  # sets are always side by side
    refused(sets.fragments[0], sets.fragments[0] | sets.fragments[1])


@pytest.mark.parametrize(
    ("attribute", "after", "sentence"),
    [
        (0, 0, "A fragment must be split between two of its values: after 1 to 2 of 3. Got 0."),
        (0, 3, "A fragment must be split between two of its values: after 1 to 2 of 3. Got 3."),
        (0, -1, "A fragment must be split between two of its values: after 1 to 2 of 3. Got -1."),
        (0, 1.5, "A fragment must be split between two of its values: after 1 to 2 of 3. Got 1.5."),
        (1, 1, "A fragment cannot be split along an attribute of which it has one value."),
        (2, 1, "The matrix has attributes 0 to 1. Got 2."),
        (-1, 1, "The matrix has attributes 0 to 1. Got -1."),
    ],
)
def test_where_a_fragment_cannot_be_split(attribute: int, after: Any, sentence: str) -> None:
    fragment = tc.find_fragmentation([[1], [2], [3]], t=0, strategy=[]).fragments[0]
    with pytest.raises(tc.PolicyError) as caught:
        fragment.split(attribute, after)
    assert str(caught.value) == sentence


# The walk


@pytest.mark.parametrize("bound", ["corrected", "published"])
@pytest.mark.parametrize("kind", KINDS)
@FEW
@given(data=st.data())
def test_the_walk_is_that_of_its_twin(kind: str, bound: str, data: st.DataObject) -> None:
    others = data.draw(st.lists(st.sampled_from(KINDS), max_size=2))
    drawn = data.draw(matrices([kind, *others], most=4 if len(others) < 2 else 3))
    t = data.draw(limits(len(drawn.sides)))
    strategy = data.draw(st.sampled_from(["psi", "sum"]))
    ref = naive.fragments.walk(drawn.cells, drawn.grounds, drawn.ways, t, bound, strategy)
    comp = drawn.fragmented(t, bound=bound, strategy=strategy)
    assert [(boxes(step), list(step.bounds)) for step in comp.walk()] == ref
    assert comp.acceptable


@pytest.mark.parametrize("strategy", ["psi", "sum"])
def test_boxes_without_rows_are_split_as_published_and_never_weighed(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Six rows in 5 x 4 x 3 cells: a limit of 0 splits down to single cells, most of them empty."""
    counts = np.zeros((5, 4, 3), dtype=int)
    for cell in [(0, 0, 0), (1, 3, 2), (4, 1, 1), (2, 2, 0), (3, 0, 2), (4, 3, 0)]:
        counts[cell] = 1
    weighed: list[int] = []

    def weigh(fragment: Fragment, bound: str) -> Candidates:
        weighed.append(fragment.rows)
        return candidates(fragment, bound)

    monkeypatch.setattr("tclose.make.fragmentation.search.candidates", weigh)
    found = tc.find_fragmentation(counts, t=(0, 0, 0), bound="published", strategy=strategy)
    cells = {cell: int(counts[cell]) for cell in product(*map(range, counts.shape)) if counts[cell]}
    grounds = [[[Fraction(abs(u - v), size - 1) for v in range(size)] for u in range(size)] for size in counts.shape]
    ref = naive.fragments.walk(cells, grounds, [naive.fragments.ways_on_line] * 3, [Fraction(0)] * 3, "published", strategy)
    assert [(boxes(step), list(step.bounds)) for step in found.walk()] == ref
    assert min(weighed) > 0
    assert (found.rows == 0).sum() > len(cells)


@SOME
@given(st.data())
def test_every_fragmentation_covers_the_matrix_once(data: st.DataObject) -> None:
    drawn = data.draw(matrices(data.draw(MIXES)))
    shape = drawn.counts.shape
    strategy = data.draw(st.one_of(st.sampled_from(["psi", "sum"]), paths(shape)))
    bound = data.draw(st.sampled_from(["corrected", "published"]))
    found = drawn.fragmented(data.draw(limits(len(shape))), strategy=strategy, bound=bound)
    steps = list(found.walk())
    assert boxes(steps[-1]) == boxes(found)
    assert steps[-1].bounds == found.bounds
    for number, step in enumerate(steps):
        cover = np.zeros(shape, dtype=int)
        for fragment in step.fragments:
            cover[np.ix_(*fragment.sides)] += 1
            assert fragment.rows == drawn.counts[np.ix_(*fragment.sides)].sum()
        assert (cover == 1).all()
        assert step.rows.sum() == drawn.counts.sum()
        for s in range(len(shape)):
            assert step.bounds[s] == sum((fragment.worst(s, bound) for fragment in step.fragments), Fraction(0))
        assert len(step.splits) == number


@pytest.mark.parametrize("kind", KINDS)
@FEW
@given(data=st.data())
def test_no_fragmentation_has_fewer_than_the_fewest(kind: str, data: st.DataObject) -> None:
    drawn = data.draw(matrices([kind, data.draw(st.sampled_from(["ordered", "equal"]))], most=3, largest=4))
    t = data.draw(limits(2))
    least = naive.fragments.fewest_fragments(drawn.cells, drawn.grounds, drawn.ways, t, "corrected")
    found = len(drawn.fragmented(t).fragments)
    assert found >= least
    if least == 1 or (least == 2 and kind != "hierarchical"):  # one step, and Psi 0 is the least there is
        assert found == least
    none = naive.fragments.fewest_fragments(drawn.cells, drawn.grounds, drawn.ways, [Fraction(0)] * 2, "corrected")
    assert len(drawn.fragmented(0).fragments) == none == len(drawn.cells)


def test_the_search_need_not_find_the_fewest() -> None:
    # Greedy: of all matrices of two rows and three columns with at most 1 row a cell, some take a step too many.
    worse = 0
    for flat in product(range(2), repeat=6):
        counts = np.array(flat).reshape(2, 3)
        if counts.any():
            cells = {tuple(cell): 1 for cell in np.argwhere(counts).tolist()}
            grounds, ways = [naive.ground_ordered(2), naive.ground_ordered(3)], [naive.fragments.ways_on_line] * 2
            for t in (Fraction(1, 10), Fraction(1, 4)):
                least = naive.fragments.fewest_fragments(cells, grounds, ways, [t, t], "corrected")
                found = len(tc.find_fragmentation(counts, t).fragments)
                assert found >= least
                worse += found > least
    assert worse > 0


def test_a_limit_is_judged_exactly() -> None:
    matrix = [[4, 1, 0], [0, 3, 3]]
    bounds = tc.find_fragmentation(matrix, t=0, strategy=[]).bounds
    assert len(tc.find_fragmentation(matrix, t=bounds).fragments) == 1
    for s in (0, 1):
        t = [bound - Fraction(int(s == number), 10**30) for number, bound in enumerate(bounds)]
        assert len(tc.find_fragmentation(matrix, t=t).fragments) > 1


# Integers that cannot wrap


@pytest.mark.parametrize("times", [1, 10**12, 3 * 10**17])
@pytest.mark.parametrize("distance", ["ordered", "numeric", "equal", "tree", "matrix"])
def test_counts_of_any_size_make_the_same_fragments(distance: str, times: int) -> None:
    metric = [[Fraction(abs(i - j), 1000) + Fraction(int(i != j), 7) for j in range(5)] for i in range(5)]
    given = {"tree": DISEASES, "matrix": metric}.get(distance, distance)
    values = [DISEASES.leaves if distance == "tree" else [0, 1, 2, 7, 10**6], [0, 1]]
    counts = np.array([[5, 1], [0, 2], [3, 3], [1, 0], [2, 2]])
    small, large = (
        tc.find_fragmentation(rows, 0.05, distances=[given, "ordered"], values=values) for rows in (counts, counts * times)
    )
    assert boxes(small) == boxes(large)
    assert small.bounds == large.bounds
    assert [fragment.worst(0) for fragment in small.fragments] == [fragment.worst(0) for fragment in large.fragments]
    assert large.rows.tolist() == [rows * times for rows in small.rows.tolist()]
    assert large.promise(large.rows) == small.promise(small.rows) == small.bounds


def test_numbers_far_apart_do_not_wrap() -> None:
    values = [[0, 1, 10**25]]
    found = tc.find_fragmentation([5, 1, 4], t="1/1000000000000000000000000", distances="numeric", values=values)
    assert boxes(found) == [([0, 1],), ([2],)]
    assert found.bounds == (Fraction(5, 10 * 10**25),)
    published = tc.find_fragmentation([5, 1, 4], t=0.5, distances="numeric", values=values, bound="published")
    assert published.bounds == (Fraction(4, 10),)  # 4 move over the whole of their box
    assert found.class_sizes(k=2).sum(axis=0).tolist() == [6, 4]


# Counting a table


@SOME
@given(st.data())
def test_a_table_is_counted_as_its_matrix(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    rows = data.draw(st.lists(st.tuples(*(st.integers(0, m - 1) for m in shape)), min_size=1, max_size=20))
    codes = [np.array(column, dtype=np.uint16) for column in zip(*rows, strict=True)]
    matrix, cell_of_row = Counts.of_codes(codes, [Ordered(m) for m in shape], [list(range(m)) for m in shape])
    assert matrix.cells.tolist() == [list(cell) for cell in sorted(set(rows))]
    assert matrix.rows.tolist() == [rows.count(tuple(cell)) for cell in matrix.cells.tolist()]
    assert [tuple(matrix.cells[cell].tolist()) for cell in cell_of_row] == rows
    assert matrix.total == len(rows)
    t = [Fraction(1, 5)] * len(shape)
    counts = {tuple(cell): count for cell, count in zip(matrix.cells.tolist(), matrix.rows.tolist(), strict=True)}
    ref = tc.find_fragmentation(counts, t, values=[range(m) for m in shape])
    assert boxes(Fragmentation.of_walk(search(matrix, t, "corrected", "psi"), t)) == boxes(ref)


def test_each_distance_has_its_axis() -> None:
    tree = Hierarchical(DISEASES, DISEASES.leaves)
    kinds = [Ordered(3), Numeric([0, 1, 5]), Equal(3), tree, Matrix([[0, 1], [1, 0]])]
    assert [type(axis_of(distance, 10)).__name__ for distance in kinds] == ["LineAxis"] * 2 + [
        "SetAxis",
        "TreeAxis",
        "MetricAxis",
    ]
