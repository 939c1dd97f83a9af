"""Tables as files: the same table gives the same bytes, all its values come back, and nothing else is in them."""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tclose.errors import OutputError
from tclose.tables import write as writing
from tclose.tables.files import write_whole
from tclose.tables.readers import open_reader
from tclose.tables.table import open_table
from tclose.tables.write import check_columns, guard_column, write_table
from tclose.values.formula_guard import guarded, is_risky, unguarded
from tests.support.examples import examples

SUFFIXES = (".csv", ".parquet", ".arrow")


def written(table: pa.Table, suffix: str, *, guard: bool = True) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{suffix}"
        write_table(table, path, formula_guard=guard)
        return path.read_bytes()


def lines(table: pa.Table, *, guard: bool = True) -> list[str]:
    return written(table, ".csv", guard=guard).decode().split("\n")


def read(data: bytes, suffix: str = ".csv", kind: str = "auto") -> tuple[pa.Table, dict[str, str]]:
    """A file through our own reader: its columns, and their kinds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{suffix}"
        path.write_bytes(data)
        reader = open_reader(path)
        table = open_table(reader, dict.fromkeys(reader.names, kind))
        return pa.table([table.column(name) for name in reader.names], names=reader.names), table.kinds


def refused(table: pa.Table, suffix: str = ".csv", *, guard: bool = True) -> str:
    with pytest.raises(OutputError) as caught:
        written(table, suffix, guard=guard)
    return str(caught.value)


# The guard

TEXTS = st.text(
    st.one_of(st.sampled_from("'=+-@\t\r\n\uff1d\uff0b\uff0d\uff20,;|\"0.5 a#\ufeff"), st.characters(codec="utf-8")), max_size=8
)


def test_the_guard_by_hand() -> None:
    for text in (
        "=cmd()",
        "+1",
        "-x",
        "-5 to 5",
        "@x",
        "\tx",
        "\rx",
        "\n=x",
        "\uff1d1",
        "\uff0b1",
        "\uff0d1",
        "\uff201",
        "'=x",
        "''+1",
        "'-5",
    ):
        assert guarded(text) == "'" + text
    for text in ("-5", "-0.5", "-007", "5", "a=b", "", "'", "'tis", "[-5, 5]", " =x"):
        assert guarded(text) == text


@settings(deadline=None)
@given(TEXTS)
def test_the_guard_can_be_undone_and_leaves_no_formula(text: str) -> None:
    shown = guarded(text)
    assert unguarded(shown) == text
    assert shown == text or shown == "'" + text
    number = shown[:1] == "-" and shown[1:2].isdigit() and not math.isnan(float(shown))
    assert shown[:1] not in tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20") or number


@settings(deadline=None)
@given(st.lists(TEXTS, unique=True))
def test_the_guard_keeps_texts_apart(texts: list[str]) -> None:
    assert len(set(map(guarded, texts))) == len(texts)


@settings(deadline=None)
@given(st.lists(st.none() | TEXTS), st.sampled_from([pa.string(), pa.large_string()]))
def test_the_guard_of_a_column_is_the_guard_of_its_texts(texts: list[str | None], kind: Any) -> None:
    ref = [None if text is None else guarded(text) for text in texts]
    column = pa.array(texts, kind)
    assert guard_column(column).to_pylist() == ref
    assert guard_column(column.dictionary_encode()).to_pylist() == ref
    assert guard_column(column.dictionary_encode()).type == column.dictionary_encode().type


def test_names_that_a_spreadsheet_may_run() -> None:
    table = pa.table({"a": [1], "=b": [2]})
    assert refused(table) == "Column '=b' has a name that a spreadsheet may run. Rename it, or set formula_guard: false."
    assert lines(table, guard=False) == ["a,=b", "1,2", ""]
    assert read(written(table, ".parquet"), ".parquet")[0].column_names == ["a", "=b"]
    check_columns(["-5", "a"], Path("x.csv"), formula_guard=True)


# CSV


def test_a_csv_by_hand() -> None:
    table = pa.table(
        {
            "text": ["plain", "a,b", 'say "x"', "two\nlines", "", None, " blank ", "=cmd()", "-5"],
            "int": [1, -2, 0, None, 5, 6, 7, 8, 9],
            "float": [0.1, 1.0, -0.0, math.nan, 1e-7, 1e20, -2.5, 1e300, None],
            "decimal": pa.array([Decimal(n) for n in ("1.50", "-0.01", "0", "1", "2", "3", "4", "5", "6")], pa.decimal128(10, 2)),
            "date": [date(2024, 2, 29)] * 9,
            "bool": [True, False, None] * 3,
            'the "name", quoted': pa.array(list("aabbccddd")).dictionary_encode(),
        }
    )
    assert lines(table) == [
        'text,int,float,decimal,date,bool,"the ""name"", quoted"',
        "plain,1,0.1,1.50,2024-02-29,true,a",
        '"a,b",-2,1,-0.01,2024-02-29,false,a',
        '"say ""x""",0,0,0.00,2024-02-29,,b',
        '"two',
        'lines",,,1.00,2024-02-29,true,b',
        '"",5,0.0000001,2.00,2024-02-29,false,c',
        ",6,100000000000000000000,3.00,2024-02-29,,c",
        " blank ,7,-2.5,4.00,2024-02-29,true,d",
        "'=cmd(),8,1e+300,5.00,2024-02-29,false,d",
        "-5,9,,6.00,2024-02-29,,d",
        "",
    ]


def test_times_in_the_largest_unit_that_keeps_them() -> None:
    moment = datetime(2024, 1, 2, 3, 4, 5)
    table = pa.table(
        {
            "whole": pa.array([moment, None], pa.timestamp("ns")),
            "part": pa.array([moment, moment.replace(microsecond=500)], pa.timestamp("us")),
            "zone": pa.array([moment.replace(tzinfo=UTC)] * 2, pa.timestamp("us", "Europe/Rome")),
            "time": pa.array([time(1, 2), time(1, 2, 3)], pa.time64("ns")),
        }
    )
    assert lines(table)[1:3] == [
        "2024-01-02 03:04:05,2024-01-02 03:04:05.000000,2024-01-02 04:04:05+01:00,01:02:00",
        ",2024-01-02 03:04:05.000500,2024-01-02 04:04:05+01:00,01:02:03",
    ]
    read_back = duckdb.sql("SELECT '2024-01-02 03:04:05.000500'::TIMESTAMP").fetchone()
    assert read_back == (moment.replace(microsecond=500),)


def test_an_empty_text_is_not_a_missing_one(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    write_table(pa.table({"a": ["", None, "x"], "b": [None, "", "x"]}), path, formula_guard=True)
    assert path.read_text() == 'a,b\n"",\n,""\nx,x\n'
    found = duckdb.sql(f"SELECT * FROM read_csv('{path}', header=true, all_varchar=true, allow_quoted_nulls=false)").fetchall()
    assert found == [("", None), (None, ""), ("x", "x")]


def test_a_csv_comes_back_with_its_types() -> None:
    awkward = [
        "=cmd()",
        "+1",
        "@x",
        "'=x",
        "-5",
        "a,b",
        'q"q',
        "l\nl",
        "l\r\nl",
        "r\rr",
        " x ",
        "\t",
        "\u5e74",
        "#",
        "\\",
        "a;b",
        "a|b",
        "NULL",
    ]
    table = pa.table(
        {
            "text": pa.array([*awkward, None]),
            "category": pa.array([*awkward, None]).dictionary_encode(),
            "int": pa.array([*range(-9, 9), None]),
            "float": pa.array([*(number / 7 for number in range(18)), None]),
            "decimal": pa.array([*(Decimal(number) / 100 for number in range(-9, 9)), None], pa.decimal128(18, 2)),
            "date": pa.array([*(date(1999, 1, day) for day in range(1, 19)), None]),
        }
    )
    found, kinds = read(written(table, ".csv"))
    assert kinds == {
        "text": "text",
        "category": "text",
        "int": "integer",
        "float": "decimal",
        "decimal": "decimal",
        "date": "date",
    }
    for name in ("text", "category"):
        assert [text and unguarded(text) for text in found[name].to_pylist()] == table[name].to_pylist()
    assert [number and float(number) for number in found["float"].to_pylist()] == table["float"].to_pylist()
    for name in ("int", "decimal", "date"):
        assert found[name].to_pylist() == table[name].to_pylist()


FILLED = TEXTS.filter(lambda text: text and "\0" not in text)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(FILLED, st.none() | FILLED), min_size=1, max_size=6), st.booleans())
def test_texts_come_back(rows: list[tuple[str, str | None]], guard: bool) -> None:
    table = pa.table({"a": [row[0] for row in rows], "b": pa.array([row[1] for row in rows], pa.string())})
    found, _ = read(written(table, ".csv", guard=guard), kind="text")
    back = [[text if text is None or not guard else unguarded(text) for text in found[name].to_pylist()] for name in "ab"]
    assert back == [table[name].to_pylist() for name in "ab"]


@settings(max_examples=examples(30), deadline=None)
@given(st.lists(st.text(min_size=1, max_size=4).filter(lambda text: "\0" not in text), min_size=1), st.booleans())
def test_one_column_has_no_delimiter_to_be_found(texts: list[str], guard: bool) -> None:
    # Semicolons in all cells would make one; quotes say that they are none.
    found, _ = read(written(pa.table({"a": [*texts, "x;y", "z;w"]}), ".csv", guard=guard), kind="text")
    assert len(found) == len(texts) + 2


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False) | st.floats(width=32, allow_nan=False).map(np.float32), min_size=1))
def test_floats_read_back_equal(numbers: list[Any]) -> None:
    for kind in (pa.float64(), pa.float32()):
        column = pa.array([float(number) for number in numbers], pa.float64()).cast(kind)
        for text, number in zip(lines(pa.table({"n": column}))[1:-1], column.to_numpy(), strict=True):
            assert type(number)(text) == number
            assert len(text) <= 45


@settings(deadline=None)
@given(st.lists(st.decimals(allow_nan=False, allow_infinity=False, places=12, min_value=-(10**20), max_value=10**20), min_size=1))
def test_decimals_have_all_digits(numbers: list[Decimal]) -> None:
    column = pa.array(numbers, pa.decimal128(38, 12))
    assert lines(pa.table({"n": column}))[1:-1] == [
        f"{number:.12f}" if number else "0.000000000000" for number in column.to_pylist()
    ]


def test_what_a_csv_cannot_hold() -> None:
    assert (
        refused(pa.table({"a": ["x\0y"]})) == "A text has a NUL character, which no CSV can hold. Take it out, or write Parquet."
    )
    far = pa.array([10**18]).cast(pa.timestamp("us"))
    assert refused(pa.table({"a": far})) == "A time lies too many years away to be printed. Write Parquet."


# All kinds of files


def test_what_cannot_be_written() -> None:
    table = pa.table({"a": [1]})
    assert (
        refused(table, ".xlsx")
        == "The file of a table must have a name that ends in .csv, .parquet, .arrow or .feather. Got '.xlsx'."
    )
    assert refused(pa.table({"a": [[1]]})).endswith("which cannot be written. Leave it out.")
    assert refused(pa.table({})) == "A table without columns cannot be written. Keep one at least."


def test_a_table_without_rows() -> None:
    table = pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.int64())})
    assert lines(table) == ["a,b", ""]
    assert pq.read_table(pa.BufferReader(written(table, ".parquet"))).num_rows == 0
    assert pa.ipc.open_file(written(table, ".arrow")).read_all() == table


def test_numbers_and_dates_come_back_as_they_were() -> None:
    table = pa.table(
        {
            "i": pa.array([1, None], pa.int16()),
            "f": pa.array([0.1, None], pa.float32()),
            "d": pa.array([date(2024, 1, 1), None]),
            "n": pa.nulls(2),
            "b": pa.array([True, None]),
            "t": pa.array([datetime(2024, 1, 1, tzinfo=UTC), None], pa.timestamp("us", "UTC")),
            "m": pa.array([Decimal("1.20"), None], pa.decimal128(20, 2)),
            "s": ["=x", None],
        }
    )
    for found in (
        pa.ipc.open_file(written(table, ".feather")).read_all(),
        pq.read_table(pa.BufferReader(written(table, ".parquet"))),
    ):
        assert found == table, "the guard is for CSV only"


def layouts(columns: dict[str, Any]) -> Iterator[pa.Table]:
    """One table in many forms: they differ in everything but their values."""
    table = pa.table(columns)
    yield table
    yield table.replace_schema_metadata({"pandas": '{"index_columns": []}', "note": "secret"})
    yield pa.concat_tables([table.slice(row, 1) for row in range(len(table))])
    yield pa.concat_tables([table, table]).slice(len(table) - 0, len(table))
    yield pa.table(pl.from_arrow(table))
    encoded = {
        name: column.combine_chunks().dictionary_encode() for name, column in zip(table.column_names, table.columns, strict=True)
    }
    yield pa.table(encoded)
    yield pa.concat_tables(
        [pa.table(encoded).slice(0, 2), pa.table({name: table[name].slice(2).dictionary_encode() for name in columns})]
    )
    yield pa.table({name: larger(column) for name, column in encoded.items()})
    yield pa.table({name: hidden(column) for name, column in zip(table.column_names, table.columns, strict=True)})


def larger(column: pa.DictionaryArray) -> pa.DictionaryArray:
    """The same values from a dictionary backwards, twice, and with a missing entry."""
    values = pa.concat_arrays([column.dictionary, pa.nulls(1, column.dictionary.type), column.dictionary])
    places = pa.array(
        [None if place is None else place + len(column.dictionary) + 1 for place in column.indices.to_pylist()], pa.int16()
    )
    return pa.DictionaryArray.from_arrays(places, values, ordered=True)


def hidden(column: pa.ChunkedArray) -> pa.Array:
    """The same values, with others in memory: under missing cells, and around a slice."""
    array, mask = column.combine_chunks(), column.combine_chunks().is_null().to_numpy(zero_copy_only=False)
    filled = array.fill_null(array.drop_null()[0])
    around = pa.concat_arrays([filled, filled, filled])
    bits = np.packbits(np.concatenate([~mask] * 3), bitorder="little")
    whole = pa.Array.from_buffers(array.type, len(around), [pa.py_buffer(bits.tobytes()), *around.buffers()[1:]])
    return whole.slice(len(array), len(array))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_table_gives_the_same_bytes(suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "_BATCH", 12)  # several batches
    monkeypatch.setattr(writing, "_ROW_GROUP", 24)
    columns = {
        "s": ["b", None, "a", "=c", "", "b"],
        "i": [3, None, 2, 1, 5, 3],
        "f": [0.5, None, 1.5, 1.0, 2.0, 0.5],
        "b": [True, None, False, True, False, True],
        "t": pa.array([datetime(2024, 1, day, 1) for day in range(1, 7)], pa.timestamp("us")),
    }
    cores = pa.cpu_count()
    try:
        found = set()
        for count in (1, 2, 5):
            pa.set_cpu_count(count)
            found |= {written(table, suffix) for table in layouts(columns)}
    finally:
        pa.set_cpu_count(cores)
    assert len(found) == 1


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_many_batches_keep_the_order_of_rows(suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "_BATCH", 10)
    monkeypatch.setattr(writing, "_ROW_GROUP", 10)
    table = pa.table({"a": range(1000), "b": [f"text {number % 7}" for number in range(1000)]})
    found, _ = read(written(table, suffix), suffix)
    assert found.to_pylist() == table.to_pylist()


def everything(data: bytes, suffix: str) -> bytes:
    """The bytes of a file, and what is packed in them: dictionaries, statistics and metadata of a Parquet file."""
    if suffix != ".parquet":
        return data
    file = pq.ParquetFile(pa.BufferReader(data))
    whole = pq.read_table(pa.BufferReader(data), read_dictionary=file.schema_arrow.names)
    dictionaries = [
        chunk.dictionary.to_pylist() for column in whole.columns for chunk in column.chunks if pa.types.is_dictionary(chunk.type)
    ]
    parts = [file.metadata.row_group(group).to_dict() for group in range(file.metadata.num_row_groups)]
    return data + repr((file.metadata.metadata, file.schema_arrow.metadata, str(file.schema), dictionaries, parts)).encode()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_nothing_but_the_values_is_in_the_file(suffix: str) -> None:
    frame = pd.DataFrame(
        {"disease": pd.Categorical(["flu", "cold", "flu"], ["cold", "flu", "secret unused"], ordered=True), "age": [1, 2, 3]},
        index=pd.Index(["secret row 1", "secret row 2", "secret row 3"], name="secret index"),
    )
    frame.attrs["secret attribute"] = "secret"
    table = pa.Table.from_pandas(frame)
    noted = table.schema.field("age").with_metadata({"secret field": "secret"})
    table = table.cast(table.schema.set(1, noted)).append_column("gone", hiding(["x", None, "y"]))
    data = written(table, suffix)
    assert b"flu" in everything(data, suffix)
    assert b"secret" not in everything(data, suffix)
    for trace in (b"pandas", b"index", b"ordered", b"ARROW:schema"):
        assert trace not in data


def hiding(texts: list[str | None]) -> pa.Array:
    """A column that holds a secret under its missing cell and behind its end."""
    filled = pa.array([*(text or "secret under" for text in texts), "secret behind"])
    bits = np.packbits([*(text is not None for text in texts), True], bitorder="little").tobytes()
    return pa.Array.from_buffers(pa.string(), len(filled), [pa.py_buffer(bits), *filled.buffers()[1:]]).slice(0, len(texts))


@pytest.mark.parametrize("suffix", [".arrow", ".parquet"])
def test_no_number_of_another_row_is_in_the_file(suffix: str) -> None:
    # A writer of buffers would pad the slice with the rows behind it.
    secret = int.from_bytes(b"SECRETS!", "little")
    table = pa.table({"a": pa.array([1, 2, 3, *[secret] * 20])}).slice(0, 3)
    assert b"SECRETS!" not in written(table, suffix)


def test_the_statistics_of_a_row_group_are_of_what_is_published() -> None:
    table = pa.table({"a": pa.array(["m", "n"]).dictionary_encode()}).slice(0, 1)
    column = pq.ParquetFile(pa.BufferReader(written(table, ".parquet"))).metadata.row_group(0).column(0)
    assert (column.statistics.min, column.statistics.max) == ("m", "m")


# Faults


@pytest.mark.skipif(sys.platform == "win32", reason="a limit of POSIX")
def test_a_disk_that_refuses_is_one_sentence() -> None:
    code = """
import resource, sys
from pathlib import Path
import numpy as np, pyarrow as pa
from tclose.tables.files import write_whole
from tclose.errors import OutputError
from tclose.tables.write import write_table
table = pa.table({"a": np.random.default_rng(0).random(200_000), "b": ["secret"] * 200_000})
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
for name in ("x.csv", "x.parquet", "x.arrow"):
    try:
        write_whole(Path(sys.argv[1]) / name, lambda path: write_table(table, path, formula_guard=True), force=False)
    except OutputError as error:
        print(error)
print([path.name for path in Path(sys.argv[1]).iterdir()])
"""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, check=False)
        names = ("x.csv", "x.parquet", "x.arrow")
        sentences = [f"File '{Path(folder) / name}' cannot be written: File too large." for name in names]
        assert (done.stdout.splitlines(), done.stderr) == ([*sentences, "[]"], "")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_interruption_leaves_nothing(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    slices = writing._row_slices

    def interrupted(table: pa.Table, cells: int) -> Iterator[pa.Table]:
        yield from (rows for _, rows in zip(range(3), slices(table, 10), strict=False))
        raise KeyboardInterrupt

    monkeypatch.setattr(writing, "_row_slices", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(
            tmp_path / f"x{suffix}",
            lambda path: write_table(pa.table({"a": range(1000)}), path, formula_guard=True),
            force=False,
        )
    assert list(tmp_path.iterdir()) == []


def test_risky_is_what_the_guard_changes() -> None:
    assert [is_risky(text) for text in ("=x", "-5", "x")] == [True, False, False]
