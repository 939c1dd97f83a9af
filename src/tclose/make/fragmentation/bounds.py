r"""Promises: how far from the table a class can be, from the number of rows that it takes of each fragment alone.

A class E takes a_f rows of fragment f, :math:`g_f = a_f / |E|`. With P' the mix of the fragments' own spreads in these shares,

.. math:: EMD_s(E, M) \le EMD_s(P'_s, Q_s) + \sum_f g_f \, \Delta_s(f) / |f|

by the triangle inequality: from the class to P' every fragment's rows are moved inside their fragment, at worst
:math:`\Delta_s(f)/|f|` for each unit of mass (*relaxed conformance*). A class that takes the same share of every fragment has
P' = Q, and the promise is the fragmentation's bound (theorem 20).

With one attribute the worst case itself is known; see `tclose.make.fragmentation.one_attribute`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.distances import Hierarchical
from tclose.make.fragmentation.axes import BLOCK, Axis, LineAxis, Metric, Numbers, Sets, TreeAxis
from tclose.make.fragmentation.counts import Counts
from tclose.make.fragmentation.fragment import Fragment
from tclose.make.fragmentation.one_attribute import is_known, worst_alone

Ints = NDArray[np.int64]
NEAR = 1e-9
"""What floats say is taken for what is so when it is farther than this from a limit."""
FINE = 2**44
"""Shares are rounded to so many parts of 1 where only integers will do."""


class _Spreads(NamedTuple):
    """The values of all fragments, one fragment after the other."""

    starts: Ints
    """(fragments + 1,): where each fragment starts."""
    codes: Ints
    counts: Ints


class Promises:
    """What classes of one fragmentation are promised."""

    def __init__(self, matrix: Counts, fragments: Sequence[Fragment], bound: str) -> None:
        """Of these fragments, with their corrected or published worst cases."""
        self._axes = matrix.axes
        self._rows: Ints = np.array([fragment.rows for fragment in fragments])
        self._table = [matrix.marginal(s) for s in range(len(matrix.axes))]
        # For each attribute and fragment the codes that occur, and their rows.
        self._spreads = [[_occurring(fragment.marginal(s)) for fragment in fragments] for s in range(len(matrix.axes))]
        self._worst = [[fragment.worst(s, bound) for fragment in fragments] for s in range(len(matrix.axes))]
        self._floats = [np.array([float(delta) for delta in deltas]) for deltas in self._worst]
        self._joined = [_join(spreads) for spreads in self._spreads]
        alone = len(matrix.axes) == 1 and bound == "corrected"
        self._alone = alone and is_known(matrix.axes[0], [codes for codes, _ in self._spreads[0]])

    def rough(self, wanted: Ints, *, flows: bool = True) -> NDArray[np.float64]:
        """(classes, attributes): what each class is promised, in floats; it takes ``wanted[class, fragment]`` rows.

        Without ``flows`` no linear program is solved: a matrix distance is taken for its largest entry, which is never less.
        """
        step = max(1, BLOCK // max(axis.distance.m for axis in self._axes))
        blocks = [self._rough(wanted[first : first + step], flows) for first in range(0, max(len(wanted), 1), step)]
        return np.concatenate(blocks)

    def _rough(self, wanted: Ints, flows: bool) -> NDArray[np.float64]:
        shares = wanted / wanted.sum(axis=1, keepdims=True)
        rows = np.maximum(self._rows, 1)
        n = self._rows.sum()
        classes, fragments = np.nonzero(wanted)
        parts = shares[classes, fragments] / rows[fragments]
        columns = []
        for s, axis in enumerate(self._axes):
            table = self._table[s] / n
            if self._alone:
                columns.append(worst_alone(axis, [codes for codes, _ in self._spreads[s]], shares, table))
                continue
            mixed = self._mixed(s, classes, fragments, parts, len(wanted))
            inside = np.bincount(classes, parts * self._floats[s][fragments] * n, len(wanted))
            columns.append((emds if flows or not isinstance(axis, Metric) else _at_most)(axis, mixed, table) + inside)
        return np.stack(columns, axis=1)

    def _mixed(self, s: int, classes: Ints, fragments: Ints, parts: NDArray[np.float64], count: int) -> NDArray[np.float64]:
        """(classes, values): the mix of the fragments' own spreads, of which classes take such parts.

        A small class takes rows of few fragments, and a small fragment has few values: only those are added up.
        """
        m, spread = self._axes[s].distance.m, self._joined[s]
        lengths = np.diff(spread.starts)[fragments]
        ends = np.cumsum(lengths)
        places = np.arange(lengths.sum()) + np.repeat(spread.starts[fragments] - ends + lengths, lengths)
        weights = np.repeat(parts, lengths) * spread.counts[places]
        sums = np.bincount(np.repeat(classes, lengths) * m + spread.codes[places], weights, count * m)
        return sums.astype(np.float64).reshape(count, m)

    def exact(self, wanted: Ints) -> tuple[Fraction, ...]:
        """What one class is promised, as fractions."""
        n, size = int(self._rows.sum()), int(wanted.sum())
        shares = [Fraction(int(taken), size) for taken in wanted]
        promised = []
        for s, axis in enumerate(self._axes):
            table = np.array([Fraction(int(count), n) for count in self._table[s]], dtype=object)
            if self._alone:
                alone = worst_alone(axis, [codes for codes, _ in self._spreads[s]], np.array([shares], dtype=object), table)
                promised.append(Fraction(alone[0]))
                continue
            mixed = np.full(len(table), Fraction(0), dtype=object)
            inside = Fraction(0)
            for share, (codes, counts), rows, worst in zip(shares, self._spreads[s], self._rows, self._worst[s], strict=True):
                if share:
                    mixed[codes] += counts.astype(object) * (share / int(rows))
                    inside += share * worst * n / int(rows)
            apart = axis.distance.exact(list(mixed), list(table))
            promised.append(apart + inside)
        return tuple(promised)

    def within(self, wanted: Ints, t: Sequence[Fraction]) -> NDArray[np.bool_]:
        """Which classes are promised to be within the limits. Where floats cannot tell, fractions do."""
        promised = self.rough(wanted, flows=False)
        limits = np.array([float(limit) for limit in t])
        fine: NDArray[np.bool_] = np.all(promised <= limits - NEAR, axis=1)
        if not fine.all() and any(isinstance(axis, Metric) for axis in self._axes):
            promised[~fine] = self.rough(wanted[~fine])
            fine = np.all(promised <= limits - NEAR, axis=1)
        for number in np.flatnonzero(~fine & (promised <= limits + NEAR).all(axis=1)):
            fine[number] = all(value <= limit for value, limit in zip(self.exact(wanted[number]), t, strict=True))
        return fine

    def largest(self, wanted: Ints) -> tuple[Fraction, ...]:
        """For each attribute the largest that any of these classes is promised."""
        kinds = np.unique(wanted, axis=0)
        rough = self.rough(kinds)
        near = (rough >= rough.max(axis=0) - NEAR).any(axis=1)
        promised = [self.exact(kind) for kind in kinds[near]]
        return tuple(max(column) for column in zip(*promised, strict=True))


def _join(spreads: list[tuple[Ints, Ints]]) -> _Spreads:
    starts = np.concatenate([[0], np.cumsum([len(codes) for codes, _ in spreads])]).astype(np.int64)
    return _Spreads(starts, *(np.concatenate(column) for column in zip(*spreads, strict=True)))


def _occurring(counts: Ints) -> tuple[Ints, Ints]:
    codes = np.flatnonzero(counts)
    return codes, counts[codes]


def emds(axis: Axis, shares: Numbers, table: Numbers) -> Numbers:
    """The earth mover's distance of each row of shares to the table's; dense."""
    if axis.distance.scale == 0:
        return np.zeros(len(shares))
    surplus = shares - table
    if isinstance(axis, LineAxis):
        cost = np.abs(np.cumsum(surplus, axis=1)[:, :-1]) @ np.diff(axis.places).astype(float)
    elif isinstance(axis, Sets):
        cost = np.maximum(surplus, 0).sum(axis=1)
    elif isinstance(axis, TreeAxis):
        cost = axis.scale - sum(_kept(axis.distance, level, shares, table) for level in range(1, len(axis.distance.ancestors)))
    else:  # the flow of a matrix is found in integers
        whole = np.rint(shares * FINE).astype(np.int64)
        return np.array([float(axis.distance.exact(row, np.rint(table * FINE).astype(np.int64))) for row in whole])
    distances: Numbers = cost / axis.scale
    return distances


def _at_most(_: Axis, shares: Numbers, table: Numbers) -> Numbers:
    """At least the earth mover's distance: all that must move goes as far as there is."""
    farthest: Numbers = np.maximum(shares - table, 0).sum(axis=1)
    return farthest


def _kept(distance: Hierarchical, level: int, shares: Numbers, table: Numbers) -> Numbers:
    """What stays below the nodes of one level: sum of w_N min(P_N, Q_N)."""
    runs = np.flatnonzero(np.diff(distance.ancestors[level], prepend=-2))
    below = np.minimum(np.add.reduceat(shares, runs, axis=1), np.add.reduceat(table, runs))
    kept: Numbers = below @ distance.weights[level][runs]
    return kept
