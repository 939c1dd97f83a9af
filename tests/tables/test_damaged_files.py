"""Files that are damaged, that change while they are read, or that are none: one sentence, and never a signal, a hang or a mixture."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tclose as tc
from tclose.jobs import Job
from tclose.tables.table import Table
from tests.support.examples import examples
from tests.support.sources import SOURCES

ROWS = 36
TABLE = pa.table(
    {
        "q": pa.array([f"v{row % 5}" for row in range(ROWS)]).dictionary_encode(),
        "t": [None if row == 7 else f"text {row % 3}" for row in range(ROWS)],
        "s": [row % 2 for row in range(ROWS)],
    }
)
POLICY = tc.Policy(quasi=["q", "t"], sensitive=["s"])


OTHERS = {
    "table.duckdb": "DuckDB file",
    "table.sqlite": "SQLite file",
    "table.xlsx": "workbook",
    "table.sav": "SPSS file",
    "table.dta": "Stata file",
    "table.xpt": "SAS file",
}


def write(path: Path) -> Path:
    """The table as the kind of file that the name says."""
    if path.name in OTHERS:
        plain = TABLE.set_column(0, "q", TABLE["q"].cast(pa.string()))
        return SOURCES[OTHERS[path.name]](plain, path.parent)  # type: ignore[no-any-return]
    if path.suffix == ".parquet":
        pq.write_table(TABLE, path, compression="none")
    elif path.suffix in (".arrow", ".ipc"):
        with (pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream)(path, TABLE.schema) as sink:
            sink.write_table(TABLE)
    else:
        text = TABLE.to_pandas().to_csv(index=False).encode()
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


AUDITS = """
import sys, random, warnings
from pathlib import Path
import tclose as tc

def damage(path, good, seed):
    draw, data = random.Random(seed), bytearray(good)
    if seed % 4 == 0:
        data = data[: draw.randrange(len(data))]
    else:
        place = draw.randrange(len(data) - 4)
        data[place : place + 4] = draw.choice([b"\\xff\\xff\\xff\\x7f", b"\\0\\0\\0\\0", draw.randbytes(4), draw.randbytes(1)])
    path.write_bytes(data)
    try:
        tc.audit(path, tc.Policy(quasi=["q", "t"], sensitive=["s"]))
    except tc.InputError as error:
        assert str(error).count("\\n") == 0

for path in map(Path, sys.argv[2:]):
    good = path.read_bytes()
    for seed in range(int(sys.argv[1])):
        damage(path, good, seed)
print("all read or refused")
"""


@pytest.mark.parametrize(
    ("seeds", "names"),
    [*((examples(60), [f"table.{ending}"]) for ending in ("arrow", "ipc", "parquet", "csv.gz")), (6, list(OTHERS))],
)
def test_a_damaged_file_is_read_or_refused(tmp_path: Path, seeds: int, names: list[str]) -> None:
    paths = [str(write(tmp_path / name)) for name in names]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", AUDITS, str(seeds), *paths], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "all read or refused\n"), done.stderr[-2000:]


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_a_name_that_is_not_utf8_is_refused(tmp_path: Path, suffix: str) -> None:
    path, table = tmp_path / f"table{suffix}", pa.table({"odd name": [1, 2], "s": [1, 2]})
    if suffix == ".parquet":
        pq.write_table(table, path, store_schema=False)
    else:
        with pa.ipc.new_file(path, table.schema) as sink:
            sink.write_table(table)
    path.write_bytes(path.read_bytes().replace(b"odd name", b"odd n\xffme"))
    with pytest.raises(tc.InputError) as caught:
        tc.audit(path, tc.Policy(quasi=["q"], sensitive=["s"]))
    assert str(caught.value) == f"File 'table{suffix}' has a column whose name is not UTF-8. Write it again with another name."


def test_a_packed_file_that_is_cut_short_or_spoilt_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.csv.gz"
    data = write(path).read_bytes()
    for wrong in (data[:-3], data[:-8] + bytes(8), data + b"xyz", b"q,t,s\n1,2,3\n"):
        path.write_bytes(wrong)
        with pytest.raises(
            tc.InputError, match=r"^File 'table.csv.gz' is not packed by gzip, or is damaged. Check how it was written.$"
        ):
            tc.audit(path, POLICY)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a system without named pipes")
def test_a_pipe_or_a_device_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "table.csv")
    for path in (tmp_path / "table.csv", Path(os.devnull)):
        with pytest.raises(tc.InputError) as caught:
            tc.audit(path, POLICY)
        assert str(caught.value) == (
            f"'{path}' is a pipe or a device, which can be read only once. Save the table to a file first."
        )


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("t.numbers", "is a workbook of Numbers. Export the sheet as CSV or Excel."),
        ("t.rds", "is a file of R. Write the table as CSV or Parquet."),
        ("t.MDB", "is a database of Access. Export the table as CSV or Excel."),
        ("t.json", "holds records, not a table. Export the table as CSV or Parquet."),
        ("t.csv.zip", "is packed. Unpack it first; of packed files only .csv.gz and .csv.zst are read."),
        ("t.gz", "is packed. Unpack it first; of packed files only .csv.gz and .csv.zst are read."),
        ("t.parquet.gz", "is packed. Unpack it first; of packed files only .csv.gz and .csv.zst are read."),
    ],
)
def test_files_of_other_programs_are_refused_with_the_way_out(tmp_path: Path, name: str, sentence: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(tc.InputError) as caught:
        tc.audit(tmp_path / name, POLICY)
    assert str(caught.value) == f"File {name!r} {sentence}"


def test_text_in_memory_that_is_not_utf8_is_refused() -> None:
    texts = pa.array([b"a", b"\xff"]).view(pa.string())
    with pytest.raises(tc.InputError, match=r"^The table has a text that is not UTF-8, or is damaged. Make it anew.$"):
        tc.audit(pa.table({"q": texts, "s": [1, 2]}), tc.Policy(quasi=["q"], sensitive=["s"]))


# Files that change


def shorten(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def overwrite(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"text 1", b"text 2"))


def exchange(path: Path) -> None:
    other = path.with_name("other" + path.suffix)
    other.write_bytes(path.read_bytes())
    other.replace(path)


CHANGES: list[Callable[[Path], object]] = [shorten, overwrite, exchange, Path.unlink]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    "name", ["table.csv", "table.parquet", "table.arrow", "table.duckdb", "table.sqlite", "table.xlsx", "table.sav"]
)
def test_a_file_that_changes_during_an_audit_is_refused(
    tmp_path: Path, name: str, change: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, cells = write(tmp_path / name), Table.cells

    def late(self: Table, *arguments: object) -> object:
        change(path)
        return cells(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Table, "cells", late)
    with pytest.raises(
        tc.InputError, match=rf"^File '{name}' has changed while it was read. Run it again when nothing writes to it.$"
    ):
        tc.audit(path, POLICY)


@pytest.mark.parametrize("stage", ["Partitioning", "Recoding", "Checking"])
@pytest.mark.parametrize("name", ["table.csv", "table.parquet", "table.arrow"])
def test_a_file_that_changes_while_a_release_is_made_is_refused(tmp_path: Path, name: str, stage: str) -> None:
    path = write(tmp_path / name)

    def change(now: str, _: object) -> None:
        if now == stage:
            overwrite(path)

    with Job(change), pytest.raises(tc.InputError, match="has changed while it was read"):
        tc.anonymize(path, tc.Policy(quasi=["q", "t"], sensitive={"s": 1}, k=2), algorithm="mondrian")


# Limits


def test_a_bomb_is_looked_at_as_a_stream(tmp_path: Path) -> None:
    # 200 MB of one row without an end, in 200 kB: it is refused at the limit of a row.
    path, packed = tmp_path / "table.csv.gz", io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1) as file:
        file.write(b"q,t,s\n")
        for _ in range(20):
            file.write(b"x" * 10_000_000)
    path.write_bytes(packed.getvalue())
    with pytest.raises(tc.InputError) as caught:
        tc.audit(path, POLICY)
    assert str(caught.value).startswith("File 'table.csv.gz' has ")


def test_more_columns_than_can_be_told_apart(tmp_path: Path) -> None:
    names = [f"c{place}" for place in range(100_001)]
    (tmp_path / "table.csv").write_text("\n".join([",".join(names), "," * 100_000, ""]))
    with pytest.raises(tc.InputError) as caught:
        tc.audit(tmp_path / "table.csv", tc.Policy(quasi=["c0"], sensitive=["c1"]))
    assert str(caught.value) == "File 'table.csv' has 100,001 columns. At most 100,000 can be read; save it with fewer."
