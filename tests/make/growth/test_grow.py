"""Classes that grow in blocks: by hand, against the naive twin, and what always holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from tclose import Policy, Sensitive
from tclose.distances import Distance, Equal, Ordered
from tclose.judge.emd import exact_emd
from tclose.make.growth import grow
from tclose.make.growth.grow import grow_class, grow_classes, grow_scratch
from tclose.make.kernels import running
from tclose.make.kernels.limits import Limits, limits_of
from tclose.make.kernels.loss import LossTable
from tclose.make.kernels.satisfies import failing
from tests import naive
from tests.support.attributes import DISTANCES, SETTINGS, M, attribute, limits_asked
from tests.support.examples import examples
from tests.support.widths import AGES, LOSSES, SIZES, Row, width

WIDE = Ordered(50 * M)
"""More values than a walk over them would be worth."""


def made_limits(
    columns: Sequence[tuple[Distance, Sequence[int], dict[str, Any]]],
    k: int,
    alpha: Any = 1,
    persons: Sequence[int] | None = None,
) -> Limits:
    """Limits for columns of codes, each with its distance and what is asked of it, against all rows."""
    attributes = []
    for number, (distance, codes, asked) in enumerate(columns):
        kind: Any = distance.name
        column = Sensitive(f"s{number}", distance=kind, **SETTINGS.get(distance.name, {}), **asked)
        attributes.append(attribute(column, distance, codes))
    policy = Policy(["q"], [one.column for one in attributes], k=k, alpha=alpha, unit=None if persons is None else "who")
    return limits_of(attributes, policy, None if persons is None else np.array(persons))


def grown(
    rows: Sequence[Row], limits: Limits, blocks: Sequence[Sequence[int]], seed: int = 0, losses: LossTable = LOSSES
) -> list[int]:
    order = np.array([row for block in blocks for row in block], dtype=np.int32)
    starts = np.cumsum([0, *map(len, blocks)])
    labels: list[int] = grow_classes(np.array(rows, dtype=np.int32), losses, limits, order, starts, seed).tolist()
    return labels


def classes_of(labels: Sequence[int]) -> list[list[int]]:
    """The rows of each class; numbers have no gaps."""
    assert set(labels) - {-1} == set(range(max(labels) + 1))
    return [[row for row, label in enumerate(labels) if label == number] for number in range(max(labels) + 1)]


# By hand


@pytest.mark.parametrize("seed", range(5))
def test_a_class_takes_near_rows_that_bring_it_to_the_table(seed: int) -> None:
    # Each row stands beside one of its own value, which would cost nothing, and near one of the other.
    ages, values = [(0,), (0,), (1,), (1,), (7,), (7,), (8,), (8,)], [0, 0, 1, 1, 0, 0, 1, 1]
    labels = grown(ages, made_limits([(Equal(2), values, {"t": 0})], k=1), [range(8)], seed, AGES)
    for members in classes_of(labels):
        assert sorted(values[row] for row in members) == [0, 1]
        assert abs(ages[members[0]][0] - ages[members[1]][0]) == 1
    assert -1 not in labels


@pytest.mark.parametrize("seed", range(5))
def test_where_no_row_helps_one_that_harms_least_comes(seed: int) -> None:
    # The table has 3/5 and 2/5: from two rows and one, at 1/15, every row leads away before the fifth leads to 0.
    limits = made_limits([(Equal(2), [0, 0, 0, 1, 1], {"t": 0})], k=1)
    assert grown([(0,)] * 5, limits, [range(5)], seed, AGES) == [0] * 5


def test_rows_that_make_no_class_are_left_over() -> None:
    nothing: dict[str, Any] = {}
    labels = grown([(0,), (0,), (8,), (8,), (8,)], made_limits([(Equal(1), [0] * 5, nothing)], k=2), [range(2), [4, 2]], 0, AGES)
    assert labels == [0, 0, 1, -1, 1]  # the fourth is in no block
    labels = grown([(0,)] * 5, made_limits([(Equal(1), [0] * 5, nothing)], k=3), [range(5)], 0, AGES)
    assert sorted(labels) == [-1, -1, 0, 0, 0]


def test_no_rows_at_all() -> None:
    limits = made_limits([(Equal(1), [0, 0], {})], k=2)
    assert grown([(0,), (0,)], limits, [[]], 0, AGES) == grown([(0,), (0,)], limits, [], 0, AGES) == [-1, -1]


def test_persons_are_what_k_counts() -> None:
    # The other row of the same person would cost nothing.
    persons = [0, 0, 1, 1]
    limits = made_limits([(Equal(1), [0] * 4, {})], k=2, persons=persons)
    labels = grown([(0,), (0,), (8,), (8,)], limits, [range(4)], 0, AGES)
    assert [sorted(persons[row] for row in members) for members in classes_of(labels)] == [[0, 1], [0, 1]]


@pytest.mark.parametrize(
    ("asked", "k", "expected"),
    [([{}], 1, 200), ([{}], 100, 400), ([{"t": "1/2"}], 1, 200), ([{"t": "1/2"}, {"t": "1/50"}], 1, 300), ([{"t": 0}], 1, 1000)],
)
def test_the_closer_the_more_rows_may_be_tried(asked: list[dict[str, Any]], k: int, expected: int) -> None:
    limits = made_limits([(Equal(2), [0, 1], settings) for settings in asked], k=k)
    assert grow._largest(limits) == expected


def test_a_block_ends_after_failures_in_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    # A class with a value that one row of 32 has needs 16 rows; any two rows of the two others will do.
    limits = made_limits([(Ordered(4), [0, 1] * 15 + [2, 3], {"beta": 1})], k=1)
    monkeypatch.setattr(grow, "LARGEST", 4)
    assert grown([(0,)] * 32, limits, [range(32)], 0, AGES)[:30].count(-1) == 0
    monkeypatch.setattr(grow, "FAILURES", 1)
    assert grown([(0,)] * 32, limits, [range(32)], 0, AGES)[:30].count(-1) > 0


# Against the naive twin


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    """Rows, limits on one to three sensitive columns, and blocks that may leave rows out."""
    size = draw(st.integers(1, 24))
    rows = draw(st.lists(st.tuples(*(st.integers(0, top - 1) for top in SIZES)), min_size=size, max_size=size))
    columns, alpha = [], draw(st.sampled_from([1, 1, "1/2"]))
    for _ in range(draw(st.integers(1, 3))):
        distance = draw(st.sampled_from([*DISTANCES, WIDE]))
        codes = draw(st.lists(st.sampled_from(range(0, distance.m, distance.m // M)), min_size=size, max_size=size))
        asked = draw(limits_asked())
        asked.pop("alpha", None)
        columns.append((distance, codes, asked))
    persons = draw(st.none() | st.lists(st.integers(0, 9), min_size=size, max_size=size))
    order = draw(st.permutations(range(size)))
    ends = sorted(draw(st.lists(st.integers(0, size), min_size=1, max_size=3)))
    blocks = [order[a:b] for a, b in zip([0, *ends], ends, strict=False)]
    return {"rows": rows, "columns": columns, "k": draw(st.integers(1, 4)), "alpha": alpha, "persons": persons, "blocks": blocks}


def excess_of(case: dict[str, Any]) -> Callable[[list[int]], float]:
    """By the naive twin, over all columns."""

    def of(members: list[int]) -> float:
        total = 0.0
        for distance, codes, asked in case["columns"]:
            counts, table = (naive.counts_of(part, range(distance.m)) for part in ([codes[row] for row in members], codes))
            total += naive.grow.excess(counts, table, partial(exact_emd, distance), **asked, alpha=Fraction(case["alpha"]))
        if case["persons"] is not None:
            total += max(0, 1 - len({case["persons"][row] for row in members}) / case["k"])
        return total

    return of


@njit
def first_class(quasi: Any, losses: Any, limits: Any, largest: int, strict: bool, scratch: Any, left: int, cancel: Any) -> Any:
    """Only kernels can call `grow_class`."""
    return grow_class(quasi, losses, limits, largest, strict, scratch, left, cancel)


@settings(max_examples=examples(100), deadline=None)
@given(case=cases(), largest=st.integers(1, 12), strict=st.booleans())
def test_every_step_against_naive(case: dict[str, Any], largest: int, strict: bool) -> None:
    limits, rows = made_limits(case["columns"], case["k"], case["alpha"], case["persons"]), case["rows"]
    scratch = grow_scratch(len(SIZES), limits, largest, len(rows))
    for _ in range(2):  # the first time must leave no trace
        scratch.rows[:] = range(len(rows))
        quasi, cancel = np.array(rows, dtype=np.int32), np.zeros(1, dtype=np.uint8)
        size, fine = first_class(quasi, LOSSES, limits, largest, strict, scratch, len(rows), cancel)
        ref = naive.grow.sprouted_from(list(range(len(rows))), rows, width, excess_of(case), holds_of(limits), largest, strict)
        assert scratch.members[:size].tolist() == scratch.indices[:size].tolist() == ref
        assert fine == holds_of(limits)(ref)


def holds_of(limits: Limits) -> Callable[[list[int]], bool]:
    return lambda members: not failing(limits, np.array(members), np.array([0, len(members)]))[0]


@settings(max_examples=examples(100), deadline=None)
@given(case=cases(), seed=st.integers(0, 2**70), largest=st.integers(1, 8), failures=st.integers(1, 3))
def test_classes_against_naive(case: dict[str, Any], seed: int, largest: int, failures: int) -> None:
    limits = made_limits(case["columns"], case["k"], case["alpha"], case["persons"])
    holds = holds_of(limits)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grow, "LARGEST", largest)
        patch.setattr(grow, "MOST", 0)
        patch.setattr(grow, "FAILURES", failures)
        comp = grown(case["rows"], limits, case["blocks"], seed)
    states = np.random.SeedSequence(seed).generate_state(len(case["blocks"]), np.uint64).tolist()
    drawn = [naive.grow.shuffled(block, state) for block, state in zip(case["blocks"], states, strict=True)]
    most = max(largest, 4 * case["k"])
    assert comp == naive.grow.sprouted(case["rows"], drawn, width, excess_of(case), holds, most, failures)
    assert all(map(holds, classes_of(comp)))


# On many rows


def large(rows: int = 1200, blocks: int = 6) -> tuple[list[Row], Limits, list[list[int]]]:
    rng = np.random.default_rng(3)
    quasi = [tuple(int(rng.integers(0, size)) for size in SIZES) for _ in range(rows)]
    values = np.minimum(rng.geometric(0.1, rows), 40) - 1
    limits = made_limits(
        [
            (Ordered(40), values.tolist(), {"t": "1/10"}),
            (Equal(M), rng.integers(0, M, rows).tolist(), {"t": "1/4", "l": 3}),
        ],
        k=4,
    )
    return quasi, limits, [list(range(block, rows, blocks)) for block in range(blocks)]


def test_most_rows_find_a_class_and_every_class_holds() -> None:
    rows, limits, blocks = large()
    labels = grown(rows, limits, blocks)
    members = classes_of(labels)
    starts = np.cumsum([0, *map(len, members)])
    assert not failing(limits, np.concatenate(members), starts).any()
    assert labels.count(-1) < len(rows) / 4
    firsts = [next(number for number, block in enumerate(blocks) if part[0] in block) for part in members]
    assert firsts == sorted(firsts)  # block after block


def test_the_same_on_any_number_of_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for cores in (1, 2, 5):
        monkeypatch.setattr(running, "cores", lambda cores=cores: cores)
        found.append(grown(*large()))
    assert found[0] == found[1] == found[2]


def test_another_seed_finds_other_classes() -> None:
    assert grown(*large(), seed=1) != grown(*large(), seed=2)


def test_a_cancelled_block_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    def cancelled(kernel: Any, parts: int, scratch: Callable[[], Any], *args: Any) -> None:
        for part in range(parts):
            kernel(part, *args, scratch(), np.ones(1, dtype=np.uint8))

    monkeypatch.setattr(grow, "run_parts", cancelled)
    assert set(grown(*large())) == {-1}
