"""Learning from all classes together, on tables where what can be learned is known."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import tclose as tc


def learned(table: pa.Table, policy: tc.Policy, labels: list[int]) -> tc.Attack:
    """The attack on a release of everybody with given classes."""
    release = tc.anonymize(table, policy, algorithm="mondrian")
    release.partition[:] = labels
    return next(one for one in tc.attack(table, policy, release=release) if one.name == "learning")


def test_what_classes_say_together_and_none_says_alone() -> None:
    # Men have gout and women have flu. Each class has both, in different shares: together they give it away.
    sexes = ["m", "m", "f", "m", "f", "f"] * 20
    table = pa.table({"sex": sexes, "ill": ["gout" if sex == "m" else "flu" for sex in sexes]})
    found = learned(table, tc.Policy(["sex"], {"ill": 1}, k=3), [number // 3 for number in range(120)])
    assert found.before == 1 / 2
    assert found.class_known is not None
    assert (found.members.share, found.class_known.share, found.figures["model_members"]) == (1, 1, 1)


def test_nothing_can_be_learned_from_one_class_of_all_rows() -> None:
    sexes = ["m", "f"] * 10
    table = pa.table({"sex": sexes, "ill": ["gout", "flu", "gout", "gout"] * 5})
    found = learned(table, tc.Policy(["sex"], {"ill": 1}, k=3), [0] * 20)
    assert found.members.share == found.before == 15 / 20  # gout for everybody, as without the release


def test_what_is_learned_holds_for_people_who_are_not_in_the_table() -> None:
    rng = np.random.default_rng(8)
    ages = rng.integers(20, 80, 1500)
    ill = np.where(rng.random(1500) < 0.8, np.where(ages < 50, "flu", "gout"), rng.choice(["cold", "mumps"], 1500))
    table = pa.table({"age": ages, "size": rng.integers(150, 200, 1500), "ill": ill})
    found = next(
        one for one in tc.attack(table, tc.Policy(["age", "size"], {"ill": 0.4}, k=5), holdout="1/3") if one.name == "learning"
    )
    assert found.controls is not None
    assert found.controls.share > 0.6  # though they are in no class
    assert found.interval is not None
    assert found.interval[0] < 0.1
    assert found.figures["model_controls"] == pytest.approx(found.controls.share, abs=0.1)
