"""A distance of a known shape is one class: both sides find their way by the shape alone."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tclose import Hierarchy, Sensitive
from tclose.distances import Distance, Equal, Hierarchical, Matrix, Numeric
from tclose.distances.shapes import Line, Metric, Set, Tree
from tclose.judge.emd import denominators, exact_emd, float_emd, numerators
from tclose.judge.transport import plan
from tclose.make import emd
from tclose.make.encode import Attribute
from tclose.make.fragmentation.axes import axis_of
from tclose.make.kernels.limits import limits_of
from tclose.policy import Policy
from tclose.values.histograms import Histograms

TREE = Hierarchy.from_mapping({"*": {"lung": ["flu", "cold"], "gut": {"large": ["colitis"], "small": ["ulcer"]}}})
CIRCLE = [[0, 0.5, 1, 0.5], [0.5, 0, 0.5, 1], [1, 0.5, 0, 0.5], [0.5, 1, 0.5, 0]]
CLASSES = [[3, 0, 1, 2], [0, 5, 1, 1], [1, 1, 1, 0]]


class Stations(Line):
    name = "stations"

    def __init__(self) -> None:
        super().__init__([0, 1, 4, 9])


class Colours(Set):
    name = "colours"

    def __init__(self) -> None:
        super().__init__(4)


class Organs(Tree):
    name = "organs"

    def __init__(self) -> None:
        self.m, self.scale = 4, 3
        self.ancestors = np.array([[0, 0, 0, 0], [1, 1, 4, 4], [2, 3, 5, 7], [-1, -1, 6, 8]])
        self.weights = np.array([[0, 0, 0, 0], [2, 2, 1, 1], [1, 1, 1, 1], [0, 0, 1, 1]])


class Hours(Metric):
    name = "hours"

    def __init__(self) -> None:
        self.m, self.scale = 4, 2
        self.matrix = np.array([[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]])


def found(distance: Distance) -> list[Any]:
    """What both sides make of a distance."""
    classes, table = Histograms.of(CLASSES), np.array(CLASSES).sum(axis=0)
    shares = np.array([[Fraction(count, sum(counts)) for count in counts] for counts in CLASSES], dtype=object)
    axis = axis_of(distance, int(table.sum()))
    column: Any = Sensitive("s", t=Fraction(3, 10))
    attribute: Any = Attribute(column, distance, ["flu", "cold", "colitis", "ulcer"], None, np.arange(4), table)
    limits = limits_of([attribute], Policy(quasi=["q"], sensitive=[column], k=2))
    return [
        [[distance.ground(i, j) for j in range(4)] for i in range(4)],
        numerators(distance, classes).tolist(),
        denominators(distance, classes).tolist(),
        [exact_emd(distance, counts, table) for counts in CLASSES],
        [float_emd(distance, counts, table) for counts in CLASSES],
        [plan(distance, counts, table.tolist()) for counts in CLASSES],
        [emd.exact_emd(distance, np.array(counts), table) for counts in CLASSES],
        emd.emds(distance, shares, shares[0]).tolist(),
        [axis.delta(np.array(counts)) for counts in CLASSES],
        axis.published_unit,
        limits.attributes.tolist(),
        limits.shapes.tolist(),
        limits.references.tolist(),
    ]


@pytest.mark.parametrize(
    ("own", "known"),
    [
        (Stations(), Numeric([0, 1, 4, 9])),
        (Colours(), Equal(4)),
        (Organs(), Hierarchical(TREE, TREE.leaves)),
        (Hours(), Matrix(CIRCLE)),
    ],
    ids=lambda distance: distance.name,
)
def test_a_distance_of_a_known_shape_needs_nothing_but_its_class(own: Distance, known: Distance) -> None:
    assert found(own) == found(known)
