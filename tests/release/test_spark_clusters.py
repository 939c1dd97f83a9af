"""Releases on clusters of Spark: by executors of their own, of which one is killed, over Spark Connect, and by a command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import tclose as tc
from tclose.cli import app
from tclose.release import distributed
from tclose.tables.spark_rows import SparkRows
from tests.support.planned import some_people
from tests.support.servers import find_spark, spark

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
]

POLICY = tc.Policy(
    quasi=[tc.Quasi("age", snap=5), "sex"],
    sensitive=[tc.Sensitive("pay", t=0.2, l=2), tc.Sensitive("ill", t=0.2)],
    unit="who",
    k=3,
)


@pytest.fixture(scope="module")
def of_one_process() -> list[dict[str, Any]]:
    """The rows of a release that Spark makes in one process: those of others must be the same."""
    find_spark()
    with small_blocks(), spark("local[2]") as session:
        rows: list[dict[str, Any]] = released(session, some_people(20_000, missing=True)).table.toArrow().to_pylist()
        return rows


@contextmanager
def small_blocks() -> Iterator[None]:
    """Blocks and parts of which a release of 20,000 rows has several."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distributed, "MOST", 4_000)
        patch.setattr(distributed, "JUDGED", 8_000)
        yield


def released(session: Any, table: Any) -> Any:
    """A release on Spark, made fast."""
    return tc.anonymize(session.createDataFrame(table), POLICY, effort="fast")


@pytest.mark.parametrize("master", ["local-cluster[2,1,1024]", "connect"])
def test_other_masters_make_the_same_release(master: str, of_one_process: list[dict[str, Any]], tmp_path: Path) -> None:
    with small_blocks(), spark(master) as session:
        path = released(session, some_people(20_000, missing=True)).write(tmp_path / "release.parquet")[0]
    assert tc.verify(path).holds
    assert pq.read_table(path).to_pylist() == of_one_process


def test_an_executor_is_killed_and_no_row_comes_to_the_driver(
    of_one_process: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark refuses to send the driver the table, or its coded rows, and replaces the executor; nothing but the release is left."""
    watched = tmp_path / "watched"
    watched.mkdir()
    pq.write_table(some_people(20_000, missing=True), tmp_path / "people.parquet")
    with small_blocks(), spark("local-cluster[2,1,1024]", **{"spark.driver.maxResultSize": "300k"}) as session:
        frame = session.read.parquet(str(tmp_path / "people.parquet"))
        with pytest.raises(Exception, match="maxResultSize"):
            frame.toArrow()
        coded: list[Any] = []
        real = SparkRows.of

        def remembered(*given: Any) -> SparkRows:
            coded.append(real(*given))
            return coded[0]  # type: ignore[no-any-return]

        monkeypatch.setattr(SparkRows, "of", remembered)
        monkeypatch.setattr(distributed, "_Grow", waiting_for_a_kill(distributed._Grow, watched))
        killer = threading.Thread(target=kill_who_works, args=(watched,), daemon=True)
        killer.start()
        release = tc.anonymize(frame, POLICY, effort="fast")
        killer.join()
        with pytest.raises(Exception, match="maxResultSize"):
            coded[0]._frame.toArrow()
        paths = release.write(tmp_path / "release.parquet")
    begun = Counter((watched / "begun").read_text().split()[1::2])
    assert max(begun.values()) > 1  # a block was begun again
    assert tc.verify(paths[0]).holds
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["people.parquet", "watched", *(path.name for path in paths)]
    )
    assert pq.read_table(paths[0]).to_pylist() == of_one_process


def waiting_for_a_kill(grow: Any, watched: Path) -> Any:
    """What an executor does with a block, which notes that it begins, and waits until an executor was killed."""

    def of_plan(plan: Any) -> Any:
        make = grow(plan)

        def run(rows: Any) -> Any:
            with (watched / "begun").open("a") as notes:
                notes.write(f"{os.getpid()} {rows['block'][0]}\n")
            while not (watched / "killed").exists():
                time.sleep(0.05)
            return make(rows)

        return run

    return of_plan


def kill_who_works(watched: Path) -> None:
    """Kill the executor of the first process that begins a block: the process above it that is one."""
    while not (watched / "begun").exists() or not (watched / "begun").read_text():
        time.sleep(0.05)
    try:
        process = int((watched / "begun").read_text().split()[0])
        while b"CoarseGrainedExecutorBackend" not in Path(f"/proc/{process}/cmdline").read_bytes():
            process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(process, signal.SIGKILL)
    finally:  # else the other executors would wait for ever
        (watched / "killed").touch()


def test_a_folder_is_released_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find_spark()
    folder = tmp_path / "people"
    folder.mkdir()
    for part in range(2):
        pq.write_table(some_people(300, part), folder / f"part-{part}.parquet")
    policy = tmp_path / "policy.yaml"
    POLICY.save(policy)
    out = tmp_path / "release.parquet"
    made = CliRunner().invoke(
        app,
        [
            "anonymize",
            str(folder),
            "-p",
            str(policy),
            "-o",
            str(out),
            "--engine",
            "spark",
            "--master",
            "local[2]",
            "--effort",
            "fast",
        ],
    )
    assert made.exit_code == 0, made.output
    assert "600 rows" in made.output
    assert "t of pay" in made.output
    assert CliRunner().invoke(app, ["verify", str(out)]).exit_code == 0
    audit = ["audit", str(out), "-p", str(policy), "--json"]
    ref, comp = (CliRunner().invoke(app, [*audit, *more]) for more in ([], ["--engine", "spark", "--master", "local[2]"]))
    assert comp.exit_code == ref.exit_code == 0, comp.output
    assert comp.stdout == ref.stdout


def test_tclose_travels_to_executors_that_lack_it(tmp_path: Path) -> None:
    """A Python that reads no .pth files finds the packages of this environment, and not the project, which is installed by one."""
    find_spark()
    python = tmp_path / "python"
    packages = sysconfig.get_paths()["purelib"]
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{packages}:$PYTHONPATH" HOME="{tmp_path}" exec "{sys.executable}" -S "$@"\n')
    python.chmod(0o755)
    alone = subprocess.run([python, "-c", "import tclose"], capture_output=True, cwd=tmp_path, check=False)
    assert alone.returncode == 1
    with spark("local-cluster[1,1,1024]", python=str(python)) as session:
        frame = session.createDataFrame(some_people(300))
        release = tc.anonymize(frame, POLICY, effort="fast")
        assert release.audit.satisfied
    (folder,) = [path for path in (tmp_path / ".cache" / "tclose").iterdir() if path.is_dir()]
    assert list(folder.rglob("warm-growth-*"))  # kernels were compiled there, once
