"""tclose attack: its screen, its JSON and its errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tclose.cli import app
from tests.support.processes import write_people

POLICY = """\
k: 5
identifiers: [id]
quasi: {age: {}, zip: {hierarchy: prefixes}}
sensitive: {salary: 0.3, disease: 0.3}
other: drop
"""


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
    assert lines[0] == "INTERNAL: measured with the raw table. Do not publish this."
    assert lines[1].startswith("table.csv: a release of 270 persons in ")
    assert lines[1].endswith("; 30 persons who are not in it are the controls.")
    table = [line for line in lines if line.startswith("background join")]
    assert len(table) == 2
    assert any(line.startswith("Someone who knows the quasi-identifiers of a person and their salary guesses") for line in lines)
    assert any(line.startswith("  Alone at an end of their class by raw value, whatever is published: ") for line in lines)
    assert sum("Lowered by: " in line for line in lines) >= 4
    assert sorted(path.name for path in folder.iterdir()) == ["policy.yaml", "table.csv"]  # nothing is written


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
    lines = called(folder, "--sampling", "1/50")[1].splitlines()
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
    command = ["attack", str(folder / "table.csv"), "-p", str(tmp_path / "policy.yaml"), "--algorithm", "mondrian"]
    out = CliRunner().invoke(app, command).stdout
    assert "Someone who knows the quasi-identifiers of a person and their ward finds exactly one row that fits: true for" in out
    assert "  ward tells most: without it " in out
    assert "  For people who are not in the release that row is somebody else's, which the attacker cannot know." in out
    assert "  Lowered by: dropping or generalising ward." in out


def test_a_share_that_is_none(folder: Path) -> None:
    assert called(folder, "--holdout", "2")[0] == 2
    sentence = "Error: holdout must be a share of the persons between 0 and 1, as 1/10. Got '2'.\n"
    assert called(folder, "--holdout", "2")[2] == sentence
