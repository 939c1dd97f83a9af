"""A CSV is accepted only if all readers split it into the same cells, and then no class is coarser than any of them sees it."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.tables import csv_scan as scanning
from tclose.tables.csv_scan import Fault, scan
from tests import naive
from tests.support.examples import examples

Rows = list[list[str | None]]


def by_csv(data: bytes, delimiter: str) -> Rows:
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter=delimiter))  # type: ignore[arg-type]


def by_pandas(data: bytes, delimiter: str) -> Rows:
    frame = pd.read_csv(io.BytesIO(data), sep=delimiter, header=None, dtype=str, keep_default_na=False)
    return list(map(list, frame.to_numpy()))


def by_polars(data: bytes, delimiter: str) -> Rows:
    return [list(row) for row in pl.read_csv(data, separator=delimiter, has_header=False, infer_schema=False).rows()]


def by_arrow(data: bytes, delimiter: str) -> Rows:
    table = pa_csv.read_csv(
        io.BytesIO(data),
        read_options=pa_csv.ReadOptions(autogenerate_column_names=True),
        parse_options=pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=pa_csv.ConvertOptions(column_types={f"f{place}": pa.string() for place in range(9)}),
    )
    return [list(row.values()) for row in table.to_pylist()]


READERS: dict[str, Callable[[bytes, str], Rows]] = {"csv": by_csv, "pandas": by_pandas, "polars": by_polars, "arrow": by_arrow}


def accepted(data: bytes, delimiter: str, columns: int) -> scanning.Scan | None:
    try:
        return scan(io.BytesIO(data), delimiter, columns)
    except Fault:
        return None


def fault(data: bytes, columns: int = 2) -> str:
    with pytest.raises(Fault) as caught:
        scan(io.BytesIO(data), ",", columns)
    return str(caught.value)


NEITHER = (
    "has a quote that stands neither at the start nor at the end of its cell, in {}. Put quotes around whole cells, without blanks "
    "beside them, and double a quote inside"
)
RETURN = "has a carriage return that is not followed by a line feed, in {}. Save it with LF or CR LF as line end"
SAVE = "Save it as UTF-8, or name its encoding in the policy, as in input: "
FAULTS = {
    "a blank behind a closing quote": (b'a,b\n"x" ,1\n', NEITHER.format("row 1")),
    "a blank before an opening quote": (b'a,b\n1,2\n "x",1\n', NEITHER.format("row 2")),
    "text behind a closing quote": (b'a,b\n"x"y,1\n', NEITHER.format("row 1")),
    "a quote in the middle": (b'a,b\nx"y,1\n', NEITHER.format("row 1")),
    "a quote in the header": (b'a"a,b\n1,2\n', NEITHER.format("the header")),
    "a quote that is never closed": (b'a,b\n1,2\n"x,1\n', "has a quote that is not closed, in row 2. Close it"),
    "an extra field": (b"a,b\n1,2,3\n", "is ragged: row 1 has 3 fields, the header 2. Mend that row"),
    "an extra empty field": (b"a,b\n1,2\n1,2,\n", "is ragged: row 2 has 3 fields, the header 2. Mend that row"),
    "a missing field": (b"a,b\n1\n", "is ragged: row 1 has 1 field, the header 2. Mend that row"),
    "a blank line": (b"a,b\n1,2\n\n3,4\n", "has a blank line behind row 1, which some programs read as a row. Remove it"),
    "a blank last line": (b"a,b\r\n1,2\r\n\r\n", "has a blank line behind row 1, which some programs read as a row. Remove it"),
    "a blank first line": (b"\na,b\n1,2\n", "has a blank line above the header, which some programs read as a row. Remove it"),
    "lines that end in CR": (b"a,b\r1,2\r", RETURN.format("the header")),
    "CR at the end": (b"a,b\r", RETURN.format("the header")),
    "CR twice": (b"a,b\r\n1,2\r\r\n", RETURN.format("row 1")),
    "two kinds of line ends": (b"a,b\r\n1,2\n3,4\r\n", "mixes two kinds of line ends, first in row 1. Save it with one"),
    "NUL": (b"a,b\n1,\0\n", "has a NUL byte in line 2. It is no CSV text; export it again as UTF-8"),
    "no UTF-8": (b"a,b\n1,\xff\n", "is not UTF-8, first in line 2. " + SAVE + "{encoding: latin-1}"),
    "UTF-16": ("a,b\n1,2\n".encode("utf-16"), "is UTF-16. " + SAVE + "{encoding: utf-16}"),
    "UTF-8 cut short": (b"a,b\n1,\xc3", "is not UTF-8, first in line 2. " + SAVE + "{encoding: latin-1}"),
}


@pytest.mark.parametrize(("data", "sentence"), FAULTS.values(), ids=FAULTS.keys())
def test_what_readers_differ_on_is_refused_with_its_place(data: bytes, sentence: str) -> None:
    assert fault(data) == sentence


@pytest.mark.parametrize("data", [b"a\nx\n\ny\n", b"a\nx\n \t\ny\n", b"a\r\n\t\r\n"])
def test_a_blank_line_of_one_column_is_refused(data: bytes) -> None:
    assert "has a blank line" in fault(data, columns=1)


def test_rows_and_empty_cells_are_counted() -> None:
    found = scan(io.BytesIO(b'a,b,c\r\n"",,1\r\n2,"",3\r\n,4,"5"'), ",", 3)
    assert (found.rows, found.bare.tolist(), found.quoted.tolist()) == (3, [True, True, False], [True, True, False])


@pytest.mark.parametrize("data", [b"a,b\n" + b'1,"' + b"x" * 3_000_000, b"a,b\n1,2\n" + b"x" * 3_000_000 + b",1\n"])
def test_a_row_without_end_is_not_taken_into_memory(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "BLOCK", 1 << 20)
    file = io.BytesIO(data + b"\n" * (20 << 20))
    with pytest.raises(Fault, match=r"^has a quote that is not closed, in row 1|^has more than 2,000,000 characters in row 2"):
        scan(file, ",", 2)
    assert file.tell() <= 6 << 20


TOKENS = ["a", "b", "1", " ", '"', '"', '""', ",", ",", "\n", "\n", "\r\n", "\r", "\t", ";", "#", "\\", "é", "\ufeff", "\x0c"]
CELLS = st.lists(st.sampled_from([token for token in TOKENS if token != '""']), max_size=3).map("".join)


@st.composite
def nearly_csv(draw: st.DrawFn) -> str:
    """A CSV that a writer may have made, and at times a token somewhere in it that does not belong there."""
    columns, end = draw(st.integers(1, 3)), draw(st.sampled_from(["\n", "\r\n"]))
    lines = []
    for _ in range(draw(st.integers(1, 4))):
        cells = draw(st.lists(CELLS, min_size=columns, max_size=columns))
        need = [any(char in cell for char in '",\r\n') or draw(st.booleans()) for cell in cells]
        lines.append(",".join('"' + c.replace('"', '""') + '"' if quote else c for c, quote in zip(cells, need, strict=True)))
    text = draw(st.sampled_from(["", "\ufeff"])) + end.join(lines) + draw(st.sampled_from([end, ""]))
    if draw(st.integers(0, 2)) == 0:
        place = draw(st.integers(0, len(text)))
        text = text[:place] + draw(st.sampled_from(TOKENS)) + text[place:]
    return text


@settings(deadline=None, max_examples=examples(600), suppress_health_check=[HealthCheck.too_slow])
@given(text=st.one_of(nearly_csv(), st.lists(st.sampled_from(TOKENS), max_size=12).map("".join)), block=st.integers(1, 40))
def test_all_readers_split_what_is_accepted_into_the_same_cells(text: str, block: int) -> None:
    data, rows = text.encode(), naive.csv_scan.cells_of(text, ",")
    columns = len(rows[0]) if rows else 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanning, "BLOCK", max(block, len("\ufeff".encode())))
        found = accepted(data, ",", columns)
    assert (found is not None) == (rows is not None)
    if found is None or not rows:
        return
    assert found.rows == len(rows) - 1
    assert found.bare.tolist() == [("", False) in column for column in zip(*rows, strict=True)]
    assert found.quoted.tolist() == [("", True) in column for column in zip(*rows, strict=True)]
    if len(rows) == 1:  # a header alone is no table; Arrow takes it for nothing
        return
    expected = [[cell for cell, _ in row] for row in rows]
    for name, reader in READERS.items():
        assert [[cell or "" for cell in row] for row in reader(data, ",")] == expected, name


@pytest.mark.filterwarnings("ignore::tclose.ReadingWarning")  # of 1, 1 and NA
@settings(
    deadline=None, max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(cells=st.lists(st.sampled_from(["", '""', "a", '"a"', "a ", '"a "', " a", "NA", "nan", "NaN", "1", "1.0", "-0", "0", "null"]), min_size=1, max_size=8))  # fmt: skip
def test_no_class_is_coarser_than_any_reader_sees_it(tmp_path: Path, cells: list[str]) -> None:
    path = tmp_path / "table.csv"
    path.write_text("q,s\n" + "".join(f"{cell},x\n" for cell in cells))
    try:
        audit = tc.audit(path, tc.Policy(quasi=["q"], sensitive=["s"]))
    except tc.InputError:
        return
    for name, reader in READERS.items():
        assert audit.classes >= len({row[0] for row in reader(path.read_bytes(), ",")[1:]}), name


def test_empty_text_and_a_missing_cell_are_two_classes_where_a_column_has_both(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    classes: dict[str, list[Any]] = {}
    for kind, cells in {
        "both": ['""', "", "x"],
        "quoted": ['""', "x"],
        "numbers": ['""', '"7"', '"10"'],
        "bare": ["", "x"],
    }.items():
        path.write_text("q,s\n" + "".join(f"{cell},1\n" for cell in cells))
        classes[kind] = tc.audit(path, tc.Policy(quasi=["q"], sensitive=["s"])).class_table()["q"].to_pylist()
    assert classes == {"both": ["", "x", None], "quoted": ["x", None], "numbers": [7, 10, None], "bare": ["x", None]}


@pytest.mark.parametrize("suffix", [".csv.gz", ".tsv.gz", ".txt.zst", ".csv.zst", ".CSV.GZ"])
def test_a_packed_csv_is_read_in_place(tmp_path: Path, suffix: str) -> None:
    data = b"q,s\na,1\na,2\nb,3\n"
    packed = gzip.compress(data) if suffix.lower().endswith("gz") else pa.Codec("zstd").compress(data, asbytes=True)
    (tmp_path / f"table{suffix}").write_bytes(packed)
    audit = tc.audit(tmp_path / f"table{suffix}", tc.Policy(quasi=["q"], sensitive=["s"]))
    assert (audit.rows, audit.classes, audit.k) == (3, 2, 1)


def test_parts_packed_one_after_the_other_are_one_file(tmp_path: Path) -> None:
    (tmp_path / "table.csv.gz").write_bytes(gzip.compress(b"q,s\na,1\n") + gzip.compress(b"a,2\nb,3\n"))
    assert tc.audit(tmp_path / "table.csv.gz", tc.Policy(quasi=["q"], sensitive=["s"])).rows == 3
