"""Printing: everything the command line shows goes through here, so that no text of a table can control the terminal.

A character that is not printable (a control character, one that changes the direction of text or has no width, half of a
surrogate pair) is shown as its escape, as ``repr`` does it: ``\\x1b``, ``\\u202e``. Nothing is read as markup.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tclose.errors import OutputError, PrivacyRiskWarning
from tclose.values.visible import visible


def words(text: object, style: str = "") -> Text:
    """Return a text to print on a `Screen`, made visible, in a style; nothing in it is markup."""
    return Text(visible(text), style=style)


def echo(*lines: object, err: bool = False) -> None:
    """Print lines of text, made visible; without any, an empty line."""
    for line in lines or ("",):
        typer.echo(visible(line), err=err)


def echo_json(text: str) -> None:
    """Print a JSON text of several lines; a character that is not printable is written as ``\\uXXXX``."""
    for line in text.split("\n"):
        typer.echo(line if line.isprintable() else "".join(map(_json_escape, line)))


def _json_escape(char: str) -> str:
    """Return a character as it is, or as its JSON escape if it is not printable."""
    if char.isprintable():
        return char
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))


WIDE = 10_000
"""The width of a line, in characters, where there is no terminal to break it."""


class Screen(Console):
    """A terminal, a file or a pipe. It prints words and tables; plain text is made visible first."""

    def __init__(self, *, stderr: bool = False) -> None:
        """Open standard output, or standard error, for printing words and tables."""
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False, force_jupyter=False)
        if not self.is_terminal:  # a file or a program has no width: a line there is a line
            self.soft_wrap, self.width = True, WIDE

    def tell(self, *parts: str | Text) -> None:
        """Print one line on the screen, of parts that are separated by a space; one that is indented stays so where it breaks."""
        line = parts[0] if len(parts) == 1 else ""
        if isinstance(line, str) and line.startswith(" "):
            self.tell_below(line.lstrip(), len(line) - len(line.lstrip()))
            return
        self.print(*(part if isinstance(part, Text) else words(part) for part in parts))

    def tell_below(self, line: str, indent: int = 3) -> None:
        """Print a line that stands below another one, indented; where a terminal breaks it, all of its parts are."""
        self.print(Padding(words(line), (0, 0, 0, indent)) if self.is_terminal else words(" " * indent + line))

    def tell_command(self, before: str, command: str) -> None:
        """Print a command after some words; the terminal may break it, but no break is copied with it."""
        self.print(words(f"{before} {command}"), soft_wrap=True)

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError for `a_reader_may_leave` to handle; rich would end the program."""
        raise BrokenPipeError


class Columns(Table):
    """A table of words: the first column is aligned left, the others right."""

    def __init__(self, *headers: str) -> None:
        """Start a table for the screen with some headers and no rows."""
        super().__init__(box=None, pad_edge=False, header_style="bold")
        for place, header in enumerate(headers):
            self.add_column(words(header), justify="left" if place == 0 else "right")

    def row(self, *cells: str | Text) -> None:
        """Add a row of cells to a table for the screen, made visible."""
        self.add_row(*(cell if isinstance(cell, Text) else words(cell) for cell in cells))


@contextmanager
def warnings_told() -> Iterator[None]:
    """Print each privacy warning of this block as one sentence on standard error, when the work is done."""
    with warnings.catch_warnings(record=True) as risks:
        warnings.simplefilter("always", PrivacyRiskWarning)
        yield
    for sentence in dict.fromkeys(str(risk.message) for risk in risks if issubclass(risk.category, PrivacyRiskWarning)):
        Screen(stderr=True).tell(words(f"Warning: {sentence}", style="bold yellow"))


@contextmanager
def a_reader_may_leave() -> Iterator[None]:
    """Ignore that the reader of our output stops, as in ``tclose audit ... | head``: the exit code stays the same."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise OutputError(f"The output cannot be written: {error.strerror}.") from None
