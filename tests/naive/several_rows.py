"""What the classes of all rows of a person leave of a value, by loops over rows and classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def certain(
    whose: Sequence[Any], quasi: Sequence[Sequence[int]], values: Sequence[Any], labels: Sequence[int], person: Any
) -> bool:
    """Whether the value of a person is the only one in the classes that fit each of their rows; suppressed rows are not known.

    A row has the class -1 if it is suppressed, and another negative number if its person was held back.
    """
    rows = [row for row in range(len(whose)) if whose[row] == person and labels[row] != -1]
    left = {values[row] for row in range(len(whose)) if labels[row] >= 0}
    for row in rows:
        found = set()
        for label in set(labels):
            inside = [other for other in range(len(whose)) if labels[other] == label]
            if label >= 0 and all(min(of[i] for i in inside) <= of[row] <= max(of[i] for i in inside) for of in quasi):
                found |= {values[other] for other in inside}
        if found:
            left &= found
    return all(left == {values[row]} for row in rows)
