"""What is known of how the cells of columns of text are written, in plain values."""

from __future__ import annotations

from dataclasses import dataclass, field

from tclose.tables.moments import Moments


@dataclass(frozen=True)
class Written:
    """How the cells of columns that were text are written.

    Attributes
    ----------
    comma, dates : set of str
        The columns whose numbers have a decimal comma, and whose dates have the policy's form.
    moments : dict
        The columns of timestamps, and how these are written.
    guessed : dict
        For each column whose type its cells decided, what was asked: "auto" or "value".
    digits : dict
        How many decimals all numbers of a column have, where they have equally many.
    """

    comma: set[str] = field(default_factory=set)
    dates: set[str] = field(default_factory=set)
    moments: dict[str, Moments] = field(default_factory=dict)
    guessed: dict[str, str] = field(default_factory=dict)
    digits: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Nearly:
    """What nearly all cells of a column of text are.

    Attributes
    ----------
    what : str
        "number", "comma" (a number with a decimal comma), "date", "moment", or a form of dates such as DD.MM.YYYY.
    others : tuple of str
        Further forms of dates that fit as many cells, because no day is above 12.
    cells, odd : int
        How many cells have a value, and how many of these are something else.
    row : int
        The row of the first cell that is something else, from 1; 0 if there is none.
    words : list of str
        Their texts, if all of them are known words for "no value".
    shapes : int
        The number of forms in which timestamps are written.
    """

    what: str
    others: tuple[str, ...]
    cells: int
    odd: int
    row: int
    words: list[str]
    shapes: int
