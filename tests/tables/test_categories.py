"""Codes of categories have no order: `type: category`, and categories of a frame that their owner did not order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import tclose as tc

STATUS = {"status": [1, 1, 2, 10], "cost": [5, 6, 5, 6]}


def released(table: Any, **settings: Any) -> list[str]:
    policy = tc.Policy(quasi={"status": settings}, sensitive=["cost"], k=2)
    return sorted(set(tc.anonymize(table, policy, algorithm="mondrian").table["status"].to_pylist()))


@pytest.fixture
def status_csv(tmp_path: Path) -> Path:
    path = tmp_path / "status.csv"
    pd.DataFrame(STATUS).to_csv(path, index=False)
    return path


def test_codes_are_published_as_sets_in_the_order_of_their_numbers(status_csv: Path) -> None:
    for table in (status_csv, pa.table(STATUS)):
        assert released(table) == ["1", "[2, 10]"]
        assert released(table, type="category") == ["1", "{2, 10}"]


def test_codes_are_published_as_labels_of_their_hierarchy(status_csv: Path) -> None:
    tree = {"*": {"single": [1], "was married": [2, 10]}}
    assert released(status_csv, type="category", hierarchy=tree) == ["1", "was married"]


def test_a_release_of_codes_is_audited_with_the_policy_that_made_it(status_csv: Path, tmp_path: Path) -> None:
    policy = tc.Policy(quasi={"status": {"type": "category"}}, sensitive={"cost": 0.9}, k=2)
    release = tc.anonymize(status_csv, policy, algorithm="mondrian")
    for name in ("release.csv", "release.parquet"):
        release.write(tmp_path / name)
        again = tc.audit(tmp_path / name, policy)
        assert (again.k, again.classes, again.satisfied) == (2, 2, True)


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ({"recode": "bounds"}, "recode: bounds of 'status' needs an order. Got type: category, which has none."),
        ({"snap": 5}, "snap of 'status' needs an order. Got type: category, which has none."),
        ({"top": 5}, "top of 'status' needs an order. Got type: category, which has none."),
    ],
)
def test_what_needs_an_order_does_not_go_with_categories(setting: dict[str, Any], sentence: str) -> None:
    with pytest.raises(tc.PolicyError) as error:
        tc.Quasi("status", type="category", **setting)
    assert str(error.value) == sentence


@pytest.mark.parametrize("kind", ["frame", "parquet", "arrow"])
def test_categories_that_their_owner_did_not_order_have_no_order(kind: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({**STATUS, "ward": pd.Categorical([3, 1, 3, 1])})
    frame["status"] = pd.Categorical(frame["status"])
    table: Any = frame
    if kind == "parquet":
        table = tmp_path / "t.parquet"
        frame.to_parquet(table)
    elif kind == "arrow":
        table = pa.Table.from_pandas(frame)
    policy = tc.Policy(["status"], ["ward"], drop=["cost"], k=2)
    assert tc.audit(table, policy).sensitive["ward"].distance == "equal"
    release = tc.anonymize(table, policy, algorithm="mondrian")
    assert set(release.table["status"].to_pylist()) == {"1", "{2, 10}"}
    assert release.audit.sensitive["ward"].distance == "equal"


def test_an_order_that_is_asked_for_is_refused_where_there_is_none() -> None:
    frame = pd.DataFrame({"q": [1, 1], "s": pd.Categorical([1, 2])})
    with pytest.raises(tc.PolicyError, match=r"distance: ordered of 's' needs an order: the column holds codes\. Give one\."):
        tc.audit(frame, tc.Policy(["q"], {"s": {"distance": "ordered"}}))
    given = tc.audit(frame, tc.Policy(["q"], {"s": {"order": [2, 1]}}))
    assert given.sensitive["s"].distance == "ordered"
    asked = tc.audit(frame.rename(columns={"q": "s", "s": "q"}), tc.Policy([tc.Quasi("q", type="integer")], ["s"]))
    assert asked.class_table()["q"].type == pa.int64()


def test_numbers_with_the_equal_distance_are_codes() -> None:
    table = pa.table({"q": [1, 1, 2, 2], "s": [1, 9, 2, 3]})
    policy = tc.Policy(["q"], {"s": {"distance": "equal", "t": 0.5}}, k=2)
    assert str(tc.audit(table, policy).sensitive["s"].t_exact) == "1/2"
    assert tc.anonymize(table, policy).audit.sensitive["s"].distance == "equal"
