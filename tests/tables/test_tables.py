"""Any table, the same audit: kinds of input, types of columns, odd names, and what is refused."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tclose as tc
from tests.support.inputs import Maker, contain

PEOPLE: dict[str, list[Any]] = {
    "age": [41, 30, None, 30, 41, None],
    "town": ["Αθήνα", "Köln", "東京", "Köln", "Αθήνα", "東京"],
    "salary": [8, 3, 5, 4, 11, 6],
    "disease": ["ulcer", "flu", "ulcer", "flu", "cold", "flu"],
}


def audited(table: Any, quasi: Any = ("q",), sensitive: Any = ("s",), **settings: Any) -> tc.Audit:
    columns = list(quasi) if isinstance(quasi, tuple) else quasi
    return tc.audit(table, tc.Policy(columns, list(sensitive) if isinstance(sensitive, tuple) else sensitive, **settings))


def classes_of(audit: tc.Audit, name: str = "q") -> list[Any]:
    values: list[Any] = audit.class_table()[name].to_pylist()
    return values


@pytest.fixture
def audit_csv(tmp_path: Path) -> Callable[..., tc.Audit]:
    """Audits a CSV file with this text."""

    def audit(text: str | bytes, **settings: Any) -> tc.Audit:
        path = tmp_path / "table.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return audited(path, **settings)

    return audit


# --- kinds of input ---------------------------------------------------------------------------------------------------


def test_same_audit_of_every_kind_of_input(container: Maker) -> None:
    audit = audited(container(PEOPLE), ("age", "town"), {"salary": 0.4, "disease": "1/3"}, k=2)
    # Classes: (30, Köln) = {3, 4}, (41, Αθήνα) = {8, 11}, (missing, 東京) = {5, 6}.
    assert (audit.rows, audit.classes, audit.k) == (6, 3, 2)
    assert classes_of(audit, "age") == [30, 41, None]
    assert classes_of(audit, "town") == ["Köln", "Αθήνα", "東京"]
    assert classes_of(audit, "salary.t") == [0.4, 0.4, 0.2]
    assert [(part.distance, str(part.t_exact)) for part in audit.sensitive.values()] == [("ordered", "2/5"), ("equal", "1/2")]
    assert [(found.model, found.sensitive, found.number) for found in audit.violations] == [
        ("t", "disease", 0),
        ("t", "disease", 1),
    ]


VALUES = {
    "integers": (9, 10, 200),
    "negative integers": (-10, -9, 0),
    "decimals": (Decimal("9.25"), Decimal("10.50"), Decimal("100.00")),
    "floats": (0.5, 9.25, 10.5),
    "dates": (dt.date(1999, 12, 31), dt.date(2000, 1, 1), dt.date(2024, 2, 29)),
    "times": (dt.time(0, 0, 1), dt.time(9, 30), dt.time(23, 59, 59)),
    "timestamps": (dt.datetime(1999, 12, 31, 23), dt.datetime(2000, 1, 1), dt.datetime(2024, 2, 29, 12, 30)),
    "text": ("Zürich", "東京", "😀"),
}


@pytest.mark.parametrize("kind", VALUES)
def test_values_of_every_kind_are_sorted_missing_last(container: Maker, kind: str) -> None:
    low, mid, high = VALUES[kind]
    # As many rows as the place of the value: the classes' sizes tell their order.
    quasi = [None, mid, high, None, low, high, None, mid, high, None]
    audit = audited(container({"q": quasi, "s": [value or low for value in quasi]}))
    assert classes_of(audit, "rows") == [1, 2, 3, 4]
    from_text = isinstance(container({"q": [1]}), Path) and container({"q": [1]}).suffix == ".csv"
    ordered = kind != "text" and not (from_text and kind == "times")  # a CSV has no times of day: they are text
    assert audit.sensitive["s"].distance == ("ordered" if ordered else "equal")


def test_booleans_are_values_without_order(container: Maker) -> None:
    audit = audited(container({"q": [True, False, True, None], "s": [True, True, False, False]}))
    assert (classes_of(audit, "rows"), audit.sensitive["s"].distance) == ([1, 2, 1], "equal")


@pytest.mark.parametrize(
    "kind",
    [
        pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.decimal128(5, 1), pa.decimal256(50, 3), pa.date64(), pa.time32("s"),
        pa.time64("ns"), pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("us", "Europe/Berlin"), pa.large_string(), pa.string_view(),
    ],
    ids=str,
)  # fmt: skip
def test_every_arrow_type_of_single_values(kind: pa.DataType) -> None:
    text = pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    steps = (
        ["1", "2", "3"] if text else [1 * 86_400_000, 2 * 86_400_000, 3 * 86_400_000] if pa.types.is_date64(kind) else [1, 2, 3]
    )
    if pa.types.is_time64(kind):
        steps = [1000, 2000, 3000]
    cells = [np.float16(step) for step in steps] if pa.types.is_float16(kind) else steps
    quasi, sensitive = (pa.array([cells[place] for place in places], kind) for places in ([2, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, 2]))
    audit = audited(pa.table({"q": quasi, "s": sensitive}))
    assert classes_of(audit, "rows") == [1, 2, 3]
    assert audit.sensitive["s"].distance == ("equal" if text else "ordered")


def test_timestamps_that_differ_by_a_nanosecond_are_two_values() -> None:
    for zone in (None, "UTC"):
        table = pa.table({"q": pa.array([1, 2], pa.timestamp("ns", zone)), "s": [1, 2]})
        assert audited(table).classes == 2


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_numeric_distance_of_timestamps_in_every_unit(unit: str) -> None:
    days = pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-05"]).astype(f"datetime64[{unit}]")
    audit = audited(pd.DataFrame({"q": [1, 1, 2], "s": days}), sensitive={"s": {"distance": "numeric"}})
    # {1, 2} against {1, 2, 5}: 1/6 * 1/4 + 1/3 * 3/4; {5}: 1/3 * 1/4 + 2/3 * 3/4.
    assert str(audit.sensitive["s"].t_exact) == "7/12"


def test_a_huge_range_of_integers_is_exact() -> None:
    values = pa.array([2**64 - 1, 2**64 - 2, 3], pa.uint64())
    audit = audited(pa.table({"q": [1, 1, 2], "s": values}), sensitive={"s": {"distance": "numeric"}})
    assert str(audit.sensitive["s"].t_exact) == f"{2 * (2**64 - 5) + 1}/{3 * (2**64 - 4)}"


def test_other_frames_that_speak_arrow() -> None:
    table = pa.table({"q": [1, 1, 2], "s": [1, 2, 3]})
    expected = audited(table).to_dict()
    assert audited(table.combine_chunks().to_batches()[0]).to_dict() == expected
    assert audited(table.to_reader()).to_dict() == expected


# --- CSV --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "classes"),
    [
        pytest.param(["10", "9", "-8"], [-8, 9, 10], id="integers"),
        pytest.param(["10.5", "9.25", ".5"], [Decimal("0.5"), Decimal("9.25"), Decimal("10.5")], id="decimals"),
        pytest.param(["1e3", "2"], [2, 1000], id="powers of ten"),
        pytest.param(["2024-02-29", "1999-12-31"], [dt.date(1999, 12, 31), dt.date(2024, 2, 29)], id="dates"),
        pytest.param(["99999999999999999999", "8"], [8, 99999999999999999999], id="integers beyond 64 bits"),
        pytest.param(["true", "false"], ["false", "true"], id="never booleans"),
        pytest.param(["010", "9"], ["010", "9"], id="leading zeros are text"),
        pytest.param(["1.0", "1.00"], ["1.0", "1.00"], id="two texts are two values"),
        pytest.param(["0", "-0"], ["-0", "0"], id="minus zero"),
        pytest.param(["+5", "5"], ["+5", "5"], id="plus sign"),
        pytest.param([" 5", "5"], [" 5", "5"], id="spaces"),
        pytest.param(["1_000", "2"], ["1_000", "2"], id="underscores"),
        pytest.param(["inf", "2"], ["2", "inf"], id="infinity"),
        pytest.param(["2023-02-29", "2024-02-29"], ["2023-02-29", "2024-02-29"], id="no such day"),
        pytest.param(["2024-2-9", "2024-02-29"], ["2024-02-29", "2024-2-9"], id="dates not as ISO writes them"),
        pytest.param(["2024-02-29 10:00:00", "2024-02-29"], ["2024-02-29", "2024-02-29 10:00:00"], id="timestamps are text"),
        pytest.param(["E11", "E10"], ["E10", "E11"], id="codes that look like powers of ten"),
        pytest.param(["NULL", "NA", "None"], ["NA", "NULL", "None"], id="words for missing are words"),
        pytest.param(["NaN", "1.5"], [Decimal("1.5"), None], id="NaN is missing"),
        pytest.param(["", "x"], ["x", None], id="an empty cell is missing"),
        pytest.param(['""', "x"], ["x", None], id="a quoted empty cell is missing"),
    ],
)
def test_csv_cells_get_the_type_that_all_agree_on(
    audit_csv: Callable[..., tc.Audit], cells: list[str], classes: list[Any]
) -> None:
    audit = audit_csv("q,s\n" + "".join(f"{cell},1\n" for cell in cells))
    assert classes_of(audit) == classes


def test_one_letter_in_row_5000_makes_the_column_text(audit_csv: Callable[..., tc.Audit]) -> None:
    rows = [f"{number % 11},{number % 2}\n" for number in range(4999)]
    assert classes_of(audit_csv("q,s\n" + "".join(rows) + "10,1\n"))[-2:] == [9, 10]
    with pytest.warns(tc.ReadingWarning, match=r"q: text, because 1 of 5,000 cells is no number, in row 5,000; mend it"):
        assert classes_of(audit_csv("q,s\n" + "".join(rows) + "x,1\n"))[-2:] == ["9", "x"]


def test_empty_cells_in_the_first_rows_decide_nothing(audit_csv: Callable[..., tc.Audit]) -> None:
    audit = audit_csv("q,s\n" + ",1\n" * 3000 + "10,1\n9,1\n")
    assert classes_of(audit) == [9, 10, None]


@pytest.mark.parametrize("digits", [17, 19, 38, 45])
def test_numbers_of_many_digits_are_kept_apart(audit_csv: Callable[..., tc.Audit], digits: int) -> None:
    low, high = ("1" * (digits - 1) + last for last in "12")
    audit = audit_csv(f"q,s\n{low},{low}\n{high},{high}\n")
    assert (audit.classes, str(audit.sensitive["s"].t_exact)) == (2, "1/2")


def test_in_a_sensitive_column_one_number_is_one_value(audit_csv: Callable[..., tc.Audit]) -> None:
    audit = audit_csv("q,s\n1,1.0\n1,1.00\n2,2\n")
    assert str(audit.sensitive["s"].t_exact) == "2/3"  # two values; three would give 1/2


def test_codes_that_look_like_powers_of_ten_are_sensitive_text(audit_csv: Callable[..., tc.Audit]) -> None:
    assert audit_csv("q,s\n1,E10\n1,E11\n2,E14\n").sensitive["s"].distance == "equal"  # diabetes, in ICD-10


@pytest.mark.parametrize("day", ["0000-01-01", "0001-01-01", "9999-12-31"])
def test_dates_at_the_ends_of_the_calendar(audit_csv: Callable[..., tc.Audit], day: str) -> None:
    assert str(audit_csv(f"q,s\n1,{day}\n2,2020-01-01\n").sensitive["s"].t_exact) == "1/2"


@pytest.mark.parametrize(
    ("kind", "cells", "classes"),
    [
        ("text", ["10", "9"], ["10", "9"]),
        ("integer", ["010", "9"], [9, 10]),
        ("decimal", ["1.5", "nan"], [1.5, None]),
        ("date", ["2024-02-29", ""], [dt.date(2024, 2, 29), None]),
    ],
)
def test_the_type_of_a_quasi_identifier_can_be_asked_for(
    audit_csv: Callable[..., tc.Audit], kind: str, cells: list[str], classes: list[Any]
) -> None:
    assert classes_of(audit_csv("q,s\n" + "".join(f"{cell},1\n" for cell in cells), quasi={"q": {"type": kind}})) == classes


@pytest.mark.parametrize(("kind", "cell"), [("integer", "x"), ("integer", "1.5"), ("decimal", "1,5"), ("date", "2023-02-29")])
@pytest.mark.parametrize("as_file", [True, False])
def test_a_type_that_some_cell_does_not_have_is_refused(
    audit_csv: Callable[..., tc.Audit], kind: str, cell: str, as_file: bool
) -> None:
    good = "2020-01-01" if kind == "date" else "2"
    sentence = f"^type of 'q' must fit all its cells. Got '{kind}', and 1 cell that is none in row 2.$"
    asked = {"q": {"type": kind}}
    audit = (
        partial(audit_csv, f'q,s\n{good},1\n"{cell}",2\n', quasi=asked)
        if as_file
        else partial(audited, pa.table({"q": [good, cell], "s": [1, 2]}), quasi=asked)
    )
    with pytest.raises(tc.ColumnError, match=sentence):
        audit()


def test_asking_for_integers_rounds_no_fraction() -> None:
    with pytest.raises(tc.ColumnError, match="1 cell that is none in row 1"):  # 1.5 and 2.0 must not become one class
        audited(pa.table({"q": [1.5, 2.0], "s": [1, 2]}), quasi={"q": {"type": "integer"}})


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_delimiters_line_ends_quotes_and_byte_order_mark(
    audit_csv: Callable[..., tc.Audit], delimiter: str, line_end: str, mark: str
) -> None:
    rows = [["q", "s", '"long""name"'], [f'"a{delimiter}b"', "1", '"l1\nl2"'], ['"say ""x"""', "2", ""], ['"l1\nl2"', "3", "x"]]
    audit = audit_csv(mark + "".join(delimiter.join(row) + line_end for row in rows))
    assert classes_of(audit) == sorted([f"a{delimiter}b", 'say "x"', "l1\nl2"])
    assert audit.sensitive["s"].distance == "ordered"


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        pytest.param("q,s\na,1\nb,2", ["a", "b"], id="no last line end"),
        pytest.param("q,s\na,1\n", ["a"], id="one row"),
        pytest.param('q,s,"long\nname"\na,1,x\nb,2,x\n', ["a", "b"], id="a header of two lines"),
        pytest.param('q,s,z\r\na,1,"l1\nl2"\r\nb,2,x\r\n', ["a", "b"], id="a cell of two lines, other line ends"),
        pytest.param('q,s\n"a;b;c",1\n"a;b;d",2\n', ["a;b;c", "a;b;d"], id="another delimiter inside quotes"),
        pytest.param("q,s\n#a,1\nb\\,2\n", ["#a", "b\\"], id="no comments, no escapes"),
    ],
)
def test_csv_forms(audit_csv: Callable[..., tc.Audit], text: str, classes: list[str]) -> None:
    audit = audit_csv(text)
    assert (classes_of(audit), audit.sensitive["s"].distance) == (classes, "ordered")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "File 'table.csv' is empty. A header and rows are needed."),
        ("q,s\n", "File 'table.csv' has a header and no rows. There is nothing to measure."),
        ("A title\nq,s\n1,2\n3,4\n", "File 'table.csv' must have its header in its first line. Got 1 of 2 columns there; remove any title above the header."),
        ("q,s\na,1\nb,2,3\n", "File 'table.csv' is ragged: row 2 has 3 fields, the header 2. Mend that row."),
        ("q,s\na,1\nb\n", "File 'table.csv' is ragged: row 2 has 1 field, the header 2. Mend that row."),
        ("q,s,s\na,1,1\n", "Two columns are called 's'. Rename one of them."),
        ("q,S\na,1\n", "Column 's' is not in the table. Did you mean 'S'?"),
        ("q,s\nMüller,1\n".encode("latin-1"), "File 'table.csv' is not UTF-8, first in line 2. Save it as UTF-8, or name its encoding in the policy, as in input: {encoding: latin-1}."),
        (b"q,s\na\0,1\n", "File 'table.csv' has a NUL byte in line 2. It is no CSV text; export it again as UTF-8."),
    ],
    ids=["empty", "no rows", "title", "too long", "too short", "twice", "other case", "latin-1", "NUL"],
)  # fmt: skip
def test_a_bad_csv_gets_one_sentence(audit_csv: Callable[..., tc.Audit], text: str | bytes, sentence: str) -> None:
    with pytest.raises(tc.InputError) as error:
        audit_csv(text)
    assert str(error.value) == sentence


@pytest.mark.parametrize(
    "name", ["d[1].csv", "d*.csv", "d?.csv", "it's.csv", 'a "b".csv', "q=9/d.csv", "ü 😀.csv", "d.CSV", "{d,e}.csv"]
)
def test_a_path_names_one_file(tmp_path: Path, name: str) -> None:
    (tmp_path / "d1.csv").write_text("q,s\nanother,1\nanother,2\n")
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("q,s\na,1\nb,2\n")
    assert classes_of(audited(path)) == classes_of(audited(str(path))) == ["a", "b"]


@pytest.mark.parametrize("name", ["d[1].parquet", "d*.parquet", "it's.pq", "q=9/d.parquet"])
def test_a_path_names_one_parquet_file(tmp_path: Path, name: str) -> None:
    pq.write_table(pa.table({"q": ["another", "another"], "s": [1, 2]}), tmp_path / "d1.parquet")
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.table({"q": ["a", "b"], "s": [1, 2]}), path)
    assert classes_of(audited(path)) == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("none.csv", "does not exist. Check its path."),
        ("table.xlsx", "File 'table.xlsx' is not a workbook, or is damaged. Check how it was written."),
        ("table.db", "File 'table.db' is no database of DuckDB or SQLite, or is damaged. Check how it was written."),
        ("table.parquet", "File 'table.parquet' is not a Parquet file, or is damaged. Check how it was written."),
        ("table.arrow", "File 'table.arrow' is not an Arrow file, or is damaged. Check how it was written."),
    ],
)
def test_a_file_that_is_no_table(tmp_path: Path, name: str, sentence: str) -> None:
    if not name.startswith("none"):
        (tmp_path / name).write_bytes(b"this is no table at all")
    with pytest.raises(tc.InputError) as error:
        audited(tmp_path / name)
    assert sentence in str(error.value)


# --- categories -------------------------------------------------------------------------------------------------------

LEVELS = ["low", "mid", "high", "top"]
CELLS = ["high", "low", "mid", "low"]


def ordered_category(kind: str, folder: Path) -> Any:
    """Columns q and s with CELLS, in the order of LEVELS; "top" does not occur."""
    series = pd.Series(pd.Categorical(CELLS, categories=LEVELS, ordered=True))
    column = pa.DictionaryArray.from_arrays(pa.array([LEVELS.index(cell) for cell in CELLS]), LEVELS, ordered=True)
    table = pa.table({"level": column, "q": ["a", "a", "b", "b"], "s": [1, 2, 3, 4]})
    if kind == "pandas":
        return pd.DataFrame({"level": series, "q": ["a", "a", "b", "b"], "s": [1, 2, 3, 4]})
    if kind == "pyarrow":
        return table
    if kind == "pyarrow, many chunks":
        return pa.concat_tables([table.slice(row, 1) for row in range(4)])
    if kind == "polars":
        return pl.DataFrame({"level": pl.Series(CELLS, dtype=pl.Enum(LEVELS)), "q": ["a", "a", "b", "b"], "s": [1, 2, 3, 4]})
    path = folder / f"table.{'arrow' if kind == 'arrow' else 'parquet'}"
    if kind == "arrow":
        with pa.ipc.new_file(path, table.schema) as sink:
            sink.write_table(table)
    else:
        pq.write_table(table, path, row_group_size=1 if "groups" in kind else None, use_dictionary="without" not in kind)
    return path


@pytest.fixture(
    params=[
        "pandas",
        "pyarrow",
        "pyarrow, many chunks",
        "polars",
        "arrow",
        "parquet",
        "parquet, row groups",
    ]
)
def levels(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return ordered_category(request.param, tmp_path)


def test_an_order_that_a_file_does_not_keep_is_asked_for(tmp_path: Path) -> None:
    table = ordered_category("parquet without dictionaries", tmp_path)
    with pytest.raises(tc.ColumnError) as error:
        audited(table, sensitive=("level",))
    assert str(error.value) == (
        "Column 'level' is an ordered category, and the file does not keep its order. Give its order in the policy, "
        "or type: text for a quasi-identifier."
    )
    found = audited(table, sensitive={"level": {"order": ["low", "mid", "high"]}}).sensitive["level"]
    assert str(found.t_exact) == "1/8"


def test_ordered_categories_keep_their_order_as_sensitive_values(levels: Any) -> None:
    found = audited(levels, sensitive=("level",)).sensitive["level"]
    # {high, low} against low 1/2, mid 1/4, high 1/4: a quarter crosses one of two gaps. In the alphabet's order it were 1/4.
    assert (found.distance, str(found.t_exact)) == ("ordered", "1/8")


def test_ordered_categories_keep_their_order_as_quasi_identifiers(levels: Any) -> None:
    audit = audited(levels, ("level",))
    assert (classes_of(audit, "level"), classes_of(audit, "rows")) == (["low", "mid", "high"], [2, 1, 1])


def test_an_order_of_the_policy_goes_before_that_of_the_category(levels: Any) -> None:
    found = audited(levels, sensitive={"level": {"order": ["high", "low", "mid"]}}).sensitive["level"]
    assert str(found.t_exact) == "1/4"


@pytest.mark.parametrize(
    "column",
    [
        pytest.param(pd.Series(pd.Categorical(["b", "a", "b"])), id="pandas"),
        pytest.param(pa.array(["b", "a", "b"]).dictionary_encode(), id="pyarrow"),
        pytest.param(pl.Series(["b", "a", "b"], dtype=pl.Categorical), id="polars"),
    ],
)
def test_unordered_categories_are_plain_values(column: Any) -> None:
    table = pl.DataFrame({"q": column, "s": column}) if isinstance(column, pl.Series) else None
    if table is None:
        table = (
            pd.DataFrame({"q": column, "s": column}) if isinstance(column, pd.Series) else pa.table({"q": column, "s": column})
        )
    audit = audited(table)
    assert (classes_of(audit), audit.sensitive["s"].distance) == (["a", "b"], "equal")


# --- names ------------------------------------------------------------------------------------------------------------

NAMES = [
    "two words", "it's", 'say "x"', "Age", "age", "count(*)", "class", "rows", "breaks", "weight", "value", "row", "column", "cells",
    "c0", "c1", "f0", "a.b", "{x}", "%s", "😀", "x'; DROP TABLE cells; --", '"; SELECT 1; --', "",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["pandas", "csv", "parquet"])
def test_a_column_may_have_any_name(tmp_path: Path, kind: str, name: str) -> None:
    others = {"AGE": ["x"] * 3, "other": ["b", "a", "b"]}
    audit = audited(contain(kind, {name: [1, 2, 4], **others}, tmp_path), ("other",), (name,))
    assert (list(audit.sensitive), classes_of(audit, "other"), str(audit.sensitive[name].t_exact)) == ([name], ["a", "b"], "1/3")
    quasi = audited(contain(kind, {name: ["b", "a", "b"], **others, "s": [1, 2, 3]}, tmp_path), (name,)).class_table()
    assert ["a", "b"] in [column.to_pylist() for column in quasi.columns]
    assert len(set(quasi.column_names)) == len(quasi.column_names)


def test_names_that_differ_in_case_only(container: Maker) -> None:
    table = container({"Age": [1, 1, 2, 2], "age": [5, 6, 5, 6], "AGE": [1, 2, 3, 4]})
    assert classes_of(audited(table, ("Age",), ("AGE",)), "Age") == [1, 2]
    assert classes_of(audited(table, ("age",), ("AGE",)), "age") == [5, 6]
    assert str(audited(table, ("Age",), ("age",)).sensitive["age"].t_exact) == "0"


def test_integers_name_columns_by_name_not_by_place() -> None:
    frame = pd.DataFrame({1: ["a", "b", "a"], 0: [1, 2, 3]})
    audit = audited(frame, [1], [0])
    assert (classes_of(audit, "1"), list(audit.sensitive)) == (["a", "b"], ["0"])


def test_two_columns_of_one_name_are_refused() -> None:
    for frame in (pd.DataFrame([[1, 2, 3]], columns=["q", "s", "s"]), pd.DataFrame({0: [1], "0": [1], "q": [1], "s": [1]})):
        with pytest.raises(tc.ColumnError, match=r"^Two columns are called '[s0]'. Rename one of them.$"):
            audited(frame)


def test_a_missing_column_is_named_with_the_nearest() -> None:
    with pytest.raises(tc.ColumnError, match=r"^Column 'slary' is not in the table. Did you mean 'salary'\?$"):
        audited(pa.table({"q": [1], "salary": [1]}), sensitive=("slary",))


def test_several_names_in_one_text_are_no_column() -> None:
    with pytest.raises(tc.ColumnError, match=r"^Column 'q, s' is not in the table. Give several names as a list: \[q, s\].$"):
        tc.audit(pa.table({"q": [1], "s": [1], "v": [1]}), tc.Policy("q, s", "v"))


# --- pandas -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "index",
    [[0, 0, 0], ["x", "y", "z"], [None, np.nan, 1], pd.MultiIndex.from_tuples([(1, "a"), (1, "a"), (2, "b")], names=["q", "s"])],
    ids=["repeated", "text", "missing", "levels called as columns"],
)
def test_the_index_of_a_frame_never_matters(index: Any) -> None:
    frame = pd.DataFrame({"q": [1, 2, 1], "s": [1, 2, 3]})
    assert audited(frame.set_axis(index)).to_dict() == audited(frame).to_dict()


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([2.0, np.nan, 1.0, np.nan]),
        pd.Series([2, None, 1, pd.NA], dtype="Int64"),
        pd.Series([2, None, 1, np.nan], dtype=object),
        pd.Series(["b", None, "a", pd.NA], dtype="string"),
        pd.Series(["b", None, "a", np.nan], dtype=object),
        pd.Series([pd.Timestamp(2020, 1, 2), pd.NaT, pd.Timestamp(2020, 1, 1), None]),
        pd.Series([2.0, np.nan, 1.0, None], dtype="double[pyarrow]"),
        pd.Series(pd.Categorical(["a", None, "b", None], categories=["b", "a"], ordered=True)),
    ],
    ids=["float", "Int64", "object numbers", "string", "object text", "timestamp", "arrow float", "category"],
)
def test_all_that_is_missing_is_one_class_and_the_last(column: pd.Series[Any]) -> None:
    audit = audited(pd.DataFrame({"q": column, "s": [1, 2, 3, 4]}))
    assert classes_of(audit, "rows") == [1, 1, 2]
    assert classes_of(audit)[-1] is None


def test_nan_in_an_arrow_table_is_missing() -> None:
    audit = audited(pa.table({"q": [float("nan"), float("nan"), 1.0], "s": [1, 2, 3]}))
    assert (classes_of(audit), classes_of(audit, "rows")) == ([1.0, None], [1, 2])


# --- what is refused --------------------------------------------------------------------------------------------------

NO_SINGLE_VALUES = {
    "list": pa.array([[1], [2]]),
    "struct": pa.array([{"a": 1}, {"a": 2}]),
    "map": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int64())),
    "binary": pa.array([b"a", b"b"]),
    "dictionary of binary": pa.array([b"a", b"b"]).dictionary_encode(),
    "duration": pa.array([1, 2], pa.duration("s")),
    "month_day_nano_interval": pa.array([pa.MonthDayNano([1, 2, 3]), None]),
}


@pytest.mark.parametrize("kind", NO_SINGLE_VALUES)
@pytest.mark.parametrize("as_parquet", [False, True])
def test_columns_without_single_values_take_no_role(tmp_path: Path, kind: str, as_parquet: bool) -> None:
    table: Any = pa.table({"x": NO_SINGLE_VALUES[kind], "q": [1, 2], "s": [1, 2]})
    if as_parquet and "interval" not in kind:
        pq.write_table(table, tmp_path / "table.parquet")
        table = tmp_path / "table.parquet"
    for roles in ({"quasi": ("x",)}, {"sensitive": ("x",)}):
        with pytest.raises(
            tc.ColumnError, match=r"^Column 'x' holds .*, which cannot take a role. Use numbers, dates, times or text.$"
        ):
            audited(table, **roles)
    assert audited(table).classes == 2


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.period_range("2020", periods=2, freq="M")),
        pd.Series(pd.interval_range(0, 2)),
        pd.Series(pd.cut([1, 2], [0, 1, 2])),
        pd.Series(pd.to_timedelta([1, 2])),
        pd.Series([1j, 2j]),
        pd.Series([1, "a"], dtype=object),
        pd.Series([True, "a"], dtype=object),
        pd.Series([dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 5)], dtype=object),
        pd.Series([[1], [2]]),
        pd.Series([b"a", b"b"]),
        pd.Series(["a", "\ud800"], dtype=object),
    ],
    ids=["period", "interval", "category of intervals", "timedelta", "complex", "mixed", "boolean or text", "date or time", "list", "bytes", "no Unicode"],
)  # fmt: skip
def test_pandas_columns_that_take_no_role(column: pd.Series[Any]) -> None:
    frame = pd.DataFrame({"x": column, "q": [1, 2], "s": [1, 2]})
    for roles in ({"quasi": ("x",)}, {"sensitive": ("x",)}):
        with pytest.raises(tc.ColumnError, match=r"^Column 'x' (holds|mixes) "):
            audited(frame, **roles)
    assert audited(frame).classes == 2


@pytest.mark.parametrize(
    "column", [pa.array([1, 2], pa.time64("ns")), pa.array([Decimal(10) ** 45, 2], pa.decimal256(60, 2))],
    ids=["nanoseconds", "60 digits"],
)  # fmt: skip
def test_what_cannot_be_kept_exactly_is_refused(column: pa.Array) -> None:
    with pytest.raises(tc.ColumnError, match=r"^Column 'q' "):
        audited(pa.table({"q": column, "s": [1, 2]}))


@pytest.mark.parametrize(
    "thing",
    [None, 5, {"q": [1], "s": [1]}, [{"q": 1, "s": 1}], np.zeros((2, 2)), pd.Series([1, 2], name="q")],
    ids=lambda thing: type(thing).__name__,
)
def test_what_is_no_table_is_refused(thing: Any) -> None:
    with pytest.raises(
        tc.InputError, match=r"^A table must be a path, a pandas, polars, Arrow or ibis table, or a DuckDB relation. Got \w+.$"
    ):
        audited(thing)


def test_a_table_without_rows_is_refused(container: Maker) -> None:
    with pytest.raises(tc.InputError, match=r"no rows. There is nothing to measure.$"):
        audited(container({"q": [], "s": []}))


@pytest.mark.parametrize("error", [OSError("Out of Memory: secret"), pa.ArrowInvalid("secret")], ids=["memory", "stream"])
def test_a_stream_of_the_engine_that_ends_early_is_told_in_a_sentence(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def ends(*_: Any, chunk_size: int) -> None:
        raise error

    monkeypatch.setattr("ibis.expr.types.Table.to_pyarrow_batches", ends)
    with pytest.raises(
        tc.InputError, match=r"^The table cannot be read to its end: memory or disk ran out, or it has changed\.$"
    ):
        audited(pa.table({"q": ["a"], "s": [1]}))


def test_a_damaged_parquet_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"q": ["secret"] * 999, "s": list(range(999))}), path, compression="none", use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[4:400] = b"\xff" * 396
    path.write_bytes(content)
    with pytest.raises(tc.InputError, match=r"^File 'table.parquet' cannot be read to its end. It may be damaged.$"):
        audited(path)
