"""Fragments by the numbers of their sources, as exact fractions.

Bagai, Weber and Thammanna Gowda 2023, "the paper"; the thesis on it; Cao et al. 2011 for SABRE. Where they are wrong, what is right.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tclose as tc
from tclose.make.fragmentation.fragment import Fragment
from tclose.make.fragmentation.result import Fragmentation
from tclose.make.fragmentation.sizing import by_gcd, by_halving
from tests import naive

# The paper's figure 1: a matrix of 300 rows, and a class of 20
M = [[15, 75, 0], [15, 0, 15], [30, 30, 45], [15, 30, 30]]
E = [[3, 3, 0], [1, 0, 4], [0, 4, 0], [1, 1, 3]]
CELLS: naive.fragments.Cells = {(i, j): rows for i, row in enumerate(M) for j, rows in enumerate(row) if rows}
GROUNDS = [naive.ground_ordered(4), naive.ground_ordered(3)]


def top(bound: str = "corrected") -> Fragmentation:
    return tc.find_fragmentation(M, t=0, bound=bound, strategy=[])


def box(rows: tuple[int, int], columns: tuple[int, int]) -> Fragment:
    """A fragment of figure 1, by splits: the paper's indices, from 1."""
    found = top().fragments[0]
    for attribute, (first, last) in enumerate((rows, columns)):
        if last < len(found.sides[attribute]):
            found = found.split(attribute, last)[0]
        if first > 1:
            found = found.split(attribute, first - 1)[1]
    return found


# Figures


def test_figure_1_the_class_is_near() -> None:
    rows, columns = (np.array(E).sum(axis=1 - s).tolist() for s in (0, 1))
    table = [np.array(M).sum(axis=1 - s).tolist() for s in (0, 1)]
    assert tc.emd(rows, table[0], exact=True) == Fraction(1, 20)
    assert tc.emd(columns, table[1], exact=True) == Fraction(1, 40)


@pytest.mark.parametrize("bound", ["published", "corrected"])
def test_figure_1_the_worst_case_of_the_whole_matrix(bound: str) -> None:
    # Rows 90 30 105 75: all to the first, (30 + 210 + 225) / 3 of 300. Columns 75 135 90: all to the first, (135 + 180) / 2.
    found = top(bound)
    assert found.bounds == (Fraction(31, 60), Fraction(21, 40))
    assert [found.fragments[0].worst(s, bound) for s in (0, 1)] == list(found.bounds)
    assert found.promise([20]) == found.bounds


def test_figure_4_to_6_boxes_and_what_conforms_to_them() -> None:
    first, second = box((1, 3), (1, 2)), box((3, 4), (2, 3))
    assert (first.mass, second.mass) == (Fraction(55, 100), Fraction(45, 100))
    assert first.conforms(E)
    assert not second.conforms(E)  # .40 of the class
    assert first.values == ((0, 1, 2), (0, 1))
    assert repr(first) == "<Fragment 0..2 x 0..1: 165 rows>"


def test_a_class_conforms_to_a_fragmentation_if_it_does_to_each_fragment() -> None:
    found = tc.find_fragmentation(M, t=0, strategy=[(0, 0, 1)])  # rows 1 | 2-4: .3 and .7 of both
    assert [fragment.conforms(E) for fragment in found.fragments] == [True, True]
    assert found.conforms(E)
    assert found.taken(E).tolist() == [6, 14]
    finer = tc.find_fragmentation(M, t=0, strategy=[(0, 0, 1), (1, 0, 1)])  # then 2 | 3-4: .1, but .25 of the class
    assert [fragment.conforms(E) for fragment in finer.fragments] == [True, False, False]
    assert not finer.conforms(E)


@pytest.mark.parametrize("corner", [1, 2])
def test_figure_7_a_split_raises_the_bound_of_the_other_attribute(corner: int) -> None:
    # Rows <.5,.5>, columns <.3,.7>, split between the columns; the thesis's figure 15.
    matrix = [[corner, 5 - corner], [3 - corner, 2 + corner]]
    found = tc.find_fragmentation(matrix, t=0, bound="published", strategy=[(0, 1, 1)])
    assert [step.bounds for step in found.walk()] == [(Fraction(1, 2), Fraction(7, 10)), (Fraction(6, 10), Fraction(0))]


def test_figure_8_the_search_stops_as_soon_as_both_bounds_are_within_their_limits() -> None:
    found = tc.find_fragmentation(M, t=("31/60", "21/40"))
    assert len(found.fragments) == 1
    assert found.acceptable
    assert len(tc.find_fragmentation(M, t=(Fraction(31, 60), Fraction(21, 40) - Fraction(1, 10**6))).fragments) == 2


@pytest.mark.parametrize(
    ("t", "published", "corrected", "untrimmed"),
    [
        (0.05, 12, 8, 9),
        (0.10, 12, 7, 8),
        (0.15, 12, 5, 6),
        (0.20, 10, 5, 6),
        (0.25, 8, 4, 4),
        (0.30, 7, 3, 3),
        (0.40, 4, 3, 3),
        (0.50, 3, 3, 3),
    ],
)
def test_figure_1_the_number_of_fragments(t: float, published: int, corrected: int, untrimmed: int) -> None:
    ways = [naive.fragments.ways_on_line, naive.fragments.ways_on_line]
    for bound, expected in (("published", published), ("corrected", corrected), ("untrimmed", untrimmed)):
        ref, _ = naive.fragments.walk(CELLS, GROUNDS, ways, [Fraction(str(t))] * 2, bound, "psi")[-1]
        assert len(ref) == expected
        if bound != "untrimmed":
            comp = tc.find_fragmentation(M, t=t, bound=bound)
            assert [tuple(side.tolist() for side in fragment.sides) for fragment in comp.fragments] == ref


def test_with_the_published_worst_case_both_bounds_can_rise() -> None:
    """Proposition 21 is false: between the second row and the third no bound falls."""
    matrix = [[49, 0], [1, 0], [0, 1], [0, 49]]
    found = tc.find_fragmentation(matrix, t=0, bound="published", strategy=[(0, 0, 2)])
    assert [step.bounds for step in found.walk()] == [
        (Fraction(1, 2), Fraction(1, 2)),
        (Fraction(98, 100), Fraction(1)),
    ]
    # Corrected, 49 rows move one step of three on either side, and no column has two values.
    corrected = tc.find_fragmentation(matrix, t=0, strategy=[(0, 0, 2)])
    assert corrected.bounds == (Fraction(98, 300), Fraction(0))


# Sizes


def four(last: int, sizing: str, k: int = 1, t: Any = 0) -> Any:
    """Four fragments of 250, 100, 350 and some more rows: the cells of a matrix."""
    found = tc.find_fragmentation([[250, 100], [350, last]], t=0)
    assert sorted(found.rows.tolist()) == sorted([250, 100, 350, last])
    return replace(found, t=(Fraction(t), Fraction(t))).class_sizes(k, sizing)


def test_thesis_figure_18_fifty_classes_of_twenty_rows() -> None:
    classes = four(300, "gcd")
    assert math.gcd(250, 100, 350, 300) == 50 == len(classes)
    assert set(map(tuple, np.sort(classes, axis=1).tolist())) == {(2, 5, 6, 7)}
    assert len(four(300, "gcd", k=21)) == 25
    assert len(four(300, "gcd", k=1001)) == 1


def test_thesis_figure_19_one_row_more_leaves_one_class() -> None:
    assert four(301, "gcd").tolist() == [four(301, "gcd").sum(axis=0).tolist()]
    assert len(four(301, "gcd")) == 1


def halve_in_order(rows: Any, k: int, within: Any) -> Any:
    """Halving as it was first tried: odd rows go to either side in turn, in the order of the fragments."""
    return by_halving(rows, k, [np.arange(len(rows))], lambda wanted: np.zeros(len(wanted)), within)


def test_thesis_figure_19_halved_into_sixteen() -> None:
    rows = np.array([250, 100, 350, 301])

    def apart(taken: list[int], table: Any) -> Fraction:
        """The total variation of the fragments' masses."""
        return naive.emd_equal(taken, table.tolist())

    def halve(table: Any) -> Any:
        return halve_in_order(table, 32, lambda wanted: np.ones(len(wanted), dtype=bool))

    classes = halve(rows)
    assert len(classes) == 16
    assert set(classes.sum(axis=1).tolist()) == {62, 63}
    assert classes.sum(axis=0).tolist() == rows.tolist()
    assert max(apart(taken, rows) for taken in classes.tolist()) <= Fraction(188, 10_000)
    # With values in no order and a fragment for each, that is what a class is promised.
    single = tc.find_fragmentation(rows, t=0, distances="equal")
    for taken in halve(single.rows).tolist():
        assert single.promise(taken) == (apart(taken, single.rows),)


def test_sabre_shares_of_16_32_and_64() -> None:
    found = tc.find_fragmentation([16, 32, 64], t=0)
    assert found.class_sizes().tolist() == [[1, 2, 4]] * 16
    assert by_gcd(np.array([16, 32, 64]), 1).tolist() == [[1, 2, 4]] * 16
    assert found.class_sizes(k=14).tolist() == [[2, 4, 8]] * 8


# Numbers that are no values: bins (thesis 4.1.2)


def binned(name: str, numbers: list[float], bins: dict[str, Any]) -> Counter[str]:
    """How many rows a release publishes of each bin."""
    table = pa.table({"place": ["a"] * len(numbers), name: numbers})
    policy = tc.Policy(["place"], {name: {"t": 1, "bins": bins}}, k=2)
    return Counter(tc.anonymize(table, policy).table[name].to_pylist())


def test_blood_alcohol_is_a_decimal_of_two_digits() -> None:
    # 0.00 to 0.40: 41 values, each a bin of its own, though 0.07 and 0.29 are no binary fractions.
    numbers = [hundredths / 100 for hundredths in range(41)]
    assert binned("alcohol", numbers, {"width": 0.01}) == {f"[{low / 100:g}, {(low + 1) / 100:g})": 1 for low in range(41)}


def test_haemoglobin_in_steps_of_one_half() -> None:
    # Tenths from 11.0 to 22.0. Five to a bin; a value at an edge belongs to the bin above it, so 22.0 is alone.
    numbers = [tenths / 10 for tenths in range(110, 221)]
    found = binned("haemoglobin", numbers, {"width": 0.5})
    labels = [f"[{low / 2:g}, {low / 2 + 0.5:g})" for low in range(22, 45)]
    assert found == {label: 5 if label != "[22, 22.5)" else 1 for label in labels}
    fragments = tc.find_fragmentation(found, t=0.1, values=[labels])
    assert [len(fragment.values[0]) for fragment in fragments.fragments] == [
        len(side) for (side,) in naive.fragments.walk(
            {(code,): found[label] for code, label in enumerate(labels)},
            [naive.ground_ordered(23)], [naive.fragments.ways_on_line], [Fraction(1, 10)], "corrected", "psi",
        )[-1][0]
    ]  # fmt: skip
    assert fragments.acceptable


# Adult


@pytest.fixture(scope="module")
def adult(data: Path) -> dict[str, list[int]]:
    with (data / "adult.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [int(row[name]) for row in rows] for name in ("hours-per-week", "education-num", "age", "capital-gain")}


@pytest.mark.needs_data
@pytest.mark.parametrize(("t", "published", "corrected"), [(0.3, 308, 5), (0.2, 314, 6), (0.1, 320, 13)])
def test_adult_hours_by_education(adult: dict[str, list[int]], t: float, published: int, corrected: int) -> None:
    hours = [min(hours // 5, 19) for hours in adult["hours-per-week"]]
    counts = Counter(zip(hours, adult["education-num"], strict=True))
    for bound, expected in (("published", published), ("corrected", corrected)):
        found = tc.find_fragmentation(counts, t, bound=bound)
        assert found.matrix.total == 30_162
        assert len(found.fragments) == expected
        assert found.acceptable
        assert len(found.class_sizes(k=5, sizing="gcd")) == 1


@pytest.mark.needs_data
def test_adult_with_three_attributes(adult: dict[str, list[int]]) -> None:
    counts = Counter(zip(adult["hours-per-week"], adult["age"], adult["capital-gain"], strict=True))
    found = tc.find_fragmentation(counts, t=(0.3, 0.2, 0.1))
    assert [axis.distance.m for axis in found.matrix.axes] == [94, 72, 118]
    assert len(found.fragments) == 7
    assert found.rows.sum() == 30_162


@pytest.mark.needs_data
def test_adult_hours_alone_are_promised_more_than_by_the_general_bound(adult: dict[str, list[int]]) -> None:
    found = replace(tc.find_fragmentation(Counter(adult["hours-per-week"]), t=0.03), t=(Fraction(1, 20),))
    # An attribute of one value beside it changes nothing, but there are two: only the general bound holds.
    beside = Counter((hours, 0) for hours in adult["hours-per-week"])
    pair = replace(tc.find_fragmentation(beside, t=0.03), t=(Fraction(1, 20), Fraction(0)))
    exactly, general = (
        halve_in_order(one.rows, 5, lambda wanted, one=one: one.promises.within(wanted, one.t)) for one in (found, pair)
    )
    assert (len(exactly), len(general)) == (2277, 1515)
    assert exactly.sum() == general.sum() == 30_162
    # Odd rows in the best of several orders:
    assert len(found.class_sizes(k=5)) > 2277
    assert len(pair.class_sizes(k=5)) >= 1515
