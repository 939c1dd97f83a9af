"""Memory that is bounded: the same audit, from combinations that are spilled to disk; and what is refused."""

from __future__ import annotations

import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, reject, settings
from typer.testing import CliRunner

import tclose as tc
from tclose.cli import app
from tclose.tables import memory, spilled
from tclose.tables.duckdb import DuckDB
from tests.support.typed_tables import tables

SEED = 5


def people(rows: int) -> pa.Table:
    """A table with missing cells, repeated persons, and more values than a part of it holds."""
    rng = np.random.default_rng(SEED)
    ages, wards = rng.integers(0, 30, rows), rng.integers(0, 7, rows)
    return pa.table(
        {
            "person": rng.integers(0, rows // 2, rows),
            "age": pa.array(ages, mask=ages == 3),
            "ward": pa.array([f"ward {'äzÅ€b'[ward % 5]}{ward}" for ward in wards], mask=wards == 4),
            "fee": pa.array([Decimal(int(fee)) / 4 for fee in rng.integers(0, 40, rows)]),
            "illness": pa.array(rng.choice(["flu", "cold", "gout"], rows)),
        }
    )


def folder_of(table: pa.Table, path: Path, parts: int = 3) -> Path:
    """A folder of Parquet files with the rows of a table."""
    path.mkdir()
    size = -(-len(table) // parts)
    for number in range(parts):
        pq.write_table(table.slice(number * size, size), path / f"{number}.parquet")
    return path


POLICIES: dict[str, dict[str, Any]] = {
    "two attributes": {"sensitive": {"fee": 0.2, "illness": 0.3}},
    "one": {"sensitive": {"illness": 0.3}},
    "bins": {"sensitive": [tc.Sensitive("fee", t=0.2, bins={"width": 2}), tc.Sensitive("illness")]},
    "persons": {"sensitive": {"fee": 0.2, "illness": 0.3}, "unit": "person"},
    "identifier that repeats": {"sensitive": {"fee": 0.2}, "identifiers": ["person"]},
}


@pytest.mark.filterwarnings("ignore::tclose.PrivacyRiskWarning")
@pytest.mark.parametrize("settings_of", POLICIES.values(), ids=POLICIES)
@pytest.mark.parametrize("cells", [1, 7, 100_000])
def test_a_bounded_audit_is_the_same(
    settings_of: dict[str, Any], cells: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = tc.Policy(quasi=["age", "ward"], k=3, **settings_of)
    data = folder_of(people(2000), tmp_path / "people")
    budget = memory.Budget(memory.parse_size("1GB"))
    monkeypatch.setattr(spilled, "PER_CELL", budget.parts // cells)  # so many combinations at a time
    free, bounded = tc.audit(data, policy), tc.audit(data, policy, memory="1GB")
    assert bounded.to_json() == free.to_json()
    assert bounded.class_table().equals(free.class_table())
    assert [attribute.profile for attribute in bounded.sensitive.values()] == [
        attribute.profile for attribute in free.sensitive.values()
    ]


@settings(max_examples=25, deadline=None)
@given(table=tables())
def test_values_of_every_type_are_sorted_alike(table: pa.Table) -> None:
    *quasi, sensitive = table.column_names
    policy = tc.Policy(
        quasi=[tc.Quasi(name, type="category") for name in quasi], sensitive=[tc.Sensitive(sensitive, distance="equal")]
    )
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "table.parquet"
        pq.write_table(table, data)
        try:
            free, bounded = tc.audit(data, policy), tc.audit(data, policy, memory="1GB")
        except tc.InputError:  # a column of both 0.0 and -0.0, or one that only Arrow reads
            reject()
        assert bounded.class_table().equals(free.class_table())


def test_combinations_beyond_the_engines_memory_are_spilled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = 1_000_000
    rng = np.random.default_rng(SEED)
    columns = {f"q{place}": rng.integers(0, 1000, rows) for place in range(2)} | {"s": rng.integers(0, 50_000, rows)}
    pq.write_table(pa.table(columns), tmp_path / "wide.parquet")
    policy = tc.Policy(quasi=["q0"], sensitive=["q1", "s"])
    free = tc.audit(tmp_path / "wide.parquet", policy)
    monkeypatch.setattr(memory.Budget, "engine", 30 * 10**6)  # 1,000,000 combinations take more
    monkeypatch.setattr(memory.Budget, "figures", 10**9)
    seen = spies_on_spilling(monkeypatch)
    assert tc.audit(tmp_path / "wide.parquet", policy, memory="500MB").to_json() == free.to_json()
    assert any(seen)
    assert not any(path.exists() for path in seen)


def spies_on_spilling(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return a list of the files that the engine spills to, filled whenever its answers come home."""
    seen: list[Path] = []
    stream = DuckDB._stream_batches

    def spying(self: DuckDB, rows: object, size: int) -> object:
        (folder,) = self._backend.con.execute("SELECT current_setting('temp_directory')").fetchone()
        assert Path(folder).stat().st_mode & 0o077 == 0  # its owner's alone
        seen.extend(Path(folder).iterdir())
        return stream(self, rows, size)

    monkeypatch.setattr(DuckDB, "_stream_batches", spying)
    return seen


def test_too_many_classes_are_refused_with_what_they_need(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = folder_of(people(2000), tmp_path / "people")
    monkeypatch.setattr(spilled, "PER_CLASS", 10**6)
    policy = tc.Policy(quasi=["age", "ward"], sensitive=["illness"])
    with pytest.raises(
        tc.InputError, match=r"The table has at least 209 classes, .* take about 210MB .*leave 188MB .*at least 1.1GB, or fewer"
    ):
        tc.audit(data, policy, memory="1GB")
    assert tc.audit(data, policy, memory="1.1GB").classes == 209


def test_far_too_many_are_refused_before_they_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = folder_of(people(2000), tmp_path / "people")
    monkeypatch.setattr(spilled, "PER_CLASS", 10**7)
    monkeypatch.delattr(DuckDB, "store_counts")
    with pytest.raises(tc.InputError, match=r"The table has at least 1\d\d classes, "):
        tc.audit(data, tc.Policy(quasi=["age", "ward"], sensitive=["illness"]), memory="1GB")


@pytest.mark.parametrize("given_memory", ["much", "1", "-1GB", "1 PB", "nanGB", "1e9GB", "", 5, "9" * 400 + "GB"])
def test_nonsense_is_refused(given_memory: object) -> None:
    with pytest.raises(tc.PolicyError, match=r"^memory must be a number with MB, GB or TB behind it, such as 1GB\. Got "):
        memory.parse_size(given_memory)


def test_too_little_is_refused() -> None:
    with pytest.raises(tc.PolicyError, match=r"^memory must be at least 500MB: .* Got '100MB'\.$"):
        memory.parse_size("100MB")


def test_a_table_in_memory_cannot_be_bounded() -> None:
    with pytest.raises(tc.InputError, match=r"^The table is not read in place"):
        tc.audit(people(10), tc.Policy(quasi=["age"], sensitive=["illness"]), memory="1GB")


def test_columns_that_only_arrow_reads_cannot_be_bounded(tmp_path: Path) -> None:
    moments = pa.array([1, 2, 3], pa.time64("us"))
    pq.write_table(pa.table({"moment": moments, "illness": ["flu", "flu", "cold"]}), tmp_path / "moments.parquet")
    policy = tc.Policy(quasi=["moment"], sensitive=["illness"])
    assert tc.audit(tmp_path / "moments.parquet", policy).classes == 3
    with pytest.raises(tc.InputError, match=r"^File 'moments.parquet' is not read in place"):
        tc.audit(tmp_path / "moments.parquet", policy, memory="1GB")


def test_regions_cannot_be_bounded(tmp_path: Path) -> None:
    policy = tc.Policy(quasi=["age"], sensitive={"illness": 0.2}, n=5)
    with pytest.raises(tc.PolicyError, match="all classes at once"):
        tc.audit(folder_of(people(100), tmp_path / "people"), policy, memory="1GB")


def test_the_command_line(tmp_path: Path) -> None:
    data = folder_of(people(300), tmp_path / "people")
    asked = ["audit", str(data), "--quasi", "age,ward", "--sensitive", "fee,illness"]
    free, bounded = (CliRunner().invoke(app, [*asked, *more]) for more in ([], ["--memory", "600MB"]))
    assert (bounded.exit_code, bounded.stdout) == (free.exit_code, free.stdout)
    refused = CliRunner().invoke(app, [*asked, "--memory", "plenty"])
    assert refused.exit_code == 2
    assert refused.stderr == "Error: memory must be a number with MB, GB or TB behind it, such as 1GB. Got 'plenty'.\n"
