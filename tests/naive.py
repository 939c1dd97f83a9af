"""Slow, obvious twins of every kernel: plain lists, plain loops, fractions. Nothing here comes from tclose.

A distribution is a list of counts or fractions, one place a value; it need not sum to 1. A ground distance is a square list
of fractions. A tree is a label (a leaf) or a pair ``(label, [subtrees])``. A partition is a list of such distributions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
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


# Fragments: a matrix is {cell: rows}, a cell a tuple of codes; a box is a tuple of lists of codes, one for each attribute

Cells = dict[tuple[int, ...], int]
Box = tuple[list[int], ...]
Ways = Callable[[list[int], list[int], list[int]], list[list[list[int]]]]
"""From the values of a box, their counts over the whole domain and those that are cut: all ways to part the values."""


def in_box(cells: Cells, box: Box) -> Cells:
    return {cell: rows for cell, rows in cells.items() if all(code in side for code, side in zip(cell, box, strict=True))}


def slice_sums(cells: Cells, s: int, m: int) -> list[int]:
    return [sum(rows for cell, rows in cells.items() if cell[s] == code) for code in range(m)]


def box_delta(masses: Masses, side: list[int], ground: Ground, bound: str) -> Fraction:
    """The worst case of a box: over the values that occur, or over all of them, untrimmed; published: in its own extent."""
    if bound == "corrected":
        return delta(masses, ground)
    worst = max(sum((masses[u] * ground[u][v] for u in side), Fraction(0)) for v in side)
    extent = max(ground[u][v] for u in side for v in side) if bound == "published" else Fraction(1)
    return worst / extent if extent else Fraction(0)


def box_bounds(cells: Cells, box: Box, grounds: Sequence[Ground], bound: str) -> list[Fraction]:
    """The worst case of each attribute, as a share of the table."""
    here, n = in_box(cells, box), sum(cells.values())
    return [
        box_delta(slice_sums(here, s, len(ground)), box[s], ground, bound) / n if here else Fraction(0)
        for s, ground in enumerate(grounds)
    ]


def in_two(order: list[int], cut: list[int]) -> list[list[list[int]]]:
    """All ways to cut values in an order between two of ``cut``; the others go with the next of those."""
    places = [place for place, code in enumerate(order) if code in cut]
    return [[order[: place + 1], order[place + 1 :]] for place in places[:-1]]


def ways_on_line(side: list[int], counts: Sequence[int], cut: list[int]) -> list[list[list[int]]]:
    return in_two(side, cut)


def ways_of_set(side: list[int], counts: Sequence[int], cut: list[int]) -> list[list[list[int]]]:
    """Rarest first."""
    return in_two(sorted(side, key=lambda code: (counts[code], code)), cut)


def ways_of_metric(ground: Ground) -> Ways:
    """From the nearest to the farthest of the value to which moving all rows costs most."""

    def ways(side: list[int], counts: Sequence[int], cut: list[int]) -> list[list[list[int]]]:
        costs = {v: sum(counts[u] * ground[u][v] for u in side) for v in side if counts[v]}
        if not costs:
            costs = {side[0]: Fraction(0)}
        farthest = min(v for v in costs if costs[v] == max(costs.values()))
        return in_two(sorted(side, key=lambda code: (ground[farthest][code], code)), cut)

    return ways


def ways_of_tree(tree: Tree) -> Ways:
    """Into the children of the lowest node above all that are cut."""
    names = leaves(tree)

    def ways(side: list[int], counts: Sequence[int], cut: list[int]) -> list[list[list[int]]]:
        if len(cut) < 2:
            return []
        below = [leaves(child) for child in children(lowest(tree, [names[code] for code in cut]))]
        child_of = {code: next(number for number, child in enumerate(below) if names[code] in child) for code in cut}
        parts: dict[int, list[int]] = {number: [] for number in sorted(set(child_of.values()))}
        waiting: list[int] = []
        for code in side:
            waiting.append(code)
            if code in child_of:
                parts[child_of[code]] += waiting
                waiting = []
        parts[max(parts)] += waiting
        return [list(parts.values())]

    return ways


def splits(cells: Cells, box: Box, ways: Sequence[Ways], bound: str) -> list[list[Box]]:
    """All ways to split a box once: by attribute, then by cut. Corrected: only between values that occur."""
    found: list[list[Box]] = []
    here = in_box(cells, box)
    for s, side in enumerate(box):
        counts = slice_sums(here, s, max(side) + 1)
        cut = [code for code in side if counts[code]] if bound == "corrected" else side
        found += [[(*box[:s], sorted(part), *box[s + 1 :]) for part in parts] for parts in ways[s](side, counts, cut)]
    return found


def walk(
    cells: Cells, grounds: Sequence[Ground], ways: Sequence[Ways], t: Sequence[Fraction], bound: str, strategy: str
) -> list[tuple[list[Box], list[Fraction]]]:
    """Every fragmentation on the way down, with its bounds: least Psi, then least sum of bounds, then the first."""
    known: dict[str, list[Fraction]] = {}

    def bounds_of(boxes: list[Box]) -> list[Fraction]:
        for box in boxes:
            if str(box) not in known:
                known[str(box)] = box_bounds(cells, box, grounds, bound)
        return [sum(column, Fraction(0)) for column in zip(*(known[str(box)] for box in boxes), strict=True)]

    def badness(boxes: list[Box]) -> tuple[Fraction, ...]:
        bounds = bounds_of(boxes)
        psi = sum((max(b - limit, Fraction(0)) for b, limit in zip(bounds, t, strict=True)), Fraction(0))
        return (psi, sum(bounds, Fraction(0))) if strategy == "psi" else (sum(bounds, Fraction(0)),)

    boxes = [tuple(list(range(len(ground))) for ground in grounds)]
    found = [(boxes, bounds_of(boxes))]
    while any(b > limit for b, limit in zip(found[-1][1], t, strict=True)):
        following = [
            [*boxes[:place], *parts, *boxes[place + 1 :]]
            for place, box in enumerate(boxes)
            for parts in splits(cells, box, ways, bound)
        ]
        boxes = min(following, key=badness)
        found.append((boxes, bounds_of(boxes)))
    return found


def fewest_fragments(cells: Cells, grounds: Sequence[Ground], ways: Sequence[Ways], t: Sequence[Fraction], bound: str) -> int:
    """Over all fragmentations that splits can reach: the fewest fragments whose bounds are within t."""
    known: dict[str, set[tuple[int, tuple[Fraction, ...]]]] = {}

    def reachable(box: Box) -> set[tuple[int, tuple[Fraction, ...]]]:
        if str(box) not in known:
            found = {(1, tuple(box_bounds(cells, box, grounds, bound)))}
            for parts in splits(cells, box, ways, bound):
                sums = {(0, (Fraction(0),) * len(grounds))}
                for part in parts:
                    sums = {
                        (a + b, tuple(x + y for x, y in zip(left, right, strict=True)))
                        for a, left in sums
                        for b, right in reachable(part)
                    }
                found |= sums
            known[str(box)] = found
        return known[str(box)]

    top = tuple(list(range(len(ground))) for ground in grounds)
    return min(count for count, bounds in reachable(top) if all(b <= limit for b, limit in zip(bounds, t, strict=True)))


def promise(taken: Sequence[int], spreads: Sequence[Sequence[int]], ground: Ground, emd: Callable[[Masses, Masses], Any]) -> Any:
    """Relaxed conformance: the way to the mix of the fragments' own spreads, and from there the worst inside each."""
    size, m = sum(taken), len(ground)
    mixed = [Fraction(0)] * m
    inside = Fraction(0)
    for a, spread in zip(taken, spreads, strict=True):
        if a:
            mixed = [mass + Fraction(a, size) * Fraction(count, sum(spread)) for mass, count in zip(mixed, spread, strict=True)]
            inside += Fraction(a, size) * delta(spread, ground) / sum(spread)
    return emd(mixed, total(spreads)) + inside


def worst_corner(taken: Sequence[int], spreads: Sequence[Sequence[int]], emd: Callable[[Masses, Masses], Fraction]) -> Fraction:
    """The farthest of all classes in which the rows of each fragment have one of its values."""
    choices = [[v for v, count in enumerate(spread) if count] for a, spread in zip(taken, spreads, strict=True) if a]
    masses = [a for a in taken if a]
    table = total(spreads)
    corners = (
        [sum(a for a, v in zip(masses, corner, strict=True) if v == u) for u in range(len(table))] for corner in product(*choices)
    )
    return max(emd(corner, table) for corner in corners)


def common_shares(rows: Sequence[int], k: int) -> list[list[int]]:
    """As many classes as divide all fragments, of k rows at least."""
    fits = [c for c in range(1, sum(rows) + 1) if all(row % c == 0 for row in rows) and (c == 1 or sum(rows) >= k * c)]
    return [[row // max(fits) for row in rows]] * max(fits)


def halved(
    rows: Sequence[int],
    k: int,
    within: Callable[[list[int]], bool],
    strain: Callable[[list[int]], float],
    orders: Sequence[Sequence[int]],
) -> list[list[int]]:
    """Classes by halving for as long as both halves will do; a half's classes side by side.

    Odd rows go to either side in turn, in the order of fragments that leaves the worse side the least strain, as far as orders
    before it leave more by a billionth at least.
    """
    if sum(rows) // 2 < k:
        return [list(rows)]
    left, right = half(rows, orders[0])
    for order in orders[1:]:
        sides = half(rows, order)
        if max(map(strain, sides)) < max(map(strain, (left, right))) - 1e-9:
            left, right = sides
    if not (within(left) and within(right)):
        return [list(rows)]
    return halved(left, k, within, strain, orders) + halved(right, k, within, strain, orders)


def half(rows: Sequence[int], order: Sequence[int]) -> tuple[list[int], list[int]]:
    """Half the rows of each fragment for either side; in this order of fragments odd rows go left and right in turn."""
    left, turn = [row // 2 for row in rows], True
    for place in order:
        if rows[place] % 2:
            left[place] += turn
            turn = not turn
    return left, [row - own for row, own in zip(rows, left, strict=True)]


# Filling classes with the rows of fragments: a row is a tuple of codes, ``width(place, low, high)`` what a range loses

Width = Callable[[int, int, int], Number]


def box_loss(rows: Sequence[tuple[int, ...]], members: Sequence[int], width: Width) -> Number:
    """What each of these rows loses by the box around them."""
    columns = zip(*(rows[row] for row in members), strict=True)
    return sum(width(place, min(codes), max(codes)) for place, codes in enumerate(columns))


def loss_of(rows: Sequence[tuple[int, ...]], labels: Sequence[int], width: Width) -> Number:
    """What all rows lose by the boxes of their classes."""
    classes = [[row for row, label in enumerate(labels) if label == number] for number in set(labels)]
    return sum(len(members) * box_loss(rows, members, width) for members in classes)


def blocks(
    rows: Sequence[tuple[int, ...]], fragment: Sequence[int], wanted: Sequence[Sequence[int]], most: int, width: Width
) -> list[tuple[set[int], int]]:
    """The rows of each block and how many classes it has: halved along the place that loses least, until small."""

    def halve(members: list[int], wanted: Sequence[Sequence[int]]) -> list[tuple[set[int], int]]:
        if len(members) <= most or len(wanted) == 1:
            return [(set(members), len(wanted))]
        halves = wanted[: len(wanted) // 2], wanted[len(wanted) // 2 :]
        cuts = []
        for place in range(len(rows[0])):
            left: list[int] = []
            for number, count in enumerate(total(halves[0])):
                inside = sorted((row for row in members if fragment[row] == number), key=lambda row: rows[row][place])
                left += inside[:count]
            cuts.append((sorted(left), [row for row in members if row not in left]))
        best = min(cuts, key=lambda sides: sum(len(side) * box_loss(rows, side, width) for side in sides))
        return halve(best[0], halves[0]) + halve(best[1], halves[1])

    return halve(list(range(len(rows))), wanted)


def grown(rows: Sequence[tuple[int, ...]], fragment: Sequence[int], wanted: Sequence[Sequence[int]], width: Width) -> list[int]:
    """Labels of classes that start with the first row left, by fragment and first code, and then take what widens them least."""
    left = sorted(range(len(rows)), key=lambda row: (fragment[row], rows[row][0], row))
    labels = [-1] * len(rows)
    for number, wants in enumerate(wanted):
        members: list[int] = []
        needs = list(wants)
        while sum(needs):
            fitting = [row for row in left if needs[fragment[row]]]
            best = min(fitting, key=lambda row: box_loss(rows, [*members, row], width)) if members else fitting[0]
            members.append(best)
            left.remove(best)
            needs[fragment[best]] -= 1
            labels[best] = number
    return labels


def swept(
    rows: Sequence[tuple[int, ...]], labels: Sequence[int], sets: Sequence[Sequence[int]], width: Width, rise: Number
) -> list[int]:
    """Labels after each row whose leaving would help was swapped with the best row of its set, if the loss rises by less."""
    labels = list(labels)
    for candidates in sets:
        for row in candidates:
            inside = [other for other in range(len(rows)) if labels[other] == labels[row] and other != row]
            if inside and box_loss(rows, inside, width) == box_loss(rows, [*inside, row], width):
                continue
            if not inside and box_loss(rows, [row], width) == 0:
                continue
            best, least = labels, loss_of(rows, labels, width) + rise
            for other in candidates:
                trial = list(labels)
                trial[row], trial[other] = labels[other], labels[row]
                after = loss_of(rows, trial, width)
                if after < least and after != loss_of(rows, labels, width):
                    best, least = trial, after
            labels = best
    return labels


# Cutting into blocks whose sensitive values are spread as in the table: a row is a tuple of codes, and one of sensitive values


def cut(
    rows: Sequence[tuple[int, ...]],
    values: Sequence[tuple[int, ...]],
    most: int,
    width: Width,
    holds: Callable[[list[int]], bool],
) -> list[list[int]]:
    """Row numbers of each block: cut in two as the first of all ways does whose sides hold, and then each side by itself."""

    def halve(members: list[int]) -> list[list[int]]:
        if len(members) > most:
            for sides in bisections(rows, values, members, width):
                if all(holds(side) for side in sides):
                    return [block for side in sides for block in halve(sorted(side))]
        return [members]

    everything = list(range(len(rows)))
    return halve(everything) if holds(everything) else [everything]


def bisections(
    rows: Sequence[tuple[int, ...]], values: Sequence[tuple[int, ...]], members: list[int], width: Width
) -> Iterator[tuple[list[int], list[int]]]:
    """All ways to cut, in order: along the widest place plainly, by windows in each order of columns; along the next widest."""
    size = len(members)

    def span(place: int, outliers: int) -> Number:
        codes = sorted(rows[row][place] for row in members)
        low, high = codes[outliers], codes[-1 - outliers]
        return width(place, low, high) if low < high else 0

    for place in sorted(range(len(rows[0])), key=lambda place: (-span(place, size // 8), -span(place, 0))):
        by_code = sorted(members, key=lambda row: (rows[row][place], row))
        lefts = [left for left in range(1, size) if rows[by_code[left - 1]][place] < rows[by_code[left]][place]]
        if lefts:
            left = min(lefts, key=lambda left: abs(2 * left - size))
            if min(left, size - left) >= Fraction(size, 4):
                yield by_code[:left], by_code[left:]
        for column in range(len(values[0])):
            by_value = sorted(by_code, key=lambda row: (*values[row][column:], *values[row][:column]))
            windows = [math.ceil(Fraction(size, 4**times)) for times in range(1, size)]
            for window in [*(window for window in windows if window > 2), 2]:
                yield by_windows(by_value, by_code, window)


def by_windows(by_value: Sequence[int], by_code: Sequence[int], window: int) -> tuple[list[int], list[int]]:
    """The lower half of each window left, the higher half right; an odd row goes to the side with fewer, else left."""
    left: list[int] = []
    right: list[int] = []
    for start in range(0, len(by_value), window):
        inside = sorted(by_value[start : start + window], key=by_code.index)
        half = (len(inside) + (len(left) <= len(right))) // 2
        left += inside[:half]
        right += inside[half:]
    return left, right


# Growing classes in blocks: how far a class is from keeping its limits, and the classes that come of it


def excess(
    counts: Masses,
    table: Masses,
    emd: Callable[[Masses, Masses], Fraction],
    t: Number = None,
    beta: Number = None,
    beta_kind: str = "basic",
    delta: Number = None,
    delta_kind: str = "strict",
    alpha: Number = 1,
    l: Number = None,  # noqa: E741 - the name of the model
    l_kind: str = "distinct",
    c: Number = None,
) -> float:
    """What each limit adds: a distance beyond t, mass beyond a share, values that are missing, entropy that is missing."""
    pairs = list(zip(shares(counts), shares(table), strict=True))
    found: list[Number] = [max(0, p - alpha) for p, _ in pairs]
    if t is not None:
        found.append(max(0, emd(counts, table) - t))
    if beta is not None:
        for p, q in pairs:
            gain = min(beta, -math.log(q)) if beta_kind == "enhanced" and q else beta
            found.append(max(0, p - (1 + gain) * q))
    if delta is not None:
        for p, q in pairs:
            if p:
                found += [max(0, p - q * math.exp(delta)), max(0, q * math.exp(-delta) - p)]
            elif delta_kind == "strict":
                found.append(q)
    if l is not None and l_kind == "distinct":
        found.append(max(0, l - distinct_l(counts)) / Fraction(l))
    if l is not None and l_kind == "entropy":
        found.append(max(0, math.log(l) - math.log(entropy_l(counts))))
    if l is not None and l_kind == "recursive":
        descending = sorted(counts, reverse=True)
        found.append(max(0, descending[0] - c * sum(descending[l - 1 :])) / Fraction(sum(counts)))
    return float(sum(found))


def shuffled(items: Sequence[int], state: int) -> list[int]:
    """Each place from the last on is swapped with one up to it, drawn by xorshift in 64 bits."""
    drawn = list(items)
    for place in range(len(drawn) - 1, 0, -1):
        state ^= state << 13 & 2**64 - 1
        state ^= state >> 7
        state ^= state << 17 & 2**64 - 1
        other = state % (place + 1)
        drawn[place], drawn[other] = drawn[other], drawn[place]
    return drawn


def sprouted(
    rows: Sequence[tuple[int, ...]],
    blocks: Sequence[Sequence[int]],
    width: Width,
    excess: Callable[[list[int]], float],
    holds: Callable[[list[int]], bool],
    largest: int,
    failures: int,
) -> list[int]:
    """Labels of the classes that grow in each block from its first row left, -1 for rows without one."""
    labels, number = [-1] * len(rows), 0
    for block in blocks:
        left, failed = list(block), 0
        while left and failed < failures:
            members = sprouted_from(left, rows, width, excess, holds, largest)
            if holds(members):
                for row in members:
                    labels[row] = number
                number, failed = number + 1, 0
                left = [row for row in left if row not in members]
            else:
                failed += 1
                left = left[1:]
    return labels


def sprouted_from(
    left: list[int],
    rows: Sequence[tuple[int, ...]],
    width: Width,
    excess: Callable[[list[int]], float],
    holds: Callable[[list[int]], bool],
    largest: int,
) -> list[int]:
    """The first row and, until all is well, rows that widen it least among those that lower the excess, or raise it least."""
    near = 1e-9
    members = left[:1]
    while not holds(members) and len(members) < min(largest, len(left)):
        now = excess(members)
        after = {row: excess([*members, row]) for row in left if row not in members}
        fitting = [row for row, then in after.items() if (then < now - near if now > near else then < near)]
        if not fitting:
            fitting = [row for row, then in after.items() if then < min(after.values()) + near]
        members = [*members, min(fitting, key=lambda row: box_loss(rows, [*members, row], width))]
    return members
