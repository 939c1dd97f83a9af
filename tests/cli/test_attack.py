"""tclose attack: its screen, its JSON and its errors."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tclose.cli import app
from tclose.cli.attacked import DOES
from tclose.study import staging
from tests.support.processes import write_people

POLICY = """\
k: 5
identifiers: [id]
quasi: {age: {}, zip: {hierarchy: prefixes}}
sensitive: {salary: 0.3, disease: 0.3}
other: drop
"""


OTHERS = {"finds one row that fits", "finds the person of a row", "is sure by all their rows"}
"""What is said of attacks that need kept columns, a register or several rows a person."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("attack")
    write_people(folder / "table.csv", 300)
    (folder / "policy.yaml").write_text(POLICY)
    return folder


def called(folder: Path, *more: str) -> tuple[int, str, str]:
    command = ["attack", str(folder / "table.csv"), "-p", str(folder / "policy.yaml"), "--algorithm", "mondrian", *more]
    found = CliRunner().invoke(app, command)
    return found.exit_code, found.stdout, found.stderr


def test_the_screen_of_attacks(folder: Path, warm: None) -> None:
    code, out, err = called(folder)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert len(lines) <= 24  # one screen
    assert lines[0] == "INTERNAL: measured with the raw table. Do not publish this."
    assert lines[1].startswith("table.csv: a release of 270 people in ")
    assert lines[1].endswith("; 30 people who are not in it are the controls. Attackers know age and zip.")
    assert lines[3].startswith(
        ("The release gives away most about ", "No attack is right more often about people in the release")
    )
    heading = next(number for number, line in enumerate(lines) if line.startswith("an attacker who"))
    assert "what the table teaches about everybody" in lines[heading - 2]
    kinds = [line[:28].strip() for line in lines[heading + 1 : heading + 11]]
    assert sorted(kinds) == sorted(set(DOES.values()) - OTHERS)
    assert lines[heading + 11].startswith("How often the attacker is right about others")
    assert lines[-1] == "Every attack on every column, who is hit worst, and what lowers it: --all"
    assert sorted(path.name for path in folder.iterdir()) == ["policy.yaml", "table.csv"]  # nothing is written


def test_all_attacks_on_all_columns(folder: Path) -> None:
    lines = called(folder, "--all")[1].splitlines()
    assert lines[0] == "INTERNAL: measured with the raw table. Do not publish this."
    joins = [line for line in lines if line.startswith("background join")]
    assert sorted(line.split()[3] + " " + line.split()[4] for line in joins) == ["disease salary", "salary disease"]
    assert all(line.startswith("background join, knows ") for line in joins)
    assert any("Lowered by: bins for salary (its values published in intervals), larger" in line for line in lines)
    assert any(line.startswith("Someone who knows the quasi-identifiers of a person and their salary guesses") for line in lines)
    assert any(line.startswith("  Alone at an end of their class by raw value, whatever is published: ") for line in lines)
    assert sum("Lowered by: " in line for line in lines) >= 4


def test_the_screen_says_that_the_limits_are_about_one_row_of_a_person(tmp_path: Path, folder: Path) -> None:
    rows = [f"{row // 3},{row * 7 % 97},{'ab'[row % 2]}" for row in range(120)]
    (tmp_path / "table.csv").write_text("who,age,ill\n" + "\n".join(rows) + "\n")
    (tmp_path / "policy.yaml").write_text("{k: 4, unit: who, quasi: [age], sensitive: {ill: 1}}")
    lines = called(tmp_path)[1].splitlines()
    assert any(line.startswith("A person with several rows counts once: where the attacker is sure, ") for line in lines)
    found = json.loads(called(tmp_path, "--json")[1])
    edges = next(one for one in found["attacks"] if one["name"] == "edges")
    assert 0 < edges["figures"]["pinned"] == round(edges["members"]["share"] * edges["members"]["persons"])
    assert edges["does"].endswith("and so proves in which class one of their rows is")
    said = [line for line in lines if line.startswith("k, l and t are about one row of a person. Who knows several rows ")]
    assert len(said) == 1
    assert "no limit is about that. Where it matters, publish one row a person, or a summary of their rows." in said[0]
    assert "one row of a person" not in called(folder)[1]  # each row is a person


def test_the_screen_names_those_who_are_certain_by_all_rows_of_a_person(tmp_path: Path) -> None:
    # Each class of six rows has six incomes, and no two classes have two incomes in common.
    rows = [f"{who},{(who % 6, 10 + who // 6)[row]},{100 * who}" for who in range(36) for row in range(2)]
    (tmp_path / "table.csv").write_text("who,age,pay\n" + "\n".join(rows) + "\n")
    (tmp_path / "policy.yaml").write_text("{k: 3, unit: who, quasi: [age], sensitive: {pay: {t: 1, l: 3}}}")
    lines = called(tmp_path, "--all")[1].splitlines()
    said = "is certain to an attacker who knows the quasi-identifiers of all of their rows. Lowered by: one row a person, larger "
    assert any(line.startswith("The pay of ") and said in line for line in lines)
    assert any(line.startswith("is sure by all their rows ") for line in lines)
    assert "  By one of their rows alone: 0.0%." in lines


def test_the_screen_says_what_is_given_away_most(tmp_path: Path) -> None:
    # Of each age there is one disease, which the salary tells too; and classes are those of one age.
    rows = [f"{age},{'flu' if age % 2 else 'gout'},{age % 2}" for age in range(40) for _ in range(6)]
    (tmp_path / "table.csv").write_text("age,disease,salary\n" + "\n".join(rows) + "\n")
    (tmp_path / "policy.yaml").write_text("{k: 2, quasi: [age], sensitive: {disease: 1, salary: 1}}")
    lines = called(tmp_path)[1].splitlines()
    assert lines[3] == "No attack is right more often about people in the release than about others, beyond chance."
    assert lines[4].startswith("The disease of 216 people is certain to an attacker. Lowered by: l: 2 or more")
    # The value of each person is their own, and the controls say what is so by chance.
    rng = np.random.default_rng(1)
    rows = [f"{age},{rng.choice(list('abcdefgh'))}" for age in range(60) for _ in range(6)]
    (tmp_path / "table.csv").write_text("age,disease\n" + "\n".join(rows) + "\n")
    (tmp_path / "policy.yaml").write_text("{k: 2, quasi: [age], sensitive: {disease: 1}}")
    lines = called(tmp_path)[1].splitlines()
    assert lines[3].startswith("The release gives away most about disease. Someone who knows the quasi-identifiers of ")
    found = re.fullmatch(r"That is ([0-9.]+) points more \(([0-9.]+) to ([0-9.]+)\)\. .*Lowered by: .*\.", lines[4])
    assert found is not None
    first = next(line for number, line in enumerate(lines) if number and lines[number - 1].startswith("an attacker who"))
    assert first.endswith(f"{found[1]} ({found[2]} to {found[3]})")  # the worst comes first


def test_the_screen_states_the_sample(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "ALL", 100)
    monkeypatch.setattr(staging, "TRIED", 50)
    line = called(folder)[1].splitlines()[2]
    assert line.startswith("Tried on 50 of 270 people in the release and 30 of 30 others, chosen at random. On all of them: ")
    for name in ("homogeneity", "background knowledge", "edges", "refinement", "prosecutor", "marketer"):
        assert name in line


def test_texts_of_the_table_do_not_control_the_terminal(tmp_path: Path) -> None:
    rows = [f"bad\x1b[2J{place},{'ab'[place % 2]}" for place in range(4) for _ in range(60)]
    (tmp_path / "table.csv").write_text("town\x1b[2J,ill\n" + "\n".join(rows) + "\n")
    (tmp_path / "policy.yaml").write_text('{k: 2, quasi: ["town\\x1b[2J"], sensitive: {ill: 1}}')
    code, out, _ = called(tmp_path, "--all")
    assert code == 0
    assert "\x1b" not in out
    assert "town\\x1b[2J" in out


def test_attacks_as_json(folder: Path) -> None:
    code, out, _ = called(folder, "--json", "--holdout", "1/3", "--seed", "3")
    found = json.loads(out)
    assert code == 0
    assert (found["internal"], found["members"], found["controls"]) == (True, 200, 100)
    names = [(one["name"], one["sensitive"]) for one in found["attacks"]]
    alone = ["homogeneity", "background knowledge", "skewness", "similarity", "learning"]
    assert names == [(name, about) for about in ("salary", "disease") for name in alone] + [
        ("background join", "disease"),
        ("background join", "salary"),
        ("edges", None),
        ("refinement", "salary"),
        ("refinement", "disease"),
        ("prosecutor", None),
        ("marketer", None),
    ]
    assert found["skipped"] == []
    for one in found["attacks"][:-4]:  # the last ones need no controls
        assert one["excess"] == pytest.approx(one["members"]["share"] - one["controls"]["share"])


def test_a_register_is_a_file_or_a_share_of_the_population(folder: Path) -> None:
    lines = called(folder, "--sampling", "1/50", "--all")[1].splitlines()
    assert any(
        line.startswith("Someone who knows a register of the population, 0.02 of whom are in the table,") for line in lines
    )
    assert any("In the population those of about " in line for line in lines)
    found = json.loads(called(folder, "--json", "--register", str(folder / "table.csv"))[1])["attacks"]
    risks = {one["name"]: one["members"]["share"] for one in found}
    assert 0 < risks["journalist"] == risks["marketer"] < 1 / 5
    code, _, err = called(folder, "--register", str(folder / "nothing.csv"))
    assert (code, err.startswith("Error: File")) == (2, True)


def test_the_screen_of_kept_columns(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY + "keep: [ward]\n")
    command = ["attack", str(folder / "table.csv"), "-p", str(tmp_path / "policy.yaml"), "--algorithm", "mondrian", "--all"]
    out = CliRunner().invoke(app, command).stdout
    assert "Someone who knows the quasi-identifiers of a person and their ward finds exactly one row that fits: true for" in out
    assert "  ward tells most: without it " in out
    assert "  For people who are not in the release that row is somebody else's, which the attacker cannot know." in out
    assert "  Lowered by: dropping or generalising ward." in out


def test_a_share_that_is_none(folder: Path) -> None:
    assert called(folder, "--holdout", "2")[0] == 2
    sentence = "Error: holdout must be a share of the persons between 0 and 1, as 1/10. Got '2'.\n"
    assert called(folder, "--holdout", "2")[2] == sentence
