r"""Axes: how a box of the matrix is cut along one attribute, and the worst case of the rows inside it.

A class that takes rows from a box may take any of them. Turning the box's own distribution p into the one that the class took
costs, at worst,

.. math:: \Delta(p, V) = \max_{v \in V} \sum_u p_u d(u, v)

because the earth mover's distance is convex, and the corners of the simplex over V are the distributions of one value alone. The
corrected form takes for V the values that occur in the box, and the distance d of the whole domain; the published one (Bagai et
al. 2023, section 2.3) all values of the box, and distances in units of the box's own extent.

Worst cases are integers here: rows times ``scale`` steps of distance.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.distances import Distance
from tclose.distances.shapes import Line, Metric, Tree
from tclose.errors import PolicyError
from tclose.values.arrays import Ints
from tclose.values.exact import integer_dtype

Numbers = NDArray[Any]

BLOCK = 2**21
"""The most counts that are held at a time where all cuts of a box are weighed at once."""
PUBLISHED_AT_MOST = 100
"""The most values of a published bound, unless they are equal steps apart: it needs a common multiple of all distances."""


class Axis(ABC):
    """One attribute of the matrix.

    Attributes
    ----------
    distance : Distance
        Between its codes.
    """

    def __init__(self, distance: Distance) -> None:
        """Take the distance of the sensitive attribute."""
        self.distance = distance

    @abstractmethod
    def order(self, codes: Ints, rows: Ints) -> Ints:
        """Return the values of a fragment, its ``codes``, in the order in which it can be cut; ``rows`` are its rows at each."""

    def cuts(self, codes: Ints) -> Ints | list[Ints]:
        """Return the ways to cut a fragment's ordered values: numbers of values before each cut; an array if all are in two."""
        return np.arange(1, len(codes))[:, None]

    def delta(self, counts: Ints) -> int:
        """Return the worst case of a fragment, times `scale`, from its number of rows at each code of the domain."""
        codes = np.flatnonzero(counts)
        return int(self.worst(codes, counts[codes], np.array([len(codes)]))[0]) if len(codes) else 0

    @abstractmethod
    def worst(self, codes: Ints, rows: Ints, ends: Ints) -> Numbers:
        """Return for each e of ``ends`` the worst case of a fragment of the first e cells, times `scale`."""

    @abstractmethod
    def worst_of_parts(self, codes: Ints, rows: Ints, starts: Ints) -> Numbers:
        """Return the worst case of each part of a fragment's cells, times `scale`; the parts start at ``starts``."""

    @property
    def scale(self) -> int:
        """The number of steps from one end of the domain to the other; 1 if the domain has one value."""
        return self.distance.scale or 1

    @cached_property
    def published_unit(self) -> int:
        """A multiple, in steps, of every extent that a fragment can have: published worst cases are integers in it."""
        return _multiple_of_distances(self)

    def published(self, codes: Ints, rows: Ints) -> int:
        """Return the published worst case of a fragment with ``rows`` at each of its ``codes``, times `published_unit`."""
        steps = [[int(self.distance.ground(int(u), int(v)) * self.scale) for u in codes] for v in codes]
        extent = max(map(max, steps))
        if extent == 0:
            return 0
        farthest = max(sum(step * int(count) for step, count in zip(row, rows, strict=True)) for row in steps)
        return farthest * (self.published_unit // extent)


class LineAxis(Axis):
    """On a line a box spans a run of values, and is cut between two of them.

    All mass at the farther end is the worst case, because a sum of distances is convex along a line: with the moment
    M = sum of p_j v_j, that is max(M - a |p|, e |p| - M) for a box from a to e.
    """

    distance: Line

    def __init__(self, distance: Line, rows: int) -> None:
        """Take the distance of the attribute, and the number of rows of the table."""
        super().__init__(distance)
        self.positions: Numbers = distance.positions.astype(integer_dtype(4 * distance.scale * rows))

    def order(self, codes: Ints, rows: Ints) -> Ints:  # noqa: ARG002 - the same for all boxes
        """Return the values of a fragment in the order in which it is cut on a line: by their codes, ascending."""
        return codes

    def worst(self, codes: Ints, rows: Ints, ends: Ints) -> Numbers:
        """Return for each e of ``ends`` the worst case of a fragment of the first e cells, by running sums along the line."""
        positions = self.positions[codes]
        last = ends - 1
        low, high = np.minimum.accumulate(positions)[last], np.maximum.accumulate(positions)[last]
        return _worst_from_moments(np.cumsum(rows)[last], np.cumsum(rows * positions)[last], low, high)

    def worst_of_parts(self, codes: Ints, rows: Ints, starts: Ints) -> Numbers:
        """Return the worst case of each part of a fragment's cells on a line, by the sums and the ends of each part."""
        positions = self.positions[codes]
        low, high = np.minimum.reduceat(positions, starts), np.maximum.reduceat(positions, starts)
        return _worst_from_moments(np.add.reduceat(rows, starts), np.add.reduceat(rows * positions, starts), low, high)

    @cached_property
    def published_unit(self) -> int:
        """The least common multiple of the extents of all fragments on a line: of 1 to m-1 steps, or of all differences."""
        if self.distance.scale == self.distance.m - 1:
            return math.lcm(*range(1, self.distance.m))
        return _multiple_of_distances(self)

    def published(self, codes: Ints, rows: Ints) -> int:
        """Return the published worst case of a fragment: all mass at the farther end, in units of its own length."""
        mass, moment = rows.sum(), (rows * self.positions[codes]).sum()
        ends = self.positions[codes[0]], self.positions[codes[-1]]
        return int(self.published_runs(np.array([mass]), np.array([moment]), *ends)[0])

    def published_runs(self, mass: Numbers, moment: Numbers, first: Any, last: Any) -> Numbers:
        """Return the published worst cases of several fragments on a line, from their rows, sums of positions, and ends."""
        extents = np.broadcast_to(last - first, mass.shape).tolist()
        per_step = [self.published_unit // extent if extent else 0 for extent in extents]
        farther = _worst_from_moments(mass.astype(self.positions.dtype), moment, first, last)
        worst: Numbers = farther.astype(object) * np.array(per_step, dtype=object)
        return worst


def _multiple_of_distances(axis: Axis) -> int:
    """Return the least common multiple of all distances in steps; raise PolicyError if there are too many."""
    m = axis.distance.m
    if m > PUBLISHED_AT_MOST:
        raise PolicyError(
            f"The published bound of a {axis.distance.name} distance takes at most {PUBLISHED_AT_MOST} values. Got {m}: "
            "use the corrected bound."
        )
    steps = {int(axis.distance.ground(i, j) * axis.scale) for i in range(m) for j in range(i)}
    return math.lcm(*steps, axis.scale)


def _worst_from_moments(mass: Numbers, moment: Numbers, low: Numbers, high: Numbers) -> Numbers:
    """Return the worst cases of fragments on a line, all mass at the farther end, from masses, moments and ends."""
    farther: Numbers = np.maximum(moment - low * mass, high * mass - moment)
    return farther


class DenseAxis(Axis):
    """An axis whose worst case needs the rows at every value of a part; they are counted for a block of parts at a time."""

    def __init__(self, distance: Distance, rows: int) -> None:
        """Take the distance of the attribute, and the number of rows of the table."""
        super().__init__(distance)
        self.most = rows * self.scale
        self.dtype = integer_dtype(4 * self.most)

    @abstractmethod
    def _worst_of_counts(self, codes: Ints, counts: Numbers) -> Numbers:
        """Return the worst case of each part of a fragment, a row of ``counts`` at the values ``codes``, ascending."""

    def worst(self, codes: Ints, rows: Ints, ends: Ints) -> Numbers:
        """Return for each e of ``ends`` the worst case of a fragment of the first e cells, from counts summed up to each end."""
        starts = np.concatenate([[0], ends[:-1]])
        return self._worst_blockwise(codes[: ends[-1]], rows[: ends[-1]], starts, running=True)

    def worst_of_parts(self, codes: Ints, rows: Ints, starts: Ints) -> Numbers:
        """Return the worst case of each part of a fragment's cells, from the counts of each part."""
        return self._worst_blockwise(codes, rows, starts, running=False)

    def _worst_blockwise(self, codes: Ints, rows: Ints, starts: Ints, *, running: bool) -> Numbers:
        """Return the worst case of each part of a fragment, or of all parts up to it if ``running``, some at a time."""
        occurring, ranks = np.unique(codes, return_inverse=True)
        bounds = np.append(starts, len(codes))
        step = max(1, BLOCK // len(occurring))
        so_far: Numbers = np.zeros(len(occurring), dtype=self.dtype)
        found = []
        for first in range(0, len(starts), step):
            last = min(first + step, len(starts))
            inside = slice(bounds[first], bounds[last])
            part = np.repeat(np.arange(last - first), np.diff(bounds[first : last + 1]))
            counts: Numbers = np.zeros((last - first, len(occurring)), dtype=self.dtype)
            np.add.at(counts, (part, ranks[inside]), rows[inside])
            if running:
                counts[0] += so_far
                counts = np.cumsum(counts, axis=0)
                so_far = counts[-1].copy()
            found.append(self._worst_of_counts(occurring, counts))
        return np.concatenate(found)


class SetAxis(Axis):
    """In a set a box has any values, and all its mass at the rarest of them is the worst case.

    Values are cut in the order of their rows: of all ways to split a set in two, splitting off the most frequent value leaves the
    least worst case on this axis, and it is one of these.
    """

    def order(self, codes: Ints, rows: Ints) -> Ints:
        """Return the values of a fragment in the order in which it is cut in a set: those with the fewest ``rows`` first."""
        return codes[np.argsort(rows, kind="stable")]

    def worst(self, codes: Ints, rows: Ints, ends: Ints) -> Numbers:
        """Return for each e of ``ends`` the worst case of a fragment of the first e cells, by the values' running least count."""
        codes, rows = codes[: ends[-1]], rows[: ends[-1]]
        along = np.argsort(codes, kind="stable")
        first = np.diff(codes[along], prepend=-1) != 0
        so_far = np.cumsum(rows[along])
        so_far -= np.repeat((so_far - rows[along])[first], np.diff(np.append(np.flatnonzero(first), len(along))))
        since = np.searchsorted(ends, along, side="right")
        until = np.append(since[1:], len(ends))
        until[:-1][first[1:]] = len(ends)
        worst: Ints = (np.cumsum(rows)[ends - 1] - _running_minimum(since, until, so_far, len(ends))) * self.distance.scale
        return worst

    def worst_of_parts(self, codes: Ints, rows: Ints, starts: Ints) -> Numbers:
        """Return the worst case of each part of a fragment's cells in a set: its rows less those of its rarest value."""
        part = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(codes))))
        values, index = np.unique(part * self.distance.m + codes, return_inverse=True)
        counts = np.zeros(len(values), dtype=np.int64)
        np.add.at(counts, index, rows)
        rarest = np.minimum.reduceat(counts, np.searchsorted(values, np.arange(len(starts)) * self.distance.m))
        worst: Ints = (np.add.reduceat(rows, starts) - rarest) * self.distance.scale
        return worst


def _running_minimum(since: Ints, until: Ints, numbers: Ints, size: int) -> Ints:
    """Return the least number at each index, where each number counts from index ``since`` to before ``until``.

    A run of indices is covered by two overlapping runs of a power of two; these are then halved down to single indices.
    """
    some = since < until
    since, until, numbers = since[some], until[some], numbers[some]
    power = np.frexp((until - since).astype(np.float64))[1] - 1  # the largest power of two within each run
    least: Ints = np.full((int(power.max()) + 1, size), np.iinfo(np.int64).max)
    np.minimum.at(least, (power, since), numbers)
    np.minimum.at(least, (power, until - (1 << power)), numbers)
    for step in range(len(least) - 1, 0, -1):
        half = 1 << (step - 1)
        np.minimum(least[step - 1], least[step], out=least[step - 1])
        np.minimum(least[step - 1, half:], least[step, :-half], out=least[step - 1, half:])
    single: Ints = least[0]
    return single


class MetricAxis(DenseAxis):
    """Under any metric the worst case is its definition. Values are cut in the order of their distance from the worst one."""

    distance: Metric

    def __init__(self, distance: Metric, rows: int) -> None:
        """Take the distance of the attribute, and the number of rows of the table."""
        super().__init__(distance, rows)
        self.steps: Numbers = distance.matrix.astype(self.dtype)

    def order(self, codes: Ints, rows: Ints) -> Ints:
        """Return the values of a fragment by their distance from its worst value, nearest first; ties: the first code first."""
        farthest = codes[np.argmax(np.where(rows > 0, self.steps[np.ix_(codes, codes)] @ rows, -1))]
        return codes[np.argsort(self.steps[farthest, codes], kind="stable")]

    def _worst_of_counts(self, codes: Ints, counts: Numbers) -> Numbers:
        """Return the worst case of each part of a fragment: the most work to move all its rows to one of its values."""
        worst: Numbers = np.where(counts > 0, counts @ self.steps[np.ix_(codes, codes)], 0).max(axis=1)
        return worst


class TreeAxis(DenseAxis):
    """In a tree a box has the values below a node, and is cut into that node's children.

    All mass at the value v from which the other values are farthest is the worst case: |p| - (1/H) sum of w_N p(N) over the nodes
    N above v but the root, w_N = height(parent) - height(N).
    """

    distance: Tree

    def order(self, codes: Ints, rows: Ints) -> Ints:  # noqa: ARG002 - the same for all boxes
        """Return the values of a fragment in the order in which it is cut in a tree: by their codes, depth first."""
        return codes

    def cuts(self, codes: Ints) -> list[Ints]:
        """Return the only way to cut a fragment in a tree: between the children of the lowest node above its codes."""
        if len(codes) < 2:
            return []
        level = next(level for level in self.distance.ancestors if (level[codes] != level[codes[0]]).any())
        return [np.flatnonzero(np.diff(level[codes])) + 1]

    def _worst_of_counts(self, codes: Ints, counts: Numbers) -> Numbers:
        """Return the worst case of each part of a fragment in a tree: its rows less the least mass that stays in place."""
        if self.distance.scale == 0:
            return np.zeros(len(counts), dtype=np.int64)
        stays: Numbers = np.zeros(counts.shape, dtype=self.dtype)
        for level, weights in zip(self.distance.ancestors[1:], self.distance.weights[1:], strict=True):
            nodes = level[codes]
            runs = np.flatnonzero(np.diff(nodes, prepend=-2))
            below = np.add.reduceat(counts, runs, axis=1)
            stays += np.repeat(below, np.diff(np.append(runs, len(codes))), axis=1) * weights[codes]
        least = np.where(counts > 0, stays, self.most).min(axis=1)
        worst: Numbers = counts.sum(axis=1) * self.distance.scale - least
        return worst


def axis_of(distance: Any, rows: int) -> Axis:
    """Return the axis along which fragments of a sensitive attribute are cut, by the shape of its distance."""
    if distance.shape == "line":
        return LineAxis(distance, rows)
    if distance.shape == "set":
        return SetAxis(distance)
    return TreeAxis(distance, rows) if distance.shape == "tree" else MetricAxis(distance, rows)
