"""Candidates: all ways to split a box once, and how each changes the bounds of the attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.make.fragmentation.axes import Axis, LineAxis, Numbers
from tclose.make.fragmentation.counts import Counts
from tclose.make.fragmentation.fragment import Fragment
from tclose.values.arrays import Ints


class Candidates(NamedTuple):
    """The splits of one box, in the order of attributes and cuts."""

    own: list[Any]
    """(attributes,): the worst case of the box itself, rows times `units`."""
    attributes: Ints
    """(splits,): the attribute along which the box is split."""
    cuts: Ints
    """(splits,): the index among the cuts of that attribute."""
    changes: Numbers
    """(splits, attributes): the sum of the worst cases of the parts, less that of the box."""


def units(matrix: Counts, bound: str) -> list[int]:
    """Return for each attribute the number of units in a distance of 1: worst cases are integers in these units."""
    return [axis.published_unit if bound == "published" else axis.scale for axis in matrix.axes]


def candidates(fragment: Fragment, bound: str) -> Candidates:
    """Return all splits of a fragment along one attribute, and how each changes the bounds of all attributes."""
    weigh = _weigh_published if bound == "published" else _weigh_corrected
    own, changes = weigh(fragment)
    attributes = np.repeat(np.arange(len(changes)), [len(change) for change in changes])
    cuts = np.concatenate([np.arange(len(change)) for change in changes])
    stacked = [change for change in changes if len(change)]
    return Candidates(own, attributes, cuts, np.concatenate(stacked) if stacked else np.empty((0, len(own)), dtype=np.int64))


def sides_of(fragment: Fragment, attribute: int, cut: int, bound: str) -> list[Ints]:
    """Return the values of each part of one split of a fragment; values that do not occur go with the next that does."""
    order, occurring = _values_to_cut(fragment, attribute, bound)
    before = fragment.matrix.axes[attribute].cuts(order[occurring])[cut]
    last = np.flatnonzero(occurring)[before - 1]
    return np.split(order, last + 1)


def _values_to_cut(fragment: Fragment, attribute: int, bound: str) -> tuple[Ints, NDArray[np.bool_]]:
    """Return a fragment's values in the order in which they are cut, and which of them count: those that occur, or all."""
    counts, side = fragment.marginal(attribute), fragment.sides[attribute]
    order = fragment.matrix.axes[attribute].order(side, counts[side])
    return order, np.ones(len(order), dtype=bool) if bound == "published" else counts[order] > 0


def _weigh_corrected(fragment: Fragment) -> tuple[list[Any], list[Numbers]]:
    """Return the worst case of a fragment and the changes of all its splits, by the corrected bound."""
    matrix = fragment.matrix
    cells, rows = matrix.cells[fragment.cells], matrix.rows[fragment.cells]
    if not len(rows):  # a given path may leave a box without rows
        return [0] * len(matrix.axes), [np.empty((0, len(matrix.axes)), dtype=np.int64) for _ in matrix.axes]
    whole = np.array([len(rows)])
    worst_of_all = [axis.worst(cells[:, s], rows, whole) for s, axis in enumerate(matrix.axes)]
    own = np.concatenate(worst_of_all)  # of Python's integers if one of them is
    changes = []
    for attribute, axis in enumerate(matrix.axes):
        order, occurring = _values_to_cut(fragment, attribute, "corrected")
        order = order[occurring]
        cuts = axis.cuts(order)
        if not len(cuts):
            changes.append(np.empty((0, len(own)), dtype=np.int64))
            continue
        rank = np.empty(axis.distance.m, dtype=np.int64)
        rank[order] = np.arange(len(order))
        ranks = rank[cells[:, attribute]]
        along = np.argsort(ranks, kind="stable")
        ends = np.searchsorted(ranks[along], np.arange(1, len(order)))  # the number of cells of the first 1, 2, ... values
        if isinstance(cuts, np.ndarray):
            worst = _weigh_in_two(matrix.axes, cells[along], rows[along], ends, cuts)
        else:
            worst = _weigh_in_many(matrix.axes, cells[along], rows[along], ends, cuts).astype(own.dtype)
        changes.append(worst - own)
    return own.tolist(), changes


def _weigh_in_two(axes: Sequence[Axis], cells: Ints, rows: Ints, ends: Ints, cuts: Ints) -> Numbers:
    """Return for each cut of a fragment in two the sum of the worst cases of both sides, by attribute."""
    at = ends[cuts[:, 0] - 1]
    back = (len(rows) - at)[::-1]
    columns = [
        axis.worst(cells[:, s], rows, at) + axis.worst(cells[::-1, s], rows[::-1], back)[::-1] for s, axis in enumerate(axes)
    ]
    return np.stack(columns, axis=1)


def _weigh_in_many(axes: Sequence[Axis], cells: Ints, rows: Ints, ends: Ints, cuts: list[Ints]) -> Numbers:
    """Return for each split of a fragment into several parts the sum of their worst cases, by attribute."""
    starts = [np.concatenate([[0], ends[cut - 1]]) for cut in cuts]
    worst = [[axis.worst_of_parts(cells[:, s], rows, start).sum() for s, axis in enumerate(axes)] for start in starts]
    return np.array(worst, dtype=object)


def _weigh_published(fragment: Fragment) -> tuple[list[Any], list[Numbers]]:
    """Return the worst case of a fragment and the changes of all its splits, by the published bound."""

    def worst(box: Fragment) -> list[int]:
        """Return for each sensitive attribute the worst case of a box of values, as Bagai et al. 2023 bound it."""
        return [axis.published(box.sides[s], box.marginal(s)[box.sides[s]]) for s, axis in enumerate(fragment.matrix.axes)]

    own = worst(fragment)
    changes = []
    for attribute, axis in enumerate(fragment.matrix.axes):
        found = []
        order, _ = _values_to_cut(fragment, attribute, "published")
        if len(order) > 1 and all(other.distance.shape == "line" for other in fragment.matrix.axes):
            changes.append(_published_in_two(fragment, attribute, order) - np.array(own, dtype=object))
            continue
        for cut in axis.cuts(order):
            parts = [worst(part) for part in fragment.parts(attribute, np.split(order, cut))]
            found.append([sum(column) - before for column, before in zip(zip(*parts, strict=True), own, strict=True)])
        changes.append(np.array(found, dtype=object).reshape(len(found), len(own)))
    return own, changes


def _published_in_two(fragment: Fragment, attribute: int, order: Ints) -> Numbers:
    """Return for each cut of a fragment in two the sum of both published worst cases, if all attributes are on lines."""
    matrix = fragment.matrix
    cells, rows = matrix.cells[fragment.cells], matrix.rows[fragment.cells]
    along = np.argsort(cells[:, attribute], kind="stable")
    cells, rows = cells[along], rows[along]
    ends = np.searchsorted(cells[:, attribute], order[1:])  # the number of cells on the left of each cut
    columns = []
    for number, axis in enumerate(matrix.axes):
        assert isinstance(axis, LineAxis)
        positions, side = axis.positions[cells[:, number]], axis.positions[fragment.sides[number]]
        mass, moment = (np.concatenate([[0], np.cumsum(part)]) for part in (rows, rows * positions))
        cut = number == attribute
        left = side[0], side[:-1] if cut else side[-1]
        right = side[1:] if cut else side[0], side[-1]
        columns.append(
            axis.published_runs(mass[ends], moment[ends], *left)
            + axis.published_runs(mass[-1] - mass[ends], moment[-1] - moment[ends], *right)
        )
    return np.stack(columns, axis=1)
