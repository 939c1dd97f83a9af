"""Growth through its public interface: tables and policies that are hard for it, what always holds, and how it is ended."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import tclose as tc
from tclose.cli import app
from tclose.jobs import Job
from tclose.make.growth import growth, refine
from tclose.make.growth.growth import rounds_for
from tclose.make.kernels import running
from tclose.release.verify import verify
from tests.support.processes import POLICY, assert_says_interrupted, finish, names, start, write_people
from tests.support.releases import (
    FEW,
    HIERARCHY,
    MATRIX,
    Case,
    audited,
    cases,
    files,
    released,
    same_measures,
    without_commitment,
)

Columns = dict[str, Any]

WARDS = {"north": ["a", "b", "c"], "south": {"coast": ["d", "e"], "inland": ["f", "g"]}}


def people(rows: int, seed: int = 0) -> Columns:
    """Two numbers and a ward that others may know; pay goes with age, an illness with nothing."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows)
    return {
        "age": age,
        "height": rng.integers(150, 200, rows),
        "ward": rng.choice(list("abcdefg"), rows),
        "pay": (age // 10 + rng.integers(0, 6, rows)).astype(np.int64),
        "ill": rng.choice(["flu", "cold", "gout", "mumps"], rows, p=[0.4, 0.3, 0.2, 0.1]),
    }


def grown(columns: Mapping[str, Any], policy: tc.Policy, effort: str = "fast", **more: Any) -> tc.Release:
    """A release by growth: it holds, and all rows are in it that must be."""
    release = tc.anonymize(pa.table(dict(columns)), policy, algorithm="growth", effort=effort, **more)
    assert release.audit.satisfied
    labels = release.partition
    assert len(labels) == len(next(iter(columns.values())))
    if policy.suppression == 0:
        assert labels.min() == 0
        assert release.suppressed == 0
    assert set(labels.tolist()) - {-1} == set(range(int(labels.max()) + 1))
    assert 0 <= release.loss["gcp"] <= 1
    return release


def classes_of(release: tc.Release) -> list[list[int]]:
    """The rows of each class."""
    found: dict[int, list[int]] = defaultdict(list)
    for row, label in enumerate(release.partition.tolist()):
        found[label].append(row)
    return [found[label] for label in sorted(found) if label >= 0]


# Sensitive values ------------------------------------------------------------------------------------------------------------


def test_one_value_in_nearly_all_rows() -> None:
    columns = people(400) | {"ill": ["flu"] * 396 + ["gout"] * 4}
    release = grown(columns, tc.Policy(["age", "height"], {"ill": 0.05}, k=5, other="drop"))
    # A class of 20 rows may have one of the four, a smaller one none: 1/20 - 4/400 <= 0.05.
    assert release.audit.classes > 20
    for rows in classes_of(release):
        assert abs(Fraction(sum(columns["ill"][row] == "gout" for row in rows), len(rows)) - Fraction(1, 100)) <= Fraction(1, 20)


def test_a_value_that_occurs_once() -> None:
    columns = people(200) | {"pay": [1000000] + [row % 4 for row in range(199)]}
    release = grown(columns, tc.Policy(["age", "height"], {"pay": {"t": 0.1, "distance": "equal"}}, k=4, other="drop"))
    assert release.audit.classes > 5
    assert next(len(rows) for rows in classes_of(release) if 0 in rows) >= 10  # 1/s is within 0.1 of 1/200 from 10 rows on


def test_a_value_that_occurs_once_and_must_be_in_every_class() -> None:
    columns = people(60) | {"ill": ["gout"] + ["flu"] * 59}
    release = grown(columns, tc.Policy(["age", "height"], {"ill": {"delta": 5}}, k=4, other="drop"))
    assert release.audit.classes == 1
    assert release.loss["gcp"] == 1


@pytest.mark.parametrize("distance", ["ordered", "equal", "numeric"])
def test_classes_with_the_spread_of_the_table(distance: Any) -> None:
    columns = people(90) | {"pay": [1, 2, 2, 9, 1, 9] * 15}
    release = grown(columns, tc.Policy(["age", "height"], {"pay": {"t": 0, "distance": distance}}, k=2, other="drop"))
    assert release.audit.sensitive["pay"].t_exact == 0
    assert release.audit.classes > 10
    assert all(len(rows) % 3 == 0 for rows in classes_of(release))


@pytest.mark.parametrize("seed", range(3))
def test_where_nothing_but_k_is_asked_classes_are_small_and_lose_less_than_mondrian_s(seed: int) -> None:
    columns = people(600, seed)
    policy = tc.Policy(["age", "height"], {"pay": 1}, k=5, other="drop")
    release = grown(columns, policy)
    sizes = [len(rows) for rows in classes_of(release)]
    assert min(sizes) >= 5
    assert np.mean(sizes) < 10
    assert release.loss["gcp"] <= tc.anonymize(pa.table(columns), policy, algorithm="mondrian").loss["gcp"]


def test_two_attributes_that_say_the_same() -> None:
    columns = people(300)
    columns |= {"tax": columns["pay"] * 7}
    release = grown(columns, tc.Policy(["age", "height"], {"pay": 0.15, "tax": 0.15}, k=5, other="drop"))
    assert release.audit.classes > 5
    assert release.audit.sensitive["pay"].t_exact == release.audit.sensitive["tax"].t_exact


def test_six_attributes_of_all_distances() -> None:
    rng = np.random.default_rng(4)
    columns = people(250) | {name: rng.choice([1, 2, 3, 4, 7], 250) for name in ("tree", "matrix", "number", "bin")}
    columns["number"] = columns["number"] ** 2
    sensitive = [
        tc.Sensitive("pay", t=0.25),
        tc.Sensitive("ill", t=0.3),
        tc.Sensitive("tree", t=0.3, hierarchy=HIERARCHY),
        tc.Sensitive("matrix", t=0.3, matrix=MATRIX),
        tc.Sensitive("number", t=0.3, distance="numeric"),
        tc.Sensitive("bin", t=0.3, bins={"width": 3}),
    ]
    release = grown(columns, tc.Policy(["age", "height"], sensitive, k=4, other="drop"))
    distances = [found.distance for found in release.audit.sensitive.values()]
    assert distances == ["ordered", "equal", "hierarchical", "matrix", "numeric", "ordered"]
    assert release.audit.classes > 3


# Quasi-identifiers -----------------------------------------------------------------------------------------------------------


def test_quasi_identifiers_that_say_nothing() -> None:
    columns = people(50) | {"age": [30] * 50, "height": [170] * 50}
    release = grown(columns, tc.Policy(["age", "height"], {"pay": 0.2}, k=5, other="drop"))
    assert (release.audit.classes, release.loss["gcp"]) == (1, 0)


def test_a_quasi_identifier_with_a_value_for_each_row() -> None:
    columns = people(300) | {"age": np.random.default_rng(1).permutation(300)}
    release = grown(columns, tc.Policy(["age"], {"ill": 0.3}, k=3, other="drop"))
    assert release.audit.classes > 20
    assert release.loss["gcp"] < 0.2


def test_twelve_quasi_identifiers() -> None:
    rng = np.random.default_rng(2)
    columns = {f"q{place}": rng.integers(0, 2 + place, 200) for place in range(12)} | {"ill": people(200)["ill"]}
    policy = tc.Policy([f"q{place}" for place in range(12)], {"ill": 0.3}, k=4)
    assert grown(columns, policy).audit.classes > 10


def test_quasi_identifiers_with_hierarchies() -> None:
    columns = people(300) | {"zip": [f"47{row * 7 % 90:03d}" for row in range(300)]}
    quasi = [tc.Quasi("ward", hierarchy=WARDS), tc.Quasi("zip", hierarchy="prefixes")]
    release = grown(columns, tc.Policy(quasi, {"ill": 0.3}, k=4, other="drop"))
    assert release.audit.classes > 5
    assert set(release.table["ward"].to_pylist()) <= {*"abcdefg", "north", "south", "coast", "inland", "*"}


def test_missing_values() -> None:
    columns = people(200)
    age, ill = columns["age"].tolist(), columns["ill"].tolist()
    columns |= {"age": [None if row % 7 == 0 else age[row] for row in range(200)]}
    columns |= {
        "ward": [None] * 20 + columns["ward"][20:].tolist(),
        "ill": [None if row % 5 == 0 else ill[row] for row in range(200)],
    }
    release = grown(columns, tc.Policy(["age", "ward", "height"], {"ill": 0.25}, k=4, other="drop"))
    assert release.audit.classes > 5
    assert release.table["ill"].null_count == 40


@pytest.mark.parametrize("name", ["age", "height"])
def test_a_weight_spares_its_quasi_identifier(name: str) -> None:
    columns = people(300)

    def loses(weight: int) -> float:
        quasi = [tc.Quasi(column, weight=weight if column == name else 1) for column in ("age", "height")]
        release = grown(columns, tc.Policy(quasi, {"ill": 0.3}, k=5, other="drop"))
        return float(release.loss.by_attribute["gcp"][name])

    assert loses(100) < 0.8 * loses(1)


def test_what_is_lost_on_a_grid_is_what_is_minimised() -> None:
    """Ranges are charged as published, and the classes are better for the grid than those that know nothing of it."""
    columns = people(300)

    def on_the_grid(release: tc.Release) -> float:
        """What a release of these classes would lose with ranges from ten to ten."""
        found = 0.0
        for rows in classes_of(release):
            ages = columns["age"][rows]
            low, high = ages.min() // 10 * 10, ages.max() // 10 * 10 + 9
            found += len(rows) * min(1.0, (high - low) / float(columns["age"].max() - columns["age"].min()))
        return found / 300

    plain, snapped = (
        grown(columns, tc.Policy([tc.Quasi("age", snap=snap)], {"ill": 0.3}, k=5, other="drop")) for snap in (None, 10)
    )
    assert snapped.loss["gcp"] == pytest.approx(on_the_grid(snapped))
    assert on_the_grid(snapped) < on_the_grid(plain)


# Policies --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "limits",
    [
        {"l": 3},
        {"l": 2.5, "l_kind": "entropy"},
        {"l": 2, "l_kind": "recursive", "c": 2},
        {"beta": 1},
        {"beta": 1, "beta_kind": "enhanced"},
        {"delta": 1},
        {"delta": 1, "delta_kind": "lenient"},
        {"t": 0.2, "l": 3, "beta": 2, "delta": 1.5},
    ],
    ids=str,
)
@pytest.mark.parametrize("unit", ["row", "who"])
def test_every_model(limits: dict[str, Any], unit: str) -> None:
    columns = people(300) | {"who": [f"P{row // 2}" for row in range(300)]}
    policy = tc.Policy(["age", "height"], {"ill": limits}, k=4, unit=unit, identifiers=["who"], other="drop")
    release = grown(columns, policy)
    assert {judgement.model for judgement in release.audit.judgements} >= {"k"}
    assert release.audit.classes > 1


def test_alpha() -> None:
    columns = people(300)
    release = grown(columns, tc.Policy(["age", "height"], ["ill"], k=3, alpha=0.5, other="drop"))
    assert release.audit.classes > 20
    for rows in classes_of(release):
        assert max(np.unique(columns["ill"][rows], return_counts=True)[1]) <= len(rows) / 2


@pytest.mark.parametrize("n", [1, 30, 299, 300])
def test_regions(n: int, tmp_path: Path) -> None:
    columns = people(300)
    release = grown(columns, tc.Policy(["age", "height"], {"pay": 0.1}, k=4, n=n, other="drop"))
    assert release.audit.classes > 1
    data, certificate, *_ = release.write(tmp_path / "release.csv")
    assert verify(data, certificate).holds


def test_fewer_rows_than_a_region_has() -> None:
    with pytest.raises(tc.InfeasibleError):
        grown(people(300), tc.Policy(["age"], {"pay": 0.1}, k=4, n=301, other="drop"))


def test_rows_may_be_left_out_where_the_policy_could_not_hold_with_them() -> None:
    columns = people(300) | {"ill": ["flu"] * 160 + ["gout", "cold"] * 70}
    policy = tc.Policy(["age", "height"], ["ill"], k=4, alpha=0.5, other="drop")
    with pytest.raises(tc.InfeasibleError, match="unless 20 rows are suppressed"):
        grown(columns, policy)
    release = grown(columns, replace(policy, suppression=0.1))
    assert 20 <= release.suppressed <= 30
    assert release.audit.classes > 20


def test_rows_may_be_left_out_where_less_is_lost() -> None:
    """Seven rows are one class of 1 to 2001; without the last they are one of 1 to 6, and that row loses all."""
    columns = {"age": [1, 2, 3, 4, 5, 6, 2001], "pay": [1, 2, 3, 4, 5, 6, 7]}
    policy = tc.Policy(["age"], {"pay": 1}, k=5)
    assert grown(columns, policy).loss["gcp"] == 1
    release = grown(columns, replace(policy, suppression=0.2))
    assert release.partition.tolist() == [0] * 6 + [-1]
    assert release.loss["gcp"] == pytest.approx((6 * 5 / 2000 + 1) / 7)


def test_persons_with_one_row_or_hundreds() -> None:
    sizes = [1] * 30 + [2] * 10 + [20] * 3 + [500]
    who = [f"P{person}" for person, size in enumerate(sizes) for _ in range(size)]
    policy = tc.Policy(["age", "height"], {"ill": {"t": 0.3, "l": 2}}, k=4, unit="who", identifiers=["who"], other="drop")
    release = grown(people(len(who)) | {"who": who}, policy)
    assert release.audit.classes > 1
    fewest = min(len({who[row] for row in rows}) for rows in classes_of(release))
    assert fewest == release.audit.k_persons
    assert fewest >= 4


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 6])
def test_small_tables(rows: int) -> None:
    policy = tc.Policy(["age"], {"pay": 1}, k=3, other="drop")
    columns = {"age": list(range(rows)), "pay": list(range(rows))}
    if rows < 3:
        with pytest.raises(tc.InfeasibleError, match="k=3 cannot be satisfied"):
            grown(columns, policy)
        return
    assert grown(columns, policy).audit.classes == rows // 3


def test_a_row_for_a_class_with_k_of_two_cannot_hold() -> None:
    with pytest.raises(tc.InfeasibleError, match="The table has 1 row: k=2 cannot be satisfied"):
        grown({"age": [1], "pay": [2]}, tc.Policy(["age"], ["pay"], k=2))


ONE_ROW = """
import pyarrow as pa, tclose as tc
for rows in (1, 2, 40):
    table = pa.table({"age": list(range(rows)), "pay": list(range(rows))})
    print(tc.anonymize(table, tc.Policy(["age"], {"pay": {"beta": 99}}, k=1), algorithm="growth").loss["gcp"])
"""


def test_classes_of_one_row() -> None:
    """In a process of its own: what reads outside its arrays ends the process."""
    done = subprocess.run([sys.executable, "-c", ONE_ROW], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "0.0\n" * 3)


def test_a_written_release_is_audited_from_its_file(tmp_path: Path) -> None:
    columns = people(300)
    policy = tc.Policy(["age", tc.Quasi("ward", hierarchy=WARDS)], {"pay": 0.2, "ill": {"t": 0.3, "l": 2}}, k=5, other="drop")
    release = grown(columns, policy)
    for suffix in (".csv", ".parquet", ".arrow"):
        data, certificate, *_ = release.write(tmp_path / f"release{suffix}")
        same_measures(audited(data, policy), release.audit)
        assert verify(data, certificate).holds


# What always holds -----------------------------------------------------------------------------------------------------------


SAMPLED = st.sampled_from([10, growth.SAMPLED])
"""Rows from which on it is decided on a sample how to start."""


@FEW
@given(cases(containers=["pyarrow"]), st.sampled_from(["fast", "balanced", "best"]), SAMPLED)
def test_it_makes_a_release_where_mondrian_does(case: Case, effort: str, sampled: int) -> None:
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        patch.setattr(growth, "SAMPLED", sampled)
        release = released(replace(case, algorithm="growth"), folder, effort=effort)
        other = released(replace(case, algorithm="mondrian"), folder)
        assert (release is None) == (other is None)
        if release is not None:
            assert release.audit.satisfied
            assert audited(release.write(folder / "release.csv")[0], case.policy).satisfied
            assert 0 <= release.loss["gcp"] <= 1
            assert release.suppressed <= case.policy.suppression * case.rows


@FEW
@given(cases(least=2, containers=["pyarrow"]), st.randoms(use_true_random=False), st.integers(0, 5), SAMPLED)
def test_neither_the_order_of_rows_nor_the_number_of_cores_matters(case: Case, lots: Any, seed: int, sampled: int) -> None:
    case = replace(case, algorithm="growth")
    order = lots.sample(range(case.rows), case.rows)
    shuffled = replace(case, columns={name: [values[row] for row in order] for name, values in case.columns.items()})
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        made = []
        patch.setattr(growth, "SAMPLED", sampled)
        for number, (one, cores) in enumerate([(case, 1), (case, 2), (shuffled, 2)]):
            patch.setattr(running, "cores", lambda cores=cores: cores)
            release = released(one, folder, seed=seed)
            made.append(None if release is None else files(release, folder / str(number), ".csv"))
    if made[0] is None:
        assert made == [None] * 3
        return
    for found in made:
        assert found is not None
        found["release.csv.private.json"] = without_commitment(found["release.csv.private.json"])  # type: ignore[assignment]
    assert made[0] == made[1] == made[2]


@pytest.fixture(scope="module")
def many() -> pa.Table:
    """More rows than a block has, and more classes than a group has."""
    return pa.table(people(6000))


MANY = tc.Policy(["age", "height", "ward"], {"pay": 0.3, "ill": 0.4}, k=4)


def test_many_blocks_and_groups_on_one_core_and_two(many: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for cores, seed in ((1, 0), (2, 0), (2, 1)):
        monkeypatch.setattr(running, "cores", lambda cores=cores: cores)
        found.append(tc.anonymize(many, MANY, algorithm="growth", effort="fast", seed=seed))
    assert found[0].audit.classes > 600
    assert found[0].table.equals(found[1].table)
    assert found[0].partition.tolist() == found[1].partition.tolist()
    assert found[0].partition.tolist() != found[2].partition.tolist()
    assert found[2].audit.satisfied


@pytest.mark.parametrize(
    ("lost", "ways"),
    [
        ([94.0, 100.0], ["grown"]),
        ([100.0, 94.0], ["fragments"]),
        ([95.0, 100.0], ["grown", "fragments"]),
        ([100.0, 95.0], ["grown", "fragments"]),
        ([0.0, 0.0], ["grown", "fragments"]),
    ],
)
def test_of_a_large_table_only_a_clearly_better_start_is_made(
    lost: list[float], ways: list[str], many: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, really = tc.Policy(["age", "height", "ward"], {"pay": 0.3}, k=4, other="drop"), growth.partitions_to_refine
    made: list[dict[str, Any]] = []

    def listened(*args: Any) -> Any:
        made.append(really(*args))
        return made[-1]

    monkeypatch.setattr(growth, "partitions_to_refine", listened)
    monkeypatch.setattr(growth, "losses_after_trial", lambda *_: lost)  # on the sample
    stages: list[str] = []
    for sampled in (6001, 6000):
        monkeypatch.setattr(growth, "SAMPLED", sampled)
        stages.clear()
        with Job(lambda stage, figure: stages.append(stage) if not figure else None):
            release = tc.anonymize(many, policy, effort="fast")
    assert [list(starts) for starts in made] == [["grown", "fragments"], ways]
    assert all(made[1][way].tolist() == made[0][way].tolist() for way in ways)
    assert release.record["course"]["start"] in ways
    cutting = ["Cutting"] if "grown" in ways else []
    assert stages[2:-3] == ["Trying a sample of", *cutting, "Growing classes of"]


@pytest.mark.parametrize(("sensitive", "start"), [("tax", "fragments"), ("ill", "grown")])
def test_a_sample_says_which_start_is_better(sensitive: str, start: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where tax goes with age, rows nearby bring a class no nearer to the table; an illness has nothing to do with age."""
    columns = people(6000)
    columns |= {"tax": columns["age"] + np.random.default_rng(1).integers(0, 30, 6000)}
    policy = tc.Policy(["age", "height"], {sensitive: 0.1}, k=4, other="drop")
    both = grown(columns, policy)
    monkeypatch.setattr(growth, "SAMPLED", 6000)
    monkeypatch.setattr(growth, "STEP", 3)
    release = grown(columns, policy)
    assert release.record["course"]["start"] == both.record["course"]["start"] == start
    assert release.partition.tolist() == both.partition.tolist()


def stop_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refining takes no time, however slow the machine is."""
    monkeypatch.setattr(refine, "time", SimpleNamespace(monotonic=lambda: 0.0))


def interrupted_in_round(monkeypatch: pytest.MonkeyPatch, last: int) -> None:
    """Ctrl-C arrives while this round is under way."""
    really, rounds = refine._round, iter(range(last + 1))

    def once_more(*args: Any, **settings: Any) -> Any:
        if next(rounds) == last:
            raise KeyboardInterrupt
        return really(*args, **settings)

    monkeypatch.setattr(refine, "_round", once_more)


def test_more_effort_loses_less_and_never_more_than_before_refining(monkeypatch: pytest.MonkeyPatch) -> None:
    stop_the_clock(monkeypatch)
    columns, policy = people(500), tc.Policy(["age", "height"], {"pay": 0.2}, k=5, other="drop")
    lost = [grown(columns, policy, effort).loss["gcp"] for effort in ("best", "balanced", "fast")]
    interrupted_in_round(monkeypatch, 0)
    start = grown(columns, policy, "best")
    assert start.record["course"] == {"start": "grown", "rounds": 0, "ended": "interrupt"}
    assert max(lost) <= start.loss["gcp"]
    assert lost[0] < lost[2]


def test_where_rows_nearby_do_not_help_refining_starts_from_fragments() -> None:
    # Tax follows income: a class of people with nearby incomes is far from the table, and few classes grow.
    rng = np.random.default_rng(2)
    income = rng.lognormal(3, 1, 300).astype(int)
    columns = {"income": income, "age": rng.integers(18, 90, 300), "tax": income // 4}
    policy = tc.Policy(["income", "age"], {"tax": 0.02}, k=2, other="drop")
    release = grown(columns, policy, "balanced")
    assert release.record["course"]["start"] == "fragments"
    assert release.loss["gcp"] < tc.anonymize(pa.table(columns), policy, algorithm="fragmentation").loss["gcp"]
    several = tc.Policy(["income"], {"tax": 0.02, "age": 0.02}, k=2)
    assert grown(columns, several, "balanced").record["course"]["start"] == "grown"


# How it ends -----------------------------------------------------------------------------------------------------------------


def test_it_ends_after_its_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    stop_the_clock(monkeypatch)
    release = grown(people(100), tc.Policy(["age"], {"pay": 0.3}, k=5, other="drop"), "best")
    assert release.record["course"]["ended"] == "rounds"
    assert release.record["options"] == {"seconds": 60}


def test_it_ends_in_time(many: pa.Table) -> None:
    release = tc.anonymize(many, MANY, algorithm="growth", effort="best", options={"seconds": 1e-6})
    assert release.audit.satisfied
    assert release.record["course"]["ended"] == "time"
    assert release.record["options"] == {"seconds": 1e-6}


def test_time_is_for_the_best_effort_only() -> None:
    policy = tc.Policy(["age"], {"pay": 0.3}, k=5, other="drop")
    assert grown(people(100), policy, "balanced", options={"seconds": 1e-6}).record["course"]["ended"] == "rounds"


def command(folder: Path, out: Path, effort: str) -> list[str]:
    return ["anonymize", f"{folder / 'table.csv'}", "-p", f"{folder / 'policy.yaml'}", "-o", str(out), "--effort", effort]


@pytest.mark.parametrize("effort", ["best", "balanced"])
def test_ctrl_c_while_refining(effort: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm: None) -> None:
    write_people(tmp_path / "table.csv", 500)
    (tmp_path / "policy.yaml").write_text(POLICY)
    out = tmp_path / "out" / "release.csv"
    out.parent.mkdir()
    stop_the_clock(monkeypatch)
    interrupted_in_round(monkeypatch, 2)
    done = CliRunner().invoke(app, command(tmp_path, out, effort))
    if effort == "balanced":
        assert (done.exit_code, done.stdout, done.stderr) == (130, "", "Error: Interrupted.\n")
        assert names(out.parent) == []
        return
    assert (done.exit_code, done.stderr) == (0, "")
    assert verify(out, out.with_name("release.csv.certificate.json")).holds
    course = json.loads(out.with_name("release.csv.private.json").read_text())["course"]
    assert course == {"start": "grown", "rounds": 2, "ended": "interrupt"}


INSIDE_A_ROUND = """
import os, signal, threading
from tclose.make.growth import refine
from tclose.cli import main

really, rounds = refine._round, iter(range(3))


def again(*args, **settings):
    really(*args, **settings)
    if next(rounds) == 2:
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        while True:
            really(*args, **settings)


refine._round = again
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("effort", ["best", "balanced"])
def test_ctrl_c_inside_a_kernel(effort: str, tmp_path: Path, warm: None) -> None:
    write_people(tmp_path / "table.csv", 30_000)
    (tmp_path / "policy.yaml").write_text(POLICY)
    out = tmp_path / "out" / "release.csv"
    out.parent.mkdir()
    done = finish(start("-c", INSIDE_A_ROUND, *command(tmp_path, out, effort), "--option", "seconds=100000"))
    if effort == "balanced":
        assert_says_interrupted(done)
        assert names(out.parent) == []
        return
    assert (done.returncode, done.stderr) == (0, "")
    course = json.loads(out.with_name("release.csv.private.json").read_text())["course"]
    assert course == {"start": "grown", "rounds": 2, "ended": "interrupt"}
    assert audited(out, tc.Policy.load(tmp_path / "policy.yaml")).satisfied


def test_ctrl_c_between_two_rounds() -> None:
    """While the loss is shown."""

    def hear(stage: str, figure: str) -> None:
        if stage == "Refining" and figure:
            raise KeyboardInterrupt

    try:
        with Job(hear):
            release = grown(people(100), tc.Policy(["age"], {"pay": 0.3}, k=5, other="drop"), "best")
    except KeyboardInterrupt:  # which would end the tests, too
        pytest.fail("Ctrl-C ended everything")
    assert release.record["course"]["ended"] == "interrupt"


@pytest.mark.parametrize(
    ("effort", "rows", "expected"),
    [("balanced", 1, 12), ("balanced", 100_000, 12), ("balanced", 300_000, 13), ("balanced", 10**6, 15), ("fast", 10**9, 6)],
)
def test_larger_tables_take_more_rounds(effort: str, rows: int, expected: int) -> None:
    assert rounds_for(effort, rows) == expected
