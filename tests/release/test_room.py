"""The memory that a release needs, against what is free."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tclose as tc
from tclose.release import room
from tclose.tables.memory import in_words

POLICY = tc.Policy(quasi=["age"], sensitive={"illness": 0.5}, k=2)
PEOPLE = pa.table({"age": [23, 27, 31, 39], "illness": ["flu", "cold", "flu", "cold"]})


def machine(folder: Path, monkeypatch: pytest.MonkeyPatch, *, free: int | None, most: str | None = None, taken: int = 0) -> None:
    """A machine, and perhaps a container, with so much memory, which the process finds instead of its own."""
    monkeypatch.setattr(room, "MEMORY", folder / "meminfo")
    monkeypatch.setattr(room, "GROUP", folder)
    if free is not None:
        (folder / "meminfo").write_text(f"MemTotal: 99999999 kB\nMemAvailable: {free // 1024} kB\n")
    if most is not None:
        (folder / "memory.max").write_text(f"{most}\n")
        (folder / "memory.current").write_text(f"{taken}\n")
        (folder / "memory.stat").write_text("anon 5\ninactive_file 1000\n")


@pytest.mark.parametrize("kind", ["parquet", "csv", "memory"])
def test_too_little_is_said_before_the_work_starts(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(tmp_path, monkeypatch, free=300 * 1024**2)
    monkeypatch.delattr("tclose.release.anonymize.encode")  # where the work starts
    source: object = PEOPLE
    if kind == "parquet":
        source = tmp_path / "people.parquet"
        pq.write_table(PEOPLE, source)
    elif kind == "csv":
        source = tmp_path / "people.csv"
        source.write_text("age,illness\n" + "".join(f"{row['age']},{row['illness']}\n" for row in PEOPLE.to_pylist()))
    needed = in_words(room.TAKEN + 4 * (2 * room.PER_CELL + room.PER_SENSITIVE))
    with pytest.raises(
        tc.InputError, match=rf"^A release of 4 rows and 2 columns needs about {needed} of memory, and 315MB are free\."
    ):
        tc.anonymize(source, POLICY)


def test_enough_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(tmp_path, monkeypatch, free=room.TAKEN + 1024**2)
    assert tc.anonymize(PEOPLE, POLICY).audit.satisfied


def test_a_container_may_have_less_than_its_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(tmp_path, monkeypatch, free=10**10, most="5000000", taken=3_000_000)
    assert room.free_memory() == 2_001_000  # what is kept of files can be given back


def test_a_container_without_a_limit_has_what_its_machine_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(tmp_path, monkeypatch, free=1024 * 10**6, most="max")
    assert room.free_memory() == 1024 * 10**6


def test_a_system_that_does_not_say_is_not_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(tmp_path, monkeypatch, free=None)
    assert room.free_memory() is None
    assert tc.anonymize(PEOPLE, POLICY).audit.satisfied
