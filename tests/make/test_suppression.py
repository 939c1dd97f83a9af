"""Rows that are left out so that the others lose less."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.make.kernels.loss import loss_table, losses_of_ranges
from tclose.make.scales import Line, Nominal, Scale, Tree
from tclose.values.hierarchy import Hierarchy
from tests.support.examples import examples

TREE = Hierarchy.from_mapping({"odd": {"small": [1, 3], "large": [7]}, "even": [2, 4]})


def test_a_far_row_is_left_out() -> None:
    """Ages 20 to 23 and 90, one class: without 90 four rows lose 3/70 each instead of 1, and 90 loses 1 either way."""
    table = pa.table({"age": [20, 21, 22, 23, 90], "s": ["x"] * 5})
    policy: dict[str, Any] = {"quasi": ["age"], "sensitive": ["s"], "k": 4}
    whole, trimmed = (tc.anonymize(table, tc.Policy(**policy, suppression=share)) for share in (0, 0.2))
    assert (whole.loss["gcp"], whole.suppressed) == (1, 0)
    assert trimmed.partition.tolist() == [0, 0, 0, 0, -1]
    assert trimmed.loss["gcp"] == pytest.approx(float((4 * Fraction(3, 70) + 1) / 5), rel=1e-12)
    assert trimmed.table["age"].to_pylist() == ["[20, 23]"] * 4


@settings(max_examples=examples(25), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 30), st.sampled_from("abc"), st.integers(0, 5)), min_size=4, max_size=24),
    st.sampled_from([0.1, 0.3]),
)
def test_leaving_rows_out_never_costs_more_than_it_gains(rows: list[tuple[int, str, int]], share: float) -> None:
    table = pa.table({name: [row[place] for row in rows] for place, name in enumerate(("age", "job", "s"))})
    policy: dict[str, Any] = {
        "quasi": ["age", tc.Quasi("job", hierarchy={"x": ["a", "b"], "y": ["c"]})],
        "sensitive": {"s": 0.5},
        "k": 2,
    }
    whole, trimmed = (tc.anonymize(table, tc.Policy(**policy, suppression=allowed)) for allowed in (0, share))
    assert trimmed.suppressed <= share * len(rows)
    assert trimmed.loss["gcp"] <= whole.loss["gcp"] + 1e-12


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_the_loss_of_a_range_of_codes_is_that_of_the_class_published(data: st.DataObject) -> None:
    values: list[Any] = data.draw(st.lists(st.sampled_from([1, 2, 3, 4, 7]), min_size=1, unique=True).map(sorted))
    missing = data.draw(st.booleans())
    scales: list[Scale] = [Line.of("q", values, missing=missing)[0], Tree.of("q", values, TREE, missing=missing)[0]]
    for scale in scales:
        first, last = sorted(data.draw(st.tuples(*[st.integers(0, scale.size - 1)] * 2)))
        published = scale.publish(np.array([first, last]), np.array([0, 2]))
        assert losses_of_ranges(loss_table([scale.widths()], [1.0]), 0, np.array([first]), np.array([last])) == pytest.approx(
            published.ncp, rel=1e-12
        )
    nominal = Nominal.of("q", values, missing=missing)[0]
    codes = np.arange(nominal.size)  # a set is charged by its size; a range of codes as if all of them were in it
    published = nominal.publish(codes, np.array([0, nominal.size]))
    assert losses_of_ranges(loss_table([nominal.widths()], [1.0]), 0, codes[:1], codes[-1:]) == pytest.approx(
        published.ncp, rel=1e-12
    )


def test_a_limit_between_whole_numbers_outlives_the_row_that_had_decimals() -> None:
    """The published ages are whole, and ``bottom: 20.5`` was asked of a column that is not."""
    ages = [Decimal(age) for age in ("20", "21", "22", "25", "26", "27", "90.5")]
    table = pa.table({"age": pa.array(ages, pa.decimal128(6, 1)), "s": ["x"] * 7})
    quasi = tc.Quasi("age", recode="bounds", bottom="20.5")
    release = tc.anonymize(table, tc.Policy([quasi], ["s"], k=3, suppression=0.2), algorithm="mondrian")
    assert release.partition.tolist()[-1] == -1
    assert release.audit.satisfied
