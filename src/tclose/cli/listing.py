"""The listing of classes as a file: whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tclose._files import write_whole
from tclose.errors import OutputError

if TYPE_CHECKING:
    from tclose.result import Audit


def check_listing(path: Path, inputs: Iterable[Path | None]) -> None:
    """Refuse, before long work, what cannot be written later."""
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise OutputError(f"The listing of classes must end in .csv or .parquet. Got {path.name!r}.")
    if not path.resolve().parent.is_dir():
        raise OutputError(f"Folder {str(path.parent)!r} does not exist. Make it first.")
    if any(source is not None and source.resolve() == path.resolve() for source in inputs):
        raise OutputError(f"The listing of classes would overwrite its own input {path.name!r}. Choose another name.")


def write_listing(audit: Audit, path: Path) -> None:
    """Write one row a class."""
    from tclose.source.writing import write_table

    write_whole(path, lambda beside: write_table(audit.class_table(), beside, formula_guard=True))
