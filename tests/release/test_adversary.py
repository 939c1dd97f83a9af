"""Tables made to deceive: what two readers of one table could see differently."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tclose as tc
from tclose.cli.screen import show_audit


def audited(table: Any, **settings: Any) -> tc.Audit:
    return tc.audit(table, tc.Policy(**{"quasi": ["q"], "sensitive": ["s"], **settings}))


@pytest.fixture
def parquet(tmp_path: Path) -> Any:
    def write(table: Any) -> Path:
        path = tmp_path / "table.parquet"
        pq.write_table(table, path) if isinstance(table, pa.Table) else table.to_parquet(path)
        return path

    return write


@pytest.fixture
def csv(tmp_path: Path) -> Any:
    def write(text: str, name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize("distance", ["ordered", "numeric"])
def test_minus_zero_is_zero_as_a_sensitive_value(distance: str) -> None:
    rng = random.Random(5)
    for _ in range(20):
        rows = [(rng.choice("ab"), rng.choice([0.0, -0.0, 1.0, 2.5])) for _ in range(12)]
        signed = pd.DataFrame(rows, columns=["q", "s"])
        unsigned = signed.assign(s=signed["s"] + 0.0)
        sensitive = {"s": {"t": 0.15, "distance": distance}}
        assert audited(signed, sensitive=sensitive).to_dict() == audited(unsigned, sensitive=sensitive).to_dict()


def test_minus_zero_beside_zero_as_a_quasi_identifier_is_refused() -> None:
    """They are one number, and yet some readers tell them apart."""
    frame = pd.DataFrame({"q": [1.0, -0.0, 0.0, -0.0, 1.0], "s": list("abcab")})
    with pytest.raises(tc.InputError, match=r"Column 'q' has both 0\.0 and -0\.0"):
        audited(frame)
    frame["q"] = frame["q"].abs()
    assert audited(frame).sizes.tolist() == [3, 2]


def test_minus_zero_is_zero_in_a_csv(csv: Any) -> None:
    assert audited(csv("q,s\na,0.0\na,-0.0\nb,1e5\nb,0.0\n")).sensitive["s"].l_distinct == 1


@pytest.mark.parametrize(
    "column",
    [
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 1]), pa.array(["a", "a", "b"]), ordered=True),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 1]), pa.array(["a", None]), ordered=True),
        pa.chunked_array(
            [
                pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["lo", "hi"]), ordered=True),
                pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["hi", "lo"]), ordered=True),
            ]
        ),
    ],
    ids=["a label twice", "a missing label", "two orders"],
)
def test_an_order_that_is_none_is_refused(column: Any) -> None:
    with pytest.raises(tc.ColumnError, match="one order of distinct categories"):
        audited(pa.table({"q": ["x", "x", "y", "y"], "s": column}))


EXACT = {
    "nanoseconds with a time zone": pd.DataFrame({"q": pd.to_datetime([1000, 1001, 1002]).tz_localize("UTC"), "s": list("abc")}),
    "60 digits": pa.table(
        {"q": pa.array([Decimal("12345678901234567890.0000000001"), Decimal("12345678901234567890.0000000002")], pa.decimal256(60, 10)), "s": ["a", "b"]}
    ),
    "nanoseconds of a day": pa.table({"q": pa.array([1000, 2000], pa.time64("ns")), "s": ["a", "b"]}),
    "nothing": pa.table({"q": ["x", "y"], "s": pa.nulls(2)}),
}  # fmt: skip


@pytest.mark.parametrize("table", EXACT.values(), ids=EXACT.keys())
def test_parquet_says_what_memory_says(table: Any, parquet: Any) -> None:
    assert audited(parquet(table), k=2).to_dict() == audited(table, k=2).to_dict()


def test_numbers_of_60_digits_keep_their_distance(parquet: Any) -> None:
    numbers = pa.array([Decimal(-5), Decimal(1), Decimal(2), Decimal(30)], pa.decimal256(60, 10))
    table = pa.table({"q": ["a", "a", "b", "b"], "s": numbers})
    for form in (table, parquet(table)):
        assert audited(form, sensitive={"s": {"distance": "numeric"}}).sensitive["s"].t_exact == Fraction(9, 35)


def test_an_order_of_numbers_that_parquet_drops_is_refused(parquet: Any) -> None:
    frame = pd.DataFrame({"q": list("aabb"), "s": pd.Categorical([1, 10, 2, 3], categories=[10, 1, 3, 2], ordered=True)})
    assert audited(frame).sensitive["s"].t_exact == Fraction(1, 3)
    with pytest.raises(tc.ColumnError, match="the file does not keep its order"):
        audited(parquet(frame))
    assert audited(parquet(frame), sensitive={"s": {"order": [10, 1, 3, 2]}}).sensitive["s"].t_exact == Fraction(1, 3)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (("2023-01-15 10:30:00", "2023-01-15 11:30:00"), "date"),
        (("9007199254740992", "9007199254740993"), "decimal"),
        (("5.00000000000000000001", "5"), "integer"),
        (("05", "5"), "integer"),
    ],
)
def test_a_type_that_merges_values_is_refused(csv: Any, cells: tuple[str, str], kind: Any) -> None:
    path = csv("q,s\n" + "".join(f"{cell},a\n" for cell in cells))
    with pytest.raises(tc.ColumnError) as error:
        audited(path, quasi=[tc.Quasi("q", type=kind)])
    assert str(error.value) == f"type of 'q' must keep its values apart. Got {kind!r}, which makes 1 value of 2."


def test_nan_and_an_empty_cell_are_two_values_of_a_quasi_identifier(csv: Any) -> None:
    assert audited(csv("q,s\n1.5,a\nnan,a\n,a\n")).classes == 3
    assert audited(csv("q,s\n1.5,a\nnan,a\nnan,a\n")).classes == 2


@pytest.mark.parametrize("cells", [("1e400", "2e400"), ("1e-400", "2e-400")])
def test_numbers_beyond_floats_stay_apart(csv: Any, cells: tuple[str, str]) -> None:
    assert audited(csv(f"q,s\n1,{cells[0]}\n1,{cells[1]}\n")).sensitive["s"].l_distinct == 2


@pytest.mark.parametrize("cell", ["99999-01-01", "infinity", "0044-03-15 (BC)"])
def test_odd_dates_of_a_csv_are_text(csv: Any, cell: str) -> None:
    assert audited(csv(f"q,s\n1,{cell}\n2,2020-01-01\n")).sensitive["s"].distance == "equal"


@pytest.mark.parametrize("ordered", [True, False])
def test_a_category_that_is_asked_for_as_text_is_its_label(ordered: bool) -> None:
    levels = pd.Categorical(["mid", "low", "high", "low"], categories=["low", "mid", "high"], ordered=ordered)
    audit = audited(pd.DataFrame({"q": levels, "s": [1, 2, 3, 4]}), quasi=[tc.Quasi("q", type="text")])
    assert audit.quasi["q"].to_pylist() == ["high", "low", "mid"]  # by name, not by the owner's order


def test_a_class_of_a_date_that_python_cannot_hold_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    days = pa.array([10**7, 5, None], pa.int32()).cast(pa.date32())
    show_audit(audited(pa.table({"q": days, "s": [2, 1, 3]}), k=2), "table")
    assert "The smallest class, and the farthest from the table in s: q 1970-01-06; 1 row." in capsys.readouterr().out
    show_audit(audited(pa.table({"q": days, "s": [1, 2, 3]}).slice(2), k=2), "table")
    assert "The smallest class, and the farthest from the table in s: q missing; 1 row." in capsys.readouterr().out
    show_audit(audited(pa.table({"q": days, "s": [1, 2, 3]}).slice(0, 1), k=2), "table")
    assert "29349-01-26; 1 row." in capsys.readouterr().out


def test_dates_that_python_cannot_hold_are_refused() -> None:
    table = pa.table({"q": [1, 2], "s": pa.array([10**7, 5], pa.int32()).cast(pa.date32())})
    with pytest.raises(tc.InputError, match="years 1 to 9999"):
        audited(table)


def test_moments_with_and_without_a_time_zone_are_no_one_column() -> None:
    cells = [datetime(2020, 1, 1), datetime(2020, 1, 1, tzinfo=UTC)]
    with pytest.raises(tc.ColumnError, match="mixes kinds of values"):
        audited(pd.DataFrame({"q": pd.Series(cells, dtype=object), "s": [1, 2]}))


def test_float32_is_the_decimal_that_is_seen() -> None:
    table = pa.table({"q": ["a", "b", "c"], "s": pa.array([0.1, 0.2, 0.3], pa.float32())})
    assert audited(table, sensitive={"s": {"distance": "numeric"}}).sensitive["s"].t_exact == Fraction(1, 2)


def test_a_folder_never_fills_a_column(csv: Any) -> None:
    text = "q,s\n" + "".join(f"{row},x\n" for row in range(6))
    assert [audited(csv(text, f"{name}/y.csv")).classes for name in ("f0=abc", "q=9", "f1=5")] == [6, 6, 6]


def test_a_tilde_is_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, text in (("~", "q,s\n1,a\n"), ("home", "q,s\n7,a\n8,b\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "z.csv").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert audited("~/z.csv").rows == 1


def test_a_class_is_no_region_of_its_own_while_others_meet_it() -> None:
    tree = {"*": {"11**": ["1111", "1112"], "2***": ["2111"]}}
    table = pa.table({"z": ["11**", "11**", "1111", "1111", "2111", "2111"], "s": [0, 0, 1, 1, 2, 2]})
    audit = tc.audit(table, tc.Policy([tc.Quasi("z", hierarchy=tree)], {"s": 0}, n=2))
    broken = {violation.number: violation.value for violation in audit.violations}
    # Class 0 is 11**: {0, 0} against {0, 0, 1, 1}, over three values. Class 1 is 1111: rows of 11** may be 1111, too.
    assert broken == {0: 0.25, 1: 0.25}


def test_a_series_is_a_mapping_from_its_index() -> None:
    few, many = pd.Series({"a": 3, "b": 1}), pd.Series({"b": 3, "a": 1})
    assert tc.emd(few, many, "equal") == 0.5
    with pytest.raises(tc.PolicyError, match="each value once"):
        tc.emd(pd.Series([1, 2], index=["a", "a"]), many, "equal")


@pytest.mark.parametrize("thing", [{1, 2}, "12", 5, (mass for mass in (1, 2))])
def test_what_is_no_distribution_is_refused(thing: Any) -> None:
    with pytest.raises(tc.PolicyError, match="must be mappings or sequences"):
        tc.emd(thing, [1, 2])


def test_masses_that_no_float_holds() -> None:
    assert tc.emd([Decimal("1e-400")] * 2, [1, 3]) == 0.25
    assert tc.emd([10**400, 1], [1, 10**400]) == 1.0


def test_a_value_that_is_not_itself_is_refused() -> None:
    with pytest.raises(tc.PolicyError, match="NaN"):
        tc.emd({float("nan"): 1, 1.0: 1}, {1.0: 1, 2.0: 3})


def test_moments_are_compared_in_one_time_zone() -> None:
    east = timezone(timedelta(hours=2))
    clock = [datetime(2020, 1, 1, 0, tzinfo=UTC), datetime(2020, 1, 1, 3, tzinfo=east), datetime(2020, 1, 1, 4, tzinfo=UTC)]
    assert tc.emd([0, 1, 0], [1, 0, 0], "numeric", values=clock, exact=True) == Fraction(1, 4)


@pytest.mark.parametrize("settings", [{"t": "1e-99999999"}, {"delta": "1e400"}, {"l": "1e400"}, {"beta": 1e300}])
def test_limits_beyond_measure_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(tc.PolicyError):
        tc.Sensitive("s", **settings)
    with pytest.raises(tc.PolicyError):
        tc.Policy(["q"], ["s"], k=10**400)


def test_numpy_numbers_are_numbers() -> None:
    policy = tc.Policy(["q"], {"s": np.float64(0.3)}, k=np.int64(5))
    assert (policy.k, policy.sensitive[0].t) == (5, Fraction(3, 10))


def test_hierarchies_that_hold_themselves_are_refused() -> None:
    tree: dict[str, Any] = {}
    tree["x"] = tree
    with pytest.raises(tc.HierarchyError, match="too many levels"):
        tc.Hierarchy.from_mapping(tree)
    with pytest.raises(tc.HierarchyError, match="must have a list or a mapping"):
        tc.Hierarchy.from_mapping({"a": np.array([1, 2])})


def test_a_policy_that_is_none_is_refused() -> None:
    with pytest.raises(tc.PolicyError) as error:
        tc.audit(pa.table({"q": [1], "s": [1]}), "policy.yaml")  # type: ignore[arg-type]
    assert str(error.value) == "policy must be a Policy. Got str. Read the file with tclose.Policy.load(path)."


def command(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    run = [sys.executable, "-m", "tclose", *map(str, arguments)]
    return subprocess.run(run, capture_output=True, text=True, check=False, env={**os.environ, **environment}, encoding="utf-8")


def test_letters_that_the_terminal_has_not(csv: Any) -> None:
    done = command(
        "audit", csv("\u5e74\u9f62,s\n1,2\n"), "--quasi", "s", "--sensitive", "\u5e74\u9f62", PYTHONIOENCODING="latin-1"
    )
    assert done.returncode == 0, done.stderr
    assert "\\u5e74\\u9f62" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_an_output_that_cannot_be_written_ends_with_2(csv: Any) -> None:
    path = csv("q,s\n1,2\n")
    with Path("/dev/full").open("w") as full:
        run = [sys.executable, "-m", "tclose", "audit", str(path), "--quasi", "q", "--sensitive", "s"]
        done = subprocess.run(run, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "Error: The output cannot be written: No space left on device.\n")


@pytest.mark.parametrize(("columns", "name"), [("q\nx", "y.csv"), ("q", "y" * 5000 + ".csv"), ("q", os.fsdecode(b"\xff.csv"))])
def test_odd_names_on_the_command_line(tmp_path: Path, columns: str, name: str) -> None:
    if len(name) < 100:
        (tmp_path / name).write_text("q,s\n1,2\n")
    done = command("audit", tmp_path / name, "--quasi", columns, "--sensitive", "s")
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_cell_longer_than_the_engine_reads(csv: Any) -> None:
    with pytest.raises(tc.InputError, match=r"has more than 2,000,000 characters in row 2. Shorten that row.$"):
        audited(csv("q,s\n1,2\n" + "x" * 3_000_000 + ",3\n"))


def test_dates_sort_by_day() -> None:
    days = [date(2020, 1, day) for day in (1, 11, 2, 3)]
    audit = audited(pa.table({"q": ["a", "a", "b", "b"], "s": days}), sensitive={"s": {"distance": "numeric"}})
    assert audit.sensitive["s"].t_exact == Fraction(9, 40)  # days 0, 1, 2, 10; class {0, 10}: (1/4 * 1 + 0 + 1/4 * 8) / 10
