"""CSV files: their header, their delimiter, and how they are packed. `tclose.tables.csv_scan` looks at all of their bytes."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from tclose.errors import InputError
from tclose.tables.csv_scan import BLOCK, Fault, Scan, Text, scan
from tclose.tables.input_file import InputFile

PACKED = {".gz": "gzip", ".zst": "zstd"}
"""How a file is packed, by the last suffix of its name."""

_DELIMITERS = (",", ";", "\t", "|")


@dataclass(frozen=True)
class Delimited:
    """A CSV file of a known form: UTF-8, a header in its first row, one delimiter, ``"`` as quote."""

    file: InputFile
    names: list[str]
    delimiter: str

    def scan(self) -> Scan:
        """Return what a scan of all bytes of the file found; raise InputError if readers would split it into different cells."""
        with self.file.read_as(_kind_of_file(self.file)):
            try:
                return _scan_file(self.file, self.delimiter, len(self.names))
            except Fault as fault:
                raise InputError(f"File {self.file.path.name!r} {fault}.") from None


def open_delimited(file: InputFile, given: str | None = None) -> Delimited:
    """Return a CSV file whose header and delimiter are known; raise InputError if the file is not a CSV.

    A header with commas, and without the given delimiter, is that of a release.
    """
    name = file.path.name
    with file.read_as(_kind_of_file(file)), unpacked(file) as source:
        block = source.read(BLOCK)
    if not block:
        raise InputError(f"File {name!r} is empty. A header and rows are needed.")
    try:
        Text().take(block)  # before a column is looked for: in another encoding it would have another name
    except Fault as fault:
        raise InputError(f"File {name!r} {fault}.") from None
    text = codecs.getincrementaldecoder("utf-8")().decode(block.removeprefix(codecs.BOM_UTF8))
    sample = "".join(islice(io.StringIO(text, newline=""), 50))
    if given is None:
        delimiter = max(_DELIMITERS, key=lambda candidate: _delimiter_score(sample, candidate))  # ties: the first wins, the comma
    else:
        delimiter = "," if _header_width(sample, given) < 2 <= _header_width(sample, ",") else given
    rows = list(islice(_sample_rows(sample, delimiter), 2))
    if not rows:
        raise InputError(f"File {name!r} is empty. A header and rows are needed.")
    if len(rows) == 1:
        raise InputError(f"File {name!r} has a header and no rows. There is nothing to measure.")
    header, first = rows
    if len(header) < len(first):
        raise InputError(
            f"File {name!r} must have its header in its first line. Got {len(header)} of {len(first)} columns there; remove "
            "any title above the header."
        )
    broken = next((index for index, name in enumerate(header, 1) if "\n" in name or "\r" in name), None)
    if broken is not None and len(set(re.findall("\r\n|\r|\n", sample))) > 1:  # the engine takes such a name for the header's end
        raise InputError(f"File {name!r} has a line break in the name of its column {broken}. Write that name in one line.")
    return Delimited(file, header, delimiter)


@lru_cache(maxsize=8)  # a release is opened several times; its state is part of the key
def _scan_file(file: InputFile, delimiter: str, columns: int) -> Scan:
    """Return the result of scanning all bytes of a CSV file; it is kept, as a release is opened several times."""
    with unpacked(file) as source:
        return scan(source, delimiter, columns)


def packing_of(path: Path) -> str | None:
    """Return "gzip" or "zstd" for a file that its name says is packed; None for others."""
    return PACKED.get(path.suffix.lower())


def _kind_of_file(file: InputFile) -> str:
    """Return what a file should be, for the sentence "is not ..., or is damaged": a CSV, or packed by gzip or zstd."""
    packing = packing_of(file.path)
    return "a CSV" if packing is None else f"packed by {packing}"


def unpacked(file: InputFile) -> Any:
    """Return an open stream of the bytes of a CSV file, unpacked while they are read."""
    packing = packing_of(file.path)
    return file.path.open("rb") if packing is None else pa.input_stream(str(file.path), compression=packing)


def _sample_rows(sample: str, delimiter: str) -> Iterator[list[str]]:
    """Return the rows of a sample of a CSV, split at a delimiter, without blank rows."""
    csv.field_size_limit(2**31 - 1)
    return (row for row in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter) if row)


def _header_width(sample: str, delimiter: str) -> int:
    """Return the number of columns in the first row of a sample of a CSV, split at a delimiter."""
    return len(next(_sample_rows(sample, delimiter), []))


def _delimiter_score(sample: str, delimiter: str) -> tuple[int, int]:
    """Return how well a delimiter fits a sample of a CSV: the number of rows of the most common length, and that length."""
    lengths = [len(row) for row in _sample_rows(sample, delimiter)][:-1] or [1]
    common = max(set(lengths), key=lambda length: (lengths.count(length), length))
    return (lengths.count(common), common) if common > 1 else (0, 1)
