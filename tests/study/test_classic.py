"""The classic attacks on tables that are small enough to count."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.study import attack as study
from tclose.study.attacks import similarity as near_values
from tclose.study.attacks.record import Outcome, Rate, difference, rate_of, record_of
from tclose.study.scene import Scene
from tests.support.examples import examples


def attacked(columns: dict[str, Any], policy: tc.Policy, **more: Any) -> dict[tuple[str, str | None], tc.Attack]:
    """All attacks on a release of everybody, by name and attribute."""
    table = pa.table(columns)
    release = tc.anonymize(table, policy, algorithm="mondrian")
    found = tc.attack(table, policy, release=release, **more)
    assert found.controls == 0
    assert all(one.controls is None and one.excess is None and one.interval is None for one in found)
    return {(one.name, one.sensitive): one for one in found}


def test_the_homogeneous_class_of_zip_47678() -> None:
    # Li et al. 2007, table 2: of three classes, the first has heart disease only.
    columns = {
        "zip": ["476"] * 3 + ["479"] * 3 + ["480"] * 3,
        "disease": ["heart"] * 3 + ["flu", "heart", "cancer"] + ["heart", "cancer", "cancer"],
    }
    found = attacked(columns, tc.Policy(["zip"], {"disease": 1}, k=3))
    sure = found["homogeneity", "disease"]
    assert (sure.before, sure.members.share, sure.class_known.share) == (0, 3 / 9, 3 / 9)  # type: ignore[union-attr]
    # Whoever can rule out heart disease is certain about the two with cancer in the last class, and about all of the first,
    # and whoever can rule out cancer is certain about the one with heart disease there.
    assert found["background knowledge", "disease"].members.share == 6 / 9


def test_a_person_counts_once_if_an_attacker_is_certain_of_one_of_their_rows() -> None:
    # Of the two rows of each person one is in a class with one disease, and the other in a class with two.
    columns = {"who": ["Anna", "Anna", "Ben", "Ben"], "zip": ["1", "2"] * 2, "ill": ["flu", "flu", "flu", "gout"]}
    found = attacked(columns, tc.Policy(["zip"], {"ill": 1}, k=2, unit="who"))
    for name in ("homogeneity", "refinement"):
        sure = found[name, "ill"]
        assert (sure.members.share, sure.members.persons, sure.class_known.share) == (1, 2, 1)  # type: ignore[union-attr]
        assert ": right for 100.0% of the people in the release" in sure.sentence
    drawn = found["skewness", "ill"]
    assert drawn.members.share == pytest.approx((1 + 1 / 2) / 2)
    assert ": averaged over the rows of each person, right for 75.0% of the people in the release" in drawn.sentence
    columns = {**columns, "who": ["Anna", "Ben", "Carl", "Dora"]}  # each row is a person
    for one in attacked(columns, tc.Policy(["zip"], {"ill": 1}, k=2, unit="who")).values():
        assert one.says == "right for"


def test_nothing_is_certain_in_one_class_of_all_rows() -> None:
    columns = {"age": list(range(12)), "disease": ["flu", "cold", "gout"] * 4}
    found = attacked(columns, tc.Policy(["age"], {"disease": {"t": 0, "distance": "equal"}}, k=12))
    for name in ("homogeneity", "background knowledge"):
        assert found[name, "disease"].members.share == 0
    skew = found["skewness", "disease"]
    assert (skew.before, skew.members.share, skew.figures["lift"]) == pytest.approx((1 / 3, 1 / 3, 1))
    assert skew.lowers.startswith("nothing")


def test_the_virus_of_one_percent() -> None:
    # The slides: 1% of the table is positive, 2 of 4 in one class and 3 of 4 in another.
    ages = [row // 4 for row in range(500)]
    virus = ["negative", "positive"] * 2 + ["positive"] * 3 + ["negative"] * 493
    found = attacked({"age": ages, "virus": virus}, tc.Policy(["age"], {"virus": 1}, k=4))
    skew = found["skewness", "virus"]
    assert skew.figures["lift"] == pytest.approx((3 / 4) / (5 / 500))
    assert skew.figures["beta"] == pytest.approx(74)
    belief = (2 * 1 / 2 + 2 * 1 / 2 + 3 * 3 / 4 + 1 / 4 + 492) / 500
    assert skew.members.share == pytest.approx(belief)
    assert skew.before == pytest.approx((5 * 0.01 + 495 * 0.99) / 500)


def test_low_salaries_are_similar() -> None:
    # Three salaries within a tenth of the range are one guess; the others of the table are far away.
    columns = {"zip": ["1"] * 3 + ["2"] * 3 + ["3"] * 3, "salary": [3, 4, 5, 60, 80, 110, 70, 90, 100]}
    found = attacked(columns, tc.Policy(["zip"], {"salary": {"t": 1, "distance": "numeric"}}, k=3))
    near = found["similarity", "salary"]
    # Of the other classes a guess is near two salaries at most: 70 of 60 and 80, and 80 of 70 and 90. A tenth of the range is 10.7.
    assert near.class_known is not None
    assert near.class_known.share == pytest.approx((3 + 2 + 2) / 9)
    assert near.before == pytest.approx(3 / 9)


def test_too_many_values_to_compare_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near_values, "MOST", 3)
    table = pa.table({"zip": ["1"] * 4, "job": ["a", "b", "c", "c"], "pay": [1, 2, 3, 4]})
    policy = tc.Policy(["zip"], {"job": 1, "pay": 1}, k=4)
    found = tc.attack(table, policy, release=tc.anonymize(table, policy, algorithm="mondrian"))
    assert [one.sensitive for one in found if one.name == "similarity"] == ["job"]
    assert found.skipped == ["Similarity was not tried for pay: it looks at all pairs of 4 values, and at most of 3."]


def test_one_sensitive_attribute_tells_the_other() -> None:
    columns = {"zip": ["1"] * 4 + ["2"] * 4, "job": ["cook", "cook", "smith", "smith"] * 2, "pay": [1, 1, 2, 2, 3, 3, 4, 4]}
    found = attacked(columns, tc.Policy(["zip"], {"job": 1, "pay": 1}, k=4))
    assert found["background join", "pay"].members.share == 1  # in a class, a cook has one pay
    assert found["background join", "pay"].before == 1 / 2  # in the table, a cook has one of two


@pytest.mark.parametrize(
    ("settings", "kind", "said"),
    [({}, int, True), ({}, Decimal, True), ({"bins": 4}, int, False), ({}, str, False)],
)
def test_bins_lower_a_join_by_numbers_that_are_published_one_by_one(settings: dict[str, Any], kind: Any, said: bool) -> None:
    columns = {"zip": ["1"] * 40, "job": ["cook", "smith"] * 20, "pay": [kind(row) for row in range(20)] * 2}
    found = attacked(columns, tc.Policy(["zip"], {"job": 1, "pay": {"t": 1, **settings}}, k=4))
    bins = "bins for pay (its values published in intervals), larger classes (k), or one of the two columns not published"
    assert (found["background join", "job"].lowers == bins) is said
    assert found["background join", "pay"].lowers == "larger classes (k), or one of the two columns not published"


def test_a_person_is_spread_over_all_classes_that_contain_them() -> None:
    # Boxes lie over one another: ages 1 to 9 and 3 to 5. Who is 4 may be in either, who is 9 in the first alone.
    table = pa.table({"age": [1, 4, 9, 3, 4, 5], "ill": ["a", "a", "a", "b", "b", "b"]})
    policy = tc.Policy(["age"], {"ill": 1}, k=3)
    release = tc.anonymize(table, policy, algorithm="mondrian")
    release.partition[:] = [0, 0, 0, 1, 1, 1]
    found = {one.name: one for one in tc.attack(table, policy, release=release)}
    assert found["homogeneity"].members.share == 2 / 6  # those of 1 and 9; of the others both values are counted
    assert found["homogeneity"].class_known.share == 1  # type: ignore[union-attr]
    assert found["skewness"].members.share == pytest.approx((1 + 1 + 4 / 2) / 6)


@settings(max_examples=examples(30), deadline=None)
@given(st.data())
def test_guessing_by_class_shares_is_right_class_known_max_q_plus_t_of_the_time(data: st.DataObject) -> None:
    rows = data.draw(st.integers(8, 40))
    ages = data.draw(st.lists(st.integers(0, 9), min_size=rows, max_size=rows))
    ills = data.draw(st.lists(st.sampled_from("abc"), min_size=rows, max_size=rows))
    t = data.draw(st.sampled_from([0, 0.1, 0.3]))
    table = pa.table({"age": ages, "ill": ills})
    policy = tc.Policy(["age"], {"ill": {"t": t, "distance": "equal"}}, k=2)
    release = tc.anonymize(table, policy, algorithm="mondrian")
    found = next(one for one in tc.attack(table, policy, release=release) if one.name == "similarity")
    most = max(ills.count(value) for value in "abc") / rows
    assert found.class_known is not None  # within .1 of a value there is only itself
    assert found.class_known.share <= most + t + 1e-12


# Controls


def people(rows: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table({"age": rng.integers(0, 40, rows), "size": rng.integers(0, 30, rows), "ill": rng.choice(list("abcd"), rows)})


POLICY = tc.Policy(["age", "size"], {"ill": 0.3}, k=5)


def test_controls_are_not_in_the_release() -> None:
    found = tc.attack(people(400, 1), POLICY, algorithm="mondrian", holdout="1/4")
    assert (found.members, found.controls, found.release.audit.rows) == (300, 100, 300)
    for one in found:
        if one.name in ("refinement", "prosecutor", "marketer"):  # who is not in the release has no row
            assert one.controls is None
            continue
        assert one.controls is not None
        assert one.excess == one.members.share - one.controls.share
        assert one.interval is not None
        assert one.interval[0] <= one.excess <= one.interval[1]


def test_members_controls_and_a_register_are_on_one_grid() -> None:
    table = people(400, 12)
    policy = tc.Policy([tc.Quasi("age", snap="auto"), "size"], {"ill": 0.5}, k=5)
    found = tc.attack(table, policy, algorithm="mondrian", holdout="1/4", register=table)
    width = found.release.record["policy"]["quasi"]["age"]["snap"]
    assert width != "auto"  # the grid was chosen for all people, before some were held back
    assert {one.name for one in found} >= {"learning", "journalist"}


def test_the_order_of_rows_changes_nothing_and_the_seed_does() -> None:
    table = people(200, 2)
    shuffled = table.take(np.random.default_rng(0).permutation(200))
    first, again, other = (
        tc.attack(rows, POLICY, algorithm="mondrian", seed=seed).to_json()
        for rows, seed in ((table, 0), (shuffled, 0), (table, 1))
    )
    assert first == again
    assert first != other


def test_persons_are_held_back_with_all_their_rows() -> None:
    table = people(300, 3).append_column("who", pa.array([str(row // 3) for row in range(300)]))
    found = tc.attack(table, tc.Policy(["age", "size"], {"ill": 0.5}, k=5, unit="who"), algorithm="mondrian")
    assert (found.members, found.controls) == (90, 10)
    assert found.release.audit.rows == 270


def test_on_a_shuffled_column_the_excess_is_ones_own_row() -> None:
    # Everybody knows their class of s rows, one of which is their own: belief in the own value is 1/s + (1 - 1/s) of that in others'.
    rng = np.random.default_rng(4)
    table = pa.table({"age": np.repeat(np.arange(100), 8), "ill": rng.choice(list("abcd"), 800)})
    policy = tc.Policy(["age"], {"ill": 1}, k=2)
    attacked = tc.attack(table, policy, algorithm="mondrian", holdout="1/4")
    skew = next(one for one in attacked if one.name == "skewness")
    labels = attacked.release.partition
    own = np.mean(1 / np.bincount(labels)[labels])  # nearly all classes are those of one age
    assert skew.excess == pytest.approx(own * (1 - 1 / 4), abs=0.05)


def test_two_rates_and_their_difference() -> None:
    right = rate_of(np.array([1.0, 0.0, 1.0, 1.0]), np.array([0, 0, 1, 2]))
    assert right.share == pytest.approx(5 / 6)
    assert right.persons == 3
    found, (low, high) = difference(right, Rate(0.5, 10, 0.1))
    assert found == pytest.approx(1 / 3)
    assert (high - low) / 2 == pytest.approx(1.959964 * np.hypot(right.error, 0.1))


def test_intervals_of_two_control_groups_cover_zero() -> None:
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(400):
        first, second = (rate_of((rng.random(rows) < 0.3).astype(float), np.arange(rows)) for rows in (300, 200))
        low, high = difference(first, second)[1]
        covered += low <= 0 <= high
    assert 0.92 <= covered / 400 <= 0.98


def test_two_groups_of_controls_differ_by_chance_alone() -> None:
    # One release, and 800 people who are not in it, divided at random into two groups, a hundred times.
    rng = np.random.default_rng(9)
    table = people(1200, 9)
    caught: list[Outcome] = []

    def catch(scene: Scene, outcome: Outcome) -> tc.Attack:
        caught.append(outcome)
        return record_of(scene, outcome)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "record_of", catch)
        assert tc.attack(table, POLICY, algorithm="mondrian", holdout="2/3").controls == 800
    for outcome in (one for one in caught if one.name in ("skewness", "learning")):
        covered = 0
        for _ in range(100):
            order = rng.permutation(800)
            first, second = (rate_of(outcome.controls[part], part) for part in (order[:400], order[400:]))
            low, high = difference(first, second)[1]
            covered += low <= 0 <= high
        assert 88 <= covered <= 100


@pytest.mark.parametrize("holdout", [0, 1, "2", "x", None])
def test_a_share_to_hold_back(holdout: Any) -> None:
    with pytest.raises(tc.PolicyError, match="holdout must be a share"):
        tc.attack(people(50, 6), POLICY, holdout=holdout)


def test_what_cannot_be_attacked() -> None:
    table = people(60, 7)
    other = tc.anonymize(people(50, 7), POLICY, algorithm="mondrian")
    with pytest.raises(tc.PolicyError, match="release must be made from this table, of 60 rows"):
        tc.attack(table, POLICY, release=other)
    with pytest.raises(tc.PolicyError, match="codip makes several tables"):
        tc.attack(table, POLICY, algorithm="codip")
