"""Growth: classes grow row by row until they satisfy every limit; then they are refined, and go on satisfying it."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tclose.jobs import announce, report
from tclose.make.algorithm import Partition
from tclose.make.fragmentation.fill import fill_once
from tclose.make.fragmentation.fragmentation import fragments_and_sizes
from tclose.make.growth.blocks import Blocks, cut
from tclose.make.growth.grow import grow_classes
from tclose.make.growth.leftovers import place_leftovers
from tclose.make.growth.neighbourhood import Given, given
from tclose.make.growth.refine import losses_after_trial, refine
from tclose.make.kernels.merge import merge_failing
from tclose.make.models.closeness import tightened
from tclose.values.arrays import Ints

if TYPE_CHECKING:
    from tclose.make.problem import Problem

BLOCK = {"fast": 2000, "balanced": 4000, "best": 32000}
"""The largest number of rows that are searched for each class that grows, by effort."""
DRIFT = Fraction(3, 10)
"""The share of t by which the sensitive values of a block may differ from those of the table."""
LOOSER = Fraction(1, 2)
"""The same for huge blocks of a table of at least `SAMPLED` rows, of which no cut keeps within `DRIFT`: a class grows in a time
that rises with the rows of its block, and such blocks are the larger the larger the table is."""
TIGHT = Fraction(3, 4)
"""Classes grow until they are within this share of t: what is left of it is spent on rows that are left over, and on refining."""
ROUNDS = {"fast": 3, "balanced": 12, "best": 300}
"""Rounds of moving and swapping rows, by effort, in a table of at most `SMALL` rows."""
FRAGMENTS = {"sizing": "relaxed", "bound": "corrected", "strategy": "psi", "prefer": "loss"}
"""How fragments are found: the options of the algorithm `tclose.make.fragmentation`."""
SAMPLED = 3_000_000
"""A table of at least this many rows is tried on a sample first."""
STEP = 10
"""A sample has one row of this many."""
CLEAR = 0.95
"""A way to start is clearly better on a sample if it loses less than this share of what the other one loses."""
SMALL = 100_000
"""Rows: a larger table gets extra rounds."""
MORE = 0.25
"""Extra rounds, as a fraction, per tenfold rows above `SMALL`: in a round a row tries as many classes as ever, of more."""


def growth(problem: Problem, seed: int, effort: str, options: Mapping[str, Any]) -> Partition:
    """Let classes grow until they satisfy every limit, then move and swap rows between them to lower the information loss.

    What counts is how far a class is from the table in the end, not in the worst case before its rows are chosen. So most of the
    loss falls when classes are refined. Where only one attribute has a t, refining starts from two partitions: classes that grew,
    and classes of fragments. It goes on from the one that is better after a few rounds.

    From the start on, the classes of every stage satisfy every limit; the worst case is one class of all rows.
    """
    table_given = given(problem.quasi, problem.losses, problem.limits)
    starts = partitions_to_refine(problem, table_given, seed, effort)
    announce("Refining")
    weight = float(problem.losses.columns["weight"].sum())
    seconds = options["seconds"] if effort == "best" else None
    go_on = "; Ctrl-C goes on with that" if seconds else ""
    rounds, begun, done = rounds_for(effort, problem.rows), time.monotonic(), itertools.count(1)

    def tell(lost: float) -> None:
        """Report the round, the information loss and about how long the rest will take."""
        number, gone = next(done), time.monotonic() - begun
        left = gone / number * (rounds - number)
        left = left if seconds is None else min(left, max(seconds - gone, 0))
        report(f"round {number} of {rounds}, loss {lost / weight:.4f}, {left:.0f} s left{go_on}")

    refined = refine(table_given, list(starts.values()), rounds, seconds, hear=tell)
    course = {"start": list(starts)[refined.start], "rounds": refined.rounds, "ended": refined.ended}
    return Partition(refined.labels, course=course)


def partitions_to_refine(
    problem: Problem, table_given: Given, seed: int, effort: str, drift: Fraction = DRIFT
) -> dict[str, Ints]:
    """Return the partitions that refining starts from, by their names: the class of each row, which satisfies every limit.

    There are two ways to make one where only one attribute has a t. Of a large table only one partition is made where that is
    clearly the better one on a sample of the rows.

    ``drift`` is the share of t by which the sensitive values of a block may differ from those of the table.
    """
    ways = ["grown"]
    if sum(attribute.column.t is not None for attribute in problem.sensitive) == 1:
        ways.append("fragments")
        if problem.rows >= SAMPLED:
            announce("Trying a sample of")
            ways = _clearly_better(problem.every(STEP), seed, effort, drift, rounds_for(effort, problem.rows)) or ways
    starts = {}
    if "grown" in ways:
        announce("Cutting")
        blocks = _blocks(problem, effort, drift)
    announce("Growing classes of")
    if "grown" in ways:
        starts["grown"] = _grown_classes(problem, table_given, blocks, seed)
    if "fragments" in ways:
        starts["fragments"] = _classes_of_fragments(problem, effort)
    return starts


def _clearly_better(problem: Problem, seed: int, effort: str, drift: Fraction, rounds: int) -> list[str]:
    """Return the way to start that is clearly better on a sample after a few rounds; none where both lose about the same."""
    sample_given = given(problem.quasi, problem.losses, problem.limits)
    grown = _grown_classes(problem, sample_given, _blocks(problem, effort, drift), seed)
    fragments = _classes_of_fragments(problem, effort)
    lost = dict(zip(("grown", "fragments"), losses_after_trial(sample_given, [grown, fragments], rounds), strict=True))
    return [way for way, own in lost.items() if own < CLEAR * max(lost.values())]


def _blocks(problem: Problem, effort: str, drift: Fraction) -> Blocks:
    """Return the blocks of a table, in which classes grow."""
    looser = tightened(problem.limits, LOOSER) if problem.rows >= SAMPLED else None
    return cut(problem.quasi, problem.losses, tightened(problem.limits, drift), BLOCK[effort], looser)


def _grown_classes(problem: Problem, table_given: Given, blocks: Blocks, seed: int) -> Ints:
    """Return the class of each row: classes grow in each block, and rows that are left over join them.

    A class takes, row by row, what widens it least among the rows that bring it nearer to its limits. It grows to a share of t;
    the rest is room for rows that are left over, and for refining.
    """
    tight = tightened(problem.limits, TIGHT)
    labels = grow_classes(problem.quasi, problem.losses, tight, blocks.rows, blocks.starts, seed)
    return place_leftovers(table_given, labels, blocks)


def _classes_of_fragments(problem: Problem, effort: str) -> Ints:
    """Return the class of each row: a class takes its share of every fragment of the sensitive values.

    Where sensitive values go with quasi-identifiers, rows nearby bring a class no nearer to its limits, and few classes grow.
    These get what they need of every fragment. With several attributes there would be too many fragments to choose rows from.
    """
    fragment, wanted, _ = fragments_and_sizes(problem, FRAGMENTS)
    labels = fill_once(problem.quasi, problem.losses, fragment, wanted, BLOCK[effort])
    return merge_failing(labels, problem.quasi, problem.losses, problem.limits)


def rounds_for(effort: str, rows: int) -> int:
    """Return the number of rounds of moving and swapping rows in a table of this many rows."""
    return round(ROUNDS[effort] * (1 + MORE * math.log10(max(1, rows / SMALL))))
