"""Full-domain generalisation by brute force: every combination of levels, every class of it, from the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

Paths = Mapping[Any, Sequence[Any]]
"""For each value of a quasi-identifier the labels from the root down to it."""
Rows = Sequence[Sequence[Any]]
Levels = tuple[int, ...]


def level_counts(paths: Sequence[Paths]) -> list[int]:
    return [max(map(len, of_values.values())) for of_values in paths]


def label(path: Sequence[Any], level: int) -> Any:
    return path[min(level, len(path) - 1)]


def classes(rows: Rows, paths: Sequence[Paths], levels: Levels, columns: Sequence[int]) -> list[list[int]]:
    """Return the rows that have the same labels in some quasi-identifiers, each at its level."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for number, row in enumerate(rows):
        key = tuple(label(paths[column][row[column]], level) for column, level in zip(columns, levels, strict=True))
        found.setdefault(key, []).append(number)
    return list(found.values())


def passing(rows: Rows, paths: Sequence[Paths], columns: Sequence[int], satisfies: Callable[[list[int]], bool]) -> set[Levels]:
    """Return the levels at which every class satisfies the limits."""
    counts = level_counts(paths)
    nodes = product(*(range(counts[column]) for column in columns))
    return {node for node in nodes if all(satisfies(rows_of) for rows_of in classes(rows, paths, node, columns))}


def is_above(upper: Levels, lower: Levels) -> bool:
    """Whether one node generalises another: no level is farther from the root."""
    return all(a <= b for a, b in zip(upper, lower, strict=True))


def minimal(nodes: set[Levels]) -> set[Levels]:
    return {node for node in nodes if not any(other != node and is_above(node, other) for other in nodes)}


def left_after_suppression(
    rows_of: list[list[int]], satisfies: Callable[[list[int], list[int]], bool], everyone: list[int]
) -> list[list[int]]:
    """Return the classes that are left when those that fail, against all rows or against what is left, are suppressed in rounds."""
    while rows_of:
        among = [row for members in rows_of for row in members]
        fine = [members for members in rows_of if satisfies(members, everyone) and satisfies(members, among)]
        if len(fine) == len(rows_of):
            break
        rows_of = fine
    return rows_of


def gcp(rows: Rows, paths: Sequence[Paths], levels: Levels, weights: Sequence[Fraction], published: Sequence[int]) -> Fraction:
    """Return the information loss; a row that is not published loses everything."""
    total = Fraction(len(rows) - len(published))
    for column, (level, weight) in enumerate(zip(levels, weights, strict=True)):
        cells = {row[column] for row in rows}
        present = cells - {None}
        for number in published:
            own = label(paths[column][rows[number][column]], level)
            below = [cell for cell in present if label(paths[column][cell], level) == own]
            if level == 0:
                ncp = Fraction(len(cells) > 1)
            else:
                ncp = Fraction(len(below), len(present)) if len(below) > 1 else Fraction(0)
            total += ncp * weight / sum(weights)
    return total / len(rows)
