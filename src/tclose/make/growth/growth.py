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
from tclose.make.growth.blocks import cut
from tclose.make.growth.grow import grow_classes
from tclose.make.growth.leftovers import place_leftovers
from tclose.make.growth.neighbourhood import given
from tclose.make.growth.refine import refine
from tclose.make.models.closeness import tightened

if TYPE_CHECKING:
    from tclose.make.problem import Problem

BLOCK = {"fast": 2000, "balanced": 4000, "best": 32000}
"""The largest number of rows that are searched for each class that grows, by effort."""
DRIFT = Fraction(3, 10)
"""The share of t by which the sensitive values of a block may differ from those of the table."""
TIGHT = Fraction(3, 4)
"""Classes grow until they are within this share of t: what is left of it is spent on rows that are left over, and on refining."""
ROUNDS = {"fast": 3, "balanced": 12, "best": 300}
"""Rounds of moving and swapping rows, by effort, in a table of at most `SMALL` rows."""
SMALL = 100_000
"""Rows: a larger table gets extra rounds."""
MORE = 0.25
"""Extra rounds, as a fraction, per tenfold rows above `SMALL`: in a round a row tries as many classes as ever, of more."""


def growth(problem: Problem, seed: int, effort: str, options: Mapping[str, Any]) -> Partition:
    """Cut the table into blocks, let classes grow in each, put rows that are left over into classes, and refine.

    What counts is how far a class is from the table in the end, not in the worst case before its rows are chosen. So a class
    takes, row by row, what widens it least among the rows that bring it nearer to its limits. It grows to a share of t; the
    rest is room for moves and swaps of rows between classes, which lower the loss further than growing does.

    From the leftovers on, the classes of every stage satisfy every limit; the worst case is one class of all rows.
    """
    quasi, losses, limits = problem.quasi, problem.losses, problem.limits
    announce("Cutting")
    blocks = cut(quasi, losses, tightened(limits, DRIFT), BLOCK[effort])
    announce("Growing classes of")
    labels = grow_classes(quasi, losses, tightened(limits, TIGHT), blocks.rows, blocks.starts, seed)
    table_given = given(quasi, losses, limits)
    labels = place_leftovers(table_given, labels, blocks)
    announce("Refining")
    weight = float(losses.columns["weight"].sum())
    seconds = options["seconds"] if effort == "best" else None
    go_on = "; Ctrl-C goes on with that" if seconds else ""
    rounds, begun, done = rounds_for(effort, len(labels)), time.monotonic(), itertools.count(1)

    def tell(lost: float) -> None:
        """Report the round, the information loss and about how long the rest will take."""
        number, gone = next(done), time.monotonic() - begun
        left = gone / number * (rounds - number)
        left = left if seconds is None else min(left, max(seconds - gone, 0))
        report(f"round {number} of {rounds}, loss {lost / weight:.4f}, {left:.0f} s left{go_on}")

    refined = refine(table_given, labels, rounds, seconds, hear=tell)
    return Partition(refined.labels, course={"rounds": refined.rounds, "ended": refined.ended})


def rounds_for(effort: str, rows: int) -> int:
    """Return the number of rounds of moving and swapping rows in a table of this many rows."""
    return round(ROUNDS[effort] * (1 + MORE * math.log10(max(1, rows / SMALL))))
