"""Releases on Spark: made by the executors, the same for any number of them, judged there, and written with their papers."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
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
ROWS = 2400


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    find_spark()
    with spark("local[2]") as found:
        yield found


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed, "MOST", 700)
    monkeypatch.setattr(distributed, "JUDGED", 1000)


def rows_of(release: Any) -> Any:
    """The published rows, in their order."""
    return release.table.toArrow().to_pylist()


def test_a_release_is_the_same_for_any_number_of_partitions(session: Any, tmp_path: Path) -> None:
    table = some_people(ROWS, missing=True)
    one = tc.anonymize(session.createDataFrame(table).coalesce(1), POLICY, effort="fast")
    assert one.audit.satisfied
    assert one.record["course"]["blocks"] > 3
    assert one.record["course"]["largest"] <= 700
    frame = session.createDataFrame(table.take(np.random.default_rng(1).permutation(ROWS)))
    session.conf.set("spark.sql.shuffle.partitions", "5")
    many = tc.anonymize(frame.repartition(7).union(frame.limit(0)), POLICY, effort="fast")
    assert rows_of(many) == rows_of(one)
    assert many.certificate == one.certificate
    other = tc.anonymize(frame, POLICY, effort="fast", seed=1)
    assert rows_of(other) != rows_of(one)

    paths = one.write(tmp_path / "one.parquet")
    assert pq.read_table(paths[0]).to_pylist() == rows_of(one)
    found = tc.verify(paths[0])
    assert found.holds, str(found)
    assert found.audit.k == one.certificate["attained"]["k"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in paths)
    with pytest.raises(tc.OutputError, match="exists"):
        many.write(tmp_path / "one.parquet")
    other.write(tmp_path / "one.parquet", force=True)
    assert tc.verify(paths[0]).holds
    next((tmp_path / "one.parquet").iterdir()).unlink()
    if list((tmp_path / "one.parquet").iterdir()):
        assert not tc.verify(paths[0]).holds


def test_what_is_published_is_what_one_machine_publishes(session: Any) -> None:
    """Values of all types that Spark and Parquet share: as quasi-identifiers, as sensitive values, and as they are."""
    rng = np.random.default_rng(4)
    rows = 900

    def some(values: list[Any], kind: pa.DataType) -> pa.Array:
        return pa.array([values[index] for index in rng.integers(0, len(values), rows)], kind)

    table = pa.table({
        "byte": some([*range(-4, 9)], pa.int8()), "short": some([*range(300, 330)], pa.int16()), "Long": some([2**53 + 1, 2**60, 7, None], pa.int64()),
        "single": some([0.5, 1.25, -3.0], pa.float32()), "double": some([0.1, 2.5e-7, 1e6, None], pa.float64()),
        "price": some([Decimal("1.50"), Decimal("20.25"), Decimal("3.00")], pa.decimal128(9, 2)),
        "day": some([date(2024, 1, 1), date(2024, 2, 29), date(2025, 3, 1)], pa.date32()),
        "seen": some([datetime(2024, 1, 1, 8), datetime(2024, 1, 2, 9, 30, 1)], pa.timestamp("us")),
        "sent": some([datetime(2024, 1, 1, 8), datetime(2024, 7, 2, 9)], pa.timestamp("us", "UTC")),
        "ok": some([True, False], pa.bool_()), "zip": some(["476", "479", "Zoe", "zoe", "é", None], pa.string()),
        "pay": some([1, 2, 3, 4], pa.int32()), "ill": some(["flu", "cold", None], pa.string()), "kept": some([1.5, 2.5, None], pa.float64()),
    })  # fmt: skip
    policy = tc.Policy(
        quasi=[
            tc.Quasi("byte", recode="bounds"), tc.Quasi("short", recode="centroid"), "Long", tc.Quasi("single", snap="0.5"), "double",
            tc.Quasi("price", top=3), "day", "seen", "sent", "ok", tc.Quasi("zip", hierarchy={"4": ["476", "479"], "Z": ["Zoe", "zoe", "é"]}),
        ],
        sensitive=[tc.Sensitive("pay", t=0.3, bins=2), tc.Sensitive("ill", t=0.3)],
        keep=["kept"],
        k=5,
    )  # fmt: skip
    release = tc.anonymize(session.createDataFrame(table), policy, effort="fast")
    ref = tc.anonymize(table, policy, effort="fast")
    comp = release.table.toArrow()
    assert comp.column_names == ref.table.column_names
    assert [str(kind) for kind in comp.schema.types] == [str(kind) for kind in ref.table.schema.types]
    for name in ("pay", "ill", "kept"):
        assert Counter(comp[name].to_pylist()) == Counter(ref.table[name].to_pylist())
    assert tc.audit(comp, replace(policy, keep=[])).satisfied
    assert release.certificate["columns"] == ref.certificate["columns"]
    assert release.certificate["policy"] == ref.certificate["policy"]
    assert set(release.certificate["loss"]) == set(ref.certificate["loss"])
    assert set(release.record) == set(ref.record)


@pytest.mark.parametrize("master", ["local-cluster[2,1,1024]", "connect"])
def test_executors_of_their_own_make_the_same_release(master: str, tmp_path: Path) -> None:
    """No row comes to the driver: Spark refuses to send it more than a part of the table. An executor that is killed is replaced."""
    find_spark()
    table = some_people(60_000, missing=True)
    pq.write_table(table, tmp_path / "people.parquet")
    policy = replace(POLICY, unit="row")
    small = {"spark.driver.maxResultSize": "400k", "spark.sql.execution.arrow.pyspark.enabled": "true"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distributed, "MOST", 10_000)
        patch.setattr(distributed, "JUDGED", 20_000)
        with spark(master, **({} if master == "connect" else small)) as session:
            frame = session.read.parquet(str(tmp_path / "people.parquet"))
            if master != "connect":
                with pytest.raises(Exception, match="maxResultSize"):
                    frame.toArrow()
            killed = threading.Event()
            job = Job(lambda stage, _: killer.start() if stage.startswith("Growing") and not killed.is_set() else None)
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


def test_what_spark_cannot_do_is_said(session: Any) -> None:
    frame = session.createDataFrame(some_people(50))
    with pytest.raises(tc.PolicyError, match="growth alone"):
        tc.anonymize(frame, POLICY, algorithm="mondrian")
    with pytest.raises(tc.PolicyError, match="no order to keep"):
        tc.anonymize(frame, POLICY, keep_order=True)
    with pytest.raises(tc.OutputError, match=r"\.parquet"):
        tc.anonymize(frame, POLICY, effort="fast").write("release.csv")


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
