"""Slow, obvious twins of what growth does with classes that it has: rows placed, moved and swapped, classes split. Nothing here comes from tclose.

A row is a tuple of codes. Classes are lists of row numbers: a row that joins one goes to its front, and a class that has lost all
its rows stays as an empty list. ``holds`` says whether rows may be a class, ``width(place, low, high)`` what a range of codes loses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import groupby

from tests.naive.measures import Number, Width, box_loss, merge_failing

Row = tuple[int, ...]
Classes = list[list[int]]
Holds = Callable[[list[int]], bool]

NEAR = Fraction(1e-9)


def classes_of(labels: Sequence[int]) -> Classes:
    return [[row for row, label in enumerate(labels) if label == number] for number in range(max(labels) + 1)]


def with_spares(labels: Sequence[int], spare: int) -> Classes:
    """Classes, half as many empty ones, and so many more."""
    classes = classes_of(labels)
    return classes + [[] for _ in range(len(classes) // 2 + spare)]


def labels_of(classes: Classes) -> list[int]:
    """The class of each row, numbered without gaps."""
    known = [members for members in classes if members]
    return [next(number for number, members in enumerate(known) if row in members) for row in range(sum(map(len, known)))]


def lost(rows: Sequence[Row], members: list[int], width: Width) -> Number:
    """What all rows of a class lose."""
    return len(members) * box_loss(rows, members, width) if members else 0


def without(members: list[int], row: int) -> list[int]:
    return [other for other in members if other != row]


def groups(rows: Sequence[Row], classes: Classes, number: int, together: int, largest: int) -> list[list[int]]:
    """Numbers of classes by the middles of their boxes, in groups; every other time round the first group has half as many."""
    columns = len(rows[0])

    def middles(label: int) -> list[int]:
        codes = [[rows[row][(number + place) % columns] for row in classes[label]] for place in range(columns)]
        return [min(column) + max(column) for column in codes]

    order = sorted((label for label, members in enumerate(classes) if 0 < len(members) <= largest), key=middles)
    first = together // 2 if number // columns % 2 else 0
    parts = groupby(enumerate(order), key=lambda placed: (placed[0] + first) // together)
    return [[label for _, label in part] for _, part in parts]


def spares(classes: Classes, parts: int) -> list[list[int]]:
    """Numbers of empty classes, dealt out to so many groups, one after the other and evenly."""
    numbers = [number for number, members in enumerate(classes) if not members]
    return [numbers[part * len(numbers) // parts : (part + 1) * len(numbers) // parts] for part in range(parts)]


def split_all(
    rows: Sequence[Row], classes: Classes, group: list[int], free: list[int], holds: Holds, width: Width, k: int, steps: int
) -> None:
    """Cut each class, and what is left of it, as long as it can be and a number is free for its upper side."""
    waiting = list(free)
    for number in group:
        while waiting and (sides := cut(rows, classes[number], holds, width, k, steps)):
            classes[number], classes[waiting.pop(0)] = sides[0], sides[1][::-1]


def cut(rows: Sequence[Row], members: list[int], holds: Holds, width: Width, k: int, steps: int) -> list[list[int]]:
    """Both sides of the cut with which the loss falls most, of those that hold; nothing where there is none.

    Each quasi-identifier is walked down. A cut that would help is tried if a share of the rows lies between it and the last one.
    """
    best: list[list[int]] = []
    most: Number = NEAR
    for column in range(len(rows[0])):
        tried = len(members)
        for code in sorted({rows[row][column] for row in members}, reverse=True):
            lower = [row for row in members if rows[row][column] < code]
            upper = [row for row in members if rows[row][column] >= code]
            gain = lost(rows, members, width) - lost(rows, lower, width) - lost(rows, upper, width)
            enough = min(len(lower), len(upper)) >= k and tried - len(lower) >= len(members) // steps
            if enough and gain > most:
                tried = len(lower)
                if holds(lower) and holds(upper):
                    best, most = [lower, upper], gain
    return best


def move_all(rows: Sequence[Row], classes: Classes, group: list[int], holds: Holds, width: Width, rise: Number) -> None:
    """Move each row to the class of its group with which the loss falls most, or rises by less than allowed; then give up classes."""
    for row in [row for number in group for row in classes[number]]:
        here = next(number for number in group if row in classes[number])
        left = without(classes[here], row)
        if not left or not holds(left):
            continue
        best, most = here, NEAR if rise == 0 else -rise
        for there in group:
            if classes[there] and there != here:
                before = lost(rows, classes[here], width) + lost(rows, classes[there], width)
                gain = before - lost(rows, left, width) - lost(rows, [row, *classes[there]], width)
                if gain > most and holds([row, *classes[there]]):
                    best, most = there, gain
        if best != here:
            classes[here], classes[best] = left, [row, *classes[best]]
    for number in group:
        give_up(rows, classes, group, number, holds, width)


def give_up(rows: Sequence[Row], classes: Classes, group: list[int], number: int, holds: Holds, width: Width) -> None:
    """Give the rows of a class, in turn, to those that lose least by them; put all back if less would not be lost then."""
    before, members = [list(other) for other in classes], classes[number]
    left = lost(rows, members, width) - NEAR
    for given, row in enumerate(members):
        rises = {
            there: lost(rows, [row, *classes[there]], width) - lost(rows, classes[there], width)
            for there in group
            if there != number and classes[there] and holds([row, *classes[there]])
        }
        best = min(rises, key=lambda there: rises[there], default=number)
        if best == number or rises[best] >= left:
            classes[:] = before
            classes[number] = [*reversed(members[:given]), *members[given:]]
            return
        left -= rises[best]
        classes[best] = [row, *classes[best]]
        classes[number] = without(classes[number], row)


def swap_all(rows: Sequence[Row], classes: Classes, group: list[int], holds: Holds, width: Width, rise: Number) -> None:
    """Swap each row at the edge of its class with the row of its group that makes the loss fall most, or rise by less than allowed."""
    candidates = [row for number in group for row in classes[number]]
    for row in candidates:
        here = next(number for number in group if row in classes[number])
        left = without(classes[here], row)
        if box_loss(rows, classes[here], width) - (box_loss(rows, left, width) if left else 0) <= NEAR:
            continue
        best, most = row, NEAR if rise == 0 else -rise
        for other in candidates:
            there = next(number for number in group if other in classes[number])
            one, two = [other, *left], [row, *without(classes[there], other)]
            before = lost(rows, classes[here], width) + lost(rows, classes[there], width)
            gain = before - lost(rows, one, width) - lost(rows, two, width)
            if there != here and gain > most and abs(gain) > NEAR and holds(one) and holds(two):
                best, most = other, gain
        if best != row:
            there = next(number for number in group if best in classes[number])
            classes[here], classes[there] = [best, *left], [row, *without(classes[there], best)]


def refine(
    rows: Sequence[Row],
    labels: Sequence[int],
    holds: Holds,
    width: Width,
    rounds: int,
    times: Sequence[float],
    moving: int,
    swapping: Callable[[Classes], int],
    largest: int,
    k: int,
    spare: int,
) -> tuple[list[int], int, str]:
    """Two rounds of moves, one of swaps, and so on; less and less rise is allowed, none in the last tenth. The best labels.

    Before they are moved, classes are split. ``moving`` and ``swapping`` say how many classes make a group, ``times`` which share
    of the time is gone after each round: after a fifth of it there are only as many rounds as are possible then.
    """
    classes = with_spares(labels, spare)
    best, least = labels_of(classes), sum(lost(rows, members, width) for members in classes)
    first = 0.4 * float(least) / len(rows)
    number, ended, turns = 0, "rounds", [0, 0]
    while number < rounds:
        rise = Fraction(first * max(0.0, 1 - (number + 1) / max(1.0, rounds * (1 - 0.1))))
        if number % 3 < 2:
            similar = groups(rows, classes, turns[0], moving, largest)
            for group, free in zip(similar, spares(classes, len(similar)), strict=True):
                split_all(rows, classes, group, free, holds, width, k, steps=64)
            for group in groups(rows, classes, turns[0], moving, largest):
                move_all(rows, classes, group, holds, width, rise)
        else:
            for group in groups(rows, classes, turns[1], swapping(classes), largest):
                swap_all(rows, classes, group, holds, width, rise)
        turns[number % 3 // 2] += 1
        now = sum(lost(rows, members, width) for members in classes)
        if now < least:
            best, least = labels_of(classes), now
        possible = max(number + 1, int((number + 1) / times[number]))
        if times[number] >= 1 / 5 and possible < rounds:
            rounds, ended = possible, "time"
        number += 1
    return best, number, ended


def place(
    rows: Sequence[Row], labels: Sequence[int], blocks: Sequence[int], holds: Holds, width: Width, widest: int, largest: int
) -> list[int]:
    """Put each row labelled -1 into the class that loses least by it and holds with it, of its block, of two, four, ... blocks;
    make a class of all that are left in a block, in two, ..., if it holds; merge the others. ``blocks`` has the block of each row."""
    left = [row for row, label in enumerate(labels) if label < 0]
    classes = (classes_of(labels) if max(labels) >= 0 else []) + [[row] for row in left]
    waiting = range(len(classes) - len(left), len(classes))
    of_class = [blocks[members[0]] for members in classes]
    number, together = max(blocks) + 1, 1
    while together == 1 or (together < 2 * number and together * len(classes) <= widest * number):
        open_to_all = [there for there, members in enumerate(classes) if there not in waiting and len(members) <= largest]
        for here, row in zip(waiting, left, strict=True):
            near = [there for there in open_to_all if of_class[there] // together == of_class[here] // together]
            rises = {
                there: lost(rows, [row, *classes[there]], width) - lost(rows, classes[there], width)
                for there in near
                if classes[here] and holds([row, *classes[there]])
            }
            if rises:
                best = min(rises, key=lambda there: rises[there])
                classes[best], classes[here] = [row, *classes[best]], []
        together *= 2
    together = 1
    while together < 2 * number:
        for key in range(number):
            alone = [here for here in waiting if classes[here] and of_class[here] // together == key]
            if alone and holds([row for here in alone for row in classes[here]]):
                classes.append([row for here in alone for row in classes[here]])
                for here in alone:
                    classes[here] = []
        together *= 2
    known = [*(classes[here] for here in range(len(classes)) if here not in waiting), *(classes[here] for here in waiting)]
    known = [members for members in known if members]
    return labels_of(merge_failing(known, holds, lambda members: box_loss(rows, members, width)))
