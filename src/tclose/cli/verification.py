"""The screen of a verification: the verdict, what failed, what was asked and attained, and what a reader should know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tclose.cli.printing import Screen, words

if TYPE_CHECKING:
    from tclose.release.verify import Verification

STYLES = {"yes": "green", "NO": "bold red", "Warning:": "yellow"}
"""The style of a line's first word."""


def show_verification(found: Verification, *, everything: bool = False) -> None:
    """Print the screen of a verification, with colours: the verdict, what failed, what was asked and attained, and warnings.

    Parameters
    ----------
    everything
        Whether to list each check and each claim that nobody can check, too.
    """
    screen = Screen()
    verdict, *lines = found.lines(everything=everything)
    screen.tell(words(verdict, style="bold green" if found.holds else "bold red"))
    for line in lines:
        first, space, rest = line.partition(" ")
        screen.tell(words(first, style=STYLES[first]), rest) if space and first in STYLES else screen.tell(line)
