"""The table that a command reads: a file, or standard input, which is kept in a private file for as long as it is read."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tclose.errors import InputError

STANDARD_INPUT = Path("-")

TABLE = "The table: CSV, Parquet, Arrow, Excel, SPSS, Stata, SAS, FILE.duckdb::TABLE, ...; - is a CSV from standard input."
"""The help of the argument DATA."""


@contextmanager
def table_of(data: Path) -> Iterator[Path]:
    """Yield the path of the table that a command reads; ``-`` is a CSV from standard input.

    A pipe can be read once, and a table is read several times. So its bytes are kept in a file that only its owner can read,
    and that is removed at the end, also after Ctrl-C.
    """
    if data != STANDARD_INPUT:
        yield data
        return
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError(
            "Standard input is a terminal. Send a CSV there, as in 'cat visits.csv | tclose audit -', or name a file."
        )
    folder = Path(tempfile.mkdtemp(prefix="tclose-"))  # readable by its owner only
    try:
        kept = folder / "standard input.csv"
        with kept.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield kept
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def name_of(data: Path) -> str:
    """Return the name of a table for a screen."""
    return "standard input" if data == STANDARD_INPUT else data.name


def files_read(data: Path) -> list[Path]:
    """Return the file, or the folder, that a table is read from: none of it may be written."""
    from tclose.tables.locations import Location

    return [Location.of(data).path]
