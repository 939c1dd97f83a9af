"""Releases by the roles and kinds of their columns, and classes that a reader cannot tell apart."""

from __future__ import annotations

import json
import math
import tempfile
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from typer.testing import CliRunner

import tclose as tc
from tclose.cli import app
from tclose.make.algorithm import Above, Choice, Option, Partition
from tclose.make.problem import Problem
from tclose.make.registry import ALGORITHMS
from tclose.release.certificate import codebook, to_json
from tclose.release.scope import asks_for_something
from tclose.release.verify import verify
from tclose.tables.files import sha256_of
from tests.support.releases import FEW, LIMITS, SMALL, SUFFIXES, Case, audited, cases, released, same_measures, small_table

# --- roles ------------------------------------------------------------------------------------------------------------


def refused(table: Any, policy: tc.Policy, kind: type[tc.TcloseError], **options: Any) -> str:
    with pytest.raises(kind) as caught:
        tc.anonymize(table, policy, **options)
    assert type(caught.value) is kind
    return str(caught.value)


def test_columns_without_a_role_are_refused_by_name() -> None:
    table = small_table().append_column("shoe size", [[4, 4, 4, 5, 5]]).append_column("diary", [list("vwxyz")])
    message = refused(table, SMALL, tc.ColumnError)
    assert "'shoe size', 'diary'" in message
    assert "'name'" not in message
    dropped = tc.anonymize(table, tc.Policy(["age"], {"salary": 0.5}, identifiers=["name"], k=2, other="drop"))
    assert dropped.table.column_names == ["age", "salary"]
    few = table.drop_columns("diary")
    kept = tc.anonymize(few, tc.Policy(["age"], {"salary": 0.5}, identifiers=["name"], k=2, other="keep"))
    assert kept.table.column_names == ["age", "salary", "shoe size"]
    assert Counter(kept.table["shoe size"].to_pylist()) == Counter([4, 4, 4, 5, 5])
    assert {column["name"]: column["role"] for column in kept.certificate["columns"]} == {
        "age": "quasi", "salary": "sensitive", "shoe size": "kept",
    }  # fmt: skip


def test_what_names_people_is_not_kept_unless_a_reason_is_given() -> None:
    rows = 20
    table = pa.table(
        {
            "age": list(range(rows)),
            "salary": [row % 4 for row in range(rows)],
            "code": [f"c{row // 2 * 2 if row > 2 else row}" for row in range(rows)],
            "text": ["she lives by the old mill", "he keeps four dogs at home"] * (rows // 2),
        }
    )
    base: dict[str, Any] = {"quasi": ["age"], "sensitive": {"salary": 0.9}, "k": 2}
    assert "nearly one for each" in refused(table, tc.Policy(**base, keep=["code"], drop=["text"]), tc.PolicyError)
    assert "free text" in refused(table, tc.Policy(**base, keep=["text"], drop=["code"]), tc.PolicyError)
    assert "'code'" in refused(table, tc.Policy(**base, other="keep"), tc.PolicyError)
    reasons = {"code": {"despite": "codes are drawn anew each day"}, "text": {"despite": "there are two of them"}}
    assert tc.anonymize(table, tc.Policy(**base, keep=reasons)).table.num_columns == 4


def test_an_identifier_that_repeats_needs_a_decision() -> None:
    table = pa.table({"name": list("aabbcc"), "age": [1, 2, 3, 4, 5, 6], "salary": [1, 2, 1, 2, 1, 2]})
    asked: dict[str, Any] = {"quasi": ["age"], "sensitive": {"salary": 0.5}, "k": 2, "identifiers": ["name"]}
    message = refused(table, tc.Policy(**asked), tc.PolicyError)
    assert "'name' has 3 values in 6 rows" in message
    by_row = tc.anonymize(table, tc.Policy(**asked, unit="row"))
    by_person = tc.anonymize(table, tc.Policy(**asked, unit="name"))
    assert by_row.audit.k_persons is None
    assert by_person.audit.k_persons == 2
    missing = table.set_column(0, "name", [[None, *"abbcc"]])
    assert "must name a person in every row" in refused(missing, tc.Policy(**asked, unit="name"), tc.InputError)


@FEW
@given(cases(least=4, containers=["pyarrow"]), st.data())
def test_persons_are_counted_not_their_rows(case: Case, data: st.DataObject) -> None:
    """k and l over persons, and l over rows too, by the twins; the papers say nothing of persons."""
    people = data.draw(st.lists(st.sampled_from(["Ada", "Bo", "Cy", "Di"]), min_size=case.rows, max_size=case.rows))
    asked = case.policy.to_dict(None) | {"unit": "who", "identifiers": ["who"], "k": data.draw(st.integers(1, 3))}
    first = next(iter(asked["sensitive"]))
    limits = data.draw(LIMITS["l"])
    kept = {key: value for key, value in (asked["sensitive"][first] or {}).items() if key not in ("l", "l_kind", "c")}
    asked["sensitive"][first] = kept | limits
    case = Case({**case.columns, "who": people}, tc.Policy(**asked), case.kinds, "pyarrow", case.algorithm)
    assume(asks_for_something(case.policy))
    with tempfile.TemporaryDirectory() as name:
        release = released(case, Path(name))
    if release is None:
        return
    labels = release.partition.tolist()
    classes: dict[Any, set[str]] = defaultdict(set)
    for row, label in enumerate(labels):
        classes[label].add(people[row])
    classes.pop(-1, None)
    published = [row for row, label in enumerate(labels) if label >= 0]
    for label in classes:
        assert case.keeps([row for row in published if labels[row] == label], published)
    if release.audit.classes == len(classes):
        assert release.audit.k_persons == min(map(len, classes.values()))
    assert "k_persons" not in json.dumps(release.certificate)
    assert release.certificate["counted"] == "persons"


KNOWN = ", ".join(ALGORITHMS)


def test_bad_calls() -> None:
    no_k = tc.Policy(["age"], {"salary": 0.5}, identifiers=["name"])
    assert "k must be set" in refused(small_table(), no_k, tc.PolicyError)
    with pytest.raises(tc.PolicyError, match=r"^policy must be a Policy. Got dict. Write tclose.Policy\(\*\*policy\)\.$"):
        tc.anonymize(small_table(), {"quasi": ["age"]})  # type: ignore[call-overload]


@pytest.mark.parametrize("asked", [{}, {"n": 1, "t": 0.1}, {"alpha": 1, "t": 1, "l": 1}])
def test_a_policy_that_asks_for_nothing_is_refused_before_the_table_is_read(asked: dict[str, Any]) -> None:
    own = {key: asked[key] for key in ("t", "l") if key in asked}
    others = {key: value for key, value in asked.items() if key not in own}
    policy = tc.Policy(["age"], [tc.Sensitive("salary", **own)], k=1, **others)
    sentence = (
        "A policy must ask for something to make a release: k above 1, or a limit of a sensitive attribute that a table can break. "
        "Got k=1 and no such limit."
    )
    with pytest.raises(tc.PolicyError) as caught:
        tc.anonymize("no.csv", policy)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("argument", "value", "sentence"),
    [
        ("algorithm", "mondrain", f"algorithm must be one of {KNOWN}. Got 'mondrain'. Did you mean 'mondrian'?"),
        ("algorithm", "wang", f"algorithm must be one of {KNOWN}. Got 'wang'. Did you mean 'wang-clustering' or 'wang-pca'?"),
        ("algorithm", 5, f"algorithm must be one of {KNOWN}. Got 5."),
        ("algorithm", ["mondrian"], f"algorithm must be one of {KNOWN}. Got list."),
        ("effort", "Best", "effort must be one of fast, balanced, best. Got 'Best'. Did you mean 'best'?"),
        ("effort", None, "effort must be one of fast, balanced, best. Got None."),
        ("effort", pa.table({"who": ["Ada"]}), "effort must be one of fast, balanced, best. Got Table."),
        ("seed", "x", "seed must be a whole number from 0 on. Got 'x'."),
        ("seed", True, "seed must be a whole number from 0 on. Got True."),
        ("seed", -1, "seed must be a whole number from 0 on. Got -1."),
        ("seed", np.int32(-1), "seed must be a whole number from 0 on. Got -1."),
        ("seed", 2.0, "seed must be a whole number from 0 on. Got 2.0."),
        ("options", {"colour": 1}, "'colour' is not an option of growth. Known are: seconds."),
        ("options", {1: 2}, "1 is not an option of growth. Known are: seconds."),
        ("options", [], "options must be a mapping from names to values. Got list."),
        ("options", "sizing=gcd", "options must be a mapping from names to values. Got 'sizing=gcd'."),
    ],
)  # fmt: skip
def test_bad_arguments(argument: str, value: Any, sentence: str) -> None:
    assert refused(small_table(), SMALL, tc.PolicyError, **{argument: value}) == sentence


def test_seed_and_effort_reach_the_algorithm_and_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    reached: list[Any] = []

    def run(problem: Problem, seed: int, effort: str, options: Any) -> Partition:
        reached.append((seed, effort, options))
        return Partition(np.zeros(problem.rows, dtype=np.int64))

    monkeypatch.setitem(ALGORITHMS, "growth", replace(ALGORITHMS["growth"], run=run))
    made = [tc.anonymize(small_table(), SMALL), tc.anonymize(small_table(), SMALL, seed=np.int16(3), effort="best")]  # type: ignore[call-overload]
    assert reached == [(0, "balanced", {"seconds": 60}), (3, "best", {"seconds": 60})]
    assert [(release.record["seed"], release.record["effort"]) for release in made] == [(0, "balanced"), (3, "best")]
    assert json.loads(to_json(made[1].record))["seed"] == 3


def test_options_are_read_and_their_defaults_filled_in(monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Option] = {"seconds": Above(0, default=60), "how": Choice(("well", "soon"))}
    monkeypatch.setitem(ALGORITHMS, "mondrian", replace(ALGORITHMS["mondrian"], options=options))

    def told(**wanted: Any) -> Any:
        return tc.anonymize(small_table(), SMALL, algorithm="mondrian", options=wanted).record["options"]

    assert told() == {"seconds": 60, "how": "well"}
    assert told(how="soon") == {"seconds": 60, "how": "soon"}
    for half in (0.5, "0.5", "1/2", np.float32(0.5), Fraction(1, 2)):
        assert told(seconds=half) == {"seconds": 0.5, "how": "well"}
    assert told(seconds=7, how="soon") == {"seconds": 7, "how": "soon"}
    for wrong in (0, -1, "soon", None, True, math.inf, "1e400", [1]):
        message = refused(small_table(), SMALL, tc.PolicyError, algorithm="mondrian", options={"seconds": wrong})
        assert message == f"seconds must be a number above 0. Got {'list' if wrong == [1] else repr(wrong)}."
    message = refused(small_table(), SMALL, tc.PolicyError, algorithm="mondrian", options={"how": "son"})
    assert message == "how must be one of well, soon. Got 'son'. Did you mean 'soon'?"
    shown = CliRunner().invoke(app, ["algorithms"]).stdout
    assert "  --option seconds=60, or another number above 0\n  --option how=well|soon\n" in shown


# --- kinds of columns -------------------------------------------------------------------------------------------------


def test_an_ordered_category_as_sensitive() -> None:
    sizes = pd.Categorical(["low", "mid", "high", "low"] * 3, categories=["low", "mid", "high"], ordered=True)
    frame = pd.DataFrame({"q": [1, 2, 3, 4] * 3, "s": sizes})
    policy = tc.Policy(["q"], {"s": 0.5}, k=3)
    message = refused(frame, policy, tc.PolicyError)
    assert message == (
        "Sensitive column 's' is an ordered category, and a release keeps no such order. Give its order in the policy, or "
        "distance: equal."
    )
    release = tc.anonymize(frame, tc.Policy(["q"], {"s": {"t": 0.5, "order": ["low", "mid", "high"]}}, k=3))
    assert release.audit.sensitive["s"].distance == "ordered"
    assert verify_in_memory(release)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_timestamps_as_sensitive(suffix: str, tmp_path: Path) -> None:
    table = pa.table({"q": [1, 2, 3, 4] * 3, "s": [datetime(2024, 1, day, 3) for day in (1, 2, 3, 5)] * 3})
    policy = tc.Policy(["q"], {"s": 0.5}, k=3)
    path = tc.anonymize(table, policy).write(tmp_path / f"release{suffix}")[0]
    audit = audited(path, policy)
    assert audit.satisfied
    assert audit.sensitive["s"].distance == "ordered"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_times_of_day_as_sensitive(suffix: str, tmp_path: Path) -> None:
    table = pa.table({"q": [1, 2, 3, 4] * 3, "s": [time(hour, 30) for hour in (1, 2, 3, 5)] * 3})
    policy = tc.Policy(["q"], {"s": 0.5}, k=3)
    release = tc.anonymize(table, policy)
    if suffix == ".csv":  # where a time of day is text, which has no order
        with pytest.raises(tc.OutputError, match="Write Parquet or Arrow"):
            release.write(tmp_path / "release.csv")
        assert not list(tmp_path.iterdir())
        return
    path = release.write(tmp_path / f"release{suffix}")[0]
    assert audited(path, policy).satisfied


@pytest.mark.parametrize("values", [[7], ["x"], [None, None]], ids=["number", "text", "missing"])
def test_a_sensitive_column_of_one_value(values: list[Any]) -> None:
    table = pa.table(
        {"q": [1, 2, 3, 4], "s": pa.array(values * (4 // len(values)), pa.int64() if values[0] == 7 else pa.string())}
    )
    release = tc.anonymize(table, tc.Policy(["q"], {"s": 0.1}, k=2))
    assert release.audit.classes == 2
    assert release.audit.sensitive["s"].t == 0


@pytest.mark.parametrize(
    "quasi",
    [
        tc.Quasi("q", type="integer", hierarchy={"low": [11, 12], "high": [21, 22]}),
        tc.Quasi("q", type="integer", hierarchy="prefixes"),
        tc.Quasi("q", type="date", hierarchy="dates"),
        tc.Quasi("q", type="date", snap="week"),
        tc.Quasi("q", type="decimal", recode="set"),
    ],
    ids=["hierarchy", "prefixes", "dates", "weeks", "set"],
)
def test_a_release_is_audited_with_the_policy_that_asked_for_a_type(quasi: tc.Quasi, tmp_path: Path) -> None:
    days = [date(2024, 1, 1), date(2024, 2, 1), date(2025, 2, 1), date(2024, 12, 31)]
    values: list[Any] = days if quasi.type == "date" else [11, 12, 21, 22]
    table = pa.table({"q": values * 2, "s": [1, 2, 1, 2] * 2})
    policy = tc.Policy([quasi], {"s": 0.1}, k=4)
    release = tc.anonymize(table, policy)
    assert release.audit.classes == 2
    path = release.write(tmp_path / "release.csv")[0]
    same_measures(audited(path, policy), release.audit)
    same_measures(audited(release.table, policy), release.audit)


def test_texts_that_look_like_numbers_keep_their_distance(tmp_path: Path) -> None:
    """In a CSV they are numbers to a reader whose policy leaves the distance open: then they are nearer, never farther."""
    table = pa.table({"q": [1, 2, 3, 4] * 3, "s": ["1", "2", "3", "9"] * 3})
    policy = tc.Policy(["q"], {"s": 0.8}, k=3)
    release = tc.anonymize(table, policy)
    for suffix in SUFFIXES:
        data, certificate, *_ = release.write(tmp_path / f"release{suffix}")
        found = audited(data, policy)
        assert found.satisfied
        assert found.sensitive["s"].t_exact <= release.audit.sensitive["s"].t_exact
        assert verify(data, certificate).holds


def verify_in_memory(release: tc.Release) -> bool:
    with tempfile.TemporaryDirectory() as name:
        data, certificate, *_ = release.write(Path(name) / "release.parquet")
        return verify(data, certificate).holds


def test_papers_in_memory_are_those_that_are_written(tmp_path: Path) -> None:
    release = tc.anonymize(small_table(), SMALL)
    data, certificate, _, book = release.write(tmp_path / "release.csv")
    written = json.loads(certificate.read_text())
    assert written.pop("release")["file"] == data.name
    assert written == json.loads(to_json(release.certificate))
    assert book.read_text() == codebook("release.csv", release.certificate, sha256_of(data))


# --- classes that a reader cannot tell apart --------------------------------------------------------------------------

CROSSING = tc.Quasi("q", hierarchy={"a": [1, 2], "b": [3, 4], "c": [5, 6]})
"""Classes of 2 and 3, and of 4 and 5, are both published as ``*``."""


def test_merged_classes_may_break_entropy_over_persons() -> None:
    """Classes (1, 1) and (1, 1) share a person: together they are (1, 2)."""
    values, people = ["v1", "v2", "v1", "v2", "v1", "v1", "v2", "v2"], ["p1", "p2", "p1", "p3", "p4", "p5", "p2", "p3"]
    table = pa.table({"q": [2, 3, 4, 5, 6, 6, 6, 6], "s": values, "who": people})
    assert tc.anonymize(table, tc.Policy([CROSSING], {"s": {"l": 1.95, "l_kind": "entropy"}}, k=2, unit="who")).audit.satisfied


def test_merged_classes_may_break_lenient_disclosure() -> None:
    """What one class has not is skipped; together with another it has a little of it."""
    places = [2, 3] * 10 + [4, 4, 5, 5] + [6] * 24
    table = pa.table({"q": places, "s": ["y", "z"] * 10 + ["x", "v"] * 14})
    assert tc.anonymize(table, tc.Policy([CROSSING], {"s": {"delta": 1, "delta_kind": "lenient"}}, k=4)).audit.satisfied


def test_over_persons_the_one_class_of_all_rows_may_break_what_smaller_ones_hold() -> None:
    """Algorithms begin with that class, and say that they found nothing."""
    table = pa.table({"q": [1, 1, 2, 2], "s": ["v1", "v2", "v1", "v2"], "who": ["p1", "p2", "p1", "p3"]})
    policy = tc.Policy(["q"], {"s": {"l": 2, "l_kind": "entropy"}}, k=2, unit="who")
    assert tc.audit(table, policy).satisfied
    assert (
        refused(table, policy, tc.InfeasibleError) == "No way was found to satisfy l=2 of 's': one class of all rows breaks it."
    )


@pytest.mark.parametrize("odd", ["2.71828", "3"])
def test_the_form_of_what_is_published_tells_nothing_of_a_row_that_is_left_out(odd: str, tmp_path: Path) -> None:
    """As many digits, and the same type and distance, whatever the row that is left out had."""
    found = set()
    for last in ("2.5", odd):
        lines = [f"{row % 3},{(1.5, 2.5)[row % 2]}\n" for row in range(24)]
        (tmp_path / "input.csv").write_text("".join(["q,s\n", *lines, f"999,{last}\n"]))
        policy = tc.Policy(["q"], {"s": 0.6}, k=4, suppression=0.1)
        release = tc.anonymize(tmp_path / "input.csv", policy, algorithm="mondrian")
        assert release.partition[-1] == -1
        written = release.write(tmp_path / "release.csv", force=True)
        found.add((written[0].read_bytes(), written[1].read_bytes()))
    assert len(found) == 1


def test_columns_whose_names_begin_alike() -> None:
    """What is said of ``a.b`` is not what is said of ``a``, whose parts are called ``a.min`` and ``a.max``."""
    table = pa.table({"a": [1, 2, 3, 4] * 2, "a.b": ["x", "y"] * 4, "s": [1, 2] * 4})
    release = tc.anonymize(table, tc.Policy([tc.Quasi("a", recode="bounds"), "a.b"], {"s": 0.9}, k=2))
    said = {column["name"]: column["holds"] for column in release.certificate["columns"]}
    assert said["a.max"] == "The greatest 'a' among the rows of the class."
    assert said["a.b"] == "The values of 'a.b' among the rows of the class, as a set where they differ."


def test_bounds_of_decimals_below_1_may_reach_1() -> None:
    share = pa.array([Decimal("0.25"), Decimal("0.75")] * 2, pa.decimal128(2, 2))  # no digit before the point
    table = pa.table({"share": share, "s": ["x", "x", "y", "y"]})
    policy = tc.Policy(quasi={"share": {"snap": 1, "recode": "bounds"}}, sensitive={"s": 0.5}, k=2)
    release = tc.anonymize(table, policy).table
    assert (release["share.min"].to_pylist(), release["share.max"].to_pylist()) == ([Decimal(0)] * 4, [Decimal(1)] * 4)


@pytest.mark.parametrize(
    ("hierarchy", "value", "kind"),
    [("prefixes", "aa", pa.string()), ("dates", date(2024, 1, 1), pa.date32()), ({"intervals": [5, 10]}, 7, pa.int64())],
)
def test_a_hierarchy_made_from_values_that_are_all_missing_or_all_suppressed(hierarchy: Any, value: Any, kind: Any) -> None:
    asked = tc.Policy([tc.Quasi("q", hierarchy=hierarchy)], {"s": 0.5}, k=3, suppression=0.1)
    for cells, suppressed in (([None] * 24, 0), ([None] * 23 + [value], 1)):
        release = tc.anonymize(pa.table({"q": pa.array(cells, kind), "s": [1, 2, 3, 4] * 6}), asked, algorithm="mondrian")
        assert release.suppressed == suppressed
        assert set(release.table["q"].to_pylist()) == {None}


def test_sensitive_numbers_of_different_lengths_are_written_with_as_many_decimals(tmp_path: Path) -> None:
    for numbers, shown in ((["0.0", "13.73189"], ["0.00000", "13.73189"]), (["0.10", "2.00"], ["0.10", "2.00"])):
        path = tmp_path / "people.csv"
        path.write_text("age,visits\n" + "".join(f"{20 + number % 4},{numbers[number % 2]}\n" for number in range(40)))
        release = tc.anonymize(path, tc.Policy(["age"], {"visits": 0.9}, k=5))
        release.write(tmp_path / "out.csv", force=True)
        lines = (tmp_path / "out.csv").read_text().splitlines()[1:]
        assert sorted({line.split(",")[1] for line in lines}) == shown
        assert "| visits | sensitive | The values of the input. Distance: ordered" in release.codebook
