"""tclose apply: its screen, its files and its errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tclose.cli import app

POLICY = "quasi: [age]\nsensitive: {salary: 0.05}\nk: 4\nidentifiers: [name]\n"


def rows(ages: list[int], salaries: list[int], name: str) -> str:
    lines = [f"{age},{salary},{name}{number}" for number, (age, salary) in enumerate(zip(ages, salaries, strict=True))]
    return "\n".join(["age,salary,name", *lines, ""])


def called(*arguments: object) -> tuple[int, str, str]:
    found = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return found.exit_code, found.stdout, found.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("apply")
    (folder / "may.csv").write_text(rows([21, 22, 23, 24] * 5 + [41, 42, 43, 44] * 5, [3, 4, 5, 6] * 10, "May"))
    (folder / "june.csv").write_text(rows([21, 22, 23, 24, 41, 70], [3, 4, 5, 6, 4, 5], "June"))
    (folder / "policy.yaml").write_text(POLICY)
    assert called("anonymize", folder / "may.csv", "-p", folder / "policy.yaml", "-o", folder / "release.csv")[0] == 0
    return folder


def apply(folder: Path, *more: object) -> tuple[int, str, str]:
    return called("apply", folder / "release.csv.private.json", *more)


def test_the_screen(folder: Path, tmp_path: Path) -> None:
    code, told, _ = apply(folder, folder / "june.csv", "--people", folder / "may.csv", "-o", tmp_path / "june.csv")
    assert code == 0
    assert "4 of 6 new rows added, in 1 class." in told
    assert "Not added: 1 that no published class stands for; 1 with which a limit would be broken." in told
    assert "May" not in told
    assert "June" not in told
    assert called("verify", tmp_path / "june.csv")[0] == 0


def test_nothing_is_written_where_no_row_can_be_added(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "july.csv").write_text(rows([21], [3], "July"))
    code, _, told = apply(folder, tmp_path / "july.csv", "--people", folder / "may.csv", "-o", tmp_path / "out.csv")
    assert (code, told) == (1, "Error: No row was added, and nothing is written: 1 with which a limit would be broken.\n")
    assert not (tmp_path / "out.csv").exists()


def test_people_must_be_given_and_are_refused(folder: Path, tmp_path: Path) -> None:
    code, _, told = apply(folder, folder / "may.csv", "-o", tmp_path / "out.csv")
    assert code == 2
    assert "--people" in told
    code, _, told = apply(folder, folder / "may.csv", "--people", folder / "may.csv", "-o", tmp_path / "out.csv")
    assert (code, "40 of persons who are in the release already" in told) == (1, True)


def test_a_file_that_exists_is_not_replaced(folder: Path) -> None:
    given = (folder / "june.csv", "--people", folder / "may.csv", "-o", folder / "release.csv")
    assert apply(folder, *given)[0] == 2
    assert apply(folder, *given, "--force")[0] == 2  # what it is made from
