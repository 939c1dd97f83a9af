"""The command line: what it prints, how it ends, and how it fails."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from typer.testing import CliRunner, Result

import tclose
from tclose.cli import app
from tclose.tables.readers import open_reader
from tclose.tables.table import open_table
from tests.support.demo import copy_demo

PEOPLE = "zip,age,salary\n" + "".join(
    f"{zip_code},{age},{salary}\n"
    for zip_code, age, salaries in (("476**", "2*", (3, 4, 5)), ("4790*", ">=40", (6, 8, 11)), ("476**", "3*", (7, 9, 10)))
    for salary in salaries
)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    return path


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def policy_file(folder: Path, text: str) -> Path:
    path = folder / "policy.yaml"
    path.write_text(text)
    return path


def row_of(result: Result, label: str) -> list[str]:
    """The cells of a table's row."""
    line = next(line for line in result.stdout.splitlines() if line.startswith(label))
    return re.split(r"  +", line.removeprefix(label).strip())


def test_a_policy_that_holds_ends_with_0(people: Path, tmp_path: Path) -> None:
    result = run("audit", people, "-p", policy_file(tmp_path, "quasi: [zip, age]\nsensitive: {salary: 3/8}\nk: 3\n"))
    assert result.exit_code == 0
    assert "9 rows in 3 classes" in result.stdout
    assert "0.3750" in result.stdout
    assert "The policy is satisfied for these quasi-identifiers; this is not a legal determination." in result.stdout


def test_a_policy_that_does_not_hold_ends_with_1_and_names_classes(people: Path, tmp_path: Path) -> None:
    result = run("audit", people, "-p", policy_file(tmp_path, "quasi: [zip, age]\nsensitive: {salary: 0.2}\nk: 4\n"))
    assert result.exit_code == 1
    assert result.stdout.startswith("The policy is not satisfied. 3 of 3 classes break a limit, with 9 of 9 rows.\n")
    assert row_of(result, "k, rows in the smallest class") == ["3", "4 or more", "3 classes"]
    assert row_of(result, "t of salary: distance from the table") == ["0.3750", "0.2 or less", "2 classes"]
    assert (
        "The smallest class, and the farthest from the table in salary: zip 476**, age 2*; 3 rows. It breaks k and t of salary."
        in result.stdout
    )


def test_measuring_without_limits_ends_with_0(people: Path) -> None:
    result = run("audit", people, "--quasi", "zip,age", "--sensitive", "salary")
    assert result.exit_code == 0
    assert "No limit was asked for" in result.stdout


def test_one_of_a_kind_is_not_many(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("age,salary\n1,2\n")
    policy = policy_file(tmp_path, "quasi: [age]\nsensitive: [salary]\nk: 2\n")
    result = run("audit", table, "-p", policy)
    head = "The policy is not satisfied. 1 of 1 class breaks a limit, with 1 of 1 row.\ntable.csv: 1 row in 1 class. "
    assert result.stdout.startswith(head)
    assert row_of(result, "k, rows in the smallest class") == ["1", "2 or more", "1 class"]
    assert "The smallest class, and the farthest from the table in salary: age 1; 1 row. It breaks k.\n" in result.stdout
    assert repr(tclose.audit(table, tclose.Policy.load(policy))).startswith("<Audit: 1 row in 1 class, k=1;")
    refused = run("anonymize", table, "-p", policy, "-o", tmp_path / "release.csv")
    assert refused.stderr == "Error: The table has 1 row: k=2 cannot be satisfied. Choose a smaller k.\n"
    policy.write_text("quasi: [age]\nsensitive: {salary: 0.5}\nk: 1\n")
    made = run("anonymize", table, "-p", policy, "-o", tmp_path / "release.csv")
    assert "\nrelease.csv: 1 row in 1 class, none suppressed; each row is taken for a person\n" in made.stdout
    assert "\n1 of 1 row is unique when all published columns are taken together" in made.stdout


def test_json_is_the_contract(people: Path) -> None:
    found = json.loads(run("audit", people, "--quasi", "zip", "--quasi", "age", "--sensitive", "salary", "--json").stdout)
    assert list(found) == [
        "rows",
        "classes",
        "k",
        "k_persons",
        "satisfied",
        "homogeneous",
        "sensitive",
        "joint",
        "violations",
        "readings",
    ]
    salary = found["sensitive"]["salary"]
    promised = "distance t t_exact limit worst_class l_distinct l_entropy c_recursive beta delta lift share"
    assert set(promised.split()) <= set(salary)
    assert (salary["t"], salary["t_exact"], salary["limit"], salary["worst_class"]) == (0.375, "3/8", None, 0)
    assert (salary["delta"], salary["delta_unbounded"]) == (None, True)


def test_a_column_with_a_comma_in_its_name_is_quoted(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text('"age, in years",salary\n1,2\n1,3\n')
    result = run("audit", table, "--quasi", '"age, in years"', "--sensitive", "salary", "--json")
    assert json.loads(result.stdout)["classes"] == 1


def test_the_listing_has_a_row_a_class(people: Path, tmp_path: Path) -> None:
    policy = policy_file(tmp_path, "quasi: [zip, age]\nsensitive: {salary: 0.2}\n")
    listing = tmp_path / "classes.csv"
    assert run("audit", people, "-p", policy, "--classes", listing).exit_code == 1
    rows = list(csv.DictReader(listing.read_text().splitlines()))
    assert [(row["class"], row["zip"], row["age"], row["rows"]) for row in rows] == [
        ("0", "476**", "2*", "3"),
        ("1", "476**", "3*", "3"),
        ("2", "4790*", ">=40", "3"),
    ]
    assert [row["breaks"] for row in rows] == ["t of salary", "t of salary", ""]
    assert list(tmp_path.glob(".*")) == []


def test_a_repeated_identifier_is_a_warning_on_stderr(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("person,age,salary\na,1,2\na,1,3\nb,1,4\n")
    result = run("audit", table, "-p", policy_file(tmp_path, "quasi: [age]\nsensitive: [salary]\nidentifiers: [person]\n"))
    assert result.exit_code == 0
    assert result.stderr == (
        "Warning: Identifiers repeat: 'person' has 2 values in 3 rows. k is given in rows, and in persons as 'person' names them. "
        "Set unit to the column that names a person, or unit: row if each row is one.\n"
    )


def test_a_fault_of_ours_ends_with_3_and_one_sentence(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("a raw value of the table")

    monkeypatch.setattr("tclose.judge.audit.audit", broken)
    result = run("audit", people, "--quasi", "zip", "--sensitive", "salary")
    assert result.exit_code == 3
    assert result.stderr.startswith("Error: tclose has a fault: KeyError in ")
    assert "raw value" not in result.output
    assert len(result.stderr.strip().splitlines()) == 1


def test_version_help_and_no_arguments() -> None:
    assert run("--version").stdout == f"tclose {tclose.__version__}\n"
    assert run().stdout == run("--help").stdout
    assert run("audit", "--help").exit_code == 0
    assert "Examples:" in run("audit", "--help").stdout


@pytest.mark.parametrize("command", ["algorithms", "schema"])
def test_lists_that_nobody_reads_or_that_cannot_be_printed(command: str) -> None:
    arguments = [sys.executable, "-m", "tclose", command]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.close()
    assert (process.communicate()[1], process.returncode) == ("", 0)
    if Path("/dev/full").exists():
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert (done.returncode, done.stderr) == (2, "Error: The output cannot be written: No space left on device.\n")


def test_schema_is_json() -> None:
    assert json.loads(run("schema").stdout)["required"] == ["quasi", "sensitive"]


def test_help_loads_no_engine() -> None:
    # What keeps `tclose --help` fast: nothing heavy is imported to print it.
    code = (
        "import sys\nfrom tclose.cli import app\ntry:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(sorted({'numpy', 'pyarrow', 'ibis', 'duckdb', 'numba', 'pydantic', 'networkx'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_installed_command_ends_as_the_app_does(people: Path) -> None:
    command = [sys.executable, "-c", "from tclose.cli import main; main()", "audit", str(people), "--quasi", "zip"]
    done = subprocess.run([*command, "--sensitive", "celary"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Error: Column 'celary' is not in the table. Did you mean 'salary'?\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send to one process")
def test_ctrl_c_ends_with_130(people: Path) -> None:
    # The signal comes from inside, while the table is counted: no clock decides what is tested.
    code = (
        "import os, signal, sys\nimport tclose.tables.table as table\nfrom tclose.cli import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # not so where the tests run in the background
        "table.Cells = lambda *_: os.kill(os.getpid(), signal.SIGINT)\nmain()"
    )
    command = [sys.executable, "-c", code, "audit", str(people), "--quasi", "age", "--sensitive", "salary"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Error: Interrupted.\n")


NOTICED = (RuntimeError("Query interrupted"), duckdb.Error("KeyboardInterrupt: <EMPTY MESSAGE>"), duckdb.Error("INTERRUPT Error"))


@pytest.mark.parametrize("noticed", NOTICED, ids=str)
def test_a_query_that_is_interrupted_is_an_interruption(noticed: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise noticed

    table = open_table(open_reader(pa.table({"q": [1]})), {"q": "auto"})
    with pytest.raises(KeyboardInterrupt), table._engine._asking_safely():  # type: ignore[attr-defined]
        interrupted()
    monkeypatch.setattr("tclose.tables.duckdb._hide_progress", interrupted)  # while the engine starts
    with pytest.raises(KeyboardInterrupt):
        open_table(open_reader(pa.table({"q": [1]})), {"q": "auto"})


@pytest.mark.parametrize(("t", "code"), [("3/8", 0), ("0.2", 1)])
def test_a_reader_who_leaves_does_not_change_the_verdict(people: Path, tmp_path: Path, t: str, code: int) -> None:
    policy = policy_file(tmp_path, f"quasi: [zip, age]\nsensitive: {{salary: {t}}}\n")
    command = [sys.executable, "-m", "tclose", "audit", str(people), "-p", str(policy)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.close()
    _, complaint = process.communicate()
    assert (process.returncode, complaint) == (code, "")


def test_demo_leaves_the_files_of_others_alone(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("mine")
    result = run("demo", "--folder", tmp_path)
    assert result.exit_code == 2
    assert (tmp_path / "policy.yaml").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["policy.yaml"]
    (tmp_path / "policy.yaml").unlink()
    for name in ("release.csv", "release.csv.codebook.md"):
        (tmp_path / name).write_text("mine")
        result = run("demo", "--folder", tmp_path)
        assert (result.exit_code, result.stderr) == (2, f"Error: File '{tmp_path / name}' exists. Give --force to replace it.\n")
        assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {name: "mine"}
        (tmp_path / name).unlink()


def test_demo_table_is_as_promised(tmp_path: Path) -> None:
    copy_demo(tmp_path)
    rows = list(csv.DictReader((tmp_path / "hospital.csv").read_text().splitlines()))
    assert len(rows) == 10_000
    patients = {row["patient"] for row in rows}
    assert 5_000 < len(patients) < 8_000  # several visits each
    for column in ("name", "age", "sex", "zip", "profession", "marital"):  # what is the patient's does not change
        assert len({(row["patient"], row[column]) for row in rows}) == len(patients)
    assert len({(row["diagnosis"], row["icd10"]) for row in rows}) == len({row["icd10"] for row in rows}) == 21
    assert {row["admitted"][:4] for row in rows} == {"2025"}
    old = [row["diagnosis"] for row in rows if int(row["age"]) > 70]
    young = [row["diagnosis"] for row in rows if int(row["age"]) < 30]
    assert old.count("heart failure") / len(old) > 5 * young.count("heart failure") / len(young)  # correlated as in life
