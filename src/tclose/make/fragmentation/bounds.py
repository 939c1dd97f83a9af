r"""Promises: upper bounds on the distance of a class from the table, from the numbers of rows that it takes of each fragment.

A class E takes a_f rows of fragment f, :math:`g_f = a_f / |E|`. With P' the mixture of the fragments' own distributions in these
shares,

.. math:: EMD_s(E, M) \le EMD_s(P'_s, Q_s) + \sum_f g_f \, \Delta_s(f) / |f|

by the triangle inequality: from the class to P' the rows of every fragment are moved inside their fragment, at worst
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

from tclose.distances import Distance
from tclose.make.emd import emds
from tclose.make.fragmentation.axes import BLOCK, Numbers
from tclose.make.fragmentation.counts import Counts
from tclose.make.fragmentation.fragment import Fragment
from tclose.make.fragmentation.one_attribute import is_known, worst_alone
from tclose.values.arrays import Ints

NEAR = 1e-9
"""A float decides a limit only when it is farther than this from it; nearer, fractions do."""


class _Distributions(NamedTuple):
    """The values of all fragments, one fragment after the other."""

    starts: Ints
    """(fragments + 1,): where each fragment starts."""
    codes: Ints
    counts: Ints


class Promises:
    """How far from the table the classes of one fragmentation can be."""

    def __init__(self, matrix: Counts, fragments: Sequence[Fragment], bound: str) -> None:
        """Take the fragments of a matrix, with their corrected or published worst cases."""
        self._distances = [axis.distance for axis in matrix.axes]
        self._rows: Ints = np.array([fragment.rows for fragment in fragments])
        self._table = [matrix.marginal(s) for s in range(len(matrix.axes))]
        # For each attribute and fragment the codes that occur, and their rows.
        self._occurring = [[_codes_and_counts(fragment.marginal(s)) for fragment in fragments] for s in range(len(matrix.axes))]
        self._worst = [[fragment.worst(s, bound) for fragment in fragments] for s in range(len(matrix.axes))]
        self._floats = [np.array([float(delta) for delta in deltas]) for deltas in self._worst]
        self._joined = [_joined_distributions(occurring) for occurring in self._occurring]
        alone = len(matrix.axes) == 1 and bound == "corrected"
        self._alone = alone and is_known(self._distances[0], [codes for codes, _ in self._occurring[0]])

    def rough(self, wanted: Ints, *, flows: bool = True) -> NDArray[np.float64]:
        """Return the bounds on classes' distances from the table, (classes, attributes), as floats, from rows of each fragment.

        Without ``flows`` no linear program is solved: each distance of a metric is taken for 1, which is never less.
        """
        step = max(1, BLOCK // max(distance.m for distance in self._distances))
        blocks = [self._rough_of_block(wanted[first : first + step], flows) for first in range(0, max(len(wanted), 1), step)]
        return np.concatenate(blocks)

    def _rough_of_block(self, wanted: Ints, flows: bool) -> NDArray[np.float64]:
        """Return the bounds of some classes as floats: the distance of the mixture, and the worst cases inside fragments."""
        shares = wanted / wanted.sum(axis=1, keepdims=True)
        rows = np.maximum(self._rows, 1)
        n = self._rows.sum()
        classes, fragments = np.nonzero(wanted)
        parts = shares[classes, fragments] / rows[fragments]
        columns = []
        for s, distance in enumerate(self._distances):
            table = self._table[s] / n
            if self._alone:
                columns.append(worst_alone(distance, [codes for codes, _ in self._occurring[s]], shares, table))
                continue
            mixed = self._mixtures(s, classes, fragments, parts, len(wanted))
            inside = np.bincount(classes, parts * self._floats[s][fragments] * n, len(wanted))
            columns.append((emds if flows or distance.shape != "metric" else _emd_at_most)(distance, mixed, table) + inside)
        return np.stack(columns, axis=1)

    def _mixtures(self, s: int, classes: Ints, fragments: Ints, parts: NDArray[np.float64], count: int) -> NDArray[np.float64]:
        """Return for each class the mixture of the fragments' distributions in the shares that it takes: (classes, values).

        A small class takes rows of few fragments, and a small fragment has few values: only those are added up.
        """
        m, joined = self._distances[s].m, self._joined[s]
        lengths = np.diff(joined.starts)[fragments]
        ends = np.cumsum(lengths)
        indices = np.arange(lengths.sum()) + np.repeat(joined.starts[fragments] - ends + lengths, lengths)
        weights = np.repeat(parts, lengths) * joined.counts[indices]
        sums = np.bincount(np.repeat(classes, lengths) * m + joined.codes[indices], weights, count * m)
        return sums.astype(np.float64).reshape(count, m)

    def exact(self, wanted: Ints) -> tuple[Fraction, ...]:
        """Return the bound on one class's distance from the table, for each attribute, as fractions."""
        n, size = int(self._rows.sum()), int(wanted.sum())
        shares = [Fraction(int(taken), size) for taken in wanted]
        promised = []
        for s, distance in enumerate(self._distances):
            table = np.array([Fraction(int(count), n) for count in self._table[s]], dtype=object)
            if self._alone:
                occurring = [codes for codes, _ in self._occurring[s]]
                alone = worst_alone(distance, occurring, np.array([shares], dtype=object), table)
                promised.append(Fraction(alone[0]))
                continue
            mixed = np.full(len(table), Fraction(0), dtype=object)
            inside = Fraction(0)
            for share, (codes, counts), rows, worst in zip(shares, self._occurring[s], self._rows, self._worst[s], strict=True):
                if share:
                    mixed[codes] += counts.astype(object) * (share / int(rows))
                    inside += share * worst * n / int(rows)
            promised.append(Fraction(emds(distance, mixed[None, :], table)[0]) + inside)
        return tuple(promised)

    def within(self, wanted: Ints, t: Sequence[Fraction]) -> NDArray[np.bool_]:
        """Return for each class whether its bounds are within the limits; fractions decide where floats cannot tell."""
        promised = self.rough(wanted, flows=False)
        limits = np.array([float(limit) for limit in t])
        fine: NDArray[np.bool_] = np.all(promised <= limits - NEAR, axis=1)
        if not fine.all() and any(distance.shape == "metric" for distance in self._distances):
            promised[~fine] = self.rough(wanted[~fine])
            fine = np.all(promised <= limits - NEAR, axis=1)
        for number in np.flatnonzero(~fine & (promised <= limits + NEAR).all(axis=1)):
            fine[number] = all(value <= limit for value, limit in zip(self.exact(wanted[number]), t, strict=True))
        return fine

    def largest(self, wanted: Ints) -> tuple[Fraction, ...]:
        """Return for each attribute the largest bound of some classes, as a fraction."""
        kinds = np.unique(wanted, axis=0)
        rough = self.rough(kinds)
        near = (rough >= rough.max(axis=0) - NEAR).any(axis=1)
        promised = [self.exact(kind) for kind in kinds[near]]
        return tuple(max(column) for column in zip(*promised, strict=True))


def _joined_distributions(occurring: list[tuple[Ints, Ints]]) -> _Distributions:
    """Return the distributions of all fragments in one array each, one fragment after the other."""
    starts = np.concatenate([[0], np.cumsum([len(codes) for codes, _ in occurring])]).astype(np.int64)
    return _Distributions(starts, *(np.concatenate(column) for column in zip(*occurring, strict=True)))


def _codes_and_counts(counts: Ints) -> tuple[Ints, Ints]:
    """Return the codes of a fragment's values that occur, and the count of each."""
    codes = np.flatnonzero(counts)
    return codes, counts[codes]


def _emd_at_most(_: Distance, shares: Numbers, table: Numbers) -> Numbers:
    """Return an upper bound on the EMD of each row of shares: all surplus moves distance 1."""
    farthest: Numbers = np.maximum(shares - table, 0).sum(axis=1)
    return farthest
