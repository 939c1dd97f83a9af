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


@pytest.mark.parametrize("zone", ["", "Z", "+01:00", "-0530", "+02"])
def test_timestamps_of_a_csv_are_published_in_the_form_in_which_they_came(tmp_path: Path, zone: str) -> None:
    rows = [(f"2024-01-3{row % 2}T00:0{row}{zone}", f"2024-01-31 00:00:0{row // 2}.5{zone}") for row in range(4)]
    path = tmp_path / "t.csv"
    path.write_text("came,left\n" + "".join(f"{came},{left}\n" for came, left in rows))
    policy = tc.Policy(["came"], [tc.Sensitive("left", t=0.9)], k=2)
    assert tc.audit(path, policy).sensitive["left"].distance == "ordered"
    release = tc.anonymize(path, policy, algorithm="mondrian")
    release.write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[1:] == [
        f'"[2024-01-30T00:00{zone}, 2024-01-30T00:02{zone}]",2024-01-31 00:00:00.5{zone}',
        f'"[2024-01-30T00:00{zone}, 2024-01-30T00:02{zone}]",2024-01-31 00:00:01.5{zone}',
        f'"[2024-01-31T00:01{zone}, 2024-01-31T00:03{zone}]",2024-01-31 00:00:00.5{zone}',
        f'"[2024-01-31T00:01{zone}, 2024-01-31T00:03{zone}]",2024-01-31 00:00:01.5{zone}',
    ]
    release.write(tmp_path / "out.parquet")
    again = pd.read_parquet(tmp_path / "out.parquet")["left"]
    assert (again.dt.tz is None) == (zone == "")
    assert again.dt.hour.unique().tolist() == [0]  # the clocks where it was taken
    assert all(tc.audit(tmp_path / name, policy).satisfied for name in ("out.csv", "out.parquet"))


def test_one_moment_with_two_distances_from_utc_is_two_texts(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("came,s\n2024-01-31T08:00+00:00,1\n2024-01-31T09:00+01:00,2\n")
    with pytest.warns(tc.ReadingWarning, match="its timestamps are written in 2 forms, or with 2 distances from UTC"):
        assert tc.audit(path, tc.Policy(["came"], ["s"])).classes == 2


def test_a_distance_from_utc_that_no_clock_has_is_text(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("q,s\n2024-01-31T08:30+99:99,1\n2024-01-31T08:31+99:99,2\n")
    release = tc.anonymize(tmp_path / "t.csv", tc.Policy(["q"], ["s"], k=2))
    assert release.table["q"].to_pylist() == ["{2024-01-31T08:30+99:99, 2024-01-31T08:31+99:99}"] * 2


def test_decimals_of_a_csv_keep_their_digits(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("q,s\n0.50,0.0000000\n0.75,0.0000000\n0.00,0.0000000\n1.20,1.0000000\n")
    # What only a suppressed row has must not show, nor whether any row was suppressed.
    for suppression, shown, value in ((0, "[0.00, 0.50]", "0.0000000"), ("1/2", "[0, 0.5]", "0")):
        release = tc.anonymize(path, tc.Policy(["q"], ["s"], k=2, suppression=suppression), algorithm="mondrian")
        assert (release.table["q"].to_pylist()[0], release.suppressed) == (shown, 0)
        release.write(tmp_path / "out.csv", force=True)
        assert (tmp_path / "out.csv").read_text().splitlines()[1] == f'"{shown}",{value}'
