"""Blocks whose sensitive values are spread nearly as in the table: by hand, against the naive twin, and what always holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from time import monotonic
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tclose import Hierarchy, Policy, Sensitive
from tclose.distances import Distance, Equal, Hierarchical, Ordered
from tclose.jobs import Cancelled, Job
from tclose.make.growth import blocks as blocks_module
from tclose.make.growth.blocks import Blocks, cut
from tclose.make.kernels import running
from tclose.make.kernels.limits import Limits, limits_of
from tclose.make.kernels.loss import LossTable, loss_table
from tclose.make.kernels.satisfies import failing, find_failing
from tests import naive
from tests.support.attributes import attribute
from tests.support.examples import examples
from tests.support.widths import LOSSES, SIZES, Row, line, width

LONGEST = 60
"""Seconds after which a kernel that is not told to stop would never be."""
VALUES = 4
TREE = {"*": {"x": ["a", "b"], "y": ["c", "d"]}}
KINDS: tuple[tuple[dict[str, Any], Distance, Callable[[Any, Any], Fraction]], ...] = (
    ({"distance": "ordered"}, Ordered(VALUES), naive.emd_ordered),
    ({"distance": "equal"}, Equal(VALUES), naive.emd_equal),
    (
        {"hierarchy": TREE},
        Hierarchical(Hierarchy.from_mapping(TREE), ["a", "b", "c", "d"]),
        lambda p, q: naive.emd_tree(p, q, ("*", [("x", ["a", "b"]), ("y", ["c", "d"])])),
    ),
)


def blocks(parts: Blocks) -> list[list[int]]:
    return [block.tolist() for block in np.split(parts.rows, parts.starts[1:-1])]


def limits_for(values: Sequence[Row], columns: Sequence[dict[str, Any]], persons: Any = None, **policy: Any) -> Limits:
    """What the first kinds of columns, ordered, equal and hierarchical, ask; each by its own settings."""
    sensitive = [Sensitive(f"s{place}", **KINDS[place][0], **asked) for place, asked in enumerate(columns)]
    attributes = [attribute(one, KINDS[place][1], [row[place] for row in values]) for place, one in enumerate(sensitive)]
    return limits_of(attributes, Policy(["q"], sensitive, **policy), persons)


def cut_lines(
    quasi: Sequence[Row], salaries: Sequence[int], most: int, losses: LossTable | None = None, **asked: Any
) -> list[list[int]]:
    """Blocks of rows whose quasi-identifiers classes on lines of many places, and with one sensitive column, ordered."""
    losses = losses or loss_table([line(65)] * len(quasi[0]), [1.0] * len(quasi[0]))
    limits = limits_for([(salary,) for salary in salaries], [asked])
    return blocks(cut(np.array(quasi, dtype=np.int32), losses, limits, most))


def ages(rows: int) -> list[Row]:
    return [(code,) for code in range(rows)]


# By hand


def test_it_cuts_at_the_median_until_blocks_are_small() -> None:
    assert cut_lines(ages(8), [0, 3] * 4, 4, t=0) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert cut_lines(ages(8), [0, 3] * 4, 3, t=0) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert cut_lines(ages(8), [0, 3] * 4, 8, t=0) == [list(range(8))]


def test_rows_with_equal_codes_stay_together_if_each_side_gets_a_quarter() -> None:
    assert cut_lines([(0,), (1,), (1,), (0,), (1,), (1,), (1,), (1,)], [0] * 8, 6) == [[0, 3], [1, 2, 4, 5, 6, 7]]
    assert cut_lines([(1,), (0,), *[(1,)] * 6], [0] * 8, 6) == [[1, 2, 4, 6], [0, 3, 5, 7]]  # pairs: 1 0, 2 3, 4 5, 6 7


def test_of_two_boundaries_equally_near_the_median_the_lower_is_taken() -> None:
    assert cut_lines([(0,), (1,), (1,), (2,)], [0] * 4, 3) == [[0], [1, 2, 3]]


def test_where_a_plain_cut_would_part_the_values_windows_keep_their_spread() -> None:
    # The young earn little, the old much. Of each pair of neighbours in salary, then age, the younger goes left.
    assert cut_lines(ages(8), [0] * 4 + [3] * 4, 4, t=0) == [[0, 2, 4, 6], [1, 3, 5, 7]]


def test_the_largest_window_that_passes_is_taken() -> None:
    # Windows of 32 rows: 8, 2. With 16 rows of each salary, eights keep the spread.
    left, right = cut_lines(ages(32), [0] * 16 + [3] * 16, 16, t=0)
    assert left == [row for row in range(32) if row % 8 < 4]
    # With 12 and 20 the second eight gives its 4 low salaries to the left, which then has 8 of 16 instead of 3/8.
    assert cut_lines(ages(32), [0] * 12 + [3] * 20, 16, t="1/8") == [left, right]
    assert cut_lines(ages(32), [0] * 12 + [3] * 20, 16, t="1/9")[0] == list(range(0, 32, 2))


def test_odd_windows_give_either_side_one_row_more_in_turn() -> None:
    # 12 rows, windows of 3.
    assert cut_lines(ages(12), [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3, 6, t="1/6") == [[0, 1, 3, 6, 7, 9], [2, 4, 5, 8, 10, 11]]


def test_outliers_do_not_make_a_block_wide() -> None:
    # One row of eight at either end does not count, until nothing else is wide.
    second = [0, 1] * 4
    first = [64, 9, 9, 9, 9, 9, 9, 0]
    assert cut_lines(list(zip(first, second, strict=True)), [0] * 8, 4) == [[0, 2, 4, 6], [1, 3, 5, 7]]
    assert cut_lines(list(zip([5] * 8, first, strict=True)), [0] * 8, 4) == [[2, 4, 6, 7], [0, 1, 3, 5]]  # 7 1, 2 3, 4 5, 6 0


def test_one_code_is_never_wide() -> None:
    # Each code of the first quasi-identifier is published as the whole range.
    losses = loss_table([line(65)._replace(own=np.ones(65)), line(65)], [1.0, 1.0])
    assert cut_lines([(7, row // 2 * 8 % 9) for row in range(8)], [0] * 8, 4, losses) == [[0, 1, 6, 7], [2, 3, 4, 5]]


def test_if_no_window_passes_the_next_widest_is_cut() -> None:
    # Three rows, low and high, are never spread as six; by the second, narrower one two rows and four are.
    quasi = [(row * 9, int(row > 1)) for row in range(6)]
    assert cut_lines(quasi, [0, 3] * 3, 4, t=0) == [[0, 1], [2, 3, 4, 5]]


def test_a_huge_part_is_cut_within_looser_limits_rather_than_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    # Three rows, low and high, are never spread as six: one of them is 1/6 away.
    quasi, values = np.array(ages(6), dtype=np.int32), [(salary,) for salary in [0, 3] * 3]
    losses, (limits, looser) = loss_table([line(65)], [1.0]), (limits_for(values, [{"t": t}]) for t in (0, "1/6"))
    monkeypatch.setattr(blocks_module, "HUGE", 1)
    assert blocks(cut(quasi, losses, limits, 3, looser)) == [[0, 1, 2], [3, 4, 5]]
    assert blocks(cut(quasi, losses, limits, 3)) == [list(range(6))]
    assert blocks(cut(quasi, losses, limits, 3, limits_for(values, [{"t": "1/7"}]))) == [list(range(6))]
    monkeypatch.setattr(blocks_module, "HUGE", 2)
    assert blocks(cut(quasi, losses, limits, 3, looser)) == [list(range(6))]


def test_another_sensitive_column_may_come_first() -> None:
    # Pairs by the first column, 0 1 and 2 3, put both 0 of the second one left, as the plain cut does; pairs by the second do not.
    limits = limits_for([(0, 0), (1, 1), (2, 1), (3, 0)], [{}, {"t": 0}])
    quasi = np.array([[0], [2], [3], [1]], dtype=np.int32)
    assert blocks(cut(quasi, loss_table([line(4)], [1.0]), limits, 2)) == [[0, 1], [2, 3]]


def test_a_table_that_breaks_its_limits_is_one_block() -> None:
    # By halves it would hold: each has two persons of either value. But persons 1 and 2 are in both, so that the table has 2 and 4.
    values, persons = [(0,), (0,), (1,), (1,)] * 2, np.array([1, 2, 3, 4, 1, 2, 5, 6])
    limits = limits_for(values, [{"l": 2, "l_kind": "entropy"}], persons, unit="who")
    quasi, halves = np.array(ages(8), dtype=np.int32), np.array([0, 4, 8])
    assert not failing(limits, np.arange(8), halves).any()
    assert blocks(cut(quasi, loss_table([line(8)], [1.0]), limits, 4)) == [list(range(8))]


def test_blocks_that_cannot_be_cut_stay_larger() -> None:
    assert cut_lines(ages(6), [0, 3, 3, 0, 3, 3], 1, l=2) == [[0, 1, 2], [3, 4, 5]]


def test_the_same_on_any_number_of_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    quasi = np.array([rng.integers(0, places, 3000) for places in SIZES], dtype=np.int32).T.copy()
    limits = limits_for(
        [((row[0] + lot) % VALUES,) for row, lot in zip(quasi, rng.integers(0, 9, 3000), strict=True)], [{"t": "1/9"}]
    )
    found = []
    for cores in (1, 2, 5):
        monkeypatch.setattr(running, "cores", lambda cores=cores: cores)
        found.append(blocks(cut(quasi, LOSSES, limits, 40)))
    assert len(found[0]) > 70
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("calls", [1, 2, 5])
def test_a_cancelled_cut_stops(calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    really, told = find_failing, []

    def cancelled(*args: Any) -> None:
        really(*args)
        told.append(len(args[1]))
        if len(told) == calls:
            job.cancel()
            end = monotonic() + LONGEST
            while not args[-1][0]:
                assert monotonic() < end

    monkeypatch.setattr(running, "cores", lambda: 1)
    monkeypatch.setattr(blocks_module, "find_failing", cancelled)
    with Job() as job, pytest.raises(Cancelled):
        cut_lines(ages(64), [0] * 64, 4)
    assert len(told) == calls


# Against the naive twin, and what always holds

SHARES = st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 4), None])


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Row], list[Row]]:
    """Rows by their quasi-identifiers, and by one to three sensitive values, which may depend on them: drawn at random, for they
    must be many, and not alike, before a cut by windows is needed."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size, columns, noise = draw(st.integers(1, 80)), draw(st.integers(1, 3)), draw(st.sampled_from([1, 3, 9]))
    codes = np.array([rng.integers(0, places, size) * draw(st.sampled_from([0, 1])) for places in SIZES]).T
    values = (codes[:, :columns] + rng.integers(0, noise, (size, columns))) % VALUES
    return [tuple(row) for row in codes.tolist()], [tuple(row) for row in values.tolist()]


@settings(max_examples=examples(200), deadline=None)
@given(
    table=tables(),
    most=st.integers(1, 30),
    k=st.integers(1, 4),
    least=st.integers(1, 2),
    t=st.tuples(SHARES, SHARES, SHARES),
    larger=st.none() | st.just(Fraction(3, 2)),
)
def test_cutting_is_its_naive_twin(table: Any, most: int, k: int, least: int, t: Any, larger: Fraction | None) -> None:
    rows, values = table

    def asked(factor: Fraction) -> Limits:
        limited = [None if limit is None else min(Fraction(1), Fraction(limit) * factor) for limit in t]
        return limits_for(values, [{"t": limit, "l": least} for limit in limited[: len(values[0])]], k=k)

    looser = None if larger is None else asked(larger)
    comp = cut(np.array(rows, dtype=np.int32), LOSSES, asked(Fraction(1)), most, looser)

    def holds(members: list[int], factor: Fraction = Fraction(1)) -> bool:
        if len(members) < k:
            return False
        for (_, _, emd), limit, column in zip(KINDS, t, zip(*values, strict=True), strict=False):
            spread = naive.counts_of([column[row] for row in members], range(VALUES))
            far = limit is not None and emd(spread, naive.counts_of(column, range(VALUES))) > limit * factor
            if far or naive.distinct_l(spread) < least:
                return False
        return True

    in_a_looser_way = None if larger is None else partial(holds, factor=larger)
    assert blocks(comp) == naive.grow.cut(rows, values, most, width, holds, in_a_looser_way, blocks_module.HUGE * most)


@settings(max_examples=examples(80), deadline=None)
@given(table=tables(), most=st.integers(1, 30), k=st.integers(1, 3), n=st.sampled_from([None, 20]), data=st.data())
def test_every_block_keeps_every_limit(table: Any, most: int, k: int, n: int | None, data: st.DataObject) -> None:
    rows, values = table
    persons = np.array(data.draw(st.lists(st.integers(0, 40), min_size=len(rows), max_size=len(rows))))
    asked: list[dict[str, Any]] = [
        {"t": "1/4", "l": "3/2", "l_kind": "entropy"},
        {"t": "1/5", "beta": 2},
        {"t": "1/4", "l": 2, "l_kind": "recursive", "c": 3},
    ]
    limits = limits_for(values, asked[: len(values[0])], persons, k=k, n=n, unit="who", alpha=Fraction(3, 4))
    quasi = np.array(rows, dtype=np.int32)
    comp = cut(quasi, LOSSES, limits, most)
    assert sorted(comp.rows.tolist()) == list(range(len(rows)))
    assert comp.rows.dtype == np.int32
    assert comp.starts.dtype == np.int64
    assert len(comp.starts) == 2 or not failing(limits, comp.rows, comp.starts).any()
    for again in (quasi, np.asfortranarray(quasi)):
        assert blocks(cut(again, LOSSES, limits, most)) == blocks(comp)


@settings(max_examples=examples(50), deadline=None)
@given(table=tables(), most=st.integers(1, 30))
def test_without_limits_no_block_is_too_large(table: Any, most: int) -> None:
    rows, values = table
    sizes = [len(block) for block in blocks(cut(np.array(rows, dtype=np.int32), LOSSES, limits_for(values, [{}]), most))]
    assert max(sizes) <= most
    assert min(sizes) >= min(len(rows), most) / 4


@settings(max_examples=examples(30), deadline=None)
@given(codes=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 3)), min_size=1, max_size=60), most=st.integers(1, 10))
def test_codes_of_more_than_16_bits_are_cut_as_small_ones(codes: list[Row], most: int) -> None:
    limits = limits_for([row[1:] for row in codes], [{"t": "1/4"}])
    quasi = np.array([row[:1] for row in codes], dtype=np.int32)
    small = cut(quasi, loss_table([line(9)], [1.0]), limits, most)
    large = cut(quasi * 10_000, loss_table([line(80_001)], [1.0]), limits, most)
    assert blocks(small) == blocks(large)
