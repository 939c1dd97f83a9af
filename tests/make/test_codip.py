"""CODIP: several tables, each with a group of sensitive attributes, and what joining them again shows."""

from __future__ import annotations

import json
import random
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import tclose as tc
from tclose.cli import app
from tclose.make.codip import association_matrix, grouped_by_association
from tclose.make.registry import ALGORITHMS
from tclose.release.joined import guess_of, smallest_intersection
from tests import naive
from tests.support.examples import examples
from tests.support.inputs import contain
from tests.support.releases import Case, audited, cases, same_measures

ILL, WAGE = np.random.default_rng(0).integers(0, 3, (2, 60)).tolist()
PEOPLE = pa.table(
    {"age": range(60), "ill": ILL, "drug": [value + 7 for value in ILL], "wage": WAGE}
)  # the drug follows the illness
ASKED = tc.Policy(["age"], {"ill": 0.3, "drug": 0.3, "wage": 0.3}, k=2)
ACCEPT = {"intersection": "accept"}
DIGITS = pa.table({"age": range(54), **{name: [row // 3**place % 3 for row in range(54)] for place, name in enumerate("abc")}})
"""Three sensitive columns that are independent, so that each has a table of its own."""


def test_attributes_that_go_together_stay_together() -> None:
    found = tc.anonymize(PEOPLE, ASKED, algorithm="codip", options=ACCEPT)
    assert [list(release.audit.sensitive) for release in found.releases] == [["ill", "drug"], ["wage"]]
    assert [release.table.column_names for release in found.releases] == [["age", "ill", "drug"], ["age", "wage"]]
    assert all(not release.audit.violations and release.audit.k >= 2 for release in found.releases)
    lost = {pair.between: (pair.strength, pair.kept) for pair in found.joined.associations}
    assert lost["ill", "drug"] == (1.0, True)
    assert lost["ill", "wage"][0] == pytest.approx(naive.several_tables.association(ILL, WAGE))
    assert not lost["ill", "wage"][1]
    assert found.joined.association_lost == pytest.approx(2 * lost["ill", "wage"][0] / (1 + 2 * lost["ill", "wage"][0]))


def test_a_small_intersection_is_refused_unless_it_is_accepted() -> None:
    assert tc.anonymize(PEOPLE, ASKED, algorithm="codip", options=ACCEPT).joined.smallest_intersection == 1
    with pytest.raises(tc.PolicyError, match=r"^codip cannot make this release\. Someone who joins its 2 tables .* below k=2\."):
        tc.anonymize(PEOPLE, ASKED, algorithm="codip")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"sensitive": ["ill"]}, "needs two or more of them. Choose growth, which can."),
        ({"keep": ["wage"], "sensitive": ["ill", "drug"]}, "join their rows again. Choose growth, which can."),
        ({"other": "keep", "sensitive": ["ill", "drug"]}, "join their rows again. Choose growth, which can."),
        ({"k": 1, "sensitive": {"ill": 0.2, "drug": 0.2}}, "k above 1. Choose growth, which can."),
        ({"n": 9, "sensitive": {"ill": 0.2, "drug": None}}, "so every sensitive column does. Choose growth, which can."),
    ],
)
def test_what_several_tables_cannot_do_is_said_before_the_table_is_read(changes: dict[str, Any], sentence: str) -> None:
    asked = tc.Policy(**{"quasi": ["age"], "k": 2, **changes})
    with pytest.raises(tc.PolicyError) as refusal:
        tc.anonymize("there is no such file.csv", asked, algorithm="codip")
    assert str(refusal.value).endswith(sentence)


def test_intersections_are_counted_in_persons_where_k_is() -> None:
    twice = pa.table({name: [value for value in PEOPLE[name].to_pylist() for _ in range(3)] for name in PEOPLE.column_names})
    table = twice.append_column("who", pa.array([f"person {row // 3}" for row in range(180)]))
    by_rows = tc.anonymize(table, replace(ASKED, drop=["who"], k=3), algorithm="codip", options=ACCEPT)
    by_persons = tc.anonymize(table, replace(ASKED, unit="who", k=3), algorithm="codip", options=ACCEPT)
    labels = [release.partition.tolist() for release in by_persons.releases]
    together: dict[tuple[int, ...], set[str]] = {}
    for person, *classes in zip(table["who"].to_pylist(), *labels, strict=True):
        together.setdefault(tuple(classes), set()).add(person)
    assert by_persons.joined.smallest_intersection == min(map(len, together.values())) < 3
    assert by_rows.joined.smallest_intersection >= 1
    assert re.search(r"may be left with \d persons?\.", by_persons.releases[0].codebook)
    with pytest.raises(tc.PolicyError, match=r"may be left with \d persons?, below k=3"):
        tc.anonymize(table, replace(ASKED, unit="who", k=3), algorithm="codip")


def test_the_order_of_the_rows_cannot_be_kept() -> None:
    with pytest.raises(
        tc.PolicyError, match=r"joins them again\. Let the rows be sorted, or choose growth, which makes one table\.$"
    ):
        tc.anonymize(PEOPLE, ASKED, algorithm="codip", keep_order=True, options=ACCEPT)


def test_the_papers_say_that_limits_are_per_table(tmp_path: Path) -> None:
    found = tc.anonymize(PEOPLE, ASKED, algorithm="codip", options=ACCEPT)
    paths = found.write(tmp_path / "people.csv")
    assert [path.name for path in paths[1]] == [
        "people.2.csv",
        "people.2.csv.certificate.json",
        "people.2.csv.private.json",
        "people.2.csv.codebook.md",
    ]
    least = found.joined.smallest_intersection
    for number, (data, certificate, record, codebook) in enumerate(paths, start=1):
        assert json.loads(certificate.read_text())["tables"] == {"number": number, "of": 2, "smallest_intersection": least}
        assert json.loads(record.read_text())["tables"]["association_lost"] == found.joined.association_lost
        assert f"This is table {number} of 2 of the same people" in codebook.read_text()
        verified = tc.verify(data)
        assert verified.holds
        assert any(f"table {number} of 2" in warning for warning in verified.warnings)


def test_all_tables_are_written_or_none(tmp_path: Path) -> None:
    found = tc.anonymize(PEOPLE, ASKED, algorithm="codip", options=ACCEPT)
    (tmp_path / "people.2.csv.codebook.md").write_text("mine")
    with pytest.raises(tc.OutputError, match="exists"):
        found.write(tmp_path / "people.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["people.2.csv.codebook.md"]
    found.write(tmp_path / "people.csv", force=True)
    assert len(list(tmp_path.iterdir())) == 8


def test_tables_of_an_earlier_set_with_more_of_them_are_removed(tmp_path: Path) -> None:
    three = tc.anonymize(DIGITS, tc.Policy(["age"], dict.fromkeys("abc", 0.3), k=2), algorithm="codip", options=ACCEPT)
    two = tc.anonymize(PEOPLE, ASKED, algorithm="codip", options=ACCEPT)
    assert (len(three.releases), len(two.releases)) == (3, 2)
    written = three.write(tmp_path / "people.csv")
    mine = [tmp_path / name for name in ("people.4.csv", "people.2024.csv", "people.2024.csv.certificate.json")]
    for path in mine:
        path.write_text(written[0][1].read_text())  # a certificate, but of table 1
    for path in (*written[0], *written[1]):  # without them too
        path.unlink()
    with pytest.raises(tc.OutputError, match=r"people\.3\.csv' exists"):
        two.write(tmp_path / "people.csv")
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in (*mine, *written[2])}
    new = two.write(tmp_path / "people.csv", force=True)
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in (*mine, *new[0], *new[1])}
    assert all(tc.verify(paths[0]).holds for paths in new)


def test_an_input_that_would_be_removed_is_refused(tmp_path: Path) -> None:
    three = tc.anonymize(DIGITS, tc.Policy(["age"], dict.fromkeys("abc", 0.3), k=2), algorithm="codip", options=ACCEPT)
    third = three.write(tmp_path / "people.csv")[2][0]
    asked = tc.Policy([tc.Quasi("age", type="category")], {"c": 0.3, "b": 0.3}, k=2)
    asked.save(tmp_path / "policy.yaml")
    command = [
        "anonymize",
        third,
        "-p",
        tmp_path / "policy.yaml",
        "-o",
        tmp_path / "people.csv",
        "--algorithm",
        "codip",
        "--force",
    ]
    done = CliRunner().invoke(app, list(map(str, command)))
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"Error: File '{third}' is read as an input, and would be overwritten. Choose another name.\n"


@pytest.mark.parametrize(("name", "suffix"), [("people", "people"), (".", ""), ("/", ""), ("people.1", ".1"), (".csv", ".csv")])
def test_several_tables_need_a_kind_of_file(name: str, suffix: str, tmp_path: Path) -> None:
    found = tc.anonymize(PEOPLE, ASKED, algorithm="codip", options=ACCEPT)
    with pytest.raises(tc.OutputError, match=rf"ends in .csv, .parquet, .arrow or .feather. Got '{suffix}'\.$"):
        found.write(tmp_path / name if name != "." else Path(name))
    assert not list(tmp_path.iterdir())


def test_it_is_one_line_a_table() -> None:
    shown = repr(tc.anonymize(PEOPLE, ASKED, algorithm="codip", options=ACCEPT)).splitlines()
    assert shown[0].startswith("<ReleaseSet: 2 tables; smallest intersection 1; ")
    assert [line[:12] for line in shown[1:]] == ["  <Release: "] * 2


# --- every table is a release ------------------------------------------------------------------------------------------


def of_table(case: Case, group: list[int]) -> Case:
    """The case of one table: its sensitive columns are called s0, s1 and so on again."""
    columns = {name: values for name, values in case.columns.items() if name[0] != "s" or name == "spare"}
    columns |= {f"s{number}": case.columns[f"s{place}"] for number, place in enumerate(group)}
    asked = [replace(case.policy.sensitive[place], name=f"s{number}") for number, place in enumerate(group)]
    return Case(columns, replace(case.policy, sensitive=asked), [case.kinds[place] for place in group], case.container)


@settings(max_examples=examples(15))
@given(cases().filter(lambda case: not ALGORITHMS["codip"].refuses(case.policy, None)), st.randoms(use_true_random=False))
def test_every_table_satisfies_its_limits_whatever_the_order_of_the_rows(case: Case, lots: random.Random) -> None:
    order = lots.sample(range(case.rows), case.rows)
    shuffled = {name: [values[row] for row in order] for name, values in case.columns.items()}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            found, other = (
                tc.anonymize(contain(case.container, columns, folder), case.policy, algorithm="codip", options=ACCEPT)
                for columns in (case.columns, shuffled)
            )
        except tc.InfeasibleError:
            return
        for release, again in zip(found.releases, other.releases, strict=True):
            assert release.table == again.table
            assert release.certificate == again.certificate
        for release, files in zip(found.releases, found.write(folder / "release.parquet"), strict=True):
            assert tc.verify(files[0]).holds
            same_measures(audited(files[0], replace(case.policy, sensitive=release.audit.policy.sensitive)), release.audit)
    published = [set(release.audit.sensitive) for release in found.releases]
    assert sorted(name for table in published for name in table) == sorted(column.name for column in case.policy.sensitive)
    for release in found.releases:
        part = of_table(case, [int(name[1:]) for name in release.audit.sensitive])
        labels = release.partition.tolist()
        shown = [row for row, label in enumerate(labels) if label >= 0]
        for label in set(labels) - {-1}:
            inside = [row for row in shown if labels[row] == label]
            assert part.keeps(inside, range(case.rows))
            assert part.keeps(inside, shown)


# --- against the naive twins ------------------------------------------------------------------------------------------

columns = st.integers(1, 30).flatmap(
    lambda rows: st.lists(st.lists(st.integers(0, 3), min_size=rows, max_size=rows), min_size=2, max_size=5)
)


@given(columns)
def test_association_is_that_of_the_naive_twin(drawn: list[list[int]]) -> None:
    found = association_matrix([np.array(column) for column in drawn])
    for a, first in enumerate(drawn):
        for b, second in enumerate(drawn):
            if a != b:
                assert found[a, b] == pytest.approx(naive.several_tables.association(first, second), abs=1e-9)


@given(st.integers(2, 6).flatmap(lambda m: st.lists(st.integers(0, 100), min_size=m * m, max_size=m * m)))
def test_groups_are_those_of_the_naive_twin(drawn: list[int]) -> None:
    m = round(len(drawn) ** 0.5)
    raw = np.array(drawn).reshape(m, m) / 128  # sums of these are exact
    matrix = (raw + raw.T) / 2
    assert grouped_by_association(matrix) == naive.several_tables.association_groups(matrix.tolist())


@given(columns)
def test_intersections_and_guesses_are_those_of_the_naive_twins(drawn: list[list[int]]) -> None:
    labels = [np.array(column) - 1 for column in drawn]
    if any((column >= 0).any() for column in labels):
        assert smallest_intersection(labels) == naive.several_tables.smallest_intersection([column.tolist() for column in labels])
    target, classes, *known = (np.array(column) for column in drawn)
    guess = guess_of(classes, target, known[:1], known[1:])
    assert guess.by_class == pytest.approx(naive.several_tables.best_guess(drawn[0], [drawn[1]]))
    assert guess.by_join == pytest.approx(naive.several_tables.best_guess(drawn[0], drawn[1:3]))
    assert guess.if_joined == pytest.approx(naive.several_tables.best_guess(drawn[0], drawn[1:]))
