"""The groups of Wang's algorithms, slow and obvious."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def groups_by_distance(rows: Sequence[tuple[int, ...]], k: int, square: Callable[[int, int], float]) -> list[int]:
    """Start at the row farthest from where the group before started, and take the nearest rows; ties: the first ones."""
    groups = [-1] * len(rows)
    start = min(range(len(rows)), key=lambda row: (rows[row], row))
    for number in range(k):
        left = [row for row in range(len(rows)) if groups[row] < 0]
        before = start
        start = max(left, key=lambda row: (square(before, row), -row))
        size = len(rows) // k + (number < len(rows) % k)
        for row in sorted(left, key=lambda row: (square(start, row), row))[:size]:
            groups[row] = number
    return groups
