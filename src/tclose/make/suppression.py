"""Suppression: rows that are left out so that the others lose less, as many as a policy allows.

What is compared with changes when rows are left out: a class must be close to the input Q, and to what is left of it, R, which
is what a reader can recompute. Q stays the input's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.distances.choose import arrange
from tclose.make.encode import Attribute, EncodedTable
from tclose.make.recode import grouped
from tclose.make.scales import Widths
from tclose.policy import Policy

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

ROUNDS = 20
"""How often each class may lose an end of a range."""


def both_sides(attributes: list[Attribute]) -> list[Attribute]:
    """The attributes of rows that are left of a table, each against the input and, where that differs, against what is left."""
    found = []
    for attribute in attributes:
        counts = np.bincount(attribute.codes, minlength=len(attribute.counts)).astype(np.int64)
        found.append(attribute)
        if (counts < attribute.counts).any():
            found.append(_of_itself(attribute, counts))
    return found


def _of_itself(attribute: Attribute, counts: Ints) -> Attribute:
    """The attribute over the values that are left, compared with their own spread."""
    occur = np.flatnonzero(counts)
    column = attribute.column
    places = next((given for given in (column.hierarchy, column.matrix, column.order) if given is not None), None)
    values, distance = arrange(attribute.distance.name, [attribute.values[code] for code in occur], places)
    ranks = np.zeros(len(counts), dtype=np.int64)
    ranks[occur] = np.arange(len(occur))
    return replace(
        attribute,
        distance=distance,
        values=values,
        published=attribute.published.take(occur),
        codes=ranks[attribute.codes],
        counts=counts[occur],
    )


def trim(table: EncodedTable, labels: Ints, policy: Policy) -> Ints:
    """Leave out rows at the ends of classes' ranges where the others of the class gain more than these rows lose.

    A row that is left out loses all of its quasi-identifiers. The best ends go first; no limit may break, against the input or
    against what is left.

    Parameters
    ----------
    labels : (rows,) int64
        The class of each row; -1 where it is left out already.
    """
    allowed = int(policy.suppression * table.rows) - int(np.count_nonzero(labels < 0))
    if policy.n is not None:
        return labels  # the regions that show (n,t)-closeness would lose their rows
    widths = [scale.widths() for scale in table.scales]
    weights = np.array([float(column.weight) for column in policy.quasi])
    for _ in range(ROUNDS):
        if allowed <= 0:
            break
        ends = _best_ends(table, labels, widths, weights / weights.sum(), allowed)
        ends = _valid(table, labels, policy, ends)
        if not ends:
            break
        left_out = np.concatenate(ends)
        labels = labels.copy()
        labels[left_out] = -1
        allowed -= len(left_out)
    return labels


def _best_ends(table: EncodedTable, labels: Ints, widths: list[Widths], weights: Floats, allowed: int) -> list[Ints]:
    """The rows of at most one end of each class, best first, as far as rows may be left out."""
    members, bounds = grouped(labels)
    starts, counts = bounds[:-1], np.diff(bounds)
    first = np.array([np.minimum.reduceat(codes[members], starts) for codes in table.quasi]).astype(np.int64)
    last = np.array([np.maximum.reduceat(codes[members], starts) for codes in table.quasi]).astype(np.int64)
    losses = np.array([ncp(width, a, b) for width, a, b in zip(widths, first, last, strict=True)])
    price = 1 - weights @ losses  # what one more row loses when it is left out

    best, choice = np.zeros(len(starts)), np.full(len(starts), -1)
    for place, (codes, width) in enumerate(zip(table.quasi, widths, strict=True)):
        own = codes[members].astype(np.int64)
        owner = np.repeat(np.arange(len(starts)), counts)
        for side, end in enumerate((first[place], last[place])):
            at_end = own == end[owner]
            gone = np.add.reduceat(at_end, starts, dtype=np.int64)
            far = (last, first)[side][place]  # what rows at the near end are taken for, so that they do not count
            nearest = (np.minimum, np.maximum)[side].reduceat(np.where(at_end, far[owner], own), starts)
            narrower = ncp(width, nearest, last[place]) if side == 0 else ncp(width, first[place], nearest)
            gain = weights[place] * (losses[place] - narrower) * (counts - gone) - gone * price
            gain = np.where((gone < counts) & (gone <= allowed), gain / np.maximum(gone, 1), 0.0)
            choice = np.where(gain > best, 2 * place + side, choice)
            best = np.maximum(best, gain)

    ends: list[Ints] = []
    for number in np.argsort(-best, kind="stable")[: int(np.count_nonzero(best > 0))]:
        place, side = divmod(int(choice[number]), 2)
        inside = members[starts[number] : starts[number] + counts[number]]
        end = (first, last)[side][place, number]
        chosen = inside[table.quasi[place][inside] == end]
        if len(chosen) <= allowed:
            ends.append(chosen)
            allowed -= len(chosen)
    return ends


def ncp(width: Widths, a: Ints, b: Ints) -> Floats:
    """The NCP of ranges of codes; see `tclose.make.scales.Widths`."""
    found = np.minimum(width.highs[b] - width.lows[a], 1.0)
    for level in width.ancestors:  # from the root down: the lowest that both have stays
        meet = (level[a] == level[b]) & (level[a] >= 0)
        found = np.where(meet, width.charges[level[a]], found) if len(width.charges) else found
    if width.missing:
        found = np.where((b == len(width.own) - 1) & (a < b), 1.0, found)
    result: Floats = np.where(a == b, width.own[a], found)
    return result


def _valid(table: EncodedTable, labels: Ints, policy: Policy, ends: list[Ints]) -> list[Ints]:
    """Those of these ends that can be left out together so that every class keeps its limits."""
    while ends:
        trial = labels.copy()
        trial[np.concatenate(ends)] = -1
        broken = breaking(table, trial, policy)
        if not broken.any():
            return ends
        fine = [end for end in ends if not broken[labels[end[0]]]]
        # A class that breaks a limit keeps its end; if none of those did, what is left of the table has moved too far.
        ends = fine if len(fine) < len(ends) else ends[: len(ends) // 2]
    return []


def breaking(table: EncodedTable, labels: Ints, policy: Policy) -> NDArray[np.bool_]:
    """Which classes break a limit, against the input or against what is left."""
    from tclose.make.kernels.limits import limits_of
    from tclose.make.kernels.satisfies import failing

    members, starts = grouped(labels)
    part = table.take(members)
    limits = limits_of(both_sides(part.sensitive), policy, part.persons)
    broken: Any = failing(limits, np.arange(len(members), dtype=np.int32), starts)
    return np.asarray(broken, dtype=bool)
