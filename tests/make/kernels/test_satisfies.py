"""Class checks against the judges of `tclose.judge.models` and the naive twins: never laxer, and equal wherever integers decide."""

from __future__ import annotations

import math
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from tclose import Hierarchy, Policy, Sensitive
from tclose.distances import Distance, Equal, Hierarchical, Matrix, Numeric, Ordered
from tclose.errors import InputError, PolicyError
from tclose.judge.emd import exact_emd
from tclose.judge.models.anonymity import Share
from tclose.judge.models.base import Model
from tclose.judge.models.closeness import Closeness
from tclose.judge.models.disclosure import Disclosure
from tclose.judge.models.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from tclose.judge.models.likeness import BasicLikeness, EnhancedLikeness
from tclose.make.encode import Attribute
from tclose.make.kernels.emd import flow_size, of_a_metric
from tclose.make.kernels.limits import limits_of
from tclose.make.kernels.running import run
from tclose.make.kernels.satisfies import failing, satisfies_with, scratch_for
from tclose.make.kernels.small import at_most
from tclose.make.models.base import NEAR
from tclose.make.registry import find_algorithm, list_algorithms
from tclose.values.histograms import Histograms
from tests import naive
from tests.support.attributes import COUNTS, DISTANCES, EMDS, MATRIX, SETTINGS, SUPPRESSED, TREE, M, attribute, name_of, rows_of
from tests.support.examples import examples

PARTITIONS = st.lists(COUNTS, min_size=1, max_size=5)
NEVER_USED = -(10**6)
"""What scratch room holds before it is used does not matter."""


def check(
    classes: Sequence[Sequence[int]], distance: Distance, table: Sequence[int] | None = None, policy: Any = None, **limits: Any
) -> list[bool]:
    """Which classes break the limits of one column, by our kernels. Rows are shuffled: their order must not matter."""
    kind: Any = distance.name
    column = Sensitive("x", distance=kind, **SETTINGS.get(distance.name, {}), **limits)
    codes, starts = rows_of(classes)
    order = np.random.default_rng(len(codes)).permutation(len(codes))
    shuffled = np.empty(len(codes), dtype=np.uint8)
    shuffled[order] = codes
    counts = naive.total(classes) if table is None else table
    made = limits_of([attribute(column, distance, shuffled, counts)], Policy(["q"], [column], **(policy or {})))
    result: list[bool] = failing(made, order, starts).tolist()
    return result


# By hand


def test_salary_example_of_the_paper() -> None:
    # 3..11 thousand, classes {3,4,5}, {6,8,11}, {7,9,10}: 3/8, 1/6 and 17/72 (Li et al. 2007, section 4.1).
    classes = [[1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1, 0, 0, 1], [0, 0, 0, 0, 1, 0, 1, 1, 0]]
    assert check(classes, Ordered(9), t="3/8") == [False, False, False]
    assert check(classes, Ordered(9), t="37499999999999/100000000000000") == [True, False, False]
    assert check(classes, Ordered(9), t="17/72") == [True, False, False]
    assert check(classes, Ordered(9), t="1/6") == [True, False, True]


def test_a_limit_of_three_tenths_lets_a_class_pass_at_3_10() -> None:
    assert check([[8, 2], [2, 8]], Equal(2), t=0.3) == [False, False]


def test_a_limit_finer_than_64_bits_is_not_relaxed() -> None:
    assert check([[1, 1], [2, 0]], Equal(2), table=[1, 1], t=Fraction(1, 10**20)) == [False, True]
    assert check([[8, 2]], Equal(2), table=[1, 1], t=Fraction(3, 10) - Fraction(1, 10**20)) == [True]


def test_k_counts_rows() -> None:
    assert check([[1, 1], [2, 1]], Equal(2), policy={"k": 3}) == [True, False]


def test_nothing_is_asked_without_limits() -> None:
    assert check([[1, 0], [0, 1]], Equal(2)) == [False, False]


def test_one_value_is_always_close() -> None:
    for distance in (Ordered(1), Equal(1), Hierarchical(Hierarchy.from_mapping(TREE), ["a"])):
        assert check([[2], [3]], distance, t=0) == [False, False]


def test_a_class_of_n_rows_is_a_region_itself() -> None:
    assert check([[3, 0], [0, 2]], Equal(2), t=0.1, policy={"n": 3}) == [False, True]


# t against the judge and the naive twin, exactly


@pytest.mark.parametrize("distance", DISTANCES, ids=name_of)
@settings(max_examples=examples(80), deadline=None)
@given(classes=PARTITIONS, suppressed=SUPPRESSED, data=st.data())
def test_t_is_decided_as_the_judge_does(
    distance: Distance, classes: list[list[int]], suppressed: list[int], data: st.DataObject
) -> None:
    table = naive.total([*classes, suppressed])
    attained = [exact_emd(distance, counts, table) for counts in classes]
    t = data.draw(st.one_of(st.sampled_from(attained), st.fractions(0, 1, max_denominator=40)))
    comp = check(classes, distance, table, t=t)
    assert comp == Closeness(distance, limit=t).judge(Histograms.of(classes, table)).broken.tolist()
    if distance.name in EMDS:
        assert comp == [EMDS[distance.name](counts, table) > t for counts in classes]


@st.composite
def metrics(draw: st.DrawFn) -> list[list[Fraction]]:
    """Distances between points in a plane, city block: a metric."""
    m = draw(st.integers(2, 6))
    points = draw(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=m, max_size=m, unique=True))
    return [[Fraction(abs(a - c) + abs(b - d), 12) for c, d in points] for a, b in points]


@njit
def flow_cost(ground: Any, table: Any, n: int, s: int, counts: Any, spare: Any) -> Any:
    """Only kernels can call `cheapest`."""
    return of_a_metric(ground, 0, table, 0, len(table), n, s, counts, spare)


@settings(max_examples=examples(80), deadline=None)
@given(ground=metrics(), data=st.data())
def test_the_cheapest_flow_costs_what_the_linear_program_says(ground: list[list[Fraction]], data: st.DataObject) -> None:
    m = len(ground)
    counts, table = (data.draw(st.lists(st.integers(0, 9), min_size=m, max_size=m).filter(any)) for _ in range(2))
    n, s = sum(table), sum(counts)
    flat = np.array([int(12 * entry) for row in ground for entry in row])
    whole, rough = flow_cost(flat, np.array(table), n, s, np.array(counts), np.full(flow_size(m), NEVER_USED))
    assert Fraction(whole, 12 * n * s) == exact_emd(Matrix(ground), counts, table)
    assert rough == whole
    assert whole / (12 * n * s) == pytest.approx(naive.emd_lp(counts, table, ground), abs=1e-9)


def test_the_cheapest_flow_between_many_places() -> None:
    rng = np.random.default_rng(1)
    points = rng.permutation(2000)[:60]
    ground = np.abs(points[:, None] - points[None, :])
    counts, table = rng.integers(0, 50, 60), rng.integers(0, 5000, 60)
    spare = np.full(flow_size(60), NEVER_USED)
    whole, _ = flow_cost(ground.ravel(), table, int(table.sum()), int(counts.sum()), counts, spare)
    order = np.argsort(points)
    ref = naive.emd_numeric(counts[order].tolist(), table[order].tolist(), points[order].tolist())
    assert Fraction(int(whole), int(table.sum() * counts.sum())) == ref * int(np.ptp(points))


# Where 64 bits are too few, floats decide, and refuse what is near


@pytest.mark.parametrize("spread", [2**40, 2**57, 2**61, 10**25])
@settings(max_examples=examples(40), deadline=None)
@given(classes=PARTITIONS, data=st.data())
def test_numbers_beyond_64_bits_are_never_judged_laxly(spread: int, classes: list[list[int]], data: st.DataObject) -> None:
    inside = sorted(data.draw(st.sets(st.integers(1, spread - 1), min_size=2, max_size=2)))
    distance = Numeric([0, *inside, spread])
    table = naive.total(classes)
    attained = [exact_emd(distance, counts, table) for counts in classes]
    t = data.draw(st.one_of(st.sampled_from(attained), st.fractions(0, 1, max_denominator=40)))
    comp = check(classes, distance, t=t)
    for broken, value in zip(comp, attained, strict=True):
        assert broken or value <= t
        assert not broken or value > t - 2 * Fraction(NEAR)
    if spread == 2**40:
        assert comp == [value > t for value in attained]


@settings(max_examples=examples(40), deadline=None)
@given(classes=PARTITIONS, data=st.data())
def test_a_matrix_of_many_digits_is_never_judged_laxly(classes: list[list[int]], data: st.DataObject) -> None:
    # Distances between 1/2 and 1 always obey the triangle inequality.
    entry = st.fractions("1/2", 1, max_denominator=10**9)
    upper = {(i, j): data.draw(entry) for i in range(M) for j in range(i)}
    distance = Matrix([[upper.get((i, j), upper.get((j, i), Fraction(0))) for j in range(M)] for i in range(M)])
    attained = [exact_emd(distance, counts, naive.total(classes)) for counts in classes]
    t = data.draw(st.one_of(st.sampled_from(attained), st.fractions(0, 1, max_denominator=40)))
    for broken, value in zip(check(classes, distance, t=t), attained, strict=True):
        assert broken or value <= t
        assert not broken or value > t - 2 * Fraction(NEAR)


def test_a_table_too_large_for_64_bits_is_refused() -> None:
    with pytest.raises(InputError, match="fewer than"):
        check([[1, 1]], Equal(2), table=[2**31, 2**31], t=0.1)


def test_a_domain_of_a_million_values() -> None:
    m = 10**6
    rng = np.random.default_rng(0)
    codes = np.concatenate([np.arange(m), rng.integers(0, m, 500)])
    counts = np.bincount(codes, minlength=m)
    rows, starts = rng.permutation(len(codes)), np.arange(0, 50_000, 2500)
    below = np.cumsum(counts)[:-1] / len(codes)
    classes = (np.bincount(codes[rows[a:b]], minlength=m) / (b - a) for a, b in pairwise(starts))
    emds = [float(np.abs(np.cumsum(shares)[:-1] - below).mean()) for shares in classes]
    column = Sensitive("x", t=round(float(np.median(emds)) + 1e-7, 7))
    made = limits_of([Attribute(column, Ordered(m), [], pa.array([]), codes, counts)], Policy(["q"], [column]))
    assert failing(made, rows, starts).tolist() == [emd > column.t for emd in emds]


# The other models


Case = tuple[str, Callable[[Fraction], dict[str, Any]], Callable[[Fraction], Model]]
EXACT: list[Case] = [
    ("alpha", lambda x: {"policy": {"alpha": min(x, Fraction(1))}}, lambda x: Share(limit=min(x, Fraction(1)))),
    ("distinct l", lambda x: {"l": math.ceil(x) + 1}, lambda x: DistinctDiversity(limit=Fraction(math.ceil(x) + 1))),
    (
        "recursive l",
        lambda x: {"l": 2, "l_kind": "recursive", "c": x + Fraction(1, 7)},
        lambda x: RecursiveDiversity(l=2, limit=x + Fraction(1, 7)),
    ),
    (
        "recursive, l = 3",
        lambda x: {"l": 3, "l_kind": "recursive", "c": x or 1},
        lambda x: RecursiveDiversity(l=3, limit=x or Fraction(1)),
    ),
    (
        "recursive, l = 1",
        lambda x: {"l": 1, "l_kind": "recursive", "c": x or 1},
        lambda x: RecursiveDiversity(l=1, limit=x or Fraction(1)),
    ),
    ("basic beta", lambda x: {"beta": x or 1}, lambda x: BasicLikeness(limit=x or Fraction(1))),
]
LOGARITHMIC: list[Case] = [
    ("entropy l", lambda x: {"l": x + 1, "l_kind": "entropy"}, lambda x: EntropyDiversity(limit=x + 1)),
    ("enhanced beta", lambda x: {"beta": x or 1, "beta_kind": "enhanced"}, lambda x: EnhancedLikeness(limit=x or Fraction(1))),
    ("strict delta", lambda x: {"delta": x or 1}, lambda x: Disclosure(limit=x or Fraction(1))),
    (
        "lenient delta",
        lambda x: {"delta": x or 1, "delta_kind": "lenient"},
        lambda x: Disclosure(lenient=True, limit=x or Fraction(1)),
    ),
]


@pytest.mark.parametrize("case", EXACT, ids=lambda case: case[0])
@settings(max_examples=examples(80), deadline=None)
@given(classes=PARTITIONS, suppressed=SUPPRESSED, data=st.data())
def test_ratios_are_decided_as_the_judge_does(
    case: Case, classes: list[list[int]], suppressed: list[int], data: st.DataObject
) -> None:
    _, asked, judge = case
    histograms = Histograms.of(classes, naive.total([*classes, suppressed]))
    worst = judge(Fraction(1)).judge(histograms).worst  # a limit that some class meets exactly
    exactly = [worst] if isinstance(worst, Fraction) and worst >= 0 else []
    limit = data.draw(st.one_of(*map(st.just, exactly), st.fractions(0, 4, max_denominator=30)))
    comp = check(classes, Equal(M), histograms.table.tolist(), **asked(limit))
    assert comp == judge(limit).judge(histograms).broken.tolist()


@pytest.mark.parametrize("case", LOGARITHMIC, ids=lambda case: case[0])
@settings(max_examples=examples(80), deadline=None)
@given(classes=PARTITIONS, suppressed=SUPPRESSED, data=st.data())
def test_logarithms_are_never_judged_laxly(
    case: Case, classes: list[list[int]], suppressed: list[int], data: st.DataObject
) -> None:
    _, asked, judge = case
    histograms = Histograms.of(classes, naive.total([*classes, suppressed]))
    model = judge(Fraction(1))
    finite = [Fraction(value) for value in model.judge(histograms).values if math.isfinite(value) and value > 1]
    limit = data.draw(st.one_of(*map(st.just, finite), st.fractions(0, 4, max_denominator=30)))
    verdict = judge(limit).judge(histograms)
    bound = float(judge(limit).limit or 0)
    comp = check(classes, Equal(M), histograms.table.tolist(), **asked(limit))
    for broken, ref, value in zip(comp, verdict.broken.tolist(), verdict.values.tolist(), strict=True):
        assert broken or not ref
        if model.key != "beta_enhanced":  # its own limit -ln q may be what is near
            assert broken == ref or abs(value - bound) < 5 * NEAR * (1 + bound)


@pytest.mark.parametrize("values", [1, 2, 3, 6, 7, 10])
def test_a_uniform_class_has_exactly_as_much_entropy_as_values(values: int) -> None:
    assert check([[3] * values], Equal(values), l=values, l_kind="entropy") == [False]
    assert check([[3] * values], Equal(values), l=values + Fraction(1, 10**12), l_kind="entropy") == [True]


def test_enhanced_beta_by_hand() -> None:
    # q = 1/2: a value may gain min(beta, ln 2 = 0.693): up to a share of 0.8466.
    assert check([[84, 16], [85, 15]], Equal(2), table=[1, 1], beta=1, beta_kind="enhanced") == [False, True]
    assert check([[84, 16], [85, 15]], Equal(2), table=[1, 1], beta="1/2", beta_kind="enhanced") == [True, True]


def test_strict_delta_refuses_an_absent_value_and_lenient_does_not() -> None:
    assert check([[2, 0], [1, 2]], Equal(2), delta=100) == [True, False]
    assert check([[2, 0], [1, 2]], Equal(2), delta=100, delta_kind="lenient") == [False, False]


# Persons


PEOPLE = st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(0, M - 1)), min_size=1, max_size=12), min_size=1, max_size=4)


@settings(max_examples=examples(80), deadline=None)
@given(
    classes=PEOPLE,
    k=st.integers(1, 4),
    diversity=st.sampled_from([{}, {"l": 2}, {"l": "3/2", "l_kind": "entropy"}, {"l": 2, "l_kind": "recursive", "c": "3/2"}]),
)
def test_k_counts_persons_and_l_both_persons_and_rows(
    classes: list[list[tuple[int, int]]], k: int, diversity: dict[str, Any]
) -> None:
    column = Sensitive("x", distance="equal", **diversity)
    rows = [row for part in classes for row in part]
    persons, codes = (np.array(side) for side in zip(*rows, strict=True))
    made = limits_of(
        [attribute(column, Equal(M), codes, np.bincount(codes, minlength=M))], Policy(["q"], [column], k=k, unit="id"), persons
    )
    comp = failing(made, np.arange(len(rows)), np.cumsum([0, *map(len, classes)]))

    def diverse(counts: list[int]) -> bool:
        if column.l_kind == "entropy":
            return naive.has_entropy_l(counts, column.l)
        if column.l_kind == "recursive":
            return bool(naive.recursive_c(counts, 2) < column.c)
        return naive.distinct_l(counts) >= (column.l or 0)

    def holds(part: list[tuple[int, int]]) -> bool:
        by_rows = [sum(value == place for _, value in part) for place in range(M)]
        return len({person for person, _ in part}) >= k and diverse(naive.by_persons(part, M)) and diverse(by_rows)

    assert comp.tolist() == [not holds(part) for part in classes]


# Several attributes


@settings(max_examples=examples(60), deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, M - 1), st.integers(0, M - 1)), min_size=2, max_size=40),
    suppressed=SUPPRESSED,
    t=st.tuples(*[st.fractions(0, "1/2", max_denominator=20)] * 2),
    data=st.data(),
)
def test_each_attribute_is_judged_against_each_of_its_tables(
    rows: list[tuple[int, int]], suppressed: list[int], t: tuple[Fraction, Fraction], data: st.DataObject
) -> None:
    # The matrix column is checked last, and the ordered one against two tables: what was and what is left.
    columns = [Sensitive("x", t=t[0], distance="matrix", matrix={"a": {"b": 1}}), Sensitive("y", t=t[1], distance="ordered")]
    first, second = (np.array(side) for side in zip(*rows, strict=True))
    distances = [Matrix(MATRIX), Ordered(M)]
    left = [np.bincount(codes, minlength=M) for codes in (first, second)]
    given_ = [
        attribute(columns[0], distances[0], first, left[0]),
        attribute(columns[1], distances[1], second, left[1]),
        attribute(columns[1], distances[1], second, left[1] + suppressed),
    ]
    cut = data.draw(st.integers(1, len(rows) - 1))
    comp = failing(limits_of(given_, Policy(["q"], columns)), np.arange(len(rows)), np.array([0, cut, len(rows)]))
    ref = np.zeros(2, dtype=bool)
    for one in given_:
        parts = [np.bincount(one.codes[part], minlength=M).tolist() for part in (slice(0, cut), slice(cut, None))]
        ref |= Closeness(one.distance, limit=one.column.t).judge(Histograms.of(parts, one.counts.tolist())).broken
    assert comp.tolist() == ref.tolist()


# One row more or less


LIMITS_OF_A_COLUMN: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "t": st.fractions(0, 1, max_denominator=6),
        "beta": st.fractions("1/4", 4, max_denominator=4),
        "beta_kind": st.sampled_from(["basic", "enhanced"]),
        "delta": st.fractions("1/4", 4, max_denominator=4),
        "delta_kind": st.sampled_from(["strict", "lenient"]),
        "l": st.integers(1, 3),
    },
)
DIVERSITY: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{"l_kind": "distinct"}, {"l_kind": "entropy"}, {"l_kind": "recursive", "c": 2}]
)


@njit
def change_each(limits: Any, tallies: Any, inside: Any, size: int, scratch: Any, broken: Any) -> None:
    for row in range(len(inside)):
        broken[row] = not satisfies_with(limits, tallies, size, row, -1 if inside[row] else 1, scratch)


@settings(max_examples=examples(200), deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, M - 1), st.integers(0, M - 1), st.booleans()), min_size=2, max_size=30),
    distances=st.lists(st.sampled_from(DISTANCES), min_size=1, max_size=2),
    suppressed=SUPPRESSED,
    asked=st.fixed_dictionaries(
        {"k": st.integers(1, 4)}, optional={"alpha": st.fractions("1/4", 1, max_denominator=6), "n": st.integers(4, 20)}
    ),
    data=st.data(),
)
def test_a_class_with_a_row_more_or_less_is_judged_by_its_tallies(
    rows: list[tuple[int, int, bool]], distances: list[Distance], suppressed: list[int], asked: Any, data: st.DataObject
) -> None:
    columns, attributes = [], []
    for place, distance in enumerate(distances):
        limits = data.draw(LIMITS_OF_A_COLUMN) | data.draw(DIVERSITY)
        for name, needs in (("l_kind", "l"), ("c", "l"), ("beta_kind", "beta"), ("delta_kind", "delta")):
            if needs not in limits:
                limits.pop(name, None)
        if "n" in asked:
            limits.setdefault("t", Fraction(1, 3))
        kind: Any = distance.name
        columns.append(Sensitive(f"x{place}", distance=kind, **SETTINGS.get(distance.name, {}), **limits))
        codes = np.array([row[place] for row in rows])
        attributes.append(attribute(columns[-1], distance, codes, np.bincount(codes, minlength=M) + suppressed))
    made = limits_of(attributes, Policy(["q"], columns, **asked))
    inside = np.array([row[2] for row in rows])
    members = np.flatnonzero(inside)
    comp = np.empty(len(rows), dtype=np.bool_)
    tallies = np.concatenate([np.bincount(codes[members], minlength=M) for codes in made.codes]).astype(np.int32)
    scratch = scratch_for(made)
    change_each(made, tallies, inside, len(members), scratch, comp)
    for row in range(len(rows)):
        changed = np.setxor1d(members, [row])
        assert comp[row] == failing(made, changed, np.array([0, len(changed)]))[0]
    assert not scratch.counts.any()
    assert not scratch.further.any()


# Fractions


LARGE = st.integers(0, 2**63 - 1)


@njit
def is_at_most(a: int, b: int, c: int, d: int) -> Any:
    """Only kernels can call `at_most`."""
    return at_most(a, b, c, d)


@settings(deadline=None)  # the first compiles
@given(LARGE, LARGE.filter(bool), LARGE, LARGE.filter(bool))
def test_fractions_are_compared_exactly(a: int, b: int, c: int, d: int) -> None:
    assert is_at_most(a, b, c, d) == (Fraction(a, b) <= Fraction(c, d))
    assert is_at_most(a, b, a, b)


# Running


def test_what_a_kernel_raises_is_raised() -> None:
    def fails(cancel: Any) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(fails)
    assert run(lambda x, cancel: x + 1 + cancel[0], 1) == 2


def test_an_interrupt_cancels_the_kernel() -> None:
    import _thread

    stopped = threading.Event()

    def waits(cancel: Any) -> None:
        _thread.interrupt_main()
        while not cancel[0]:
            pass
        stopped.set()

    with pytest.raises(KeyboardInterrupt):
        run(waits)
    assert stopped.is_set()


def test_a_kernel_runs_from_another_thread() -> None:
    found: list[Any] = []
    worker = threading.Thread(target=lambda: found.append(run(lambda cancel: "done")))
    worker.start()
    worker.join(5)
    assert found == ["done"]


# The list of algorithms


def test_algorithms_are_found_by_name() -> None:
    assert [algorithm.name for algorithm in list_algorithms()][:3] == ["growth", "mondrian", "fragmentation"]
    assert find_algorithm("mondrian") in list_algorithms()
    assert repr(find_algorithm("mondrian")).startswith("<mondrian: cuts")
    with pytest.raises(PolicyError, match=r"Got 'mondrain'. Did you mean 'mondrian'\?"):
        find_algorithm("mondrain")


def test_the_list_of_algorithms_does_not_load_the_compiler() -> None:
    code = "import sys, tclose.make.registry as a; a.list_algorithms(); print('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "False"
