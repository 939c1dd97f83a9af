"""The example notebooks of the docs run, and show what is written in them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.project import PROJECT

NOTEBOOKS = sorted((PROJECT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_is_written_in_it(path: Path) -> None:
    # In a process of its own: what the kernel's libraries warn of is not ours to mend.
    command = [sys.executable, str(PROJECT / "bench" / "notebooks.py"), path.stem, "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
