"""The depth of a search: how much of t the fragments use up, and how much is left for classes that take uneven shares of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from tclose.make.fragmentation.result import Fragmentation
from tclose.make.fragmentation.search import Walk
from tclose.values.arrays import Ints

DEPTHS = tuple(Fraction(share, 20) for share in (20, 18, 16, 14, 12, 10, 8, 6, 4, 2))
"""Shares of t that fragments may use up: the rest of t is for classes that take uneven shares of them."""


def choose_depth(
    search: Callable[[list[Fraction]], Walk],
    t: Sequence[Fraction],
    k: int,
    size_classes: Callable[[Fragmentation], Ints],
    depths: Sequence[Fraction] = DEPTHS,
    crowding: Fraction = Fraction(0),
) -> tuple[Fragmentation, Ints]:
    """Return the fragmentation with the most classes for its number of fragments, and the rows that its classes take.

    Parameters
    ----------
    search
        From the limits of all attributes to fragments whose bounds are within them.
    t
        The limit of each attribute. Fragments are searched within shares of it.
    k
        The least number of rows of a class.
    size_classes
        From fragments to the rows of each that every class takes: (classes, fragments).
    depths
        The shares of t to try, in this order; ties: the first wins.
    crowding
        What counts is classes / fragments^crowding; by default the number of classes alone.
    """
    best: tuple[Fragmentation, Ints] | None = None
    most = Fraction(0)
    for depth in depths:
        found = Fragmentation.of_walk(search([depth * limit for limit in t]), t)
        if best is not None and found.fragments == best[0].fragments:
            continue
        wanted = size_classes(found)
        # classes / fragments^crowding, raised to a power that makes it a fraction: no machine's rounding chooses between depths.
        merit = Fraction(len(wanted) ** crowding.denominator, len(found.fragments) ** crowding.numerator)
        if merit > most:
            best, most = (found, wanted), merit
        if wanted.sum(axis=1).max() < 2 * k:  # none can be halved
            break
    assert best is not None
    return best
