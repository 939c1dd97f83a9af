"""Files of a bounded size: hierarchies, matrices and policies are small, and a name may lead to a device that never ends."""

from __future__ import annotations

import errno
import os
from pathlib import Path


class FileTooLargeError(OSError):
    """A file has more bytes than its kind may have."""


def read_at_most(path: Path, most: int) -> bytes:
    """Return the bytes of a file; raise FileTooLargeError if it has more than ``most`` bytes."""
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise FileTooLargeError(errno.EFBIG, os.strerror(errno.EFBIG))
    return content
