"""Slow, obvious twins of fragmentation: how sensitive values are parted, and how classes are filled with rows. Nothing here comes from tclose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from tests.naive.measures import Ground, Masses, Number, Tree, Width, box_loss, children, delta, leaves, loss_of, lowest, total

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


def promise(
    taken: Sequence[int], distributions: Sequence[Sequence[int]], ground: Ground, emd: Callable[[Masses, Masses], Any]
) -> Any:
    """Relaxed conformance: the way to the mix of the fragments' own distributions, and from there the worst inside each."""
    size, m = sum(taken), len(ground)
    mixed = [Fraction(0)] * m
    inside = Fraction(0)
    for a, distribution in zip(taken, distributions, strict=True):
        if a:
            mixed = [
                mass + Fraction(a, size) * Fraction(count, sum(distribution))
                for mass, count in zip(mixed, distribution, strict=True)
            ]
            inside += Fraction(a, size) * delta(distribution, ground) / sum(distribution)
    return emd(mixed, total(distributions)) + inside


def worst_corner(
    taken: Sequence[int], distributions: Sequence[Sequence[int]], emd: Callable[[Masses, Masses], Fraction]
) -> Fraction:
    """The farthest of all classes in which the rows of each fragment have one of its values."""
    choices = [
        [v for v, count in enumerate(distribution) if count] for a, distribution in zip(taken, distributions, strict=True) if a
    ]
    masses = [a for a in taken if a]
    table = total(distributions)
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
