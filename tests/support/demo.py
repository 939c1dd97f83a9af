"""The files of the demo, made once in a process: drawing its table takes two seconds."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from tclose.release.hospital import write_demo


def copy_demo(folder: Path) -> None:
    """Put the demo's table, hierarchies and policy into a folder, as ``tclose demo`` does."""
    for name, content in _files().items():
        (folder / name).write_bytes(content)


@cache
def _files() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        return {path.name: path.read_bytes() for path in write_demo(Path(folder))}
