"""Exact numbers: what a number means, and that none is shown smaller, or wraps, on its way."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tclose.values.exact import INT64_MAX, decimal_down, decimal_up, exact, float_up, integer_dtype, number_of, plain, product


@pytest.mark.parametrize(
    ("number", "meant"),
    [
        (0.3, Fraction(3, 10)),  # the decimal that the user sees, not the binary double below it
        (np.float64(0.3), Fraction(3, 10)),
        (np.float32(0.3), Fraction(3, 10)),
        (1e-07, Fraction(1, 10**7)),
        (2, Fraction(2)),
        (np.int64(7), Fraction(7)),
        ("4/15", Fraction(4, 15)),
        (" 0.05 ", Fraction(1, 20)),
        (Decimal("0.10"), Fraction(1, 10)),
        (Fraction(4, 15), Fraction(4, 15)),
    ],
)
def test_a_number_means_what_is_written(number: Any, meant: Fraction) -> None:
    assert exact(number) == meant


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (math.nan, "nan is not a finite number"),
        (-math.inf, "-inf is not a finite number"),
        (Decimal("NaN"), "NaN is not a finite number"),
        (Decimal("Infinity"), "Infinity is not a finite number"),
        ("nan", "'nan' is not a number"),
        ("1/0", "'1/0' is not a number"),
        ("", "'' is not a number"),
        (True, "True is not a number"),
        (np.bool_(False), "False is not a number"),
        (None, "NoneType is not a number"),
        ([1], "list is not a number"),
        (1 + 0j, "complex is not a number"),
    ],
)
def test_what_is_no_number_is_refused(number: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match="not a") as caught:
        exact(number)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(("number", "written"), [(Fraction(5), 5), (Fraction(1, 5), 0.2), (Fraction(4, 15), "4/15")])
def test_plain_is_the_shortest_form(number: Fraction, written: int | float | str) -> None:
    comp = plain(number)
    assert comp == written
    assert type(comp) is type(written)


@given(st.fractions())
def test_plain_is_read_back(number: Fraction) -> None:
    assert exact(plain(number)) == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_survives_the_way_there_and_back(number: float) -> None:
    assert float(exact(number)) == number


def test_an_attained_risk_is_not_shown_smaller() -> None:
    # The double nearest to 1/3 prints as 0.3333333333333333, which is below 1/3.
    assert float_up(Fraction(1, 3)) == 0.33333333333333337
    assert float_up(Fraction(3, 10)) == 0.3
    assert float_up(math.inf) == math.inf


@given(st.fractions(min_value=0, max_value=1000))
def test_float_up_is_the_least_float_that_is_not_below(number: Fraction) -> None:
    shown = float_up(number)
    assert exact(shown) >= number
    assert exact(math.nextafter(shown, -math.inf)) < number or number == 0


@pytest.mark.parametrize(
    ("number", "up", "down"),
    [
        (Fraction(1, 3), "0.3334", "0.3333"),
        (Fraction(3, 8), "0.3750", "0.3750"),
        (Fraction(5, 7), "0.7143", "0.7142"),
        (Fraction(0), "0.0000", "0.0000"),
        (Fraction(10**20), "100,000,000,000,000,000,000.0000", "100,000,000,000,000,000,000.0000"),
        (2.5, "2.5000", "2.5000"),
    ],
)
def test_decimals_are_rounded_to_the_safe_side(number: Fraction | float, up: str, down: str) -> None:
    assert decimal_up(number) == up
    assert decimal_down(number) == down


@pytest.mark.parametrize("number", [0.1, 0.3, 0.7])
def test_a_float_is_shown_as_the_decimal_it_means(number: float) -> None:
    # 0.1 is a little above 1/10 in binary, and 0.3 a little below 3/10: neither may turn into 0.1001 or 0.2999.
    assert decimal_up(number) == decimal_down(number) == f"{number:.4f}"


def test_what_nothing_bounds_is_called_so() -> None:
    assert decimal_up(math.inf) == "unbounded"


@given(st.fractions(min_value=0, max_value=1000), st.integers(0, 8))
def test_decimals_enclose_the_number(number: Fraction, digits: int) -> None:
    up, down = (Fraction(decimal(number, digits).replace(",", "")) for decimal in (decimal_up, decimal_down))
    assert down <= number <= up
    assert up - down <= Fraction(1, 10**digits)


def test_sixty_four_bits_are_left_in_time() -> None:
    assert integer_dtype(INT64_MAX) is np.int64
    assert integer_dtype(INT64_MAX + 1) is object


BIG = st.integers(0, INT64_MAX)


@given(st.lists(st.tuples(BIG, BIG), min_size=1, max_size=5))
def test_products_do_not_wrap(pairs: list[tuple[int, int]]) -> None:
    left, right = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
    assert product(left, right).tolist() == [a * b for a, b in pairs]


@given(st.lists(BIG, min_size=1, max_size=5), st.integers(0, 10**30))
def test_products_with_one_number_do_not_wrap(numbers: list[int], factor: int) -> None:
    assert product(np.array(numbers, dtype=np.int64), factor).tolist() == [number * factor for number in numbers]


def test_nothing_times_a_number_beyond_64_bits_is_nothing() -> None:
    # A class at distance 0 under t = 1e-20: 0 is multiplied by the denominator 10^20.
    assert product(np.zeros(2, dtype=np.int64), 10**20).tolist() == [0, 0]


def test_what_is_counted_is_one_or_many() -> None:
    assert [number_of(count, "row") for count in (0, 1, 2, 1000)] == ["0 rows", "1 row", "2 rows", "1,000 rows"]
    assert [number_of(count, "class", "classes") for count in (1, 2)] == ["1 class", "2 classes"]
    assert [number_of(count, "row is", "rows are") for count in (1, 2)] == ["1 row is", "2 rows are"]
