"""Homogeneity: all rows that may be a person's have the same sensitive value (Machanavajjhala et al. 2006)."""

from __future__ import annotations

import numpy as np

from tclose.study.attacks.believed import Believed
from tclose.study.attacks.record import Outcome


def homogeneity(seen: Believed) -> Outcome:
    """Return how often an attacker is certain of a person's value, and right: no other value occurs in the person's classes."""
    return Outcome(
        name="homogeneity",
        sensitive=seen.attribute.column.name,
        knows="the quasi-identifiers of a person",
        does=f"is certain of their {seen.attribute.column.name}",
        before=float((seen.table > 0).sum() == 1),
        members=(seen.left_of_published == 1).astype(np.float64),
        controls=(seen.left_of_held_back == 1).astype(np.float64),
        class_known=(seen.left_in_class == 1).astype(np.float64),
        lowers="l: 2 or more, or a smaller t",
        everybody=True,
        proves=True,
    )
