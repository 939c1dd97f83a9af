"""The algorithm: classes that take their share of every box of sensitive values, and so are close to the table."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tclose.jobs import announce
from tclose.make.algorithm import Partition
from tclose.make.emd import exact_emd
from tclose.make.fragmentation.counts import Counts
from tclose.make.fragmentation.depth import DEPTHS, choose_depth
from tclose.make.fragmentation.fill import fill
from tclose.make.fragmentation.result import Fragmentation
from tclose.make.fragmentation.search import search
from tclose.make.fragmentation.sizing import by_halving
from tclose.make.kernels.merge import merge_failing
from tclose.values.arrays import Codes, Ints

if TYPE_CHECKING:
    from tclose.make.encode import Attribute
    from tclose.make.problem import Problem

CROWDING = Fraction(2, 5)
"""Twice the fragments cost about as much information as 2^(2/5) times the rows in a class; see docs/decisions.md."""


def fragmentation(
    problem: Problem,
    seed: int,  # noqa: ARG001 - nothing is random,
    effort: str,  # noqa: ARG001 - and rows are exchanged in a fixed number of rounds
    options: Mapping[str, Any],
) -> Partition:
    """Return the partition of a table in which each class takes its share of every fragment of the sensitive values.

    Bagai, Weber and Thammanna Gowda 2023, corrected: worst cases are measured in the whole domain, and classes need not take
    exactly the same share of every fragment (*relaxed conformance*, see `tclose.make.fragmentation.bounds`). Fragments are found
    to several depths below t, and the depth with the least expected information loss is taken: smaller classes lose less, but
    more fragments leave less choice of rows. Or, if preferred, the depth with the most classes. Both depend on sensitive values
    alone, so that the promise tells nothing of quasi-identifiers.

    Rows are chosen by their quasi-identifiers alone. Classes that break another limit, as l or beta, are merged with the class
    that costs least; merging preserves the promise.

    Returns
    -------
    Partition
        With the largest promise of any class, for each attribute with a t.
    """
    fragment, wanted, promised = fragments_and_sizes(problem, options)
    announce("Choosing rows of")
    labels = fill(problem.quasi, problem.losses, fragment, wanted)
    labels = merge_failing(labels, problem.quasi, problem.losses, problem.limits)
    return Partition(labels, promised=promised)


def fragments_and_sizes(problem: Problem, options: Mapping[str, Any]) -> tuple[Codes, Ints, dict[str, Fraction]]:
    """Return the fragment of each row, the rows of each fragment that every class takes, and the largest promises."""
    rows, k = problem.rows, problem.limits.k
    limited = [attribute for attribute in problem.sensitive if attribute.column.t is not None]
    if not limited:  # any rows will do
        return np.zeros(rows, dtype=np.int32), _sizes_by_k(rows, k), {}
    matrix, cell_of_row = Counts.of_codes(
        [attribute.codes for attribute in limited],
        [attribute.distance for attribute in limited],
        [attribute.values for attribute in limited],
    )
    found, wanted = size_classes(
        matrix, [slack_of(matrix, number, attribute) for number, attribute in enumerate(limited)], k, options
    )
    promised = found.promises.largest(wanted)
    return (
        found.fragments_of(cell_of_row),
        wanted,
        dict(zip((attribute.column.name for attribute in limited), promised, strict=True)),
    )


def slack_of(matrix: Counts, number: int, attribute: Attribute) -> Fraction:
    """Return what is left of an attribute's t after the distance of these rows from the input, if some are suppressed."""
    moved = exact_emd(attribute.distance, matrix.marginal(number), attribute.counts)
    limit: Fraction = attribute.column.t
    return max(limit - moved, Fraction(0))


def size_classes(matrix: Counts, t: list[Fraction], k: int, options: Mapping[str, Any]) -> tuple[Fragmentation, Ints]:
    """Return the preferred fragmentation of a matrix, and the number of rows of each fragment that its classes take."""
    relaxed = options["sizing"] == "relaxed" and options["bound"] == "corrected"
    crowding = CROWDING if options["prefer"] == "loss" else Fraction(0)
    return choose_depth(
        lambda limits: search(matrix, limits, options["bound"], options["strategy"]),
        t,
        k,
        lambda found: found.class_sizes(k, options["sizing"]),
        DEPTHS if relaxed else DEPTHS[:1],
        crowding,
    )


def _sizes_by_k(rows: int, k: int) -> Ints:
    """Return the sizes of classes where k is the only limit: (classes, 1)."""
    everything = np.zeros(1, dtype=np.int64)
    return by_halving(np.array([rows]), k, [everything], lambda wanted: np.zeros(len(wanted)), lambda wanted: wanted[:, 0] > 0)
