"""Releases on clusters of Spark: by executors of their own, of which one is killed, over Spark Connect, and by a command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from dataclasses import replace
from pathlib import Path

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


@pytest.mark.parametrize("master", ["local-cluster[2,1,1024]", "connect"])
def test_executors_of_their_own_make_the_same_release(master: str, tmp_path: Path) -> None:
    """No row comes to the driver: Spark refuses to send it more than a part of the table. An executor that is killed is replaced."""
    find_spark()
    table = some_people(20_000, missing=True)
    pq.write_table(table, tmp_path / "people.parquet")
    policy = replace(POLICY, unit="row", other="drop")
    small = {"spark.driver.maxResultSize": "300k", "spark.sql.execution.arrow.pyspark.enabled": "true"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distributed, "MOST", 4_000)
        patch.setattr(distributed, "JUDGED", 8_000)
        with spark(master, **({} if master == "connect" else small)) as session:
            frame = session.read.parquet(str(tmp_path / "people.parquet"))
            if master != "connect":
                with pytest.raises(Exception, match="maxResultSize"):
                    frame.toArrow()
            killed = threading.Event()
            begun = ("Growing classes in blocks of", "")
            job = Job(lambda *told: killer.start() if told == begun and not killed.is_set() else None)
            killer = threading.Thread(target=_kill_an_executor, args=(killed,))
            if master == "connect":
                killed.set()
            with job:
                release = tc.anonymize(frame, policy, effort="fast")
            assert killed.is_set()
            release.write(tmp_path / f"{master[:5]}.parquet")
    assert tc.verify(tmp_path / f"{master[:5]}.parquet").holds
    known = tmp_path.parent / "the same release"
    published = repr(pq.read_table(tmp_path / f"{master[:5]}.parquet").to_pylist())
    if known.exists():
        assert known.read_text() == published
    known.write_text(published)


def _kill_an_executor(killed: threading.Event) -> None:
    """Kill one of Spark's executors on this machine while it works, by its number, which is that of a child of a child of ours."""
    killed.set()
    time.sleep(1)
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            words = (folder / "cmdline").read_bytes() if (folder / "cmdline").exists() else b""
            if b"CoarseGrainedExecutorBackend" in words and _is_ours(int(folder.name)):
                os.kill(int(folder.name), signal.SIGKILL)
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
