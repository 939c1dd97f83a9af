"""Beliefs about a sensitive attribute: before the release (Q, of all rows) and after it (P, of the classes of a person).

The slides on t-closeness call them B1 and B2. B0, before anything is known of the table, is nobody's to measure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.make.encode import Attribute
from tclose.study.scene import CHUNK, Scene
from tclose.values.arrays import Floats, Ints
from tclose.values.exact import number_of

MOST = 100_000_000
"""The largest number of pairs of a class and a value, or of a person of one class and a value, that are counted."""


@dataclass(frozen=True, eq=False)
class Believed:
    """What an attacker counts for each person and each value of a sensitive attribute; the shares of the counts are beliefs.

    Attributes
    ----------
    attribute : Attribute
    table : (values,)
        The rows with each value in the whole release.
    classes : (classes, values)
        In each class.
    members, controls : (people, values)
        In the classes that contain a person; see `tclose.study.scene.Scene.beliefs`.
    in_class : (members, values)
        In the class of each member, for an attacker who knows it.
    of_members, of_controls : (people,) int64
        The truth.
    left_of_published, left_of_held_back, left_in_class : (rows,) int64
        How many values an attacker has left for everybody, in the release and not, also where there is a sample: 1, 2, or 0 if
        they are more or the true one is not among them. The last one is for everybody in the release if their class is known.
    """

    attribute: Attribute
    table: Floats
    classes: Floats
    members: Floats
    controls: Floats
    in_class: Floats
    of_members: Ints
    of_controls: Ints
    left_of_published: Ints
    left_of_held_back: Ints
    left_in_class: Ints


def believed(scene: Scene, attribute: Attribute) -> Believed:
    """Return what an attacker believes of an attribute, about members and controls by one procedure."""
    counts = scene.counts(attribute)
    table, in_class = counts.sum(axis=0), (counts > 0).sum(axis=1)[scene.labels[scene.published]]
    codes = attribute.codes.astype(np.int64)
    return Believed(
        attribute,
        table,
        counts,
        scene.beliefs(counts, scene.members, table),
        scene.beliefs(counts, scene.controls, table),
        counts[scene.labels[scene.members]],
        codes[scene.members],
        codes[scene.controls],
        _values_left(scene, attribute, counts, scene.published),
        _values_left(scene, attribute, counts, scene.held_back),
        np.where(in_class > 2, 0, in_class),
    )


def too_detailed(scene: Scene, attribute: Attribute) -> str | None:
    """Return why an attribute is not attacked, in a sentence: its values are too many to count in all classes; None if it is."""
    values, most = len(attribute.values), max(scene.classes, int(scene.sizes.max()))
    if most * values <= MOST:
        return None
    said = f"{values:,} values are too many for {number_of(scene.classes, 'class', 'classes')}"
    return f"{attribute.column.name} was not attacked: {said}. With bins it can be."


def _values_left(scene: Scene, attribute: Attribute, counts: Floats, rows: Ints) -> Ints:
    """Return how many values occur in the classes that contain each row: 1 or 2; 0 if they are more, or the true one does not.

    So few values are rare, and a sample of people would overlook them. One class with more of them settles it for a row.
    """
    several = (counts > 0).sum(axis=1) > 2
    number = scene.combinations[1][rows]
    own = scene.labels[rows] >= 0  # the own class of a person contains them
    asked = np.flatnonzero(~(own & several[np.where(own, scene.labels[rows], 0)]))
    used, inverse = np.unique(number[asked], return_inverse=True)
    few = np.ones(len(used), dtype=np.bool_)
    for part, contains in scene.containing(scene.combinations[0][used]):
        few[part] = ~(contains & several).any(axis=1)
    asked = asked[few[inverse]]
    found, step = np.zeros(len(rows), dtype=np.int64), max(1, CHUNK // counts.shape[1])
    for start in range(0, len(asked), step):
        part = asked[start : start + step]
        occur = scene.beliefs(counts, rows[part], counts.sum(axis=0)) > 0
        values, truth = occur.sum(axis=1), attribute.codes[rows[part]].astype(np.int64)
        found[part] = np.where(at_truth(occur, truth) & (values <= 2), values, 0)
    return found


def at_truth(counts: NDArray[Any], truth: Ints) -> NDArray[Any]:
    """Return what is counted for the true value of each person."""
    return np.take_along_axis(counts, truth[:, None], axis=1)[:, 0]
