"""The table that a command reads: standard input, tables of databases, sheets, and what may not be written."""

from __future__ import annotations

import io
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from tclose.cli import app
from tests.support.processes import GUARD, start
from tests.support.sources import SOURCES

TEXT = "age,salary\n23,3\n27,5\n31,4\n39,6\n"
POLICY = "k: 2\nquasi: [age]\nsensitive: {salary: 0.9}\n"


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY)
    return path


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which temporary files are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def run(*arguments: str | Path, given: str | bytes | None = None) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=given)


def test_standard_input_is_read_as_the_file_is(policy: Path, temporary: Path, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(TEXT)
    for data, given in (("-", TEXT), (tmp_path / "people.csv", None)):
        out = tmp_path / ("out" if given else "ref")
        out.mkdir()
        assert run("anonymize", data, "-p", policy, "-o", out / "release.csv", given=given).exit_code == 0
    for name in ("release.csv", "release.csv.certificate.json"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "ref" / name).read_bytes()
    result = run("audit", "-", "--quasi", "age", "--sensitive", "salary", given=TEXT)
    assert (result.exit_code, "standard input: 4 rows in 4 classes" in result.stdout) == (0, True)
    assert not list(temporary.glob("*/standard input.csv"))


def test_standard_input_that_is_no_csv(policy: Path, temporary: Path) -> None:
    for given, sentence in (("", "is empty"), (b"\xff\xfe\0", "is UTF-16"), ("age,salary\n", "has a header and no rows")):
        result = run("audit", "-", "-p", policy, given=given)
        assert result.exit_code == 2
        assert result.stderr.startswith(f"Error: File 'standard input.csv' {sentence}")
        assert not list(temporary.glob("*/standard input.csv"))


def test_a_terminal_is_not_waited_for(policy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tclose.cli.tables import table_of
    from tclose.errors import InputError

    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", terminal)
    with pytest.raises(InputError, match=r"^Standard input is a terminal\. Send a CSV there"), table_of(Path("-")):
        pass


def test_verify_takes_files_alone(tmp_path: Path) -> None:
    result = run("verify", "-", given=TEXT)
    assert (result.exit_code, result.stderr) == (
        2,
        "Error: A release is checked by its bytes, beside its certificate. Save it to a file, and name the file.\n",
    )


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to another process")
def test_standard_input_leaves_nothing_after_an_interrupt(policy: Path, temporary: Path) -> None:
    import os

    environment = {**os.environ, "TMPDIR": str(temporary)}
    process = start("-m", "tclose", "audit", "-", "-p", policy, stdin=subprocess.PIPE, env=environment)
    assert process.stdin is not None
    process.stdin.write(TEXT)
    process.stdin.flush()
    waited = time.monotonic()
    while not list(temporary.glob("*/standard input.csv")):  # it waits for more
        assert time.monotonic() - waited < GUARD
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=GUARD)
    assert (process.returncode, complaint, list(temporary.iterdir())) == (130, "Error: Interrupted.\n", [])


def test_a_table_of_a_database_and_a_sheet_on_the_command_line(policy: Path, tmp_path: Path) -> None:
    table = pa.table({"age": [23, 27, 31, 39], "salary": [3, 5, 4, 6]})
    database = SOURCES["SQLite file"](table, tmp_path)
    connection = sqlite3.connect(database)
    connection.execute("CREATE TABLE other (a)")
    connection.close()
    result = run("audit", f"{database}::people", "-p", policy, "--json")
    assert (result.exit_code, '"rows": 4' in result.stdout) == (1, True)
    result = run("audit", database, "-p", policy)
    assert (result.exit_code, result.stderr) == (
        2,
        "Error: File 'table.sqlite' has 2 tables: 'other', 'people'. Name one of them, as 'table.sqlite::other'.\n",
    )
    release = tmp_path / "release.csv"
    assert run("anonymize", f"{SOURCES['workbook'](table, tmp_path)}::Sheet", "-p", policy, "-o", release).exit_code == 0
    assert run("verify", release).exit_code == 0
    assert "is no release" in run("verify", tmp_path / "table.xlsx", "--certificate", f"{release}.certificate.json").stderr


def test_nothing_is_written_over_what_is_read(policy: Path, tmp_path: Path) -> None:
    table = pa.table({"age": [23, 27, 31, 39], "salary": [3, 5, 4, 6]})
    database = SOURCES["SQLite file"](table, tmp_path)
    result = run("audit", f"{database}::people", "-p", policy, "--classes", database, "--force")
    assert result.exit_code == 2
    folder = tmp_path / "parts"
    folder.mkdir()
    pq.write_table(table, folder / "a.parquet")
    result = run("anonymize", folder, "-p", policy, "-o", folder / "b.parquet")
    assert (result.exit_code, result.stderr) == (2, f"Error: Folder '{folder}' is read as an input. Write to another folder.\n")
    assert [path.name for path in folder.iterdir()] == ["a.parquet"]


@pytest.mark.usefixtures("temporary")
def test_attack_and_compare_take_standard_input_and_tables(policy: Path, tmp_path: Path) -> None:
    text = "age,salary\n" + "".join(f"{20 + row % 30},{row % 4}\n" for row in range(60))
    assert run("attack", "-", "-p", policy, "--algorithm", "mondrian", "--json", given=text).exit_code == 0
    table = pa.table({"age": [20 + row % 30 for row in range(60)], "salary": [row % 4 for row in range(60)]})
    database, record = SOURCES["DuckDB file"](table, tmp_path), tmp_path / "record.json"
    arguments = ("compare", f"{database}::people", "-p", policy, "--algorithms", "mondrian", "--t", "0.9", "--processes", "1")
    assert run(*arguments, "-o", record).exit_code == 0
    assert "::" not in record.read_text()
    again = run(*arguments, "-o", record)
    assert (again.exit_code, again.stderr) == (0, "")
