"""Skewness: a class has much more of a value than the table has (Li, Li and Venkatasubramanian 2007)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from tclose.study.attacks.believed import Believed, at_truth
from tclose.study.attacks.record import Outcome
from tclose.values.arrays import Floats, Ints


def skewness(seen: Believed) -> Outcome:
    """Return how strongly an attacker believes in the true value of a person, against its share in the table.

    ``figures["lift"]`` is the largest ratio of the share of a value in a class to its share in the table: beta-likeness with
    ``beta`` = lift - 1 would have bounded it.
    """
    shares = seen.table / seen.table.sum()
    lift = _largest_lift(seen)
    nothing = "nothing: no class tells more than the table"
    return Outcome(
        name="skewness",
        sensitive=seen.attribute.column.name,
        knows="the quasi-identifiers of a person and the shares of all values in the table",
        does=f"draws one of the rows that may be theirs to guess the {seen.attribute.column.name}",
        before=float(shares[seen.of_members].mean()),
        members=_belief(seen.members, seen.of_members),
        controls=_belief(seen.controls, seen.of_controls),
        class_known=_belief(seen.in_class, seen.of_members),
        lowers=f"a beta below {math.floor(100 * (lift - 1)) / 100:g}, or a smaller t" if lift > 1 else nothing,
        figures={"lift": float(lift), "beta": float(lift - 1)},
    )


def _belief(counts: Floats, truth: Ints) -> Floats:
    """Return the belief in the true value of each person."""
    beliefs: Floats = at_truth(counts, truth) / counts.sum(axis=1)
    return beliefs


def _largest_lift(seen: Believed) -> Fraction:
    """Return the largest share of a value in a class over its share in the table, exactly."""
    sizes = seen.classes.sum(axis=1, keepdims=True)
    lifts = np.divide(seen.classes, sizes * seen.table, out=np.zeros_like(seen.classes), where=seen.table > 0)
    number, value = np.unravel_index(int(lifts.argmax()), lifts.shape)
    inside, rows = int(seen.classes[number, value]), int(seen.table.sum())
    return Fraction(inside * rows, int(sizes[number, 0]) * int(seen.table[value]))
