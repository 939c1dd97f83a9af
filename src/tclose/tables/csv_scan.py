"""The scan of a CSV: all of its bytes, looked at before an engine reads them. All readers must split them into the same cells.

pandas, polars, Arrow, Python's csv and DuckDB agree on a file whose quotes stand around whole cells, whose rows all have as many
fields as the header, and whose lines end alike. They read other files differently: blanks beside quotes, rows with too many
fields, blank lines. Such a file is refused: one class to one reader might be ten to another.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from tclose import jobs
from tclose.values.arrays import Bytes, Ints
from tclose.values.exact import number_of

LONGEST = 2_000_000
"""Most bytes of a row: the engine reads no longer ones."""

BLOCK = 1 << 22
"""Bytes of a block: more than two of the longest rows."""

_QUOTE, _LF, _CR = b'"\n\r'


class Fault(Exception):  # noqa: N818
    """What is wrong with the bytes, in words that follow the name of the file. It quotes no byte."""


@dataclass(frozen=True, eq=False)
class Scan:
    """What a scan found out about a CSV.

    Attributes
    ----------
    rows : int
        Rows below the header.
    bare : (columns,) bool
        Whether a column has empty cells without quotes.
    quoted : (columns,) bool
        Whether a column has empty cells in quotes. polars and others distinguish them from those without.
    """

    rows: int
    bare: NDArray[np.bool_]
    quoted: NDArray[np.bool_]


def scan(file: BinaryIO, delimiter: str, columns: int) -> Scan:
    """Return the number of rows and the columns with empty cells of a CSV, after a look at all of its bytes.

    Raises
    ------
    Fault
        For what readers split into different cells, and for what is not text in UTF-8.
    """
    text, rows, rest = Text(), _Rows(ord(delimiter), columns), b""
    while block := file.read(BLOCK):
        jobs.check()
        text.take(block)
        piece = rest + block if rest or text.read > len(block) else block.removeprefix(codecs.BOM_UTF8)
        rest = piece[rows.take(piece) :]
        if len(rest) > LONGEST:
            break
    else:
        text.end()
    if rest:
        rows.take_last(rest)
    return Scan(max(rows.count - 1, 0), rows.bare, rows.quoted)


class Text:
    """Blocks of bytes as they arrive: they must be UTF-8, without NUL."""

    def __init__(self) -> None:
        """Start the check of a CSV's encoding before its first byte."""
        self.read = 0
        self._lines = 1
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def take(self, block: bytes) -> None:
        """Check the next block of a CSV's bytes; raise Fault if it is not text in UTF-8."""
        if not self.read and block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise Fault(f"is UTF-16. {_advice_on_encoding('utf-16')}")
        self.read += len(block)
        nul = block.find(b"\0")
        if nul >= 0:
            line = self._lines + block.count(b"\n", 0, nul)
            raise Fault(f"has a NUL byte in line {line}. It is no CSV text; export it again as UTF-8")
        try:
            self._decoder.decode(block)
        except UnicodeDecodeError as error:
            line = self._lines + block.count(b"\n", 0, error.start)
            raise Fault(f"is not UTF-8, first in line {line}. {_advice_on_encoding('latin-1')}") from None
        self._lines += block.count(b"\n")

    def end(self) -> None:
        """Check the end of a CSV; raise Fault if its last character is cut short."""
        try:
            self._decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            raise Fault(f"is not UTF-8, first in line {self._lines}. {_advice_on_encoding('latin-1')}") from None


def _advice_on_encoding(encoding: str) -> str:
    """Return the end of an error sentence: what to do with a file that is not UTF-8 but perhaps ``encoding``."""
    return f"Save it as UTF-8, or name its encoding in the policy, as in input: {{encoding: {encoding}}}"


class _Rows:
    """Rows as they arrive: quotes around whole cells, as many fields as the header, one kind of line end, no blank lines."""

    def __init__(self, delimiter: int, columns: int) -> None:
        """Start the check of a CSV's rows before its header, with no empty cell found in any column."""
        self.count = 0
        self.bare, self.quoted = np.zeros(columns, dtype=np.bool_), np.zeros(columns, dtype=np.bool_)
        self._delimiter, self._columns = delimiter, columns
        self._ends_in_two: bool | None = None

    def take_last(self, piece: bytes) -> None:
        """Check the last row of a CSV, which has no line end."""
        data = _byte_array(piece)
        at, kind, inside = _find_marks(data, self._delimiter)
        if inside[-1:].any():
            quotes = kind == _QUOTE
            self._check_quotes(data, at[quotes & inside], at[quotes & ~inside], at[:0])
            raise Fault(f"has a quote that is not closed, in {_name_of_row_number(self.count)}. Close it")
        if piece.endswith(b"\r"):
            raise _lone_return_fault(_name_of_row_number(self.count))
        self.take(piece + (b"\r\n" if self._ends_in_two else b"\n"))

    def take(self, piece: bytes) -> int:
        """Check the whole rows at the start of a piece of a CSV; return the number of their bytes."""
        data = _byte_array(piece)
        at, kind, inside = _find_marks(data, self._delimiter)
        outside = ~inside
        ends = at[(kind == _LF) & outside]
        if not len(ends):
            return 0
        whole = at <= ends[-1]
        quotes = (kind == _QUOTE) & whole
        if quotes.any():
            self._check_quotes(data, at[quotes & inside], at[quotes & outside], ends)
        self._check_line_ends(data, at[(kind == _CR) & outside & whole], ends)
        stops = at[((kind == self._delimiter) | (kind == _LF)) & outside & whole]
        self._check_fields(data, stops, ends)
        self._note_empty_cells(data, stops)
        self.count += len(ends)
        return int(ends[-1]) + 1

    def _check_quotes(self, data: Bytes, opening: Ints, closing: Ints, ends: Ints) -> None:
        """Raise Fault for a quote in a CSV that is neither at the start nor at the end of its cell."""
        before, behind = data[opening - 1], data[closing + 1]  # no quote closes at the end of whole rows: there is a line end
        opens = (before == self._delimiter) | (before == _LF) | (before == _QUOTE) | (opening == 0)
        closes = (behind == self._delimiter) | (behind == _LF) | (behind == _QUOTE) | (behind == _CR)
        odd = np.concatenate([opening[~opens], closing[~closes]])
        if len(odd):
            raise Fault(
                "has a quote that stands neither at the start nor at the end of its cell, in "
                f"{self._name_of_row(odd.min(), ends)}. Put quotes around whole cells, without blanks beside them, and double a "
                "quote inside"
            )

    def _check_line_ends(self, data: Bytes, returns: Ints, ends: Ints) -> None:
        """Raise Fault if some lines of a CSV end in LF and others in CR LF, or a CR stands alone."""
        lone = returns[data[returns + 1] != _LF]
        if len(lone):
            raise _lone_return_fault(self._name_of_row(lone[0], ends))
        in_two = (data[ends - 1] == _CR) & (ends > 0)  # one in quotes stands before a quote
        if self._ends_in_two is None:
            self._ends_in_two = bool(in_two[0])
        other = ends[in_two != self._ends_in_two]
        if len(other):
            raise Fault(f"mixes two kinds of line ends, first in {self._name_of_row(other[0], ends)}. Save it with one")

    def _check_fields(self, data: Bytes, stops: Ints, ends: Ints) -> None:
        """Raise Fault for rows of a CSV with more or fewer fields than the header, blank rows, and rows that are too long."""
        starts = np.append(0, ends[:-1] + 1)
        lengths = ends - starts - bool(self._ends_in_two)
        fields = np.diff(np.searchsorted(stops, ends, side="right"), prepend=0)
        if (lengths > LONGEST).any():
            row = _name_of_row_number(self.count + int(np.argmax(lengths > LONGEST)))
            raise Fault(f"has more than {LONGEST:,} characters in {row}. Shorten that row")
        blank = lengths == 0
        if self._columns == 1:  # pandas takes a line of blanks for a blank one
            for index in np.flatnonzero(np.isin(data[starts], list(b" \t"))).tolist():
                blank[index] = not data[int(starts[index]) : int(ends[index])].tobytes().strip(b" \t\r")
        odd = blank | (fields != self._columns)
        if odd.any():
            first = int(np.argmax(odd))
            number = self.count + first
            if blank[first]:
                where = "above the header" if number == 0 else f"behind {_name_of_row_number(number - 1)}"
                raise Fault(f"has a blank line {where}, which some programs read as a row. Remove it")
            count = number_of(int(fields[first]), "field")
            raise Fault(f"is ragged: {_name_of_row_number(number)} has {count}, the header {self._columns}. Mend that row")

    def _note_empty_cells(self, data: Bytes, stops: Ints) -> None:
        """Note in ``bare`` and ``quoted`` which columns of a CSV have empty cells; ``stops`` are the ends of all fields."""
        lengths = np.diff(stops, prepend=-1) - 1
        lengths[self._columns - 1 :: self._columns] -= bool(self._ends_in_two)
        self.bare[np.flatnonzero(lengths == 0) % self._columns] = True
        two = np.flatnonzero(lengths == 2)
        begin = np.append(-1, stops)[two] + 1
        pairs = two[(data[begin] == _QUOTE) & (data[begin + 1] == _QUOTE)]
        self.quoted[pairs % self._columns] = True

    def _name_of_row(self, position: Any, ends: Ints) -> str:
        """Return how an error names the row of a CSV in which a byte of the piece lies: "row 7", or "the header"."""
        return _name_of_row_number(self.count + int(np.searchsorted(ends, position)))


def _byte_array(piece: bytes) -> Bytes:
    """Return bytes of a CSV as an array of integers from 0 to 255, without a copy."""
    return np.frombuffer(piece, dtype=np.uint8)


def _find_marks(data: Bytes, delimiter: int) -> tuple[Ints, Bytes, NDArray[np.bool_]]:
    """Return the positions of a CSV's delimiters, line ends and quotes, which each is, and whether it is inside quotes."""
    quotes = data == _QUOTE
    found = (data == delimiter) | (data == _LF) | (data == _CR)
    if not quotes.any():
        at = np.flatnonzero(found)
        return at, data[at], np.zeros(len(at), dtype=np.bool_)
    at = np.flatnonzero(found | quotes)
    kind = data[at]
    return at, kind, np.logical_xor.accumulate(kind == _QUOTE)


def _lone_return_fault(row: str) -> Fault:
    """Return the fault of a CSV's row with a carriage return that no line feed follows."""
    return Fault(f"has a carriage return that is not followed by a line feed, in {row}. Save it with LF or CR LF as line end")


def _name_of_row_number(row: int) -> str:
    """Return how an error names a row of a CSV by its number: "row 7", or "the header" for 0."""
    return f"row {row}" if row else "the header"
