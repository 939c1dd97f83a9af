"""tclose hierarchy: what it shows, writes and refuses; on a small table, on the demo's diagnoses, and on Adult."""

from __future__ import annotations

import csv
import json
import shlex
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import tclose as tc
from tclose.cli import app
from tclose.release.hospital import hospital

ICD = {"influenza": "J11", "pneumonia": "J18.9", "asthma": "J45", "heart failure": "I50", "infarction": "I21.0", "stroke": "I64"}
BLOCKS = """J09-J18;Influenza and pneumonia;Respiratory system
J40-J47;Chronic lower respiratory diseases;Respiratory system
I20-I25;Ischaemic heart diseases;Circulatory system
I30-I52;Other heart diseases;Circulatory system
I60-I69;Cerebrovascular diseases;Circulatory system
"""


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["hierarchy", *map(str, arguments)])


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Visits of the demo's hospital, with the ICD-10 codes of some diagnoses, days, and a file of blocks beside them."""
    folder = tmp_path_factory.mktemp("visits")
    header, *rows = [row[:-2] for row in hospital(600)]
    chosen = [row for row in rows if row[-1] in ICD]
    with (folder / "visits.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*header, "icd10", "admitted"])
        for number, row in enumerate(chosen):
            writer.writerow([*row, ICD[row[-1]], f"2024-{number % 12 + 1:02}-{number % 28 + 1:02}" if number else ""])
    (folder / "blocks.csv").write_text(BLOCKS)
    return folder / "visits.csv"


def rows_of(result: Result) -> list[list[str]]:
    """The cells of the lines of levels: the level, labels, fewest and most rows."""
    assert (result.exit_code, result.stderr) == (0, "")
    lines = [line.replace("0: the value", "0").split() for line in result.stdout.splitlines() if line[:1].isdecimal()]
    return [line[:4] for line in lines]


def test_codes_by_the_ranges_that_the_user_brings(visits: Path) -> None:
    result = run(visits, "icd10", "--ranges", visits.parent / "blocks.csv")
    codes = [row["icd10"] for row in csv.DictReader(visits.read_text().splitlines())]
    assert result.stdout.startswith("INTERNAL: the preview shows values of the table.\n")
    levels = rows_of(result)
    assert [(line[0], line[1]) for line in levels] == [("0", "6"), ("1", "5"), ("2", "5"), ("3", "2"), ("4", "1")]
    heart, lung = sum(code[0] == "I" for code in codes), sum(code[0] == "J" for code in codes)
    assert levels[3][2:] == [str(min(heart, lung)), str(max(heart, lung))]
    assert f'icd10: {{hierarchy: {{ranges: "{visits.parent / "blocks.csv"}"}}}}' in result.stdout


def test_dates_and_missing_cells(visits: Path) -> None:
    result = run(visits, "admitted", "--dates", "month,quarter,year", "-k", "2")
    assert "1 row without a value." in result.stdout
    assert [line[1] for line in rows_of(result)][1:] == ["12", "4", "1", "1"]
    assert "admitted: {hierarchy: dates}" in result.stdout
    assert "admitted: {hierarchy: {dates: [week]}}" in run(visits, "admitted", "--dates", "week").stdout


def test_the_line_for_the_policy_is_read_by_a_policy(visits: Path, tmp_path: Path) -> None:
    for column, options, setting in (
        ("age", ["--intervals", "5,10"], {"intervals": [5, 10]}),
        ("age", ["--rounding", "10,2e1"], {"rounding": [10, 20]}),
        ("age", ["--cuts", "18,65", "--cuts", "65"], {"cuts": [[18, 65], [65]]}),
        ("zip", ["--prefixes", "4,3"], {"prefixes": [4, 3]}),
        ("zip", ["--prefixes", "all"], "prefixes"),
        ("admitted", ["--dates", "month,year"], {"dates": ["month", "year"]}),
    ):
        result = run(visits, column, *options)
        line = result.stdout.splitlines()[-1]
        assert line.startswith(f"In a policy:  {column}: ")
        policy = tmp_path / "policy.yaml"
        policy.write_text(f"quasi:\n  {line.removeprefix('In a policy:  ')}\nsensitive: [cost]\nk: 9\n")
        assert tc.Policy.load(policy).quasi[0] == tc.Quasi(column, hierarchy=setting)
        shown = run(visits, column, "-p", policy)
        assert rows_of(shown) == rows_of(result)
        assert "labels below 9 rows" in shown.stdout


def test_quantiles_become_cuts(visits: Path) -> None:
    ages = [int(row["age"]) for row in csv.DictReader(visits.read_text().splitlines())]
    result = run(visits, "age", "--quantiles", "4,2", "--json")
    said = json.loads(result.stdout)
    tree = tc.Hierarchy.from_quantiles(ages, [4, 2])
    assert tree.builder is not None
    assert said["in_policy"] == str(tree.builder.setting()).replace("'", "")
    assert [level["labels"] for level in said["levels"]] == [level.labels for level in tree.preview(ages)]
    assert said["internal"] == "It shows values of the table. Keep it to yourself."


def test_the_file_is_what_arx_reads_and_only_its_owner(visits: Path, tmp_path: Path) -> None:
    out = tmp_path / "zip.csv"
    result = run(visits, "zip", "--prefixes", "3", "-o", out)
    assert (result.exit_code, stat.S_IMODE(out.stat().st_mode)) == (0, 0o600)
    assert f"Wrote {out}: every value of the column with its labels, as ARX reads it. It is internal, too." in result.stdout
    codes = sorted({row["zip"] for row in csv.DictReader(visits.read_text().splitlines())})
    assert out.read_text() == "".join(f"{code};{code[:3]}**;*****\n" for code in codes)
    assert rows_of(run(visits, "zip", "--file", out)) == rows_of(result)
    again = run(visits, "zip", "--prefixes", "3", "-o", out)
    assert (again.exit_code, again.stderr) == (2, f"Error: File '{out}' exists. Give --force to replace it.\n")
    assert run(visits, "zip", "--prefixes", "3", "-o", out, "--force").exit_code == 0
    assert run(visits, "zip", "--file", out, "-o", out, "--force").exit_code == 2


def test_a_hierarchy_of_the_policy_with_a_place_for_missing_cells(visits: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("quasi: {sex: {hierarchy: {groups: {known: [F, M]}}}, age: }\nsensitive: [cost]\n")
    result = run(visits, "sex", "-p", policy)
    assert [line[1] for line in rows_of(result)] == ["2", "1", "1"]
    assert "In a policy" not in result.stdout


def test_a_column_without_values_has_a_root_alone(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("a,b\n,1\n,2\n")
    result = run(table, "a", "--prefixes", "2")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "a of table.csv: 2 rows, 0 values, 2 rows without a value." in result.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["age", "--intervals", "5", "--dates", "week"], "Give one hierarchy: by the policy, or by one of the options. Try 'tclose hierarchy --help'."),
        (["ages", "--intervals", "5"], "Column 'ages' is not in the table. Did you mean 'age'?"),
        (["age", "--intervals", "five"], "intervals must be a list of at most 20 numbers above 0, each a multiple of the one before: [5, 10, 20]. Got ['five']."),
        (["age", "--quantiles", "3,2"], "quantiles must be a list of numbers of groups from 1,000 to 2, each a multiple of the next: [8, 4, 2]."),
        (["sex", "--intervals", "5"], "hierarchy: intervals of 'sex': a value must be a finite number. Got 'F', first in row 1, and 1 other value like it. None of its values fits: choose another hierarchy."),
        (["sex", "--quantiles", "2"], "hierarchy: cuts of 'sex': a value must be a finite number. Got 'F', first in row 1, and 1 other value like it. None of its values fits: choose another hierarchy."),
        (["icd10", "--ranges", "nowhere.csv"], "Ranges file 'nowhere.csv' cannot be read. Check its path."),
    ],
)  # fmt: skip
def test_what_cannot_be_shown_is_told_in_one_sentence(visits: Path, arguments: list[str], sentence: str) -> None:
    result = run(visits, *arguments)
    first = next(csv.DictReader(visits.read_text().splitlines()))
    expected = sentence.replace("'F'", f"'{first['sex']}'")
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"Error: {expected}\n")


@pytest.mark.parametrize(
    ("column", "options"),
    [("age", "--intervals 5,10,20"), ("ward", "--prefixes 3,2"), ("icd10", ""), ("admitted", "--dates month,quarter,year")],
)
def test_without_a_hierarchy_a_command_is_named_that_fits_the_column(visits: Path, column: str, options: str) -> None:
    table = visits.parent / "wards.csv"
    header, *rows = visits.read_text().splitlines()
    table.write_text(
        "\n".join([f"{header},ward", *(f"{row},{'WE'[number % 2]}-{number % 7}{number % 3}" for number, row in enumerate(rows))])
    )
    policy = visits.parent / "snap.yaml"
    policy.write_text(f"quasi: {{{column}: {{{'snap: auto' if column == 'age' else ''}}}}}\nsensitive: [cost]\n")
    cases: list[tuple[list[str | Path], str]] = [
        ([], f"'{column}' has no hierarchy yet. Give one by an option"),
        (["-p", policy], f"The policy has no hierarchy for '{column}'. Give one by an option alone"),
    ]
    for given, lacking in cases:
        result = run(table, column, *given)
        assert (result.exit_code, result.stdout) == (2, "")
        said, _, command = result.stderr.rstrip().partition(", as in: ")
        assert said == f"Error: {lacking}"
        if options:
            assert command == f"tclose hierarchy {table} {column} {options}"
            assert run(*shlex.split(command)[2:]).exit_code == 0
        else:
            assert command.endswith("--file icd10.csv (a file of your own, a line VALUE;GROUP;* for each value).")


def test_a_code_in_no_range_is_named_with_its_row(visits: Path, tmp_path: Path) -> None:
    blocks = tmp_path / "blocks.csv"
    blocks.write_text(BLOCKS.replace("J40-J47", "J40-J44"))
    row = 1 + [line["icd10"] for line in csv.DictReader(visits.read_text().splitlines())].index("J45")
    result = run(visits, "icd10", "--ranges", blocks)
    assert result.exit_code == 2
    assert result.stderr == (
        f"Error: hierarchy: ranges of 'icd10': a value must be in one of the ranges. Got 'J45', first in row {row}. "
        "Add a range for it to the table.\n"
    )


def test_a_policy_without_the_column_or_its_hierarchy(visits: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("quasi: [age]\nsensitive: [cost]\n")
    assert run(visits, "age", "-p", policy).stderr.startswith(
        "Error: The policy has no hierarchy for 'age'. Give one by an option alone, as in: tclose hierarchy "
    )
    missing = run(visits, "costs", "-p", policy).stderr
    assert missing == "Error: The policy has no quasi-identifier and no sensitive attribute 'costs'. Did you mean 'cost'?\n"


@pytest.mark.needs_data
def test_a_file_for_the_countries_of_adult(data: Path) -> None:
    country = run(data / "adult.csv", "native-country", "--file", data / "hierarchies" / "native-country.csv")
    assert [line[1] for line in rows_of(country)] == ["41", "5", "1"]
