"""Small tables to draw whose classes can be made better: what rows lose and what a class must keep, for kernels and naive twins."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from tclose import Hierarchy, Policy, Sensitive
from tclose.distances import Distance, Equal, Hierarchical, Ordered
from tclose.make.encode import Attribute
from tclose.make.growth.neighbourhood import given, measured
from tclose.make.kernels.classes import Classes
from tclose.make.kernels.limits import limits_of
from tclose.make.kernels.loss import loss_table
from tclose.make.scales import Widths
from tests import naive
from tests.support.widths import TREE, Row, line

# A line, a line of intervals, and a tree whose last code stands for missing cells; all losses are sums of powers of 2.

INTERVALS = Widths(np.full(8, 1 / 8), np.arange(8) / 8, np.arange(1, 9) / 8, False, np.empty((0, 8), dtype=np.int32), np.empty(0))
SIZES = (9, 8, 4)
WIDTHS = (line(9), INTERVALS, TREE)
WEIGHTS = (1.0, 0.5, 1.0)


def width(place: int, a: int, b: int) -> Fraction:
    if place == 0:
        return Fraction(b - a, 8)
    if place == 1:
        return Fraction(b + 1 - a, 16)
    return Fraction(0) if a == b else Fraction(1, 2) if (a, b) == (0, 1) else Fraction(1)


M = 4
DISEASES = {"*": {"x": ["a", "b"], "y": ["c", "d"]}}
DISTANCES: dict[str, Distance] = {
    "ordered": Ordered(M),
    "equal": Equal(M),
    "hierarchical": Hierarchical(Hierarchy.from_mapping(DISEASES), list("abcd")),
}
EMDS: dict[str, Callable[[Any, Any], Fraction]] = {
    "ordered": naive.emd_ordered,
    "equal": naive.emd_equal,
    "hierarchical": lambda p, q: naive.emd_tree(p, q, ("*", [("x", ["a", "b"]), ("y", ["c", "d"])])),
}


class Table:
    """Rows of up to three quasi-identifiers, their sensitive values, and the limits of a class.

    ``columns`` holds for each sensitive attribute the codes of the rows, its distance, its limits, and rows of the table beside
    those of which classes are made: with some, classes must be close to both tables.
    """

    def __init__(
        self, rows: Sequence[Row], *columns: tuple[Sequence[int], str, dict[str, Any], list[int]], k: int = 1, persons: Any = None
    ) -> None:
        self.rows, self.k, self.persons = list(rows), k, persons
        self.quasi = np.array(rows, dtype=np.int32)
        self.losses = loss_table(WIDTHS[: len(rows[0])], WEIGHTS[: len(rows[0])])
        self.attributes = []
        for number, (codes, name, asked, more) in enumerate(columns):
            kind: Any = {"hierarchy": DISEASES} if name == "hierarchical" else {"distance": name}
            column, values, here = Sensitive(f"s{number}", **kind, **asked), list("abcd"), np.array(codes)
            counts = np.bincount(here, minlength=M).astype(np.int64)
            for table in [counts, counts + more] if any(more) else [counts]:
                self.attributes.append(Attribute(column, DISTANCES[name], values, pa.array(values), here, table))
        policy = Policy(
            ["q"], list({one.column.name: one.column for one in self.attributes}.values()), k=k, unit=persons and "who"
        )
        self.limits = limits_of(self.attributes, policy, None if persons is None else np.array(persons))
        self.given = given(self.quasi, self.losses, self.limits)
        self._known: dict[frozenset[int], bool] = {}

    def holds(self, members: Sequence[int]) -> bool:
        """Whether rows may be a class, by the naive twins."""
        key = frozenset(members)
        if key not in self._known:
            persons = members if self.persons is None else [self.persons[row] for row in members]
            self._known[key] = len(set(persons)) >= self.k and all(self._fits(one, members) for one in self.attributes)
        return self._known[key]

    def _fits(self, one: Attribute, members: Sequence[int]) -> bool:
        counts, table, column = naive.counts_of([one.codes[row] for row in members], range(M)), one.counts.tolist(), one.column
        return bool(
            (column.t is None or EMDS[one.distance.name](counts, table) <= column.t)
            and (column.l is None or naive.distinct_l(counts) >= column.l)
            and (column.beta is None or naive.basic_beta(counts, table) <= column.beta)
        )

    def merged(self, labels: Sequence[int]) -> list[int]:
        """Classes that hold, out of these, numbered without gaps; one class where the table itself does not hold."""
        classes = [[row for row, label in enumerate(labels) if label == number] for number in sorted(set(labels))]
        found = naive.merge_failing(classes, self.holds, lambda members: naive.box_loss(self.rows, members, width))
        return [next(number for number, members in enumerate(found) if row in members) for row in range(len(labels))]

    def all_hold(self, labels: Sequence[int]) -> bool:
        """Whether each class holds; all rows together need not."""
        classes = [[row for row, label in enumerate(labels) if label == number] for number in set(labels)]
        return len(classes) == 1 or all(map(self.holds, classes))

    def lost(self, labels: Sequence[int]) -> Any:
        return naive.loss_of(self.rows, labels, width)


def people(ages: Sequence[int], salaries: Sequence[int], k: int = 1, **limits: Any) -> Table:
    """A table of one quasi-identifier, nine ages, and one sensitive attribute with all values as far apart as can be."""
    return Table([(age,) for age in ages], (salaries, "equal", limits, [0] * M), k=k)


def stood(table: Table, labels: Sequence[int]) -> Classes:
    """Classes with these labels, measured."""
    return measured(table.given, np.array(labels))


def assert_measured(table: Table, classes: Classes) -> None:
    """Boxes and losses are those of the classes as they are."""
    filled = classes.each["size"] > 0
    fresh = stood(table, labels_without_gaps(classes.rows["label"].tolist()))
    count = np.count_nonzero(filled)
    np.testing.assert_array_equal(classes.edges[filled], fresh.edges[:count])
    np.testing.assert_array_equal(classes.each["loss"][filled], fresh.each["loss"][:count])
    assert not classes.each["loss"][~filled].any()


def labels_without_gaps(labels: list[int]) -> list[int]:
    return [sorted(set(labels)).index(label) for label in labels]


def lists(classes: Classes) -> list[list[int]]:
    """The rows of each class, in the order of the lists; read forwards, and checked backwards. Numbers to spare have none."""
    found = []
    for head in classes.each["head"].tolist():
        members, before, row = [], -1, head
        while row >= 0:
            assert classes.rows["previous"][row] == before
            members.append(row)
            before, row = row, int(classes.rows["next"][row])
        found.append(members)
    assert [len(members) for members in found] == classes.each["size"].tolist()
    assert all(classes.rows["label"][row] == number for number, members in enumerate(found) for row in members)
    return found


LIMITS = st.fixed_dictionaries(
    {"t": st.sampled_from([None, Fraction(0), Fraction(1, 4), Fraction(2, 5), Fraction(1, 2)])},
    optional={"l": st.sampled_from([1, 2]), "beta": st.sampled_from([Fraction(1), Fraction(3)])},
)
MORE = st.one_of(st.just([0] * M), st.lists(st.integers(0, 2), min_size=M, max_size=M))


@st.composite
def tables(draw: st.DrawFn, most: int = 24) -> tuple[Table, list[int]]:
    """A table of 1 to ``most`` rows, and random labels of classes, which need not satisfy the limits."""
    rows = draw(st.one_of(st.integers(1, 4), st.integers(most // 2, most)))
    quasi = draw(st.integers(1, len(SIZES)))
    rng = random.Random(draw(st.integers(0, 2**32)))  # drawn one by one, most cells would be the same

    def numbers(below: int) -> list[int]:
        return [rng.randrange(below) for _ in range(rows)]

    codes = [numbers(size) for size in SIZES[:quasi]]
    kinds = draw(st.lists(st.sampled_from(sorted(DISTANCES)), min_size=1, max_size=2))
    columns = [(numbers(draw(st.integers(1, M))), kind, draw(LIMITS), draw(MORE)) for kind in kinds]
    persons = numbers(12) if draw(st.booleans()) else None
    table = Table(list(zip(*codes, strict=True)), *columns, k=draw(st.integers(1, 3)), persons=persons)
    return table, numbers(8)


def many(rows: int = 600) -> tuple[Table, list[int]]:
    """A random table, and classes of six rows that satisfy the limits."""
    rng = random.Random(0)
    quasi = [tuple(rng.randrange(size) for size in SIZES) for _ in range(rows)]
    ordered = [row % M for row in range(rows)], "ordered", {"t": Fraction(1, 4)}, [0] * M
    equal = [row % 3 for row in range(rows)], "equal", {"l": 2}, [0] * M
    return Table(quasi, ordered, equal, k=3), [row // 6 for row in range(rows)]
