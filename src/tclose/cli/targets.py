"""Names of files that a command writes."""

from __future__ import annotations

import os
from pathlib import Path

from tclose.errors import OutputError


def a_file(text: str) -> Path:
    """Return the path of a file to write; raise OutputError for the name of a folder, which a path would not tell any more.

    >>> a_file("pages/report.html").name
    'report.html'
    """
    if os.path.basename(text) in ("", os.curdir):  # noqa: PTH119 - a Path drops the slash at the end
        raise OutputError(f"{text!r} names no file. Name a file, not a folder.")
    return Path(text)
