"""Outermost people: those who alone have the least or the greatest number or date of their class, whatever is published.

Without them the class would be narrower: they may have been taken for their sensitive value (minimality, Wong et al. 2007). They
are also unlike the others of their class, so what is learned from all classes tells them apart. Both make them easier to guess
for an attacker who knows everybody's class. Here the two are told apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tclose.make.encode import Attribute
from tclose.make.scales.intervals import IntervalTree
from tclose.make.scales.line import Line
from tclose.study.attacks.believed import at_truth
from tclose.study.attacks.learning import Learned
from tclose.study.scene import Scene, one_person
from tclose.values.arrays import Bools, Floats, Ints, grouped

RESAMPLES = 1000
"""How often classes are drawn anew, with replacement, for an interval."""


@dataclass(frozen=True)
class Beyond:
    """How much more often the attacker is right with everybody's class than by the model alone: outermost people minus others.

    Attributes
    ----------
    difference : float
    interval : pair of float
        95%, by drawing classes with replacement.
    dealt : float
        The difference to be expected if the values of each class went to its people by what was learned, and by nothing else:
        outermost people are unlike the others of their class.
    chosen : float
        The rest: what is given away because they were taken into the class for their value.
    chosen_interval : pair of float
    """

    difference: float
    interval: tuple[float, float]
    dealt: float
    chosen: float
    chosen_interval: tuple[float, float]


def find_outermost(scene: Scene) -> Bools:
    """Return which rows are of a person who alone has the least or the greatest number or date of their class."""
    rows, starts = grouped(np.maximum(scene.labels, -1))
    labels, persons = scene.labels[rows], scene.persons[rows]
    found = np.zeros(scene.table.rows, dtype=np.bool_)
    for scale, codes in zip(scene.table.scales, scene.table.quasi, strict=True):
        if not isinstance(scale, Line | IntervalTree):
            continue
        values = scene.raw.get(scale.name, codes)[rows]
        for end in (np.minimum, np.maximum):
            there = values == end.reduceat(values, starts[:-1])[labels]
            alone = one_person(labels[there], persons[there], persons[there], scene.classes)
            found[rows[there]] |= alone[labels[there]]
    return found


def beyond_model(scene: Scene, attribute: Attribute, learned: Learned, outermost: Bools) -> Beyond | None:
    """Return how much more the class gives away of outermost people than of others; None where there are none of either.

    Parameters
    ----------
    outermost : (members,) bool
    """
    if outermost.all() or not outermost.any():
        return None
    truth = attribute.codes[scene.members].astype(np.int64)
    with_class, by_model = learned.chances.argmax(axis=1), learned.by_model[scene.members]
    gained = (with_class == truth).astype(np.float64) - (by_model == truth)
    dealt = at_truth(learned.chances, with_class) - at_truth(learned.chances, by_model)
    labels = scene.labels[scene.members]
    difference, interval = compare_by_class(gained, outermost, labels)
    chosen, chosen_interval = compare_by_class(gained - dealt, outermost, labels)
    return Beyond(difference, interval, difference - chosen, chosen, chosen_interval)


def compare_by_class(values: Floats, some: Bools, labels: Ints) -> tuple[float, tuple[float, float]]:
    """Return the mean of some rows minus that of the others, and its 95% interval by drawing classes with replacement.

    People of a class are not independent: one of them has the value that another has not.
    """
    columns = (some * values, some, ~some * values, ~some)
    sums = np.stack([np.bincount(labels, weights=column) for column in columns], axis=1)
    sums = sums[(sums[:, 1] + sums[:, 3]) > 0]
    rng, even = np.random.default_rng(0), np.full(len(sums), 1 / len(sums))
    drawn = np.stack([rng.multinomial(len(sums), even) @ sums for _ in range(RESAMPLES)])
    drawn = drawn[(drawn[:, 1] > 0) & (drawn[:, 3] > 0)]
    low, high = np.quantile(_differences(drawn), [0.025, 0.975])
    return float(_differences(sums.sum(axis=0)[None])[0]), (float(low), float(high))


def _differences(sums: Floats) -> Floats:
    """Return the difference of means of each row of sums: of some values, how many they are, of the others, how many they are."""
    found: Floats = sums[:, 0] / sums[:, 1] - sums[:, 2] / sums[:, 3]
    return found
