"""CSV files: their header and delimiter, packed or not, and whether all readers split them into the same cells. No engine."""

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
    """A CSV file whose form is known: UTF-8, a header in its first row, one delimiter, ``"`` as quote."""

    file: InputFile
    names: list[str]
    delimiter: str

    def scan(self) -> Scan:
        """Look at all of its bytes; refuse what readers would split into different cells."""
        with self.file.read_as(_kind(self.file)):
            try:
                return _scanned(self.file, self.delimiter, len(self.names))
            except Fault as fault:
                raise InputError(f"File {self.file.path.name!r} {fault}.") from None


def open_delimited(file: InputFile, given: str | None = None) -> Delimited:
    """Read the header and find the delimiter, unless it is given; refuse what is no CSV.

    A header that a comma parts, and the given delimiter does not, is that of a release.
    """
    name = file.path.name
    with file.read_as(_kind(file)), unpacked(file) as source:
        block = source.read(BLOCK)
    if not block:
        raise InputError(f"File {name!r} is empty. A header and rows are needed.")
    try:
        Text().take(block)  # before a column is looked for: in another encoding its name is another one
    except Fault as fault:
        raise InputError(f"File {name!r} {fault}.") from None
    text = codecs.getincrementaldecoder("utf-8")().decode(block.removeprefix(codecs.BOM_UTF8))
    sample = "".join(islice(io.StringIO(text, newline=""), 50))
    if given is None:
        delimiter = max(_DELIMITERS, key=lambda candidate: _score(sample, candidate))  # ties: the first wins, the comma
    else:
        delimiter = "," if _width(sample, given) < 2 <= _width(sample, ",") else given
    rows = list(islice(_rows(sample, delimiter), 2))
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
    broken = next((place for place, name in enumerate(header, 1) if "\n" in name or "\r" in name), None)
    if broken is not None and len(set(re.findall("\r\n|\r|\n", sample))) > 1:  # the engine takes such a name for the header's end
        raise InputError(f"File {name!r} has a line break in the name of its column {broken}. Write that name in one line.")
    return Delimited(file, header, delimiter)


@lru_cache(maxsize=8)  # a release is opened several times; its state is part of the key
def _scanned(file: InputFile, delimiter: str, columns: int) -> Scan:
    with unpacked(file) as source:
        return scan(source, delimiter, columns)


def packing_of(path: Path) -> str | None:
    """How a file is packed, by its name; None where it is not."""
    return PACKED.get(path.suffix.lower())


def _kind(file: InputFile) -> str:
    packing = packing_of(file.path)
    return "a CSV" if packing is None else f"packed by {packing}"


def unpacked(file: InputFile) -> Any:
    """The bytes of a file, unpacked as they are read."""
    packing = packing_of(file.path)
    return file.path.open("rb") if packing is None else pa.input_stream(str(file.path), compression=packing)


def _rows(sample: str, delimiter: str) -> Iterator[list[str]]:
    """The rows that are not blank."""
    csv.field_size_limit(2**31 - 1)
    return (row for row in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter) if row)


def _width(sample: str, delimiter: str) -> int:
    """The columns of the header."""
    return len(next(_rows(sample, delimiter), []))


def _score(sample: str, delimiter: str) -> tuple[int, int]:
    """How well a delimiter explains the sample: rows as long as the most common row, and how long that is."""
    lengths = [len(row) for row in _rows(sample, delimiter)][:-1] or [1]
    common = max(set(lengths), key=lambda length: (lengths.count(length), length))
    return (lengths.count(common), common) if common > 1 else (0, 1)
