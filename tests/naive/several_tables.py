"""Several tables of the same rows, slow and obvious: association, groups, intersections, guesses."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence


def association(first: Sequence[int], second: Sequence[int]) -> float:
    """I(A; B) / sqrt(H(A) H(B)), from the definition of mutual information."""
    n = len(first)
    p, q, both = Counter(first), Counter(second), Counter(zip(first, second, strict=True))
    entropies = [-sum(count / n * math.log(count / n) for count in counted.values()) for counted in (p, q)]
    if min(entropies) == 0:
        return 0.0
    shared = sum(count / n * math.log(count * n / (p[a] * q[b])) for (a, b), count in both.items())
    return shared / math.sqrt(entropies[0] * entropies[1])


def association_groups(matrix: Sequence[Sequence[float]], enough: float = 0.05) -> list[list[int]]:
    """Join the two groups with the largest mean association, as long as it is enough and three or more groups are there."""
    groups = [[index] for index in range(len(matrix))]
    while len(groups) > 2:
        best, pair = -1.0, (0, 0)
        for a in range(len(groups)):
            for b in range(a + 1, len(groups)):
                pairs = [matrix[i][j] for i in groups[a] for j in groups[b]]
                if sum(pairs) / len(pairs) > best:
                    best, pair = sum(pairs) / len(pairs), (a, b)
        if best < enough:
            return groups
        joined = sorted(groups[pair[0]] + groups[pair[1]])
        groups = [joined if number == pair[0] else group for number, group in enumerate(groups) if number != pair[1]]
    return groups


def smallest_intersection(tables: Sequence[Sequence[int]]) -> int:
    """The fewest rows that are alike in all tables; rows that are suppressed (-1) in all of them do not count."""
    rows = [row for row in zip(*tables, strict=True) if any(label >= 0 for label in row)]
    return min(Counter(rows).values())


def best_guess(target: Sequence[int], known: Sequence[Sequence[int]]) -> float:
    """How often guessing the most frequent value among the rows that agree in what is known is right."""
    groups: dict[tuple[int, ...], Counter[int]] = {}
    for value, *rest in zip(target, *known, strict=True):
        groups.setdefault(tuple(rest), Counter())[value] += 1
    return sum(max(counted.values()) for counted in groups.values()) / len(target)
