"""The record of a comparison: one writer at a time, and a damaged one is refused in a sentence and left as it is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

import tclose as tc
from tclose.cli import app
from tclose.study.compare import compare as study
from tclose.study.compare.cell import Cell, Result, Task
from tclose.study.compare.record import Record
from tests.support.compared import figures
from tests.support.damage import damages

POLICY = tc.Policy(["age"], {"ill": 0.9}, k=2)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A file with 8 people."""
    path = tmp_path / "people.csv"
    pyarrow.csv.write_csv(pa.table({"age": [20, 21, 22, 23] * 2, "ill": ["flu", "cold"] * 4}), path)
    return path


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Cell]:
    """The cells that are made; each is done at once, one is refused."""
    begun: list[Cell] = []

    def run_all(_: Task, cells: list[Cell], *__: Any) -> Any:
        for cell in cells:
            begun.append(cell)
            refused = cell.algorithm == "sabre"
            yield Result(cell, "refused", "It cannot.") if refused else Result(cell, "done", figures=figures())

    monkeypatch.setattr(study, "run_all", run_all)
    return begun


def compare(people: Path, **given: Any) -> tc.Comparison:
    return tc.compare(
        people, POLICY, **{"algorithms": ["mondrian", "sabre"], "t": [0.5], "record": people.with_name("r.json"), **given}
    )


HOLDER = """
import sys, time
from pathlib import Path
from tclose.tables.files import one_writer
with one_writer(Path(sys.argv[1])) as held:
    print(held, flush=True)
    time.sleep(600)
"""


def test_another_comparison_writes_the_record_and_one_that_was_killed_does_not(people: Path, made: list[Cell]) -> None:
    record = people.with_name("r.json")
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(record)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    with holder:
        try:
            assert holder.stdout.readline() == "True\n"
            with pytest.raises(
                tc.OutputError, match=r"Another comparison is writing the record .*r\.json'\. Wait until it has ended, or"
            ):
                compare(people)
            compare(people, record=people.with_name("other.json"))
        finally:
            os.kill(holder.pid, signal.SIGKILL)
    assert not record.exists()
    assert len(list(record.parent.glob(".tclose-lock-*"))) == 1  # which the killed one left
    compare(people)
    assert [cell.algorithm for cell in made] == ["mondrian", "sabre"] * 2
    assert sorted(path.name for path in people.parent.iterdir()) == ["other.json", "people.csv", "r.json"]


def test_the_record_is_locked_while_cells_run(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = []

    def run_all(_: Task, cells: list[Cell], *__: Any) -> Any:
        with pytest.raises(tc.OutputError) as told:
            compare(people)
        refused.append(str(told.value))
        yield from (Result(cell, "done", figures=figures()) for cell in cells)

    monkeypatch.setattr(study, "run_all", run_all)
    assert len(compare(people).results) == 2
    assert len(refused) == 1


def test_a_table_that_changes_while_cells_run_ends_the_comparison(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run_all(_: Task, cells: list[Cell], *__: Any) -> Any:
        for cell in cells:
            yield Result(cell, "done", figures=figures())
            people.write_text(people.read_text() + "99,flu\n")

    monkeypatch.setattr(study, "run_all", run_all)
    with pytest.raises(tc.InputError, match="has changed while it was read"):
        compare(people)
    assert [one["algorithm"] for one in json.loads(people.with_name("r.json").read_text())["results"]] == ["mondrian"]


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda text: text[: len(text) // 2], "is not JSON. Check how it was copied."),
        (lambda _: "", "is not JSON. Check how it was copied."),
        (lambda _: "[]", "is damaged, or not the record of a comparison: it is no mapping. Remove it, or name another record."),
        (lambda _: "{}", "it has no 'asked'."),
        (lambda text: text.replace('"gcp": 0.3', '"gcp": NaN', 1), "has NaN or Infinity"),
        (lambda text: text.replace('"gcp": 0.3', '"gcp": "0.3"', 1), "'results.0.figures.gcp' must be a number."),
        (lambda text: text.replace('"gcp": 0.3,', "", 1), "it has no 'results.0.figures.gcp'."),
        (lambda text: text.replace('"gcp": 0.3', '"gcp": 3', 1), "'results.0.figures.gcp' must be a smaller number."),
        (lambda text: text.replace('"mondrian"', '"magic"', 1), "at 'results.0.algorithm' it names an algorithm that this version"),
        (lambda text: text.replace('"refused"', '"done"', 1), "at 'results.1' a cell is done without figures"),
        (lambda text: text.replace('"sabre"', '"mondrian"', 1), "it has a cell twice"),
        (lambda text: text.replace('"effort": "balanced"', '"effort": "best"', 1), "is not the record of this comparison"),
    ],
)  # fmt: skip
def test_a_damaged_record_is_refused_in_a_sentence_and_left_as_it_is(
    people: Path, made: list[Cell], damage: Callable[[str], str], says: str
) -> None:
    compare(people)
    record = people.with_name("r.json")
    text = damage(record.read_text())
    record.write_text(text)
    POLICY.save(people.with_name("policy.yaml"))
    given = ["compare", str(people), "-p", str(people.with_name("policy.yaml")), "-o", str(record), "--t", "0.5"]
    done = CliRunner().invoke(app, [*given, "--algorithms", "mondrian,sabre"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert says in done.stderr
    assert "r.json" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert record.read_text() == text
    assert len(made) == 2


def test_whatever_entry_is_damaged_the_record_is_refused_or_shown(people: Path, made: list[Cell]) -> None:
    """Each entry in turn is removed or replaced by values of all types; another value of the right type cannot be told."""
    compare(people)
    path = people.with_name("r.json")
    whole = json.loads(path.read_text())
    refused: list[str] = []
    read = set()
    for place, damaged in damages({name: whole[name] for name in ("of", "asked", "results")}):
        path.write_text(json.dumps(damaged))
        try:
            record = Record(path, whole["of"], whole["asked"])
        except tc.TcloseError as error:
            refused.append(str(error))
        else:
            read.add(place[-1])
            shown = tc.Comparison([*record.results, Result(Cell("growth", 0.5, 2, 0), "done", figures=figures())], 0.9)
            assert shown.suggestion
            assert len(shown.to_csv().splitlines()) == 2 + len(record.results)
            assert "growth" in shown._repr_html_()
    assert len(refused) > 200
    assert all("r.json" in sentence and len(sentence) < 300 for sentence in refused)
    figures_read = {"attack", "sentence", "attained", "query_error", "excess", "seconds", "gcp_stated", "share", "share_in_table"}
    assert read == {"results", 0, "t", "seed", "reason"} | figures_read
