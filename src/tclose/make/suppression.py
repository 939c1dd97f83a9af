"""Suppression: rows are not published, as many as a policy allows, so that the information loss of the others is smaller.

A class must be close to the distribution Q of the input, and to R, that of the published rows, which is what a reader can
recompute. Suppression changes R; Q stays that of the input.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tclose.columns.domains import labelling_of
from tclose.distances.choose import arrange
from tclose.make.encode import Attribute, EncodedTable
from tclose.policy import Policy
from tclose.values.arrays import Bools, Floats, Ints, grouped

if TYPE_CHECKING:
    from tclose.make.kernels.loss import LossTable

ROUNDS = 20
"""How often each class may lose an end of a range."""


def both_sides(attributes: list[Attribute]) -> list[Attribute]:
    """Return the attributes of published rows, each compared with the input and, if some are suppressed, also with themselves."""
    found = []
    for attribute in attributes:
        counts = np.bincount(attribute.codes, minlength=len(attribute.counts)).astype(np.int64)
        found.append(attribute)
        if (counts < attribute.counts).any():
            found.append(_compared_with_published(attribute, counts))
    return found


def _compared_with_published(attribute: Attribute, counts: Ints) -> Attribute:
    """Return a sensitive attribute whose reference distribution is that of the published rows, not of the input."""
    occur = np.flatnonzero(counts)
    column = attribute.column
    values = [attribute.values[code] for code in occur]
    values, distance = arrange(attribute.distance.name, values, labelling_of(column, values))
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
    """Return labels after rows at the ends of classes' ranges are suppressed, where that lowers the information loss.

    A suppressed row loses all of its quasi-identifiers. The ends that gain most go first. Every limit stays satisfied, compared
    with the input and with the published rows.

    Parameters
    ----------
    labels : (rows,) int64
        The class of each row; -1 where it is suppressed already.
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
        ends = _ends_to_suppress(table, labels, policy, ends)
        if not ends:
            break
        suppressed = np.concatenate(ends)
        labels = labels.copy()
        labels[suppressed] = -1
        allowed -= len(suppressed)
    return labels


def _best_ends(table: EncodedTable, labels: Ints, ncp: LossTable, weights: Floats, allowed: int) -> list[Ints]:
    """Return the rows at one end of each class's range, at most ``allowed`` in all; the largest gain of information first."""
    from tclose.make.kernels.loss import losses_of_ranges

    members, bounds = grouped(labels)
    starts, counts = bounds[:-1], np.diff(bounds)
    first = np.array([np.minimum.reduceat(codes[members], starts) for codes in table.quasi]).astype(np.int64)
    last = np.array([np.maximum.reduceat(codes[members], starts) for codes in table.quasi]).astype(np.int64)
    losses = np.array([losses_of_ranges(ncp, column, first[column], last[column]) for column in range(len(first))])
    price = 1 - weights @ losses  # what a row loses in addition when it is suppressed

    best, choice = np.zeros(len(starts)), np.full(len(starts), -1)
    for index, codes in enumerate(table.quasi):
        own = codes[members].astype(np.int64)
        owner = np.repeat(np.arange(len(starts)), counts)
        for side, end in enumerate((first[index], last[index])):
            at_end = own == end[owner]
            gone = np.add.reduceat(at_end, starts, dtype=np.int64)
            far = (last, first)[side][index]  # the code that stands in for rows at this end, so that they do not count
            nearest = (np.minimum, np.maximum)[side].reduceat(np.where(at_end, far[owner], own), starts)
            low, high = (nearest, last[index]) if side == 0 else (first[index], nearest)
            narrower = losses_of_ranges(ncp, index, low, high)
            gain = weights[index] * (losses[index] - narrower) * (counts - gone) - gone * price
            gain = np.where((gone < counts) & (gone <= allowed), gain / np.maximum(gone, 1), 0.0)
            choice = np.where(gain > best, 2 * index + side, choice)
            best = np.maximum(best, gain)

    ends: list[Ints] = []
    for number in np.argsort(-best, kind="stable")[: int(np.count_nonzero(best > 0))]:
        index, side = divmod(int(choice[number]), 2)
        inside = members[starts[number] : starts[number] + counts[number]]
        end = (first, last)[side][index, number]
        chosen = inside[table.quasi[index][inside] == end]
        if len(chosen) <= allowed:
            ends.append(chosen)
            allowed -= len(chosen)
    return ends


def _ends_to_suppress(table: EncodedTable, labels: Ints, policy: Policy, ends: list[Ints]) -> list[Ints]:
    """Return the ends of ranges, each as rows, that can be suppressed together so that every class satisfies its limits."""
    while ends:
        trial = labels.copy()
        trial[np.concatenate(ends)] = -1
        broken = breaking(table, trial, policy)
        if not broken.any():
            return ends
        fine = [end for end in ends if not broken[labels[end[0]]]]
        # A class that breaks a limit keeps its end. If no such class has one, the published rows have moved too far.
        ends = fine if len(fine) < len(ends) else ends[: len(ends) // 2]
    return []


def breaking(table: EncodedTable, labels: Ints, policy: Policy) -> Bools:
    """Return for each class that is left after suppression whether it breaks a limit, by the kernels of the makers.

    A class is compared with the input, and with the rows that are published.
    """
    from tclose.make.kernels.limits import limits_of
    from tclose.make.kernels.satisfies import failing

    members, starts = grouped(labels)
    part = table.take(members)
    limits = limits_of(both_sides(part.sensitive), policy, part.persons)
    broken: Any = failing(limits, np.arange(len(members), dtype=np.int32), starts)
    return np.asarray(broken, dtype=bool)
