"""The depth of the buckets of SABRE, and the rows of its classes, slow and obvious."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def first_with_most_classes(sizes: Sequence[Sequence[object]]) -> int:
    """The depth that is taken, from the classes that each depth gives."""
    numbers = [len(classes) for classes in sizes]
    return numbers.index(max(numbers))


def fill_nearest(
    order: Sequence[int], bucket: Sequence[int], wanted: Sequence[Sequence[int]], distance: Callable[[int, int], float]
) -> list[int]:
    """A class starts at the first row left; of each bucket it takes the nearest rows left; ties: the first ones."""
    labels = [-1] * len(order)
    for number, takes in enumerate(wanted):
        middle = next(row for row in order if labels[row] < 0)
        for place, needed in enumerate(takes):
            left = [row for row in order if labels[row] < 0 and bucket[row] == place]
            for row in sorted(left, key=lambda row: distance(middle, row))[:needed]:
                labels[row] = number
    return labels
