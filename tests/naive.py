"""Slow, obvious twins of every kernel: plain lists, plain loops, fractions. Nothing here comes from tclose.

A distribution is a list of counts or fractions, one place a value; it need not sum to 1. A ground distance is a square list
of fractions. A tree is a label (a leaf) or a pair ``(label, [subtrees])``. A partition is a list of such distributions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import linprog

Number = Any  # an integer or a fraction
Masses = Sequence[Number]
Ground = list[list[Fraction]]
Tree = Any

# Ground distances


def ground_ordered(m: int) -> Ground:
    return [[Fraction(abs(i - j), m - 1) if m > 1 else Fraction(0) for j in range(m)] for i in range(m)]


def ground_numeric(values: Masses) -> Ground:
    spread = max(values) - min(values)
    return [[Fraction(abs(u - v)) / spread if spread else Fraction(0) for v in values] for u in values]


def ground_equal(m: int) -> Ground:
    return [[Fraction(int(i != j)) for j in range(m)] for i in range(m)]


def ground_tree(tree: Tree) -> Ground:
    """Height of the smallest subtree with both leaves in it, as a share of the whole tree's."""

    def meet(node: Tree, u: str, v: str) -> Tree:
        for child in children(node):
            if {u, v} <= set(leaves(child)):
                return meet(child, u, v)
        return node

    values = leaves(tree)
    return [[Fraction(height(meet(tree, u, v)), height(tree)) if u != v else Fraction(0) for v in values] for u in values]


def children(tree: Tree) -> list[Tree]:
    return [] if isinstance(tree, str) else tree[1]


def leaves(tree: Tree) -> list[str]:
    return [tree] if isinstance(tree, str) else [leaf for child in tree[1] for leaf in leaves(child)]


def height(tree: Tree) -> int:
    return 1 + max(height(child) for child in tree[1]) if children(tree) else 0


def paths(tree: Tree) -> list[list[str]]:
    """The labels from the root down to each leaf."""
    if isinstance(tree, str):
        return [[tree]]
    return [[tree[0], *path] for child in tree[1] for path in paths(child)]


# The earth mover's distance


def emd_lp(p: Masses, q: Masses, ground: Ground) -> float:
    """The definition: the cheapest flow whose row sums are P and whose column sums are Q (Li et al. 2007)."""
    m = len(p)
    rows = [[int(i == row) for i in range(m) for _ in range(m)] for row in range(m)]
    columns = [[int(j == column) for _ in range(m) for j in range(m)] for column in range(m)]
    result = linprog(
        np.array(ground, dtype=np.float64).ravel(),
        A_eq=np.array(rows + columns, dtype=np.float64),
        b_eq=np.array([*shares(p), *shares(q)], dtype=np.float64),
    )
    return float(result.fun)


def emd_ordered(p: Masses, q: Masses) -> Fraction:
    return emd_numeric(p, q, range(len(p)))


def emd_numeric(p: Masses, q: Masses, values: Masses) -> Fraction:
    """What crosses each gap between neighbours, times the gap."""
    s, n = sum(p), sum(q)
    crossing: Number = 0
    work: Number = 0
    for place in range(len(p) - 1):
        crossing += p[place] * n - q[place] * s
        work += abs(crossing) * (values[place + 1] - values[place])
    return Fraction(work) / (n * s * (values[-1] - values[0])) if len(p) > 1 else Fraction(0)


def emd_equal(p: Masses, q: Masses) -> Fraction:
    return sum((abs(a - b) for a, b in zip(shares(p), shares(q), strict=True)), Fraction(0)) / 2


def emd_tree(p: Masses, q: Masses, tree: Tree) -> Fraction:
    """At each node, what its children can level among themselves (Li et al. 2007, section 4.3)."""
    surplus = dict(zip(leaves(tree), (a - b for a, b in zip(shares(p), shares(q), strict=True)), strict=True))
    cost = Fraction(0)

    def extra(node: Tree) -> Fraction:
        nonlocal cost
        if isinstance(node, str):
            return surplus[node]
        extras = [extra(child) for child in children(node)]
        positive = sum((e for e in extras if e > 0), Fraction(0))
        negative = sum((-e for e in extras if e < 0), Fraction(0))
        cost += min(positive, negative) * Fraction(height(node), height(tree))
        return sum(extras, Fraction(0))

    extra(tree)
    return cost


def delta(masses: Masses, ground: Ground) -> Fraction:
    """The worst case of a fragment by its definition: all its mass on one of its own values."""
    inside = [v for v, mass in enumerate(masses) if mass]
    return max((sum((masses[u] * ground[u][v] for u in inside), Fraction(0)) for v in inside), default=Fraction(0))


def shares(counts: Masses) -> list[Fraction]:
    return [Fraction(count) / sum(counts) for count in counts]


# Partitions


def total(classes: Sequence[Masses]) -> list[Number]:
    return [sum(column) for column in zip(*classes, strict=True)]


def merge(classes: Sequence[Masses], first: int, second: int) -> list[Masses]:
    """The second class goes into the first."""
    union = total([classes[first], classes[second]])
    return [union if place == first else counts for place, counts in enumerate(classes) if place != second]


# Privacy models: what one class attains


def k(counts: Masses) -> Number:
    return sum(counts)


def share(counts: Masses) -> Fraction:
    return max(shares(counts))


def distinct_l(counts: Masses) -> int:
    return sum(count > 0 for count in counts)


def entropy_l(counts: Masses) -> float:
    return math.exp(-sum(float(p) * math.log(p) for p in shares(counts) if p))


def has_entropy_l(counts: Sequence[int], l: Fraction) -> bool:  # noqa: E741 - the name of the model
    """-sum p ln p >= ln l, each side to the power s and free of logarithms: s^s >= l^s prod c^c."""
    s = sum(counts)
    return bool(s**s >= l**s * math.prod(count**count for count in counts if count))


def recursive_c(counts: Masses, l: int) -> Fraction | float:  # noqa: E741
    descending = sorted(counts, reverse=True)
    tail = sum(descending[l - 1 :])
    return Fraction(descending[0]) / tail if tail else math.inf


def lift(counts: Masses, table: Masses) -> Fraction:
    return max(p / q for p, q in zip(shares(counts), shares(table), strict=True) if q)


def basic_beta(counts: Masses, table: Masses) -> Fraction:
    return max(((p - q) / q for p, q in zip(shares(counts), shares(table), strict=True) if p > q), default=Fraction(0))


def enhanced_beta(counts: Masses, table: Masses) -> Fraction | float:
    """As basic; no beta will do where the gain is above -ln q."""
    gains = [((p - q) / q, -math.log(q)) for p, q in zip(shares(counts), shares(table), strict=True) if p > q]
    return math.inf if any(gain > limit for gain, limit in gains) else basic_beta(counts, table)


def delta_strict(counts: Masses, table: Masses) -> float:
    pairs = [(p, q) for p, q in zip(shares(counts), shares(table), strict=True) if q]
    return max(abs(math.log(p / q)) if p else math.inf for p, q in pairs)


def delta_lenient(counts: Masses, table: Masses) -> float:
    return max(abs(math.log(p / q)) for p, q in zip(shares(counts), shares(table), strict=True) if p)


def homogeneous(counts: Masses, table: Masses) -> bool:
    return distinct_l(counts) == 1 and distinct_l(table) > 1


def nt(
    classes: Sequence[Masses], emd: Callable[[Masses, Masses], Fraction], n: int, regions: Sequence[set[int]]
) -> list[Fraction | float]:
    """(n,t)-closeness: for each class its distance to the nearest region that contains it and has n rows (Li et al. 2010)."""
    found: list[Fraction | float] = []
    for number, counts in enumerate(classes):
        around = [total([classes[member] for member in region]) for region in regions if number in region]
        found.append(min((emd(counts, region) for region in around if sum(region) >= n), default=math.inf))
    return found


# Divergences: measures that know no ground distance


def variational(p: Masses, q: Masses) -> float:
    return float(emd_equal(p, q))


def kullback_leibler(p: Masses, q: Masses) -> float:
    return sum(float(a) * math.log(a / b) for a, b in zip(shares(p), shares(q), strict=True) if a)


def jensen_shannon(p: Masses, q: Masses) -> float:
    middle = [(a + b) / 2 for a, b in zip(shares(p), shares(q), strict=True)]
    return (kullback_leibler(p, middle) + kullback_leibler(q, middle)) / 2
