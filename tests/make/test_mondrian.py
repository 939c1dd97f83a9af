"""t-Mondrian and (n,t)-Mondrian against their naive twin, by hand, and on Adult."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tclose import Hierarchy, Policy, Quasi, Sensitive
from tclose.distances import Equal, Hierarchical, Ordered
from tclose.judge.models.region import judge_regions
from tclose.make.algorithm import Partition
from tclose.make.encode import Attribute, EncodedTable
from tclose.make.kernels.limits import limits_of
from tclose.make.kernels.satisfies import failing
from tclose.make.mondrian import mondrian
from tclose.make.problem import Problem
from tclose.make.scales import Scale, Widths
from tclose.values.histograms import Histograms
from tests import naive
from tests.support import widths
from tests.support.attributes import attribute
from tests.support.examples import examples
from tests.support.widths import Row


class Fixed(Scale):
    """A scale of which an algorithm sees the widths only."""

    def __init__(self, widths: Widths) -> None:
        self.name, self.size, self.missing = "q", len(widths.own), widths.missing
        self._widths = widths

    def widths(self) -> Widths:
        return self._widths

    def publish(self, codes: Any, starts: Any) -> Any:
        raise NotImplementedError

    def boxes(self, codes: Any, starts: Any) -> Any:
        raise NotImplementedError

    def covers(self, codes: Any, starts: Any) -> Any:
        raise NotImplementedError

    def describe(self, published: str, *, missing: bool) -> str:
        raise NotImplementedError


def line(size: int, missing: bool = False) -> Fixed:
    return Fixed(widths.line(size, missing))


def pairs_of_leaves(size: int) -> Fixed:
    """A tree: codes 2i and 2i+1 have a parent of their own below the root."""
    codes = np.arange(size)
    ancestors = np.array([0 * codes, 1 + codes // 2, 1 + size // 2 + codes], dtype=np.int32)
    charges = np.concatenate([[1], np.full(size // 2, 2 / size), np.zeros(size)])
    return Fixed(Widths(np.zeros(size), np.zeros(size), np.zeros(size), False, ancestors, charges))


def encoded(scales: Sequence[Scale], quasi: Sequence[Row], sensitive: Sequence[Attribute], persons: Any = None) -> EncodedTable:
    columns = [np.array([row[place] for row in quasi], dtype=np.uint16) for place in range(len(scales))]
    return EncodedTable(np.arange(len(quasi)), list(scales), columns, [], list(sensitive), persons, {})


def cut(
    scales: Sequence[Scale], quasi: Sequence[Row], sensitive: Sequence[Attribute], weights: Sequence[Any] = (), **limits: Any
) -> Partition:
    weights = weights or [1] * len(scales)
    columns = [Quasi(f"q{place}", weight=weight) for place, weight in enumerate(weights)]
    policy = Policy(columns, [one.column for one in sensitive], **limits)
    return mondrian(Problem.of(encoded(scales, quasi, sensitive), policy, regions=True), 0, "", {})


def ids(partition: Partition) -> list[int]:
    found: list[int] = partition.labels.tolist()
    return found


# By hand


def unlimited(rows: int) -> Attribute:
    return attribute(Sensitive("x", distance="equal"), Equal(2), [0, 1] * (rows // 2) + [0] * (rows % 2))


def test_it_cuts_at_the_median_until_k() -> None:
    quasi = [(code,) for code in range(8)]
    assert ids(cut([line(8)], quasi, [unlimited(8)], k=2)) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert ids(cut([line(8)], quasi, [unlimited(8)], k=3)) == [0, 0, 0, 0, 1, 1, 1, 1]
    assert ids(cut([line(8)], quasi, [unlimited(8)], k=5)) == [0] * 8


def test_it_cuts_the_widest_first() -> None:
    # Both cuts leave two rows a side. The second quasi-identifier spans all its codes, the first half of its own.
    quasi = [(0, 0), (0, 4), (2, 0), (2, 4)]
    assert ids(cut([line(5), line(5)], quasi, [unlimited(4)], k=2)) == [0, 1, 0, 1]
    assert ids(cut([line(5), line(5)], quasi, [unlimited(4)], weights=["3", "1"], k=2)) == [0, 0, 1, 1]


def test_of_equal_widths_the_first_of_the_policy_is_cut() -> None:
    quasi = [(0, 0), (0, 4), (4, 0), (4, 4)]
    assert ids(cut([line(5), line(5)], quasi, [unlimited(4)], k=2)) == [0, 0, 1, 1]


def test_if_a_cut_fails_the_next_widest_is_tried() -> None:
    # Along the first, sick and healthy are apart; along the second, narrower one they are mixed.
    sick = attribute(Sensitive("x", t="1/4", distance="equal"), Equal(2), [0, 0, 1, 1])
    assert ids(cut([line(5), line(5)], [(0, 0), (0, 2), (4, 0), (4, 2)], [sick], k=2)) == [0, 1, 0, 1]


def test_where_no_median_can_be_cut_another_boundary_is() -> None:
    # At the median the left side would be healthy throughout, after two rows too; after four both sides have both.
    sick = attribute(Sensitive("x", l=2, distance="equal"), Equal(2), [1, 1, 1, 0, 1, 0])
    assert ids(cut([line(6)], [(code,) for code in range(6)], [sick], k=2)) == [0, 0, 0, 0, 1, 1]


def test_a_missing_cell_beside_values_is_as_wide_as_can_be() -> None:
    quasi = [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert ids(cut([line(5), line(5)], quasi, [unlimited(4)], k=2)) == [0, 0, 1, 1]
    assert ids(cut([line(5), line(2, missing=True)], quasi, [unlimited(4)], k=2)) == [0, 1, 0, 1]


def test_a_table_that_breaks_its_limits_is_one_class() -> None:
    assert ids(cut([line(3)], [(0,), (1,), (2,)], [unlimited(3)], k=4)) == [0, 0, 0]


def test_rows_with_the_same_codes_stay_together() -> None:
    assert ids(cut([line(2)], [(1,), (0,), (1,), (0,)], [unlimited(4)], k=1)) == [1, 0, 1, 0]


# Against the naive twin

SIZES = (9, 5, 4)
SCALES: list[Scale] = [line(9), line(5), pairs_of_leaves(4)]
WEIGHTS = ("1", "1/2", "1")
TREE = {"*": {"x": ["a", "b"], "y": ["c", "d"]}}
ROWS = st.lists(
    st.tuples(*(st.integers(0, size - 1) for size in SIZES), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=60
)


def width(place: int, a: int, b: int) -> Fraction:
    if place < 2:
        return Fraction(b - a, SIZES[place] - 1) * Fraction(WEIGHTS[place])
    return Fraction(0) if a == b else Fraction(1, 2) if a // 2 == b // 2 else Fraction(1)


def shares(codes: Any, rows: Sequence[int]) -> list[int]:
    return [sum(codes[row] == value for row in rows) for value in range(4)]


EMDS: tuple[Callable[[Any, Any], Fraction], ...] = (
    naive.emd_ordered,
    lambda p, q: naive.emd_tree(p, q, ("*", [("x", ["a", "b"]), ("y", ["c", "d"])])),
)
DISTANCES = (Ordered(4), Hierarchical(Hierarchy.from_mapping(TREE), ["a", "b", "c", "d"]))


def two_attributes(rows: Sequence[Row], t: Sequence[Fraction]) -> list[Attribute]:
    columns = [Sensitive("x", t=t[0], distance="ordered"), Sensitive("y", t=t[1], hierarchy=TREE)]
    return [attribute(columns[place], DISTANCES[place], [row[3 + place] for row in rows]) for place in range(2)]


LIMITS = st.tuples(*[st.sampled_from([Fraction(1, 10), Fraction(1, 4), Fraction(2, 5), Fraction(1)])] * 2)


@settings(max_examples=examples(150), deadline=None)
@given(rows=ROWS, k=st.integers(1, 4), t=LIMITS)
def test_t_mondrian_against_naive(rows: list[Row], k: int, t: tuple[Fraction, Fraction]) -> None:
    rows = sorted(rows)
    sensitive = two_attributes(rows, t)
    comp = cut(SCALES, [row[:3] for row in rows], sensitive, WEIGHTS, k=k)

    def fits(side: list[int], _: list[list[int]]) -> bool:
        spreads = zip(EMDS, (one.codes for one in sensitive), t, strict=True)
        return len(side) >= k and all(
            emd(shares(codes, side), shares(codes, range(len(rows)))) <= limit for emd, codes, limit in spreads
        )

    ref = naive.mondrian([row[:3] for row in rows], width, fits, k)
    assert [np.flatnonzero(comp.labels == label).tolist() for label in range(len(ref))] == ref
    assert comp.regions == []


@settings(max_examples=examples(150), deadline=None)
@given(rows=ROWS, k=st.integers(1, 3), n=st.integers(1, 30), t=LIMITS)
def test_n_t_mondrian_against_naive_and_the_judge(rows: list[Row], k: int, n: int, t: tuple[Fraction, Fraction]) -> None:
    rows = sorted(rows)
    sensitive = two_attributes(rows, t)
    comp = cut(SCALES, [row[:3] for row in rows], sensitive, WEIGHTS, k=k, n=n)

    def fits(side: list[int], around: list[list[int]]) -> bool:
        regions = [region for region in [*around, side] if len(region) >= n]
        return len(side) >= k and all(
            any(emd(shares(one.codes, side), shares(one.codes, region)) <= limit for region in regions)
            for emd, one, limit in zip(EMDS, sensitive, t, strict=True)
        )

    ref = naive.mondrian([row[:3] for row in rows], width, fits, k)
    assert [np.flatnonzero(comp.labels == label).tolist() for label in range(len(ref))] == ref
    if len(rows) >= n:  # else there is no region at all
        for one, limit in zip(sensitive, t, strict=True):
            counts = [shares(one.codes, members) for members in ref]
            alone = [np.array([number]) for number in range(len(ref))]
            around = [np.flatnonzero(level == region) for level in comp.regions for region in np.unique(level[level >= 0])]
            found = judge_regions(Histograms.of(counts), one.distance, limit, n, lambda _, known=[*alone, *around]: known)  # type: ignore[misc]
            assert not found.broken.any()


def test_other_limits_are_judged_against_the_input_under_n_t_closeness() -> None:
    # Rows that were left out count in the input. There a's share is 1/4, so with beta = 1 no class may have more than half.
    column = Sensitive("x", t=1, beta=1, distance="equal")
    present = attribute(column, Equal(2), [0, 0, 1, 1] + [0, 1] * 2)
    whole = Attribute(column, Equal(2), present.values, present.published, present.codes, np.array([4, 12]))
    policy = Policy(["q0"], [column], k=2, n=4)
    problem = Problem.of(encoded([line(8)], [(code,) for code in range(8)], [whole]), policy, regions=True)
    problem = replace(problem, limits=limits_of([whole], policy))
    before = problem.limits.references.copy()
    assert ids(mondrian(problem, 0, "", {})) == [0, 0, 0, 0, 1, 1, 2, 2]
    np.testing.assert_array_equal(problem.limits.references, before)


def test_wide_nodes_are_cut_at_few_boundaries() -> None:
    # 200 rows on 200 codes: tries are 3 rows apart. Sick and healthy are apart, so that only far cuts would do.
    quasi = [(code,) for code in range(200)]
    codes = [0] * 3 + [1] * 197
    sensitive = attribute(Sensitive("x", l=2, distance="equal"), Equal(2), codes)
    rows = [(code,) for code in range(200)]
    comp = cut([line(200)], quasi, [sensitive], k=2)
    ref = naive.mondrian(rows, lambda _, a, b: b - a, lambda side, _: len({codes[row] for row in side}) > 1, 2)
    assert [np.flatnonzero(comp.labels == label).tolist() for label in range(len(ref))] == ref


@settings(max_examples=examples(30), deadline=None)
@given(st.lists(st.integers(0, 60_000), min_size=4, max_size=80), st.integers(1, 4))
def test_many_codes_are_sorted_as_few_are_counted(codes: list[int], k: int) -> None:
    quasi = [(code,) for code in sorted(codes)]
    comp = cut([line(60_001)], quasi, [unlimited(len(codes))], k=k)
    ref = naive.mondrian(quasi, lambda _, a, b: b - a, lambda side, _: len(side) >= k, k)
    assert [np.flatnonzero(comp.labels == label).tolist() for label in range(len(ref))] == ref


@settings(max_examples=examples(40), deadline=None)
@given(rows=ROWS, k=st.integers(1, 3), data=st.data())
def test_persons_are_counted(rows: list[Row], k: int, data: st.DataObject) -> None:
    persons = np.array(data.draw(st.lists(st.integers(0, 20), min_size=len(rows), max_size=len(rows))))
    column = Sensitive("x", l=2, distance="equal")
    sensitive = [attribute(column, Equal(4), [row[3] for row in rows])]
    policy = Policy(["q0", "q1", "q2"], [column], k=k, unit="id")
    problem = Problem.of(encoded(SCALES, rows, sensitive, persons), policy, regions=True)
    comp = mondrian(problem, 0, "", {})
    classes = [np.flatnonzero(comp.labels == label) for label in range(comp.labels.max() + 1)]
    if len(classes) > 1:
        assert min(len(set(persons[members])) for members in classes) >= k
        order, starts = np.concatenate(classes), np.cumsum([0, *map(len, classes)])
        assert not failing(problem.limits, order, starts).any()


# Adult: the scenario table

COLUMNS = ("age", "education-num", "marital-status", "race", "sex", "native-country", "workclass")
TREES = COLUMNS[2:]
SCENARIOS: list[tuple[dict[str, float], float]] = [
    ({"hours-per-week": 0.2}, 0.0348),
    ({"hours-per-week": 0.1}, 0.0604),
    ({"hours-per-week": 0.05}, 0.2904),
    ({"occupation": 0.2}, 0.6006),
    ({"occupation": 0.1}, 0.8702),
    ({"occupation": 0.05}, 1.0),
    ({"hours-per-week": 0.2, "capital-gain": 0.2}, 0.0372),
    ({"hours-per-week": 0.1, "capital-gain": 0.1}, 0.0844),
    ({"hours-per-week": 0.05, "capital-gain": 0.05}, 0.4324),
    ({"hours-per-week": 0.2, "occupation": 0.2}, 0.6006),
    ({"hours-per-week": 0.1, "occupation": 0.1}, 0.8702),
    ({"hours-per-week": 0.05, "occupation": 0.05}, 1.0),
]


@pytest.fixture(scope="module")
def adult(data: Path) -> tuple[Any, list[tuple[Fixed, Any]]]:
    """The table, and its quasi-identifiers' scales and codes."""
    import pandas as pd

    table = pd.read_csv(data / "adult.csv")
    files = [data / "hierarchies" / f"{name}.csv" if name in TREES else None for name in COLUMNS]
    return table, [adult_scale(table[name], file) for name, file in zip(COLUMNS, files, strict=True)]


def adult_scale(values: Any, file: Path | None) -> tuple[Fixed, Any]:
    """A quasi-identifier's widths and codes: NCP over the range, or over the leaves that occur."""
    if file is None:
        numbers, codes = np.unique(values, return_inverse=True)
        places = (numbers - numbers[0]) / (numbers[-1] - numbers[0])
        return Fixed(Widths(0 * places, places, places, False, np.empty((0, len(places)), dtype=np.int32), np.empty(0))), codes
    tree = Hierarchy.from_csv(file)
    leaves = [leaf for leaf in tree.leaves if leaf in set(values)]
    paths = [tree.path(tree.leaf(leaf)) for leaf in leaves]
    depth = max(map(len, paths))
    ancestors = np.array([path + [-1] * (depth - len(path)) for path in paths], dtype=np.int32).T
    below = np.bincount([node for path in paths for node in path], minlength=len(tree.parents))
    charges = np.where(below > 1, below / len(leaves), 0)
    nothing = np.zeros(len(leaves))
    place = {leaf: code for code, leaf in enumerate(leaves)}
    return Fixed(Widths(nothing, nothing, nothing, False, ancestors, charges)), np.array([place[value] for value in values])


def ncp(widths: Widths, a: int, b: int) -> float:
    if a == b:
        return 0.0
    if not len(widths.charges):
        return float(widths.highs[b] - widths.lows[a])
    return float(min(widths.charges[node] for node in set(widths.ancestors[:, a]) & set(widths.ancestors[:, b]) - {-1}))


@pytest.mark.needs_data
@pytest.mark.parametrize(("t", "published"), SCENARIOS, ids=str)
def test_the_loss_on_adult_is_at_or_below_the_published_column(
    adult: tuple[Any, list[tuple[Fixed, Any]]], t: dict[str, float], published: float
) -> None:
    rows, found = adult
    columns = [Sensitive(name, t=limit) for name, limit in t.items()]
    sensitive = []
    for column in columns:
        values, codes = np.unique(rows[column.name].to_numpy().astype(object), return_inverse=True)
        distance = Equal(len(values)) if column.name == "occupation" else Ordered(len(values))
        counts = np.bincount(codes).astype(np.int64)
        sensitive.append(Attribute(column, distance, values.tolist(), pa.array([]), codes, counts))
    policy = Policy(list(COLUMNS), columns, k=5)
    quasi = [codes.astype(np.uint16) for _, codes in found]
    table = EncodedTable(np.arange(len(rows)), [scale for scale, _ in found], quasi, [], sensitive, None, {})
    problem = Problem.of(table, policy, regions=True)
    labels = mondrian(problem, 0, "", {}).labels

    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(labels.max() + 2))
    assert not failing(problem.limits, order, starts).any()
    losses = []
    for scale, codes in found:
        low, high = (end.reduceat(codes[order], starts[:-1]).tolist() for end in (np.minimum, np.maximum))
        losses += [size * ncp(scale.widths(), a, b) for size, a, b in zip(np.diff(starts), low, high, strict=True)]
    assert math.fsum(losses) / len(rows) / len(COLUMNS) <= published + 0.00005  # it was published with four decimals
