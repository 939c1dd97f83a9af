"""Microaggregation with swaps: rows of each class are swapped for farther ones that bring it nearer to the table; then merging.

Soria-Comas, Domingo-Ferrer, Sanchez and Martinez 2015, algorithm 2 ("k-anonymity-first"), for any limits and any number of
sensitive attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tclose.make.algorithm import Partition
from tclose.make.kernels.compiling import kernel, lean
from tclose.make.kernels.excess import excess
from tclose.make.kernels.limits import Limits
from tclose.make.kernels.nearest import find_nearest
from tclose.make.kernels.satisfies import satisfies, scratch_for
from tclose.make.kernels.scratch import Scratch
from tclose.make.microaggregation.mdav import LEFT, Open, choose_seed, close_class, make_classes
from tclose.make.microaggregation.merge import excess_of, merged_partition
from tclose.make.microaggregation.space import Space, space_of
from tclose.make.models.closeness import tightened
from tclose.values.arrays import Bytes, Codes, Ints, renumber

if TYPE_CHECKING:
    from tclose.make.problem import Problem

WIDER = 4
"""Rows are sorted by distance as far as they are needed: each time this many times as many."""


def swap(
    problem: Problem,
    seed: int,  # noqa: ARG001 - nothing is random,
    effort: str,  # noqa: ARG001 - nothing is refined,
    options: Mapping[str, Any],  # noqa: ARG001 - and there are no options
) -> Partition:
    """Make classes as MDAV does, but swap rows of each until it satisfies the limits; then merge those that do not.

    While the class of the k rows that are nearest to a seed fails a limit, the other rows without a class are walked through
    once, by their distance from the seed. A row is swapped in for the member whose exchange lowers the EMD most, if any lowers
    it. With several sensitive attributes, or limits other than t, "EMD" is the excess: the sum over the attributes of max(0,
    EMD - t), and the like.

    Swapping counts rows also where the policy counts persons; merging counts persons.
    """
    space, limits = space_of(problem), problem.limits
    nobody = np.empty(0, dtype=np.int32)
    by_rows = limits._replace(persons=nobody, pairs=np.empty((0, problem.rows), dtype=np.int32))
    limited = sum(column.t is not None for column in problem.policy.sensitive)
    steering = tightened(by_rows, Fraction(0)) if limited == 1 else by_rows  # the excess over t = 0 is the EMD
    return merged_partition(space, limits, make_and_swap(space, by_rows, steering))


def make_and_swap(space: Space, limits: Limits, steering: Limits) -> Ints:
    """Return the class of each row, before classes are merged.

    Parameters
    ----------
    limits
        What a class must satisfy; without persons.
    steering
        Whose excess swaps lower.
    """
    rows = space.rows.shape[1]
    kinds = np.zeros(rows, dtype=np.int64)
    for codes, size in zip(limits.codes, limits.columns["size"].tolist(), strict=True):
        kinds = renumber(kinds * size + codes)[0]
    swapping = Swapping(
        limits,
        steering,
        kinds,
        np.zeros(int(kinds.max()) + 1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.empty(rows, dtype=np.int64),
        np.empty(rows, dtype=np.int32),
        scratch_for(limits),
        excess.address(),
    )
    return make_classes(space, _swap, limits.k, swapping)


class Swapping(NamedTuple):
    """How swaps are judged, and memory for the class at hand."""

    limits: Limits
    """Which a class must satisfy: those of the policy, over rows."""
    steering: Limits
    """Whose excess is lowered."""
    kinds: Ints
    """(rows,): the number of each row's tuple of sensitive values."""
    tried: Ints
    """(kinds,): the number of the last class, as it was with its swaps so far, that a row of this kind was tried for."""
    version: Ints
    """(1,): the number of the class as it is now."""
    order: Ints
    """(rows,): indices of rows without a class, by distance from the seed."""
    members: Codes
    """(rows,): the rows of the class."""
    scratch: Scratch
    excess: int
    """The address of `tclose.make.kernels.excess.excess`."""


@kernel
def _swap(space: Space, state: Open, k: int, swapping: Swapping, visits: int, cancel: Bytes) -> None:
    """Make classes of the k nearest rows, and swap rows of each, until all rows have a class or many were measured."""
    limits, members = swapping.limits, swapping.members
    while state.numbers[LEFT] > 0 and visits > 0 and cancel[0] == 0:
        left = state.numbers[LEFT]
        visits -= left
        choose_seed(space, state)
        size = k if left >= 2 * k else left
        sorted_to = size
        find_nearest(state.distances[:left], sorted_to, swapping.order)
        for index in range(size):
            state.chosen[index] = swapping.order[index]
            members[index] = state.rows[swapping.order[index]]
        walked = size
        while walked < left and cancel[0] == 0 and not satisfies(limits, limits.references, members[:size], swapping.scratch):
            swapping.version[0] += 1
            least = excess_of(swapping.steering, members[:size], swapping.scratch, swapping.excess)
            swapped = False
            while walked < left and not swapped and cancel[0] == 0:
                if walked == sorted_to:
                    sorted_to = min(left, WIDER * sorted_to)
                    find_nearest(state.distances[:left], sorted_to, swapping.order)
                index = swapping.order[walked]
                row = state.rows[index]
                walked += 1
                if swapping.tried[swapping.kinds[row]] == swapping.version[0]:
                    continue  # a row with the same sensitive values lowered nothing
                swapping.tried[swapping.kinds[row]] = swapping.version[0]
                out = _member_to_swap(swapping, members[:size], row, least)
                if out >= 0:
                    members[out], state.chosen[out] = row, index
                    swapped = True
        close_class(state, state.chosen[:size])


@lean
def _member_to_swap(swapping: Swapping, members: Codes, row: int, least: float) -> int:
    """Return the index of the member whose exchange for a row lowers the excess most below ``least``; -1 if none lowers it."""
    best = -1
    for index in range(len(members)):
        member = members[index]
        members[index] = row
        found = excess_of(swapping.steering, members, swapping.scratch, swapping.excess)
        members[index] = member
        if found < least:
            best, least = index, found
    return best
