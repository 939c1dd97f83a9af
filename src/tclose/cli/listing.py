"""The listing of classes as a file: whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tclose._files import check_target, write_whole
from tclose.errors import OutputError

if TYPE_CHECKING:
    from tclose.result import Audit


def check_listing(path: Path, *, force: bool, inputs: Iterable[Path]) -> None:
    """Refuse, before long work, what cannot be written later."""
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise OutputError(f"The listing of classes must end in .csv or .parquet. Got {path.name!r}.")
    check_target(path, force=force, inputs=inputs)


def write_listing(audit: Audit, path: Path, *, force: bool) -> None:
    """Write one row a class."""
    from tclose.source.writing import write_table

    write_whole(path, lambda beside: write_table(audit.class_table(), beside, formula_guard=True), force=force)
