"""Filling classes with rows of fragments: by hand, against naive twins, and what always holds."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tclose.make.fragmentation import exchange as exchange_module
from tclose.make.fragmentation import fill as fill_module
from tclose.make.fragmentation.blocks import ClassBlocks, blocks_of
from tclose.make.fragmentation.exchange import exchange, measured, sweep
from tclose.make.fragmentation.fill import fill
from tclose.make.fragmentation.grow import grow
from tclose.make.kernels.loss import LossTable
from tclose.make.kernels.running import run
from tests import naive
from tests.support.examples import examples
from tests.support.widths import AGES, LOSSES, SIZES, Row, width


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Row], list[int], list[list[int]]]:
    """Rows, their fragments, and classes that want some number of each, drawn at random."""
    codes = st.tuples(*(st.integers(0, size - 1) for size in SIZES))
    found = draw(st.lists(st.tuples(codes, st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=30))
    found.sort()
    wanted = [[sum(row[1:] == (f, c) for row in found) for f in range(3)] for c in range(5)]
    return [row[0] for row in found], [row[1] for row in found], [wants for wants in wanted if any(wants)]


def arrays(rows: Sequence[Row], fragment: Sequence[int], wanted: Sequence[Sequence[int]]) -> tuple[Any, Any, Any]:
    return np.array(rows, dtype=np.int32), np.array(fragment, dtype=np.int32), np.array(wanted, dtype=np.int64)


def filled(
    rows: Sequence[Row], fragment: Sequence[int], wanted: Sequence[Sequence[int]], losses: LossTable = LOSSES
) -> list[int]:
    quasi, places, wants = arrays(rows, fragment, wanted)
    labels: list[int] = fill(quasi, losses, places, wants).tolist()
    return labels


def taken(labels: Sequence[int], fragment: Sequence[int], wanted: Sequence[Sequence[int]]) -> list[list[int]]:
    pairs = list(zip(labels, fragment, strict=True))
    return [[pairs.count((number, place)) for place in range(len(wants))] for number, wants in enumerate(wanted)]


# By hand


def test_classes_take_rows_near_one_another() -> None:
    # Two of each fragment classes low, two high: no class need lose more than 1/8.
    ages, fragment = [(0,), (0,), (1,), (1,), (7,), (7,), (8,), (8,)], [0, 1, 0, 1, 0, 1, 0, 1]
    labels = filled(ages, fragment, [[1, 1]] * 4, AGES)
    assert [labels[row] == labels[row + 1] for row in (0, 2, 4, 6)] == [True] * 4
    assert taken(labels, fragment, [[1, 1]] * 4) == [[1, 1]] * 4


def test_a_swap_mends_what_growth_spoilt() -> None:
    ages, fragment, labels = [(0,), (1,), (7,), (8,)], [0, 0, 0, 0], [0, 1, 0, 1]
    quasi, places, _ = arrays(ages, fragment, [])
    assert exchange(quasi, AGES, places, np.array(labels)).tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])


def test_rows_of_other_fragments_are_never_swapped() -> None:
    quasi, places, _ = arrays([(0,), (1,), (7,), (8,)], [0, 0, 1, 1], [])
    labels = exchange(quasi, AGES, places, np.array([0, 1, 0, 1]))
    assert sorted(labels[:2].tolist()) == sorted(labels[2:].tolist()) == [0, 1]


@pytest.mark.parametrize(
    ("rows", "fragment", "wanted"),
    [
        ([(3, 4, 0, 0)], [0], [[1]]),  # one row
        ([(0, 0, 0, 0), (8, 4, 3, 0)], [0, 1], [[1, 1]]),  # one class
        ([(0, 0, 0, 0), (8, 4, 3, 0)], [0, 0], [[1], [1]]),  # classes of one row
        ([(2, 1, 1, 0)] * 9, [0, 1, 2] * 3, [[1, 1, 1]] * 3),  # all the same
        ([(1, 1, 1, 0)] * 4, [1] * 4, [[0, 2], [0, 2]]),  # a fragment without rows
    ],
)
def test_small_tables(rows: list[Row], fragment: list[int], wanted: list[list[int]]) -> None:
    assert taken(filled(rows, fragment, wanted), fragment, wanted) == wanted


# What always holds


@settings(max_examples=examples(60), deadline=None)
@given(table=tables(), block=st.integers(1, 30), together=st.integers(2, 5))
def test_every_class_gets_what_it_wants(table: Any, block: int, together: int) -> None:
    rows, fragment, wanted = table
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fill_module, "BLOCK", block)
        patch.setattr(exchange_module, "TOGETHER", together)
        patch.setattr(exchange_module, "ROUNDS", 6)
        labels = filled(rows, fragment, wanted)
        assert labels == filled(rows, fragment, wanted)
    assert taken(labels, fragment, wanted) == wanted


@settings(max_examples=examples(30), deadline=None)
@given(table=tables(), lots=st.randoms(use_true_random=False))
def test_an_exchange_never_raises_the_loss(table: Any, lots: Any) -> None:
    rows, fragment, wanted = table
    labels = dealt(fragment, wanted, lots)
    quasi, places, _ = arrays(rows, fragment, wanted)
    after = exchange(quasi, LOSSES, places, np.array(labels)).tolist()
    assert naive.loss_of(rows, after, width) <= naive.loss_of(rows, labels, width)
    assert taken(after, fragment, wanted) == wanted


def dealt(fragment: Sequence[int], wanted: Sequence[Sequence[int]], lots: Any) -> list[int]:
    """Labels at random."""
    decks = [[number for number, wants in enumerate(wanted) for _ in range(wants[place])] for place in range(3)]
    for deck in decks:
        lots.shuffle(deck)
    return [decks[place].pop() for place in fragment]


# Against the naive twins


@settings(max_examples=examples(60), deadline=None)
@given(table=tables(), most=st.integers(1, 20))
def test_blocks_against_naive(table: Any, most: int) -> None:
    rows, fragment, wanted = table
    quasi, places, wants = arrays(*table)
    comp = blocks_of(quasi, LOSSES, places, wants, most)
    members = np.split(comp.rows, comp.starts[1:-1])
    ref = naive.fragments.blocks(rows, fragment, wanted, most, width)
    assert list(zip([set(part.tolist()) for part in members], np.diff(comp.classes).tolist(), strict=True)) == ref
    for part in members:
        assert part.tolist() == sorted(part.tolist(), key=lambda row: (fragment[row], rows[row][0], row))


@settings(max_examples=examples(60), deadline=None)
@given(table=tables())
def test_growth_against_naive(table: Any) -> None:
    rows, fragment, wanted = table
    quasi, places, wants = arrays(*table)
    order = np.lexsort((quasi[:, 0], places)).astype(np.int32)
    comp = grow(quasi, LOSSES, places, wants, ClassBlocks(order, np.array([0, len(rows)]), np.array([0, len(wanted)])))
    assert comp.tolist() == naive.fragments.grown(rows, fragment, wanted, width)


@settings(max_examples=examples(60), deadline=None)
@given(table=tables(), lots=st.randoms(use_true_random=False), rise=st.sampled_from([0.0, 0.25, 1.5]))
def test_a_sweep_against_naive(table: Any, lots: Any, rise: float) -> None:
    rows, fragment, wanted = table
    labels = dealt(fragment, wanted, lots)
    quasi, _, _ = arrays(*table)
    sets = [[row for row in range(len(rows)) if fragment[row] == place] for place in sorted(set(fragment))]
    starts = np.cumsum([0, *map(len, sets)])
    classes = measured(quasi, LOSSES, np.array(labels))
    run(sweep, quasi, LOSSES, classes, np.concatenate(sets).astype(np.int32), starts, rise)
    assert classes.rows["label"].tolist() == naive.fragments.swept(rows, labels, sets, width, Fraction(rise))
    after = measured(quasi, LOSSES, classes.rows["label"].copy())  # measured anew
    assert np.array_equal(classes.edges, after.edges)
    assert np.array_equal(classes.each["loss"], after.each["loss"])
    assert np.array_equal(classes.rows["relief"], after.rows["relief"])
