"""tclose init: what it writes, shows and refuses; and that what it writes can be used."""

from __future__ import annotations

import csv
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import tclose as tc
from tclose.cli import app
from tclose.jobs import report
from tclose.make.kernels.compiling import HOW_OFTEN
from tclose.policy.proposed import NOBODY
from tclose.release.hospital import hospital
from tests.support.people import YEARS


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("visits") / "visits 1.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(hospital(500))
    return path


@pytest.mark.usefixtures("warm")
def test_a_proposal_is_written_shown_and_used(visits: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    result = run("init", visits, "-o", policy)
    assert (result.exit_code, result.stderr) == (0, "")
    shown = result.stdout
    assert shown.startswith(f"Wrote {policy}: a proposal to check and edit. INTERNAL: it counts rows of the raw table.\n")
    lines = [line.split() for line in shown.splitlines() if line]
    assert ["patient", "identifiers,", "unit"] in [line[:3] for line in lines]
    assert ["diagnosis", "guess:", "sensitive"] in [line[:3] for line in lines]
    assert [line[0] for line in lines if line[0].startswith("0.")] == ["0.1", "0.2", "0.3"]
    questions = [
        "1. Which columns are sensitive? cost, diagnosis and icd10 are guesses from names alone.",
        "2. Which t?",
        "3. What can others know about a person? That belongs in quasi.",
    ]
    asked = shown.partition("Decide before you publish anything. The head of the file says what to write.\n")[2].splitlines()
    assert all(line.startswith(f"  {question}") for line, question in zip(asked[:3], questions, strict=True))
    assert asked[1] == "  2. Which t? 0.2 is in the file so that it runs."
    head = " ".join(policy.read_text().replace("\n#     ", " ").split())
    assert all(question in head for question in questions)  # under the same number
    same = "Are both diagnosis and icd10 needed? They tell the same."
    number = next(number for number in range(4, 20) if f"{number}. {same}" in head)
    assert f"  {number}. Are both diagnosis and icd10 needed?\n" in shown
    assert f"{same} Each of them needs limits, which cost detail: one may do." in head
    assert "cost, diagnosis and icd10 are guesses from names alone. Ask of each column in quasi: would it harm a person" in shown
    assert "A harmless column that nobody else knows can be published as it is, with its exact values: name it in keep" in head
    assert [
        line.count(" and ") for line in shown.splitlines() if "single" in line and " row" in line and "whoever" not in line
    ] == [0, 1, 1]
    assert "These are the worst: in all, " in shown
    assert policy.read_text().count("each step has 5 persons or more, or nobody") == 1
    assert len(shown.split()) < 400
    command = f"Then: tclose anonymize '{visits}' -p {policy} -o release.csv --report report.html"
    assert f"# {command}" in policy.read_text().splitlines()
    assert shown.splitlines()[-1] == command
    costs = f"tclose compare '{visits}' -p {policy} --algorithms growth --t 0.1,0.2,0.3"  # of the policy once it is edited
    assert f"#   {costs}" in policy.read_text().splitlines()
    assert shown.splitlines()[-2] == f"After changes, what each t costs: {costs}"
    for cell in {row[1] for row in hospital(500)[1:]}:
        assert cell not in shown
        assert cell not in policy.read_text()

    assert "Delete its line NOT CONFIRMED when you have checked each column." in shown
    made = run("anonymize", visits, "-p", policy, "-o", tmp_path / "release.csv", "--report", tmp_path / "report.html")
    assert made.exit_code == 0
    assert NOBODY in (tmp_path / "report.html").read_text()
    told = (
        f"The roles of the columns are a proposal that nobody has confirmed: {policy} still has the line NOT CONFIRMED. "
        "Check each column, then delete the line."
    )
    first, *_, last = made.stdout.splitlines()
    assert (first, last) == (told, told)
    assert run("verify", tmp_path / "release.csv").exit_code == 0
    confirmed = tmp_path / "confirmed.yaml"
    confirmed.write_text("".join(line for line in policy.read_text().splitlines(keepends=True) if "NOT CONFIRMED" not in line))
    made = run(
        "anonymize", visits, "-p", confirmed, "-o", tmp_path / "release.csv", "--report", tmp_path / "report.html", "--force"
    )
    assert NOBODY not in (tmp_path / "report.html").read_text()
    assert (made.exit_code, "confirmed" in made.stdout.replace(str(confirmed), "")) == (0, False)

    again = run("init", visits, "-o", policy)
    assert (again.exit_code, again.stdout) == (2, "")
    assert again.stderr == f"Error: File {str(policy)!r} exists. Give --force to replace it.\n"
    printed = run("init", visits)  # without -o
    assert (printed.exit_code, printed.stderr) == (0, "")
    written = policy.read_text().replace(f"-p {policy}", "-p policy.yaml")
    assert printed.stdout.partition("\n# Then: ")[2] == written.partition("\n# Then: ")[2]
    (tmp_path / "again.yaml").write_text(printed.stdout)
    assert tc.Policy.load(tmp_path / "again.yaml") == tc.Policy.load(policy)


def test_names_and_hierarchies_are_taken_from_the_command_line(
    visits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trees").mkdir()
    jobs = sorted({row["profession"] for row in csv.DictReader(visits.read_text().splitlines())})
    (tmp_path / "trees" / "profession.csv").write_text("".join(f"{job};{job[0]};*\n" for job in jobs))
    for names in (["--sensitive", "diagnosis,cost"], ["--sensitive", "diagnosis", "--sensitive", "cost"]):
        result = run("init", visits, *names, "--hierarchies", "trees", "-o", "policy.yaml", "--force")
        assert (result.exit_code, result.stderr) == (0, "")
        policy = tc.Policy.load("policy.yaml")
        assert [column.name for column in policy.sensitive] == ["cost", "diagnosis"]
        assert policy.to_dict()["quasi"]["profession"] == {"hierarchy": "trees/profession.csv"}
        assert "  1. Which columns are sensitive? You named cost and diagnosis: is that all?\n" in result.stdout
        assert "guess" not in result.stdout
    with (tmp_path / "trees" / "profession.csv").open("w") as file:
        file.write("".join(f"{job};{job[0]};*\n" for job in jobs[1:]))
    shown = run("init", visits, "--sensitive", "diagnosis,cost", "--hierarchies", "trees", "-o", "policy.yaml", "--force").stdout
    command = f"tclose hierarchy '{visits}' profession --file trees/profession.csv"
    (told,) = [line for line in shown.splitlines() if line.endswith(command)]
    assert told.partition(". ")[2] == f"profession.csv does not fit: it lacks 1 of {len(jobs)} values. This names them: {command}"
    assert f"\n# {told.partition(' This names')[0]}" in Path("policy.yaml").read_text()  # under the same number
    own = Path("policy.yaml").read_text().partition("  profession:")[0].rpartition("  # Text")[2]
    assert " ".join(own.split()).startswith(f", {len(jobs)} different. In sets. profession.csv does not fit")
    found = run(*shlex.split(command)[1:])
    assert "of 'profession', first in row" in found.output


def test_that_each_row_is_taken_for_a_person_is_asked_unless_a_column_names_persons(visits: Path, tmp_path: Path) -> None:
    (tmp_path / "ill.csv").write_text("age,ill\n" + "".join(f"{20 + number % 7},{'ab'[number % 2]}\n" for number in range(60)))
    for table, said in ((tmp_path / "ill.csv", 1), (visits, 0)):
        assert run("init", table, "-o", tmp_path / "p.yaml", "--force").stdout.count("  Is each row a person?") == said
    (tmp_path / "years.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in [["age", "sex", "job", "ill"], *YEARS]))
    shown = run("init", tmp_path / "years.csv", "-o", tmp_path / "p.yaml", "--force").stdout
    asked = (
        "Do persons have several rows? 66.7% of the rows agree with the row before in all columns but one at most, as rows of one"
    )
    assert "  4. Do persons have several rows?\n" in shown
    assert f"4. {asked} person do." in " ".join((tmp_path / "p.yaml").read_text().replace("\n#     ", " ").split())
    assert "Is each row a person?" not in shown


def test_that_others_may_know_several_rows_of_a_person_is_asked_on_the_screen(tmp_path: Path) -> None:
    rows = (f"p{row // 3},{20 + row % 7},{row // 3 % 6}\n" for row in range(120))
    (tmp_path / "visits.csv").write_text("patient,age,income\n" + "".join(rows))
    shown = run("init", tmp_path / "visits.csv", "-o", tmp_path / "p.yaml").stdout
    assert "  4. Do others know several rows of a person?\n" in shown
    head = " ".join((tmp_path / "p.yaml").read_text().replace("\n#     ", " ").split())
    assert "4. Do others know several rows of a person? income is the same in all rows of each of the 40 persons" in head
    assert "publish one row a person: docs/visits.md says how." in head


def test_standard_input_is_called_by_its_mark(visits: Path) -> None:
    result = CliRunner().invoke(app, ["init", "-"], input=visits.read_bytes())
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("# A proposal for standard input (500 rows)")
    assert "\n# Then: tclose anonymize - -p policy.yaml -o release.csv --report report.html\n" in result.stdout


def test_what_cannot_be_proposed_is_one_sentence(visits: Path, tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("a\n1\n2\n")
    for arguments, sentence in (
        ([tmp_path / "one.csv"], "Error: A policy needs a quasi-identifier, which others may know, and a sensitive column."),
        ([tmp_path / "none.csv"], "Error: File "),
        ([visits, "-o", visits], "Error: File "),
        ([visits, "--sensitive", "diagnosys"], "Error: Column 'diagnosys' is not in the table. Did you mean 'diagnosis'?"),
        ([visits, "--hierarchies", tmp_path / "no"], "Error: The folder of hierarchies "),
        (
            [visits, "--hierarchies", visits],
            f"Error: Hierarchies must be in a folder. {str(visits)!r} is a file: give its folder.",
        ),
        ([visits, "-o", tmp_path / "no" / "policy.yaml"], "Error: Folder "),
    ):
        result = run("init", *arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith(sentence)
        assert result.stderr.count("\n") == 1


def test_the_first_proposal_on_a_machine_says_that_it_compiles(visits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[object] = []

    def compiling(*_: object, **__: object) -> None:
        report(f"compiling, {HOW_OFTEN}")
        raise tc.InputError("That will do.")

    monkeypatch.setattr("tclose.make.kernels.ahead.compile_ahead", said.append)
    monkeypatch.setattr("tclose.study.propose.propose.costs_of_t", compiling)
    result = run("init", visits)
    assert result.stderr.splitlines()[0] in (
        "Compiling, once on this machine, which may take a minute.",
        "Compiling, each time, which may take a minute; set NUMBA_CACHE_DIR to a folder to keep it in.",
    )
    assert len(said) == 1  # it begins while the table is read
