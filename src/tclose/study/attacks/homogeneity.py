"""Homogeneity: all rows that may be a person's have the same sensitive value (Machanavajjhala et al. 2006)."""

from __future__ import annotations

import numpy as np

from tclose.study.attacks.believed import Believed, at_truth
from tclose.study.attacks.record import Outcome
from tclose.values.arrays import Floats, Ints


def homogeneity(seen: Believed) -> Outcome:
    """Return how often an attacker is certain of a person's value, and right: no other value occurs in the person's classes."""
    return Outcome(
        name="homogeneity",
        sensitive=seen.attribute.column.name,
        knows="the quasi-identifiers of a person",
        succeeds=f"is certain of their {seen.attribute.column.name}",
        before=float((seen.table > 0).sum() == 1),
        members=_certain(seen.members, seen.of_members),
        controls=_certain(seen.controls, seen.of_controls),
        class_known=_certain(seen.in_class, seen.of_members),
        lowers="l: 2 or more, or a smaller t",
    )


def _certain(counts: Floats, truth: Ints) -> Floats:
    """Return for each person 1 where every row that is counted has the true value, else 0."""
    certain: Floats = (at_truth(counts, truth) == counts.sum(axis=1)).astype(np.float64)
    return certain
