"""Slow, obvious twins of how growth begins: blocks are cut, and classes grow in them. Nothing here comes from tclose."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from tests.naive.measures import Masses, Number, Width, box_loss, distinct_l, entropy_l, shares

# Cutting into blocks whose sensitive values have the distribution of the table: a row is a tuple of codes, and one of sensitive values


def cut(
    rows: Sequence[tuple[int, ...]],
    values: Sequence[tuple[int, ...]],
    most: int,
    width: Width,
    holds: Callable[[list[int]], bool],
    looser: Callable[[list[int]], bool] | None = None,
    huge: int = 0,
) -> list[list[int]]:
    """Row numbers of each block: cut in two as the first of all ways does whose sides hold, and then each side by itself.

    If there is none, the sides of more than ``huge`` rows may hold in a looser way.
    """

    def halve(members: list[int]) -> list[list[int]]:
        for way in (holds, looser) if looser and len(members) > huge else (holds,):
            if len(members) > most:
                for sides in bisections(rows, values, members, width):
                    if all(way(side) for side in sides):
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
        for strict in (False, True):
            left, failed = list(block), 0
            while left and failed < failures:
                members = sprouted_from(left, rows, width, excess, holds, largest, strict)
                if holds(members):
                    for row in members:
                        labels[row] = number
                    number, failed = number + 1, 0
                    left = [row for row in left if row not in members]
                else:
                    failed += 1
                    left = left[1:]
            if any(labels[row] >= 0 for row in block):
                break
    return labels


def sprouted_from(
    left: list[int],
    rows: Sequence[tuple[int, ...]],
    width: Width,
    excess: Callable[[list[int]], float],
    holds: Callable[[list[int]], bool],
    largest: int,
    strict: bool,
) -> list[int]:
    """The first row and, until all is well, rows that widen it least among those that lower the excess, or raise it least.

    Strictly, those that lower it by half of what is possible.
    """
    near = 1e-9
    members = left[:1]
    while not holds(members) and len(members) < min(largest, len(left)):
        now = excess(members)
        after = {row: excess([*members, row]) for row in left if row not in members}
        fitting = [row for row, then in after.items() if (then < now - near if now > near else then < near)]
        if strict:
            least = min(after.values())
            fitting = [row for row, then in after.items() if then < max(least, (least + now) / 2) + near]
        elif not fitting:
            fitting = [row for row, then in after.items() if then < min(after.values()) + near]
        members = [*members, min(fitting, key=lambda row: box_loss(rows, [*members, row], width))]
    return members
