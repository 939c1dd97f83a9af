"""Large tables: attacks are tried on a random sample of people, and what is stated of it is true."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.jobs import Cancelled, Job
from tclose.study import attack as study
from tclose.study import staging
from tclose.study.attacks import believed, join, learning
from tclose.study.attacks.linking import _own_rows, people_that_fit
from tclose.study.attacks.record import Outcome, rate_of, record_of
from tclose.study.scene import CONTROL, Scene
from tests.support.examples import examples
from tests.support.scenes import scene_of

POLICY = tc.Policy(["age", "size"], {"ill": 0.4, "pay": 0.4}, k=5)
EVERYBODY = ("homogeneity", "background knowledge", "edges", "refinement", "prosecutor", "marketer")


def people(rows: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    ages = rng.integers(0, 40, rows)
    ills = np.where(rng.random(rows) < 0.5, ages // 10, rng.integers(0, 4, rows))
    pay = rng.integers(1, 6, rows)
    return pa.table({"age": ages, "size": rng.integers(0, 30, rows), "ill": np.array(list("abcd"))[ills], "pay": pay})


def attacked(table: pa.Table, policy: tc.Policy = POLICY, **more: Any) -> tc.Attacks:
    return tc.attack(table, policy, algorithm="mondrian", holdout="1/4", **more)


def catch(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Scene, Outcome]]:
    """A list to which each scene and outcome of the attacks to come is added."""
    caught: list[tuple[Scene, Outcome]] = []

    def catching(scene: Scene, outcome: Outcome) -> tc.Attack:
        caught.append((scene, outcome))
        return record_of(scene, outcome)

    monkeypatch.setattr(study, "record_of", catching)
    return caught


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "ALL", 500)
    monkeypatch.setattr(staging, "TRIED", 300)


def test_a_sample_says_what_all_people_say_within_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    full = attacked(people(1500, 1))
    assert full.tried == study.Tried(1125, 375)
    monkeypatch.setattr(staging, "ALL", 500)
    monkeypatch.setattr(staging, "TRIED", 300)
    found = attacked(people(1500, 1))
    assert (found.members, found.controls, found.tried) == (1125, 375, study.Tried(300, 300))
    for one, of_all in zip(found, full, strict=True):
        assert (one.name, one.sensitive) == (of_all.name, of_all.sensitive)
        if one.name in EVERYBODY:  # the figures of edges compare people who are tried
            assert (one.members, one.controls, one.worst) == (of_all.members, of_all.controls, of_all.worst)
            continue
        assert (one.members.persons, one.controls.persons) == (300, 300)  # type: ignore[union-attr]
        assert abs(one.members.share - of_all.members.share) <= 3 * one.members.error
        assert abs(one.controls.share - of_all.controls.share) <= 3 * one.controls.error  # type: ignore[union-attr]
        assert of_all.excess is not None
        low, high = one.interval  # type: ignore[misc]
        assert low - (high - low) / 2 <= of_all.excess <= high + (high - low) / 2
    lifts, of_all_lifts = ([one.figures["lift"] for one in each if one.name == "skewness"] for each in (found, full))
    assert lifts == of_all_lifts  # all classes are looked at


def test_intervals_of_samples_contain_the_figures_of_all(small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    caught = catch(monkeypatch)
    monkeypatch.setattr(staging, "ALL", 10_000)
    attacked(people(2000, 2))
    monkeypatch.setattr(staging, "ALL", 500)
    for scene, outcome in (pair for pair in caught if pair[1].name in ("skewness", "learning", "background join")):
        true, covered = rate_of(outcome.members, scene.persons[scene.members]).share, 0
        for seed in range(100):
            sample = staging._sample(scene.table, scene.labels, seed)
            assert sample is not None
            chosen = sample[scene.members]
            found = rate_of(outcome.members[chosen], scene.persons[scene.members[chosen]])
            covered += abs(found.share - true) <= 1.96 * found.error
        assert 90 <= covered <= 100


def test_the_sample_is_of_persons_and_by_the_seed(small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    caught = catch(monkeypatch)
    table = people(3000, 3).append_column("who", pa.array([f"{row // 3:04}" for row in range(3000)]))
    policy = tc.Policy(["age", "size"], {"ill": 0.5}, k=5, unit="who", other="drop")
    found = attacked(table, policy)
    scene = caught[-1][0]
    assert scene.sample is not None
    assert found.tried == study.Tried(300, 250)  # of 750 and of 250
    chosen = np.unique(scene.persons[scene.sample])
    assert len(chosen) == 550
    assert scene.sample.sum() == 3 * 550  # with all their rows
    assert len(np.unique(scene.persons[scene.members])) == 300
    assert {one.members.persons for one in found if one.name not in EVERYBODY} == {300}
    assert {one.members.persons for one in found if one.name in EVERYBODY} == {750}
    again, other = (np.array(staging._sample(scene.table, scene.labels, seed)) for seed in (0, 1))
    assert np.array_equal(again, scene.sample)
    assert not np.array_equal(other, scene.sample)


def test_the_order_of_rows_does_not_change_what_a_sample_says(small: None) -> None:
    table = people(1000, 4)
    shuffled = table.take(np.random.default_rng(0).permutation(1000))
    first, again, other = (attacked(rows, seed=seed).to_json() for rows, seed in ((table, 0), (shuffled, 0), (table, 1)))
    assert first == again
    assert first != other
    assert '"tried": {\n    "members": 300,\n    "controls": 250\n  }' in first


def test_with_many_values_fewer_people_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "CELLS", 1000)
    assert attacked(people(300, 5)).tried == study.Tried(200, 75)  # 1,000 pairs of five values


def test_kept_columns_and_two_releases_of_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    table = people(1200, 6).append_column("ward", pa.array(np.random.default_rng(7).integers(0, 40, 1200)))
    policy = tc.Policy(["age", "size"], {"ill": 0.5}, k=5, keep=["ward"], other="drop")
    later, earlier = (tc.anonymize(table, policy, algorithm=name) for name in ("mondrian", "growth"))
    full = {one.name: one for one in tc.attack(table, policy, release=later, earlier=earlier)}
    monkeypatch.setattr(staging, "ALL", 500)
    monkeypatch.setattr(staging, "TRIED", 300)
    found = tc.attack(table, policy, release=later, earlier=earlier)
    assert (found.members, found.tried) == (1200, study.Tried(300, 0))
    some = {one.name: one for one in found}
    for name in ("kept columns", "two releases"):
        assert (
            abs(some[name].members.share - full[name].members.share) <= 3 * 2 * full[name].members.error
        )  # of 300 instead of 1,200
        known, of_all = some[name].class_known, full[name].class_known
        assert known is not None
        assert of_all is not None
        assert abs(known.share - of_all.share) <= 3 * known.error
    for figure in ("smallest", "below_k", "homogeneous"):
        assert some["two releases"].figures[figure] == full["two releases"].figures[figure]


def test_what_is_too_much_to_count_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(believed, "MOST", 4 * 300)
    found = attacked(people(400, 7), tc.Policy(["age", "size"], {"ill": 0.5, "pay": 1}, k=300))
    assert found.skipped == ["pay was not attacked: 5 values are too many for 1 class. With bins it can be."]
    assert {one.sensitive for one in found} == {"ill", None}
    monkeypatch.setattr(join, "MOST", 19)
    monkeypatch.setattr(believed, "MOST", 5 * 300)
    found = attacked(people(400, 7), tc.Policy(["age", "size"], {"ill": 0.5, "pay": 1}, k=300))
    assert found.skipped[0] == (
        "pay was not looked for by means of ill: 5 and 4 values are too many for 1 class. With bins it can be."
    )
    assert "background join" not in {one.name for one in found}


def test_learning_in_blocks_of_classes_is_learning(monkeypatch: pytest.MonkeyPatch) -> None:
    scene, _ = scene_of(people(300, 8), POLICY, [*np.repeat(np.arange(25), 10), *[CONTROL] * 50])
    attribute = scene.table.sensitive[0]
    whole = learning.learn(scene, attribute)
    monkeypatch.setattr(learning, "CHUNK", 4 * 35)  # three classes of ten rows at a time
    assert list(learning._blocks(np.array([0, 10, 20, 30, 90, 100]), 35)) == [(0, 3), (3, 4), (4, 5)]
    parts = learning.learn(scene, attribute)
    for one, other in zip(whole.logarithms, parts.logarithms, strict=True):
        np.testing.assert_allclose(one, other)
    np.testing.assert_allclose(whole.chances, parts.chances)
    np.testing.assert_allclose(whole.factors, parts.factors)


def test_attacks_say_how_they_go_and_end_when_they_are_cancelled() -> None:
    said: list[str] = []
    with Job(lambda stage, figure: said.append(f"{stage} {figure}")):
        attacked(people(200, 9))
    assert {"Attacking ill, learning 1 of 10", "Attacking pay, learning 10 of 10", "Attacking edges"} <= set(said)
    job = Job(lambda stage, figure: job.cancel() if figure.startswith("ill, learning 3") else None)
    with pytest.raises(Cancelled), job:
        attacked(people(200, 9))


@settings(max_examples=examples(25), deadline=None)
@given(st.data())
def test_the_values_left_are_those_of_all_beliefs(data: st.DataObject) -> None:
    count = data.draw(st.integers(4, 30))
    ages = data.draw(st.lists(st.integers(0, 9), min_size=count, max_size=count))
    ills = data.draw(st.lists(st.sampled_from("abcd"), min_size=count, max_size=count))
    labels = data.draw(st.lists(st.sampled_from([0, 1, 2, -1, CONTROL]), min_size=count, max_size=count))
    labels[:3] = [0, 1, 2]
    scene, _ = scene_of(pa.table({"age": ages, "ill": ills}), tc.Policy(["age"], {"ill": 1}, k=2), labels)
    attribute = scene.table.sensitive[0]
    seen = believed.believed(scene, attribute)
    for left, counts, truth in (
        (seen.left_of_published, seen.members, seen.of_members),
        (seen.left_of_held_back, seen.controls, seen.of_controls),
        (seen.left_in_class, seen.in_class, seen.of_members),
    ):
        values, there = (counts > 0).sum(axis=1), believed.at_truth(counts, truth) > 0
        assert left.tolist() == np.where(there & (values <= 2), values, 0).tolist()


@settings(max_examples=examples(25), deadline=None)
@given(st.data())
def test_people_and_rows_that_fit_are_those_of_loops(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 14))
    ages, sizes = (data.draw(st.lists(st.integers(0, 5), min_size=count, max_size=count)) for _ in range(2))
    whose = data.draw(st.lists(st.sampled_from("abcde"), min_size=count, max_size=count))
    classes = [0, *data.draw(st.lists(st.sampled_from([0, 0, 1, -1, CONTROL]), min_size=count - 1, max_size=count - 1))]
    table = pa.table({"age": ages, "size": sizes, "who": whose, "ill": ["flu", "gout"] * (count // 2) + ["flu"] * (count % 2)})
    labels = [{0: 0, 1: 1 if 1 in classes else 0}.get(label, label) for label in classes]
    scene, order = scene_of(table, tc.Policy(["age", "size"], {"ill": 1}, k=2, unit="who"), labels)

    def fits(row: int, label: int) -> bool:
        inside = [other for other in range(count) if labels[other] == label]
        return all(min(of[i] for i in inside) <= of[row] <= max(of[i] for i in inside) for of in (ages, sizes))

    published = [row for row in range(count) if labels[row] >= 0]
    known = sorted({labels[row] for row in published})
    ref = [len({whose[row] for row in published if fits(row, label)}) for label in known]
    assert people_that_fit(scene, scene.published).tolist() == ref
    own = {row: sum(whose[other] == whose[row] and fits(row, labels[other]) for other in published) for row in published}
    assert dict(zip(order[scene.published].tolist(), _own_rows(scene).tolist(), strict=True)) == own
