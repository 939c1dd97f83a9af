"""Slow, obvious twins of every kernel: plain lists, plain loops, fractions. Nothing here comes from tclose.

A distribution is a list of counts or fractions, one place a value; it need not sum to 1. A ground distance is a square list
of fractions. A tree is a label (a leaf) or a pair ``(label, [subtrees])``. A partition is a list of such distributions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise, product
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


def with_missing(cells: Sequence[int | None], distance: str) -> dict[int | None, Fraction]:
    """The place of each value that occurs; missing cells stand after the greatest, by the mean step from value to value."""
    numbers = sorted({cell for cell in cells if cell is not None})
    places: dict[int | None, Fraction] = {
        number: Fraction(number if distance == "numeric" else place) for place, number in enumerate(numbers)
    }
    steps = [places[high] - places[low] for low, high in pairwise(numbers)]
    last = places[numbers[-1]]
    return {**places, None: last + (sum(steps, Fraction(0)) / len(steps) if steps else Fraction(1))}


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


def joint(part: Sequence[tuple[Any, ...]], rows: Sequence[tuple[Any, ...]], domains: Sequence[Sequence[Any]]) -> Fraction:
    """The joint test of a class: all tuples there could be, in lexicographic order, one step apart (Bagai et al. 2023, 2.4)."""
    places = list(product(*domains))
    return emd_ordered(counts_of(part, places), counts_of(rows, places))


# Divergences: measures that know no ground distance


def variational(p: Masses, q: Masses) -> float:
    return float(emd_equal(p, q))


def kullback_leibler(p: Masses, q: Masses) -> float:
    return sum(float(a) * math.log(a / b) for a, b in zip(shares(p), shares(q), strict=True) if a)


def jensen_shannon(p: Masses, q: Masses) -> float:
    middle = [(a + b) / 2 for a, b in zip(shares(p), shares(q), strict=True)]
    return (kullback_leibler(p, middle) + kullback_leibler(q, middle)) / 2


# Scales: how a class of raw values, None where a cell is missing, is published, and what that is charged


def present(values: Sequence[Any]) -> list[Any]:
    return [value for value in values if value is not None]


def ends(value: Number, snap: Number, top: Number, bottom: Number) -> tuple[Number, Number]:
    """What is published of one number: itself, its cell of the grid as far as it lies between the limits, or a limit.

    The cell of a whole number ends at its last whole number.
    """
    if bottom is not None and value <= bottom:
        return bottom, bottom
    if top is not None and value >= top:
        return top, top
    if snap is None:
        return value, value
    low = math.floor(value / Fraction(snap)) * Fraction(snap)
    high = low + Fraction(snap)
    step = 0
    if isinstance(value, int):
        low, high, step = math.ceil(low), math.ceil(high) - 1, 1
    return (
        low if bottom is None else max(low, bottom + step),
        high if top is None else min(high, top - step),
    )


def ncp_line(values: Sequence[Any], table: Sequence[Any], snap: Number, top: Number, bottom: Number) -> Fraction:
    """(high - low) / (max - min) as published; what is beyond a limit reaches to the end of the table."""
    if not present(values):
        return Fraction(0)
    if None in values:
        return Fraction(1)
    least, most = min(present(table)), max(present(table))
    if least == most:
        return Fraction(0)
    lows = [least if bottom is not None and value <= bottom else ends(value, snap, top, bottom)[0] for value in values]
    highs = [
        most
        if top is not None and value >= top and not (bottom is not None and value <= bottom)
        else ends(value, snap, top, bottom)[1]
        for value in values
    ]
    return min(Fraction(1), (Fraction(max(highs)) - Fraction(min(lows))) / (Fraction(most) - Fraction(least)))


def middle(value: Number, snap: Number, top: Number, bottom: Number) -> Fraction:
    return Fraction(sum(map(Fraction, ends(value, snap, top, bottom)))) / 2


def centroid(values: Sequence[Any], snap: Number, top: Number, bottom: Number) -> Fraction:
    """The mean, to six decimals, halves rounded up."""
    mean = sum(middle(value, snap, top, bottom) for value in present(values)) / len(present(values))
    return Fraction(math.floor(mean * 10**6 + Fraction(1, 2)), 10**6)


def squares(values: Sequence[Any], table: Sequence[Any], centre: Number, snap: Number, top: Number, bottom: Number) -> Fraction:
    """Of the distances to what is published, in ranges of the table; 1 for a cell that is missing beside values."""
    spread = Fraction(max(present(table))) - Fraction(min(present(table)))
    away = [((middle(value, snap, top, bottom) - centre) / spread) ** 2 if spread else Fraction(0) for value in present(values)]
    return sum(away, Fraction(0)) + len(values) - len(present(values))


def lowest(tree: Tree, values: Sequence[str]) -> Tree:
    """The smallest subtree with all these leaves in it."""
    for child in children(tree):
        if set(values) <= set(leaves(child)):
            return lowest(child, values)
    return tree


def ncp_tree(values: Sequence[Any], table: Sequence[Any], tree: Tree) -> Fraction:
    if not present(values):
        return Fraction(0)
    if None in values:
        return Fraction(1)
    below = set(leaves(lowest(tree, values))) & set(table)
    return Fraction(len(below), len(set(present(table)))) if len(below) > 1 else Fraction(0)


def lm_tree(values: Sequence[Any], table: Sequence[Any], tree: Tree) -> Fraction:
    if not present(values):
        return Fraction(0)
    if None in values:
        return Fraction(1)
    below = set(leaves(lowest(tree, values))) & set(table)
    return Fraction(len(below) - 1, len(set(present(table))) - 1) if len(below) > 1 else Fraction(0)


def ncp_set(values: Sequence[Any], table: Sequence[Any]) -> Fraction:
    return Fraction(len(set(values)), len(set(table))) if len(set(values)) > 1 else Fraction(0)


def lm_set(values: Sequence[Any], table: Sequence[Any]) -> Fraction:
    return Fraction(len(set(values)) - 1, len(set(table)) - 1) if len(set(values)) > 1 else Fraction(0)


def estimate(classes: Sequence[Sequence[int]], covers: Sequence[set[int]], size: int) -> list[Fraction]:
    """Each class's rows, spread evenly over the codes that its published value covers."""
    found = [Fraction(0)] * size
    for codes, cover in zip(classes, covers, strict=True):
        for code in cover:
            found[code] += Fraction(len(codes), len(cover))
    return found


def gcp(charges: Sequence[Sequence[Fraction]], weights: Masses, suppressed: int) -> Fraction:
    """The mean over rows of the weighted mean over attributes; ``charges`` has a list of one charge a row for each attribute."""
    rows = len(charges[0]) + suppressed
    means = [(sum(charge, Fraction(0)) + suppressed) / rows for charge in charges]
    return sum((weight * mean for weight, mean in zip(weights, means, strict=True)), Fraction(0)) / sum(weights)


# Releases: whether some rows may be a class, from their raw values


def counts_of(values: Sequence[Any], domain: Sequence[Any]) -> list[int]:
    return [sum(value == other for value in values) for other in domain]


def bin_of(value: Number, width: Number) -> tuple[Number, Number]:
    """The half-open interval of a grid around a number."""
    low = math.floor(Fraction(value) / width) * width
    return low, low + width


def bin_between(value: Number, edges: Masses) -> tuple[Number, Number]:
    """The half-open interval between edges around a number; the outermost have no end."""
    below = [edge for edge in edges if edge <= value]
    above = [edge for edge in edges if edge > value]
    return (max(below) if below else -math.inf), (min(above) if above else math.inf)


def roundness(number: int) -> tuple[int, int]:
    """How round a whole number is: the zeros at its end, then a 5 before an even digit before an odd one."""
    digits = str(abs(number)).rstrip("0")
    if not digits:
        return 1_000, 0  # 0 is the roundest
    return len(str(abs(number))) - len(digits), 2 if digits[-1] == "5" else 1 if digits[-1] in "2468" else 0


def roundest(above: int, up_to: int) -> int:
    """The roundest whole number of a gap, and the largest of those: all are tried."""
    return max(range(above + 1, up_to + 1), key=lambda number: (roundness(number), number))


def broken_l(counts: Masses, l: Fraction, kind: str, c: Fraction | None) -> bool:  # noqa: E741 - the name of the model
    if kind == "distinct":
        return distinct_l(counts) < l
    if kind == "entropy":
        return not has_entropy_l([count for count in counts if count], Fraction(l))
    assert c is not None
    return recursive_c(counts, int(l)) >= c


def persons_of(values: Sequence[Any], persons: Sequence[Any], domain: Sequence[Any]) -> list[int]:
    """How many persons have each value."""
    return [len({person for person, value in zip(persons, values, strict=True) if value == other}) for other in domain]


def fewest_left_out(counts: Sequence[int], holds: Callable[[list[int]], bool]) -> int | None:
    """How many rows must go, whichever they are, until the rest holds; None where no rest does."""
    rests: list[list[int]] = [[]]
    for count in counts:
        rests = [[*rest, stays] for rest in rests for stays in range(count + 1)]
    return min((sum(counts) - sum(rest) for rest in rests if sum(rest) and holds(rest)), default=None)


# Classes and Mondrian: a row is a tuple of codes, one for each quasi-identifier


def by_persons(rows: Sequence[tuple[int, int]], m: int) -> list[int]:
    """How many different persons have each value; a row is a pair of person and value."""
    return [len({person for person, value in rows if value == place}) for place in range(m)]


def mondrian(
    rows: Sequence[tuple[int, ...]],
    width: Callable[[int, int, int], Number],
    fits: Callable[[list[int], list[list[int]]], bool],
    k: int,
    steps: int = 64,
    around: Sequence[list[int]] = (),
    members: list[int] | None = None,
) -> list[list[int]]:
    """Row numbers of each class: cut in two at the first boundary whose sides fit, and then each side by itself.

    ``fits(side, around)`` is told the nodes around a side, the node that is cut among them.
    """
    members = list(range(len(rows))) if members is None else members
    around = [*around, members]
    for place, boundary in cuts(rows, members, width, k, steps):
        sides = [row for row in members if rows[row][place] <= boundary], [row for row in members if rows[row][place] > boundary]
        if all(fits(side, around) for side in sides):
            return [part for side in sides for part in mondrian(rows, width, fits, k, steps, around, side)]
    return [members]


def cuts(
    rows: Sequence[tuple[int, ...]], members: list[int], width: Callable[[int, int, int], Number], k: int, steps: int
) -> list[tuple[int, int]]:
    """Where a node may be cut, in order: the median of each quasi-identifier, widest first, then their other boundaries."""
    first, others = [], []
    columns = {place: [rows[row][place] for row in members] for place in range(len(rows[0]))}
    for place in sorted(columns, key=lambda place: -width(place, min(columns[place]), max(columns[place]))):
        codes, size = columns[place], len(members)
        left = {code: sum(other <= code for other in codes) for code in sorted(set(codes))[:-1]}
        tried: list[int] = []
        for code in sorted(left, key=lambda code: (abs(2 * left[code] - size), left[code])):
            same_side = [left[other] for other in tried if (2 * left[other] < size) == (2 * left[code] < size)]
            near = any(abs(left[code] - other) < size // steps for other in same_side)
            if min(left[code], size - left[code]) >= k and not near:
                tried.append(code)
        first += [(place, code) for code in tried[:1]]
        others += [(place, code) for code in tried[1:]]
    return first + others


# Merging: a class is a list of row numbers


def merge_failing(
    classes: Sequence[list[int]], holds: Callable[[list[int]], bool], lost: Callable[[list[int]], float]
) -> list[list[int]]:
    """Each class that fails, in turn, goes to the class with which the loss rises least, and on until what it becomes holds."""
    alive: dict[int, list[int]] = dict(enumerate(classes))
    for start in range(len(classes)):
        number = start
        while number in alive and not holds(alive[number]) and len(alive) > 1:
            rises = {}
            for other, members in alive.items():
                both = alive[number] + members
                before = len(alive[number]) * lost(alive[number]) + len(members) * lost(members)
                rises[other] = len(both) * lost(both) - before
            partner = min((other for other in alive if other != number), key=lambda other: (rises[other], other))
            alive[partner] = sorted(alive[partner] + alive.pop(number))
            number = partner
    return list(alive.values())


# Losses of classes: a row is a tuple of codes, ``width(place, low, high)`` what a range loses

Width = Callable[[int, int, int], Number]


def box_loss(rows: Sequence[tuple[int, ...]], members: Sequence[int], width: Width) -> Number:
    """What each of these rows loses by the box around them."""
    columns = zip(*(rows[row] for row in members), strict=True)
    return sum(width(place, min(codes), max(codes)) for place, codes in enumerate(columns))


def loss_of(rows: Sequence[tuple[int, ...]], labels: Sequence[int], width: Width) -> Number:
    """What all rows lose by the boxes of their classes."""
    classes = [[row for row, label in enumerate(labels) if label == number] for number in set(labels)]
    return sum(len(members) * box_loss(rows, members, width) for members in classes)


# Association


def determination(known: Sequence[int], other: Sequence[int]) -> Fraction:
    """How much more often than any two rows those with one known code have one other code, as a share of what there is to tell."""

    def agreeing(pairs: Sequence[tuple[int, int]]) -> Fraction:
        return Fraction(sum(other[one] == other[two] for one, two in pairs), len(pairs))

    pairs = [(one, two) for one in range(len(known)) for two in range(one)]
    inside, among_all = agreeing([(one, two) for one, two in pairs if known[one] == known[two]]), agreeing(pairs)
    return (inside - among_all) / (1 - among_all)
