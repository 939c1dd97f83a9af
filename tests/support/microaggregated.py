"""Small tables to draw for microaggregation, as problems and as their naive twins. All distances are sums of powers of 2."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from tclose import Hierarchy, Policy, Quasi, Sensitive
from tclose.distances import Equal, Ordered
from tclose.make.encode import EncodedTable
from tclose.make.problem import Problem
from tclose.make.scales import Line, Nominal, Scale, Tree
from tests import naive
from tests.naive.microaggregation import Column
from tests.support.attributes import attribute

LEAVES = ["a", "b", "c", "d"]
TREE = Hierarchy.from_mapping({"x": ["a", "b"], "c": None, "y": {"z": ["d"]}})
NAIVE_TREE = ("*", [("x", ["a", "b"]), "c", ("y", [("z", ["d"])])])
M = 4


class Kind(NamedTuple):
    """A kind of quasi-identifier: its scale, the coordinate of each code, and the distance of two; None for numbers."""

    scale: Scale
    coordinates: list[Any]
    distance: Any = None


def in_tree(a: Any, b: Any) -> float:
    """Codes, 4 for a missing cell."""
    return 0.0 if a == b else float(naive.ncp_tree([[*LEAVES, None][a], [*LEAVES, None][b]], LEAVES, NAIVE_TREE))


NUMBERS = list(range(2, 11))
KINDS = {
    "numbers": Kind(Line.of("q", NUMBERS)[0], [(number - 2) / 8 for number in NUMBERS]),
    "numbers, missing": Kind(Line.of("q", NUMBERS, missing=True)[0], [*((number - 2) / 8 for number in NUMBERS), None]),
    "grid": Kind(Line.of("q", [3, *range(4, 12)], snap=2)[0], [(low + 0.5 - 3) / 8 for low in (2, 4, 6, 8, 10)]),
    "tree": Kind(Tree.of("q", LEAVES, TREE)[0], [0, 1, 2, 3], in_tree),
    "tree, missing": Kind(Tree.of("q", LEAVES, TREE, missing=True)[0], [0, 1, 2, 3, 4], in_tree),
    "set": Kind(Nominal.of("q", "uvw", missing=True)[0], [0, 1, 2, 3], lambda a, b: float(a != b)),
    "constant": Kind(Line.of("q", [7])[0], [0.0]),
}
DISTANCES = {"ordered": Ordered(M), "equal": Equal(M)}
EMDS = {"ordered": naive.emd_ordered, "equal": naive.emd_equal}


class Drawn(NamedTuple):
    """A problem, and its twin."""

    problem: Problem
    table: naive.microaggregation.Table
    values: list[list[int]]
    asked: list[dict[str, Any]]

    @property
    def k(self) -> int:
        return self.problem.limits.k

    def counts(self, number: int, members: Sequence[int]) -> list[int]:
        return naive.counts_of([self.values[number][row] for row in members], range(M))

    def emd(self, number: int, members: Sequence[int]) -> Fraction:
        both = (self.counts(number, rows) for rows in (members, range(len(self.table.rows))))
        return EMDS[self.asked[number]["distance"]](*map(naive.shares, both))

    def holds(self, members: Sequence[int]) -> bool:
        """Whether a class satisfies every limit, in fractions."""
        close = (self.emd(number, members) <= asked.get("t", 1) for number, asked in enumerate(self.asked))
        diverse = (naive.distinct_l(self.counts(number, members)) >= asked.get("l", 1) for number, asked in enumerate(self.asked))
        return len(members) >= self.k and all(close) and all(diverse)

    def excess(self, members: Sequence[int]) -> float:
        """The sum over the attributes of max(0, EMD - t) and of the share of l that is missing."""
        total = 0.0
        for number, asked in enumerate(self.asked):
            own = max(0.0, float(self.emd(number, members)) - float(asked["t"])) if "t" in asked else 0.0
            total += own + max(0, asked.get("l", 1) - naive.distinct_l(self.counts(number, members))) / asked.get("l", 1)
        return total

    def steering(self, members: Sequence[int]) -> float:
        """The EMD, if one attribute has a t; otherwise the excess."""
        limited = [asked for asked in self.asked if "t" in asked]
        if len(limited) != 1:
            return self.excess(members)
        to_0 = [{**asked, "t": Fraction(0)} if "t" in asked else asked for asked in self.asked]
        return self._replace(asked=to_0).excess(members)


def problem_of(
    kinds: Sequence[str], codes: Sequence[Sequence[int]], values: Sequence[Sequence[int]], asked: Sequence[Any], **given: Any
) -> Drawn:
    """Rows with these codes and sensitive values; ``given`` are k and weights."""
    weights = given.pop("weights", None) or [1.0] * len(kinds)
    chosen = [KINDS[kind] for kind in kinds]
    sensitive = [Sensitive(f"s{number}", **limits) for number, limits in enumerate(asked)]
    policy = Policy([Quasi(f"q{place}", weight=weight) for place, weight in enumerate(weights)], sensitive, **given)
    columns = [np.array([row[place] for row in codes], dtype=np.uint16) for place in range(len(kinds))]
    attributes = [
        attribute(column, DISTANCES[column.distance], np.array(own)) for column, own in zip(sensitive, values, strict=True)
    ]
    table = EncodedTable(np.arange(len(codes)), [kind.scale for kind in chosen], columns, [], attributes, None, {})
    rows = [[kind.coordinates[code] for kind, code in zip(chosen, row, strict=True)] for row in codes]
    twin = [Column(weight, kind.distance) for weight, kind in zip(weights, chosen, strict=True)]
    return Drawn(Problem.of(table, policy), naive.microaggregation.Table(rows, twin), [list(own) for own in values], list(asked))


@st.composite
def problems(draw: st.DrawFn, attributes: int = 2, distances: Sequence[str] = ("ordered", "equal")) -> Drawn:
    rows = draw(st.integers(1, 16), "rows")
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=3), "kinds")
    codes = [tuple(draw(st.integers(0, KINDS[kind].scale.size - 1)) for kind in kinds) for _ in range(rows)]
    values, asked = [], []
    for _ in range(draw(st.integers(1, attributes), "attributes")):
        values.append(draw(st.lists(st.integers(0, M - 1), min_size=rows, max_size=rows)))
        own: dict[str, Any] = {"distance": draw(st.sampled_from(distances))}
        own |= draw(st.fixed_dictionaries({}, optional={"t": st.fractions(0, "3/4", max_denominator=20)}))
        asked.append(own | ({"l": 2} if draw(st.sampled_from([False, False, True])) else {}))
    weights = [draw(st.sampled_from([1.0, 0.5, 2.0])) for _ in kinds]
    return problem_of(kinds, codes, values, asked, k=draw(st.integers(1, 4), "k"), weights=weights)


def labels_of(classes: Sequence[Sequence[int]]) -> list[int]:
    """The class of each row."""
    owner = {row: number for number, members in enumerate(classes) for row in members}
    return [owner[row] for row in range(len(owner))]
