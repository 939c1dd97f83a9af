"""Jobs: several at once, each with its own listener; one is cancelled from another thread, and the others do not notice."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tclose as tc
from tclose import jobs
from tclose.jobs import Cancelled, Job, announce, report
from tclose.make.kernels.running import run, run_parts
from tclose.tables.duckdb import DuckDB
from tclose.tables.files import Together
from tclose.tables.readers import open_reader
from tclose.tables.table import open_table
from tclose.tables.write import write_table

POLICY = tc.Policy(quasi=["age", "zip"], sensitive={"pay": 0.3}, identifiers=["id"], k=4)


def people(seed: int, rows: int = 200) -> pa.Table:
    rng = np.random.default_rng(seed)
    columns = {
        "id": np.arange(rows),
        "age": rng.integers(18, 90, rows),
        "zip": rng.integers(0, 9, rows),
        "pay": rng.integers(0, 9, rows),
    }
    return pa.table(columns)


def in_thread(work: Callable[[], Any]) -> Callable[[], Any]:
    """Begin with some work in another thread; call what is given back to get what it returns or raises."""
    results: list[Any] = []

    def kept() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - it is looked at in the main thread
            results.append(error)

    thread = threading.Thread(target=kept, daemon=True)
    thread.start()

    def result() -> Any:
        thread.join()
        return results[0]

    return result


# A job by itself -------------------------------------------------------------------------------------------------------------


def test_stages_and_figures_reach_the_listener_of_the_job_at_hand() -> None:
    told: list[tuple[str, str, str]] = []
    announce("Nobody hears this")
    with Job(lambda *what: told.append(("outer", *what))) as outer:
        announce("Reading")
        with Job(lambda *what: told.append(("inner", *what))):
            announce("Writing")
            report("half")
        report("all")
    report("Nobody hears that")
    assert told == [("outer", "Reading", ""), ("inner", "Writing", ""), ("inner", "Writing", "half"), ("outer", "Reading", "all")]
    assert not outer.cancelled


def test_a_cancelled_job_begins_no_stage_and_no_query() -> None:
    told: list[str] = []
    stops: list[str] = []
    with Job(lambda stage, _: told.append(stage)) as job:
        jobs.check()
        job.cancel()
        assert job.cancelled
        for begin in (jobs.check, lambda: announce("Reading"), lambda: job.stopping(lambda: stops.append("")).__enter__()):
            with pytest.raises(Cancelled):
                begin()
    assert (told, stops) == ([], [])
    jobs.check()  # the job before is none, and was not cancelled


def test_what_waits_is_stopped_until_it_ends() -> None:
    """The first call may come too soon: a query that begins after it would go on."""
    calls = threading.Semaphore(0)
    job = Job()
    with job.stopping(calls.release):
        job.cancel()
        for _ in range(3):
            calls.acquire()


# Cancelled while ... ---------------------------------------------------------------------------------------------------------


def test_a_query_is_stopped() -> None:
    job = Job()
    engine = open_table(open_reader(people(0)), {"age": "auto"})._engine
    assert isinstance(engine, DuckDB)
    begun = threading.Event()

    def ask() -> None:
        with job, engine._asking_safely():
            begun.set()
            engine._backend.con.execute("SELECT sum(a.range * b.range) FROM range(10_000_000) a, range(10_000_000) b")  # hours

    found = in_thread(ask)
    begun.wait()
    job.cancel()
    assert isinstance(found(), Cancelled)
    assert engine.distinct("age")[0] == 200  # another job goes on with it


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "memory"])
def test_a_table_is_not_read_to_its_end(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cancelled when the first rows have come."""
    monkeypatch.setattr("tclose.tables.queried.ROWS", 2048)
    table: Any = people(0, 20_000)
    if kind != "memory":
        with Together(force=False) as files:
            files.stage(tmp_path / f"table.{kind}", lambda path: write_table(people(0, 20_000), path, formula_guard=True))
            files.commit()
        table = tmp_path / f"table.{kind}"
    source = open_table(open_reader(table), {"age": "auto", "pay": "auto"})
    with Job() as job:
        rows = source._engine.rows(["age", "pay"])
        next(rows)
        job.cancel()
        with pytest.raises(Cancelled):
            source.rows(["age", "pay"])
        rows.close()
    assert len(source.rows(["age", "pay"])[0][1]) == 20_000


def test_a_kernel_is_stopped() -> None:
    stopped = threading.Semaphore(0)

    def waits(job: Job, cancel: Any) -> None:
        assert jobs.current() is job
        job.cancel()
        while not cancel[0]:
            pass
        stopped.release()

    with Job() as job, pytest.raises(Cancelled):
        run(waits, job)
    with Job() as job, pytest.raises(Cancelled):
        run_parts(lambda _, job, scratch, cancel: waits(job, cancel), 5, lambda: None, job)
    assert stopped.acquire(blocking=False)
    assert stopped.acquire(blocking=False)


@pytest.mark.parametrize("effort", ["balanced", "best"])
@pytest.mark.parametrize(
    ("stage", "figure"), [("Encoding", False), ("Growing classes of", False), ("Refining", True), ("Checking", False)]
)
def test_a_release_is_not_made(stage: str, figure: bool, effort: str, warm: None) -> None:
    """A time for refining makes no difference: Ctrl-C ends the refining then, and a cancelled job ends."""

    def cancel(now: str, said: str) -> None:
        if (now, bool(said)) == (stage, figure):
            job.cancel()

    with Job(cancel) as job, pytest.raises(Cancelled):
        tc.anonymize(people(0), POLICY, effort=effort)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow"])
def test_a_release_is_not_written(suffix: str, tmp_path: Path, warm: None) -> None:
    release = tc.anonymize(people(0), POLICY, algorithm="mondrian")

    def cancel(stage: str, _: str) -> None:
        if stage == "Writing":
            job.cancel()

    with Job(cancel) as job, pytest.raises(Cancelled):
        release.write(tmp_path / f"release{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_a_release_says_nothing_of_its_missing_unit_and_leaves_the_filters_of_warnings_alone(warm: None) -> None:
    """All threads share these filters. The gate audits a release without a unit, and here a warning is an error."""
    tc.audit(people(0), POLICY)  # what ibis calls is no longer warned of
    before = list(warnings.filters)
    policy = tc.Policy(quasi=["age", "zip"], sensitive={"pay": 0.3}, unit="id", k=4)
    assert tc.anonymize(people(0), policy, algorithm="mondrian").audit.satisfied
    assert list(warnings.filters) == before


# Several at once -------------------------------------------------------------------------------------------------------------


def test_jobs_at_once_hear_themselves_alone_and_one_is_cancelled(warm: None) -> None:
    """Each makes another table; all are under way at once, for none refines before all are there."""
    tables = [people(seed, 150 + 50 * seed) for seed in range(3)]
    alone = [tc.anonymize(table, POLICY) for table in tables[:2]]
    together, cancelled = threading.Barrier(len(tables) + 1), threading.Event()
    told: list[list[tuple[str, str]]] = [[] for _ in tables]

    def listener(number: int) -> Callable[[str, str], None]:
        def hear(stage: str, figure: str) -> None:
            told[number].append((stage, figure))
            if (stage, figure) == ("Refining", ""):
                together.wait()
                if number == 2:
                    cancelled.wait()

        return hear

    def making(number: int) -> Callable[[], tc.Release]:
        def make() -> tc.Release:
            try:
                with made_by[number]:
                    return tc.anonymize(tables[number], POLICY)
            except Cancelled:
                raise
            except BaseException:
                together.abort()  # nobody waits for a job that has failed
                raise

        return make

    made_by = [Job(listener(number)) for number in range(len(tables))]
    results = [in_thread(making(number)) for number in range(len(tables))]
    together.wait()
    made_by[2].cancel()
    cancelled.set()
    found = [result() for result in results]
    assert isinstance(found[2], Cancelled)
    for release, ref, heard in zip(found[:2], alone, told[:2], strict=True):
        assert release.table == ref.table
        assert release.certificate == ref.certificate
        stages = list(dict.fromkeys(stage for stage, _ in heard))
        assert stages == ["Encoding", "Partitioning", "Cutting", "Growing classes of", "Refining", "Recoding", "Checking"]
    assert "Recoding" not in {stage for stage, _ in told[2]}
