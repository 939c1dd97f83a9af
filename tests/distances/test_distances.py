"""Every distance in every form: dense, exact and sparse, against the naive twin, the linear program and POT."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tclose import Hierarchy, HierarchyError, emd, transport
from tclose.distances import Distance, Equal, Hierarchical, Matrix, Numeric, Ordered
from tclose.judge.emd import FORMS, denominators, exact_emd, float_emd, numerators
from tclose.judge.transport import plan
from tclose.make.fragmentation.axes import axis_of
from tclose.values.histograms import Histograms
from tests import naive
from tests.support.distances import KINDS, cases, counts, hierarchical, partitions
from tests.support.examples import examples


def sparse(distance: Distance, classes: Histograms) -> list[Fraction]:
    ratios = zip(numerators(distance, classes).tolist(), denominators(distance, classes).tolist(), strict=True)
    return [Fraction(above, below) for above, below in ratios]


def unguarded(distance: Distance, classes: Histograms, dtype: type) -> list[int]:
    """Numerators in integers of this dtype, whether they wrap around or not."""
    found: list[int] = FORMS[distance.shape].numerators(distance, classes, dtype).tolist()
    return found


def delta(distance: Distance, masses: Sequence[int] | Sequence[Fraction]) -> Fraction:
    """The worst case of a fragment, by its integers."""
    common = math.lcm(*(Fraction(mass).denominator for mass in masses))
    rows = np.array([int(mass * common) for mass in masses])
    axis = axis_of(distance, int(rows.sum()))
    return Fraction(axis.delta(rows), axis.scale * common)


# Small enough to check by hand


@pytest.mark.parametrize(
    ("distance", "work"),
    [
        (Ordered(3), Fraction(1, 2)),  # half the mass moves two steps of two
        (Numeric([0, 1, 4]), Fraction(1, 2)),  # half the mass moves over the whole range
        (Equal(3), Fraction(1, 2)),
        (hierarchical(("*", [("low", ["0", "1"]), "2"])), Fraction(1, 2)),  # 0 and 2 meet at the root
        (Matrix([[0, 1, 0.5], [1, 0, 0.5], [0.5, 0.5, 0]]), Fraction(1, 4)),  # half the mass moves by 1/2
    ],
)
def test_half_the_mass_moves_from_the_first_value_to_the_last(distance: Distance, work: Fraction) -> None:
    assert exact_emd(distance, [1, 1, 0], [0, 1, 1]) == work


def test_ordered_and_numeric_differ_where_the_gaps_do() -> None:
    p, q = {0: 1}, {0: 1, 1: 1, 4: 2}
    assert emd(p, q, "ordered", exact=True) == Fraction(1, 4) * Fraction(1, 2) + Fraction(1, 2)
    assert emd(p, q, "numeric", exact=True) == Fraction(1, 4) * Fraction(1, 4) + Fraction(1, 2)


def test_a_plan_tells_what_moves_where() -> None:
    moves = transport(
        {"flu": 1, "colitis": 1},
        {"flu": 1, "cold": 1},
        Hierarchy.from_mapping({"*": {"lung": ["flu", "cold"], "gut": ["colitis"]}}),
    )
    assert [(move.source, move.target, move.mass, move.distance, move.cost) for move in moves] == [
        ("colitis", "cold", Fraction(1, 2), Fraction(1), Fraction(1, 2))
    ]


# All forms agree


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_dense_exact_sparse_and_the_linear_program_agree(kind: str, data: st.DataObject) -> None:
    case = data.draw(cases(kind))
    classes = data.draw(partitions(case.comp.m))
    table = naive.total(classes)
    histograms = Histograms.of(classes)
    assert unguarded(case.comp, histograms, object) == unguarded(case.comp, histograms, np.int64)
    for p, comp in zip(classes, sparse(case.comp, histograms), strict=True):
        if case.ref is not None:
            assert comp == case.ref(p, table)
        assert comp == exact_emd(case.comp, p, table)
        assert comp == pytest.approx(float_emd(case.comp, p, table), abs=1e-12)
        assert comp == pytest.approx(naive.emd_lp(p, table, case.ground), abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_pot_agrees(kind: str, data: st.DataObject) -> None:
    case = data.draw(cases(kind))
    p, q = data.draw(counts(case.comp.m)), data.draw(counts(case.comp.m))
    left, right = (np.array(side, dtype=np.float64) / sum(side) for side in (p, q))
    ref = ot.emd2(left, right, np.array(case.ground, dtype=np.float64))
    assert exact_emd(case.comp, p, q) == pytest.approx(float(ref), abs=1e-9)


@pytest.mark.parametrize("kind", ["ordered", "numeric", "equal", "hierarchical"])
@settings(max_examples=examples(30), deadline=None)
@given(data=st.data())
def test_a_closed_form_is_the_optimum_of_its_matrix_exactly(kind: str, data: st.DataObject) -> None:
    case = data.draw(cases(kind))
    p, q = data.draw(counts(case.comp.m)), data.draw(counts(case.comp.m))
    assert exact_emd(Matrix(case.ground), p, q) == exact_emd(case.comp, p, q)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_fractions_serve_as_masses(kind: str, data: st.DataObject) -> None:
    case = data.draw(cases(kind))
    p, q = data.draw(counts(case.comp.m)), data.draw(counts(case.comp.m))
    assert exact_emd(case.comp, naive.shares(p), naive.shares(q)) == exact_emd(case.comp, p, q)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_a_plan_has_the_marginals_p_and_q_and_costs_the_distance(kind: str, data: st.DataObject) -> None:
    case = data.draw(cases(kind))
    p, q = data.draw(counts(case.comp.m)), data.draw(counts(case.comp.m))
    moves = plan(case.comp, p, q)
    assert sum((mass * case.ground[i][j] for i, j, mass in moves), Fraction(0)) == exact_emd(case.comp, p, q)
    level = naive.shares(p)
    for source, target, mass in moves:
        assert mass > 0
        level[source] -= mass
        level[target] += mass
    assert level == naive.shares(q)
    # No value gives away what it has not: mass that leaves was there from the beginning.
    for value, share in enumerate(naive.shares(p)):
        assert sum((mass for source, _, mass in moves if source == value), Fraction(0)) <= share


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_delta_is_its_definition(kind: str, data: st.DataObject) -> None:
    case = data.draw(cases(kind))
    masses = data.draw(st.lists(st.integers(0, 6), min_size=case.comp.m, max_size=case.comp.m))
    ref = naive.delta(masses, case.ground)
    assert delta(case.comp, masses) == ref
    assert delta(case.comp, [Fraction(mass, 7) for mass in masses]) == ref / 7


# What a distance must be


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_the_ground_distance_is_a_metric_within_1(kind: str, data: st.DataObject) -> None:
    case = data.draw(cases(kind))
    codes = range(case.comp.m)
    d = [[case.comp.ground(i, j) for j in codes] for i in codes]
    assert d == case.ground
    for i, j, over in product(codes, repeat=3):
        assert (d[i][j] == 0) == (i == j)
        assert 0 <= d[i][j] == d[j][i] <= 1
        assert d[i][j] <= d[i][over] + d[over][j]
        assert (d[i][j] * case.comp.scale).denominator == 1


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_the_earth_movers_distance_is_a_metric_within_1(kind: str, data: st.DataObject) -> None:
    case = data.draw(cases(kind))
    p, q, r = (data.draw(counts(case.comp.m)) for _ in range(3))

    def d(a: list[int], b: list[int]) -> Fraction:
        return exact_emd(case.comp, a, b)

    assert (d(p, q) == 0) == (naive.shares(p) == naive.shares(q))
    assert 0 <= d(p, q) == d(q, p) <= 1
    assert d(p, r) <= d(p, q) + d(q, r)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_a_class_of_s_rows_is_within_1_minus_s_over_n(kind: str, data: st.DataObject) -> None:
    # Q holds P with weight s/n, and that share stays where it is.
    case = data.draw(cases(kind))
    histograms = Histograms.of(data.draw(partitions(case.comp.m)))
    for size, comp in zip(histograms.sizes.tolist(), sparse(case.comp, histograms), strict=True):
        assert comp <= 1 - Fraction(size, histograms.rows)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_a_union_is_never_farther_than_its_worst_part(kind: str, data: st.DataObject) -> None:
    case = data.draw(cases(kind))
    classes = data.draw(partitions(case.comp.m, most=5))
    k = data.draw(st.integers(1, len(classes)))
    groups = [place % k for place in range(len(classes))]
    parts = Histograms.of(classes)
    unions = parts.merged(np.array(groups))
    ref = [naive.total([c for c, group in zip(classes, groups, strict=True) if group == union]) for union in range(k)]
    assert [unions.dense(union).tolist() for union in range(len(unions))] == ref
    near = sparse(case.comp, parts)
    for union, comp in enumerate(sparse(case.comp, unions)):
        assert comp <= max(emd for emd, group in zip(near, groups, strict=True) if group == union)


@pytest.mark.parametrize(
    "distance",
    [
        Ordered(1),
        Numeric([Fraction(7, 2)]),
        Equal(1),
        Matrix([[0]]),
        hierarchical("root"),  # H = 0
        hierarchical(("root", ["leaf"])),
    ],
)
def test_one_value_is_at_distance_0(distance: Distance) -> None:
    histograms = Histograms.of([[3], [4]])
    assert sparse(distance, histograms) == [0, 0]
    assert exact_emd(distance, [3], [7]) == 0
    assert float_emd(distance, [3], [7]) == 0.0
    assert plan(distance, [3], [7]) == []
    assert delta(distance, [3]) == 0
    assert distance.ground(0, 0) == 0


def test_heights_are_those_of_the_tree_as_declared() -> None:
    # H is 3, though a tree pruned to two values of one node would have height 1 and put them at distance 1.
    tree = Hierarchy.from_mapping({"*": {"lung": ["flu", "cold"], "gut": {"large": ["colitis", "polyp"]}}})
    assert Hierarchical(tree, ["colitis", "polyp"]).ground(0, 1) == Fraction(1, 3)
    assert exact_emd(Hierarchical(tree, ["flu", "cold"]), [1, 0], [1, 1]) == Fraction(1, 3) / 2


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([[0, 1], [1]], "A matrix distance must be square. Got 2 rows, not all of 2 numbers."),
        ([[0, 2], [2, 0]], "A matrix distance must be above 0 and at most 1 off its diagonal. Got 2 in row 1, column 2."),
        ([[0, 0], [0, 0]], "A matrix distance must be above 0 and at most 1 off its diagonal. Got 0 in row 1, column 2."),
        ([[0.5, 1], [1, 0]], "A matrix distance must be 0 on its diagonal. Got 1/2 in row 1, column 1."),
        ([[0, 1], [0.5, 0]], "A matrix distance must be symmetric. Got 1 and 1/2 for values 1 and 2."),
        (
            [[0, 1, 0.3], [1, 0, 0.3], [0.3, 0.3, 0]],
            "A matrix distance must obey the triangle inequality. Values 1 and 2 are farther apart than the way over value 3.",
        ),
        ([[0] * 101] * 101, "A matrix distance is for at most 100 values. Got 101."),
    ],
)
def test_a_matrix_that_is_no_metric_is_refused(rows: list[list[float]], sentence: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        Matrix(rows)
    assert str(caught.value) == sentence


# Integers that cannot wrap


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_counts_of_any_size_are_exact(kind: str, data: st.DataObject) -> None:
    # Small and huge classes side by side: some fit 64 bits and some do not.
    case = data.draw(cases(kind))
    m = case.comp.m
    classes = data.draw(st.lists(st.one_of(counts(m), counts(m, 10**6), counts(m, 10**12)), min_size=1, max_size=4))
    table = naive.total(classes)
    for p, comp in zip(classes, sparse(case.comp, Histograms.of(classes)), strict=True):
        assert comp == (case.ref(p, table) if case.ref is not None else exact_emd(case.comp, p, table))


@pytest.mark.parametrize(
    ("each", "size"),
    [
        (10, 10),  # 10^7 rows
        (1000, 1000),  # 10^9 rows: n s (m-1) is just below 2^63
        (1000, 10**6),  # and here beyond
    ],
)
def test_a_million_values_at_their_lower_end_are_half_the_domain_away(each: int, size: int) -> None:
    # The table is uniform over m values. All mass at value 0 moves (m-1)/2 steps on average, of m-1.
    m = 10**6
    classes = Histograms(np.array([0, 1]), np.array([0]), np.array([size]), np.full(m, each))
    assert sparse(Ordered(m), classes) == [Fraction(1, 2)]
    assert naive.emd_ordered([size] + [0] * (m - 1), [each] * m) == Fraction(1, 2)


def test_ten_million_rows_would_wrap_in_64_bits() -> None:
    # Two classes of 5 * 10^6 rows, one at each end of 10^6 values: n s (m-1) is 5 * 10^19, and NumPy says nothing.
    m, s = 10**6, 5 * 10**6
    table = np.zeros(m, dtype=np.int64)
    table[[0, -1]] = s
    classes = Histograms(np.array([0, 1, 2]), np.array([0, m - 1]), np.array([s, s]), table)
    assert sparse(Ordered(m), classes) == [Fraction(1, 2)] * 2
    wrapped = unguarded(Ordered(m), classes, np.int64)
    assert [Fraction(above, 2 * s * s * (m - 1)) for above in wrapped] != [Fraction(1, 2)] * 2


@pytest.mark.parametrize("rows", [10**6, 10**9, 10**12])
def test_a_hierarchy_is_exact_beyond_32_bits(rows: int) -> None:
    # ARX multiplies counts in 32 bits: with 10^6 rows it accepts a true t of 0.29 at t = 0.2.
    tree = ("*", [("a", ["a1", "a2", ("a3", ["a31", "a32"])]), ("b", ["b1", "b2"]), "c"])
    per_cent = [[9, 20, 1, 0, 3, 2, 5], [1, 1, 1, 9, 30, 14, 4]]
    classes = [[share * rows // 100 for share in row] for row in per_cent]
    ref = [naive.emd_tree(p, naive.total(classes), tree) for p in classes]
    assert sparse(hierarchical(tree), Histograms.of(classes)) == ref
    assert all(0 < emd < 1 for emd in ref)


def test_numbers_far_apart_do_not_wrap() -> None:
    # Positions beyond 64 bits: amounts in the smallest unit of a currency, and one of them absurd.
    values = [0, 1, 10**25]
    classes = [[5, 1, 0], [1, 1, 2]]
    ref = [naive.emd_numeric(p, naive.total(classes), values) for p in classes]
    assert sparse(Numeric(values), Histograms.of(classes)) == ref
