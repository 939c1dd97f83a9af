"""Bad input on the command line: one clear sentence, nothing written; exit code 2, or 1 for a policy that cannot be satisfied."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tclose.cli import app
from tclose.make.registry import ALGORITHMS

pytestmark = pytest.mark.usefixtures("warm")

KNOWN = ", ".join(ALGORITHMS)
GOOD_TABLE = "age,zip,salary,disease\n30,47601,10,flu\n30,47601,20,cold\n40,47602,30,flu\n"
GOOD_POLICY = "quasi: [age, zip]\nsensitive: {salary: 0.5}\n"
TREE_POLICY = "quasi: [age]\nsensitive: {disease: {t: 0.5, hierarchy: tree.csv}}\n"


def refuse(folder: Path, *arguments: str, code: int = 2) -> str:
    """Run a command that must be refused; give back its sentence."""
    before = sorted(folder.rglob("*"))
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == code, result.output
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
    "a workbook by another name": (
        b"PK\x03\x04\x14\0\n\0\0",
        "File 'table.csv' has a NUL byte in line 1. It is no CSV text; export it again as UTF-8.",
    ),
    "UTF-16": (
        "age,zip,salary\n1,2,3\n".encode("utf-16"),
        "File 'table.csv' is UTF-16. Save it as UTF-8, or name its encoding in the policy, as in input: {encoding: utf-16}.",
    ),
    "a header that is not UTF-8": (
        "\u00e4ge,zip,salary\n1,2,3\n".encode("latin-1"),
        "File 'table.csv' is not UTF-8, first in line 1. "
        "Save it as UTF-8, or name its encoding in the policy, as in input: {encoding: latin-1}.",
    ),
    "missing column": ("age,zip,Salary\n1,2,3\n", "Column 'salary' is not in the table. Did you mean 'Salary'?"),
    "two columns of one name": ("age,zip,salary,age\n1,2,3,4\n", "Two columns are called 'age'. Rename one of them."),
    "ordered with missing values": (
        "age,zip,salary\n1,2,3\n1,2,\n1,2,\n",
        "Sensitive column 'salary' must have a value in every row for the "
        "ordered distance. Got 2 missing, the first in row 2. Fill them, leave those rows out, "
        "or add missing: value to the settings of the column, as in {t: 0.5, missing: value}.",
    ),
    "not UTF-8": (
        "age,zip,salary\n1,2,3\nK\u00f6ln,2,3\n".encode("latin-1"),
        "File 'table.csv' is not UTF-8, first in line 3. "
        "Save it as UTF-8, or name its encoding in the policy, as in input: {encoding: latin-1}.",
    ),
    "cut in a character": (
        "age,zip,salary\n1,2,3\nK\u00f6".encode()[:-1],
        "File 'table.csv' is not UTF-8, first in line 3. "
        "Save it as UTF-8, or name its encoding in the policy, as in input: {encoding: latin-1}.",
    ),
    "NUL byte": (
        b"age,zip,salary\n1,2,3\n1,\0,3\n",
        "File 'table.csv' has a NUL byte in line 3. It is no CSV text; export it again as UTF-8.",
    ),
    "another table": (
        "rate,years,affairs\n1,2,3\n",
        "None of the 3 columns that are asked for is in file 'table.csv'; the first is 'age'. Is it the right table?",
    ),
    "nearly another table": (
        "salary,years,affairs\n1,2,3\n",
        "2 of the 3 columns that are asked for are not in file 'table.csv'; the first is 'age'. Is it the right table?",
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
        ("table.parquet", "File 'table.parquet' is not a Parquet file, or is damaged. Check how it was written."),
        ("table.arrow", "File 'table.arrow' is not an Arrow file, or is damaged. Check how it was written."),
        (
            "table.xlsx",
            "File 'table.xlsx' is not a workbook, or is damaged. Check how it was written.",
        ),
    ],
)
def test_files_that_are_not_what_they_say(tmp_path: Path, name: str, sentence: str) -> None:
    assert refuse_table(tmp_path, GOOD_TABLE, name) == sentence


POLICIES = {
    "column with two roles": (
        "quasi: [age, salary]\nsensitive: {salary: 0.5}\n",
        "A column must have one role. Got 'salary' in quasi and in sensitive. Take its line, or its name, away in one of the two.",
    ),
    "t above 1": ("quasi: [age]\nsensitive: {salary: 1.2}\n", "t of 'salary' must be between 0 and 1. Got 1.2."),
    "t in percent": (
        "quasi: [age]\nsensitive: {salary: 20%}\n",
        "t of 'salary' must be between 0 and 1. Got '20%'. 20% is written 0.2.",
    ),
    "t below 0": ("quasi: [age]\nsensitive: {salary: -0.1}\n", "t of 'salary' must be between 0 and 1. Got -0.1."),
    "t nan": ("quasi: [age]\nsensitive: {salary: .nan}\n", "t of 'salary' must be between 0 and 1. Got nan."),
    "t text": ("quasi: [age]\nsensitive: {salary: high}\n", "t of 'salary' must be between 0 and 1. Got 'high'."),
    "no mapping": (
        "- age\n- salary\n",
        "Policy file 'policy.yaml' must be a mapping with 'quasi' and 'sensitive'. Got something else.",
    ),
    "empty policy": ("", "Policy file 'policy.yaml' is empty. Let 'tclose init DATA -o policy.yaml' propose a policy."),
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
        "Policy file 'policy.yaml' is not YAML at line 1. A bracket opens there, and does not close, or a comma is missing after it.",
    ),
    "no number of rows": (
        "quasi: [age]\nsensitive: {salary: 0.5}\nsmall_cells: 0\n",
        "small_cells must be a whole number, 1 or more. Got 0.",
    ),
    "bins of text": (
        "quasi: [age]\nsensitive: {disease: {bins: 4}}\n",
        "bins of 'disease' need numbers. The column holds text.",
    ),
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
    "a value twice": (
        "flu;x;*\nflu;y;*\ncold;x;*\n",
        "Column 'disease': Hierarchy file 'tree.csv': a value must occur once. Got 'flu' twice.",
    ),
    "two roots": (
        "flu;x;*\ncold;x;all\n",
        "Column 'disease': Hierarchy file 'tree.csv': a hierarchy must have one root. Got '*' and 'all'.",
    ),
    "a missing value": (
        "flu;x;*\nother;x;*\n",
        "Value 'cold' of 'disease', first in row 2, is not in its hierarchy. Add it there.",
    ),
    "several missing values": (
        "other;x;*\n",
        "2 values of 'disease' are not in its hierarchy: 'cold', 'flu'. One of them is in row 1. Add them there.",
    ),
    "an inner node as value": (
        "flu;x;*\na;cold;*\n",
        "Value 'cold' of 'disease', first in row 2, stands above other values in its hierarchy. Only leaves are values.",
    ),
    "a header": (
        "disease;kind;any\nflu;x;*\ncold;x;*\n",
        "Column 'disease': Hierarchy file 'tree.csv': a hierarchy must have one root. Got 'any' and '*'. "
        "Is its first line a header? Such a file has none: delete it.",
    ),
    "an empty file": ("", "Column 'disease': Hierarchy file 'tree.csv': a hierarchy must have at least one value. Got none."),
}


@pytest.mark.parametrize(("tree", "sentence"), TREES.values(), ids=TREES.keys())
def test_bad_hierarchies(tmp_path: Path, tree: str, sentence: str) -> None:
    assert refuse_policy(tmp_path, TREE_POLICY, tree) == sentence


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_link_that_leads_to_itself(tmp_path: Path) -> None:
    data, policy = tmp_path / "table.csv", tmp_path / "policy.yaml"
    data.symlink_to(data)
    policy.write_text("k: 2\n" + GOOD_POLICY)
    refused = refuse(tmp_path, "anonymize", str(data), "-p", str(policy), "-o", str(tmp_path / "release.csv"))
    assert "table.csv" in refused


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
    """Also not by another name, and not with --force; the hierarchies of the policy are inputs too."""
    table, tree, policy = tmp_path / "table.csv", tmp_path / "tree.csv", tmp_path / "policy.csv"
    table.write_text(GOOD_TABLE)
    tree.write_text("10;*\n20;*\n30;*\n")
    (tmp_path / "link.csv").symlink_to(tree)
    policy.write_text("{quasi: [age], sensitive: {salary: {t: 1, hierarchy: tree.csv}}}")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for target in (table, tree, policy, tmp_path / "link.csv"):
        for more in ([], ["--force"]):
            sentence = refuse(tmp_path, "audit", str(table), "-p", str(policy), "--classes", str(target), *more)
            assert sentence == f"File '{target}' is read as an input, and would be overwritten. Choose another name."
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_listing_replaces_a_file_only_if_that_is_asked(tmp_path: Path) -> None:
    table, listing = tmp_path / "table.csv", tmp_path / "classes.csv"
    table.write_text(GOOD_TABLE)
    listing.write_text("mine")
    command = ["audit", str(table), "--quasi", "age", "--sensitive", "salary", "--classes", str(listing)]
    assert refuse(tmp_path, *command) == f"File '{listing}' exists. Give --force to replace it."
    assert listing.read_text() == "mine"
    assert CliRunner().invoke(app, [*command, "--force"]).exit_code == 0
    assert listing.read_text().startswith("class,")


def test_errors_quote_no_row(tmp_path: Path) -> None:
    # DuckDB's own message would quote the whole line: that is a person's row.
    table = "name,age,zip,salary\n" + "x,1,2,3\n" * 3000 + "Secret Person,1,2\n"
    sentence = refuse_table(tmp_path, table)
    assert "Secret" not in sentence
    assert sentence == "File 'table.csv' is ragged: row 3001 has 3 fields, the header 4. Mend that row."


# Making a release

PEOPLE = "id,age,zip,day,salary,disease,note\n" + "".join(
    f"P{i},{20 + i // 2},4760{i % 4},2024-01-{i + 1:02d},{10 * (i % 3)},{('cold', 'flu')[i % 2]},the doctor wrote a long note on visit {i // 3}\n"
    for i in range(12)
)
COLUMNS = "quasi: [age]\nsensitive: {salary: 0.5}\n"
OTHERS = "k: 2\nidentifiers: [id]\nother: drop\n"


def refuse_release(folder: Path, policy: str, table: str = PEOPLE, *more: str, code: int = 2) -> str:
    (folder / "table.csv").write_text(table)
    (folder / "policy.yaml").write_text(policy)
    command = ["anonymize", str(folder / "table.csv"), "-p", str(folder / "policy.yaml"), "-o", str(folder / "release.csv")]
    return refuse(folder, *command, *more, code=code)


RELEASES = {
    "no k": (
        COLUMNS + "other: drop\n",
        "k must be set to make a release: the rows, or persons, of each class at least. Got none.",
    ),
    "columns without a role": (
        "k: 2\ndrop: [id]\n" + COLUMNS,
        "Columns without a role must not slip into a release: 'zip', 'day', 'disease', 'note'. "
        "Name those that are not to be published in drop: [...], and give the others a role. Or set other: drop, which drops all "
        "of them; other: keep publishes them as they are, exactly.",
    ),
    "a value that a hierarchy misses": (
        OTHERS + "quasi: {age: {hierarchy: {all: [20, 21]}}}\nsensitive: [salary]\n",
        "4 values of 'age' are not in its hierarchy: '22', '23', '24', '25'. One of them is in row 5. Add them there.",
    ),
    "top of text": (
        OTHERS + "quasi: {disease: {top: 5}}\nsensitive: [salary]\n",
        "top of 'disease' needs numbers or dates. The column holds text.",
    ),
    "bounds of text": (
        OTHERS + "quasi: {disease: {recode: bounds}}\nsensitive: [salary]\n",
        "recode: bounds of 'disease' needs numbers or dates. The column holds text.",
    ),
    "months of numbers": (
        OTHERS + "quasi: {age: {snap: month}}\nsensitive: [salary]\n",
        "snap of 'age' must be a number above 0. Got 'month'.",
    ),
    "a number for dates": (
        OTHERS + "quasi: {day: {top: 5}}\nsensitive: [salary]\n",
        "top of 'day' must be a date, as 2024-03-05. Got 5.",
    ),
    "dates of numbers": (
        OTHERS + "quasi: {age: {hierarchy: dates}}\nsensitive: [salary]\n",
        "hierarchy: dates of 'age': a value must be a date, as 2024-03-05. Got '20', first in row 1, and 5 other values like it. None of its values fits: choose another hierarchy.",
    ),
    "bins of text": (
        OTHERS + "quasi: [age]\nsensitive: {disease: {bins: 2}}\n",
        "bins of 'disease' need numbers. The column holds text.",
    ),
    "a unique column kept": (
        OTHERS + COLUMNS + "keep: [day]\n",
        "Column 'day' must not be kept as it is: it has 12 values in 12 rows, nearly one for each. "
        "Drop it, give it a role, or keep it with {despite: reason}.",
    ),
    "free text kept": (
        OTHERS + COLUMNS + "keep: [note]\n",
        "Column 'note' must not be kept as it is: it is free text. Drop it, give it a role, or keep it with {despite: reason}.",
    ),
    "other columns kept": (
        "k: 2\nother: keep\n" + COLUMNS,
        "Column 'id' must not be kept as it is: it has 12 values in 12 rows, nearly one for each. "
        "Drop it, give it a role, or keep it with {despite: reason}.",
    ),
    "a policy for another table": (
        "k: 2\nidentifiers: [person]\nquasi: [wave, rate]\nsensitive: {affairs: 0.5}\n",
        "None of the 4 columns that are asked for is in file 'table.csv'; the first is 'wave'. "
        "Is it the right table?",
    ),
    "a topic of context below keep": (
        OTHERS + COLUMNS + "keep:\n  purpose: Research\n",
        "Column 'purpose', which keep names, is not in the table. If it is the topic of context: take '# ' away before "
        "context:, too.",
    ),
    "a kept column that is not there": (
        OTHERS + COLUMNS + "keep: [nole]\n",
        "Column 'nole' is not in the table. Did you mean 'note'?",
    ),
    "an identifier that repeats": (
        "k: 2\nidentifiers: [zip]\nother: drop\n" + COLUMNS,
        "Identifier 'zip' has 4 values in 12 rows: some persons have several rows. "
        "Set unit to the column that names a person, or unit: row if each row is one.",
    ),
    "a unit that is not there": ("k: 2\nunit: idd\nother: drop\n" + COLUMNS, "Column 'idd', which unit names, is not in the table. Did you mean 'id'?"),
}  # fmt: skip


@pytest.mark.parametrize(("policy", "sentence"), RELEASES.values(), ids=RELEASES.keys())
def test_policies_that_no_release_can_be_made_with(tmp_path: Path, policy: str, sentence: str) -> None:
    assert refuse_release(tmp_path, policy) == sentence


RELEASED_TABLES = {
    "empty file": ("", "File 'table.csv' is empty. A header and rows are needed."),
    "header only": (PEOPLE.splitlines()[0] + "\n", "File 'table.csv' has a header and no rows. There is nothing to measure."),
    "too few fields": (PEOPLE + "P99,1\n", "File 'table.csv' is ragged: row 13 has 2 fields, the header 7. Mend that row."),
    "two columns of one name": (
        PEOPLE.replace("note", "zip", 1),
        "Two columns are called 'zip'. Rename one of them.",
    ),
    "missing column": (PEOPLE.replace("salary", "pay", 1), "Column 'salary' is not in the table."),
    "missing person": (
        PEOPLE.replace("P3,", ",").replace("P7,", ","),
        "The unit 'id' must name a person in every row. Got 2 missing, the first in row 4.",
    ),
    "missing value": (
        PEOPLE.replace(",10,", ",,"),
        "Sensitive column 'salary' must have a value in every row for the ordered distance. Got 4 missing, the first in row 2. "
        "Fill them, leave those rows out, or add missing: value to the settings of the column, as in {t: 0.5, missing: value}.",
    ),
}


@pytest.mark.parametrize(("table", "sentence"), RELEASED_TABLES.values(), ids=RELEASED_TABLES.keys())
def test_tables_that_no_release_can_be_made_of(tmp_path: Path, table: str, sentence: str) -> None:
    assert refuse_release(tmp_path, "k: 2\nunit: id\nother: drop\n" + COLUMNS, table) == sentence


def test_a_name_that_a_spreadsheet_may_run(tmp_path: Path) -> None:
    policy = OTHERS + "quasi: ['=age']\nsensitive: {salary: 0.5}\n"
    sentence = refuse_release(tmp_path, policy, PEOPLE.replace("age", "=age", 1))
    assert sentence == "Column '=age' has a name that a spreadsheet may run. Rename it, or set formula_guard: false."


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--algorithm", "mondrain"), f"algorithm must be one of {KNOWN}. Got 'mondrain'. Did you mean 'mondrian'?"),
        (("--effort", "bets"), "effort must be one of fast, balanced, best. Got 'bets'. Did you mean 'best'?"),
        (("--seed", "-1"), "seed must be a whole number from 0 on. Got -1."),
        (("--option", "sizing"), "An option must be written as name=value. Got 'sizing'."),
        (("--option", "=gcd"), "An option must be written as name=value. Got '=gcd'."),
        (("--option", "sizing=gcd"), "'sizing' is not an option of growth. Known are: seconds."),
        (("--option", "seconds=0"), "seconds must be a number above 0. Got '0'."),
        (("--algorithm", "mondrian", "--option", "sizing=gcd"), "'sizing' is not an option of mondrian. Known are: none."),
        (("--algorithm", "fragmentation", "--option", "sizing=gdc"), "sizing must be one of relaxed, gcd. Got 'gdc'. Did you mean 'gcd'?"),
        (("--algorithm", "fragmentation", "--option", "bound="), "bound must be one of corrected, published. Got ''."),
        (("--algorithm", "fragmentation", "--option", "bond=published"), "'bond' is not an option of fragmentation. Known are: sizing, bound, strategy, prefer. Did you mean 'bound'?"),
    ],
)  # fmt: skip
def test_options_that_no_algorithm_has(tmp_path: Path, options: tuple[str, ...], sentence: str) -> None:
    assert refuse_release(tmp_path, OTHERS + COLUMNS, PEOPLE, *options) == sentence


IMPOSSIBLE = {
    "k above the rows": (
        "k: 13\nunit: row\n",
        "{salary: 0.5}",
        "The table has 12 rows: k=13 cannot be satisfied. Choose a smaller k.",
    ),
    "k above the persons": (
        "k: 5\nunit: zip\n",
        "{salary: 0.5}",
        "The table has 4 persons: k=5 cannot be satisfied. Choose a smaller k.",
    ),
    "l above the values": (
        "k: 2\nunit: row\n",
        "{salary: {l: 4}}",
        "Column 'salary' has 3 values: l=4 cannot be satisfied. Choose a smaller l.",
    ),
    "a recursive l": (
        "k: 2\nunit: row\n",
        "{salary: {l: 3, l_kind: recursive, c: 0.1}}",
        "l=3 of 'salary' cannot be satisfied, whichever rows are suppressed.",
    ),
    "alpha below the least share": (
        "k: 2\nunit: row\nalpha: 0.3\nsuppression: 0.5\n",
        "[salary]",
        "alpha=0.3 of 'salary' cannot be satisfied, whichever rows are suppressed.",
    ),
}


@pytest.mark.parametrize(("limits", "sensitive", "sentence"), IMPOSSIBLE.values(), ids=IMPOSSIBLE.keys())
def test_policies_that_cannot_hold_end_with_1(tmp_path: Path, limits: str, sensitive: str, sentence: str) -> None:
    policy = f"{limits}quasi: [age]\nsensitive: {sensitive}\nother: drop\n"
    assert refuse_release(tmp_path, policy, code=1) == sentence


@pytest.mark.parametrize(
    "arguments",
    [
        ("anonymize",),
        ("anonymize", "table.csv"),
        ("anonymize", "table.csv", "-p", "policy.yaml"),
        ("anonymize", "table.csv", "-o", "release.csv"),
        ("anonymize", "table.csv", "-p", "policy.yaml", "-o", "release.csv", "--seed", "x"),
        ("verify",),
        ("algorithms", "mondrian"),
    ],
)
def test_bad_usage_of_the_commands_of_a_release(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert refuse(tmp_path, *arguments).endswith("--help'.")
