"""Background knowledge: the attacker can rule out one sensitive value of a person (Machanavajjhala et al. 2006)."""

from __future__ import annotations

import numpy as np

from tclose.study.attacks.believed import Believed, at_truth
from tclose.study.attacks.record import Outcome
from tclose.values.arrays import Floats, Ints


def background(seen: Believed) -> Outcome:
    """Return how often an attacker is certain of a person's value who knows one value that the person does not have.

    It is the value that helps most: the one beside the true value that occurs in the person's classes.
    """
    return Outcome(
        name="background knowledge",
        sensitive=seen.attribute.column.name,
        knows="the quasi-identifiers of a person and one value that the person does not have",
        does=f"is certain of their {seen.attribute.column.name}",
        before=float((seen.table > 0).sum() <= 2),
        members=_certain(seen.members, seen.of_members),
        controls=_certain(seen.controls, seen.of_controls),
        class_known=_certain(seen.in_class, seen.of_members),
        lowers="l: 3 or more",
    )


def _certain(counts: Floats, truth: Ints) -> Floats:
    """Return for each person 1 where the true value occurs, and at most one other value, else 0."""
    certain: Floats = ((at_truth(counts, truth) > 0) & ((counts > 0).sum(axis=1) <= 2)).astype(np.float64)
    return certain
