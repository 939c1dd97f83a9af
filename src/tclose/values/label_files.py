"""Label files: CSV files of hierarchies and of ranges of codes, with a row of labels for each value or range."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from tclose.errors import HierarchyError
from tclose.values.bounded import FileTooLargeError, read_at_most

MOST_BYTES = 100_000_000
"""Bytes of such a file."""


def read_text(path: Path, what: str) -> str:
    """Return the text of a file; raise HierarchyError if it cannot be read. ``what`` is its kind: "Hierarchy file"."""
    try:
        return read_at_most(path, MOST_BYTES).decode("utf-8-sig")
    except FileTooLargeError:
        raise HierarchyError(f"{what} {str(path)!r} must have at most {MOST_BYTES:,} bytes. Got more.") from None
    except (OSError, ValueError) as error:
        if isinstance(error, UnicodeDecodeError):
            raise HierarchyError(f"{what} {str(path)!r} is not UTF-8. Save it as UTF-8.") from None
        raise HierarchyError(f"{what} {str(path)!r} cannot be read. Check its path.") from None


def rows_of(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a file's text that are not empty, each with its line; cells are separated by ``;`` or ``,``."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = ";" if len(next(csv.reader([first], delimiter=";"), [])) > 1 else ","
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    return ((rows.line_num, row) for row in rows if row)
