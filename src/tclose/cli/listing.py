"""The file that lists all classes; it is written whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tclose.errors import OutputError
from tclose.tables.files import check_target, write_whole

if TYPE_CHECKING:
    from tclose.judge.result import Audit


def check_listing(path: Path, *, force: bool, inputs: Iterable[Path]) -> None:
    """Raise OutputError, before long work, for a listing file that could not be written later."""
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise OutputError(f"The listing of classes must end in .csv or .parquet. Got {path.name!r}.")
    check_target(path, force=force, inputs=inputs)


def write_listing(audit: Audit, path: Path, *, force: bool) -> None:
    """Write the table of an audit's classes, one row per class, to a CSV or Parquet file."""
    from tclose.tables.write import write_table

    write_whole(path, lambda beside: write_table(audit.class_table(), beside, formula_guard=True), force=force)
