"""Linking rows with people: risks that can be counted, and population uniques of populations that are known in full."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tclose as tc
from tclose.study import staging
from tclose.study.attacks.uniques import _likeliest, _likelihood, population_uniques


def linked(columns: dict[str, Any], labels: list[int], policy: tc.Policy | None = None, **more: Any) -> dict[str, tc.Attack]:
    """The attacks on a release of everybody with given classes, by name."""
    table = pa.table({"ill": ["flu", "gout"] * (len(labels) // 2) + ["flu"] * (len(labels) % 2), **columns})
    policy = policy or tc.Policy(["age"], {"ill": 1}, k=2)
    release = tc.anonymize(table, policy, algorithm="mondrian")
    release.partition[:] = labels
    return {one.name: one for one in tc.attack(table, policy, release=release, **more)}


def test_risks_of_two_classes() -> None:
    found = linked({"age": [1, 1, 1, 5, 5]}, [0, 0, 0, 1, 1])
    assert found["prosecutor"].members.share == pytest.approx(2 / 5)  # classes per row
    assert found["prosecutor"].figures["largest"] == 1 / 2
    assert found["marketer"].figures["matches"] == pytest.approx(2)  # one of each class
    assert "journalist" not in found


def test_risks_where_boxes_overlap() -> None:
    # Ages 1 to 9 and 3 to 5. The rows of both may be those of who is 3, 4 or 5; all six people fit the first, four the second.
    found = linked({"age": [1, 4, 9, 3, 4, 5]}, [0, 0, 0, 1, 1, 1])
    assert found["prosecutor"].members.share == pytest.approx((2 / 3 + 4 / 6) / 6)
    assert found["prosecutor"].class_known.share == pytest.approx(1 / 3)  # type: ignore[union-attr]
    assert found["marketer"].members.share == pytest.approx((3 / 6 + 3 / 4) / 6)


def test_one_class_of_all_rows_links_nobody_well() -> None:
    found = linked({"age": list(range(10))}, [0] * 10)
    assert found["prosecutor"].members.share == found["marketer"].members.share == pytest.approx(1 / 10)


def test_a_class_of_one_row_is_found_out() -> None:
    found = linked({"age": [1, 2, 3, 3]}, [0, 1, 2, 2])
    assert found["prosecutor"].figures["largest"] == 1
    assert found["prosecutor"].members.share == pytest.approx(3 / 4)


def test_several_rows_of_a_person() -> None:
    # Anna has two of the three rows of the first class; both people there fit each of its rows.
    policy = tc.Policy(["age"], {"ill": 1}, k=2, unit="who")
    found = linked({"age": [1, 1, 2, 7, 8], "who": ["Anna", "Anna", "Ben", "Cem", "Dora"]}, [0, 0, 0, 1, 1], policy)
    assert found["prosecutor"].members.share == pytest.approx((2 / 3 + 1 / 3 + 1 / 2 + 1 / 2) / 4)
    assert found["marketer"].members.share == pytest.approx(1 / 2)
    assert found["marketer"].figures["matches"] == pytest.approx(5 / 2)  # of five rows, each matched with one of two people


def test_a_sample_of_the_population() -> None:
    found = linked({"age": [1, 1, 1, 5, 5]}, [0, 0, 0, 1, 1], sampling="1/10")
    assert found["journalist"].figures["largest"] == pytest.approx(1 / 20)
    assert found["journalist"].members.share == found["marketer"].members.share == pytest.approx(2 / 50)
    assert found["journalist"].figures["sample_uniques"] == 0
    assert "0.1 of whom" in found["journalist"].sentence


def test_with_controls_the_release_is_a_smaller_sample() -> None:
    table = pa.table({"age": [1] * 20, "ill": ["flu", "gout"] * 10})
    policy = tc.Policy(["age"], {"ill": 1}, k=2)
    found = {one.name: one for one in tc.attack(table, policy, algorithm="mondrian", holdout="1/4", sampling=0.5)}
    assert found["journalist"].members.share == pytest.approx(1 / 40)  # of 40 people, 15 are in the release
    assert found["journalist"].controls is None


@pytest.mark.parametrize("form", [pa.table, pd.DataFrame])
def test_a_register_of_people(form: Any) -> None:
    # The first box has ages 1 to 3, the second 5 to 8, with values that nobody of the table has; 4 is in none.
    register = form({"name": list("abcdefg"), "age": [2, 3, 4, 5, 6, 7, 8]})
    found = linked({"age": [1, 3, 3, 5, 8]}, [0, 0, 0, 1, 1], register=register)
    assert found["journalist"].members.share == pytest.approx((3 / 2 + 2 / 4) / 5)
    assert found["journalist"].figures == {"largest": 1 / 2}
    assert found["marketer"].members.share == found["journalist"].members.share


def test_a_register_without_anybody_who_fits() -> None:
    found = linked({"age": [1, 3, 3, 5, 8]}, [0, 0, 0, 1, 1], register=pa.table({"age": [5.5, 40]}))
    assert found["journalist"].members.share == pytest.approx((0 + 2 * 1) / 5)


def test_a_register_with_hierarchies_and_categories() -> None:
    policy = tc.Policy({"zip": {"hierarchy": "prefixes"}, "sex": {}}, {"ill": 1}, k=2)
    columns = {"zip": ["470", "471", "480", "480"], "sex": pa.array(["f", "m", "f", "f"]).dictionary_encode()}
    register = pa.table({"zip": ["479", "471", "480", "481"], "sex": ["f", "x", "f", "f"]})
    found = linked(columns, [0, 0, 1, 1], policy, register=register)
    # 47* with f or m: the one of 479. 480 with f: one. Who is x fits nobody.
    assert found["journalist"].members.share == 1


def test_a_register_of_another_type() -> None:
    with pytest.raises(tc.ColumnError, match="Column 'age' of the register must be of the type that the table's is, int64"):
        linked({"age": [1, 2]}, [0, 0], register=pa.table({"age": ["young", "old"]}))
    with pytest.raises(tc.ColumnError, match="Column 'age', a quasi-identifier, is not in the register"):
        linked({"age": [1, 2]}, [0, 0], register=pa.table({"size": [1, 2]}))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"register": "nowhere.csv"}, "File 'nowhere.csv' "),
        (
            {"register": pa.table({"Age": [1, 2]})},
            "Column 'age', a quasi-identifier, is not in the register. Did you mean 'Age'?",
        ),
        ({"sampling": 2}, "sampling must be a share of the population"),
        ({"holdout": 2}, "holdout must be a share of the persons"),
    ],
)
def test_what_an_attack_is_given_is_checked_before_the_table_is_read(
    wrong: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "open_input", lambda *_: pytest.fail("the table is read"))
    with pytest.raises(tc.TcloseError, match=re.escape(message)):
        tc.attack(pa.table({"age": [1, 2], "ill": ["flu", "gout"]}), tc.Policy(["age"], {"ill": 1}, k=2), **wrong)


@pytest.mark.parametrize("sampling", [0, 1, "x"])
def test_a_share_of_the_population(sampling: Any) -> None:
    with pytest.raises(tc.PolicyError, match="sampling must be a share of the population"):
        linked({"age": [1, 2]}, [0, 0], sampling=sampling)


# Population uniques


@pytest.mark.parametrize(("skew", "values"), [(0.9, 20_000), (1.1, 5_000), (0.5, 30_000)])
def test_uniques_of_a_population_that_is_known(skew: float, values: int) -> None:
    rng = np.random.default_rng(9)
    weights = 1 / np.arange(1, values + 1) ** skew
    population = rng.choice(values, 30_000, p=weights / weights.sum())
    true = np.count_nonzero(np.bincount(population) == 1)
    sample = np.bincount(rng.choice(population, 3_000, replace=False))
    found = population_uniques(sample[sample > 0], 0.1)
    assert found.sample == np.count_nonzero(sample == 1)
    # It errs upward where few combinations are possible: 2.0 times the true number with 5,000 of them.
    assert true / 1.5 < found.population < 2.5 * true
    naive = found.sample / 0.1
    assert abs(found.population - true) < abs(naive - true)  # nearer than if all who are alone in the sample were alone


def test_the_expected_number_of_uniques_is_the_product() -> None:
    sizes = np.array([1, 1, 1, 2, 4])
    alpha, theta = _likeliest(sizes)
    ref = 90 * math.prod((theta + i - 1 + alpha) / (theta + i) for i in range(1, 90))
    assert population_uniques(sizes, 0.1).population == pytest.approx(ref)


def test_no_parameters_are_likelier() -> None:
    sizes = np.random.default_rng(3).geometric(0.4, 200)
    groups = [(int(size), int((sizes == size).sum())) for size in np.unique(sizes[sizes > 1])]
    alpha, theta = _likeliest(sizes)
    best = _likelihood((math.log(alpha / (1 - alpha)), math.log(theta)), sizes, groups)
    assert all(_likelihood((x, y), sizes, groups) < best + 1e-6 for x in np.linspace(-9, 9, 60) for y in np.linspace(-5, 12, 60))


def test_everybody_alone_in_the_sample() -> None:
    assert population_uniques(np.ones(50, dtype=np.int64), 0.1).population == pytest.approx(500, rel=0.01)
    assert population_uniques(np.array([50]), 0.1).population < 0.01
