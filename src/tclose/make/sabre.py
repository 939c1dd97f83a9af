"""SABRE: sensitive values in buckets, classes that take about their share of each, and near rows for each class.

Cao, Karras, Kalnis and Tan 2011; how far buckets are split and how classes are sized is our reconstruction.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tclose.jobs import announce
from tclose.make.algorithm import Partition
from tclose.make.fragmentation.counts import Counts
from tclose.make.fragmentation.depth import choose_depth
from tclose.make.fragmentation.fragmentation import slack_of
from tclose.make.fragmentation.result import Fragmentation
from tclose.make.fragmentation.search import search
from tclose.make.fragmentation.sizing import by_halving
from tclose.make.hilbert import hilbert_order
from tclose.make.kernels.merge import merge_failing
from tclose.make.kernels.nearest import fill_along, fill_nearest
from tclose.values.arrays import Ints

if TYPE_CHECKING:
    from tclose.make.problem import Problem
    from tclose.policy import Policy


def sabre(
    problem: Problem,
    seed: int,  # noqa: ARG001 - nothing is random
    effort: str,  # noqa: ARG001 - and nothing is refined
    options: Mapping[str, Any],
) -> Partition:
    """Split the sensitive values into buckets, size classes by halving, then choose the rows of each class.

    Buckets are split where the sum of their worst cases falls most, until it is at most t, or a share of t. A class of halves is
    accepted if its worst case is within t: exact, because buckets of one attribute do not overlap. So every class is close
    whatever rows it takes of each bucket (Cao et al. 2011, sections 4 and 5). Rows are chosen by quasi-identifiers alone.
    Classes that break another limit, as l, are merged with the class that costs least.
    """
    attribute = problem.sensitive[0]
    matrix, cell_of_row = Counts.of_codes([attribute.codes], [attribute.distance], [attribute.values])
    found, wanted = size_classes(matrix, slack_of(matrix, 0, attribute), problem.limits.k)
    announce("Choosing rows of")
    order = hilbert_order(problem.quasi, [scale.size for scale in problem.scales])
    fill = fill_nearest if options["fill"] == "nearest" else fill_along
    labels = fill(problem.quasi, problem.losses, found.fragments_of(cell_of_row), wanted, order)
    labels = merge_failing(labels, problem.quasi, problem.losses, problem.limits)
    promised = {attribute.column.name: found.promises.largest(wanted)[0]}
    return Partition(labels, promised=promised, course={"buckets": len(found.fragments)})


def size_classes(matrix: Counts, t: Fraction, k: int) -> tuple[Fragmentation, Ints]:
    """Return the buckets with the most classes, and the rows of each bucket that every class takes: (classes, buckets).

    The paper splits buckets until the sum of their worst cases is at most t. Then little is left of t for the uneven shares that
    small classes must take. So buckets are also split until the sum is at most each of several shares of t; ties: the fewest
    buckets win.
    """
    return choose_depth(lambda limits: search(matrix, limits, "corrected", "sum"), [t], k, lambda found: halved(found, k))


def halved(found: Fragmentation, k: int) -> Ints:
    """Return the rows of each bucket that every class takes: (classes, buckets).

    All rows are halved, and each half again, while both halves have k rows and their worst cases are within t; odd rows go to
    either half in turn, in the order of the buckets.
    """
    in_order = np.argsort([fragment.sides[0][0] for fragment in found.fragments])
    return by_halving(
        found.rows, k, [in_order], lambda wanted: np.zeros(len(wanted)), lambda wanted: found.promises.within(wanted, found.t)
    )


def refuses(policy: Policy, problem: Problem | None) -> str:
    """Return what SABRE cannot do of what a policy asks; empty if it can do all of it."""
    if len(policy.sensitive) != 1 or policy.sensitive[0].t is None:
        return "It takes one sensitive column, with a t."
    matrix = policy.sensitive[0].kind == "matrix" if problem is None else problem.sensitive[0].distance.shape == "metric"
    if matrix:
        return "It takes values on a line, in a hierarchy, or all equally far apart. A matrix has no order of buckets."
    return ""
