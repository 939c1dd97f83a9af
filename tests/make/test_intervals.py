"""Hierarchies of intervals: by hand, against counting, and published as ranges are."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.make.scales import IntervalTree
from tclose.values.builders import Intervals
from tests import naive
from tests.support.examples import examples


def tree_of(values: list[Any], *widths: Any) -> Any:
    scale, _ = IntervalTree.of_builder("q", values, Intervals.read(list(widths)))
    return scale._hierarchy.to_mapping()


def test_whole_numbers_by_hand() -> None:
    assert tree_of([-6, -5, 0, 4, 5, 19], 5, 10) == {
        "*": {"[-10, -1]": {"[-10, -6]": ["-6"], "[-5, -1]": ["-5"]}, "[0, 9]": {"[0, 4]": ["0", "4"], "[5, 9]": ["5"]}, "[10, 19]": {"[15, 19]": ["19"]}}
    }  # fmt: skip


def test_decimals_by_hand() -> None:
    values = [Decimal("-1.5"), Decimal("-0.25"), Decimal("0"), Decimal("0.75")]
    assert tree_of(values, "1/3", 1) == {
        "*": {"[-2, -1)": {"[-5/3, -4/3)": ["-1.5"]}, "[-1, 0)": {"[-1/3, 0)": ["-0.25"]}, "[0, 1)": {"[0, 1/3)": ["0"], "[2/3, 1)": ["0.75"]}}
    }  # fmt: skip


def test_an_interval_with_one_whole_number_is_that_number() -> None:
    assert tree_of([1, 2, 3], 1, 3) == {"*": {"[0, 2]": ["1", "2"], "[3, 5]": ["3"]}}
    assert tree_of([0, 1, 2], "3/2", 3) == {"*": {"[0, 2]": {"[0, 1]": ["0", "1"], "2": []}}}


NUMBERS = st.one_of(st.integers(-40, 40), st.decimals(-40, 40, places=2), st.sampled_from([0.1, -2.5, 1e-9, 12.0]))
WIDTHS = st.builds(
    lambda first, factors: [first * int(np.prod(factors[:count])) for count in range(len(factors) + 1)],
    st.sampled_from([Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(5)]),
    st.lists(st.integers(2, 5), max_size=3),
)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(NUMBERS, min_size=1, max_size=8), WIDTHS)
def test_values_meet_in_the_narrowest_interval_that_has_both(values: list[Any], widths: list[Fraction]) -> None:
    if all(isinstance(value, int) for value in values):
        numbers: list[Any] = sorted(set(values))
    else:
        numbers = sorted({Decimal(str(value)) for value in values})
    scale, codes = IntervalTree.of_builder("q", numbers, Intervals(tuple(widths)))
    for low in range(len(numbers)):
        for high in range(low + 1, len(numbers)):
            label = scale.publish(codes[[low, high]], np.array([0, 2])).columns["q"].values[0]
            a, b = Fraction(numbers[low]), Fraction(numbers[high])
            shared = next((width for width in widths if a // width == b // width), None)
            assert (label == "*") == (shared is None)
            if shared is not None:
                inside = [number for number in numbers if Fraction(number) // shared == a // shared]
                assert [number for number in numbers if naive.regions.covers(label, Fraction(number))] == inside


TABLE = pa.table({"age": [21, 24, 26, 38, 47, None, 47, 21], "s": list("xyxyxyyx")})


@pytest.mark.parametrize("algorithm", ["growth", "mondrian", "fragmentation"])
def test_any_algorithm_publishes_the_intervals(algorithm: str, tmp_path: Path) -> None:
    policy = tc.Policy([tc.Quasi("age", hierarchy={"intervals": [5, 10, 20]})], {"s": 0.5}, k=2, n=2)
    release = tc.anonymize(TABLE, policy, algorithm=algorithm)
    for cell in filter(None, release.table["age"].to_pylist()):
        label = cell.removesuffix(" or missing")
        assert label in {"*", "21", "24", "26", "38", "47", "[20, 24]", "[20, 29]", "[20, 39]", "[40, 59]"}
    data, certificate, *_ = release.write(tmp_path / "release.csv")
    assert json.loads(certificate.read_text())["policy"]["quasi"]["age"]["hierarchy"] == {"intervals": [5, 10, 20]}
    assert tc.verify(data, certificate).holds


def test_a_codebook_says_which_intervals_there_are() -> None:
    scale, _ = IntervalTree.of_builder("age", [1, 2], Intervals.read([5, 0.5 * 40]))
    what = "The value of 'age' if all rows of the class agree on it, else the narrowest interval with their values"
    assert scale.describe("age", missing=False) == f"{what}, of width 5 or 20; or *, any value."
    assert scale.at_level(1).describe("age", missing=False) == "The interval of 'age', of width 20, that has the value."
    assert scale.at_level(3).describe("age", missing=False) == "The value of 'age'."


def test_columns_without_numbers_are_refused() -> None:
    policy = tc.Policy([tc.Quasi("age", hierarchy={"intervals": [5]})], ["s"], k=2)
    with pytest.raises(
        tc.PolicyError,
        match=r"^hierarchy: intervals of 'age': a value must be a finite number. Got 'a', first in row 1, and 1 other value like it. None of its values fits",
    ):
        tc.anonymize(pa.table({"age": list("abab"), "s": list("xyxy")}), policy)
    with pytest.raises(tc.InputError, match=r"^Column 'age' must have finite numbers for its ranges. Got infinity.$"):
        tc.anonymize(pa.table({"age": [1.0, 2.0, float("inf")], "s": list("xyx")}), policy)


def test_a_suppressed_decimal_does_not_show_in_the_labels() -> None:
    """With 21.5 the column has decimals, and its intervals are half-open; without it they are of whole numbers."""
    table = pa.table({"age": [Decimal(value) for value in ("21.0", "21.0", "24.0", "24.0", "51.5")], "s": list("xyxyx")})
    policy = tc.Policy([tc.Quasi("age", hierarchy={"intervals": [5, 20]})], ["s"], k=4, suppression="1/5")
    release = tc.anonymize(table, policy)
    assert release.table["age"].to_pylist() == ["[20, 24]"] * 4
