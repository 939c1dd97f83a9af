"""Histograms of classes: rolled up from one node of the lattice to the next, without a look at the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tclose.make.kernels.compiling import kernel
from tclose.make.kernels.limits import Limits
from tclose.make.kernels.running import run
from tclose.make.kernels.satisfies import column_satisfies, failing
from tclose.make.kernels.scratch import Scratch
from tclose.values.arrays import Bools, Bytes, Codes, Ints, renumber


class Histogram(NamedTuple):
    """The classes of a node, and how often each combination of sensitive values occurs in each of them.

    Where persons are counted, counts of values are not enough: each row is then a combination of its own.
    """

    codes: Codes
    """(classes, quasi): the codes of one row of each class."""
    starts: Ints
    """(classes + 1,): where the entries of each class start."""
    items: Codes
    """(entries,): the number of the combination of sensitive values,"""
    counts: Ints
    """and how many rows of the class have it."""

    @property
    def sizes(self) -> Ints:
        """The number of rows of each class."""
        return np.add.reduceat(self.counts, self.starts[:-1])


def histogram_of(quasi: Codes, limits: Limits) -> tuple[Histogram, Limits]:
    """Return the histogram of rows, each of which is a class, and the limits with the values of combinations instead of rows."""
    rows = len(quasi)
    items, chosen = np.arange(rows), np.arange(rows)
    if not len(limits.persons):
        items, chosen = number_tuples([(codes.astype(np.int64), size) for codes, size in _columns(limits)])
    combinations = limits._replace(codes=np.ascontiguousarray(limits.codes[:, chosen]))
    return Histogram(quasi, np.arange(rows + 1), items.astype(np.int32), np.ones(rows, dtype=np.int64)), combinations


def _columns(limits: Limits) -> list[tuple[Codes, int]]:
    return list(zip(limits.codes, limits.columns["size"].tolist(), strict=True))


def roll_up(histogram: Histogram, groups: Sequence[tuple[int, Ints]]) -> Histogram:
    """Return the histogram of a generalisation.

    Parameters
    ----------
    groups : sequence of pairs
        The index of each quasi-identifier that tells classes apart, and the group of each of its codes.
    """
    keys = [(group[histogram.codes[:, column]], int(group.max()) + 1) for column, group in groups]
    numbers, chosen = number_tuples(keys)
    owners = np.repeat(numbers, np.diff(histogram.starts))
    entries = owners * (int(histogram.items.max()) + 1) + histogram.items
    order = np.argsort(entries)
    begins = np.flatnonzero(np.diff(entries[order], prepend=-1))
    kept = order[begins]
    starts = np.searchsorted(owners[kept], np.arange(len(chosen) + 1))
    return Histogram(histogram.codes[chosen], starts, histogram.items[kept], np.add.reduceat(histogram.counts[order], begins))


def number_tuples(columns: Sequence[tuple[Ints, int]]) -> tuple[Ints, Ints]:
    """Return the number of each tuple of codes, without gaps and in their order, and for each number the index of a tuple.

    A column comes with a number above all of its codes.
    """
    keys, bound = np.zeros(len(columns[0][0]), dtype=np.int64), 1
    for codes, size in columns:
        if bound * size >= 2**62:
            keys = renumber(keys, bound)[0]
            bound = int(keys.max()) + 1
        keys = keys * size + codes
        bound *= size
    return renumber(keys, bound)


def failing_classes(limits: Limits, scratch: Scratch, histogram: Histogram, *, first: bool = False) -> Bools:
    """Return for each class whether it fails a limit; with ``first``, the first that is found is enough.

    ``limits`` are those of `histogram_of`, ``scratch`` is for them.
    """
    small = histogram.sizes < limits.k  # fewer rows are fewer persons too
    if first and small.any():
        return np.asarray(small)
    if len(limits.persons):
        return failing(limits, histogram.items, histogram.starts)
    bad = np.zeros(len(small), dtype=np.bool_)
    run(find_failing_tallied, limits, histogram.starts, histogram.items, histogram.counts, first, scratch, bad)
    return bad


@kernel
def find_failing_tallied(
    limits: Limits, starts: Ints, items: Codes, counts: Ints, first: bool, scratch: Scratch, bad: Bools, cancel: Bytes
) -> None:
    """Fill in for each class whether it fails a limit; with ``first``, until one does. Only for limits that count no persons."""
    for number in range(len(bad)):
        if cancel[0]:
            return
        size = 0
        for entry in range(starts[number], starts[number + 1]):
            size += counts[entry]
        fine = size >= limits.k
        for column in range(len(limits.columns)):
            if not fine:
                break
            distinct = 0
            for entry in range(starts[number], starts[number + 1]):
                code = limits.codes[column, items[entry]]
                if scratch.counts[code] == 0:
                    scratch.touched[distinct] = code
                    distinct += 1
                scratch.counts[code] += counts[entry]
            touched = scratch.touched[:distinct]
            fine = column_satisfies(
                scratch.column_satisfies, limits, limits.references, column, scratch.nobody, size, scratch, touched
            )
        bad[number] = not fine
        if first and not fine:
            return
