"""Learning: from all classes together, how a sensitive attribute goes with the quasi-identifiers (after Kifer 2009).

What is learned holds for everybody, in the table or not. So the controls matter most here: the excess is what the release gives
away about its members, beyond what it teaches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tclose.jobs import check, report
from tclose.make.encode import Attribute
from tclose.study.attacks.record import Outcome, rate_of
from tclose.study.scene import CHUNK, Scene
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
    logarithms: list[Floats]
    """(codes, values) for each quasi-identifier: the logarithm of the chance of each code given each value."""
    by_model: Ints
    """(rows,): the likeliest value of each member and control by their quasi-identifiers alone, without the classes; else -1."""
    chances: Floats
    """(members, values): the values of each class, dealt out to its people."""
    factors: Floats
    """(classes, values): what the likelihood of a person is multiplied by in each class; of an average person it makes the counts
    of the class."""


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
        beliefs = scene.beliefs(learned.factors, rows, table) * likelihood_of(scene, rows, learned.logarithms)
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
    shares, factors = counts / counts.sum(axis=1, keepdims=True), np.empty_like(counts)
    of_members = np.full(scene.table.rows, -1)
    of_members[scene.members] = np.arange(len(scene.members))
    dealt = np.empty((len(scene.members), counts.shape[1]))
    blocks = list(_blocks(starts, CHUNK // counts.shape[1]))
    logarithms: list[Floats] = []
    for turn in range(TURNS + 1):
        seen = [np.zeros((scale.size, counts.shape[1])) for scale in scene.table.scales]
        report(f"{attribute.column.name}, learning {turn} of {TURNS}")
        for first, last in blocks:
            check()
            rows, own = order[starts[first] : starts[last]], slice(first, last)
            labels = scene.labels[rows] - first
            if turn == 0:
                chances = shares[own][labels]
            else:
                likelihood = likelihood_of(scene, rows, logarithms)
                inside = starts[first:last] - starts[first]
                chances, factors[own] = _dealt_out(likelihood, counts[own], shares[own], labels, inside)
            if turn < TURNS:
                _add_chances(seen, scene, rows, chances)
            else:
                among = of_members[rows]
                dealt[among[among >= 0]] = chances[among >= 0]
        if turn < TURNS:  # what is dealt out at last is not learned from
            logarithms = [np.log((found + 1) / (found + 1).sum(axis=0)) for found in seen]  # all codes count 1 more
    table, by_model = counts.sum(axis=0), np.full(scene.table.rows, -1)
    for rows in (scene.members, scene.controls):
        by_model[rows] = (likelihood_of(scene, rows, logarithms) * table).argmax(axis=1)
    return Learned(table, logarithms, by_model, dealt, factors)


def likelihood_of(scene: Scene, rows: Ints, logarithms: list[Floats]) -> Floats:
    """Return the likelihood of some rows' quasi-identifiers given each value (naive Bayes), up to a factor for each row."""
    total = np.zeros((len(rows), logarithms[0].shape[1]))
    for logarithm, codes in zip(logarithms, scene.table.quasi, strict=True):
        total += logarithm[codes[rows]]
    scaled: Floats = np.exp(total - total.max(axis=1, keepdims=True))
    return scaled


def _blocks(starts: Ints, most: int) -> Iterator[tuple[int, int]]:
    """Yield the first class of each block, and the one behind its last: as many classes as have ``most`` rows, at least one."""
    first = 0
    while first < len(starts) - 1:
        last = max(first + 1, int(np.searchsorted(starts, starts[first] + most, side="right")) - 1)
        yield first, last
        first = last


def _add_chances(seen: list[Floats], scene: Scene, rows: Ints, chances: Floats) -> None:
    """Add up the chances of each value by the codes of each quasi-identifier."""
    for found, codes in zip(seen, scene.table.quasi, strict=True):
        known = codes[rows].astype(np.int64)
        found += np.stack([np.bincount(known, weights=column, minlength=len(found)) for column in chances.T], axis=1)


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
