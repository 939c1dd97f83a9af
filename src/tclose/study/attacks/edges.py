"""Edges: a published range is the smallest that has all values of its class, so somebody attains each end (Wong et al. 2007).

The attacker has a register of everybody. If one person alone, of all whose quasi-identifiers lie in the box of a class, has the
value at an end of a range, or a member of a set, this person must be in the class. So their class is proven, and that they are in
the table. It is never wrong, if the register has all people of the table: somebody in the class has the value, and nobody else is
there to have it. What the node of a hierarchy proves of its branches is not used.

With ``edges: e`` an end that fewer than e persons attain was moved to a grid, where nobody of the class is. An end that cannot
have been moved is attained by at least e persons: if e people alone fit, they are in the class. Any other end is attained by at
least e persons, or somebody has one of the values that move to it. Where too few people fit the one, the other is true.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tclose.make.scales import Claims
from tclose.study.attacks.believed import Believed, at_truth
from tclose.study.attacks.learning import Learned
from tclose.study.attacks.outermost import beyond_model, find_outermost
from tclose.study.attacks.record import Outcome, Rate, difference, rate_of
from tclose.study.scene import Scene, one_person
from tclose.values.arrays import Bools, Floats, Ints, grouped


class Edges(NamedTuple):
    """People who stand alone at an edge."""

    pinned: Bools
    """(rows,): whether the class of the row is proven."""
    mistaken: Bools
    """(rows,): whether a person who is not in the table is said to be in a class."""
    outermost: Bools
    """(rows,): whether the person alone has the least or the greatest raw value of their class on some quasi-identifier."""


@dataclass(frozen=True)
class Compared:
    """How often an attacker is right about some people, and about the others in the release."""

    right: Rate
    others: Rate
    difference: float
    interval: tuple[float, float]


def edges(scene: Scene, found: Edges, told: dict[str, Any]) -> Outcome:
    """Return for how many people the ends of published ranges and the members of sets prove the class.

    ``figures`` has the number of these people, and of those who are outermost in their class by raw value, whatever is published;
    and what an attacker knows of each sensitive attribute of theirs, see `told_about`.
    """
    pinned, outermost = (len(np.unique(scene.persons[rows])) for rows in (found.pinned, found.outermost))
    whose = "which class is theirs" if scene.table.persons is None else "in which class one of their rows is"
    return Outcome(
        name="edges",
        sensitive=None,
        knows="the quasi-identifiers of everybody",
        does=f"finds people who alone can be the end of a published range, and so proves {whose}",
        before=0.0,
        members=found.pinned[scene.published].astype(np.float64),
        controls=found.mistaken[scene.held_back].astype(np.float64),
        class_known=None,
        lowers="edges: 2, which moves ends that one person alone attains to a grid; or snap: auto, a grid for all ends",
        figures={"pinned": pinned, "outermost": outermost, "sensitive": told},
        everybody=True,
        proves=True,
    )


def find_edges(scene: Scene) -> Edges:
    """Return the people whose class is proven by an end of a published range or a member of a set, and outermost people."""
    first, number = scene.combinations
    least, most = np.full(len(first), scene.table.rows), np.full(len(first), -1)
    np.minimum.at(least, number, scene.persons)
    np.maximum.at(most, number, scene.persons)
    pinned, mistaken = np.zeros(scene.table.rows, dtype=np.bool_), np.zeros(scene.table.rows, dtype=np.bool_)
    for index, (attained, scale, codes) in enumerate(zip(scene.attained, scene.table.scales, scene.table.quasi, strict=True)):
        ends, people = _fitting(scene, attained, index)
        alone = one_person(ends, least[people], most[people], len(attained.persons))
        if (attained.other >= 0).any() or (attained.persons > 1).any():
            fitting = _persons_fitting(scene, ends, people, len(attained.persons))
            alone = attained.proven(fitting) & (fitting == attained.persons)
        # A member in the class with the value is the one who fits: all members are in the register.
        pinned |= (scene.labels >= 0) & np.isin(scene.labels * scale.size + codes, attained.keys[alone[attained.claims]])
        mistaken |= (scene.labels < 0) & np.isin(number, people[alone[ends]])
    return Edges(pinned, mistaken, find_outermost(scene))


def told_about(scene: Scene, found: Edges, seen: Believed, learned: Learned) -> dict[str, Any]:
    """Return what an attacker knows of a sensitive attribute of people at an edge, against the others.

    Of people whose class is proven: the mean belief in their value before (their rows are spread over all classes that contain
    them) and after (the shares of their class), and how often the likeliest value of the class is right. Of outermost people: how
    often the likeliest value of the class is right, and what is learned from all classes; and how much of that is more than the
    model says alone, see `tclose.study.attacks.outermost.Beyond`.
    """
    members, persons = scene.members, scene.persons[scene.members]
    guessed = (learned.chances.argmax(axis=1) == seen.of_members).astype(np.float64)
    pinned, outermost = found.pinned[members], found.outermost[members]
    right = (seen.in_class.argmax(axis=1) == seen.of_members).astype(np.float64)
    before, after = (
        float((at_truth(counts[pinned], seen.of_members[pinned]) / counts[pinned].sum(axis=1)).mean()) if pinned.any() else None
        for counts in (seen.members, seen.in_class)
    )
    return {
        "pinned": {"belief_before": before, "belief_after": after, "class_shares": compare(right, pinned, persons)},
        "outermost": {
            "class_shares": compare(right, outermost, persons),
            "learning": compare(guessed, outermost, persons),
            "beyond_model": beyond_model(scene, seen.attribute, learned, outermost),
        },
    }


def compare(right: Floats, some: Bools, persons: Ints) -> Compared | None:
    """Return how often an attack is right about some rows and about the others; None where there are none of either."""
    if some.all() or not some.any():
        return None
    first, second = rate_of(right[some], persons[some]), rate_of(right[~some], persons[~some])
    return Compared(first, second, *difference(first, second))


def _fitting(scene: Scene, attained: Claims, index: int) -> tuple[Ints, Ints]:
    """Return who can be the one at an end: indices of ends that somebody attains, and of the combinations that fit each.

    ``attained`` is as in `tclose.study.scene.Scene.attained`, for the quasi-identifier with this index.
    """
    first, size = scene.combinations[0], scene.table.scales[index].size
    codes, ends, people = scene.table.quasi[index][first], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    if len(attained.keys):
        classes, code = np.divmod(attained.keys, size)
        bits = np.zeros((size, -(-scene.classes // 8)), dtype=np.uint8)  # for each code, the classes in which it is an end
        np.bitwise_or.at(bits, (code, classes // 8), (128 >> classes % 8).astype(np.uint8))
        for part, contains in scene.containing(first, bits, index):
            inside, at_end = np.nonzero(contains)
            fits, found = attained.fitting(at_end * size + codes[part[inside]])
            ends.append(found)
            people.append(part[inside[fits]])
    return np.concatenate(ends), np.concatenate(people)


def _persons_fitting(scene: Scene, ends: Ints, people: Ints, size: int) -> Ints:
    """Return how many persons fit each of ``size`` ends; ``ends`` and ``people`` are pairs as `_fitting` returns them."""
    rows, starts = grouped(scene.combinations[1])
    counts = np.diff(starts)[people]
    if scene.table.persons is None:  # each row is one
        return np.bincount(ends, weights=counts, minlength=size).astype(np.int64)
    at = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts - starts[people], counts)
    count = int(scene.persons.max()) + 1
    pairs = np.unique(np.repeat(ends, counts) * count + scene.persons[rows[at]])
    return np.bincount(pairs // count, minlength=size)
