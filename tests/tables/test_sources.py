"""Databases, workbooks, files of statistics programs, folders and queries: the same rows are the same table, wherever they are."""

from __future__ import annotations

import datetime as dt
import pickle
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import ibis
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.tables.readers import in_memory, open_reader
from tests.support.sources import SOURCES

PEOPLE = pa.table({"q": ["a", "b", "a", "b"], "s": [1, 2, 3, 3]})
POLICY = tc.Policy(quasi=["q"], sensitive=["s"])


def audited(data: Any, quasi: str = "q", sensitive: str = "s") -> tc.Audit:
    return tc.audit(data, tc.Policy(quasi=[quasi], sensitive=[sensitive]))


def classes_of(data: Any, quasi: str = "q", sensitive: str = "s") -> list[Any]:
    """The values of the classes, in their order: it tells how a column was read."""
    values: list[Any] = audited(data, quasi, sensitive).class_table()[quasi].to_pylist()
    return values


def kinds_of(data: Any, *names: str) -> list[str]:
    reading = tc.audit(data, tc.Policy(quasi=list(names), sensitive=["s"])).readings
    return [reading[name].kind for name in names]


def refusal(data: Any, policy: tc.Policy = POLICY) -> str:
    with pytest.raises(tc.TcloseError) as caught:
        tc.audit(data, policy)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- all of them ------------------------------------------------------------------------------------------------------

ROWS = st.lists(
    st.tuples(
        st.none() | st.integers(-5, 99),
        st.none() | st.sampled_from(["Köln", "東京", "it's", 'a "b"', "01234", "NA", "x, y"]),
        st.dates(dt.date(1901, 1, 1), dt.date(2090, 1, 1)),
        st.integers(-9, 99).map(lambda number: number + 0.5),
        st.sampled_from(["flu", "cold", "ulcer"]),
    ),
    min_size=6,
    max_size=14,
)
SCHEMA = pa.schema({"age": pa.int64(), "town": pa.string(), "day": pa.date32(), "weight": pa.float64(), "illness": pa.string()})
RELEASED = tc.Policy(quasi=["age", "town", "day"], sensitive={"weight": 0.9, "illness": 0.9}, k=3)


def released(data: Any, folder: Path) -> list[bytes]:
    """The bytes of a release, of its certificate and of its codebook."""
    folder.mkdir()
    paths = tc.anonymize(data, RELEASED, algorithm="mondrian").write(folder / "release.csv")
    return [path.read_bytes() for path in paths if not path.name.endswith(".private.json")]


@settings(max_examples=2)
@given(ROWS)
def test_the_same_rows_give_the_same_release_from_every_source(rows: list[tuple[Any, ...]]) -> None:
    rows = [(30, "Köln", dt.date(2000, 1, 1), 0.5, "flu"), *rows]  # a column without any value has a type in some sources only
    table = pa.table(dict(zip(SCHEMA.names, zip(*rows, strict=True), strict=True)), schema=SCHEMA)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ref = released(table, folder / "ref")
        for kind, write in SOURCES.items():
            assert released(write(table, folder), folder / kind) == ref, kind


@pytest.mark.parametrize("kind", SOURCES)
def test_an_empty_table_and_a_column_that_is_not_there(kind: str, tmp_path: Path) -> None:
    data = SOURCES[kind](PEOPLE, tmp_path)
    assert refusal(data, tc.Policy(quasi=["Q"], sensitive=["s"])) == "Column 'Q' is not in the table. Did you mean 'q'?"
    assert "has no rows. There is nothing to measure." in refusal(SOURCES[kind](PEOPLE.slice(0, 0), tmp_path))


def test_a_suffix_that_is_not_known_lists_those_that_are(tmp_path: Path) -> None:
    (tmp_path / "table.abc").write_bytes(b"x")
    said = refusal(tmp_path / "table.abc")
    assert all(
        suffix in said for suffix in (".csv", ".parquet", ".duckdb", ".sqlite", ".xlsx", ".sav", ".dta", ".sas7bdat", ".xpt")
    )


@pytest.mark.parametrize(
    ("kind", "package", "extra"), [("workbook", "python_calamine", "excel"), ("SPSS file", "pyreadstat", "statistics")]
)
def test_a_missing_package_is_named(kind: str, package: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = SOURCES[kind](PEOPLE, tmp_path)
    monkeypatch.setitem(sys.modules, package, None)
    assert refusal(data).endswith(f"which is not installed: pip install 'tclose[{extra}]'.")


@pytest.mark.parametrize("kind", ["SQLite file", "workbook", "DuckDB file", "SPSS file"])
def test_a_private_record_commits_to_the_file(kind: str, tmp_path: Path) -> None:
    from tclose.release.anonymize import _commit_to_file
    from tclose.release.certificate import Commitment

    path = SOURCES[kind](PEOPLE, tmp_path)
    found = _commit_to_file(open_reader(path))
    again = Commitment(bytes.fromhex(found.to_dict()["hmac_key"]))
    again.update_file(path)
    assert again.to_dict() == found.to_dict()


# --- names of tables and sheets ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".duckdb", ".db", ".DB", ".sqlite"])
@pytest.mark.parametrize("engine", [duckdb, sqlite3])
def test_a_database_is_known_by_its_first_bytes(engine: Any, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"table{suffix}"
    connection = engine.connect(str(path))
    connection.execute("CREATE TABLE t (q TEXT, s INTEGER)")
    connection.execute("INSERT INTO t VALUES ('a', 1), ('b', 2)")
    connection.commit()
    connection.close()
    assert classes_of(path) == ["a", "b"]


@pytest.mark.parametrize("engine", [duckdb, sqlite3])
def test_one_of_several_tables_is_named_whatever_its_name(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "it's [1].db"
    connection = engine.connect(str(path))
    for number, name in enumerate(['it\'s ""x""', "a::b", "a; DROP", "a.b"]):
        connection.execute(f'CREATE TABLE "{name}" (q TEXT, s INTEGER)')
        connection.execute(f"INSERT INTO \"{name}\" VALUES ('{number}', 1), ('z', 2)")
    connection.execute('CREATE VIEW small AS SELECT * FROM "a.b" WHERE s = 1')
    connection.commit()
    connection.close()
    for number, name in enumerate(['it\'s "x"', "a::b", "a; DROP", "a.b"]):
        assert classes_of(f"{path}::{name}") == [str(number), "z"]
    assert classes_of(f"{path}::small") == ["3"]
    said = refusal(path)
    assert said.startswith('File "it\'s [1].db" has 5 tables: ')
    assert refusal(f"{path}::smal") == "File \"it's [1].db\" has no table 'smal'. Did you mean 'small'?"
    assert "has no table ''" in refusal(f"{path}::")


def test_a_file_whose_name_has_the_mark_is_that_file(tmp_path: Path) -> None:
    path = tmp_path / "a.db::b.csv"
    path.write_text("q,s\na,1\nb,2\n")
    assert classes_of(path) == ["a", "b"]


def test_a_database_without_tables(tmp_path: Path) -> None:
    duckdb.connect(tmp_path / "a.duckdb").close()
    assert refusal(tmp_path / "a.duckdb") == "File 'a.duckdb' has no tables. There is nothing to read."


# --- DuckDB -----------------------------------------------------------------------------------------------------------


def database(path: Path, *statements: str) -> Path:
    with duckdb.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


def test_types_of_duckdb(tmp_path: Path) -> None:
    path = database(
        tmp_path / "a.duckdb",
        "CREATE TABLE t (e ENUM('low', 'high'), h HUGEINT, u UUID, d DATE, z TIMESTAMPTZ, c TIME, n DECIMAL(5, 2), b BLOB, s INTEGER)",
        "INSERT INTO t SELECT 'high', 1, uuid(), '2024-02-29', '2024-02-29 12:00:00+01', '12:30', 1.50, 'x', 1 FROM range(2)",
    )
    assert kinds_of(path, "e", "h", "u", "d", "z", "c", "n") == [
        "text",
        "decimal",
        "text",
        "date",
        "timestamp",
        "time",
        "decimal",
    ]
    assert refusal(path, tc.Policy(quasi=["b"], sensitive=["s"])) == (
        "Column 'b' holds binary, which cannot take a role. Use numbers, dates, times or text."
    )


def test_texts_that_a_collation_makes_one_are_two(tmp_path: Path) -> None:
    rows = "INSERT INTO t VALUES ('a', 1), ('A', 2)"
    path = database(tmp_path / "a.duckdb", "CREATE TABLE t (q VARCHAR COLLATE NOCASE, s INTEGER)", rows)
    assert classes_of(path) == ["A", "a"]
    connection = sqlite3.connect(tmp_path / "a.sqlite")
    connection.execute("CREATE TABLE t (q TEXT COLLATE NOCASE, s INTEGER)")
    connection.execute(rows)
    connection.commit()
    connection.close()
    assert classes_of(tmp_path / "a.sqlite") == ["A", "a"]


def test_a_table_of_another_schema(tmp_path: Path) -> None:
    path = database(
        tmp_path / "a.duckdb",
        "CREATE SCHEMA x",
        "CREATE TABLE x.t AS SELECT 'a' AS q, 1 AS s",
        "CREATE TABLE t AS SELECT 'b' AS q, 1 AS s",
    )
    assert (classes_of(f"{path}::x.t"), classes_of(f"{path}::t")) == (["a"], ["b"])


def test_a_view_reads_nothing_but_its_file(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("q,s\na,1\n")
    path = database(tmp_path / "a.duckdb", f"CREATE VIEW v AS SELECT * FROM read_csv('{tmp_path}/other.csv')")
    said = "File 'a.duckdb' has a view 'v' that needs more than is in the file. Make a table of it in DuckDB."
    assert refusal(path) == said


HOLD = """
import duckdb, sys
connection = duckdb.connect(sys.argv[1])
print("open", flush=True)
sys.stdin.read()
"""


def test_a_database_that_is_open_elsewhere(tmp_path: Path) -> None:
    path = database(tmp_path / "a.duckdb", "CREATE TABLE t AS SELECT 'a' AS q, 1 AS s")
    said = "File 'a.duckdb' is open for writing, in another program or in this one. Close it there first."
    with duckdb.connect(path):
        assert refusal(path) == said
    with duckdb.connect(path, read_only=True):
        assert classes_of(path) == ["a"]
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        assert refusal(path) == said
        other.communicate("")
    assert classes_of(path) == ["a"]


def test_what_waits_in_the_log_of_a_database_is_read(tmp_path: Path) -> None:
    first, copy = tmp_path / "first.duckdb", tmp_path / "copy.duckdb"
    with duckdb.connect(first) as connection:
        connection.execute("CREATE TABLE t AS SELECT 'a' AS q, 1 AS s")
        for end in ("", ".wal"):
            shutil.copy(f"{first}{end}", f"{copy}{end}")
    assert classes_of(copy) == ["a"]
    assert [path.name for path in open_reader(copy).file.files] == ["copy.duckdb", "copy.duckdb.wal"]  # type: ignore[union-attr]


# --- SQLite -----------------------------------------------------------------------------------------------------------


def sqlite_file(path: Path, declared: str, rows: list[tuple[Any, ...]]) -> Path:
    connection = sqlite3.connect(path)
    connection.execute(f"CREATE TABLE t ({declared})")
    connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(rows[0]))})", rows)
    connection.commit()
    connection.close()
    return path


def test_types_of_sqlite(tmp_path: Path) -> None:
    path = sqlite_file(
        tmp_path / "a.db",
        "d DATE, m DATETIME, x DATE, b BOOLEAN, r REAL, mixed, i, n NUMERIC(5, 2), s INT",
        [
            ("2024-02-29", "2024-02-29 12:30:00", "soon", 1, 2, "a", 1, 1.5, 1),
            (None, "2024-02-29 00:00:00", "2024-01-01", 0, 2.5, 1, 2, 2, 2),
        ],
    )
    names = ("d", "m", "x", "b", "r", "mixed", "i", "n")
    assert kinds_of(path, *names) == ["date", "timestamp", "text", "boolean", "float", "text", "integer", "float"]
    assert classes_of(path, "d") == [dt.date(2024, 2, 29), None]
    assert classes_of(path, "b") == [False, True]


def test_an_empty_text_of_sqlite_is_a_text(tmp_path: Path) -> None:
    assert classes_of(sqlite_file(tmp_path / "a.db", "q, s", [("", 1), (None, 2)])) == ["", None]


def test_a_blob_takes_no_role(tmp_path: Path) -> None:
    assert refusal(sqlite_file(tmp_path / "a.db", "q, s", [(b"x", 1), ("y", 2)])).startswith("Column 'q' holds binary, which")


def test_nothing_is_left_beside_a_database_in_wal_mode(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE t AS SELECT 'a' AS q, 1 AS s")
    connection.commit()
    assert classes_of(path) == ["a"]  # from the log, in which all of it is
    connection.close()
    assert (classes_of(path), [one.name for one in tmp_path.iterdir()]) == (["a"], ["a.db"])


def test_a_database_that_is_being_written(tmp_path: Path) -> None:
    path = sqlite_file(tmp_path / "a.db", "q, s", [("a", 1)])
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA cache_size = 1")
    connection.execute("BEGIN EXCLUSIVE")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [("x" * 1000, 1)] * 50)
    assert refusal(path) == "File 'a.db' is being written by another program, or a write has not ended. Close it there first."
    connection.rollback()
    connection.close()
    assert classes_of(path) == ["a"]


# --- workbooks --------------------------------------------------------------------------------------------------------


def workbook(path: Path, *rows: list[Any], **others: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for name, cells in others.items():
        sheet = book.create_sheet(name)
        for row in cells:
            sheet.append(row)
    book.save(path)
    return path


def test_types_of_a_workbook(tmp_path: Path) -> None:
    noon = dt.datetime(2024, 2, 29, 12, 30)
    path = workbook(
        tmp_path / "a.xlsx",
        ["i", "r", "b", "d", "m", "c", "zip", "mixed", "s"],
        [41, 1.5, True, dt.date(2024, 2, 29), noon, dt.time(12, 30), "01234", 7, 1],
        [None, 2, False, dt.date(1901, 1, 1), dt.datetime(2024, 3, 1), dt.time(0, 0), "99999", "a", 2],
        [30, None, None, None, None, None, None, None, 3],
    )
    names = ("i", "r", "b", "d", "m", "c", "zip", "mixed")
    assert kinds_of(path, *names) == ["integer", "float", "boolean", "date", "timestamp", "time", "text", "text"]
    assert classes_of(path, "i") == [30, 41, None]
    assert classes_of(path, "m") == [noon, dt.datetime(2024, 3, 1), None]
    assert classes_of(path, "zip") == ["01234", "99999", None]


def test_a_sheet_is_named(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", ["q", "s"], ["a", 1], other=[["q", "s"], ["b", 1]], empty=[])
    assert (classes_of(path), classes_of(f"{path}::other")) == (["a"], ["b"])
    assert refusal(f"{path}::Other") == "File 'a.xlsx' has no sheet 'Other'. Did you mean 'other'?"
    assert refusal(f"{path}::empty") == "File 'a.xlsx' has an empty sheet, 'empty'. A header and rows are needed."


def test_blank_rows_and_columns_are_none(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", [], [None, 2023, "s", None], [None, "a", 1, None], [], [None, "b", 2, ""], [])
    assert classes_of(path, "2023") == ["a", "b"]


def test_a_title_above_the_header_is_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", ["Visits of 2024"], ["q", "s"], ["a", 1])
    assert refusal(path) == (
        "File 'a.xlsx' must have its header in the first row of the sheet. Row 1 below it has a cell in a column without a name; "
        "remove any title above the header."
    )
    path = workbook(tmp_path / "b.xlsx", ["q", "s"], ["a", 1], ["b", 2, "x"])
    assert "Row 2 below it has a cell in a column without a name" in refusal(path)


def test_an_error_in_a_cell_is_missing(tmp_path: Path) -> None:
    assert classes_of(workbook(tmp_path / "a.xlsx", ["q", "s"], ["a", 1], ["#N/A", 2], ["#DIV/0!", 3])) == ["a", None]


# --- SPSS, Stata, SAS -------------------------------------------------------------------------------------------------

CODED = pd.DataFrame(
    {"level": [3.0, 1, 2, 1], "part": [1.0, 2, 9, 1], "twice": [1.0, 2, 1, 2], "code": [4.0, 2, 4, 2], "s": [1.0, 2, 3, 4]}
)
LABELS: dict[str, dict[float, str]] = {
    "level": {1: "low", 2: "middle", 3: "high", 99: "refused"},
    "part": {9: "unknown"},
    "twice": {1: "yes", 2: "yes"},
}


def test_labels_of_spss_have_the_order_that_the_file_states(tmp_path: Path) -> None:
    for measure, kind, found in (
        ("ordinal", "category", ["low", "middle", "high"]),
        ("nominal", "text", ["high", "low", "middle"]),
        ("unknown", "text", ["high", "low", "middle"]),
    ):
        pyreadstat.write_sav(
            CODED, tmp_path / "a.sav", variable_value_labels=LABELS, variable_measure={"level": measure, "code": "nominal"}
        )
        assert kinds_of(tmp_path / "a.sav", "level", "part", "twice", "code") == [kind, "integer", "integer", "codes"]
        assert classes_of(tmp_path / "a.sav", "level") == found
    assert classes_of(tmp_path / "a.sav", "part") == [1, 2, 9]


def test_labels_of_stata(tmp_path: Path) -> None:
    pyreadstat.write_dta(CODED, tmp_path / "a.dta", variable_value_labels=LABELS)
    assert kinds_of(tmp_path / "a.dta", "level", "part") == ["text", "integer"]
    assert classes_of(tmp_path / "a.dta", "level") == ["high", "low", "middle"]


def test_an_ordered_category_of_spss_is_judged_and_published_as_such(tmp_path: Path) -> None:
    pyreadstat.write_sav(CODED, tmp_path / "a.sav", variable_value_labels=LABELS, variable_measure={"level": "ordinal"})
    assert audited(tmp_path / "a.sav", "s", "level").sensitive["level"].distance == "ordered"
    level = tc.Sensitive("level", t=0.5, order=["low", "middle", "high"])
    release = tc.anonymize(tmp_path / "a.sav", tc.Policy(quasi=["s"], sensitive=[level], k=2, other="drop"))
    assert set(release.table["level"].to_pylist()) == {"low", "middle", "high"}


def test_missing_values_that_the_file_declares(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [30.0, 99, 98, None, 41], "town": ["a", "", "XX", "b", "a"], "s": [1.0, 2, 3, 4, 5]})
    ranges: dict[str, Any] = {"age": [{"lo": 98, "hi": 99}], "town": ["XX"]}
    pyreadstat.write_sav(frame, tmp_path / "a.sav", missing_ranges=ranges, variable_value_labels={"age": {99: "refused"}})
    assert classes_of(tmp_path / "a.sav", "age") == [30, 41, None]
    assert classes_of(tmp_path / "a.sav", "town") == ["a", "b", None]


@pytest.mark.parametrize(
    ("suffix", "write"), [(".sav", pyreadstat.write_sav), (".dta", pyreadstat.write_dta), (".xpt", pyreadstat.write_xport)]
)
def test_dates_of_statistics_programs(suffix: str, write: Any, tmp_path: Path) -> None:
    days, noon = [dt.date(1900, 1, 31), None, dt.date(2024, 2, 29)], dt.datetime(2024, 2, 29, 12, 30)
    frame = pd.DataFrame({"d": days, "m": [noon, dt.datetime(2024, 1, 1), None], "s": [1.5, 2.0, 3.0]})
    write(frame, tmp_path / f"a{suffix}")
    assert kinds_of(tmp_path / f"a{suffix}", "d", "m") == ["date", "timestamp"]
    assert classes_of(tmp_path / f"a{suffix}", "d") == [days[0], days[2], None]
    assert classes_of(tmp_path / f"a{suffix}", "m") == [dt.datetime(2024, 1, 1), noon, None]


# --- a folder of Parquet files ----------------------------------------------------------------------------------------


def parts(folder: Path, *tables: pa.Table) -> Path:
    folder.mkdir()
    for number, table in enumerate(tables):
        pq.write_table(table, folder / f"part-{number}.parquet")
    return folder


def test_the_rows_of_a_folder_are_in_the_order_of_its_files(tmp_path: Path) -> None:
    folder = parts(tmp_path / "it's [1] *.parquet", PEOPLE, PEOPLE.slice(0, 1))
    release = tc.anonymize(
        folder,
        tc.Policy(quasi=["q"], sensitive={"s": 0.9}, k=2),
    )
    assert release.partition.tolist() == [0, 1, 0, 1, 0]


def test_an_ordered_category_of_several_files(tmp_path: Path) -> None:
    level = pa.DictionaryArray.from_arrays(pa.array([1, 0]), ["low", "high"], ordered=True)
    table = pa.table({"q": level, "s": [1, 2]})
    assert classes_of(parts(tmp_path / "a", table, table)) == ["low", "high"]


def test_files_that_differ_are_refused(tmp_path: Path) -> None:
    folder = parts(tmp_path / "a", PEOPLE, PEOPLE.set_column(1, "s", pa.array([0.5] * 4)))
    assert refusal(folder) == (
        "Column 's' is double in file 'part-1.parquet' and int64 in 'part-0.parquet', of the same folder. Write one type."
    )
    folder = parts(tmp_path / "b", PEOPLE, PEOPLE.select(["s", "q"]))
    assert refusal(folder).startswith("File 'part-1.parquet' has other columns than 'part-0.parquet', in the same folder.")


@pytest.mark.parametrize(
    ("inside", "sentence"),
    [("_delta_log", "has a log that says which of its files count."), ("year=2024", "has folders in it, which are not read.")],
)
def test_a_folder_of_which_files_are_only_a_part(inside: str, sentence: str, tmp_path: Path) -> None:
    folder = parts(tmp_path / "a", PEOPLE)
    (folder / inside).mkdir()
    assert sentence in refusal(folder)


def test_a_folder_without_parquet_files(tmp_path: Path) -> None:
    assert refusal(tmp_path) == f"'{tmp_path}' is a folder without Parquet files. Name a file, or a folder of them."


def test_a_file_that_comes_while_a_folder_is_read(tmp_path: Path) -> None:
    reader = open_reader(parts(tmp_path / "a", PEOPLE))
    pq.write_table(PEOPLE, tmp_path / "a" / "part-9.parquet")
    with pytest.raises(tc.InputError, match=r"^Folder 'a' has changed while it was read\."):
        reader.open({"q": "text"}, tc.Input())


def test_a_release_is_not_written_into_the_folder_that_is_read(tmp_path: Path) -> None:
    folder = parts(tmp_path / "a", PEOPLE)
    release = tc.anonymize(folder, tc.Policy(quasi=["q"], sensitive={"s": 0.9}, k=2))
    with pytest.raises(tc.OutputError, match=r"is read as an input\. Write to another folder\.$"):
        release.write(folder / "release.parquet")


# --- queries ----------------------------------------------------------------------------------------------------------


def test_the_message_of_a_query_that_fails_is_not_shown() -> None:
    said = "The query of the table failed with {}. Run it by itself to see why, and mend it."
    secret = duckdb.sql("SELECT q, CAST(q AS INTEGER) AS s FROM (VALUES ('1'), ('secret')) t(q)")
    assert refusal(secret) == said.format("ConversionException")
    assert refusal(ibis.table({"q": "string", "s": "int64"}, name="unbound")) == said.format("IbisError")


def test_only_columns_with_a_role_are_queried() -> None:
    assert classes_of(duckdb.sql("SELECT 'a' AS q, 1 AS s, error('never read') AS other FROM range(3)")) == ["a"]


@pytest.mark.filterwarnings("ignore:The 'future.infer_string' option")  # ibis asks pandas for it
def test_an_ibis_table_of_another_backend(tmp_path: Path) -> None:
    path = SOURCES["SQLite file"](PEOPLE, tmp_path)
    table = ibis.sqlite.connect(path).table("people")
    assert classes_of(table.filter(table.s < 2)) == ["a"]


def test_the_rows_of_a_query_can_be_given_to_other_processes() -> None:
    for query in (duckdb.sql("SELECT 'a' AS q, 1 AS s"), ibis.memtable(pa.table({"q": ["a"], "s": [1]}))):
        assert pickle.loads(pickle.dumps(in_memory(query))).to_pydict() == {"q": ["a"], "s": [1]}
