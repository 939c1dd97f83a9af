"""Comparing algorithms and thresholds: cells, processes that end, a record to go on from, the frontier and the suggestion."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tclose as tc
from tclose.make.registry import settings_of
from tclose.release.detail import DetailLost
from tclose.study.compare import compare as study
from tclose.study.compare.cell import Cell, Result, Task, run
from tclose.study.compare.comparison import Compared, Comparison
from tclose.study.compare.workers import run_all
from tclose.study.staging import stage
from tclose.values.exact import exact
from tests.support.compared import figures
from tests.support.pages import Page

POLICY = tc.Policy(["age", "size"], {"ill": 0.3}, k=4)


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with 200 people."""
    rng = np.random.default_rng(7)
    table = pa.table(
        {"age": rng.integers(20, 60, 200), "size": rng.integers(150, 190, 200), "ill": rng.choice(["flu", "cold", "gout"], 200)}
    )
    path = tmp_path_factory.mktemp("people") / "people.parquet"
    pq.write_table(table, path)
    return path


def test_the_frontier_has_what_nothing_is_better_than() -> None:
    found = Comparison(
        [
            Result(Cell("growth", 0.1, 5, 0), "done", figures=figures(t=0.1, gcp=0.4)),
            Result(Cell("growth", 0.2, 5, 0), "done", figures=figures(t=0.2, gcp=0.2)),
            Result(Cell("mondrian", 0.2, 5, 0), "done", figures=figures(t=0.15, gcp=0.5)),  # growth at 0.1 is better in both
            Result(Cell("mondrian", 0.1, 5, 0), "time", "It took longer than 1 s."),
        ],
        0.2,
    )
    assert [point.name for point in found.frontier()] == ["growth, t = 0.1, k = 5", "growth, t = 0.2, k = 5"]
    assert [point["dominated"] for point in found.to_dict()["points"]] == [False, False, True]
    assert found.suggestion == (
        "At t = 0.2, growth (k = 5) loses least: GCP 0.200, COUNT queries off by 20.0% in the median, largest excess of an attack "
        "+1.0 points. In GCP, a t of 0.1 costs 0.200 more. Next is mondrian with GCP 0.500."
    )
    assert (found.best, Comparison([], None).best) == (found.points[1], None)
    assert repr(found) == "<Comparison: 3 of 4 cells done; 2 on the frontier of t and GCP; INTERNAL>"


def test_the_attack_with_the_largest_excess_is_told() -> None:
    said = "Someone who knows the quasi-identifiers of a person and their pay guesses their ill: right for 60.0% of the people."
    of = [
        figures(excess=0.1, attack="learning, ill", sentence="Someone."),
        figures(excess=0.5, attack="join, ill", sentence=said),
    ]
    cells = [Result(Cell("growth", 0.2, 5, seed), "done", figures=one) for seed, one in enumerate(of)]
    one, both = Comparison(cells[1:], 0.2), Comparison(cells, 0.2)
    assert one.suggestion is not None
    assert one.suggestion.endswith(f"largest excess of an attack +50.0 points. That attack: someone{said[7:]}")
    assert both.suggestion is not None
    assert both.suggestion.endswith(f"largest excess of an attack +30.0 points. The largest of 2 seeds: someone{said[7:]}")
    assert both.to_dict()["points"][0]["attack"] == "join, ill"


@pytest.mark.parametrize("excess", [-0.02, 0.0, 0.0004])
def test_an_attack_that_gains_nothing_is_not_told(excess: float) -> None:
    found = figures(excess=excess, attack="certain", sentence="Someone is certain: right for 0.0% of the people.")
    said = Comparison([Result(Cell("growth", 0.2, 5, 0), "done", figures=found)], 0.2).suggestion
    assert said is not None
    assert said.endswith("in the median, no attack more often right about people in the release than about others.")


def test_points_are_means_over_seeds_and_the_worst_t() -> None:
    cells = [
        Result(Cell("growth", 0.2, 5, seed), "done", figures=figures(t=t, gcp=gcp))
        for seed, t, gcp in ((0, 0.1, 0.2), (1, 0.2, 0.4))
    ]
    (point,) = Comparison(cells, 0.2).points
    assert (point.seeds, point.t) == (2, 0.2)
    assert point.gcp == pytest.approx(0.3)


def test_nothing_was_made() -> None:
    found = Comparison([Result(Cell("growth", 0.1, 5, 0), "refused", "It cannot.")], None)
    assert (found.points, found.frontier(), found.suggestion) == ([], [], None)
    assert found.to_csv() == "algorithm,t,k,seed,status,reason\ngrowth,0.1,5,0,refused,It cannot.\n"


def test_processes_find_what_this_one_finds_and_go_on_where_they_were(people: Path, tmp_path: Path, monkeypatch: Any) -> None:
    record = tmp_path / "comparison.json"
    asked: dict[str, Any] = {"algorithms": ["mondrian", "sabre"], "record": record, "processes": 2}
    found = tc.compare(people, POLICY, t=[0.3], **asked)
    task = Task(people, POLICY, exact("1/10"), "balanced")
    for result in found:
        again = run(task, result.cell)
        assert result.status == again.status == "done"
        assert {**result.to_dict()["figures"], "seconds": 0} == {**again.to_dict()["figures"], "seconds": 0}
    assert all(0 < (point.gcp_stated or 0) <= 1 for point in found.points)
    assert all(found.share_in_table["ill"] <= point.share["ill"] <= 1 for point in found.points)
    assert found.compared == Compared(200, 200, 20, ["age", "size"], ["ill"])
    assert json.loads(record.read_text())["compared"] == found.compared._asdict()
    assert oct(record.stat().st_mode & 0o777) == "0o600"
    begun: list[Cell] = []
    whole = run_all

    def noting(task: Task, cells: list[Cell], *rest: Any) -> Iterator[Result]:
        begun.extend(cells)
        return whole(task, cells, *rest)

    monkeypatch.setattr(study, "run_all", noting)
    more = tc.compare(people, POLICY, t=[0.2, 0.3], **asked)
    assert {cell.t for cell in begun} == {0.2}
    assert [result.to_dict() for result in more if result.cell.t == 0.3] == [result.to_dict() for result in found]
    assert {result["t"] for result in json.loads(record.read_text())["results"]} == {0.2, 0.3}
    with pytest.raises(tc.OutputError, match="not the record of this comparison"):
        tc.compare(people, tc.Policy(["age"], {"ill": 0.3}, k=4, other="drop"), t=[0.3], **asked)
    rows = list(csv.DictReader(io.StringIO(more.to_csv())))
    assert len(rows) == 4
    assert float(rows[0]["attained.ill"]) <= 0.2


def test_a_cell_that_takes_too_long_is_ended_and_a_table_that_cannot_be_sent_fails(people: Path) -> None:
    found = tc.compare(people, POLICY, algorithms="mondrian", t=[0.2, 0.3], seconds=0.01, processes=1)
    assert [(result.status, result.reason) for result in found] == [("time", "It took longer than 0.01 s.")] * 2
    table = Unreadable({"age": [20, 30], "size": [150, 160], "ill": ["flu", "cold"]})
    (gone,) = tc.compare(table, POLICY, algorithms="mondrian", t=[0.2])
    assert (gone.status, gone.reason) == ("failed", "The process that made the release ended.")


class Unreadable(pd.DataFrame):  # type: ignore[misc]
    """A table that cannot be read in another process."""

    def __reduce__(self) -> Any:
        return (int, ("not a number",))


def test_a_table_that_does_not_fit_the_policy_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    with pytest.raises(tc.InputError, match="is empty"):
        tc.compare(tmp_path / "empty.csv", POLICY)
    with pytest.raises(tc.ColumnError, match="'size' is not in the table"):
        tc.compare(pa.table({"age": [1, 2], "ill": ["flu", "cold"]}), POLICY)


def test_what_an_algorithm_cannot_do_is_told_with_its_reason(people: Path) -> None:
    two = tc.Policy(["age"], {"ill": 0.3, "size": 0.3}, k=4)
    result = run(Task(people, two, exact("1/10"), "balanced"), Cell("sabre", 0.2, 4, 0))
    assert result.status == "refused"
    assert result.reason is not None
    assert "sabre cannot make this release" in result.reason
    assert Result.from_dict(json.loads(json.dumps(result.to_dict()))) == result


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"algorithms": ["gro"]}, "growth"),
        ({"algorithms": ["codip"]}, "several tables"),
        ({"t": []}, "nothing to compare"),
        ({"t": [2]}, "t"),
        ({"t": ["much"]}, "t must be numbers"),
        ({"t": ["nan"]}, "t must be numbers"),
        ({"seeds": [-1]}, "seed"),
        ({"seconds": 0}, "seconds"),
        ({"seconds": float("nan")}, "seconds"),
        ({"seconds": float("inf")}, "seconds"),
        ({"k": [0]}, "k"),
        ({"effort": "huge"}, "effort"),
        ({"holdout": 2}, "holdout"),
        ({"processes": 0}, "processes"),
        ({"record": "x.json"}, "a table in a file"),
    ],
)
def test_what_cannot_be_is_told_before_anything_is_made(given: dict[str, Any], says: str) -> None:
    with pytest.raises(tc.PolicyError, match=says):
        tc.compare(pa.table({"age": [1]}), POLICY, **given)


def test_what_is_named_twice_is_made_once(people: Path) -> None:
    cells = study.cells_of(POLICY, ["mondrian", "sabre", "mondrian"], [0.2, "1/5", 0.20], [4, 4], [0, 1, 0])
    assert [(cell.algorithm, cell.seed) for cell in cells] == [("mondrian", 0), ("mondrian", 1), ("sabre", 0), ("sabre", 1)]
    result = run(Task(people, POLICY, exact("1/1000"), "balanced"), cells[0])
    assert result.reason == "The table has 200 persons, and a holdout of 1/1000 is none of them. Choose another holdout."


def test_a_page_a_table_and_a_chart() -> None:
    found = Comparison(
        [
            Result(Cell("growth", 0.1, 5, 0), "done", figures=figures(t=0.1, gcp=0.4)),
            Result(Cell("growth", 0.2, 5, 0), "done", figures=figures(t=0.2, gcp=0.2)),
            Result(Cell("mondrian", 0.2, 5, 0), "refused", "<b>It cannot.</b>"),
        ],
        0.2,
        Compared(1200, 1000, 100, ["age<b>"], ["ill"]),
    )
    page = found.to_html(name="<script>alert(1)</script>")
    text = Page(page).text
    for said in (
        "rows of the table 1,200",
        "persons 1,000",
        "persons held back from each release 100",
        "about a person: ill.",
        "others may know: age<b>.",
    ):
        assert said in text, said
    assert page.count("<svg") == 3
    assert "INTERNAL" in page
    assert "<script>" not in page
    assert "&lt;b&gt;It cannot.&lt;/b&gt;" in page
    assert "growth (k = 5): GCP 0.200" in found._repr_html_()
    assert found.plot_frontier("query_error", "excess").to_dict()["config"]
    with pytest.raises(tc.PolicyError, match="measure"):
        found.frontier("speed", "t")


def test_the_page_of_a_comparison_that_made_nothing() -> None:
    page = Comparison([Result(Cell("growth", 0.1, 5, 0), "refused", "It cannot.")], None).to_html()
    assert "No release was made." in page


def test_a_worker_ends_with_the_process_that_began_it() -> None:
    # The process in between begins a worker whose input stays open, says its number, and is gone.
    begin = (
        "import os, subprocess, sys; "
        "worker = subprocess.Popen([sys.executable, '-m', 'tclose.study.compare.worker', str(os.getpid())], "
        "stdin=int(sys.argv[1]), stdout=subprocess.DEVNULL); print(worker.pid)"
    )
    reading, writing = os.pipe()
    try:
        said = subprocess.run(
            [sys.executable, "-c", begin, str(reading)], stdout=subprocess.PIPE, check=True, pass_fds=[reading], timeout=120
        )
        worker = int(said.stdout)
        while _is_there(worker):
            time.sleep(0.1)  # the test would not end if the worker did not
    finally:
        os.close(reading)
        os.close(writing)


def _is_there(process: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has waited for does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_the_gcp_is_that_of_a_release_of_those_who_are_not_held_back(people: Path) -> None:
    tenth = exact("1/10")
    found = run(Task(people, POLICY, tenth, "balanced"), Cell("growth", 0.3, 4, 0)).figures
    assert found is not None
    staged = stage(people, POLICY, settings_of("growth", 0, "balanced", None), None, tenth)
    rows = np.random.default_rng(3).permutation(staged.encoded.order[staged.scene.labels >= 0])
    release = tc.anonymize(pq.read_table(people).take(rows), POLICY)
    assert (release.audit.rows, release.audit.classes) == (180, found.classes)
    assert DetailLost.of(release).overall == found.gcp_stated
    assert DetailLost.of(tc.anonymize(people, POLICY)).overall != found.gcp_stated


def test_what_is_lost_is_said_as_the_report_of_a_release_states_it() -> None:
    found = Comparison(
        [
            Result(Cell("growth", 0.1, 5, 0), "done", figures=figures(t=0.1, gcp=0.4, gcp_stated=0.5)),
            Result(Cell("growth", 0.2, 5, 0), "done", figures=figures(t=0.2, gcp=0.2, gcp_stated=0.36)),
        ],
        0.2,
    )
    assert found.suggestion is not None
    assert "growth (k = 5): GCP 0.360 (0.200 by the raw table), COUNT" in found.suggestion
    assert found.suggestion.endswith("In GCP, a t of 0.1 costs 0.140 more.")
    assert [point.texts[1:3] for point in found.points] == [("0.500", "0.400"), ("0.360", "0.200")]
    older = Comparison.from_dict(json.loads(found.to_json().replace('"gcp_stated": 0.36', '"gcp_stated": null')))
    assert older.points[1].texts[1:3] == ("-", "0.200")
    assert older.suggestion is not None
    assert older.suggestion.endswith("In GCP, a t of 0.1 costs 0.200 more.")


def test_with_one_algorithm_no_t_is_recommended() -> None:
    """What a smaller t costs and a larger one gives back is told, and there is no choice to mark."""
    losses = {0.1: 0.464, 0.2: 0.306, 0.3: 0.19, 0.4: 0.2}
    cells = [Result(Cell("growth", t, 5, 0), "done", figures=figures(t=t, gcp=gcp)) for t, gcp in losses.items()]
    found = Comparison(cells, 0.2)
    assert found.suggestion is not None
    assert "least" not in found.suggestion
    assert found.suggestion.startswith("At t = 0.2, growth (k = 5): GCP 0.306, COUNT ")
    assert found.suggestion.endswith(" In GCP, a t of 0.1 costs 0.158 more, one of 0.3 gives back 0.116.")
    assert str(Comparison(cells, 0.3).suggestion).endswith(" a t of 0.2 costs 0.116 more, one of 0.4 costs 0.010 more.")
    assert str(Comparison(cells[:1], 0.1).suggestion).endswith(" of an attack +1.0 points.")
    assert found.choice() == []
    other = Result(Cell("mondrian", 0.2, 5, 0), "done", figures=figures(t=0.2, gcp=0.5))
    assert [point.name for point in Comparison([*cells, other], 0.2).choice()] == ["growth, t = 0.2, k = 5"]


def test_the_largest_share_of_one_value_is_that_of_the_worst_seed() -> None:
    shares = ({"ill": 0.5, "pay": 0.9}, {"ill": 0.6, "pay": 0.8})
    cells = [
        Result(Cell("growth", 0.2, 5, seed), "done", figures=figures(share=own, share_in_table={"ill": 0.4, "pay": 0.7}))
        for seed, own in enumerate(shares)
    ]
    found = Comparison(cells, 0.2)
    assert found.points[0].share == {"ill": 0.6, "pay": 0.9}
    assert found.to_dict()["share_in_table"] == found.share_in_table == {"ill": 0.4, "pay": 0.7}
    assert Comparison.from_dict(json.loads(found.to_json())).points == found.points
    text = Page(found.to_html()).text
    assert "release ill pay growth, t = 0.2, k = 5 60.0% 90.0% the table 40.0% 70.0%" in text
    older = json.loads(found.to_json())
    for result in older["results"]:
        del result["figures"]["share"], result["figures"]["share_in_table"]
    again = Comparison.from_dict(older)
    assert (again.points[0].share, again.share_in_table) == ({}, {})
    assert "Largest share of one value" not in again.to_html()
