"""Suppression: rows that are left out so that the others lose less, as many as a policy allows.

What is compared with changes when rows are left out: a class must be close to the input Q, and to what is left of it, R, which
is what a reader can recompute. Q stays the input's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tclose.distances.choose import arrange
from tclose.make.encode import Attribute, EncodedTable
from tclose.policy import Policy
from tclose.values.arrays import Bools, Floats, Ints, grouped

if TYPE_CHECKING:
    from tclose.make.kernels.loss import LossTable

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
    from tclose.make.kernels.loss import loss_table

    ncp = loss_table([scale.widths() for scale in table.scales], [1.0] * len(table.scales))
    weights = np.array([float(column.weight) for column in policy.quasi])
    for _ in range(ROUNDS):
        if allowed <= 0:
            break
        ends = _best_ends(table, labels, ncp, weights / weights.sum(), allowed)
        ends = _valid(table, labels, policy, ends)
        if not ends:
            break
        left_out = np.concatenate(ends)
        labels = labels.copy()
        labels[left_out] = -1
        allowed -= len(left_out)
    return labels


def _best_ends(table: EncodedTable, labels: Ints, ncp: LossTable, weights: Floats, allowed: int) -> list[Ints]:
    """The rows of at most one end of each class, best first, as far as rows may be left out."""
    from tclose.make.kernels.loss import losses_of_ranges

    members, bounds = grouped(labels)
    starts, counts = bounds[:-1], np.diff(bounds)
    first = np.array([np.minimum.reduceat(codes[members], starts) for codes in table.quasi]).astype(np.int64)
    last = np.array([np.maximum.reduceat(codes[members], starts) for codes in table.quasi]).astype(np.int64)
    losses = np.array([losses_of_ranges(ncp, column, first[column], last[column]) for column in range(len(first))])
    price = 1 - weights @ losses  # what one more row loses when it is left out

    best, choice = np.zeros(len(starts)), np.full(len(starts), -1)
    for place, codes in enumerate(table.quasi):
        own = codes[members].astype(np.int64)
        owner = np.repeat(np.arange(len(starts)), counts)
        for side, end in enumerate((first[place], last[place])):
            at_end = own == end[owner]
            gone = np.add.reduceat(at_end, starts, dtype=np.int64)
            far = (last, first)[side][place]  # what rows at the near end are taken for, so that they do not count
            nearest = (np.minimum, np.maximum)[side].reduceat(np.where(at_end, far[owner], own), starts)
            low, high = (nearest, last[place]) if side == 0 else (first[place], nearest)
            narrower = losses_of_ranges(ncp, place, low, high)
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


def breaking(table: EncodedTable, labels: Ints, policy: Policy) -> Bools:
    """Which classes break a limit, against the input or against what is left."""
    from tclose.make.kernels.limits import limits_of
    from tclose.make.kernels.satisfies import failing

    members, starts = grouped(labels)
    part = table.take(members)
    limits = limits_of(both_sides(part.sensitive), policy, part.persons)
    broken: Any = failing(limits, np.arange(len(members), dtype=np.int32), starts)
    return np.asarray(broken, dtype=bool)
