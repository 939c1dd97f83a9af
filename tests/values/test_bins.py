"""Bins: half-open intervals by hand, their labels in order, and what audits and releases make of them."""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.release.certificate import to_json
from tclose.values.bins import Bins, in_order, interval_of, quantile_starts, roundest_between
from tclose.values.formula_guard import guarded
from tests import naive
from tests.support.examples import examples

SOME = settings(max_examples=examples(150), deadline=None)


def labels(setting: Any, values: list[Any], counts: list[int] | None = None) -> list[str]:
    return Bins.read(setting).labels([Fraction(str(value)) for value in values], counts or [1] * len(values))


# --- by hand ----------------------------------------------------------------------------------------------------------


def test_a_width_of_one_half() -> None:
    """Grades in half points: a value at an edge belongs to the bin above it."""
    found = labels({"width": 0.5}, [-0.5, -0.1, 0, 0.49, 0.5, 1.2, 5])
    assert found == ["[-0.5, 0)", "[-0.5, 0)", "[0, 0.5)", "[0, 0.5)", "[0.5, 1)", "[1, 1.5)", "[5, 5.5)"]


def test_edges() -> None:
    assert labels([0, 10, 20], [-1, 0, 9, 10, 19.5, 20, 99]) == [
        "below 0", "[0, 10)", "[0, 10)", "[10, 20)", "[10, 20)", "20 or more", "20 or more",
    ]  # fmt: skip
    assert labels([5], [4, 5, 6]) == ["below 5", "5 or more", "5 or more"]


def test_counts_are_of_rows_not_of_values() -> None:
    assert labels(2, [1, 2, 3, 4]) == ["below 3", "below 3", "3 or more", "3 or more"]
    assert labels(2, [1, 2, 3, 4], [7, 1, 1, 1]) == ["below 2", "2 or more", "2 or more", "2 or more"]
    assert labels(4, [1, 2, 3, 4, 5, 6, 7, 8]) == [
        "below 3", "below 3", "[3, 5)", "[3, 5)", "[5, 7)", "[5, 7)", "7 or more", "7 or more",
    ]  # fmt: skip


def test_ties_make_fewer_bins() -> None:
    """Half of the rows have one value: it cannot be cut, and takes a bin of its own, or joins its neighbours."""
    found = labels(4, [1, 2, 3], [1, 10, 1])
    assert found == ["below 2", "[2, 3)", "3 or more"]
    assert labels(9, [5], [12]) == ["5 or more"]
    assert len(set(labels(10, [1, 2], [1, 100]))) == 2


def test_settings_come_back_as_they_were_read() -> None:
    for setting in (5, [0, 10, 20.5], {"width": 0.5}, {"width": "1/3"}):
        bins = Bins.read(setting)
        assert Bins.read(bins.setting()) == bins == Bins.read(bins)
    assert Bins.read({"count": 5}).setting() == 5
    assert Bins.read({"edges": [1, 2]}).setting() == [1, 2]


@pytest.mark.parametrize("setting", [1, 0, -3, True, 2.5, "x", [], [2, 1], [1, 1], {"width": 0}, {"width": -1}, {"height": 2}, {}, ["a"], {"width": 1, "count": 2}])  # fmt: skip
def test_what_is_no_setting(setting: Any) -> None:
    with pytest.raises(tc.PolicyError, match=r"bins of 's' must be a count of bins \(2 to 1,000\)"):
        tc.Sensitive("s", bins=setting)


def test_an_edge_is_the_roundest_number_between_neighbours() -> None:
    assert labels(2, [312, 498]) == ["below 400", "400 or more"]
    assert labels(2, [312, 598]) == ["below 500", "500 or more"]
    assert labels(3, [-0.72, -0.31, 0.44]) == ["below -0.5", "[-0.5, 0)", "0 or more"]
    assert labels(2, [4711.5, 4711.75]) == ["below 4711.6", "4711.6 or more"]
    assert labels(5, [4711]) == ["4500 or more"]


def test_of_2_and_4_as_of_6_and_8_the_larger_is_the_edge() -> None:
    assert labels(2, [1, 4]) == ["below 4", "4 or more"]
    assert labels(2, [5, 9]) == ["below 8", "8 or more"]
    assert labels(2, [-0.5, -0.1]) == ["below -0.2", "-0.2 or more"]


def test_other_values_inside_the_bins_have_the_same_edges() -> None:
    """Nobody's own cost is an edge: 41 and 67 and 955 are those of single persons."""
    assert labels(3, [3, 41, 67, 812, 955, 1203]) == ["below 50"] * 2 + ["[50, 900)"] * 2 + ["900 or more"] * 2
    assert labels(3, [9, 48, 52, 899, 901, 4711]) == ["below 50"] * 2 + ["[50, 900)"] * 2 + ["900 or more"] * 2


@SOME
@given(st.sets(st.integers(-3000, 3000), min_size=1, max_size=12), st.integers(2, 6), st.sampled_from([1, 10, 100]), st.data())
def test_round_edges_put_rows_into_the_bins_of_before(whole: set[int], count: int, unit: int, data: st.DataObject) -> None:
    """The edges at values, which are half-open bins too, and the round ones part the rows in the same way."""
    ascending = sorted(whole)
    counts = data.draw(st.lists(st.integers(1, 9), min_size=len(whole), max_size=len(whole)))
    numbers = [Fraction(number, unit) for number in ascending]
    found = Bins.read(count).labels(numbers, counts)
    starts = [0, *quantile_starts(counts, count), len(numbers)]
    assert [found.count(label) for label in dict.fromkeys(found)] == [end - start for start, end in pairwise(starts)]
    for number, label in zip(numbers, found, strict=True):
        low, high = interval_of(label) or (math.inf, -math.inf)
        assert low <= number < high
    edges = [interval_of(found[start])[0] for start in starts[1:-1]]  # type: ignore[index]
    assert edges == [Fraction(naive.roundest(ascending[start - 1], ascending[start]), unit) for start in starts[1:-1]]


@SOME
@given(st.sets(st.integers(-3000, 3000), min_size=2, max_size=2))
def test_no_number_of_the_gap_is_rounder(cents: set[int]) -> None:
    low, high = sorted(cents)
    edge = roundest_between(Fraction(low, 100), Fraction(high, 100)) * 100
    assert low < edge <= high
    assert edge.denominator == 1
    assert naive.roundness(int(edge)) == max(naive.roundness(cent) for cent in range(low + 1, high + 1))


@SOME
@given(st.sets(st.fractions() | st.integers(-(10**30), 10**30).map(Fraction), min_size=2, max_size=2))
def test_an_edge_lies_in_its_gap_whatever_the_numbers(ends: set[Fraction]) -> None:
    low, high = sorted(ends)
    assert low < roundest_between(low, high) <= high


# --- labels have an order ---------------------------------------------------------------------------------------------

NUMBERS = st.fractions(-1000, 1000, max_denominator=60) | st.integers(-(10**20), 10**20).map(Fraction)


@SOME
@given(
    st.sets(NUMBERS, min_size=1, max_size=12),
    st.one_of(
        st.integers(2, 6).map(lambda count: {"count": count}),
        st.fractions("1/50", 100, max_denominator=50).map(lambda width: {"width": width}),
        st.sets(NUMBERS, min_size=1, max_size=5).map(lambda edges: {"edges": sorted(edges)}),
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_is_in_the_labels(values: set[Fraction], setting: Any, lots: Any) -> None:
    ascending = sorted(values)
    counts = [lots.randint(1, 9) for _ in ascending]
    found = Bins.read(setting).labels(ascending, counts)
    distinct = list(dict.fromkeys(found))
    assert found == sorted(found, key=distinct.index)  # a bin is one run of values
    shuffled = lots.sample(distinct, len(distinct))
    assert in_order(shuffled) == distinct
    assert in_order([guarded(label) for label in shuffled]) == [guarded(label) for label in distinct]
    if "width" in setting or "edges" in setting:
        around = [
            naive.bin_of(value, setting["width"]) if "width" in setting else naive.bin_between(value, setting["edges"])
            for value in ascending
        ]
        assert [around[place] == around[place + 1] for place in range(len(around) - 1)] == [
            found[place] == found[place + 1] for place in range(len(found) - 1)
        ]
    else:
        assert len(distinct) <= max(setting["count"], 1)


@pytest.mark.parametrize(
    "texts",
    [["flu"], ["below 5", "flu"], ["[1, 3)", "[2, 4)"], ["below 5", "3 or more"], ["[1, 2]"], [None], ["below x"], ["below 1/0"]],
)
def test_what_are_no_labels(texts: list[Any]) -> None:
    assert in_order(texts) is None


@SOME
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=30), st.integers(2, 5))
def test_bins_of_a_count_are_about_equally_full(values: list[int], count: int) -> None:
    """No value can be cut; so a bin is off by at most the rows of one value on each side."""
    tally = Counter(values)
    ascending = sorted(tally)
    found = Bins.read(count).labels([Fraction(value) for value in ascending], [tally[value] for value in ascending])
    if len(ascending) == 1:
        return
    assert len(set(found)) >= 2
    below = 0
    edges = {Fraction(0)}
    for place, value in enumerate(ascending):
        if place and found[place] != found[place - 1]:
            edges.add(Fraction(below))
        below += tally[value]
    largest = max(tally.values())
    for part in range(1, count):  # each quantile has an edge as near as the values allow
        target = Fraction(below * part, count)
        assert min(abs(edge - target) for edge in edges) <= largest or target < tally[ascending[0]] or below - target < largest


# --- audits and releases ----------------------------------------------------------------------------------------------

TABLE = pa.table({"q": list("aabb"), "s": [1, 4, 2, 9]})
"""Bins of width 5: a has both values in the first, b one in each."""


def test_an_audit_judges_the_bins_and_tells_of_the_values() -> None:
    found = tc.audit(TABLE, tc.Policy(["q"], {"s": {"t": 0.3, "bins": {"width": 5}}}))
    facts = json.loads(found.to_json())["sensitive"]["s"]
    assert facts["t_exact"] == "1/4"  # (1, 0) and (1/2, 1/2) against (3/4, 1/4)
    assert facts["t_raw_exact"] == "1/6"  # values 1 2 4 9: a is (1/2, 0, 1/2, 0), b (0, 1/2, 0, 1/2)
    assert found.satisfied
    assert facts["l_distinct"] == 1
    assert not tc.audit(TABLE, tc.Policy(["q"], {"s": {"t": 0.2, "bins": {"width": 5}}})).satisfied


def test_published_values_are_judged_raw() -> None:
    asked = {"t": 0.2, "bins": {"width": 5}, "publish": "value"}
    found = tc.audit(TABLE, tc.Policy(["q"], {"s": asked}))
    assert found.satisfied
    attribute = found.sensitive["s"]
    assert (attribute.t_exact, attribute.t_raw, attribute.t_judged) == (Fraction(1, 4), Fraction(1, 6), Fraction(1, 6))
    release = tc.anonymize(TABLE, tc.Policy(["q"], {"s": asked}, k=2))
    assert release.audit.classes == 2
    assert sorted(release.table["s"].to_pylist()) == [1, 2, 4, 9]
    assert release.certificate["attained"]["sensitive"]["s"]["t_raw_exact"] == "1/6"


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow"])
def test_a_release_publishes_labels_and_is_audited_by_them(suffix: str, tmp_path: Path) -> None:
    policy = tc.Policy(["q"], {"s": {"t": 0.25, "bins": {"width": 5}}}, k=2)
    release = tc.anonymize(TABLE, policy)
    assert release.table["s"].to_pylist() == ["[0, 5)", "[0, 5)", "[0, 5)", "[5, 10)"]
    path = release.write(tmp_path / f"release{suffix}")[0]
    found = tc.audit(path, policy)
    assert found.satisfied
    assert found.sensitive["s"].t_exact == Fraction(1, 4)
    assert "t_raw" not in found.sensitive["s"].to_dict()  # nobody knows it who has the release alone
    assert "t_raw" not in json.dumps(release.certificate)


def test_bins_have_the_order_of_numbers_not_of_letters(tmp_path: Path) -> None:
    table = pa.table({"q": [1] * 6 + [2] * 6, "s": [5, 15, 105, 25, 35, 115] * 2})
    policy = tc.Policy(["q"], {"s": {"t": 0, "bins": {"width": 10}}}, k=6)
    release = tc.anonymize(table, policy)
    assert release.table["s"].to_pylist()[:6] == ["[0, 10)", "[10, 20)", "[20, 30)", "[30, 40)", "[100, 110)", "[110, 120)"]
    uneven = pa.table({"q": [1, 1, 2, 2], "s": ["[0, 10)", "[100, 110)", "[20, 30)", "[20, 30)"]})
    found = tc.audit(uneven, policy)
    assert found.sensitive["s"].t_exact == Fraction(1, 4)  # by letters the first class would be side by side: 3/8


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_missing_cells_beside_bins(suffix: str, tmp_path: Path) -> None:
    table = pa.table({"q": [1, 1, 1, 2, 2, 2], "s": [1, None, 9, 2, None, 8]})
    policy = tc.Policy(["q"], {"s": {"t": 0, "bins": [5], "distance": "equal"}}, k=3)
    release = tc.anonymize(table, policy)
    assert release.table["s"].to_pylist() == ["below 5", "5 or more", None] * 2
    found = tc.audit(release.write(tmp_path / f"release{suffix}")[0], policy)
    assert found.satisfied
    assert found.sensitive["s"].l_distinct == 3
    with pytest.raises(tc.InputError, match="must have a value in every row"):
        tc.anonymize(table, tc.Policy(["q"], {"s": {"t": 0, "bins": [5]}}, k=3))


@pytest.mark.parametrize(("values", "error"), [(["x", "y"], tc.PolicyError), ([1.0, float("inf")], tc.InputError)])
def test_bins_need_finite_numbers(values: list[Any], error: type[Exception]) -> None:
    table = pa.table({"q": [1, 1], "s": values})
    with pytest.raises(error, match="bins"):
        tc.anonymize(table, tc.Policy(["q"], {"s": {"bins": 2, "beta": 9}}, k=1))
    with pytest.raises(error, match="bins"):
        tc.audit(table, tc.Policy(["q"], {"s": {"bins": 2}}))


def test_decimals_and_floats_fall_into_the_bin_that_is_printed() -> None:
    """0.3 is 3/10, not the float below it."""
    table = pa.table({"q": [1] * 4, "s": [0.1, 0.2, 0.3, 0.7]})
    release = tc.anonymize(table, tc.Policy(["q"], {"s": {"bins": {"width": 0.1}}}, k=2))
    assert release.table["s"].to_pylist() == ["[0.1, 0.2)", "[0.2, 0.3)", "[0.3, 0.4)", "[0.7, 0.8)"]


@settings(max_examples=examples(15), deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(-20, 20)), min_size=4, max_size=20), st.integers(2, 5))
def test_quantile_bins_of_a_release(rows: list[tuple[str, int]], count: int) -> None:
    table = pa.table({"q": [q for q, _ in rows], "s": [s for _, s in rows]})
    policy = tc.Policy(["q"], {"s": {"t": 0.4, "bins": count}}, k=2)
    release = tc.anonymize(table, policy)
    tally = Counter(s for _, s in rows)
    ascending = sorted(tally)
    expected = dict(zip(ascending, labels(count, ascending, [tally[value] for value in ascending]), strict=True))
    assert Counter(release.table["s"].to_pylist()) == Counter(expected[s] for _, s in rows)
    assert tc.audit(release.table, policy).satisfied
    assert release.record["attained_against_input"]["s"]["t_exact"] == str(release.audit.sensitive["s"].t_exact)


# --- rows that are suppressed -----------------------------------------------------------------------------------------


def test_no_edge_is_drawn_at_a_suppressed_value() -> None:
    """By all rows the bins are {10, 20} and {25, 30}; the row with 25 is suppressed, and any edge from 20 to 30 does."""
    table = pa.table({"q": [1, 1, 1, 2, 2, 2, 99], "s": [10, 20, 30, 10, 20, 30, 25]})
    release = tc.anonymize(table, tc.Policy(["q"], {"s": {"t": 0.5, "bins": 2}}, k=3, suppression=0.2), algorithm="mondrian")
    assert release.suppressed == 1
    assert release.table["s"].to_pylist() == ["below 30", "below 30", "30 or more"] * 2


def test_a_bin_that_lost_its_rows_is_none() -> None:
    """By all rows the bins are {10}, {20} and {1000}."""
    table = pa.table({"q": [1, 1, 1, 1, 2, 2, 2, 2, 99], "s": [10, 10, 20, 20, 10, 10, 20, 20, 1000]})
    asked = {"s": {"t": 0.5, "bins": 5, "distance": "equal"}}
    release = tc.anonymize(table, tc.Policy(["q"], asked, k=4, suppression=0.2), algorithm="mondrian")
    assert release.suppressed == 1
    assert set(release.table["s"].to_pylist()) == {"below 20", "20 or more"}
    assert release._details.against_input.sensitive["s"].t_exact == Fraction(1, 9)


OUTSIDERS = st.lists(st.tuples(st.sampled_from([20, 21, 60]), st.integers(0, 400)), min_size=12, max_size=24)


@settings(max_examples=examples(12), deadline=None)
@given(OUTSIDERS, st.integers(2, 5), st.sampled_from(["ordered", "equal"]), st.data())
def test_what_is_published_tells_nothing_of_suppressed_values(
    people: list[tuple[int, int]], count: int, distance: str, data: st.DataObject
) -> None:
    """Another value in the same bin for a suppressed row changes nothing public, if the rows are put into the same bins."""
    people = [*people, (97, data.draw(st.integers(0, 400)))]
    policy = tc.Policy(["q"], {"s": {"t": 0.9, "bins": count, "distance": distance}}, k=3, suppression=0.3)

    def binned(values: list[int]) -> list[int]:
        tally = Counter(values)
        found = labels(count, sorted(tally), [tally[value] for value in sorted(tally)])
        index = dict(zip(sorted(tally), found, strict=True))
        return [list(dict.fromkeys(found)).index(index[value]) for value in values]

    def released(values: list[int]) -> tc.Release:
        return tc.anonymize(pa.table({"q": [q for q, _ in people], "s": values}), policy, algorithm="mondrian")

    values = [s for _, s in people]
    first = released(values)
    bins = binned(values)
    changed = list(values)
    for row in [row for row, label in enumerate(first.partition.tolist()) if label < 0]:
        members = [value for value, own in zip(values, bins, strict=True) if own == bins[row]]
        changed[row] = data.draw(st.integers(min(members), max(members)))
    assume(binned(changed) == bins)
    second = released(changed)
    assert second.table.equals(first.table)
    assert to_json(second.certificate) == to_json(first.certificate)
    assert second.partition.tolist() == first.partition.tolist()


def test_the_gate_stops_bins_that_are_not_those_of_the_input(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"q": [1, 1, 1, 2, 2, 2, 99], "s": [10, 20, 30, 10, 20, 30, 25]})
    policy = tc.Policy(["q"], {"s": {"t": 0.5, "bins": 2}}, k=3, suppression=0.2)
    for wrong in (["below 20", "20 or more"], ["30 or more", "below 30"], ["below 30", "below 30"]):
        monkeypatch.setattr("tclose.make.encode.labels_of", lambda _, wrong=wrong: wrong)
        with pytest.raises(tc.GateError, match="its bins of 's' are not those of the input"):
            tc.anonymize(table, policy, algorithm="mondrian")
