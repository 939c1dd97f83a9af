"""Background knowledge: the attacker can rule out one sensitive value of a person (Machanavajjhala et al. 2006)."""

from __future__ import annotations

import numpy as np

from tclose.study.attacks.believed import Believed
from tclose.study.attacks.record import Outcome


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
        members=(seen.left_of_published > 0).astype(np.float64),
        controls=(seen.left_of_held_back > 0).astype(np.float64),
        class_known=(seen.left_in_class > 0).astype(np.float64),
        lowers="l: 3 or more",
        everybody=True,
        proves=True,
    )
