"""Releases on clusters of Spark: by executors of their own, of which one is killed, over Spark Connect, and by a command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import tclose as tc
from tclose.cli import app
from tclose.jobs import Job
from tclose.release import distributed
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
    """A release on Spark, by rows instead of persons."""
    return tc.anonymize(session.createDataFrame(table), replace(POLICY, unit="row", other="drop"), effort="fast")


@pytest.mark.parametrize("master", ["local-cluster[2,1,1024]", "connect"])
def test_other_masters_make_the_same_release(master: str, of_one_process: list[dict[str, Any]], tmp_path: Path) -> None:
    with small_blocks(), spark(master) as session:
        path = released(session, some_people(20_000, missing=True)).write(tmp_path / "release.parquet")[0]
    assert tc.verify(path).holds
    assert pq.read_table(path).to_pylist() == of_one_process


def test_an_executor_is_killed_and_no_row_comes_to_the_driver(of_one_process: list[dict[str, Any]], tmp_path: Path) -> None:
    """Spark refuses to send the driver more than a part of the table, and replaces the executor; nothing but the release is left."""
    pq.write_table(some_people(20_000, missing=True), tmp_path / "people.parquet")
    with small_blocks(), spark("local-cluster[2,1,1024]", **{"spark.driver.maxResultSize": "300k"}) as session:
        frame = session.read.parquet(str(tmp_path / "people.parquet"))
        with pytest.raises(Exception, match="maxResultSize"):
            frame.toArrow()
        killed = threading.Event()
        begun = ("Growing classes in blocks of", "")
        killer = threading.Thread(target=_kill_an_executor, args=(killed,))
        with Job(lambda *told: killer.start() if told == begun else None):
            release = tc.anonymize(frame, replace(POLICY, unit="row", other="drop"), effort="fast")
        killer.join()
        assert killed.is_set()
        paths = release.write(tmp_path / "release.parquet")
    assert tc.verify(paths[0]).holds
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["people.parquet", *(path.name for path in paths)])
    assert pq.read_table(paths[0]).to_pylist() == of_one_process


def _kill_an_executor(killed: threading.Event) -> None:
    """Kill one of Spark's executors on this machine while it works, by its number, which is that of a child of a child of ours."""
    time.sleep(1)
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            words = (folder / "cmdline").read_bytes() if (folder / "cmdline").exists() else b""
            if b"CoarseGrainedExecutorBackend" in words and _is_ours(int(folder.name)):
                os.kill(int(folder.name), signal.SIGKILL)
                killed.set()
                return
    raise AssertionError("There was no executor.")


def _is_ours(process: int) -> bool:
    """Whether a process was started by this one, or by one that this one started."""
    while process > 1:
        if process == os.getpid():
            return True
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    return False


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
