"""Tables of a report: a caption, headers and rows of text. A long one is cut, with a count of what is cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tclose.values.exact import number_of

LONGEST = 40
"""Rows of a table in a report, at most."""


@dataclass(frozen=True)
class Listing:
    """A table of a report.

    Attributes
    ----------
    caption : str
        What it shows, for readers who come to it from a list of tables, or who hear it.
    headers : sequence of str
    rows : sequence of sequence of str
        The first cell of a row is its header.
    words : int
        How many of the columns hold words, and are aligned left. The others hold numbers.
    note : str
        What is not shown, and why.
    """

    caption: str
    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1
    note: str = ""


def cut(
    caption: str,
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    words: int = 1,
    *,
    what: tuple[str, str] = ("row", "rows"),
    longest: int = LONGEST,
) -> Listing:
    """Return a table of at most ``longest`` rows, with a count of those that are cut; ``what`` is their noun.

    One row more is shown: a note on it would take as much room.
    """
    if len(rows) <= longest + 1:
        return Listing(caption, headers, rows, words)
    return Listing(caption, headers, rows[:longest], words, f"{number_of(len(rows) - longest, *what)} more are not shown.")
