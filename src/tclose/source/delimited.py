"""CSV files: their header and delimiter, and in one sentence what is wrong with them. Pure Python, no engine."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tclose._numbers import number_of
from tclose.errors import InputError

_DELIMITERS = (",", ";", "\t", "|")
_BLOCK = 1 << 24
_LONGEST = 2_000_000
"""Characters in a row that the engine reads."""


@dataclass(frozen=True)
class Delimited:
    """A CSV file whose form is known: UTF-8, a header, one delimiter, ``"`` as quote."""

    path: Path
    names: list[str]
    delimiter: str
    skip: int
    """Rows up to the first row of data: the header, and blank lines above it."""

    def complaint(self) -> str | None:
        """What is wrong with the file, for an engine that could not read it; None if that is not known."""
        with self.path.open(encoding="utf-8-sig", newline="") as file:
            for number, row in enumerate(_rows(file, self.delimiter)):
                if len(row) != len(self.names):
                    return (
                        f"is ragged: row {number} has {number_of(len(row), 'field')}, the header {len(self.names)}. Mend that row"
                    )
                if sum(map(len, row)) > _LONGEST:
                    return f"has more than {_LONGEST:,} characters in row {number}. Shorten that row"
        ends = _line_ends(self.path)
        return "mixes two kinds of line ends. Save it with one" if len(ends) > 1 else None


def open_delimited(path: Path) -> Delimited:
    """Read the header and find the delimiter; refuse what is no CSV."""
    _check_text(path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        sample = "".join(islice(file, 50))
    delimiter = max(_DELIMITERS, key=lambda candidate: _score(sample, candidate))  # the first of equals: the comma
    blank = len(sample) - len(sample.lstrip("\r\n"))
    rows = list(islice(_rows(io.StringIO(sample, newline=""), delimiter), 2))
    if not rows:
        raise InputError(f"File {path.name!r} is empty. A header and rows are needed.")
    if len(rows) == 1:
        raise InputError(f"File {path.name!r} has a header and no rows. There is nothing to measure.")
    header, first = rows
    if len(header) < len(first):
        raise InputError(
            f"File {path.name!r} must have its header in its first line. Got {len(header)} of {len(first)} columns there; remove "
            "any title above the header."
        )
    broken = next((place for place, name in enumerate(header, 1) if "\n" in name or "\r" in name), None)
    if broken is not None and len(_line_ends(path)) > 1:  # the engine takes such a name for the end of the header
        raise InputError(f"File {path.name!r} has a line break in the name of its column {broken}. Write that name in one line.")
    return Delimited(path, header, delimiter, skip=1 + len(sample[:blank].splitlines()))


def _rows(file: io.TextIOBase | Iterator[str], delimiter: str) -> Iterator[list[str]]:
    """The rows that are not blank."""
    csv.field_size_limit(2**31 - 1)
    return (row for row in csv.reader(file, delimiter=delimiter) if row)


def _score(sample: str, delimiter: str) -> tuple[int, int]:
    """How well a delimiter explains the sample: rows as long as the most common row, and how long that is."""
    try:
        lengths = [len(row) for row in _rows(io.StringIO(sample, newline=""), delimiter)][:-1] or [1]
    except csv.Error:
        return 0, 0
    common = max(set(lengths), key=lambda length: (lengths.count(length), length))
    return (lengths.count(common), common) if common > 1 else (0, 1)


def _line_ends(path: Path) -> set[str]:
    """The kinds of line ends in a file, also inside quotes."""
    with path.open(encoding="utf-8", newline="") as file:
        ends = {"\r\n" if line.endswith("\r\n") else line[-1] for line in file}
    return ends & {"\r\n", "\n", "\r"}


def _check_text(path: Path) -> None:
    """Refuse an empty file, bytes that are not UTF-8, and NUL bytes, wherever they are."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    line, read = 1, 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            nul = block.find(b"\0")
            if nul >= 0:
                line += block.count(b"\n", 0, nul)
                raise InputError(
                    f"File {path.name!r} has a NUL byte in line {line}. It is no CSV text; export it again as UTF-8."
                )
            try:
                decoder.decode(block)
            except UnicodeDecodeError as error:
                line += block.count(b"\n", 0, error.start)
                raise InputError(f"File {path.name!r} is not UTF-8, first in line {line}. Save it as UTF-8.") from None
            line += block.count(b"\n")
            read += len(block)
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise InputError(f"File {path.name!r} is not UTF-8, first in line {line}. Save it as UTF-8.") from None
    if not read:
        raise InputError(f"File {path.name!r} is empty. A header and rows are needed.")
