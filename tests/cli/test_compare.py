"""tclose compare: the screen, the CSV, and what is refused."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tclose.cli import app
from tclose.study.compare.cell import Cell, Result
from tclose.study.compare.comparison import Compared, Comparison
from tests.support.compared import figures

POLICY = "quasi: [age]\nsensitive: {ill: 0.2}\nk: 2\n"


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Arguments for a comparison whose result is known."""
    (tmp_path / "people.csv").write_text("age,ill\n1,flu\n")
    (tmp_path / "policy.yaml").write_text(POLICY)
    found = Comparison(
        [
            Result(Cell("growth", 0.2, 2, 0), "done", figures=figures(t=0.2, gcp=0.2)),
            Result(Cell("mondrian", 0.2, 2, 0), "done", figures=figures(t=0.2, gcp=0.5)),
            Result(Cell("sabre", 0.2, 2, 0), "refused", "It cannot."),
            Result(Cell("sabre", 0.1, 2, 0), "refused", "It cannot."),
        ],
        0.2,
        Compared(1200, 1000, 100, ["age"], ["ill"]),
    )
    monkeypatch.setattr("tclose.study.compare.compare.compare", lambda *_, **__: found)
    return ["compare", str(tmp_path / "people.csv"), "-p", str(tmp_path / "policy.yaml")]


def test_the_screen(given: list[str]) -> None:
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith("INTERNAL")
    assert lines[2].startswith("At t = 0.2, growth (k = 2) loses least")
    command = shlex.join(["tclose", "attack", *given[1:], "--all"])
    assert command in result.stdout
    assert [line.split()[:2] for line in lines if line.startswith("  mondrian ") and "0.500" in line] == [["mondrian", "0.2"]]
    assert next(line for line in lines if "0.2000" in line).startswith("* growth")
    assert "100 of 1,000 persons were held back at random" in " ".join(lines)
    assert "a release that anonymize makes of all of them has slightly different figures, GCP included." in " ".join(lines)
    assert "LM (loss metric): information loss" in result.stdout
    assert lines[-1] == "Not made, sabre at t = 0.2, sabre at t = 0.1: cannot: It cannot."


def test_the_screen_of_one_algorithm_marks_nothing_and_shows_shares(given: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [
        Result(
            Cell("growth", t, 2, 0), "done", figures=figures(t=t, gcp=gcp, share={"ill": t + 0.4}, share_in_table={"ill": 0.4})
        )
        for t, gcp in ((0.1, 0.4), (0.2, 0.2))
    ]
    monkeypatch.setattr("tclose.study.compare.compare.compare", lambda *_, **__: Comparison(cells, 0.2))
    lines = CliRunner().invoke(app, given).stdout.splitlines()
    assert not any(line.startswith("*") for line in lines)
    first = lines.index("Largest share of one value, or bin, in a class:")
    assert [line.split() for line in lines[first + 1 : first + 5]] == [
        ["algorithm", "t", "asked", "k", "ill"],
        ["growth", "0.1", "2", "50.0%"],
        ["growth", "0.2", "2", "60.0%"],
        ["in", "the", "table", "40.0%"],
    ]


def test_json_and_csv(given: list[str], tmp_path: Path) -> None:
    out = tmp_path / "cells.csv"
    result = CliRunner().invoke(app, [*given, "--json", "--csv", str(out)])
    assert json.loads(result.stdout)["internal"] is True
    assert out.read_text().splitlines()[1].startswith("growth,0.2,2,0,done")
    again = CliRunner().invoke(app, [*given, "--csv", str(out)])
    assert again.exit_code == 2
    assert again.stderr.endswith("cells.csv' exists. Give --force to replace it.\n")


def test_numbers_that_are_none(given: list[str]) -> None:
    result = CliRunner().invoke(app, [*given, "--k", "five"])
    assert result.exit_code == 2
    assert "--k must be whole numbers" in result.stderr
