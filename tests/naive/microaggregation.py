"""Slow, obvious twins of microaggregation: MDAV, and the three ways to make its classes close to the table.

Nothing here comes from tclose. A row is a tuple with one coordinate for each quasi-identifier: a number from 0 to 1, None if it is missing,
or any value without an order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

Point = Sequence[Any]


class Column(NamedTuple):
    """One quasi-identifier: its weight, and the distance of two of its values; None for numbers."""

    weight: float
    distance: Callable[[Any, Any], float] | None = None

    def apart(self, a: Any, b: Any) -> float:
        if self.distance is not None:
            return self.distance(a, b)
        if a is None or b is None:
            return float(a is not b)
        return float(abs(a - b))

    def centre(self, values: Sequence[Any]) -> Any:
        if self.distance is None:
            present = [value for value in values if value is not None]
            return None if 2 * len(present) < len(values) else sum(present) / len(present)
        return min(sorted(set(values)), key=lambda value: sum(self.apart(value, other) ** 2 for other in values))


class Table(NamedTuple):
    """Rows and quasi-identifiers."""

    rows: Sequence[Point]
    columns: Sequence[Column]

    def squared(self, a: Point, b: Point) -> float:
        total = 0.0
        for column, x, y in zip(self.columns, a, b, strict=True):
            total += column.weight * column.apart(x, y) * column.apart(x, y)
        return total

    def centroid(self, members: Sequence[int]) -> list[Any]:
        return [column.centre([self.rows[row][place] for row in members]) for place, column in enumerate(self.columns)]

    def by_distance(self, seed: int, rows: Sequence[int]) -> list[int]:
        return sorted(rows, key=lambda row: (self.squared(self.rows[seed], self.rows[row]), row))


def classes_around_seeds(table: Table, build: Callable[[int, list[int]], list[int]]) -> list[list[int]]:
    """Classes around the row farthest from the centroid of the rows left, then around the row farthest from that one, in turn."""
    left, seed = list(range(len(table.rows))), -1
    classes: list[list[int]] = []
    while left:
        middle = table.rows[seed] if len(classes) % 2 else table.centroid(left)
        seed = max(left, key=lambda row: (table.squared(middle, table.rows[row]), -row))
        classes.append(build(seed, left))
        left = [row for row in left if row not in classes[-1]]
    return classes


def mdav(table: Table, k: int) -> list[list[int]]:
    return classes_around_seeds(table, lambda seed, left: left if len(left) < 2 * k else table.by_distance(seed, left)[:k])


def swapped(table: Table, k: int, holds: Callable[[list[int]], bool], excess: Callable[[list[int]], float]) -> list[list[int]]:
    """Each class swaps members for the next nearest rows, one look at each, while it breaks a limit and the excess falls."""

    def build(seed: int, left: list[int]) -> list[int]:
        if len(left) < 2 * k:
            return left
        order = table.by_distance(seed, left)
        members = order[:k]
        for row in order[k:]:
            if holds(members):
                break
            others = [[*members[:place], row, *members[place + 1 :]] for place in range(k)]
            best = min(others, key=excess)
            members = best if excess(best) < excess(members) else members
        return members

    return classes_around_seeds(table, build)


def cluster_size(rows: int, k: int, t: Fraction) -> int:
    size = max(k, math.ceil(Fraction(rows) / (2 * (rows - 1) * t + 1)))
    return size + (rows % size) // (rows // size)


def from_buckets(table: Table, values: Sequence[int], size: int) -> list[list[int]]:
    """Each class takes the nearest row of every bucket of values, and the first ones a row that is left over in the middle."""
    order = sorted(range(len(values)), key=lambda row: (values[row], row))
    each, over = len(values) // size, len(values) % size
    middle = [size // 2] if size % 2 else [size // 2 - 1, size // 2]
    extra = [0] * size
    for number in range(over):
        extra[middle[number % len(middle)]] += 1
    buckets = []
    for number in range(size):
        buckets.append(order[: each + extra[number]])
        order = order[each + extra[number] :]

    def build(seed: int, left: list[int]) -> list[int]:
        there = [[row for row in bucket if row in left] for bucket in buckets]
        members = [table.by_distance(seed, bucket)[0] for bucket in there]
        classes = min(map(len, there))  # this one and those to come
        free = [row for bucket in there if len(bucket) > classes for row in bucket if row not in members]
        return members + table.by_distance(seed, free)[:1]

    return classes_around_seeds(table, build)


def merged(
    table: Table, classes: Sequence[list[int]], holds: Callable[[list[int]], bool], excess: Callable[[list[int]], float]
) -> list[list[int]]:
    """The failing class with the largest excess joins the class with the nearest centroid, until none fails or one is left."""
    alive = dict(enumerate(classes))
    while len(alive) > 1:
        bad = [number for number in alive if not holds(alive[number])]
        if not bad:
            break
        worst = max(bad, key=lambda number: (excess(alive[number]), -number))
        centre = table.centroid(alive[worst])
        away = {number: table.squared(centre, table.centroid(alive[number])) for number in alive if number != worst}
        nearest = min(away, key=lambda number: (away[number], number))
        first, last = sorted((worst, nearest))
        alive[first] = alive[first] + alive.pop(last)
    return [alive[number] for number in sorted(alive)]
