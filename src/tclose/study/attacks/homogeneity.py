"""Homogeneity: all rows that may be a person's have the same sensitive value (Machanavajjhala et al. 2006)."""

from __future__ import annotations

from tclose.study.attacks.believed import Believed, certain
from tclose.study.attacks.record import Outcome


def homogeneity(seen: Believed) -> Outcome:
    """Return how often an attacker is certain of a person's value, and right: no other value occurs in the person's classes."""
    return Outcome(
        name="homogeneity",
        sensitive=seen.attribute.column.name,
        knows="the quasi-identifiers of a person",
        does=f"is certain of their {seen.attribute.column.name}",
        before=float((seen.table > 0).sum() == 1),
        members=certain(seen.members, seen.of_members),
        controls=certain(seen.controls, seen.of_controls),
        class_known=certain(seen.in_class, seen.of_members),
        lowers="l: 2 or more, or a smaller t",
    )
