"""Writing files whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tclose.errors import OutputError


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a temporary file beside the path, then put it in place: a reader finds all of it, or what was before."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        write(beside)
        beside.replace(path)
    except OSError as error:
        raise OutputError(f"File {str(path)!r} cannot be written: {error.strerror or 'the disk refused it'}.") from None
    finally:
        beside.unlink(missing_ok=True)
