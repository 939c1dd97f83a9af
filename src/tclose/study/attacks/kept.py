"""Kept columns: rows that stand alone once columns that are published as they are are known as well."""

from __future__ import annotations

from typing import Any

import numpy as np

from tclose.study.attacks.record import Outcome, rate_of
from tclose.study.scene import Scene
from tclose.values.arrays import Floats, Ints, renumber


def kept(scene: Scene) -> Outcome:
    """Return how often exactly one row of the release fits a person whose kept columns an attacker knows as well.

    A row fits if its published quasi-identifiers contain the person's, and all its kept columns are the person's. A single row
    that fits a member is the member's own. A single row that fits a control is a wrong match, which the attacker cannot tell from
    a right one: only the excess over controls is what such a match is worth.

    ``figures`` has the number of members' rows that stand alone, the column without which the fewest do (ties: the first), and
    for how many members that is so without it.
    """
    names = list(scene.table.kept)
    known = _combinations(scene, names)
    members, controls = _alone(scene, scene.members, known), _alone(scene, scene.controls, known)
    persons = scene.persons[scene.members]
    rest = [_alone(scene, scene.members, _combinations(scene, [other for other in names if other != name])) for name in names]
    shares = [rate_of(alone, persons, once=True).share for alone in rest]
    worst = int(np.argmin(shares))
    figures: dict[str, Any] = {"rows": int(members.sum()), "column": names[worst], "without": shares[worst]}
    return Outcome(
        name="kept columns",
        sensitive=None,
        knows="the quasi-identifiers of a person and their " + _listed(names),
        does="finds exactly one row that fits",
        before=None,
        members=members,
        controls=controls,
        class_known=_alone_in_class(scene, known),
        lowers=f"dropping or generalising {names[worst]}",
        figures=figures,
        says="true for",
        proves=True,
    )


def _listed(names: list[str]) -> str:
    """Return names for a sentence: "job, town and 3 more kept columns"."""
    if len(names) > 3:
        return f"{names[0]}, {names[1]} and {len(names) - 2} more kept columns"
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def _combinations(scene: Scene, names: list[str]) -> Ints:
    """Return the number of each row's combination of values in some kept columns."""
    numbers = np.zeros(scene.table.rows, dtype=np.int64)
    for name in names:
        column = scene.table.kept[name]
        numbers = renumber(numbers * len(column.values) + column.codes)[0]
    return numbers


def _rows_that_fit(scene: Scene, people: Ints, known: Ints) -> Floats:
    """Return for each of some people how many rows of the release fit: in classes that contain them, and with what is known.

    Parameters
    ----------
    people : (people,) int64
        Rows of the scene.
    known : (rows,) int64
        What is known of each row, as a number; a row fits if it has the same.
    """
    rows = scene.published
    cells, counts = np.unique(known[rows] * scene.classes + scene.labels[rows], return_counts=True)
    number, label = np.divmod(cells, scene.classes)  # the classes of each number are adjacent
    begin, end = (np.searchsorted(number, known[people], side) for side in ("left", "right"))
    found = np.zeros(len(people))
    for part, contains in scene.containing(people):
        lengths = (end - begin)[part]
        owners = np.repeat(np.arange(len(part)), lengths)
        cell = np.arange(len(owners)) + np.repeat(begin[part] - (np.cumsum(lengths) - lengths), lengths)
        fitting = contains[owners, label[cell]] * counts[cell]
        found[part] = np.bincount(owners, weights=fitting, minlength=len(part))
    return found


def _alone(scene: Scene, people: Ints, known: Ints) -> Floats:
    """Return for each of some people 1 where exactly one row of the release fits, else 0."""
    alone: Floats = (_rows_that_fit(scene, people, known) == 1).astype(np.float64)
    return alone


def _alone_in_class(scene: Scene, known: Ints) -> Floats:
    """Return for each member 1 where no other row of their class has their kept values, else 0."""
    cells = known * scene.classes + scene.labels
    found, counts = np.unique(cells[scene.published], return_counts=True)
    alone: Floats = (counts[np.searchsorted(found, cells[scene.members])] == 1).astype(np.float64)
    return alone
