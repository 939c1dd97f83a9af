"""Microaggregation with merging: classes of the k nearest rows; those that fail a limit are merged with the nearest.

Soria-Comas, Domingo-Ferrer, Sanchez and Martinez 2015, algorithm 1, for any limits and any number of sensitive attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tclose.jobs import announce, report
from tclose.make.algorithm import Partition
from tclose.make.kernels.classes import Classes, classes_of, gather, join, labels_of
from tclose.make.kernels.compiling import kernel, lean
from tclose.make.kernels.excess import excess
from tclose.make.kernels.limits import Limits
from tclose.make.kernels.loss import BELOW
from tclose.make.kernels.running import run
from tclose.make.kernels.satisfies import failing, satisfies, scratch_for, tally
from tclose.make.kernels.scratch import Scratch
from tclose.make.microaggregation.mdav import mdav
from tclose.make.microaggregation.space import Space, find_centroid, space_of, squared
from tclose.values.arrays import Bools, Bytes, Codes, Floats, Ints, grouped
from tclose.values.exact import number_of

if TYPE_CHECKING:
    from tclose.make.problem import Problem


def merge(
    problem: Problem,
    seed: int,  # noqa: ARG001 - nothing is random,
    effort: str,  # noqa: ARG001 - nothing is refined,
    options: Mapping[str, Any],  # noqa: ARG001 - and there are no options
) -> Partition:
    """Make classes of the k nearest rows by MDAV, then merge those that fail a limit with the nearest, the worst first."""
    space = space_of(problem)
    labels = mdav(space, problem.limits.k)
    return merged_partition(space, problem.limits, labels)


def merged_partition(space: Space, limits: Limits, labels: Ints, **course: int) -> Partition:
    """Return classes that satisfy every limit, and how many there were before they were merged."""
    merged = merge_worst(space, limits, labels)
    return Partition(merged, course={**course, "classes_before_merging": int(labels.max()) + 1})


VISITS = 30_000_000
"""The number of rows and classes that a kernel looks at before it returns, so that progress can be reported."""

BEGUN, DONE = range(2)
"""The entries of `Merging.state`: whether centroids and excesses of all classes are known, and whether merging is over."""


class Merging(NamedTuple):
    """What is known of each class while classes are merged, and memory."""

    bad: Bools
    """(classes,): whether it fails a limit."""
    excess: Floats
    """(classes,): how far it is from its limits, if it fails one."""
    centroids: Floats
    """(classes, quasi)"""
    rows: Codes
    """(rows,): memory for the rows of one class."""
    state: Bools
    """See `BEGUN` and `DONE`."""


def merge_worst(space: Space, limits: Limits, labels: Ints) -> Ints:
    """Merge the class that is farthest from its limits with the class that has the nearest centroid, until no class fails.

    How far a class is from its limits is its excess, for one t the EMD less t; see `tclose.make.kernels.excess`. Whether it
    fails is checked by itself and exactly after each merge, so limits that merging may break are satisfied too. The end is one
    class of all rows at the latest. Ties: the first wins; the union of two classes takes the number of the first.

    Parameters
    ----------
    labels : (rows,) int64
        The class of each row, numbered without gaps.

    Returns
    -------
    (rows,) int64
        Classes numbered without gaps.
    """
    bad = failing(limits, *grouped(labels))
    if not bad.any():
        return labels
    announce("Merging classes of")
    return merge_all(space, limits, labels, bad)


def merge_all(space: Space, limits: Limits, labels: Ints, bad: Bools) -> Ints:
    """Merge the classes that fail a limit; see `merge_worst`."""
    classes = classes_of(labels, 0)
    merging = Merging(
        bad,
        np.zeros(len(bad)),
        np.empty((len(bad), len(space.rows))),
        np.empty(len(labels), dtype=np.int32),
        np.zeros(2, dtype=np.bool_),
    )
    scratch = scratch_for(limits)
    while not merging.state[DONE]:
        run(_merge_all, limits, space, classes, merging, scratch, excess.address(), VISITS)
        report(f"{number_of(int(bad.sum()), 'class breaks', 'classes break')} a limit")
    return labels_of(classes)


@kernel
def _merge_all(
    limits: Limits, space: Space, classes: Classes, merging: Merging, scratch: Scratch, address: int, visits: int, cancel: Bytes
) -> None:
    """Merge the worst class with the nearest, until none fails, one is left, or many rows and classes were looked at."""
    bad, rows = merging.bad, merging.rows
    if not merging.state[BEGUN]:
        for number in range(len(bad)):
            size = gather(classes, number, BELOW, rows)
            find_centroid(space, rows[:size], merging.centroids[number])
            if bad[number]:
                merging.excess[number] = excess_of(limits, rows[:size], scratch, address)
        merging.state[BEGUN] = True
    while visits > 0 and cancel[0] == 0:
        worst = _worst(merging)
        nearest = -1 if worst < 0 else _nearest(space, classes, merging, worst)
        if nearest < 0:
            merging.state[DONE] = True
            return
        into, other = min(worst, nearest), max(worst, nearest)
        size = join(classes, into, other, rows)
        visits -= size + len(bad)
        find_centroid(space, rows[:size], merging.centroids[into])
        bad[other] = False
        bad[into] = not satisfies(limits, limits.references, rows[:size], scratch)
        if bad[into]:
            merging.excess[into] = excess_of(limits, rows[:size], scratch, address)


@lean
def _worst(merging: Merging) -> int:
    """Return the failing class with the largest excess; -1 if no class fails."""
    worst = -1
    for number in range(len(merging.bad)):
        if merging.bad[number] and (worst < 0 or merging.excess[number] > merging.excess[worst]):
            worst = number
    return worst


@lean
def _nearest(space: Space, classes: Classes, merging: Merging, number: int) -> int:
    """Return the class whose centroid is nearest to that of a class; -1 if there is no other class."""
    nearest, least = -1, np.inf
    for other in range(len(classes.each)):
        if classes.each[other].size == 0 or other == number:
            continue
        total = 0.0
        for quasi in range(merging.centroids.shape[1]):
            total += squared(space.metric, quasi, merging.centroids[number, quasi], merging.centroids[other, quasi])
            if total >= least:
                break
        if total < least:
            nearest, least = other, total
    return nearest


@lean
def excess_of(limits: Limits, rows: Codes, scratch: Scratch, address: int) -> float:
    """Return the excess of a class: the sum over the sensitive columns; see `tclose.make.kernels.excess`."""
    total = 0.0
    for number in range(len(limits.columns)):
        distinct = tally(limits.codes[number], rows, scratch.counts, scratch.touched)
        total += excess(address, limits, number, len(rows), distinct, scratch)
        for code in scratch.touched[:distinct]:
            scratch.counts[code] = 0
    return total
