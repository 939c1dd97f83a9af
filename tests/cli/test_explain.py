"""tclose explain: what it shows, its exit codes, and its JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tclose.cli import app

ROWS = "".join(f"476,{disease}\n" for disease in ["flu"] * 3 + ["gout"]) + "".join(
    f"479,{disease}\n" for disease in ["gout"] * 3 + ["flu"]
)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["explain", *map(str, arguments)])


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "visits.csv"
    path.write_text("zip,disease\n" + ROWS)
    return path


def policy(table: Path, limits: str) -> Path:
    path = table.parent / "policy.yaml"
    path.write_text(f"quasi: [zip]\n{limits}\n")
    return path


def test_the_screen_names_classes_values_moves_and_what_would_help(table: Path) -> None:
    result = run(table, "-p", policy(table, "k: 2\nsensitive: {disease: 0.1}"))
    assert (result.exit_code, result.stderr) == (1, "")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("INTERNAL: ")
    assert lines[1] == "visits.csv: The policy is not satisfied: 2 of 2 classes break a limit, with 8 of 8 rows."
    assert "1. zip 476; 4 rows. It breaks t of disease: 0.2500, where at most 0.1 is asked." in lines
    assert "   Too much: in this class 75% have disease flu, in the table 50%." in lines
    assert "   Too little: in this class 25% have disease gout, in the table 50%." in lines
    assert "   To be like the table it would move 25% from flu to gout (0.2500): in all 0.2500, its distance." in lines
    assert any(line.startswith("t of disease: 0.25 instead of 0.1") for line in lines)
    assert any(line.startswith("zip as one value") for line in lines)
    assert len(lines) < 25


@pytest.mark.parametrize("width", [80, 100])
def test_what_would_help_can_be_read_in_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """Seven sensitive columns, and people that are nearly all alone: no other limit helps alone, and no word is cut."""
    names = [f"sensitive-number-{number}" for number in range(7)]
    rows: list[list[int]] = [
        [20 + row % 40, row * 7 % 50, *(row * (number + 3) % 11 for number in range(7))] for row in range(200)
    ]
    path = tmp_path / "people.csv"
    path.write_text("\n".join([",".join(["age", "height", *names]), *(",".join(map(str, row)) for row in rows)]))
    for name, value in (("TTY_COMPATIBLE", "1"), ("TERM", "xterm"), ("NO_COLOR", "1"), ("COLUMNS", str(width))):
        monkeypatch.setenv(name, value)
    sensitive = ", ".join(f"{name}: 0.1" for name in names)
    (tmp_path / "policy.yaml").write_text(f"quasi: [age, height]\nsensitive: {{{sensitive}}}\nk: 5\n")
    said = re.sub(r"\x1b\[[0-9;]*m", "", run(path, "-p", tmp_path / "policy.yaml").stdout)
    lines = said.partition("What would help")[2].splitlines()[1:]
    table = lines[: next(number for number, line in enumerate(lines) if line.startswith("None of these helps alone: "))]
    assert "largest t" in table[0]
    assert "…" not in said
    assert max(map(len, said.splitlines())) <= width
    assert len(table) <= 1 + 2 * sum(line.rstrip()[-1:].isdigit() for line in table)  # two lines for a change, at most
    useless = " ".join(" ".join(lines[len(table) :]).split()).partition("alone: ")[2]
    assert all(f"t of {name}: " in useless for name in names)
    assert not any("t of" in line for line in table)


def test_a_table_that_satisfies_its_policy_exits_with_0(table: Path) -> None:
    result = run(table, "-p", policy(table, "k: 2\nsensitive: {disease: 0.5}"), "-n", "1")
    assert result.exit_code == 0
    assert "The policy is satisfied: of 8 rows in 2 classes none breaks a limit." in result.stdout
    assert "What would help" not in result.stdout


def test_a_policy_that_no_release_can_satisfy(table: Path) -> None:
    result = run(table, "-p", policy(table, "k: 9\nsensitive: {disease: {l: 2}}"))
    assert result.exit_code == 1
    assert "No release of this table can satisfy the policy. The table has 8 rows: k=9 cannot be satisfied." in result.stdout
    assert "  k: 8 instead of 9" in result.stdout.splitlines()


def test_json_is_one_object(table: Path) -> None:
    result = run(table, "-p", policy(table, "k: 2\nsensitive: {disease: 0.1}"), "--json")
    assert result.exit_code == 1
    facts = json.loads(result.stdout)
    assert facts["internal"] is True
    assert [one["class"] for one in facts["classes"]] == [0, 1]


@pytest.mark.parametrize(("options", "words"), [(["-n", "0"], "-n"), ([], "nowhere.csv")])
def test_bad_input_is_one_sentence(table: Path, options: list[str], words: str) -> None:
    path = table if options else table.parent / "nowhere.csv"
    result = run(path, "-p", policy(table, "k: 2\nsensitive: {disease: 0.1}"), *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: ")
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1
