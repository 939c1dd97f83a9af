"""Preview: what the rows of a column become on each level of its hierarchy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

EXAMPLES = 4
"""Labels of a level that are shown."""


class Level(NamedTuple):
    """One level of a hierarchy, over the rows of a column that have a value in it.

    Attributes
    ----------
    level : int
        0 for the values themselves, one more for each step up.
    labels : int
        How many labels of the level occur.
    fewest, most : int
        The rows of the label that has the fewest, or the most.
    small, small_rows : int
        How many labels have fewer than k rows, and the rows that have them.
    examples : list of str
        Some labels: the first ones and the last one, in the order of the hierarchy.
    """

    level: int
    labels: int
    fewest: int
    most: int
    small: int
    small_rows: int
    examples: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the level in plain types."""
        return self._asdict()


def preview(rows: Sequence[Sequence[str]], counts: Mapping[str, int], k: int) -> list[Level]:
    """Return the levels of a hierarchy over a column.

    Parameters
    ----------
    rows
        For each leaf its labels up to the root, in rows of equal length.
    counts
        How many rows of the table have each leaf.
    k
        Labels with fewer rows are small.
    """
    found = []
    occurring = [row for row in rows if counts.get(row[0], 0)]
    for level in range(len(rows[0])):
        sizes: dict[tuple[str, ...], int] = {}
        for row in occurring:
            node = tuple(row[level:])  # a label may stand at several places
            sizes[node] = sizes.get(node, 0) + counts[row[0]]
        small = [size for size in sizes.values() if size < k]
        labels = [node[0] for node in sizes]
        shown = labels if len(labels) <= EXAMPLES else [*labels[: EXAMPLES - 1], labels[-1]]
        found.append(
            Level(
                level, len(sizes), min(sizes.values(), default=0), max(sizes.values(), default=0), len(small), sum(small), shown
            )
        )
    return found
