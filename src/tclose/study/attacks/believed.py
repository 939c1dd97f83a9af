"""Beliefs about a sensitive attribute: before the release (Q, of all rows) and after it (P, of the classes of a person).

The slides on t-closeness call them B1 and B2. B0, before anything is known of the table, is nobody's to measure.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tclose.make.encode import Attribute
from tclose.study.scene import Scene
from tclose.values.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Believed:
    """What an attacker counts for each person and each value of a sensitive attribute; the shares of the counts are beliefs.

    Attributes
    ----------
    attribute : Attribute
    table : (values,)
        The rows with each value in the whole release.
    members, controls : (people, values)
        In the classes that contain a person; see `tclose.study.scene.Scene.beliefs`.
    in_class : (members, values)
        In the class of each member, for an attacker who knows it.
    of_members, of_controls : (people,) int64
        The truth.
    """

    attribute: Attribute
    table: Floats
    members: Floats
    controls: Floats
    in_class: Floats
    of_members: Ints
    of_controls: Ints


def believed(scene: Scene, attribute: Attribute) -> Believed:
    """Return what an attacker believes of an attribute, about members and controls by one procedure."""
    counts = scene.counts(attribute)
    table = counts.sum(axis=0)
    codes = attribute.codes.astype(np.int64)
    return Believed(
        attribute,
        table,
        scene.beliefs(counts, scene.members, table),
        scene.beliefs(counts, scene.controls, table),
        counts[scene.labels[scene.members]],
        codes[scene.members],
        codes[scene.controls],
    )


def at_truth(counts: Floats, truth: Ints) -> Floats:
    """Return what is counted for the true value of each person."""
    return np.take_along_axis(counts, truth[:, None], axis=1)[:, 0]


def certain(counts: Floats, truth: Ints) -> Floats:
    """Return for each person 1 where every row that is counted has the true value, else 0."""
    found: Floats = (at_truth(counts, truth) == counts.sum(axis=1)).astype(np.float64)
    return found
