"""Linking: the chance that a row of the release and a person are brought together rightly, by quasi-identifiers alone.

Prosecutor and journalist: El Emam and Dankar 2008, Protecting Privacy Using k-Anonymity. Marketer: Dankar and El Emam 2010, A
Method for Evaluating Marketer Re-identification Risk.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tclose.study.attacks.record import Outcome
from tclose.study.attacks.uniques import Uniques
from tclose.study.scene import Scene
from tclose.values.arrays import Bools, Floats, Ints


def linking(scene: Scene, sampling: float | None, register: Scene | None, uniques: Uniques | None) -> Iterator[Outcome]:
    """Yield how often a row and a person are linked rightly, by an attacker who chooses at random among all that fit.

    - The prosecutor knows that a person is in the release, and takes one of the rows that may be the person's.
    - The journalist takes a row, and one of the people of a register whom its published quasi-identifiers contain. A row that
      contains nobody of the register is not linked.
    - The marketer does so with every row, and counts right matches; without a register or a sampling fraction, in a register of
      exactly the people who are in the release.

    Nobody is held back for this: who is not in the release has no row to be linked with.

    Parameters
    ----------
    scene : Scene
    sampling : float or None
        The share of the population that is in the table. Without a register, the people of the population who fit a row are taken
        to be as many times more than those of the table.
    register : Scene or None
        The members of the release, and the people of a register as controls. All members are taken to be in the register.
    uniques : Uniques or None
        People of the population who are alone with their raw quasi-identifiers.
    """
    yield _prosecutor(scene)
    among = (scene, scene.published) if register is None else (register, register.held_back)
    fitting = people_that_fit(*among)
    if register is None and sampling is not None:
        taken = len(np.unique(scene.persons[scene.published])) / len(np.unique(scene.persons))
        fitting = fitting / (sampling * taken)
    chances = np.divide(1.0, fitting, out=np.zeros(len(fitting)), where=fitting > 0)[scene.labels[scene.published]]
    if register is not None or sampling is not None:
        yield _journalist(chances, sampling if register is None else None, uniques)
    whose = "the population" if register is not None or sampling is not None else "the people in the release"
    yield _marketer(chances, whose)


def _prosecutor(scene: Scene) -> Outcome:
    """Return the chance that one of the rows that may be a person's is theirs."""
    rows, labels = scene.published, scene.labels[scene.published]
    chances = _own_rows(scene) / scene.beliefs(scene.sizes[:, None].astype(np.float64), rows, np.ones(1))[:, 0]
    _, cell, own = np.unique(labels * scene.table.rows + scene.persons[rows], return_inverse=True, return_counts=True)
    return Outcome(
        name="prosecutor",
        sensitive=None,
        knows="the quasi-identifiers of a person and that they are in the release",
        does="takes one of the rows that may be theirs",
        before=None,
        members=chances,
        controls=np.zeros(0),
        class_known=own[cell] / scene.sizes[labels],
        lowers="larger classes (k)",
        figures={"largest": float(chances.max())},
        everybody=True,
    )


def _journalist(chances: Floats, sampling: float | None, uniques: Uniques | None) -> Outcome:
    """Return the chance that one of the people who fit a row is its person."""
    figures: dict[str, Any] = {"largest": float(chances.max())}
    if uniques is not None:
        figures |= {"estimator": "Pitman", "sample_uniques": uniques.sample, "population_uniques": uniques.population}
    said = "" if sampling is None else f", {sampling:.3g} of whom are in the table,"
    return Outcome(
        name="journalist",
        sensitive=None,
        knows=f"a register of the population{said}",
        does="takes one of the people who fit a row",
        before=None,
        members=chances,
        controls=np.zeros(0),
        class_known=None,
        lowers="larger classes (k), or a smaller sample of the population",
        figures=figures,
        everybody=True,
    )


def _marketer(chances: Floats, whose: str) -> Outcome:
    """Return how many matches are right, as expected, if each row is matched with one of the people who fit."""
    return Outcome(
        name="marketer",
        sensitive=None,
        knows=f"a register of {whose}",
        does="matches every row with one of the people who fit",
        before=None,
        members=chances,
        controls=np.zeros(0),
        class_known=None,
        lowers="larger classes (k)",
        figures={"matches": float(chances.sum())},
        everybody=True,
    )


def _own_rows(scene: Scene) -> Floats:
    """Return for each published row how many rows of the same person are in classes that contain its quasi-identifiers."""
    rows, labels, persons = scene.published, scene.labels[scene.published], scene.persons[scene.published]
    cells, counts = np.unique(persons * scene.classes + labels, return_counts=True)
    person, label = np.divmod(cells, scene.classes)  # the classes of each person are adjacent
    begin, end = (np.searchsorted(person, persons, side) for side in ("left", "right"))
    lengths = end - begin
    owners = np.repeat(np.arange(len(rows)), lengths)
    cell = np.arange(len(owners)) + np.repeat(begin - (np.cumsum(lengths) - lengths), lengths)
    fitting = scene.contains(rows[owners], label[cell]) * counts[cell]
    return np.bincount(owners, weights=fitting, minlength=len(rows)).astype(np.float64)


def people_that_fit(scene: Scene, rows: Ints) -> Floats:
    """Return how many of some people the published quasi-identifiers of each class contain; several rows of a person are one."""
    first, number = scene.combinations
    persons, known = np.divmod(np.unique(scene.persons[rows] * len(first) + number[rows]), len(first))
    several = np.bincount(persons)[persons] > 1  # combinations of quasi-identifiers; most people have one
    found = np.zeros(scene.classes)
    used, people = np.unique(known[~several], return_counts=True)
    for part, contains in scene.containing(first[used]):
        found += people[part].astype(np.float64) @ contains.astype(np.float64)
    persons, known, last, latest = persons[several], known[several], -1, np.zeros(scene.classes, dtype=np.bool_)
    for part, contains in scene.containing(first[known]):
        anywhere: Bools = np.logical_or.reduceat(contains, np.flatnonzero(np.diff(persons[part], prepend=-1)), axis=0)
        found += anywhere.sum(axis=0)
        if persons[part[0]] == last:  # a person whose combinations are in two parts is counted once
            found -= anywhere[0] & latest
            anywhere[0] |= latest
        last, latest = int(persons[part[-1]]), anywhere[-1]
    return found
