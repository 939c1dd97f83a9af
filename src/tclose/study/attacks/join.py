"""Background join: the attacker knows one sensitive attribute of a person, and looks for another."""

from __future__ import annotations

from numbers import Number

import numpy as np

from tclose.make.encode import Attribute
from tclose.study.attacks.record import Outcome
from tclose.study.scene import Scene
from tclose.values.arrays import Floats, Ints
from tclose.values.exact import number_of

MOST = 10_000_000_000
"""The largest number of triples of a class and a value of each attribute that are counted."""
FEW = 10
"""A column of at most this many numbers gains little from bins."""


def too_long(scene: Scene, known: Attribute, wanted: Attribute) -> str | None:
    """Return why one attribute is not looked for by means of another, in a sentence; None if it is."""
    first, second = len(known.values), len(wanted.values)
    if scene.classes * first * second <= MOST:
        return None
    names = f"{wanted.column.name} was not looked for by means of {known.column.name}"
    said = f"{second:,} and {first:,} values are too many for {number_of(scene.classes, 'class', 'classes')}"
    return f"{names}: {said}. With bins it can be."


def join(scene: Scene, known: Attribute, wanted: Attribute) -> Outcome:
    """Return how often an attacker guesses one sensitive attribute who knows another: the likeliest value in the rows that fit.

    t-closeness limits each attribute by itself, not what one says of another inside a class.
    """
    of_known, truth = known.codes.astype(np.int64), wanted.codes.astype(np.int64)
    table = np.zeros((len(known.values), len(wanted.values)))
    np.add.at(table, (of_known[scene.published], truth[scene.published]), 1.0)
    right = np.zeros(scene.table.rows)
    class_known = np.zeros(scene.table.rows)
    for value in np.unique(of_known[np.append(scene.members, scene.controls)]).tolist():
        counts = scene.counts(wanted, of_known == value)
        otherwise = table[value] if table[value].any() else table.sum(axis=0)
        for rows in (scene.members, scene.controls):
            some = rows[of_known[rows] == value]
            if len(some):
                right[some] = _likeliest(scene.beliefs(counts, some, otherwise)) == truth[some]
        some = scene.members[of_known[scene.members] == value]
        class_known[some] = _likeliest(counts[scene.labels[some]]) == truth[some]
    before = _likeliest(table)[of_known[scene.members]] == truth[scene.members]
    return Outcome(
        name="background join",
        sensitive=wanted.column.name,
        knows=f"the quasi-identifiers of a person and their {known.column.name}",
        does=f"guesses their {wanted.column.name}",
        before=float(before.mean()),
        members=right[scene.members],
        controls=right[scene.controls],
        class_known=class_known[scene.members],
        lowers=f"{_bins_of(known)}larger classes (k), or one of the two columns not published",
        figures={"known": known.column.name},
    )


def _bins_of(known: Attribute) -> str:
    """Return that bins help, where the known attribute has many numbers that are published one by one; else an empty text."""
    if known.column.bins is not None or len(known.values) <= FEW or not any(isinstance(value, Number) for value in known.values):
        return ""
    return f"bins for {known.column.name} (its values published in intervals), "


def _likeliest(counts: Floats) -> Ints:
    """Return the value that is counted most for each person; ties: the first."""
    guesses: Ints = counts.argmax(axis=1)
    return guesses
