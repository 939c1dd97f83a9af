"""The command line of a release: what it writes, what it prints, how it ends; and that an audit agrees with it."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

import tclose as tc
from tclose.cli import app
from tclose.cli.screen import stages
from tclose.jobs import announce, report

pytestmark = pytest.mark.usefixtures("warm")

COMMANDS = (
    "init",
    "audit",
    "explain",
    "anonymize",
    "verify",
    "report",
    "attack",
    "compare",
    "apply",
    "hierarchy",
    "algorithms",
    "schema",
    "warmup",
    "demo",
)
ENDINGS = ("", ".certificate.json", ".private.json", ".codebook.md")
ROWS = 300
LIMITS = "k: 5\nidentifiers: [id, name]\nsensitive: {salary: 0.4, disease: {t: 0.4, l: 2}}\n"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of people with a unique identifier, and names that would be noticed anywhere."""
    rng = np.random.default_rng(5)
    path = tmp_path_factory.mktemp("people") / "people.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "name", "age", "height", "zip", "day", "town", "ward", "salary", "disease"])
        for number in range(ROWS):
            writer.writerow(
                [
                    f"P{number:05d}",
                    f"Xanthippe-{number}",
                    int(rng.integers(18, 99)),
                    f"{rng.integers(150, 200) / 100:.2f}",
                    f"476{rng.integers(0, 30):02d}",
                    np.datetime64("2023-11-01") + int(rng.integers(0, 200)),
                    str(rng.choice(["Aachen", "Bonn", "Calw", "Düren"])),
                    f"W{rng.integers(0, 4)}",
                    int(rng.integers(10, 60)) * 100,
                    str(rng.choice(["flu", "cold", "ulcer"])),
                ]
            )
    return path


def policy_of(folder: Path, quasi: str, more: str = "other: drop\n", name: str = "policy.yaml") -> Path:
    path = folder / name
    path.write_text(f"{LIMITS}quasi: {quasi}\n{more}")
    return path


def column(path: Path, name: str) -> list[str]:
    with path.open(newline="") as file:
        return [row[name] for row in csv.DictReader(file)]


# anonymize -------------------------------------------------------------------------------------------------------------------


def test_a_release_and_its_papers(people: Path, tmp_path: Path) -> None:
    policy, out = policy_of(tmp_path, "[age, town]", "other: drop\nkeep: [ward]\n"), tmp_path / "release.csv"
    result = run("anonymize", people, "-p", policy, "-o", out)
    assert (result.exit_code, result.stderr) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["policy.yaml", *(f"release.csv{end}" for end in ENDINGS)])
    verdict = "The policy is satisfied for these quasi-identifiers; this is not a legal determination."
    assert result.stdout.startswith(f"{verdict}\nrelease.csv: 300 rows in ")
    lines = [line.split(maxsplit=1) for line in result.stdout.splitlines()[-7:-3]]
    notes = ["the release", "public: what was asked and attained", "INTERNAL: never publish it", "public: what each column holds"]
    assert lines == [[f"{out}{end}", note] for end, note in zip(ENDINGS, notes, strict=True)]

    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert len(rows) == ROWS
    assert list(rows[0]) == ["age", "town", "ward", "salary", "disease"]
    told = json.loads((tmp_path / "release.csv.certificate.json").read_text())
    assert (told["rows"], told["row_order"], told["attained"]["k"] >= 5) == (ROWS, "sorted", True)
    kept = json.loads((tmp_path / "release.csv.private.json").read_text())
    assert (kept["algorithm"], kept["seed"], kept["suppressed"]) == ("growth", 0, 0)
    assert "| age | quasi |" in (tmp_path / "release.csv.codebook.md").read_text()


def test_nothing_of_an_identifier_is_printed_or_published(people: Path, tmp_path: Path) -> None:
    policy = policy_of(tmp_path, "[age, zip]", "other: drop\nkeep: [ward]\n")
    shown = ""
    for arguments in (
        ("anonymize", people, "-p", policy, "-o", tmp_path / "release.csv", "--keep-order"),
        ("verify", tmp_path / "release.csv", "--certificate", tmp_path / "release.csv.certificate.json"),
        ("audit", tmp_path / "release.csv", "-p", policy),
        ("anonymize", people, "-p", policy, "-o", tmp_path / "release.csv"),
        ("anonymize", people, "-p", policy_of(tmp_path, "[age]", "other: keep\n", "keep.yaml"), "-o", tmp_path / "other.csv"),
        (
            "anonymize",
            people,
            "-p",
            policy_of(tmp_path, "[day]", "other: keep\ndrop: [age]\n", "day.yaml"),
            "-o",
            tmp_path / "other.csv",
        ),
    ):
        result = run(*arguments)
        shown += result.stdout + result.stderr
    published = "".join((tmp_path / f"release.csv{end}").read_text() for end in ENDINGS)
    for secret in ("Xanthippe", "P00", "P01"):
        assert secret not in shown
        assert secret not in published


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow"])
def test_each_kind_of_file(people: Path, tmp_path: Path, suffix: str) -> None:
    policy, out = policy_of(tmp_path, "[age, town]"), tmp_path / f"release{suffix}"
    assert run("anonymize", people, "-p", policy, "-o", out).exit_code == 0
    certificate = tmp_path / f"release{suffix}.certificate.json"
    assert run("verify", out, "--certificate", certificate).exit_code == 0
    assert run("audit", out, "-p", policy).exit_code == 0
    if suffix == ".parquet":
        table = pq.read_table(out)
        assert (table.schema.metadata, table["salary"].type) == (None, pa.int64())
        assert table.num_rows == ROWS
    if suffix == ".arrow":
        table = pa.ipc.open_file(out).read_all()
        assert table.column_names == ["age", "town", "salary", "disease"]


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".tsv"])
def test_each_kind_of_input_gives_the_same_release(people: Path, tmp_path: Path, suffix: str) -> None:
    policy, table = policy_of(tmp_path, "{age: , zip: {type: text}, town: }"), pd.read_csv(people, dtype={"zip": str})
    other = tmp_path / f"people{suffix}"
    if suffix == ".parquet":
        table.to_parquet(other)
    elif suffix == ".arrow":
        arrow = pa.Table.from_pandas(table)
        with pa.ipc.new_file(other, arrow.schema) as sink:
            sink.write_table(arrow)
    else:
        table.to_csv(other, sep="\t", index=False)
    for source, name in ((people, "one.csv"), (other, "two.csv")):
        assert run("anonymize", source, "-p", policy, "-o", tmp_path / name).exit_code == 0
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_seed_and_order_of_rows_do_not_matter_to_mondrian(people: Path, tmp_path: Path) -> None:
    policy = policy_of(tmp_path, "[age, zip]")
    header, *lines = people.read_text().splitlines()
    shuffled = tmp_path / "shuffled.csv"
    shuffled.write_text("\n".join([header, *lines[::-1]]) + "\n")
    runs = (("one.csv", people, "0"), ("two.csv", people, "7"), ("three.csv", shuffled, "0"))
    more = ("--algorithm", "mondrian", "--effort", "fast")
    for name, table, seed in runs:
        assert run("anonymize", table, "-p", policy, "-o", tmp_path / name, "--seed", seed, *more).exit_code == 0
    assert len({(tmp_path / name).read_bytes() for name, _, _ in runs}) == 1
    assert [json.loads((tmp_path / f"{name}.private.json").read_text())["seed"] for name, _, _ in runs] == [0, 7, 0]
    assert json.loads((tmp_path / "two.csv.private.json").read_text())["effort"] == "fast"
    assert "seed" not in (tmp_path / "two.csv.certificate.json").read_text()


def test_keep_order_warns_and_is_recorded(people: Path, tmp_path: Path) -> None:
    policy, out = policy_of(tmp_path, "[age]"), tmp_path / "release.csv"
    result = run("anonymize", people, "-p", policy, "-o", out, "--keep-order")
    assert result.exit_code == 0
    assert result.stderr == (
        "Warning: The rows are in the order of the input, which may give people away: anyone who knows the order knows the rows.\n"
    )
    assert column(out, "salary") == column(people, "salary")
    assert json.loads((tmp_path / "release.csv.certificate.json").read_text())["row_order"] == "input"


def test_a_kept_column_that_tells_a_quasi_identifier_is_told_before_the_verdict(people: Path, tmp_path: Path) -> None:
    table, policy = tmp_path / "table.csv", policy_of(tmp_path, "[age]", "drop: [day, height]\nother: keep\n")
    lines = people.read_text().splitlines()
    decades = [f"{line.split(',')[2][0]}x" for line in lines[1:]]
    table.write_text(
        "\n".join([f"{lines[0]},decade", *(f"{line},{decade}" for line, decade in zip(lines[1:], decades, strict=True))])
    )
    result = run("anonymize", table, "-p", policy, "-o", tmp_path / "release.csv")
    assert result.exit_code == 0
    assert result.stderr == (
        "Warning: Column 'decade' is published as it is, and nearly tells the quasi-identifier 'age': with it, the ranges and groups "
        "of the classes hide little. Name 'decade' in drop, or in quasi.\n"
    )
    assert result.output.startswith("Warning: ")


def test_an_existing_release_is_replaced_by_force(people: Path, tmp_path: Path) -> None:
    policy, out = policy_of(tmp_path, "[age]"), tmp_path / "release.csv"
    assert run("anonymize", people, "-p", policy, "-o", out).exit_code == 0
    first = out.read_bytes()
    policy.write_text(policy.read_text().replace("k: 5", "k: 20"))
    again = run("anonymize", people, "-p", policy, "-o", out)
    exists = "exists. Give --force to replace it. Nothing was written"
    assert (again.exit_code, again.stderr) == (2, f"Error: File '{out}' {exists}.\n")
    page = tmp_path / "report.html"
    page.write_text("older")
    again = run("anonymize", people, "-p", policy, "-o", out, "--report", page)
    assert (again.exit_code, again.stderr) == (2, f"Error: File '{page}' {exists}: 'release.csv' is an earlier release.\n")
    assert out.read_bytes() == first
    assert run("anonymize", people, "-p", policy, "-o", out, "--force").exit_code == 0
    assert out.read_bytes() != first
    assert run("verify", out, "--certificate", tmp_path / "release.csv.certificate.json").exit_code == 0


def test_faults_of_the_inputs_are_told_before_a_file_that_exists(people: Path, tmp_path: Path) -> None:
    out = tmp_path / "release.csv"
    out.write_text("older")
    exists = f"Error: File '{out}' exists. Give --force to replace it. Nothing was written.\n"
    for table, quasi, more, sentence in (
        (
            tmp_path / "peple.csv",
            "[age]",
            "other: drop\n",
            f"Error: File '{tmp_path / 'peple.csv'}' does not exist. Check its path.\n",
        ),
        (people, "[aje]", "other: drop\n", "Error: Column 'aje' is not in the table. Did you mean 'age'?\n"),
        (people, "[age]", "unit: person\nother: drop\n", "Error: Column 'person', which unit names, is not in the table.\n"),
        (people, "[age]", "other: drop\n", exists),
    ):
        result = run("anonymize", table, "-p", policy_of(tmp_path, quasi, more), "-o", out)
        assert (result.exit_code, result.stdout, result.stderr) == (2, "", sentence)
    assert out.read_text() == "older"
    absent = tmp_path / "peple.csv"
    assert run("init", absent, "-o", out).stderr == f"Error: File '{absent}' does not exist. Check its path.\n"
    assert run("init", people, "-o", out).stderr == exists.replace(" Nothing was written.", "")


def test_suppression_is_shown_and_told_in_private_only(people: Path, tmp_path: Path) -> None:
    policy, out = policy_of(tmp_path, "[age]", "other: drop\nalpha: 0.34\nsuppression: 0.2\n"), tmp_path / "release.csv"
    result = run("anonymize", people, "-p", policy, "-o", out)
    assert result.exit_code == 0
    left_out = ROWS - len(column(out, "age"))
    assert 0 < left_out <= 0.2 * ROWS
    assert f"{left_out} rows suppressed" in result.stdout
    assert json.loads((tmp_path / "release.csv.private.json").read_text())["suppressed"] == left_out
    assert "suppress" not in (tmp_path / "release.csv.certificate.json").read_text()
    assert run("verify", out, "--certificate", tmp_path / "release.csv.certificate.json").exit_code == 0


def test_persons_are_counted_where_a_unit_names_them(people: Path, tmp_path: Path) -> None:
    policy, out = tmp_path / "policy.yaml", tmp_path / "release.csv"
    policy.write_text("k: 3\nunit: zip\nquasi: [age, ward]\nsensitive: {salary: 0.5}\nother: drop\n")
    result = run("anonymize", people, "-p", policy, "-o", out)
    assert result.exit_code == 0
    assert "k, persons in the smallest class" in result.stdout
    assert "The limits are about one row of a person: who knows several of their rows can combine the classes." in result.stdout
    assert "zip" not in out.read_text().splitlines()[0]
    kept = json.loads((tmp_path / "release.csv.private.json").read_text())
    assert kept["policy"]["unit"] == "zip"
    assert run("verify", out, "--certificate", tmp_path / "release.csv.certificate.json").exit_code == 0


def test_formulas_are_guarded_unless_the_policy_says_otherwise(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("age,link,salary\n" + "".join(f"{20 + i},=A{i % 2},{i % 3}\n" for i in range(12)))
    for guard, cell in (("true", "'=A0"), ("false", "=A0")):
        policy = tmp_path / "policy.yaml"
        policy.write_text(f"k: 3\nquasi: [age]\nsensitive: [salary]\nkeep: [link]\nformula_guard: {guard}\n")
        assert run("anonymize", table, "-p", policy, "-o", tmp_path / f"{guard}.csv").exit_code == 0
        assert cell in column(tmp_path / f"{guard}.csv", "link")
        done = run("verify", tmp_path / f"{guard}.csv", "--certificate", tmp_path / f"{guard}.csv.certificate.json")
        assert done.exit_code == 0


def test_a_reader_who_leaves_does_not_undo_a_release(people: Path, tmp_path: Path) -> None:
    policy, out = policy_of(tmp_path, "[age]"), tmp_path / "release.csv"
    command = [sys.executable, "-m", "tclose", "anonymize", str(people), "-p", str(policy), "-o", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.close()
    _, complaint = process.communicate()
    assert (process.returncode, complaint) == (0, "")
    assert out.exists()


# A release is audited with the policy that made it ---------------------------------------------------------------------------

TREE = "{hierarchy: {all: {north: [Aachen, Bonn, Düren], south: [Calw]}}"
QUASI = {
    "ranges": "{age: , height: , day: }",
    "bounds": "{age: {recode: bounds}, day: {recode: bounds}, height: {recode: bounds}}",
    "centroids": "{age: {recode: centroid}, day: {recode: centroid}, height: {recode: centroid}}",
    "levels": f"{{town: {TREE}, recode: level}}, zip: {{hierarchy: prefixes, recode: level}}}}",
    "ranges in trees": f"{{town: {TREE}}}, zip: {{hierarchy: prefixes}}, day: {{hierarchy: dates}}}}",
    "sets": "{town: {recode: set}, age: {recode: set}}",
    "types": "{age: {type: integer}, height: {type: decimal}, day: {type: date}, zip: {type: text}}",
    "types and bounds": "{age: {type: integer, recode: bounds}, height: {type: decimal, recode: bounds}, day: {type: date, recode: bounds}}",
    "types and centroids": "{height: {type: decimal, recode: centroid}, day: {type: date, recode: centroid}}",
    "types and means": "{age: {type: integer, recode: centroid}}",
    "types and trees": "{zip: {type: integer, hierarchy: prefixes}, day: {type: date, hierarchy: dates}}",
    "types and sets": "{age: {type: integer, recode: set}, day: {type: date, recode: set}, height: {type: decimal, recode: set}}",
    "top": "{age: {top: 60}, height: {top: 1.85, bottom: 1.60}}",
    "top of a type": "{age: {top: 60, bottom: 30, type: integer}, day: {type: date, top: 2024-03-01}}",
    "top of bounds": "{age: {top: 60, recode: bounds}, height: {bottom: 1.7, recode: bounds, type: decimal}}",
    "snapped": "{age: {snap: 10}, height: {snap: 0.05}, day: {snap: month}}",
    "snapped types": "{age: {snap: 10, type: integer}, height: {snap: 0.05, type: decimal}, day: {snap: quarter, type: date}}",
    "snapped bounds": "{age: {snap: 10, recode: bounds}, day: {snap: year, recode: bounds, type: date}}",
    "weeks": "{day: {snap: week, type: date}}",
}  # fmt: skip


PARQUET = ("ranges", "bounds", "centroids", "types", "snapped types")


@pytest.mark.parametrize(
    ("quasi", "suffix"),
    [*((quasi, ".csv") for quasi in QUASI.values()), *((QUASI[name], ".parquet") for name in PARQUET)],
    ids=[*QUASI, *(f"{name}, Parquet" for name in PARQUET)],
)
def test_the_audit_of_a_release_agrees_with_it(people: Path, tmp_path: Path, quasi: str, suffix: str) -> None:
    policy, out = policy_of(tmp_path, quasi), tmp_path / f"release{suffix}"
    made = run("anonymize", people, "-p", policy, "-o", out)
    assert made.exit_code == 0, made.output
    assert made.stderr == ""
    audited = run("audit", out, "-p", policy, "--json")
    assert audited.exit_code == 0, audited.output
    found, told = json.loads(audited.stdout), json.loads((tmp_path / f"release{suffix}.certificate.json").read_text())
    assert (found["satisfied"], found["rows"], found["classes"]) == (True, told["rows"], told["classes"])
    assert found["k"] == told["attained"]["k"] >= 5
    for name, figures in told["attained"]["sensitive"].items():
        assert found["sensitive"][name]["t_exact"] == figures["t_exact"]
    assert run("verify", out, "--certificate", f"{out}.certificate.json").exit_code == 0


def test_what_recoding_publishes(people: Path, tmp_path: Path) -> None:
    def released(quasi: str) -> dict[str, list[str]]:
        assert run("anonymize", people, "-p", policy_of(tmp_path, quasi), "-o", tmp_path / "r.csv", "--force").exit_code == 0
        return {name: column(tmp_path / "r.csv", name) for name in column_names(tmp_path / "r.csv")}

    assert released(QUASI["bounds"]).keys() == {
        "age.min", "age.max", "day.min", "day.max", "height.min", "height.max", "salary", "disease",
    }  # fmt: skip
    assert "60 or more" in released("{age: {top: 60}}")["age"]
    assert "30 or less" in released("{age: {bottom: 30}}")["age"]
    assert all(
        cell in ("476**", "*", "47***") or cell.startswith("476") for cell in released("{zip: {hierarchy: prefixes}}")["zip"]
    )
    months = set(released("{day: {snap: month}}")["day"])
    assert any(len(month) == 7 or month.startswith("[") for month in months)
    tens = [cell for cell in released("{age: {snap: 10}}")["age"] if cell.startswith("[")]
    assert tens
    assert all(cell[1:].split(", ")[0].endswith("0") for cell in tens)


def column_names(path: Path) -> list[str]:
    with path.open(newline="") as file:
        return next(csv.reader(file))


@pytest.mark.parametrize(
    ("sensitive", "labels"),
    [
        ("{salary: {t: 0.4, bins: 3}}", 3),
        ("{salary: {t: 0.4, bins: [2000, 4000]}}", 3),
        ("{salary: {t: 0.4, bins: {width: 2500}}}", 3),
        ("{salary: {t: 0.4, bins: 3, publish: value}}", 50),
    ],
)
def test_bins_are_published_and_audited(people: Path, tmp_path: Path, sensitive: str, labels: int) -> None:
    policy, out = tmp_path / "policy.yaml", tmp_path / "release.csv"
    policy.write_text(f"k: 5\nquasi: [age]\nsensitive: {sensitive}\nother: drop\n")
    made = run("anonymize", people, "-p", policy, "-o", out)
    assert made.exit_code == 0, made.output
    assert len(set(column(out, "salary"))) == labels
    assert run("audit", out, "-p", policy).exit_code == 0
    assert run("verify", out, "--certificate", f"{out}.certificate.json").exit_code == 0


# verify ----------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made_once(people: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a release and its policy."""
    folder = tmp_path_factory.mktemp("release")
    assert run("anonymize", people, "-p", policy_of(folder, "[age, town]"), "-o", folder / "release.csv").exit_code == 0
    return folder


@pytest.fixture
def release(made_once: Path, tmp_path: Path) -> Path:
    """A copy: tests tamper with it."""
    shutil.copytree(made_once, tmp_path, dirs_exist_ok=True)
    return tmp_path / "release.csv"


def certificate_of(release: Path) -> Path:
    return release.with_name(release.name + ".certificate.json")


def test_a_release_that_is_as_certified(release: Path) -> None:
    result = run("verify", release, "--certificate", certificate_of(release))
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("release.csv is as certified: ")
    assert "NO " not in result.stdout


def test_only_the_two_public_files_are_needed(release: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for path in (release, certificate_of(release)):
        (elsewhere / f"renamed-{path.name}").write_bytes(path.read_bytes())
    result = run("verify", elsewhere / "renamed-release.csv", "--certificate", elsewhere / "renamed-release.csv.certificate.json")
    assert result.exit_code == 0


@pytest.mark.parametrize("how", ["a value", "a row less", "a row twice", "two rows swapped", "a row of its own"])
def test_a_file_that_was_tampered_with_ends_with_1(release: Path, how: str) -> None:
    header, *lines = release.read_text().splitlines()
    if how == "a value":
        lines[0] = lines[0].rsplit(",", 2)[0] + ",1300,flu"
    elif how == "a row less":
        del lines[7]
    elif how == "a row twice":
        lines.append(lines[0])
    elif how == "two rows swapped":
        lines[0], lines[-1] = lines[-1], lines[0]
    else:
        lines.append("17,Aachen,1300,flu")
    release.write_text("\n".join([header, *lines]) + "\n")
    result = run("verify", release, "--certificate", certificate_of(release))
    assert (result.exit_code, result.stderr) == (1, "")
    assert "NO   The file is the one that was certified (release.csv.certificate.json belongs to another file" in result.stdout
    assert ("NO   It satisfies every limit (k is broken" in result.stdout) == (how == "a row of its own")
    assert result.stdout.startswith("release.csv is not as certified: ")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("attained", "k"), 17),
        (("attained", "sensitive", "salary", "t_exact"), "1/1000"),
        (("attained", "sensitive", "salary", "beta"), 0.001),
        (("policy", "k"), 200),
        (("policy", "sensitive", "salary", "t"), 0.001),
        (("release", "sha256"), "0" * 64),
        (("rows",), 299),
        (("classes",), 1),
        (("unique_rows",), -1),
        (("loss", "dm"), 0),
        (("loss", "c_avg"), 0.5),
        (("attained", "homogeneous", "classes"), 99),
        (("attained", "sensitive"), {}),
    ],
    ids=str,
)
def test_a_certificate_that_was_tampered_with_ends_with_1(release: Path, path: tuple[str, ...], value: Any) -> None:
    told = json.loads(certificate_of(release).read_text())
    part = told
    for key in path[:-1]:
        part = part[key]
    assert part[path[-1]] != value
    part[path[-1]] = value
    certificate_of(release).write_text(json.dumps(told))
    result = run("verify", release, "--certificate", certificate_of(release))
    assert (result.exit_code, result.stderr) == (1, "")
    assert "NO  " in result.stdout


def test_what_is_no_certificate_ends_with_2(people: Path, release: Path, tmp_path: Path) -> None:
    def sentence(certificate: Path, table: Path = release) -> str:
        result = run("verify", table, "--certificate", certificate)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.count("\n") == 1
        return result.stderr.removeprefix("Error: ").rstrip()

    other = tmp_path / "other.json"
    assert sentence(other) == f"Certificate '{other}' does not exist. Put it beside the release, or give its path."
    other.write_text("k: 5")
    assert sentence(other) == "Certificate 'other.json' is not JSON. Check how it was copied."
    other.write_bytes(b"\xff\xfe")
    assert sentence(other) == "Certificate 'other.json' is not JSON. Check how it was copied."
    for text in ("[]", "5", "null", "{}"):
        other.write_text(text)
        assert sentence(other) == "File 'other.json' is no certificate of a release: it has no 'tool', or an odd one."
    private = release.with_name("release.csv.private.json")
    assert (
        sentence(private) == "File 'release.csv.private.json' is the INTERNAL record, not the certificate. Keep it to yourself."
    )
    assert sentence(certificate_of(release), tmp_path / "absent.csv") == (
        f"File '{tmp_path / 'absent.csv'}' does not exist. Check its path."
    )
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("a,b\n1,2\n")
    assert (
        sentence(certificate_of(release), wrong) == "File 'wrong.csv' has not the columns of the certificate. It is another file."
    )
    told = json.loads(certificate_of(release).read_text())
    other.write_text(json.dumps({**told, "policy": {"quasi": ["age"]}}))
    assert sentence(other) == "File 'other.json' is no certificate of a release: it has no 'policy.quasi', or an odd one."
    other.write_text("[" * 100_000)
    assert sentence(other) == (
        "Certificate 'other.json' has lists or mappings inside one another, more than 120 of them, which no certificate has."
    )
    odd: list[tuple[str, Any]] = [
        ("attained", {}), ("attained", None), ("columns", [{"name": []}]), ("columns", []), ("counted", "sheep"), ("release", "x"),
        ("attained", {**told["attained"], "sensitive": {"salary": 5}}), ("policy", {"quasi": 5, "sensitive": [[]]}),
    ]  # fmt: skip
    for key, value in odd:
        other.write_text(json.dumps({**told, key: value}))
        assert "Certificate" in sentence(other) or "certificate" in sentence(other)


def test_several_tables_are_written_and_shown(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,ill,pay\n" + "".join(f"{row},{row % 3},{row * 7 % 5}\n" for row in range(40)))
    (tmp_path / "policy.yaml").write_text("quasi: [age]\nsensitive: {ill: 0.3, pay: 0.3}\nk: 2\n")
    asked = (
        "anonymize",
        tmp_path / "people.csv",
        "-p",
        tmp_path / "policy.yaml",
        "-o",
        tmp_path / "out.csv",
        "--algorithm",
        "codip",
    )
    refused = run(*asked)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "below k=2" in refused.stderr
    result = run(*asked, "--option", "intersection=accept")
    assert result.exit_code == 0
    assert [line for line in result.stdout.splitlines() if line.startswith("Table ")] == [
        "Table 1 of 2: ill",
        "Table 2 of 2: pay",
    ]
    assert "100% of the association between sensitive columns is in no table" in result.stdout
    assert "may be left with 1 row, and k is 2." in result.stdout
    for name in ("out.1.csv", "out.2.csv"):
        assert run("verify", tmp_path / name).exit_code == 0
    assert run(*asked, "--option", "intersection=accept").exit_code == 2  # nothing is replaced without --force


def test_an_algorithm_that_loses_nearly_everything_is_compared_with_growth(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,pay\n" + "".join(f"{row},{row}\n" for row in range(20)))
    (tmp_path / "policy.yaml").write_text("quasi: [age]\nsensitive: {pay: 0}\nk: 2\n")
    asked = ("anonymize", tmp_path / "people.csv", "-p", tmp_path / "policy.yaml", "-o", tmp_path / "out.csv", "--force")
    for algorithm, ending in (("growth", ""), ("incognito", " Or choose growth, which usually loses less.")):
        assert f"or name fewer quasi-identifiers.{ending}\n" in run(*asked, "--algorithm", algorithm).stdout


# algorithms, demo, help ------------------------------------------------------------------------------------------------------


def test_algorithms_are_listed() -> None:
    result = run("algorithms")
    assert (result.exit_code, result.stderr) == (0, "")
    for algorithm in tc.list_algorithms():
        assert f"{algorithm.name}: {algorithm.summary}\n  {algorithm.reference}\n" in result.stdout
    assert "  --option sizing=relaxed|gcd\n" in result.stdout
    assert [line for line in result.stdout.splitlines() if "prefer" in line] == ["  --option prefer=loss|classes"]


def files_of(folder: Path) -> dict[str, bytes]:
    """The files of a folder but the private record, which has a fresh key."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.endswith(".private.json")}


def test_the_demo_goes_all_steps_and_again(tmp_path: Path) -> None:
    first = run("demo", "--folder", tmp_path / "demo")
    made = files_of(tmp_path / "demo")
    (tmp_path / "demo" / "policy.yaml").write_text("edited")
    assert run("demo", "--folder", tmp_path / "demo").exit_code == 2
    second = run("demo", "--folder", tmp_path / "demo", "--force")
    for result in (first, second):
        assert (result.exit_code, result.stderr) == (0, "")
    assert first.stdout == second.stdout
    assert files_of(tmp_path / "demo") == made  # the same hospital and the same release each time
    assert "10,000 rows" in first.stdout
    heads = [line for line in first.stdout.splitlines() if line[:3] in ("1. ", "2. ", "3. ", "4. ")]
    assert [head.split(":")[0] for head in heads] == [
        "1. Before",
        "2. The release",
        "3. After",
        "4. What every reader can check",
    ]
    before, released, after, checked = (first.stdout.split(head)[1] for head in heads)
    assert "The policy is not satisfied." in before.split("\n2. ")[0]
    assert "The policy is satisfied" in released.split("\n3. ")[0]
    assert "The policy is satisfied" in after.split("\n4. ")[0]
    assert "release.csv is as certified: " in checked
    assert sorted(path.name for path in (tmp_path / "demo").iterdir()) == sorted(
        ["diagnosis.csv", "hospital.csv", "icd10.csv", "policy.yaml", *(f"release.csv{end}" for end in ENDINGS)]
    )
    published = "".join(path.read_text() for path in (tmp_path / "demo").glob("release.csv*"))
    assert not re.search("P[0-9]{5}", published)
    assert not any(name in published for name in set(column(tmp_path / "demo" / "hospital.csv", "name")))
    found = (re.search("tclose (audit|anonymize|verify) .*", line) for line in first.stdout.splitlines())
    commands = [command[0].split()[1:] for command in found if command]
    assert [command[0] for command in commands] == ["audit", "anonymize", "audit", "verify", "audit", "anonymize"]
    assert [run(*command).exit_code for command in commands[2:]] == [0, 0, 1, 0]  # the demo itself went the way of the first two


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_has_examples(command: str) -> None:
    result = run(command, "--help")
    assert (result.exit_code, result.stderr) == (0, "")
    examples = result.stdout.split("Examples:")[1].split("Options:")[0]
    assert f"tclose {command}" in examples
    assert run(command, "-h").stdout == result.stdout


def test_all_commands_are_in_the_help() -> None:
    shown = run("--help").stdout
    assert [line.split()[0] for line in shown.split("Commands:")[1].strip().splitlines()] == list(COMMANDS)


# Progress --------------------------------------------------------------------------------------------------------------------


def test_a_stage_and_its_figure_are_shown(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    shown: list[str] = []
    monkeypatch.setattr("rich.status.Status.update", lambda _, text: shown.append(text.plain))
    report("to nobody")
    with stages("[a] table.csv"):
        announce("Refining")
        report("loss 0.2312")
        report("loss 0.2209")
        announce("Recoding")
    report("to nobody")
    assert shown == [
        "Refining [a] table.csv ...",
        "Refining [a] table.csv ... loss 0.2312",
        "Refining [a] table.csv ... loss 0.2209",
        "Recoding [a] table.csv ...",
    ]
    assert capfd.readouterr() == ("", "")


def test_without_a_terminal_one_line_says_that_kernels_are_compiled(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for terminal, line in (("0", "Compiling, once on this machine.\n"), ("1", "")):
        monkeypatch.setenv("TTY_INTERACTIVE", terminal)
        with stages("table.csv"):
            for _ in range(2):
                announce("Partitioning")
                report("compiling, once on this machine")
                report("")
        assert capfd.readouterr() == ("", line)


# The library prints nothing --------------------------------------------------------------------------------------------------


def test_the_library_prints_nothing(people: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    policy = tc.Policy.load(policy_of(tmp_path, "[age, zip]", "other: drop\nsuppression: 0.05\n"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tc.PrivacyRiskWarning)
        release = tc.anonymize(people, policy, keep_order=True)
    for suffix in ("csv", "parquet", "arrow"):
        release.write(tmp_path / f"release.{suffix}")
    tc.audit(tmp_path / "release.csv", policy)
    assert "Release:" in repr(release)
    assert capfd.readouterr() == ("", "")
