"""Intersection: two releases of the same people, of which a person is in a class of each (Ganta et al. 2008)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tclose.make.encode import Attribute
from tclose.study.attacks.believed import at_truth
from tclose.study.attacks.record import Outcome, rate_of
from tclose.study.scene import Scene
from tclose.values.arrays import Floats, Ints, renumber


def intersection(scene: Scene, earlier: Scene) -> Iterator[Outcome]:
    """Yield for each sensitive attribute how often two releases together make an attacker certain of a person's value, and right.

    A person's value occurs in both. If one value alone occurs in the rows of both that may be the person's, it is theirs. Each
    release satisfies its policy; nothing limits what two of them tell together.

    ``figures`` has the number of rows of the smallest intersection of a class of each release, the share of people in
    intersections of fewer than k persons, the share of people in intersections with one value (which tells an attacker more only
    if they see which rows of the two releases are the same), and how often the later release alone makes the attacker certain.

    Parameters
    ----------
    scene, earlier : Scene
        Of the later and of the earlier release, with the same rows.
    """
    figures = _figures(scene, earlier)
    for attribute in scene.table.sensitive:
        yield _certain_of(scene, earlier, attribute, figures)


def _certain_of(scene: Scene, earlier: Scene, attribute: Attribute, figures: dict[str, Any]) -> Outcome:
    """Return how often one value of an attribute alone occurs in the rows of both releases that may be a person's."""
    members, truth = scene.members, attribute.codes.astype(np.int64)
    later, before = scene.counts(attribute), earlier.counts(attribute)
    anything = np.ones(later.shape[1])  # a release in which no class contains a person rules no value out
    now, then = scene.beliefs(later, members, anything), earlier.beliefs(before, members, anything)
    of_class = before[np.maximum(earlier.labels[members], 0)]
    of_class[earlier.labels[members] < 0] = anything
    pairs = _pairs(scene, earlier)
    values = np.unique(pairs * later.shape[1] + truth[scene.published]) // later.shape[1]
    alone = np.bincount(values)[pairs] == 1
    name = attribute.column.name
    return Outcome(
        name="two releases",
        sensitive=name,
        knows="the quasi-identifiers of a person and an earlier release",
        does=f"is certain of their {name}",
        before=None,
        members=_certain(np.minimum(now, then), truth[members]),
        controls=np.zeros(0),
        class_known=_certain(np.minimum(later[scene.labels[members]], of_class), truth[members]),
        lowers="one release only, or the classes of the earlier one again",
        figures={
            **figures,
            "homogeneous": rate_of(alone, scene.persons[scene.published]).share,
            "one_release": rate_of(_certain(now, truth[members]), scene.persons[members], once=True).share,
        },
        proves=True,
    )


def _figures(scene: Scene, earlier: Scene) -> dict[str, Any]:
    """Return the rows of the smallest intersection of classes, and the share of people in those of fewer than k persons."""
    pairs, persons = _pairs(scene, earlier), scene.persons[scene.published]
    inside = np.bincount(np.unique(pairs * scene.table.rows + persons) // scene.table.rows)
    below = inside[pairs] < (scene.policy.k or 1)
    return {"smallest": int(np.bincount(pairs).min()), "below_k": rate_of(below, persons).share}


def _pairs(scene: Scene, earlier: Scene) -> Ints:
    """Return for each published row the number of the pair of classes that it is in; suppressed rows are as a class."""
    labels = scene.labels[scene.published] * (earlier.classes + 1) + earlier.labels[scene.published] + 1
    return renumber(labels)[0]


def _certain(counts: Floats, truth: Ints) -> Floats:
    """Return for each person 1 where the true value occurs and no other does, else 0."""
    certain: Floats = ((at_truth(counts, truth) > 0) & ((counts > 0).sum(axis=1) == 1)).astype(np.float64)
    return certain
