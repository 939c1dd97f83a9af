"""A file is judged by its values: whatever it says of itself, its audit is that of what its readers see, or it is refused."""

from __future__ import annotations

import base64
import io
import struct
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tclose as tc

ROWS = 40
POLICY = tc.Policy(quasi=["q"], sensitive={"s": {"distance": "ordered"}}, k=2)
BENIGN = {"q": [20 + row % 4 for row in range(ROWS)], "s": [100 + row // 4 % 10 for row in range(ROWS)]}
PLAIN: dict[str, Any] = {"compression": "none", "use_dictionary": False}


def packed(values: list[int]) -> bytes:
    return struct.pack(f"<{len(values)}q", *values)


def audits_alike(path: Path, policy: tc.Policy = POLICY) -> None:
    """The audit of a file is that of the frame that pandas reads from it."""
    frame = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_feather(path)
    assert tc.audit(path, policy).to_dict() == tc.audit(frame, policy).to_dict()


def refused(path: Path, policy: tc.Policy = POLICY) -> str:
    with pytest.raises(tc.InputError) as caught:
        tc.audit(path, policy)
    return str(caught.value)


@pytest.fixture
def forged(tmp_path: Path) -> Path:
    """A file whose statistics are those of a benign table, and whose values are not: everyone is alone in it."""
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table(BENIGN), path, **PLAIN)
    data = path.read_bytes()
    for values in BENIGN.values():
        assert packed(values) in data
        data = data.replace(packed(values), packed([value + (row << 32) for row, value in enumerate(values)]))
    path.write_bytes(data)
    return path


def test_statistics_that_lie_change_nothing(forged: Path) -> None:
    audit = tc.audit(forged, POLICY)
    assert (audit.classes, audit.k) == (ROWS, 1)
    audits_alike(forged)


def test_a_release_of_a_file_whose_statistics_lie_has_its_values(forged: Path) -> None:
    release = tc.anonymize(forged, tc.Policy(quasi=["q"], sensitive={"s": 0.5}, k=4), algorithm="mondrian")
    assert sorted(release.table["s"].to_pylist()) == sorted(pd.read_parquet(forged)["s"])


def test_a_missing_count_that_lies_changes_nothing(tmp_path: Path) -> None:
    # The unit has missing cells; the footer says none. The engine would skip row groups in which nothing is missing.
    path = tmp_path / "table.parquet"
    whole, holes = ({**BENIGN, "u": pa.array([None if row in gone else row for row in range(ROWS)])} for gone in ((), (7, 9)))
    files = []
    for columns in (whole, holes):
        pq.write_table(pa.table(columns), path, **PLAIN)
        files.append(path.read_bytes())
    # The footer of the file without missing cells says null_count 0, as a varint field; in the other it is 2.
    lying = bytearray(files[1])
    footer = len(lying) - 8 - struct.unpack("<I", lying[-8:-4])[0]
    counts = [place for place in range(footer, len(lying) - 2) if lying[place : place + 2] == b"\x16\x04"]
    policy = tc.Policy(quasi=["q"], sensitive=["s"], unit="u")
    honest = refused(path, policy)
    assert honest == "The unit 'u' must name a person in every row. Got 2 missing, the first in row 8."
    seen = 0
    for place in counts:
        lying[place + 1] = 0
        path.write_bytes(lying)
        try:
            claims = [pq.read_metadata(path).row_group(0).column(2).statistics.null_count]
        except (pa.ArrowException, OSError, AttributeError):
            claims = []
        if claims == [0]:
            seen += 1
            assert refused(path, policy) == honest
        lying[place + 1] = 4
    assert seen


def test_bloom_filters_page_indexes_and_sorting_columns_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    table = pa.table(BENIGN)
    pq.write_table(table, path, **PLAIN, write_page_index=True, sorting_columns=[pq.SortingColumn(0)], row_group_size=10)
    audits_alike(path)  # it is not sorted


@pytest.mark.parametrize("claim", ["footer", "row group", "chunk"])
def test_counts_that_contradict_one_another_are_refused(tmp_path: Path, claim: str) -> None:
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table(BENIGN), path, **PLAIN)
    data = bytearray(path.read_bytes())
    footer, number = len(data) - 8 - struct.unpack("<I", data[-8:-4])[0], bytes([0x16, 2 * ROWS])  # 40 as a varint of a field
    places = [place for place in range(footer, len(data) - 2) if data[place : place + 2] == number]
    found = set()
    for place in places:
        lying = data.copy()
        lying[place + 1] = 2 * (ROWS - 1)
        path.write_bytes(lying)
        try:
            metadata = pq.read_metadata(path)
            group = metadata.row_group(0)
        except (pa.ArrowException, OSError):
            continue
        kind = "footer" if metadata.num_rows != ROWS else "row group" if group.num_rows != ROWS else "chunk"
        if kind == "chunk" and all(group.column(column).num_values == ROWS for column in (0, 1)):
            continue  # some size
        found.add(kind)
        if kind == claim:
            assert "contradicts itself" in refused(path) or "damaged" in refused(path)
    assert claim in found


def claiming(path: Path, table: pa.Table, schema: pa.Schema) -> None:
    """Write a table whose file says that its Arrow schema is another."""
    note = {b"ARROW:schema": base64.b64encode(schema.serialize().to_pybytes())}
    pq.write_table(table.replace_schema_metadata(note), path, store_schema=False)


@pytest.mark.parametrize(
    "kind",
    [
        pa.int8(), pa.float32(), pa.string(), pa.date32(), pa.timestamp("s"), pa.timestamp("ns", "Asia/Tokyo"), pa.duration("s"),
        pa.dictionary(pa.int8(), pa.int64()), pa.dictionary(pa.int32(), pa.string(), ordered=True), pa.decimal128(5, 1), pa.null(),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("values", ["integers", "texts", "times"])
def test_an_arrow_schema_that_claims_another_type(tmp_path: Path, kind: pa.DataType, values: str) -> None:
    path = tmp_path / "table.parquet"
    far = [20 + row % 4 + (row << 32) for row in range(ROWS)]
    quasi = {"integers": pa.array(far), "texts": pa.array(list(map(str, far))), "times": pa.array(far, pa.timestamp("us", "UTC"))}
    table = pa.table({"q": quasi[values], "s": BENIGN["s"]})
    claiming(path, table, pa.schema([("q", kind), ("s", pa.int64())]))
    try:
        audit = tc.audit(path, POLICY)
    except tc.InputError:
        return
    assert audit.classes == ROWS
    audits_alike(path)


@pytest.mark.parametrize(
    "note", [b"x", b"[]", b"{}", b'{"columns": 5}', b'{"columns": [1]}', b'{"columns": [{}]}', b"[" * 20_000, b"\xff"]
)
def test_notes_of_pandas_that_cannot_be_read_change_nothing(tmp_path: Path, note: bytes) -> None:
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table(BENIGN).replace_schema_metadata({b"pandas": note}), path)
    assert tc.audit(path, POLICY).to_dict() == tc.audit(pa.table(BENIGN), POLICY).to_dict()


def test_a_quasi_identifier_that_is_the_index_of_a_frame_is_read(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    frame = pd.DataFrame(BENIGN)
    frame.set_index("q").to_parquet(path)
    assert tc.audit(path, POLICY).to_dict() == tc.audit(frame, POLICY).to_dict()


def test_a_dictionary_with_an_entry_twice_is_one_value(tmp_path: Path) -> None:
    codes = pa.array([row % 4 for row in range(ROWS)], pa.int8())
    column = pa.DictionaryArray.from_arrays(codes, pa.array(["x", "y", "x", "z"]))
    table = pa.table({"q": column, "s": BENIGN["s"]})
    for path in (tmp_path / "table.parquet", tmp_path / "table.arrow"):
        if path.suffix == ".parquet":
            pq.write_table(table, path)
        else:
            with pa.ipc.new_file(path, table.schema) as sink:
                sink.write_table(table)
        audit = tc.audit(path, POLICY)
        assert (audit.class_table()["q"].to_pylist(), audit.sizes.tolist()) == (["x", "y", "z"], [20, 10, 10])


def test_logical_types_that_are_narrower_than_their_values(tmp_path: Path) -> None:
    # 8 bits are claimed, 32 are stored: whatever readers make of it, we see what they see.
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"q": pa.array(BENIGN["q"], pa.uint8()), "s": BENIGN["s"]}), path, **PLAIN)
    stored = np.array(BENIGN["q"], "<i4").tobytes()
    data = path.read_bytes()
    assert stored in data
    path.write_bytes(data.replace(stored, (np.array(BENIGN["q"]) + 256 * np.arange(ROWS)).astype("<i4").tobytes()))
    try:
        audit = tc.audit(path, POLICY)
    except tc.InputError:
        return
    assert audit.classes >= pd.read_parquet(path)["q"].nunique()


def test_nanoseconds_of_old_timestamps_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    table = pa.table({"q": pa.array([1, 2, 1001], pa.timestamp("ns")), "s": [1, 2, 3]})
    pq.write_table(table, path, use_deprecated_int96_timestamps=True)
    assert pd.read_parquet(path)["q"].nunique() == 3
    assert tc.audit(path, POLICY).classes == 3


def test_a_type_that_is_said_twice_and_differently_is_that_of_arrow(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    cells = pa.array([Decimal(row % 4) for row in range(ROWS)], pa.decimal128(12, 2))
    pq.write_table(pa.table({"q": cells, "s": BENIGN["s"]}), path, **PLAIN, store_schema=False)
    data = bytearray(path.read_bytes())
    footer, seen = len(data) - 8 - struct.unpack("<I", data[-8:-4])[0], 0
    for place in range(footer, len(data) - 8):
        if data[place] == 4:  # a scale of 2, as a varint
            lying = data.copy()
            lying[place] = 2
            path.write_bytes(lying)
            try:
                frame = pd.read_parquet(path)
            except (pa.ArrowException, OSError):
                continue
            seen += 1
            try:
                found = tc.audit(path, POLICY)
            except tc.InputError:
                continue
            assert found.class_table()["q"].to_pylist() == sorted(set(frame["q"]))
    assert seen


# Values that readers tell apart

TWINS: dict[str, tuple[Any, str]] = {
    "NaN and missing": (pa.array([float("nan"), None, 1.0]), "Column 'q' has both NaN and missing cells, which some programs tell apart. Make them one, or fill them."),
    "float32": (pa.array([float("nan"), None, 1.0], pa.float32()), "Column 'q' has both NaN and missing cells, which some programs tell apart. Make them one, or fill them."),
    "0.0 and -0.0": (pa.array([0.0, -0.0, 1.0]), "Column 'q' has both 0.0 and -0.0, which some programs tell apart. Make them one."),
}  # fmt: skip


@pytest.mark.parametrize("suffix", [None, ".parquet", ".arrow"])
@pytest.mark.parametrize(("column", "sentence"), TWINS.values(), ids=TWINS.keys())
def test_quasi_identifiers_that_some_readers_tell_apart_are_no_class(
    tmp_path: Path, column: pa.Array, sentence: str, suffix: str | None
) -> None:
    table = pa.table({"q": column, "s": [1, 2, 3]})
    data: Any = table
    if suffix == ".parquet":
        data = tmp_path / "table.parquet"
        pq.write_table(table, data)
    elif suffix == ".arrow":
        data = tmp_path / "table.arrow"
        data.write_bytes(ipc(table))
    assert refused(data) == sentence
    with pytest.raises(tc.ColumnError, match="tell apart"):
        tc.anonymize(data, tc.Policy(quasi=["q"], sensitive={"s": 1}, k=3))


def test_nan_alone_is_missing_and_one_zero_is_a_number() -> None:
    audit = tc.audit(pa.table({"q": [float("nan"), -0.0, 1.0], "s": [1, 2, 3]}), POLICY)
    assert audit.class_table()["q"].to_pylist() == [0.0, 1.0, None]


def test_sensitive_nan_is_missing_and_sensitive_zeros_are_one_value() -> None:
    table = pa.table({"q": [1, 1, 1, 1], "s": [float("nan"), None, 0.0, -0.0]})
    audit = tc.audit(table, tc.Policy(quasi=["q"], sensitive={"s": {"distance": "equal"}}))
    assert audit.sensitive["s"].to_dict()["l_distinct"] == 2


@pytest.mark.parametrize(
    "cells",
    [
        pa.array(["a", "a ", "a\0", " a", "", None]),
        pa.array(["\u00e9", "e\u0301", "E", "e"]),
        pa.array([0.1, 0.1 + 2**-50, 1e-320, 5e-324]),
        pa.array([0.1, np.nextafter(np.float32(0.1), np.float32(1))], pa.float32()),
        pa.array([1, 2], pa.timestamp("ns")),
        pa.array([Decimal("1e-28"), Decimal("2e-28"), Decimal(0)], pa.decimal128(38, 28)),
        pa.array([2**63, 2**63 + 1, 2**64 - 1], pa.uint64()),
        pa.array([True, False, None]),
    ],
    ids=["blanks and NUL", "forms of letters", "floats", "float32", "nanoseconds", "decimals", "64 bits", "truth"],
)  # fmt: skip
@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_values_that_differ_are_never_one_class(tmp_path: Path, cells: pa.Array, suffix: str) -> None:
    table, path = pa.table({"q": cells, "s": list(range(len(cells)))}), tmp_path / f"table{suffix}"
    if suffix == ".parquet":
        pq.write_table(table, path)
    else:
        path.write_bytes(ipc(table))
    assert tc.audit(path, POLICY).classes == len(cells)


# Arrow files


def ipc(table: pa.Table, *, stream: bool = False) -> bytes:
    sink = io.BytesIO()
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


@pytest.mark.parametrize("claim", [0, 1, 39, 40])
def test_an_arrow_file_that_miscounts_its_missing_cells(tmp_path: Path, claim: int) -> None:
    holes = pa.table(
        {"q": pa.array([None if row == 3 or row == 5 else value for row, value in enumerate(BENIGN["q"])]), "s": BENIGN["s"]}
    )
    node, path = struct.pack("<qq", ROWS, 2), tmp_path / "table.arrow"  # of the first column: its length, its missing cells
    data = ipc(holes)
    assert node in data
    path.write_bytes(data.replace(node, struct.pack("<qq", ROWS, claim)))
    try:
        audit = tc.audit(path, POLICY)
    except tc.InputError as error:
        assert "damaged" in str(error)  # noqa: PT017
        return
    assert audit.to_dict() == tc.audit(pa.ipc.open_file(path).read_all(), POLICY).to_dict()
