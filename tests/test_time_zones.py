"""Time zones are kept: no moment is shifted silently, and no two moments become one."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import tclose as tc

BERLIN = pd.to_datetime(["2024-01-31 08:30", "2024-01-31 09:00", "2024-02-01 08:00", "2024-02-01 12:00"]).tz_localize(
    "Europe/Berlin"
)
FRAME = pd.DataFrame({"came": BERLIN, "left": [BERLIN[0], BERLIN[2]] * 2})
POLICY = tc.Policy(quasi=["came"], sensitive=["left"], k=2)


def test_ranges_and_values_keep_the_zone() -> None:
    release = tc.anonymize(FRAME, POLICY, algorithm="mondrian")
    assert release.table["came"].to_pylist()[0] == "[2024-01-31 08:30:00+01:00, 2024-01-31 09:00:00+01:00]"
    assert release.table["left"].type.tz == "Europe/Berlin"
    assert sorted(set(release.table["left"].to_pylist())) == [BERLIN[0], BERLIN[2]]


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_files_keep_the_zone(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"release{suffix}"
    tc.anonymize(FRAME, POLICY).write(path)
    again = pd.read_parquet(path) if suffix == ".parquet" else pa.ipc.open_file(path).read_all().to_pandas()
    assert str(again["left"].dtype.tz) == "Europe/Berlin"
    assert tc.audit(path, POLICY).satisfied


def test_the_hour_that_comes_twice_is_two_hours() -> None:
    twice = pd.to_datetime(["2024-10-27 00:30", "2024-10-27 01:30"]).tz_localize("UTC").tz_convert("Europe/Berlin")
    frame = pd.DataFrame({"came": twice.repeat(2), "s": list("abab")})
    assert tc.audit(frame, tc.Policy(["came"], ["s"])).classes == 2
    release = tc.anonymize(frame, tc.Policy(["came"], ["s"], k=2))
    assert sorted(set(release.table["came"].to_pylist())) == ["2024-10-27 02:30:00+01:00", "2024-10-27 02:30:00+02:00"]
    as_text = tc.audit(frame, tc.Policy([tc.Quasi("came", type="text")], ["s"]))
    assert [text[-6:] for text in as_text.class_table()["came"].to_pylist()] == ["+01:00", "+02:00"]


def test_a_date_is_that_of_the_clocks_where_it_was_taken() -> None:
    midnight = pd.to_datetime(["2024-01-31", "2024-02-01"]).tz_localize("Europe/Berlin")
    audit = tc.audit(pd.DataFrame({"q": midnight, "s": [1, 2]}), tc.Policy([tc.Quasi("q", type="date")], ["s"]))
    assert [str(day) for day in audit.class_table()["q"].to_pylist()] == ["2024-01-31", "2024-02-01"]
