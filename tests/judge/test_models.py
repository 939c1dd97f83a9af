"""Privacy models against their naive twins; limits at exact equality; what merging preserves and what it can break."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tclose import Hierarchy, Sensitive
from tclose.distances import Distance, Equal, Hierarchical, Matrix, Numeric, Ordered
from tclose.judge.emd import exact_emd
from tclose.judge.models.anonymity import Lift, Share, homogeneous, too_small
from tclose.judge.models.base import Model, Verdict, log_sign
from tclose.judge.models.closeness import Closeness
from tclose.judge.models.disclosure import Disclosure
from tclose.judge.models.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from tclose.judge.models.likeness import BasicLikeness, EnhancedLikeness
from tclose.judge.models.region import Regions, judge_regions
from tclose.policy.models import MODELS
from tclose.values.histograms import Histograms
from tests import naive
from tests.support.examples import examples

M = 4
DISTANCES: list[Distance] = [
    Ordered(M),
    Numeric([0, 1, 5, 7]),
    Equal(M),
    Hierarchical(Hierarchy.from_mapping({"*": {"x": ["a", "b"], "y": {"z": ["c"]}, "d": []}}), ["a", "b", "c", "d"]),
    Matrix([["0", "1/2", "1", "1"], ["1/2", "0", "1/2", "1"], ["1", "1/2", "0", "1/2"], ["1", "1", "1/2", "0"]]),
]
COUNTS = st.lists(st.integers(0, 9), min_size=M, max_size=M).filter(any)
PARTITIONS = st.lists(COUNTS, min_size=1, max_size=5)
SEVERAL = st.lists(COUNTS, min_size=2, max_size=5)

Ref = Callable[[list[int], list[Any]], Any]
# Ratios of integers are exact; so is the number of values.
EXACT: list[tuple[Model, Ref]] = [
    (Share(), lambda p, _: naive.share(p)),
    (Lift(), naive.lift),
    (DistinctDiversity(), lambda p, _: Fraction(naive.distinct_l(p))),
    (RecursiveDiversity(l=1), lambda p, _: naive.recursive_c(p, 1)),
    (RecursiveDiversity(l=2), lambda p, _: naive.recursive_c(p, 2)),
    (RecursiveDiversity(l=3), lambda p, _: naive.recursive_c(p, 3)),
    (BasicLikeness(), naive.basic_beta),
    (EnhancedLikeness(), naive.enhanced_beta),
    (Closeness(DISTANCES[0]), naive.emd_ordered),
    (Closeness(DISTANCES[1]), lambda p, q: naive.emd_numeric(p, q, [0, 1, 5, 7])),
    (Closeness(DISTANCES[2]), naive.emd_equal),
]
LOGARITHMIC: list[tuple[Model, Ref]] = [
    (EntropyDiversity(), lambda p, _: naive.entropy_l(p)),
    (Disclosure(), naive.delta_strict),
    (Disclosure(lenient=True), naive.delta_lenient),
]


def name(model: object) -> str | None:
    if not isinstance(model, Model):
        return None
    settings = [str(value) for key, value in vars(model).items() if key in ("l", "lenient")]
    return " ".join([model.key, *settings, *([model.distance.name] if isinstance(model, Closeness) else [])])


def limited(model: Model, limit: Fraction) -> Model:
    return replace(model, limit=limit)


# Each model against its twin


@pytest.mark.parametrize(("model", "ref"), EXACT, ids=name)
@settings(max_examples=examples(60), deadline=None)
@given(classes=PARTITIONS)
def test_exact_models_against_naive(model: Model, ref: Ref, classes: list[list[int]]) -> None:
    table = naive.total(classes)
    expected = [ref(p, table) for p in classes]
    comp = model.judge(Histograms.of(classes))
    worst = (min if model.floor else max)(expected)
    assert comp.worst == worst
    assert comp.worst_class == expected.index(worst)  # the first of equals
    np.testing.assert_allclose(comp.values, [float(value) for value in expected], atol=1e-12)
    assert not comp.broken.any()


@pytest.mark.parametrize(("model", "ref"), EXACT, ids=name)
@settings(max_examples=examples(40), deadline=None)
@given(classes=PARTITIONS, data=st.data())
def test_exact_limits_against_naive(model: Model, ref: Ref, classes: list[list[int]], data: st.DataObject) -> None:
    # The limit is often what a class attains: there a float decides by luck.
    table = naive.total(classes)
    expected = [ref(p, table) for p in classes]
    attained = [value for value in expected if isinstance(value, Fraction)]
    limits = st.fractions(0, 4, max_denominator=30)
    limit = data.draw(st.one_of(st.sampled_from(attained), limits) if attained else limits)
    comp = limited(model, limit).judge(Histograms.of(classes))
    if model.floor:
        breaks = [value < limit for value in expected]
    elif isinstance(model, RecursiveDiversity):
        breaks = [value >= limit for value in expected]  # r_1 < c (r_l + ...) is strict
    else:
        breaks = [value > limit for value in expected]
    assert comp.broken.tolist() == breaks


@pytest.mark.parametrize(("model", "ref"), LOGARITHMIC, ids=name)
@settings(max_examples=examples(60), deadline=None)
@given(classes=PARTITIONS, limit=st.fractions("1/10", 4, max_denominator=30))
def test_logarithmic_models_against_naive(model: Model, ref: Ref, classes: list[list[int]], limit: Fraction) -> None:
    table = naive.total(classes)
    expected = [ref(p, table) for p in classes]
    comp = limited(model, limit).judge(Histograms.of(classes))
    np.testing.assert_allclose(comp.values, expected, rtol=1e-12, atol=1e-12)
    assert comp.worst == pytest.approx((min if model.floor else max)(expected), abs=1e-12)
    assert comp.worst == comp.values[comp.worst_class]
    if model.floor:
        assert comp.broken.tolist() == [not naive.has_entropy_l(p, limit) for p in classes]
    else:
        assert comp.broken.tolist() == [value >= limit for value in expected]


@given(PARTITIONS, st.one_of(st.none(), st.integers(1, 20)))
def test_k_against_naive(classes: list[list[int]], k: int | None) -> None:
    histograms = Histograms.of(classes)
    sizes = [naive.k(p) for p in classes]
    assert histograms.sizes.tolist() == sizes
    assert too_small(histograms.sizes, k).tolist() == [k is not None and size < k for size in sizes]


@given(PARTITIONS)
def test_homogeneous_classes_against_naive(classes: list[list[int]]) -> None:
    table = naive.total(classes)
    assert homogeneous(Histograms.of(classes)).tolist() == [naive.homogeneous(p, table) for p in classes]


def handed_over(*regions: set[int]) -> Regions:
    return lambda _: [np.array(sorted(region)) for region in regions]


@pytest.mark.parametrize("distance", DISTANCES, ids=lambda distance: distance.name)
@settings(max_examples=examples(30), deadline=None)
@given(classes=PARTITIONS, n=st.integers(1, 60), data=st.data())
def test_regions_against_naive(distance: Distance, classes: list[list[int]], n: int, data: st.DataObject) -> None:
    regions = data.draw(st.lists(st.sets(st.integers(0, len(classes) - 1), min_size=1), max_size=6))
    expected = naive.nt(classes, partial(exact_emd, distance), n, [set(range(len(classes))), *regions])
    t = Fraction(1, 10)
    comp = judge_regions(Histograms.of(classes), distance, t, n, handed_over(*regions))
    assert comp.broken.tolist() == [value > t for value in expected]
    if max(expected) > t:
        assert comp.worst == max(expected)
        assert comp.worst_class == expected.index(max(expected))


@settings(max_examples=examples(30), deadline=None)
@given(PARTITIONS)
def test_n_of_the_whole_table_is_t_closeness(classes: list[list[int]]) -> None:
    histograms = Histograms.of(classes)
    t = Fraction(1, 5)
    ref = Closeness(Ordered(M), limit=t).judge(histograms)
    comp = judge_regions(histograms, Ordered(M), t, histograms.rows, handed_over({0}))
    assert comp.broken.tolist() == ref.broken.tolist()


def test_without_a_region_of_n_rows_nothing_is_shown() -> None:
    comp = judge_regions(Histograms.of([[1, 0], [0, 1]]), Equal(2), Fraction(1), 3, handed_over({0}))
    assert comp.broken.all()
    assert comp.worst == math.inf


# Limits at exact equality


@pytest.mark.parametrize("l", range(2, 15))
def test_a_uniform_class_of_l_values_has_entropy_l(l: int) -> None:  # noqa: E741 - the name of the model
    # In floats the entropy of a uniform class is below ln l for l = 3, 6, 7 and 10.
    comp = EntropyDiversity(limit=Fraction(l)).judge(Histograms.of([[5] * l]))
    assert comp.values.tolist() == [l]
    assert comp.worst == l
    assert not comp.broken.any()


@pytest.mark.parametrize("counts", [[4, 1, 1, 1, 1], [1, 1, 4, 1, 1], [8, 2, 2, 2, 2]])
def test_an_uneven_class_can_have_a_whole_entropy_l(counts: list[int]) -> None:
    # 8^8 = 4^8 * 4^4: the entropy is ln 4 exactly.
    assert EntropyDiversity().judge(Histograms.of([counts])).values.tolist() == [4]
    assert not EntropyDiversity(limit=Fraction(4)).judge(Histograms.of([counts])).broken.any()
    assert EntropyDiversity(limit=Fraction(4) + Fraction(1, 10**12)).judge(Histograms.of([counts])).broken.all()


def test_an_entropy_a_little_below_its_limit_breaks_it() -> None:
    # exp(entropy) is 2 - 3e-10: integers see the one row that is too many.
    classes = Histograms.of([[30_000, 30_001]])
    assert EntropyDiversity(limit=Fraction(2)).judge(classes).broken.all()


def test_recursive_diversity_is_strict() -> None:
    # r_1 = 8 < c (1 + 1) holds for every c above 4, and for 4 it does not (Machanavajjhala et al. 2007).
    classes = Histograms.of([[1, 8, 1]])
    assert RecursiveDiversity(l=2).judge(classes).worst == 4
    assert RecursiveDiversity(l=2, limit=Fraction(4)).judge(classes).broken.all()
    assert not RecursiveDiversity(l=2, limit=Fraction(4) + Fraction(1, 10**30)).judge(classes).broken.any()


def test_fewer_values_than_l_have_no_c() -> None:
    comp = RecursiveDiversity(l=3, limit=Fraction(10**9)).judge(Histograms.of([[1, 1, 0], [1, 1, 1]]))
    assert (comp.worst, comp.worst_class) == (math.inf, 0)
    assert comp.broken.tolist() == [True, False]


def test_a_limit_of_0_3_admits_a_class_at_3_10() -> None:
    # The double 0.3 is below 3/10, and would reject it.
    classes = Histograms.of([[8, 2], [2, 8]])
    limit = Sensitive("disease", t=0.3).t
    comp = Closeness(Equal(2), limit=limit).judge(classes)
    assert comp.worst == Fraction(3, 10) > Fraction(0.3)
    assert not comp.broken.any()


def test_a_class_just_above_its_limit_breaks_it() -> None:
    # The distances differ from 3/10 by 1e-17: no float sees that.
    half, more = 5 * 10**16, 3 * 10**16 + 1
    classes = Histograms.of([[half + more, half - more], [half - more, half + more]])
    assert Closeness(Equal(2), limit=Fraction(3, 10)).judge(classes).broken.all()


def test_a_limit_may_be_finer_than_64_bits() -> None:
    # One class is the table itself, at distance 0.
    comp = Closeness(Equal(2), limit=Fraction(1, 10**20)).judge(Histograms.of([[1, 1]]))
    assert not comp.broken.any()


LN_2 = Fraction("0.693147180559945309417232121458176568")  # cut off: a little below
STEP = Fraction(1, 10**36)


def test_a_logarithm_is_compared_in_as_many_digits_as_it_takes() -> None:
    assert log_sign(Fraction(2), LN_2) == 1
    assert log_sign(Fraction(2), LN_2 + STEP) == -1
    assert log_sign(Fraction(1, 2), -LN_2) == -1
    assert [log_sign(Fraction(1), Fraction(other)) for other in (-1, 0, 1)] == [1, 0, -1]
    assert log_sign(1 + Fraction(1, 10**80), Fraction(1, 10**80)) == -1  # ln(1 + x) is below x, here by 5e-161


def test_delta_is_decided_exactly_near_its_limit() -> None:
    # The value halves in one class: |ln(p/q)| = ln 2 there and must be below delta.
    classes = Histograms.of([[1, 3], [3, 1]])
    assert Disclosure().judge(classes).worst == pytest.approx(math.log(2))
    assert Disclosure(limit=LN_2).judge(classes).broken.all()
    assert not Disclosure(limit=LN_2 + STEP).judge(classes).broken.any()


def test_enhanced_beta_is_decided_exactly_near_its_limit() -> None:
    # q = 1/2: the gain 2p - 1 must not exceed ln 2 = 0.693147180559945..., and 10^12 rows come within 2e-12 of it.
    rows = 10**12
    below = math.floor((1 + LN_2) / 2 * rows)
    inside, outside = ([count, rows - count] for count in (below, below + 1))
    comp = EnhancedLikeness(limit=Fraction(1)).judge(Histograms.of([inside, outside], table=[rows, rows]))
    assert comp.broken.tolist() == [False, True]
    assert (comp.worst, comp.worst_class) == (math.inf, 1)


def test_strict_delta_is_infinite_where_a_value_is_absent_and_lenient_is_not() -> None:
    classes = Histograms.of([[1, 0], [1, 2]])
    assert Disclosure().judge(classes).worst == math.inf
    assert Disclosure(limit=Fraction(100)).judge(classes).broken.tolist() == [True, False]
    assert Disclosure(lenient=True).judge(classes).worst == pytest.approx(math.log(2))


# Merging


PRESERVED: list[Model] = [
    Share(),
    DistinctDiversity(),
    EntropyDiversity(),
    RecursiveDiversity(l=2),
    RecursiveDiversity(l=3),
    *(Closeness(distance) for distance in DISTANCES),
    BasicLikeness(),
    EnhancedLikeness(),
    Disclosure(),
]


@pytest.mark.parametrize("model", PRESERVED, ids=name)
@settings(max_examples=examples(60), deadline=None)
@given(classes=SEVERAL, data=st.data())
def test_merging_two_classes_never_worsens_the_worst(model: Model, classes: list[list[int]], data: st.DataObject) -> None:
    first, second, *_ = data.draw(st.permutations(range(len(classes))))
    before = model.judge(Histograms.of(classes)).worst
    after = model.judge(Histograms.of(naive.merge(classes, first, second))).worst
    slack = 1e-12 if isinstance(model, EntropyDiversity | Disclosure) else 0  # logarithms are floats
    assert after >= before - slack if model.floor else after <= before + slack


def test_merging_is_tried_with_every_model_that_can_be_limited() -> None:
    limited = {key for key, model in MODELS.items() if model.settings and model.judged_on == "values"}
    assert {model.key for model in PRESERVED} == limited


@given(SEVERAL)
def test_merging_two_classes_never_lowers_k(classes: list[list[int]]) -> None:
    assert min(map(naive.k, naive.merge(classes, 0, 1))) >= Histograms.of(classes).sizes.min()


def test_merging_can_break_lenient_delta() -> None:
    # The second value, 3/8 of the table, is absent from the first class: lenient skips it there. In the union it is 1/41.
    classes = [[20, 0], [20, 1], [10, 29]]
    model = Disclosure(lenient=True, limit=Fraction(5, 2))
    before, after = (model.judge(Histograms.of(partition)) for partition in (classes, naive.merge(classes, 0, 1)))
    assert before.worst == pytest.approx(math.log(63 / 8))  # (3/8) / (1/21)
    assert not before.broken.any()
    assert after.worst == pytest.approx(math.log(123 / 8))  # (3/8) / (1/41)
    assert after.broken.tolist() == [True, False]


def test_merging_can_break_n_t_closeness() -> None:
    # Two towns of opposite ills. Each small class is like its town; their union is like neither, and only the table is around it.
    #          town 1           town 2
    classes = [[1, 0], [4, 0], [0, 1], [0, 14]]
    t, n = Fraction(1, 5), 4
    towns = handed_over({0, 1}, {2, 3})
    assert not judge_regions(Histograms.of(classes), Equal(2), t, n, towns).broken.any()
    union = naive.merge(classes, 0, 2)
    comp = judge_regions(Histograms.of(union), Equal(2), t, n, handed_over({0}, {1}, {2}))
    assert comp.broken.tolist() == [True, False, False]
    assert comp.worst == Fraction(1, 4)  # (1, 1)/2 against (5, 15)/20


# Judging in parts


@pytest.mark.parametrize(
    "model",
    [
        Share(limit=Fraction(1, 2)),
        Lift(),
        DistinctDiversity(limit=Fraction(2)),
        EntropyDiversity(limit=Fraction(2)),
        RecursiveDiversity(l=2, limit=Fraction(2)),
        Closeness(Ordered(M), limit=Fraction(1, 5)),
        BasicLikeness(limit=Fraction(1, 2)),
        EnhancedLikeness(limit=Fraction(1, 2)),
        Disclosure(limit=Fraction(1)),
    ],
    ids=name,
)
@settings(max_examples=examples(40), deadline=None)
@given(classes=SEVERAL, data=st.data())
def test_parts_are_judged_as_the_whole(model: Model, classes: list[list[int]], data: st.DataObject) -> None:
    whole = Histograms.of(classes)
    cut = data.draw(st.integers(1, len(classes) - 1))
    parts = []
    for first, last in ((0, cut), (cut, len(classes))):
        part = Histograms.of(classes[first:last], table=whole.table.tolist())
        parts.append(Histograms(part.starts, part.codes, part.counts, part.table, first=first))
    assert_same(model.join([model.judge(part) for part in parts]), model.judge(whole))
    joined = Histograms.join(parts)
    assert [joined.dense(number).tolist() for number in range(len(joined))] == classes
    assert_same(model.judge(joined), model.judge(whole))


def assert_same(comp: Verdict, ref: Verdict) -> None:
    np.testing.assert_array_equal(comp.values, ref.values)
    np.testing.assert_array_equal(comp.broken, ref.broken)
    assert (comp.worst, comp.worst_class) == (ref.worst, ref.worst_class)


@pytest.mark.parametrize("model", [*PRESERVED, Lift(), Disclosure(lenient=True)], ids=name)
def test_the_worst_class_is_the_first_of_equals(model: Model) -> None:
    # Classes 1 and 3 are alike, and worse than the others.
    classes = [[30, 30, 30, 30], [8, 1, 1, 0], [20, 20, 20, 20], [8, 1, 1, 0]]
    assert model.judge(Histograms.of(classes)).worst_class == 1


def test_equal_entropies_are_equal_whatever_the_order_and_scale_of_the_counts() -> None:
    comp = EntropyDiversity().judge(Histograms.of([[1, 2, 3, 5], [5, 3, 2, 1], [10, 6, 2, 4]]))
    assert comp.values[0] == comp.values[1] == comp.values[2]
    assert comp.worst_class == 0
