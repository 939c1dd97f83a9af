"""Wang's two algorithms: rows are grouped by their sensitive values, and a class takes about one row of each group.

Wang et al. 2018, for several sensitive attributes; our reconstruction: the text was not at hand. With k groups of equally many
rows, a class of one row of each has about the table's distribution. Classes that break a limit are merged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tclose.jobs import announce, report
from tclose.make.algorithm import Partition
from tclose.make.hilbert import hilbert_order
from tclose.make.kernels.merge import merge_failing
from tclose.make.kernels.nearest import fill_nearest
from tclose.values.arrays import Codes, Floats, Ints

if TYPE_CHECKING:
    from tclose.make.encode import Attribute
    from tclose.make.problem import Problem


def wang_clustering(problem: Problem, seed: int, effort: str, options: Mapping[str, Any]) -> Partition:  # noqa: ARG001
    """Group rows that are near in all sensitive attributes together; a class takes about one row of each group."""
    return _partition(problem, groups_by_distance)


def wang_pca(problem: Problem, seed: int, effort: str, options: Mapping[str, Any]) -> Partition:  # noqa: ARG001
    """Group rows along the first principal component of the sensitive attributes; a class takes about one row of each group."""
    return _partition(problem, groups_by_component)


def _partition(problem: Problem, group: Callable[[Sequence[Attribute], int], Codes]) -> Partition:
    """Return classes of about one row of each of k groups, of near rows; those that break a limit are merged."""
    k = min(problem.limits.k, problem.rows)
    announce("Grouping")
    groups = group(problem.sensitive, k)
    announce("Choosing rows of")
    order = hilbert_order(problem.quasi, [scale.size for scale in problem.scales])
    labels = fill_nearest(problem.quasi, problem.losses, groups, shared_out(np.bincount(groups, minlength=k)), order)
    return Partition(merge_failing(labels, problem.quasi, problem.losses, problem.limits))


def sizes_of_groups(rows: int, k: int) -> Ints:
    """Return the sizes of k groups of about equally many rows: the first ones have one more.

    >>> sizes_of_groups(11, 3).tolist()
    [4, 4, 3]
    """
    return rows // k + (np.arange(k) < rows % k).astype(np.int64)


def shared_out(sizes: Ints) -> Ints:
    """Return how many rows of each group every class takes, (classes, groups): one, and rows left over go to the first classes.

    >>> shared_out(np.array([3, 3, 2])).tolist()
    [[2, 1, 1], [1, 2, 1]]
    """
    classes = int(sizes.min())
    wanted = np.ones((classes, len(sizes)), dtype=np.int64)
    left = np.repeat(np.arange(len(sizes)), sizes - classes)
    np.add.at(wanted, (np.arange(len(left)) % classes, left), 1)
    return wanted


def groups_by_distance(attributes: Sequence[Attribute], k: int) -> Codes:
    """Return the group of each row: of rows that are near one another in all sensitive attributes.

    The distance of two rows is the root of the sum of squared ground distances, which are at most 1. The first group starts at
    the row that is farthest from the one with the least codes, each other group at the row left that is farthest from the start
    of the group before it. A group takes the nearest rows that are left. Ties: the first row wins.
    """
    codes = [attribute.codes.astype(np.int64) for attribute in attributes]
    groups = np.full(len(codes[0]), -1, dtype=np.int32)
    left = np.arange(len(groups))
    squares = _squares(attributes, codes, int(np.lexsort(codes[::-1])[0]))
    for number, size in enumerate(sizes_of_groups(len(groups), k).tolist()):
        report(f"group {number + 1} of {k}")
        squares = _squares(attributes, codes, int(left[np.argmax(squares[left])]))
        nearest = np.argsort(squares[left], kind="stable")[:size]
        groups[left[nearest]] = number
        left = np.delete(left, nearest)
    return groups


def _squares(attributes: Sequence[Attribute], codes: Sequence[Ints], start: int) -> Floats:
    """Return the sum over the attributes of the squared ground distance between one row and every row."""
    total = np.zeros(len(codes[0]))
    for attribute, own in zip(attributes, codes, strict=True):
        distance, here = attribute.distance, int(own[start])
        apart = np.array([float(distance.ground(here, code)) for code in range(distance.m)])
        total += (apart**2)[own]
    return total


def groups_by_component(attributes: Sequence[Attribute], k: int) -> Codes:
    """Return the group of each row: of neighbours along the first principal component of the standardised codes.

    Codes follow the order of the values, or that of a hierarchy. Ties: the first row comes first.
    """
    codes = np.array([attribute.codes for attribute in attributes], dtype=np.float64)
    deviation = codes.std(axis=1)
    standardised = ((codes.T - codes.mean(axis=1)) / np.where(deviation > 0, deviation, 1)).T
    along = _first_component(standardised @ standardised.T / codes.shape[1]) @ standardised
    groups = np.empty(codes.shape[1], dtype=np.int32)
    # Sums are rounded, so that the last bits, which depend on the machine, part no equal rows.
    order = np.argsort(np.round(along, 9), kind="stable")
    groups[order] = np.repeat(np.arange(k), sizes_of_groups(len(groups), k))
    return groups


def _first_component(covariance: Floats) -> Floats:
    """Return the direction in which rows differ most; its largest part is above 0."""
    component = np.linalg.eigh(covariance)[1][:, -1]
    largest = component[np.argmax(np.round(np.abs(component), 9))]
    return np.asarray(component * np.sign(largest), dtype=np.float64)
