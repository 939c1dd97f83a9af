"""The table that a command reads: a file, or standard input, which is kept in a private file for as long as it is read."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tclose.errors import InputError, PolicyError, one_of

if TYPE_CHECKING:
    from tclose.policy import Policy

STANDARD_INPUT = Path("-")

TABLE = "The table: CSV, Parquet, Excel, SPSS, Stata, SAS, FILE.duckdb::TABLE, postgresql://...; - is a CSV from standard input."
"""The help of the argument DATA."""

ENGINES = LOCAL, SPARK = "local", "spark"
ENGINE = "local, or spark for a Parquet file or folder: Spark counts, and makes the release."
MASTER = "The cluster of Spark, as spark://host:7077; default: this machine, local[*]."
"""The help of the options --engine and --master."""


def a_table(text: str) -> Path | str:
    """Return the address of a database as it is written, and anything else as a path, which would drop slashes of an address.

    >>> a_table("postgresql:///clinic"), a_table("visits.csv").name
    ('postgresql:///clinic', 'visits.csv')
    """
    from tclose.tables.locations import SCHEMES

    return text if text.startswith(SCHEMES) else Path(text)


def with_table(data: Path | str, table: str | None) -> Path | str:
    """Return where a table is, with its name in the database: ``--table visits`` of study.duckdb is study.duckdb::visits."""
    from tclose.tables.locations import MARK

    named = data if table is None else f"{data}{MARK}{table}"
    return named if isinstance(data, str) else Path(named)


def check_engine(engine: str, master: str | None, data: Path | str) -> None:
    """Raise an error for an engine that is not known, or that does not read such a table."""
    from tclose.tables.parquet import PARQUET

    one_of("--engine", engine, ENGINES)
    if engine == LOCAL:
        if master is not None:
            raise PolicyError("--master names a cluster of Spark. Give --engine spark, too.")
    elif isinstance(data, str) or not (data.is_dir() or data.suffix.lower() in PARQUET):
        raise InputError("--engine spark reads Parquet: a file, or a folder of files. Name one of them.")


@contextmanager
def frame_of(data: Path, master: str | None) -> Iterator[Any]:
    """Yield the DataFrame of a Parquet file, or of a folder of them, in a session of Spark that ends with this block."""
    from tclose.tables.readers import open_reader
    from tclose.tables.spark import session

    open_reader(data)  # whose sentences are ours
    with session(master) as spark:
        yield spark.read.parquet(str(data.absolute()))


@contextmanager
def table_of(data: Path | str, engine: str = LOCAL, master: str | None = None) -> Iterator[Any]:
    """Yield the path or the address of the table that a command reads, or its DataFrame; ``-`` is a CSV from standard input.

    A pipe can be read once, and a table is read several times. So its bytes are kept in a file that only its owner can read,
    and that is removed at the end, also after Ctrl-C.
    """
    if engine != LOCAL:
        with frame_of(Path(data), master) as frame:
            yield frame
        return
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


def unused_delimiter(table: Any, policy: Policy) -> list[str]:
    """Return a line that says that a CSV has commas and not the delimiter of the policy; empty if the policy's is used."""
    from tclose.tables.readers import CsvReader, open_reader

    given = policy.input
    if given is None or given.delimiter is None or not isinstance(table, Path):
        return []
    reader = open_reader(table, given)
    if not isinstance(reader, CsvReader) or reader.delimiter == given.delimiter:
        return []
    return [f"  The cells are separated by commas: the header has no {given.delimiter!r}, which the policy's input names."]


def name_of(data: Path | str) -> str:
    """Return the name of a table for a screen; of one in a database its own name alone, without the address."""
    if isinstance(data, str):
        from tclose.tables.locations import split_address

        return split_address(data)[1] or "the database"
    return "standard input" if data == STANDARD_INPUT else data.name


def files_read(data: Path | str) -> list[Path]:
    """Return the file, or the folder, that a table is read from: none of it may be written. A database is none."""
    from tclose.tables.locations import Location

    return [] if isinstance(data, str) else [Location.of(data).path]
