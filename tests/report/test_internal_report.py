"""The internal report and the page of an audit: what they add, and that nobody takes them for public ones."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

import tclose as tc
from tclose.cli.commands import app
from tclose.report.papers import papers_in_memory
from tclose.report.report import internal_report
from tclose.study.compare.cell import Cell, Result
from tclose.study.compare.comparison import Compared, Comparison
from tests.support.compared import figures
from tests.support.pages import Page

PEOPLE = pa.table({"age": [*range(20, 60)], "ill": ["flu", "cold", "gout", "cough"] * 10})
POLICY = tc.Policy(["age"], {"ill": {"t": 0.6, "l": 2}}, k=4, context={"purpose": "Costs"})


@pytest.fixture(scope="module")
def release() -> tc.Release:
    return tc.anonymize(PEOPLE, POLICY, algorithm="mondrian")


def test_what_an_internal_report_adds(release: tc.Release) -> None:
    attacks = tc.attack(PEOPLE, POLICY, release=release)
    page = Page(release.to_html(internal=True, data=PEOPLE, attacks=attacks, utility=tc.utility(PEOPLE, POLICY, release=release)))
    assert page.text.startswith("INTERNAL report on release INTERNAL. Do not publish this report")
    for said in (
        "0 rows of the input are suppressed",
        "Algorithm mondrian, seed 0",
        "k, rows in the smallest class; larger is safer 1 4 or more",  # the raw table has classes of one row
        "In the raw table, 40 of 40 classes break a limit, with 40 of 40 rows.",
        "Quasi-identifiers before and after",
        "Classes by their distance from the table in ill",
        "Transport plan of class",
        "Attacks: how often each is right about a person",
        "Counting rows: the median error of answers",
        "tclose anonymize DATA -p policy.yaml -o release --algorithm mondrian --seed 0 --effort balanced",
        "Costs",
    ):
        assert said in page.text, said
    assert [tag for tag, _ in page.tags].count("svg") >= 5


def test_joins_are_named_by_what_is_known_and_told_by_the_worst() -> None:
    """Of both excesses, set by hand, that of who knows the pay is larger, whichever attack comes first."""
    people = pa.table({"age": [*range(20, 60)], "job": ["cook", "smith"] * 20, "pay": [*range(40)]})
    policy = tc.Policy(["age"], {"job": 1, "pay": 1}, k=8)
    attacks = tc.attack(people, policy, holdout="1/4").to_dict()
    for one in attacks["attacks"]:
        if one["name"] == "background join":
            one["excess"], one["interval"] = (0.5, [0.4, 0.6]) if one["figures"]["known"] == "pay" else (0.1, [0.0, 0.2])
    release = tc.anonymize(people, policy)
    text = Page(internal_report(papers_in_memory(release), attacks=attacks)).text
    assert "background join, knows pay job" in text
    assert "background join, knows job pay" in text
    assert "background join Someone who knows the quasi-identifiers of a person and their pay guesses their job." in text
    assert "Lowered by: bins for pay" in text
    older = json.loads(json.dumps(attacks))
    for one in older["attacks"]:
        del one["figures"]
    assert " background join job " in Page(internal_report(papers_in_memory(release), attacks=older)).text


def test_persons_before_and_after() -> None:
    people = pa.table(
        {"who": [f"P{row // 2}" for row in range(40)], "age": [row // 8 for row in range(40)], "ill": ["a", "b"] * 20}
    )
    policy = tc.Policy(["age"], {"ill": 0.5}, k=8, unit="who", identifiers=["who"])
    text = Page(tc.anonymize(people, policy).to_html(internal=True, data=people)).text
    assert "k, persons in the smallest class; larger is safer 4 8 or more 8 or more" in text


def test_attacks_by_all_rows_of_a_person_are_shown() -> None:
    columns = {
        "who": [row // 2 for row in range(60)],
        "age": [row * 7 % 30 for row in range(60)],
        "pay": [row // 2 for row in range(60)],
    }
    people, policy = pa.table(columns), tc.Policy(["age"], {"pay": 1}, k=3, unit="who")
    release = tc.anonymize(people, policy, algorithm="mondrian")
    text = Page(release.to_html(internal=True, data=people, attacks=tc.attack(people, policy, release=release))).text
    assert (
        "several rows Someone who knows the quasi-identifiers of all rows of a person and that they are in the release is "
        in text
    )
    assert "Lowered by: one row a person, larger classes (k), or coarser values." in text
    assert "A person with several rows counts once: where the attacker is sure, or proves a class, " in text


def test_without_the_raw_table_an_internal_report_says_so(release: tc.Release) -> None:
    text = Page(release.to_html(internal=True)).text
    for said in ("The raw table was not given", "No attacks were given", "What the release keeps of the raw table was not given"):
        assert said in text


def test_a_comparison_is_shown_as_a_frontier(release: tc.Release, tmp_path: Path) -> None:
    done = [
        Result(Cell(name, 0.2, 4, 0), "done", figures=figures(t=0.19, gcp=gcp))
        for name, gcp in (("growth", 0.2), ("mondrian", 0.4))
    ]
    found = Comparison(done, 0.2, Compared(40, 30, 3, ["age"], ["ill"]))
    (tmp_path / "found.json").write_text(found.to_json())
    path = release.write(tmp_path / "release.csv")[0]
    run = CliRunner().invoke(app, ["report", str(path), "--internal", "--comparison", str(tmp_path / "found.json")])
    assert (run.exit_code, run.stdout) == (0, f"Wrote {path}.internal.html, an INTERNAL report: never publish it.\n"), run.stderr
    text = Page(Path(f"{path}.internal.html").read_text()).text
    assert found.suggestion is not None
    assert f"{found.suggestion} GCP is information loss: 0 is none" in text
    assert "mondrian, t = 0.2 0.1900 - 0.400" in text
    assert Comparison.from_dict(json.loads(found.to_json())).to_dict() == found.to_dict()
    with pytest.raises(tc.InputError, match="not the JSON of a comparison"):
        Comparison.from_dict({"results": [{}], "asked": None})


def test_fragments_are_drawn(release: tc.Release) -> None:
    found = tc.find_fragmentation([10, 10, 10, 10], t=0.3)
    assert "Fragments of the sensitive values" in Page(release.to_html(internal=True, fragmentation=found)).text


def test_names_of_files_tell_internal_from_public(release: tc.Release, tmp_path: Path) -> None:
    with pytest.raises(tc.OutputError, match=r"must say so, for example report\.internal\.html"):
        release.to_html(tmp_path / "report.html", internal=True)
    release.to_html(tmp_path / "report.Internal.html", internal=True)
    assert "INTERNAL. Do not publish" in (tmp_path / "report.Internal.html").read_text()


def test_a_public_report_takes_nothing_of_the_raw_table(release: tc.Release) -> None:
    with pytest.raises(tc.InputError, match="A public report has nothing of the raw table"):
        release.to_html(data=PEOPLE)


def test_a_record_or_findings_that_do_not_belong(release: tc.Release, tmp_path: Path) -> None:
    path, _, record, _ = release.write(tmp_path / "release.csv")
    (tmp_path / "other.json").write_text(record.read_text().replace('"sha256": "', '"sha256": "0'))
    (tmp_path / "odd.json").write_text("[]")
    for arguments, sentence in (
        (["--record", tmp_path / "other.json"], "Record 'other.json' belongs to another release."),
        (
            ["--internal", "--attacks", tmp_path / "odd.json"],
            "File 'odd.json' is damaged, or not the output of 'tclose attack --json': it is no mapping. Make it again.",
        ),
    ):
        done = CliRunner().invoke(app, ["report", str(path), *map(str, arguments)])
        assert (done.exit_code, done.stderr) == (2, f"Error: {sentence}\n")
    record.unlink()
    done = CliRunner().invoke(app, ["report", str(path), "--internal", "--data", "people.csv"])
    assert "private record, which is not there" in done.stderr


def test_the_raw_table_is_the_one_of_the_release(release: tc.Release) -> None:
    with pytest.raises(tc.InputError, match=r"made from a table of 40 rows, and the raw table has 39\. Give the one"):
        release.to_html(internal=True, data=PEOPLE.slice(1))


def test_a_folder_without_a_release_has_no_report(tmp_path: Path) -> None:
    for name, says in (
        (str(tmp_path), "is a folder without Parquet files."),
        ("absent.csv", "'absent.csv' does not exist."),
    ):
        done = CliRunner().invoke(app, ["report", name])
        assert (done.exit_code, done.stdout) == (2, "")
        assert says in done.stderr


def test_the_page_of_an_audit(tmp_path: Path) -> None:
    pyarrow.csv.write_csv(PEOPLE, tmp_path / "people.csv")
    POLICY.save(tmp_path / "policy.yaml")
    page = tmp_path / "audit.html"
    done = CliRunner().invoke(
        app, ["audit", str(tmp_path / "people.csv"), "-p", str(tmp_path / "policy.yaml"), "--html", str(page)]
    )
    assert done.exit_code == 1, done.stderr
    text = Page(page.read_text()).text
    assert "INTERNAL. Do not publish this page" in text
    assert "The policy is not satisfied. 40 of 40 classes break a limit" in text
    assert "25 classes more, which are not farther, are not shown." in text
    assert tc.audit(PEOPLE, tc.Policy(["age"], ["ill"])).to_html(tmp_path / "again.html") == (tmp_path / "again.html").read_text()


def test_a_set_of_tables_has_a_report_for_each(tmp_path: Path) -> None:
    table = PEOPLE.append_column("pay", pa.array([number % 7 for number in range(40)]))
    pyarrow.csv.write_csv(table, tmp_path / "people.csv")
    tc.Policy(["age"], {"ill": 0.9, "pay": 0.9}, k=2).save(tmp_path / "policy.yaml")
    arguments = [
        "anonymize",
        "people.csv",
        "-p",
        "policy.yaml",
        "-o",
        "release.csv",
        "--algorithm",
        "codip",
        "--option",
        "intersection=accept",
        "--report",
        "page.html",
    ]
    done = CliRunner().invoke(app, [str(tmp_path / one) if "." in one and "=" not in one else one for one in arguments])
    assert done.exit_code == 0, done.stderr
    tables = len(list(tmp_path.glob("release.*.csv")))
    assert len(list(tmp_path.glob("page.*.html"))) == tables > 0
    assert "Table 1 of" in (tmp_path / "page.1.html").read_text() or tables == 1


def test_only_its_owner_may_read_an_internal_report(release: tc.Release, tmp_path: Path) -> None:
    release.to_html(tmp_path / "report.internal.html", internal=True)
    assert oct((tmp_path / "report.internal.html").stat().st_mode & 0o777) == "0o600"


def test_without_the_record_the_command_says_what_it_does_not_know(release: tc.Release, tmp_path: Path) -> None:
    release.write(tmp_path / "release.csv")
    (tmp_path / "release.csv.private.json").unlink()
    result = CliRunner().invoke(app, ["report", str(tmp_path / "release.csv")])
    assert result.exit_code == 0
    assert "Warning: the private record of the release is not there. Counts below 5 are masked" in result.stderr
