"""SABRE: buckets of sensitive values, classes that are close whatever their rows, rows that are near one another."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tclose as tc
from tclose import jobs
from tclose.make.fragmentation.find import find_fragmentation
from tclose.make.hilbert import hilbert_index, hilbert_order
from tclose.make.kernels import nearest
from tclose.make.kernels.loss import loss_table, losses_of_ranges
from tclose.make.kernels.nearest import fill_along, fill_nearest
from tclose.make.sabre import halved, size_classes
from tclose.make.scales import Line
from tests import naive

# --- the sizes of classes ---------------------------------------------------------------------------------------------


def test_the_buckets_of_16_32_and_64_rows_give_16_classes_of_1_2_and_4() -> None:
    found = find_fragmentation([16, 32, 64], t=0, distances="equal")
    assert found.rows.tolist() == [16, 32, 64]
    assert halved(found, k=2).tolist() == [[1, 2, 4]] * 16


def worst_case(counts: list[int], buckets: list[list[int]], taken: list[int], emd: Any) -> Fraction:
    """The largest EMD of any class that takes these rows of each bucket; all rows of a bucket may have any value of it."""
    worst = Fraction(0)
    for values in product(*buckets):
        own = [0] * len(counts)
        for value, rows in zip(values, taken, strict=True):
            own[value] += rows
        worst = max(worst, emd(own, counts))
    return worst


@given(st.data())
def test_the_worst_case_is_that_of_brute_force_and_no_class_exceeds_t(data: st.DataObject) -> None:
    m = data.draw(st.integers(2, 5), "m")
    counts = data.draw(st.lists(st.integers(1, 6), min_size=m, max_size=m), "counts")
    kind = data.draw(st.sampled_from(["ordered", "equal"]), "kind")
    emd = naive.emd_ordered if kind == "ordered" else naive.emd_equal
    t = data.draw(st.sampled_from([Fraction(1, 10), Fraction(1, 4), Fraction(1, 2)]), "t")
    found = find_fragmentation(counts, t=t, distances=kind, strategy="sum")
    buckets = [fragment.sides[0].tolist() for fragment in found.fragments]
    for taken in halved(found, k=1):
        worst = worst_case(counts, buckets, taken.tolist(), emd)
        assert found.promise(taken) == (worst,)
        assert worst <= t or len(halved(found, k=1)) == 1


DEPTHS = [Fraction(share, 10) for share in range(10, 0, -1)]


@given(st.data())
def test_the_first_depth_with_the_most_classes_is_taken(data: st.DataObject) -> None:
    counts = data.draw(st.lists(st.integers(1, 30), min_size=2, max_size=8), "counts")
    kind = data.draw(st.sampled_from(["ordered", "equal"]), "kind")
    t = data.draw(st.sampled_from([Fraction(1, 10), Fraction(1, 4), Fraction(1, 2)]), "t")
    k = data.draw(st.integers(1, 5), "k")
    found = [replace(find_fragmentation(counts, t=depth * t, distances=kind, strategy="sum"), t=(t,)) for depth in DEPTHS]
    sizes = [halved(one, k).tolist() for one in found]
    best = naive.sabre.first_with_most_classes(sizes)
    chosen, wanted = size_classes(found[0].matrix, t, k)
    assert (chosen.rows.tolist(), wanted.tolist()) == (found[best].rows.tolist(), sizes[best])


@pytest.mark.needs_data
def test_the_hours_of_adult_in_buckets_to_t_and_deeper(data: Path) -> None:
    with (data / "adult.csv").open(encoding="utf-8", newline="") as file:
        counts = Counter(int(row["hours-per-week"]) for row in csv.DictReader(file))
    t = Fraction(1, 20)
    found = [replace(find_fragmentation(counts, t=depth * t, strategy="sum"), t=(t,)) for depth in DEPTHS]
    assert found[0].rows.sum() == 30_162
    assert [len(halved(one, k=5)) for one in found] == [735, 735, 996, 1515, 2277, 2277, 2877, 3478, 3698, 3958]
    chosen, wanted = size_classes(found[0].matrix, t, k=5)
    assert (len(chosen.fragments), len(wanted)) == (56, 3958)


# --- the curve --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dimensions", "bits"), [(1, 4), (2, 3), (3, 2), (4, 1), (5, 1)])
def test_the_curve_visits_every_point_once_and_goes_one_step_at_a_time(dimensions: int, bits: int) -> None:
    points = list(product(range(2**bits), repeat=dimensions))
    index = hilbert_index(np.array(points).T, bits).tolist()
    assert sorted(index) == list(range(len(points)))
    along = sorted(points, key=dict(zip(points, index, strict=True)).__getitem__)
    assert {sum(abs(a - b) for a, b in zip(one, two, strict=True)) for one, two in pairwise(along)} == {1}


def test_equal_rows_keep_their_order_and_many_quasi_identifiers_fit() -> None:
    assert hilbert_order(np.zeros((5, 2), dtype=np.int32), [1, 1]).tolist() == [0, 1, 2, 3, 4]
    codes = np.arange(140, dtype=np.int32).reshape(2, 70) % 2
    assert sorted(hilbert_order(codes, [2] * 70).tolist()) == [0, 1]


# --- the rows of classes ----------------------------------------------------------------------------------------------


@st.composite
def fillings(draw: st.DrawFn) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Codes of two quasi-identifiers below 8, the bucket of each row, and how many rows of each every class takes."""
    wanted = draw(st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=2).filter(any), min_size=1, max_size=4))
    buckets = [place for place in range(2) for _ in range(sum(takes[place] for takes in wanted))]
    buckets = draw(st.permutations(buckets))
    codes = draw(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=len(buckets), max_size=len(buckets)))
    return np.array(codes, dtype=np.int32), np.array(buckets, dtype=np.int32), np.array(wanted, dtype=np.int64)


EIGHT = Line.of("q", list(range(8)))[0]
LOSSES = loss_table([EIGHT.widths()] * 2, [1.0, 1.0])


@given(fillings())
def test_classes_take_the_nearest_rows_as_the_naive_twin_does(drawn: Any) -> None:
    codes, buckets, wanted = drawn
    order = hilbert_order(codes, [8, 8])

    def distance(a: int, b: int) -> float:
        low, high = codes[[a, b]].min(axis=0), codes[[a, b]].max(axis=0)
        return float(losses_of_ranges(LOSSES, np.arange(2), low, high).sum())

    labels = fill_nearest(codes, LOSSES, buckets, wanted, order).tolist()
    assert labels == naive.sabre.fill_nearest(order.tolist(), buckets.tolist(), wanted.tolist(), distance)


def test_progress_is_reported_in_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first class looks at six rows, the second at four: with four visits a kernel fills one class, then the next."""
    codes = np.array([[0, 0], [1, 1], [2, 2], [3, 3], [4, 4], [5, 5]], dtype=np.int32)
    args = (codes, LOSSES, np.zeros(6, dtype=np.int32), np.array([[2], [2], [2]]), np.arange(6))
    ref = fill_nearest(*args).tolist()
    monkeypatch.setattr(nearest, "VISITS", 4)
    heard: list[str] = []
    with jobs.Job(lambda _, figure: heard.append(figure)):
        comp = fill_nearest(*args).tolist()
    assert comp == ref == [0, 0, 1, 1, 2, 2]
    assert [figure for figure in heard if "compiling" not in figure] == [f"{number} of 3 classes" for number in (1, 2, 3)]


@given(fillings())
def test_every_class_gets_what_it_takes_of_each_bucket(drawn: Any) -> None:
    codes, buckets, wanted = drawn
    order = hilbert_order(codes, [8, 8])
    for fill in (fill_nearest, fill_along):
        labels = fill(codes, LOSSES, buckets, wanted, order)
        counted = Counter(zip(labels.tolist(), buckets.tolist(), strict=True))
        assert all(
            counted[number, place] == takes for number, row in enumerate(wanted.tolist()) for place, takes in enumerate(row)
        )
    along = fill_along(codes, LOSSES, buckets, wanted, order)[order]
    for place in range(2):
        assert (np.diff(along[buckets[order] == place]) >= 0).all()


# --- releases ---------------------------------------------------------------------------------------------------------

PEOPLE = pa.table(
    {"age": [row * 7 % 40 for row in range(80)], "pay": [row * 11 % 23 for row in range(80)], "ill": ["a", "b"] * 40}
)


@pytest.mark.parametrize("fill", ["nearest", "hilbert"])
def test_classes_are_within_what_was_promised(fill: str) -> None:
    asked = tc.Policy(["age"], {"pay": {"t": 0.2, "l": 3}}, k=3, other="drop")
    release = tc.anonymize(PEOPLE, asked, algorithm="sabre", options={"fill": fill})
    assert release.audit.sensitive["pay"].t_judged <= Fraction(str(release.certificate["promised"]["pay"]["t"])) <= Fraction(1, 5)
    assert release.audit.classes > 1


@pytest.mark.parametrize(
    ("sensitive", "sentence"),
    [
        (["ill"], "It takes one sensitive column, with a t."),
        ({"ill": 0.2, "pay": 0.2}, "It takes one sensitive column, with a t."),
        ({"ill": {"t": 0.5, "matrix": {"a": {"b": 1}, "b": {"a": 1}}}}, "A matrix has no order of buckets."),
    ],
)
def test_what_it_cannot_do_is_said_before_the_table_is_read(sensitive: Any, sentence: str) -> None:
    with pytest.raises(tc.PolicyError) as refusal:
        tc.anonymize("no.csv", tc.Policy(["age"], sensitive, k=2, other="drop"), algorithm="sabre")
    assert str(refusal.value).endswith(f"{sentence} Choose growth, which can.")


def test_both_fillings_are_used() -> None:
    asked = tc.Policy(["age", "ill"], {"pay": 0.2}, k=3)
    tables = [tc.anonymize(PEOPLE, asked, algorithm="sabre", options={"fill": fill}).table for fill in ("nearest", "hilbert")]
    assert all(one != two for one, two in combinations(tables, 2))
