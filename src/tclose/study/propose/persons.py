"""Persons: the column that names persons who have several rows, if there is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tclose.columns.persons import rows_like_the_row_before
from tclose.study.propose.columns import Column
from tclose.study.propose.words import suggests_name_of_person, suggests_number_of_person
from tclose.values.arrays import Ints, grouped

FEWEST = 10
"""Persons, and persons with several rows, below which nothing can be told from what their rows have in common."""

MOST_ROWS = 50
"""Rows of a person, on average, for a column that is called like persons."""

MOST_ROWS_UNNAMED = 5
"""The same for a column of another name, which must also have the properties of a person."""

NEARLY_EVERY = 0.9
"""The share of persons, of those with several rows, who have one value in all of them, from which on it is told."""

SEVERAL_ROWS = "Do persons have several rows?"
"""What is asked where no column names persons, and rows look as if persons had several."""


@dataclass(frozen=True)
class Unit:
    """The column that names persons, and the reason."""

    column: Column
    reason: str


def find_unit(columns: Sequence[Column]) -> Unit | None:
    """Return the column that names persons with several rows; None if no column does so.

    A column qualifies by its name, or because the rows of each of its values agree in at least half of the other columns, as the
    rows of a person agree in sex and date of birth. Of several the one is taken whose rows agree in most columns; ties: the one
    with the most values.
    """
    others = [column for column in columns if not column.constant and not column.unique]
    found = []
    for column in others:
        if column.missing or not (column.kind == "text" or column.whole) or column.free_text or column.name == "row":
            continue
        named = suggests_number_of_person(column.name) or (suggests_name_of_person(column.name) and column.nearly_unique)
        if column.values < FEWEST or column.values * (MOST_ROWS if named else MOST_ROWS_UNNAMED) < column.rows:
            continue
        several = int(np.count_nonzero(column.counts > 1))
        agreeing = columns_that_agree(column, others) if several >= FEWEST else 0
        if named or (agreeing >= 2 and 2 * agreeing >= len(others) - 1):
            found.append((agreeing, column.values, column, named))
    if not found:
        return None
    agreeing, values, column, named = max(found, key=lambda entry: entry[:2])
    reason = f"{values:,} persons in {column.rows:,} rows"
    if agreeing:
        reason += f"; rows with the same value agree in {agreeing} of {len(others) - 1} other columns"
    return Unit(column, reason + ("; its name says so, too" if named and agreeing else "; its name says so" if named else ""))


def share_like_the_row_before(columns: Sequence[Column]) -> float:
    """Return the share of rows that agree with the row before in all columns but one at most; 0 if that may be chance."""
    return rows_like_the_row_before([column.codes for column in columns if not column.constant and not column.unique])


def columns_that_agree(owner: Column, others: Sequence[Column]) -> int:
    """Return in how many of the other columns all rows with the same value of the owner agree."""
    order, starts = grouped(owner.codes.astype(np.int64))
    return sum(other is not owner and _agrees(other, order, starts) for other in others)


def _agrees(column: Column, order: Ints, starts: Ints) -> bool:
    """Whether the rows of each group have one value of a column; group i has the rows ``order[starts[i]:starts[i+1]]``."""
    codes = column.codes[order]
    same = codes[1:] == codes[:-1]
    same[starts[1:-1] - 1] = True  # where a new group begins
    return bool(same.all())


def persons_with_one_value(owner: Column, column: Column) -> tuple[int, int]:
    """Return how many persons have one value of a column in all of their rows, and how many there are; of those with several."""
    order, starts = grouped(owner.codes.astype(np.int64))
    codes = column.codes[order]
    one = np.minimum.reduceat(codes, starts[:-1]) == np.maximum.reduceat(codes, starts[:-1])
    several = np.diff(starts) > 1
    return int((one & several).sum()), int(several.sum())


def values_of_persons(owner: Column, columns: Sequence[Column]) -> tuple[list[str], int, float]:
    """Return the columns of which nearly every person has one value, the persons with several rows, and the least such share.

    Parameters
    ----------
    owner
        The column that names persons.
    """
    found = {column.name: persons_with_one_value(owner, column) for column in columns}
    several = max((of for _, of in found.values()), default=0)
    shares = {name: one / of for name, (one, of) in found.items() if of >= FEWEST and one >= NEARLY_EVERY * of}
    return list(shares), several, min(shares.values(), default=0.0)
