"""The screen of a verification: what it covers, what was found, and what a reader should know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tclose.cli.printing import Screen, words

if TYPE_CHECKING:
    from tclose.release.verify import Verification

STYLES = {"yes": "green", "NO": "bold red", "Warning:": "yellow"}
"""The style of a line's first word."""


def show_verification(found: Verification) -> None:
    """Print the screen of a verification, with colours."""
    screen = Screen()
    title, *lines, verdict = str(found).splitlines()
    screen.tell(words(title, style="bold"))
    for line in lines:
        first, space, rest = line.partition(" ")
        screen.tell(words(first, style=STYLES[first]), rest) if space and first in STYLES else screen.tell(line)
    screen.tell(words(verdict, style="bold green" if found.holds else "bold red"))
