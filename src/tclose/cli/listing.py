"""The listing of classes as a file: whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tclose.errors import OutputError

if TYPE_CHECKING:
    from tclose._audit import Audit


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
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    table = audit.class_table()
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        if path.suffix.lower() == ".csv":
            pc.write_csv(table, beside)
        else:
            pq.write_table(table, beside)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise OutputError(f"File {str(path)!r} cannot be written: {error.strerror or 'the disk refused it'}.") from None
