"""Terminals that pages show: a command that prints something else than the page shows is found."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.console import MARK, check_console


def shown(block: str, folder: Path, text: str = MARK) -> str | None:
    example: Any = SimpleNamespace(document=SimpleNamespace(text=text), parsed=block, namespace={"console": folder})
    return check_console(example)


@pytest.mark.parametrize(
    ("block", "right"),
    [
        ("$ echo one; echo two\none\ntwo\n", True),
        ("$ echo one; echo two\n...\ntwo\n", True),
        ("$ echo one; echo two\none\n...\n", True),
        ("$ echo one; echo two\none\n", False),
        ("$ echo one; echo two\none\nthree\n", False),
        ("$ echo one\none\n$ echo two\nthree\n", False),
        ("$ tclose audit nothing.csv --quasi a --sensitive b\nError: ... 'nothing.csv' ...\n", True),
        ("$ tclose audit nothing.csv --quasi a --sensitive b\n", False),
    ],
)
def test_what_is_printed_is_compared(block: str, right: bool, tmp_path: Path) -> None:
    assert (shown(block, tmp_path) is None) is right


def test_only_pages_that_say_so_are_run(tmp_path: Path) -> None:
    assert shown("$ touch here\n", tmp_path, text="# A page") is None
    assert not (tmp_path / "here").exists()
