"""Similarity: the values of a class differ, but mean nearly the same (Li, Li and Venkatasubramanian 2007)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tclose.distances import Distance
from tclose.make.encode import Attribute
from tclose.study.attacks.believed import Believed
from tclose.study.attacks.record import Outcome
from tclose.values.arrays import Bools, Floats, Ints

RADIUS = Fraction(1, 10)
"""Values within this ground distance mean nearly the same."""
MOST = 2000
"""The largest number of values for which all pairs are looked at."""


def similarity(seen: Believed) -> Outcome:
    """Return how often an attacker guesses a value that is within a ground distance of .1 of a person's value.

    The guess is the value with the largest belief within that distance; ties: the first.
    """
    near = near_values(seen.attribute.distance)
    return Outcome(
        name="similarity",
        sensitive=seen.attribute.column.name,
        knows="the quasi-identifiers of a person and which values mean nearly the same",
        does=f"guesses a value near their {seen.attribute.column.name}",
        before=float(near[int((near @ seen.table).argmax())][seen.of_members].mean()),
        members=_near_truth(near, seen.members, seen.of_members),
        controls=_near_truth(near, seen.controls, seen.of_controls),
        class_known=_near_truth(near, seen.in_class, seen.of_members),
        lowers="a smaller t, with a distance that says which values are alike",
    )


def too_many(attribute: Attribute) -> str | None:
    """Return why similar values of an attribute are not looked for, in a sentence; None if they are."""
    if len(attribute.values) <= MOST:
        return None
    name, count = attribute.column.name, len(attribute.values)
    return f"Similarity was not tried for {name}: it looks at all pairs of {count:,} values, and at most of {MOST:,}."


def near_values(distance: Distance) -> Bools:
    """Return which values are within the radius of which: (values, values) bool."""
    return np.array([[distance.ground(i, j) <= RADIUS for j in range(distance.m)] for i in range(distance.m)])


def _near_truth(near: Bools, counts: Floats, truth: Ints) -> Floats:
    """Return for each person 1 where the value with most rows near it is near the true one, else 0."""
    guess = (counts @ near.T.astype(np.float64)).argmax(axis=1)
    right: Floats = near[guess, truth].astype(np.float64)
    return right
