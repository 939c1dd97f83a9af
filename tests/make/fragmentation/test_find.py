"""What find_fragmentation takes, and one sentence for what it does not; and that large matrices are never laid out."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tclose as tc
from tclose.make.fragmentation.result import Fragmentation

M = [[15, 75, 0], [15, 0, 15], [30, 30, 45], [15, 30, 30]]
TREE = tc.Hierarchy.from_mapping({"*": {"a": ["a1", "a2"], "b": ["b1", "b2"]}})
METRIC = [[0, 0.5, 1], [0.5, 0, 0.5], [1, 0.5, 0]]


def shape(found: Fragmentation) -> list[Any]:
    return [(fragment.values, fragment.rows) for fragment in found.fragments]


# Kinds of input


@pytest.mark.parametrize(
    "counts",
    [
        np.array(M),
        np.array(M, dtype=np.uint8),
        tuple(map(tuple, M)),
        [[np.int32(rows) for rows in row] for row in M],
        {(i, j): rows for i, row in enumerate(M) for j, rows in enumerate(row)},
        {(i, j): np.int64(M[i][j]) for i in (3, 0, 2, 1) for j in (2, 0, 1) if M[i][j]},
        Counter((i, j) for i, row in enumerate(M) for j, rows in enumerate(row) for _ in range(rows)),
        pd.DataFrame(M),
        pd.DataFrame([(i, j) for i, row in enumerate(M) for j, rows in enumerate(row) for _ in range(rows)]).value_counts(),
    ],
    ids=["array", "bytes", "tuples", "numpy numbers", "mapping", "mapping without order", "counter", "frame", "series"],
)
def test_counts_come_in_many_ways(counts: Any) -> None:
    assert shape(tc.find_fragmentation(counts, t=0.3)) == shape(tc.find_fragmentation(M, t=0.3))


def test_one_attribute_needs_no_tuples() -> None:
    counts = {3: 5, 9: 1, 5: 2}
    ref = shape(tc.find_fragmentation([5, 2, 1], t=0.2, values=[[3, 5, 9]]))
    assert shape(tc.find_fragmentation(counts, t=0.2)) == ref
    assert shape(tc.find_fragmentation({(value,): rows for value, rows in counts.items()}, t=0.2)) == ref
    assert shape(tc.find_fragmentation(pd.Series([3] * 5 + [9] + [5] * 2).value_counts(), t=0.2)) == ref
    found = tc.find_fragmentation(counts, t=0)
    assert found.taken({3: 2, 9: 1}).tolist() == found.taken({(3,): 2, (9,): 1}).tolist() == [2, 0, 1]
    assert found.taken([2, 0, 1]).tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    "t", [0.3, "3/10", Decimal("0.3"), Fraction(3, 10), (0.3, 0.3), np.array([0.3, 0.3]), np.float64(0.3), np.array(0.3)]
)
def test_a_limit_is_any_number_or_one_for_each(t: Any) -> None:
    assert tc.find_fragmentation(M, t).t == (Fraction(3, 10), Fraction(3, 10))


@pytest.mark.parametrize("path", [[(0, 0, 1), (1, 1, 2)], ((0, 0, 1), (1, 1, 2)), np.array([[0, 0, 1], [1, 1, 2]])])
def test_a_path_is_any_sequence_of_steps(path: Any) -> None:
    found = tc.find_fragmentation(M, 0, strategy=path)
    assert [fragment.values for fragment in found.fragments] == [
        ((0,), (0, 1, 2)),
        ((1, 2, 3), (0, 1)),
        ((1, 2, 3), (2,)),
    ]
    assert shape(tc.find_fragmentation(M, 0, strategy=iter(path))) == shape(found)


def test_a_path_may_leave_a_box_without_rows() -> None:
    found = tc.find_fragmentation([[0, 4], [0, 3]], t=0.5, strategy=[(0, 1, 1), (0, 0, 1)])
    assert found.rows.tolist() == [0, 0, 7]
    assert found.bounds == (Fraction(4, 7), Fraction(0))
    assert found.promise([0, 0, 3]) == found.bounds
    assert found.class_sizes(k=2).tolist() == [[0, 0, 7]]
    with pytest.raises(tc.PolicyError, match="no more rows of a fragment than there are in it"):
        found.promise([1, 0, 3])


def test_distances_are_one_for_all_or_one_for_each() -> None:
    counts = np.arange(1, 10).reshape(3, 3)
    for one in ("ordered", "equal", METRIC, np.array(METRIC), [["0", "1/2", "1"], ["1/2", "0", "1/2"], ["1", "1/2", "0"]]):
        each = tc.find_fragmentation(counts, t=0.1, distances=[one, one])
        assert shape(tc.find_fragmentation(counts, t=0.1, distances=one)) == shape(each)
    mixed = tc.find_fragmentation(counts, t=0.1, distances=[METRIC, "equal"])
    assert [axis.distance.name for axis in mixed.matrix.axes] == ["matrix", "equal"]
    decimals = [[Decimal(str(entry)) for entry in row] for row in METRIC]
    assert (
        tc.find_fragmentation(counts, t=0.1, distances=decimals).bounds
        == tc.find_fragmentation(counts, t=0.1, distances=METRIC).bounds
    )


def test_values_stand_in_their_order_and_in_that_of_their_tree() -> None:
    sizes = {"small": 3, "large": 1, "medium": 2}
    found = tc.find_fragmentation(sizes, t=0.3, values=[["small", "medium", "large"]])
    assert [fragment.values[0] for fragment in found.fragments] == [("small",), ("medium", "large")]
    leaves = {"b2": 1, "a1": 3, "b1": 2}
    tree = tc.find_fragmentation(leaves, t=0.2, distances=TREE)
    assert tree.matrix.values[0] == ["a1", "b1", "b2"]
    assert [fragment.values[0] for fragment in tree.fragments] == [("a1",), ("b1", "b2")]


def test_numbers_have_their_own_distance_apart() -> None:
    # 2 and 3 are near each other, 30 is far: ordered alone does not know.
    found = tc.find_fragmentation({2: 4, 3: 4, 30: 4}, t=0.05, distances="numeric")
    assert [fragment.values[0] for fragment in found.fragments] == [(2, 3), (30,)]
    assert found.bounds == (Fraction(4, 12 * 28),)


@pytest.mark.parametrize("distance", ["ordered", "numeric", "equal", TREE, [[0]]])
def test_one_value_is_one_fragment(distance: Any) -> None:
    for bound in ("corrected", "published"):
        found = tc.find_fragmentation({"7" if distance is not TREE else "a1": 6}, t=0, distances=[distance], bound=bound)
        assert found.bounds == (Fraction(0),)
        assert found.promise([2]) == (Fraction(0),)
        assert found.class_sizes(k=2).tolist() == [[3], [3]]
        assert found.class_sizes(k=4, sizing="gcd").tolist() == [[6]]
        assert repr(found) == f"<Fragmentation: 1 fragment, {bound} bounds 0.0000 of 0>"


# What it does not take

COUNTS = "counts must be whole numbers of rows, none below 0, and not all 0. Got others."
KEYS = "Every key of counts must have one value for each attribute. Got keys of several lengths, or none."
SHAPE = "counts must be an array with a place for each value of each attribute. Got another shape."
STEPS = "A path must be steps of three whole numbers: fragment, attribute, and after how many values. Got others."
STRATEGY = "strategy must be one of psi, sum, or a path. Got something else."
TWICE = "values must be distinct, and none may be NaN. Got a value twice, or NaN."


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ([], COUNTS),
        ([[]], COUNTS),
        ([[0, 0]], COUNTS),
        ([[1, -1]], COUNTS),
        ([[1.0, 2.0]], COUNTS),
        ([[1, float("nan")]], COUNTS),
        ([[True, False]], COUNTS),
        ([["a", "b"]], COUNTS),
        ({"a": None, "b": 1}, COUNTS),
        ({"a": "1"}, COUNTS),
        ({"a": 1.5}, COUNTS),
        ({"a": Fraction(3)}, COUNTS),
        ([2**70, 1], COUNTS),
        ([2**62, 2**62], "counts must add up to less than 2^63 rows. Got more."),
        (np.array([2**63 + 5, 7], dtype=np.uint64), "counts must add up to less than 2^63 rows. Got more."),
        (None, SHAPE),
        (3, SHAPE),
        ("abc", SHAPE),
        ([[1, 2], [3]], SHAPE),
        ({}, KEYS),
        ({("a", 1): 1, ("b",): 1}, KEYS),
        ({"a": [1], "b": [1, 2]}, COUNTS),
        ({("a", 1): 1, (2, 1): 1}, "The values of an attribute cannot be sorted. Give their order in values."),
        ({float("nan"): 1, 2.0: 1}, TWICE),
        (pd.Series([1, 2], index=[3, 3]), "The index of a Series must have each value once. Got a value twice."),
    ],
)
def test_counts_that_are_none(counts: Any, sentence: str) -> None:
    with pytest.raises(tc.PolicyError) as caught:
        tc.find_fragmentation(counts, t=0.1)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"t": None}, "t must be a number. NoneType is not a number."),
        ({"t": "x"}, "t must be a number. 'x' is not a number."),
        ({"t": True}, "t must be a number. True is not a number."),
        ({"t": float("nan")}, "t must be a number. nan is not a finite number."),
        ({"t": {"a": 0.3}}, "t must be a number. dict is not a number."),
        ({"t": (0.1, 2)}, "t must be between 0 and 1. Got 0.1, 2."),
        ({"t": (-0.1, 1)}, "t must be between 0 and 1. Got -0.1, 1."),
        ({"t": (0.1,)}, "t must be one number, or one for each attribute. Got 1 for 2."),
        ({"t": []}, "t must be one number, or one for each attribute. Got 0 for 2."),
        ({"bound": "publishd"}, "bound must be one of corrected, published. Got 'publishd'. Did you mean 'published'?"),
        ({"bound": None}, "bound must be one of corrected, published. Got None."),
        ({"strategy": "pis"}, "strategy must be one of psi, sum, or a path. Got 'pis'. Did you mean 'psi'?"),
        ({"strategy": None}, STRATEGY),
        ({"strategy": 3}, STRATEGY),
        ({"strategy": [1, 2, 3]}, STRATEGY),
        ({"strategy": [(0, 0)]}, STEPS),
        ({"strategy": [(0, 0, 1.5)]}, STEPS),
        ({"strategy": [(False, 0, 1)]}, STEPS),
        ({"strategy": [(1, 0, 1)]}, "A path must split fragments that are there: 0 to 0. Got 1."),
        ({"strategy": [(0, 0, 1), (-1, 0, 1)]}, "A path must split fragments that are there: 0 to 1. Got -1."),
        ({"strategy": [(0, 2, 1)]}, "The matrix has attributes 0 to 1. Got 2."),
        ({"strategy": [(0, 0, 4)]}, "A fragment must be split between two of its values: after 1 to 3 of 4. Got 4."),
        (
            {"distances": "orderd"},
            "distance must be a known name, a Hierarchy or a matrix. Got 'orderd'. Known are 'ordered', 'numeric' and 'equal'.",
        ),
        (
            {"distances": None},
            "distances must be names, hierarchies or matrices: one, or one for each attribute. Got NoneType.",
        ),
        (
            {"distances": {"a": "equal"}},
            "distances must be names, hierarchies or matrices: one, or one for each attribute. Got dict.",
        ),
        (
            {"distances": tc.Hierarchy},
            "distances must be names, hierarchies or matrices: one, or one for each attribute. Got type.",
        ),
        ({"distances": ["equal"]}, "distances must be one, or one for each attribute. Got 1 for 2."),
        ({"distances": []}, "distances must be one, or one for each attribute. Got 0 for 2."),
        ({"distances": METRIC}, "A matrix distance must have one row for each value. Got 3 rows for 4 values."),
        ({"distances": [None, None]}, "distance must be a known name, a Hierarchy or a matrix of numbers. Got something else."),
        ({"distances": [[0, 1], [2, 0]]}, "A matrix distance must be symmetric. Got 1 and 2 for values 1 and 2."),
        ({"distances": TREE}, SHAPE),  # three places of the second attribute for four leaves
        (
            {"distances": TREE, "values": [range(4), range(3)]},
            "Every value must be in the hierarchy. Got 4 that are not, the first 0.",
        ),
        ({"distances": "numeric"}, "The numeric distance needs values, or a mapping from numbers. Got neither."),
        ({"values": 5}, "values must be one sequence for each attribute. Got something else."),
        ({"values": [4, 3]}, "values must be one sequence for each attribute. Got something else."),
        ({"values": [[1, 2, 3, 4]]}, SHAPE),
        ({"values": [[1, 2, 3], [1, 2, 3]]}, SHAPE),
        ({"values": [[1, 2, 3, 3], [1, 2, 3]]}, TWICE),
        ({"values": [[1, 2, 3, float("nan")], [1, 2, 3]]}, TWICE),
        ({"values": [[[], 2, 3, 4], [1, 2, 3]]}, "values must be hashable. Got one that is not, such as a list."),
        ({"counts": {"a": 1}, "values": [["a"], ["b"]]}, KEYS),
        (
            {"counts": {"a": 1, "z": 1}, "values": [["a", "b"]]},
            "counts must have no value beyond values. Got one that is not there.",
        ),
        ({"counts": {"a": 1}, "distances": "numeric"}, "The numeric distance needs numbers or dates. Got str."),
        (
            {"counts": np.ones(101, dtype=int), "values": [[*range(100), 500]], "distances": "numeric", "bound": "published"},
            "The published bound of a numeric distance takes at most 100 values. Got 101: use the corrected bound.",
        ),
    ],
    ids=str,
)
def test_options_that_are_none(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(tc.PolicyError) as caught:
        tc.find_fragmentation(**{"counts": M, "t": 0.1, **options})
    assert str(caught.value) == sentence


TAKES = "A class must take a number of rows of each fragment: 3 whole numbers, not all 0. Got others."
ROWS = "A class must hold whole numbers of rows, none below 0. Got others."


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda found: found.conforms([1, 2]), "A class must have the shape of the matrix, (4, 3). Got (2,)."),
        (lambda found: found.conforms(None), "A class must have the shape of the matrix, (4, 3). Got ()."),
        (lambda found: found.taken([[0.5] * 3] * 4), ROWS),
        (lambda found: found.taken([[float("nan")] * 3] * 4), ROWS),
        (lambda found: found.taken([[-1, 0, 0]] * 4), ROWS),
        (lambda found: found.taken({(0, 0): -3}), ROWS),
        (lambda found: found.taken({(0, 0): 1.5}), ROWS),
        (lambda found: found.taken({(0, 0): "x"}), ROWS),
        (lambda found: found.fragments[0].conforms({(0, 0): 1.5}), ROWS),
        (
            lambda found: found.taken([[99] * 3] * 4),
            "A class must hold no more rows with some values than the table does. Got more.",
        ),
        (
            lambda found: found.taken({(0, 2): 1}),
            "A class must hold no more rows with some values than the table does. Got more.",
        ),
        (lambda found: found.taken({(0, 7): 1}), "A class must have values of the matrix, one for each attribute. Got others."),
        (lambda found: found.taken({0: 1}), "A class must have values of the matrix, one for each attribute. Got others."),
        (lambda found: found.promise([1]), TAKES),
        (lambda found: found.promise([0, 0, 0]), TAKES),
        (lambda found: found.promise([1, -1, 1]), TAKES),
        (lambda found: found.promise([1.5, 1, 1]), TAKES),
        (lambda found: found.promise([[1], [1, 2]]), TAKES),
        (lambda found: found.promise(None), TAKES),
        (
            lambda found: found.promise([10**6] * 3),
            "A class must take no more rows of a fragment than there are in it. Got more.",
        ),
        (lambda found: found.class_sizes(0), "k must be a whole number, 1 at least. Got 0."),
        (lambda found: found.class_sizes(2.5), "k must be a whole number, 1 at least. Got 2.5."),
        (lambda found: found.class_sizes(True), "k must be a whole number, 1 at least. Got True."),
        (lambda found: found.class_sizes(5, "gdc"), "sizing must be one of relaxed, gcd. Got 'gdc'."),
        (lambda found: found.fragments[0].worst(9), "The matrix has attributes 0 to 1. Got 9."),
    ],
)
def test_questions_that_are_none(ask: Callable[[Any], Any], sentence: str) -> None:
    found = tc.find_fragmentation(M, t=0.3)
    assert len(found.fragments) == 3
    with pytest.raises(tc.PolicyError) as caught:
        ask(found)
    assert str(caught.value) == sentence


def test_a_class_of_no_rows_conforms_to_nothing() -> None:
    found = tc.find_fragmentation(M, t=0.3)
    for empty in ([[0] * 3] * 4, {}, {(0, 2): 0}):
        assert found.taken(empty).tolist() == [0, 0, 0]
        assert not found.conforms(empty)
        assert not found.fragments[0].conforms(empty)


# Large and sparse


@pytest.mark.parametrize(("distances", "t"), [(["ordered", "ordered"], 0.1), (["ordered", "equal"], 0.98)])
def test_a_large_matrix_is_never_laid_out(distances: list[str], t: float) -> None:
    # 3,000 x 3,000 values: laid out in integers of 8 bytes, 72 MB.
    lots = np.random.default_rng(0)
    counts = Counter(zip(lots.integers(0, 3000, 4000).tolist(), lots.integers(0, 3000, 4000).tolist(), strict=True))
    values = [range(3000), range(3000)]
    tracemalloc.start()
    try:
        found = tc.find_fragmentation(counts, t, distances=distances, values=values)
        classes = found.class_sizes(k=5)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40 * 2**20
    assert found.acceptable
    assert len(found.fragments) > 3
    assert classes.sum(axis=0).tolist() == found.rows.tolist()


def test_three_large_attributes() -> None:
    lots = np.random.default_rng(0)
    shape = (94, 72, 118)
    counts = Counter(zip(*(lots.binomial(m - 1, 0.4, 30_162).tolist() for m in shape), strict=True))
    found = tc.find_fragmentation(counts, t=(0.3, 0.2, 0.1), values=[range(m) for m in shape])
    assert found.acceptable
    assert found.matrix.total == 30_162 == found.rows.sum()
    for s in range(3):
        assert found.bounds[s] == sum((fragment.worst(s) for fragment in found.fragments), Fraction(0))


def test_an_array_stands_for_the_leaves_of_its_hierarchy() -> None:
    found = tc.find_fragmentation([4, 4, 1, 1], t=0.5, distances=TREE)
    named = tc.find_fragmentation({"a1": 4, "a2": 4, "b1": 1, "b2": 1}, t=0.5, distances=TREE)
    assert found.matrix.values == [["a1", "a2", "b1", "b2"]]
    assert (found.bounds, [fragment.values for fragment in found.fragments]) == (
        named.bounds,
        [fragment.values for fragment in named.fragments],
    )
