"""Learning: from all classes together, how a sensitive attribute goes with the quasi-identifiers (after Kifer 2009).

What is learned holds for everybody, in the table or not. So the controls matter most here: the excess is what the release gives
away about its members, beyond what it teaches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tclose.make.encode import Attribute
from tclose.study.attacks.record import Outcome, rate_of
from tclose.study.scene import Scene
from tclose.values.arrays import Floats, Ints, grouped

TURNS = 10
"""How often the attacker learns from the values as they were dealt out, and deals them out again."""
SCALINGS = 10
"""How often chances are scaled to the counts of each class, and to 1 for each person, in turn."""
LITTLE = 1e-300


class Learned(NamedTuple):
    """What an attacker has learned about a sensitive attribute from a release."""

    table: Floats
    """(values,): the rows with each value in the whole release."""
    likelihood: Floats
    """(rows, values): the chance of each row's quasi-identifiers given each value, up to a factor for each row."""
    chances: Floats
    """(members, values): the values of each class, dealt out to its people."""
    factors: Floats
    """(classes, values): what the likelihood of a person is multiplied by in each class; of an average person it makes the counts
    of the class."""

    @property
    def by_model(self) -> Ints:
        """The likeliest value of each row by its quasi-identifiers alone, without the classes."""
        likeliest: Ints = (self.likelihood * self.table).argmax(axis=1)
        return likeliest


def learning(scene: Scene, attribute: Attribute, learned: Learned) -> Outcome:
    """Return how often an attacker guesses a sensitive value who learns from the release how it goes with quasi-identifiers.

    The attacker has a register of the people in the table, deals the values of each class out to its people, learns naive Bayes
    from that, deals out anew, and so on. Then a guess is made about each person, in the table or not: the likeliest value in the
    classes that contain them, each weighted by its rows. ``figures`` has how often what was learned is right without the classes.
    """
    table, truth = learned.table, attribute.codes.astype(np.int64)
    model = learned.by_model == truth
    right = np.zeros(scene.table.rows)
    for rows in (scene.members, scene.controls):
        beliefs = scene.beliefs(learned.factors, rows, table) * learned.likelihood[rows]
        right[rows] = beliefs.argmax(axis=1) == truth[rows]
    figures = {"model_members": rate_of(model[scene.members], scene.persons[scene.members]).share}
    if len(scene.controls):
        figures["model_controls"] = rate_of(model[scene.controls], scene.persons[scene.controls]).share
    return Outcome(
        name="learning",
        sensitive=attribute.column.name,
        knows="the quasi-identifiers of everybody and learns from all classes together",
        does=f"guesses their {attribute.column.name}",
        before=float(table.max() / table.sum()),
        members=right[scene.members],
        controls=right[scene.controls],
        class_known=(learned.chances.argmax(axis=1) == truth[scene.members]).astype(np.float64),
        lowers="a smaller t, or larger classes (k)",
        figures=figures,
    )


def learn(scene: Scene, attribute: Attribute) -> Learned:
    """Return what is learned about an attribute from the counts of its values in all classes."""
    counts = scene.counts(attribute)
    order, starts = grouped(np.maximum(scene.labels, -1))
    members = scene.members
    back = np.searchsorted(members, order)  # for each member in the order of classes, its index among the members
    labels = scene.labels[order]
    shares = counts / counts.sum(axis=1, keepdims=True)
    chances = shares[labels]
    likelihood, factors = np.ones((scene.table.rows, counts.shape[1])), counts
    for _ in range(TURNS):
        likelihood = _naive_bayes(scene, order, chances)
        chances, factors = _dealt_out(likelihood[order], counts, shares, labels, starts[:-1])
    dealt = np.empty_like(chances)
    dealt[back] = chances
    return Learned(counts.sum(axis=0), likelihood, dealt, factors)


def _naive_bayes(scene: Scene, rows: Ints, chances: Floats) -> Floats:
    """Return the likelihood of every row's quasi-identifiers given each value, learned from some rows; all codes count 1 more."""
    logarithms = np.zeros((scene.table.rows, chances.shape[1]))
    for scale, codes in zip(scene.table.scales, scene.table.quasi, strict=True):
        known = codes[rows].astype(np.int64)
        counts = np.stack([np.bincount(known, weights=column, minlength=scale.size) for column in chances.T], axis=1) + 1
        logarithms += np.log(counts / counts.sum(axis=0))[codes]
    scaled: Floats = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    return scaled


def _dealt_out(likelihood: Floats, counts: Floats, shares: Floats, labels: Ints, starts: Ints) -> tuple[Floats, Floats]:
    """Return chances that sum to the counts of each class and to 1 for each person (Sinkhorn), and the factors of the classes."""
    factors = shares
    person = 1.0 / np.maximum((likelihood * factors[labels]).sum(axis=1, keepdims=True), LITTLE)
    for _ in range(SCALINGS):
        sums = np.add.reduceat(likelihood * person, starts, axis=0)
        factors = counts / np.maximum(sums, LITTLE)
        person = 1.0 / np.maximum((likelihood * factors[labels]).sum(axis=1, keepdims=True), LITTLE)
    # Of an average person of the class: so that classes are weighted by their rows for anybody whom they contain.
    return likelihood * factors[labels] * person, factors * np.add.reduceat(person, starts, axis=0)
