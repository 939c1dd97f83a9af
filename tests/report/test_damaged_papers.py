"""Papers that a report reads: whatever entry of them is damaged, there is a page, or one sentence that names the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

import tclose as tc
from tclose.cli.commands import app
from tclose.report import figures
from tclose.report.findings import read_findings
from tclose.report.papers import Papers, papers_beside, read_record
from tclose.report.report import internal_report, public_report
from tclose.study.compare.cell import Cell, Result
from tests.support.compared import figures as measured
from tests.support.damage import damages

PEOPLE = pa.table({"age": [*range(20, 60)], "ill": ["flu", "cold", "gout", "cough"] * 10})
POLICY = tc.Policy(["age"], {"ill": {"t": 0.6, "l": 2}}, k=4, context={"purpose": "Costs"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a release, its papers, and what attacks, utility and a comparison found."""
    folder = tmp_path_factory.mktemp("papers")
    pyarrow.csv.write_csv(PEOPLE, folder / "people.csv")
    tc.anonymize(folder / "people.csv", POLICY, algorithm="mondrian").write(folder / "release.csv")
    (folder / "attacks.json").write_text(tc.attack(PEOPLE, POLICY, algorithm="mondrian").to_json())
    (folder / "utility.json").write_text(tc.utility(PEOPLE, POLICY, algorithm="mondrian").to_json())
    cells = [Result(Cell("mondrian", t, 4, 0), "done", figures=measured(t=t, gcp=1 - t)) for t in (0.3, 0.6)]
    (folder / "comparison.json").write_text(tc.Comparison(cells, 0.6).to_json())
    return folder


@pytest.fixture(scope="module")
def papers(folder: Path) -> Papers:
    return papers_beside(folder / "release.csv")


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Charts are made, and not drawn: that takes most of the time of a page, and other tests do it."""
    monkeypatch.setattr(figures, "draw_inline", lambda _: "")


def tried(whole: Any, file: Path, read: Callable[[Path], Any], show: Callable[[Any], object]) -> tuple[int, int]:
    """How many damaged papers are refused, and of how many that are read there is a page: of equal ones once."""
    refused: list[str] = []
    seen = []
    for _, damaged in damages(whole):
        file.write_text(json.dumps(damaged))
        try:
            found = read(file)
        except tc.TcloseError as error:
            refused.append(str(error))
            continue
        if found not in seen:
            seen.append(found)
            show(found)
    assert all(repr(file.name) in sentence and len(sentence) < 300 for sentence in refused)
    return len(refused), len(seen)


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("kind", ["attacks", "utility", "comparison"])
def test_whatever_is_damaged_in_findings_there_is_a_page_or_a_sentence(
    kind: str, folder: Path, papers: Papers, tmp_path: Path
) -> None:
    whole = json.loads((folder / f"{kind}.json").read_text())
    refused, shown = tried(
        whole,
        tmp_path / "damaged.json",
        lambda path: read_findings(path, kind),
        lambda found: internal_report(papers, **{kind: found}),
    )
    assert refused > 100
    assert shown > 10


@pytest.mark.usefixtures("undrawn")
def test_whatever_is_damaged_in_the_record_there_is_a_page_or_a_sentence(folder: Path, papers: Papers, tmp_path: Path) -> None:
    def show(found: Any) -> None:
        known = Papers(papers.measured, papers.certificate, *found)
        public_report(known)
        internal_report(known)

    whole = json.loads((folder / "release.csv.private.json").read_text())
    read = lambda path: read_record(path, papers.certificate)  # noqa: E731
    refused, shown = tried(whole, tmp_path / "damaged.json", read, show)
    assert refused > 100
    assert shown > 10


@pytest.mark.parametrize(
    ("file", "damage", "says"),
    [
        ("attacks", lambda found: found["attacks"][0].pop("members"), "not the output of 'tclose attack --json': it has no 'attacks.0.members'. Make it again."),
        ("attacks", lambda found: found["attacks"][0].update(controls=None), "at 'attacks.0' an attack has an excess and nobody to compare with, or the other way round."),
        ("utility", lambda found: found["columns"][0]["before"].append(0), "at 'columns.0' a column has shares without labels, or labels without shares."),
        ("comparison", lambda found: found["results"][0]["figures"].update(gcp="0.2"), "'results.0.figures.gcp' must be a number."),
        ("comparison", lambda found: found.update(results={}), "'results' must be a list."),
        ("record", lambda found: found.pop("input"), "not the private record of a release: it has no 'input'. Give the one that was written with the release"),
        ("record", lambda found: found.update(suppressed="x"), "'suppressed' must be a whole number."),
        ("record", lambda found: found["policy"].update(context=[]), "has no policy that tclose can read"),
    ],
)  # fmt: skip
def test_the_sentence_on_a_damaged_paper(
    folder: Path, tmp_path: Path, file: str, damage: Callable[[Any], object], says: str
) -> None:
    name = "release.csv.private" if file == "record" else file
    found = json.loads((folder / f"{name}.json").read_text())
    damage(found)
    (tmp_path / "odd.json").write_text(json.dumps(found))
    page = tmp_path / "page.internal.html"
    given = ["report", str(folder / "release.csv"), "--internal", "-o", str(page), f"--{file}", str(tmp_path / "odd.json")]
    done = CliRunner().invoke(app, given)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(("Error: File 'odd.json' is damaged, or not", "Error: Record 'odd.json'"))
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not page.exists()


def test_a_context_of_null_says_nothing(folder: Path, papers: Papers, tmp_path: Path) -> None:
    found = json.loads((folder / "release.csv.private.json").read_text())
    found["policy"]["context"] = None
    (tmp_path / "record.json").write_text(json.dumps(found))
    known = Papers(papers.measured, papers.certificate, *read_record(tmp_path / "record.json", papers.certificate))
    assert known.context == {}
    assert "not stated" in public_report(known)


def test_a_certificate_with_null_for_what_is_optional(folder: Path, tmp_path: Path) -> None:
    said = json.loads((folder / "release.csv.certificate.json").read_text())
    (tmp_path / "release.csv.certificate.json").write_text(json.dumps({**said, "tables": None}))
    (tmp_path / "release.csv").write_bytes((folder / "release.csv").read_bytes())
    done = CliRunner().invoke(app, ["report", str(tmp_path / "release.csv")])
    assert done.exit_code == 0, done.stderr
    assert "Part of a set" not in (tmp_path / "release.csv.report.html").read_text()
