"""Frames for analysts: ranges as middles or bounds, labels as categories."""

from __future__ import annotations

import datetime as dt

import pandas as pd
import pyarrow as pa
import pytest

import tclose as tc

TREE = tc.Hierarchy.from_mapping({"France": ["Lyon", "Nice"], "Germany": ["Bonn", "Kiel"]})


@pytest.fixture(scope="module")
def release() -> tc.Release:
    """Two classes: [20, 29], [1999-01-01, 1999-01-11], France; and [40, 90 or more), one day, Germany."""
    table = pa.table(
        {
            "age": [20, 29, 40, 95],
            "born": [dt.date(1999, 1, 1), dt.date(1999, 1, 11), dt.date(1950, 5, 5), dt.date(1950, 5, 5)],
            "town": ["Lyon", "Nice", "Bonn", "Kiel"],
            "job": ["a", "b", "c", "c"],
            "pay": [1, 2, 1, 2],
        }
    )
    quasi = [tc.Quasi("age", top=90), "born", tc.Quasi("town", hierarchy=TREE), tc.Quasi("job", type="category")]
    return tc.anonymize(table, tc.Policy(quasi, {"pay": 1}, k=2), algorithm="mondrian")


def test_as_it_is_published(release: tc.Release) -> None:
    assert sorted(set(release.to_pandas()["age"])) == ["40 or more", "[20, 29]"]


def test_middles(release: tc.Release) -> None:
    found = release.to_pandas(numeric="midpoint").sort_values(["age", "pay"])
    assert found["age"].tolist() == [24.5, 24.5, 40, 40]  # of an open range, the end that it has
    assert found["born"].tolist() == [pd.Timestamp(1999, 1, 6)] * 2 + [pd.Timestamp(1950, 5, 5)] * 2
    assert isinstance(found["town"].dtype, pd.CategoricalDtype)
    assert found["town"].tolist() == ["France"] * 2 + ["Germany"] * 2
    assert isinstance(found["job"].dtype, pd.CategoricalDtype)
    assert found["pay"].tolist() == [1, 2, 1, 2]


def test_bounds(release: tc.Release) -> None:
    found = release.to_pandas(numeric="bounds").sort_values(["age.min", "pay"])
    assert list(found)[:4] == ["age.min", "age.max", "born.min", "born.max"]
    assert found["age.min"].tolist() == [20, 20, 40, 40]
    assert found["age.max"].fillna(-1).tolist() == [29, 29, -1, -1]
    assert found["born.max"].tolist() == [pd.Timestamp(1999, 1, 11)] * 2 + [pd.Timestamp(1950, 5, 5)] * 2


def test_missing_cells_and_ranges_that_may_miss() -> None:
    table = pa.table({"age": [20, None, None, None], "pay": [1, 2, 1, 2]})
    quasi = [tc.Quasi("age", type="integer")]
    made = tc.anonymize(table, tc.Policy(quasi, {"pay": 1}, k=2), algorithm="mondrian")
    assert set(made.to_pandas(numeric="midpoint")["age"].fillna(-1)) <= {20, -1}


def test_another_word(release: tc.Release) -> None:
    with pytest.raises(tc.PolicyError, match="numeric must be"):
        release.to_pandas(numeric="mean")  # type: ignore[arg-type]
