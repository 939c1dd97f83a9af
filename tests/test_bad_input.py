"""Bad input on the command line: exit code 2, one clear sentence, nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tclose.cli import app

GOOD_TABLE = "age,zip,salary,disease\n30,47601,10,flu\n30,47601,20,cold\n40,47602,30,flu\n"
GOOD_POLICY = "quasi: [age, zip]\nsensitive: {salary: 0.5}\n"
TREE_POLICY = "quasi: [age]\nsensitive: {disease: {t: 0.5, hierarchy: tree.csv}}\n"


def refuse(folder: Path, *arguments: str) -> str:
    """Run a command that must be refused; give back its sentence."""
    before = sorted(folder.rglob("*"))
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 2, result.output
    assert sorted(folder.rglob("*")) == before, "something was written"
    assert result.stdout == ""
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("Error: ")
    return lines[0].removeprefix("Error: ")


def refuse_table(folder: Path, content: str | bytes, name: str = "table.csv", policy: str = GOOD_POLICY) -> str:
    table, settings = folder / name, folder / "policy.yaml"
    table.write_bytes(content.encode() if isinstance(content, str) else content)
    settings.write_text(policy)
    return refuse(folder, "audit", str(table), "-p", str(settings), "--classes", str(folder / "classes.csv"))


def refuse_policy(folder: Path, policy: str, tree: str | None = None) -> str:
    if tree is not None:
        (folder / "tree.csv").write_text(tree)
    return refuse_table(folder, GOOD_TABLE, policy=policy)


TABLES = {
    "empty file": (b"", "File 'table.csv' is empty. A header and rows are needed."),
    "header only": ("age,zip,salary\n", "File 'table.csv' has a header and no rows. There is nothing to measure."),
    "too few fields": (
        "age,zip,salary\n1,2,3\n4,5\n",
        "File 'table.csv' is ragged: row 2 has 2 fields, the header 3. Mend that row.",
    ),
    "too many fields": (
        "age,zip,salary\n1,2,3,4\n",
        "File 'table.csv' must have its header in its first line. Got 3 of 4 columns there; remove any title above the header.",
    ),
    "too many fields later": (
        "age,zip,salary\n1,2,3\n1,2,3,4\n",
        "File 'table.csv' is ragged: row 2 has 4 fields, the header 3. Mend that row.",
    ),
    "title above the header": (
        "Visits of 2024\nage,zip,salary\n1,2,3\n",
        "File 'table.csv' must have its header in its first line. Got 1 of 3 columns there; remove any title above the header.",
    ),
    "missing column": ("age,zip,Salary\n1,2,3\n", "Column 'salary' is not in the table. Did you mean 'Salary'?"),
    "two columns of one name": ("age,zip,salary,age\n1,2,3,4\n", "Two columns are called 'age'. Rename one of them."),
    "ordered with missing values": (
        "age,zip,salary\n1,2,3\n1,2,\n1,2,\n",
        "Sensitive column 'salary' must have a value in every row for the "
        "ordered distance. Got 2 missing, the first in row 2. Fill them, leave those rows out, "
        "or set missing: value and give it a place.",
    ),
    "not UTF-8": (
        "age,zip,salary\n1,2,3\nK\u00f6ln,2,3\n".encode("latin-1"),
        "File 'table.csv' is not UTF-8, first in line 3. Save it as UTF-8.",
    ),
    "cut in a character": (
        "age,zip,salary\n1,2,3\nK\u00f6".encode()[:-1],
        "File 'table.csv' is not UTF-8, first in line 3. Save it as UTF-8.",
    ),
    "NUL byte": (
        b"age,zip,salary\n1,2,3\n1,\0,3\n",
        "File 'table.csv' has a NUL byte in line 3. It is no CSV text; export it again as UTF-8.",
    ),
    "another missing column": (
        GOOD_TABLE.replace("salary", "x").replace("age", "salary"),
        "Column 'age' is not in the table.",
    ),
}


@pytest.mark.parametrize(("content", "sentence"), TABLES.values(), ids=TABLES.keys())
def test_bad_tables(tmp_path: Path, content: str | bytes, sentence: str) -> None:
    assert refuse_table(tmp_path, content) == sentence


def test_no_file(tmp_path: Path) -> None:
    sentence = refuse(tmp_path, "audit", str(tmp_path / "absent.csv"), "--quasi", "a", "--sensitive", "b")
    assert sentence == f"File '{tmp_path / 'absent.csv'}' does not exist. Check its path."


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("table.parquet", "File 'table.parquet' is not a Parquet file. Check how it was written."),
        ("table.arrow", "File 'table.arrow' is not an Arrow file. Check how it was written."),
        (
            "table.xlsx",
            "File 'table.xlsx' has a suffix that names no kind of table. "
            "Known are .csv, .tsv, .txt, .parquet, .pq, .arrow, .feather and .ipc.",
        ),
    ],
)
def test_files_that_are_not_what_they_say(tmp_path: Path, name: str, sentence: str) -> None:
    assert refuse_table(tmp_path, GOOD_TABLE, name) == sentence


POLICIES = {
    "column with two roles": (
        "quasi: [age, salary]\nsensitive: {salary: 0.5}\n",
        "A column must have one role. Got 'salary' in quasi and in sensitive.",
    ),
    "t above 1": ("quasi: [age]\nsensitive: {salary: 1.2}\n", "t of 'salary' must be between 0 and 1. Got 1.2."),
    "t below 0": ("quasi: [age]\nsensitive: {salary: -0.1}\n", "t of 'salary' must be between 0 and 1. Got -0.1."),
    "t nan": ("quasi: [age]\nsensitive: {salary: .nan}\n", "t of 'salary' must be between 0 and 1. Got nan."),
    "t text": ("quasi: [age]\nsensitive: {salary: high}\n", "t of 'salary' must be between 0 and 1. Got 'high'."),
    "no mapping": (
        "- age\n- salary\n",
        "Policy file 'policy.yaml' must be a mapping with 'quasi' and 'sensitive'. Got something else.",
    ),
    "empty policy": ("", "Policy file 'policy.yaml' must be a mapping with 'quasi' and 'sensitive'. Got something else."),
    "a key twice": (
        "quasi: [age]\nsensitive: {salary: 0.5}\nquasi: [zip]\n",
        "Policy file 'policy.yaml' names a key twice, the second time in line 3. Keep one.",
    ),
    "a column twice": (
        "quasi: [age]\nsensitive:\n  salary: 0.5\n  salary: 0.4\n",
        "Policy file 'policy.yaml' names a key twice, the second time in line 4. Keep one.",
    ),
    "no YAML": (
        "quasi: [age\nsensitive: x\n",
        "Policy file 'policy.yaml' is not YAML at line 2. Mend it there; tabs cannot indent.",
    ),
    "not yet": ("quasi: [age]\nsensitive: {salary: 0.5}\nsuppression: 0.1\n", "suppression is not supported yet. Leave it out."),
    "unknown key": (
        "quasi: [age]\nsensitve: {salary: 0.5}\nsensitive: [zip]\n",
        "'sensitve' is not a setting of Policy. Did you mean 'sensitive'?",
    ),
    "text without an order": (
        "quasi: [age]\nsensitive: {disease: {distance: ordered}}\n",
        "distance: ordered of 'disease' needs an order: the column holds text. Give one.",
    ),
    "numbers as dates": (
        "quasi: [{name: age, type: date}]\nsensitive: [disease]\n",
        "type of 'age' must fit all its cells. Got 'date', and 3 cells that are none, the first in row 1.",
    ),
}


@pytest.mark.parametrize(("policy", "sentence"), POLICIES.values(), ids=POLICIES.keys())
def test_bad_policies(tmp_path: Path, policy: str, sentence: str) -> None:
    assert refuse_policy(tmp_path, policy) == sentence


TREES = {
    "a value twice": ("flu;x;*\nflu;y;*\ncold;x;*\n", "Hierarchy file 'tree.csv': a value must occur once. Got 'flu' twice."),
    "two roots": ("flu;x;*\ncold;x;all\n", "Hierarchy file 'tree.csv': a hierarchy must have one root. Got '*' and 'all'."),
    "a missing value": (
        "flu;x;*\nother;x;*\n",
        "Value 'cold' of 'disease', first in row 2, is not in its hierarchy. Add it there.",
    ),
    "several missing values": (
        "other;x;*\n",
        "Value 'flu' of 'disease', first in row 1, is not in its hierarchy. 1 more value is missing. Add it there.",
    ),
    "an inner node as value": (
        "flu;x;*\na;cold;*\n",
        "Value 'cold' of 'disease', first in row 2, stands above other values in its hierarchy. Only leaves are values.",
    ),
    "an empty file": ("", "Hierarchy file 'tree.csv': a hierarchy must have at least one value. Got none."),
}


@pytest.mark.parametrize(("tree", "sentence"), TREES.values(), ids=TREES.keys())
def test_bad_hierarchies(tmp_path: Path, tree: str, sentence: str) -> None:
    assert refuse_policy(tmp_path, TREE_POLICY, tree) == sentence


def test_no_policy_file(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(GOOD_TABLE)
    sentence = refuse(tmp_path, "audit", str(tmp_path / "table.csv"), "-p", str(tmp_path / "absent.yaml"))
    assert sentence == f"Policy file '{tmp_path / 'absent.yaml'}' cannot be read. Check its path."


@pytest.mark.parametrize(
    "arguments",
    [
        ("audit",),
        ("audit", "table.csv"),
        ("audit", "table.csv", "--quasi", "a"),
        ("audit", "table.csv", "-p", "policy.yaml", "--quasi", "a"),
        ("audit", "table.csv", "--unknown"),
        ("unknown",),
    ],
)
def test_bad_usage_points_to_help(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert refuse(tmp_path, *arguments).endswith("--help'.")


def test_a_listing_never_overwrites_its_own_input(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text(GOOD_TABLE)
    sentence = refuse(tmp_path, "audit", str(table), "--quasi", "age", "--sensitive", "salary", "--classes", str(table))
    assert sentence == "The listing of classes would overwrite its own input 'table.csv'. Choose another name."
    assert table.read_text() == GOOD_TABLE


def test_errors_quote_no_row(tmp_path: Path) -> None:
    # DuckDB's own message would quote the whole line: that is a person's row.
    table = "name,age,zip,salary\n" + "x,1,2,3\n" * 3000 + "Secret Person,1,2\n"
    sentence = refuse_table(tmp_path, table)
    assert "Secret" not in sentence
    assert sentence == "File 'table.csv' is ragged: row 3001 has 3 fields, the header 4. Mend that row."
