"""Names of files that a command writes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tclose.errors import OutputError, OutputExistsError


def a_file(text: str) -> Path:
    """Return the path of a file to write; raise OutputError for the name of a folder, which a path would not tell any more.

    >>> a_file("pages/report.html").name
    'report.html'
    """
    if os.path.basename(text) in ("", os.curdir):  # noqa: PTH119 - a Path drops the slash at the end
        raise OutputError(f"{text!r} names no file. Name a file, not a folder.")
    return Path(text)


@contextmanager
def faults_of_inputs_first(check_inputs: Callable[[], Any]) -> Iterator[None]:
    """Where a file exists that this block would replace, check the inputs before that is told.

    Otherwise somebody would allow a file to be replaced, and learn only then that nothing can be made to replace it.
    """
    try:
        yield
    except OutputExistsError:
        check_inputs()
        raise
