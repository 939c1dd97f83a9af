"""Microaggregation, t first: every class takes the nearest row of each bucket of sensitive values; then merging.

Soria-Comas, Domingo-Ferrer, Sanchez and Martinez 2015, algorithm 3 ("t-closeness-first"), for one sensitive attribute with the
ordered distance.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tclose.make.algorithm import Partition
from tclose.make.kernels.compiling import kernel, lean
from tclose.make.microaggregation.mdav import LEFT, Open, choose_seed, close_class, make_classes
from tclose.make.microaggregation.merge import merged_partition
from tclose.make.microaggregation.promise import bucket_sizes, cluster_size
from tclose.make.microaggregation.space import Space, space_of
from tclose.values.arrays import Bytes, Ints

if TYPE_CHECKING:
    from tclose.make.problem import Problem


def tfirst(
    problem: Problem,
    seed: int,  # noqa: ARG001 - nothing is random,
    effort: str,  # noqa: ARG001 - nothing is refined,
    options: Mapping[str, Any],  # noqa: ARG001 - and there are no options
) -> Partition:
    """Sort the rows by the sensitive attribute into k' buckets; each class takes the nearest row of every bucket.

    Where that does not satisfy a limit after all, because rows were left over or values are equal, classes are merged.
    """
    space = space_of(problem)
    size = size_for(problem)
    labels = take_from_buckets(space, problem.sensitive[0].codes, size)
    return merged_partition(space, problem.limits, labels, cluster_size=size)


def size_for(problem: Problem) -> int:
    """Return the number of rows of a class, k'; without a t it is k, or a little more."""
    t = problem.sensitive[0].column.t
    return cluster_size(problem.rows, problem.limits.k, Fraction(1) if t is None else t)


def take_from_buckets(space: Space, values: Any, size: int) -> Ints:
    """Return the class of each row; every class takes the nearest row of each of ``size`` buckets.

    Seeds are chosen as in MDAV. If the middle buckets have rows left over, the first classes take one of these rows each: the
    nearest.

    Parameters
    ----------
    values : (rows,) integers
        The codes of the sensitive attribute. Rows with the same code stay in their order.
    """
    sizes = bucket_sizes(len(values), size)
    buckets = np.empty(len(values), dtype=np.int64)
    buckets[np.argsort(values, kind="stable")] = np.repeat(np.arange(size), sizes)
    return make_classes(space, _take, buckets, sizes - sizes.min())


@kernel
def _take(space: Space, state: Open, buckets: Ints, over: Ints, visits: int, cancel: Bytes) -> None:
    """Make classes with the nearest row of each bucket, until all rows have a class or many were measured.

    ``over`` is the number of rows of each bucket that are left over, which classes take beside the nearest.
    """
    size = len(over)
    while state.numbers[LEFT] > 0 and visits > 0 and cancel[0] == 0:
        visits -= state.numbers[LEFT]
        choose_seed(space, state)
        _find_nearest_of_buckets(state, buckets, size)
        extra = _nearest_left_over(state, buckets, over)
        if extra >= 0:
            state.chosen[size] = extra
            over[buckets[state.rows[extra]]] -= 1
        close_class(state, state.chosen[: size + (extra >= 0)])


@lean
def _find_nearest_of_buckets(state: Open, buckets: Ints, size: int) -> None:
    """List the index of the row of each bucket that is nearest to the seed; ties: the first wins."""
    chosen = state.chosen
    for bucket in range(size):
        chosen[bucket] = -1
    for index in range(state.numbers[LEFT]):
        bucket = buckets[state.rows[index]]
        if chosen[bucket] < 0 or state.distances[index] < state.distances[chosen[bucket]]:
            chosen[bucket] = index


@lean
def _nearest_left_over(state: Open, buckets: Ints, over: Ints) -> int:
    """Return the index of the nearest row that the class may take besides; -1 if no bucket has rows left over."""
    nearest = -1
    if over.sum() == 0:
        return nearest
    for index in range(state.numbers[LEFT]):
        bucket = buckets[state.rows[index]]
        free = over[bucket] > 0 and state.chosen[bucket] != index
        if free and (nearest < 0 or state.distances[index] < state.distances[nearest]):
            nearest = index
    return nearest
