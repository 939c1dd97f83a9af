"""Choosing: which new rows join which published class, so that the added rows satisfy every limit, and so does the union.

Whoever has the old file can subtract it from the new one. So the added rows are judged by themselves, as a release of their own,
and together with the old ones. Here no limit is known: whoever calls says which classes break one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tclose import jobs
from tclose.values.arrays import Bools, Floats, Ints

HELD_BACK = -1
SLOWLY, MORE_SLOWLY = 8, 32
"""Of the new rows of a class that breaks a limit, and of all of them where an old class does, one in so many goes at a time."""

Judge = Callable[[Ints], Ints]
"""From the class of each row to the numbers of the classes that break a limit."""


@dataclass(frozen=True, eq=False)
class Newcomers:
    """New rows that may join published classes.

    Attributes
    ----------
    covered : (classes, rows) bool
        Which classes a row can join.
    codes : list of (rows,) int64
        The value of each row, for each sensitive attribute.
    shares : list of (values,) float64
        The share of each value in the old release, for each sensitive attribute.
    k : int
        Rows that a class must be given at least, or none.
    """

    covered: Bools
    codes: Sequence[Ints]
    shares: Sequence[Floats]
    k: int

    def surplus(self, rows: Ints) -> Floats:
        """Return for each of some rows how much more frequent its values are among them than in the old release."""
        found = np.zeros(len(rows))
        for codes, shares in zip(self.codes, self.shares, strict=True):
            own = np.bincount(codes[rows], minlength=len(shares)) / len(rows)
            found += (own - shares)[codes[rows]]
        return found


def choose_classes(newcomers: Newcomers, alone: Judge, union: Judge) -> Ints:
    """Return the class that each new row joins; `HELD_BACK` for a row that joins none.

    Narrow classes are filled first: those that cover the fewest new rows. A class whose added rows break a limit by themselves
    loses rows whose values it has too many of, and is given up when fewer than k are left. What it loses is free for wider
    classes. Then the union is judged. There, classes without new rows may break a limit too, because the distribution in the
    whole table has moved; then rows are taken away whose values the new rows have too many of. The result satisfies all limits.
    It need not be the largest that does.

    Parameters
    ----------
    alone, union : callable
        Judge the added rows by themselves, and together with the old ones.
    """
    classes = np.full(newcomers.covered.shape[1], HELD_BACK, dtype=np.int64)
    able = newcomers.covered.copy()
    order = np.argsort(able.sum(axis=1), kind="stable")
    while True:
        jobs.check()
        _fill(classes, able, order, newcomers.k)
        broken = alone(classes)
        if not len(broken):
            break
        for number in broken.tolist():
            lost = _thin(newcomers, classes, np.flatnonzero(classes == number), SLOWLY)
            able[number, lost] = False
    while (classes >= 0).any() and len(found := union(classes)):  # by themselves, the added rows break no limit here
        jobs.check()
        broken = np.intersect1d(found, classes)
        if not len(broken):
            _thin(newcomers, classes, np.flatnonzero(classes >= 0), MORE_SLOWLY)
            broken = alone(classes)
        while len(broken):
            jobs.check()
            for number in broken.tolist():
                _thin(newcomers, classes, np.flatnonzero(classes == number), SLOWLY)
            broken = alone(classes)
    return classes


def _fill(classes: Ints, able: Bools, order: Ints, k: int) -> None:
    """Give classes without new rows, in their order, all free rows that they can take, if these are k or more."""
    taken = set(classes.tolist())
    for number in order.tolist():
        rows = np.flatnonzero(able[number] & (classes < 0))
        if len(rows) >= k and number not in taken:
            classes[rows] = number


def _thin(newcomers: Newcomers, classes: Ints, rows: Ints, slowly: int) -> Ints:
    """Hold back one in ``slowly`` of the rows, those whose values are most in surplus among them.

    Of a class with fewer than k rows left, all are. Return the rows that are held back.
    """
    left = rows
    for _ in range(-(-len(rows) // slowly)):
        left = np.delete(left, np.argmax(newcomers.surplus(left)))  # ties: the first wins
    lost = np.setdiff1d(rows, left)
    sizes = np.bincount(classes[left], minlength=int(classes.max()) + 1)
    lost = np.append(lost, left[sizes[classes[left]] < newcomers.k])
    classes[lost] = HELD_BACK
    return lost
