"""Blocks of a page that show a terminal: each command is run, and must print what the page shows.

    ```console
    $ tclose verify public.csv
    public.csv is as certified: it satisfies every limit of its certificate. ...
    ...
    ```

A line ``...`` stands for any lines. A page says by a comment, :data:`MARK`, that its blocks are run; they run one after another in the folder
that ``tclose demo`` makes. Commands of tclose run in this process, since each start of Python costs a second; others go to the shell.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import tempfile
from contextlib import chdir
from doctest import ELLIPSIS, OutputChecker
from pathlib import Path
from typing import Any

from sybil import Example

MARK = "<!-- The commands of this page run in the folder of the demo, and are tested. -->"


def check_console(example: Example) -> str | None:
    """Return what is wrong with a block, or nothing."""
    if MARK not in example.document.text:
        return None
    if "console" not in example.namespace:
        example.namespace["console"] = _demo_folder()
    for command, shown in _commands_of(example.parsed):
        printed = _run(command, example.namespace["console"])
        if not OutputChecker().check_output(shown, printed, ELLIPSIS):
            return f"$ {command}\nthe page shows:\n{shown}\nit prints:\n{printed}"
    return None


def remove_folder(namespace: dict[str, Any]) -> None:
    """Remove the folder of a page, if it has one."""
    if "console" in namespace:
        shutil.rmtree(namespace["console"])


def _demo_folder() -> Path:
    from tests.support.demo import copy_demo

    folder = Path(tempfile.mkdtemp())
    copy_demo(folder)
    return folder


def _commands_of(block: str) -> list[tuple[str, str]]:
    """Return the commands of a block, each with the lines below it."""
    return [
        (command, _stripped(shown)) for command, _, shown in (part.partition("\n") for part in f"\n{block}".split("\n$ ")[1:])
    ]


def _run(command: str, folder: Path) -> str:
    if not command.startswith("tclose "):
        return _stripped(subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=True).stdout)
    from typer.testing import CliRunner

    from tclose.cli import app

    with chdir(folder):
        result = CliRunner().invoke(app, shlex.split(command, comments=True)[1:])
    return _stripped(result.stderr if result.exit_code > 1 else result.stdout)


def _stripped(text: str) -> str:
    """Return a text without blanks at the ends of its lines, which a page does not show."""
    lines = [line.rstrip() for line in text.strip().splitlines()]
    return "\n".join(lines) + "\n"
