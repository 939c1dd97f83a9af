"""Names of files that commands write: a folder is refused in one sentence before any work, however its name is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tclose.cli import app

OUTPUTS = [
    ("report", "people.csv", "-o", "x.html"),
    ("compare", "people.csv", "-p", "policy.yaml", "-o", "x.json"),
    ("compare", "people.csv", "-p", "policy.yaml", "--csv", "x.csv"),
    ("compare", "people.csv", "-p", "policy.yaml", "--html", "x.html"),
    ("audit", "people.csv", "-p", "policy.yaml", "--html", "x.html"),
    ("audit", "people.csv", "-p", "policy.yaml", "--classes", "x.csv"),
    ("anonymize", "people.csv", "-p", "policy.yaml", "-o", "x.csv"),
    ("anonymize", "people.csv", "-p", "policy.yaml", "-o", "release.csv", "--report", "x.html"),
]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("age,ill\n1,flu\n2,cold\n")
    (tmp_path / "policy.yaml").write_text("quasi: [age]\nsensitive: {ill: 0.5}\nk: 2\n")


@pytest.mark.parametrize("given", OUTPUTS, ids=[" ".join((one[0], one[-2])) for one in OUTPUTS])
def test_a_folder_is_not_written_to(given: tuple[str, ...], tmp_path: Path) -> None:
    *command, name = given
    before = sorted(tmp_path.iterdir())
    for written in (f"{name}/", f"{name}/.", f"{name}//"):
        done = CliRunner().invoke(app, [*command, written])
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr == f"Error: {written!r} names no file. Name a file, not a folder.\n"
    assert sorted(tmp_path.iterdir()) == before
    (tmp_path / name).mkdir()
    done = CliRunner().invoke(app, [*command, name])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"Error: {name!r} is a folder. Name a file in it.\n"
    assert not list((tmp_path / name).iterdir())


@pytest.mark.parametrize(
    "others", [("--csv", "one.json"), ("--csv", "x.html", "--html", "x.html"), ("--csv", "policy.yaml", "--force")]
)
def test_a_comparison_does_not_write_two_things_to_one_file(others: tuple[str, ...], tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    done = CliRunner().invoke(app, ["compare", "people.csv", "-p", "policy.yaml", "-o", "one.json", *others])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Choose another name." in done.stderr
    assert sorted(tmp_path.iterdir()) == before
