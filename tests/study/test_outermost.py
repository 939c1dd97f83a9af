"""Outermost people: why an attacker who knows everybody's class guesses more of them than of others."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import tclose as tc
from tclose.study.attacks.learning import learn
from tclose.study.attacks.outermost import Beyond, beyond_model, compare_by_class, find_outermost
from tests.support.scenes import scene_of

VALUES = ["flu", "gout", "cold", "mumps"]


def test_who_is_alone_at_an_end() -> None:
    table = pa.table({"age": [20, 25, 25, 30, 30, 31], "town": list("abcabc"), "ill": ["flu"] * 6})
    scene, order = scene_of(table, tc.Policy(["age", "town"], ["ill"], k=2), [0, 0, 0, 0, 1, 1])
    assert sorted(order[find_outermost(scene)].tolist()) == [0, 3, 4, 5]  # towns have no ends


def measured(*, chosen: bool) -> Beyond:
    """200 classes in which one value occurs twice; one person is 5 years younger, and has that value if they were chosen for it."""
    rng = np.random.default_rng(3)
    ages, ill = [], []
    for _ in range(200):
        start = int(rng.integers(20, 60))
        ages += [start, *[start + 5] * 4]
        twice = rng.choice(VALUES)
        ill += [twice, *rng.permutation(VALUES)] if chosen else list(rng.permutation([twice, *VALUES]))
    scene, _ = scene_of(
        pa.table({"age": ages, "ill": ill}), tc.Policy(["age"], ["ill"], k=2), np.repeat(np.arange(200), 5).tolist()
    )
    (attribute,) = scene.table.sensitive
    found = beyond_model(scene, attribute, learn(scene, attribute), find_outermost(scene)[scene.members])
    assert found is not None
    assert found.difference == pytest.approx(found.dealt + found.chosen)
    return found


def test_people_who_were_taken_for_their_value_are_found_out() -> None:
    found = measured(chosen=True)
    assert found.chosen_interval[0] > 0.5  # all of them are guessed, and one of the four others


def test_people_who_were_taken_at_random_are_not() -> None:
    found = measured(chosen=False)
    assert found.chosen_interval[0] < 0 < found.chosen_interval[1]


def test_the_mean_of_some_minus_that_of_others() -> None:
    values, some = np.array([1.0, 0.0, 1.0, 0.0, 0.0]), np.array([True, True, False, False, False])
    found, (low, high) = compare_by_class(values, some, np.array([0, 0, 1, 1, 1]))
    assert found == pytest.approx(1 / 2 - 1 / 3)
    assert low == high == found  # in each draw with both classes the means are the same


def test_intervals_cover_nothing_in_95_of_100() -> None:
    rng, covered = np.random.default_rng(5), 0
    labels = np.repeat(np.arange(100), 4)
    for _ in range(100):
        # What a class has, all its people share: rows are not independent, and an interval by rows would be too short.
        values = np.repeat(rng.normal(size=100), 4)
        low, high = compare_by_class(values, np.repeat(rng.random(100) < 0.5, 4), labels)[1]
        covered += low <= 0 <= high
    assert 88 <= covered <= 99


def test_nobody_to_compare_with() -> None:
    table = pa.table({"age": [20, 20, 20, 20], "ill": ["flu", "gout"] * 2})
    scene, _ = scene_of(table, tc.Policy(["age"], ["ill"], k=2), [0, 0, 1, 1])
    (attribute,) = scene.table.sensitive
    assert beyond_model(scene, attribute, learn(scene, attribute), find_outermost(scene)[scene.members]) is None
