"""What an algorithm is, and what it gives: a partition of the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tclose.algorithms.limits import Limits
    from tclose.encode import EncodedTable
    from tclose.policy import Policy

Ints = NDArray[np.int64]

EFFORTS = ("fast", "balanced", "best")
"""How long an algorithm may refine what it found."""


@dataclass(frozen=True, eq=False)
class Partition:
    """Classes of an encoded table.

    Attributes
    ----------
    labels : (rows,) int64
        The class of each row of the encoded table, numbered from 0 without gaps.
    regions : list of (classes,) int64
        Under (n,t)-closeness the regions that classes are close to: each array gives the region of each class, -1 where it has
        none, as `tclose.models.judge_regions` reads them.
    promised : dict of Fraction
        How far from the table classes can be, for each sensitive attribute with a limit, as an algorithm knew before it chose
        their rows; empty where it knew nothing.
    """

    labels: Ints
    regions: list[Ints] = field(default_factory=list)
    promised: dict[str, Fraction] = field(default_factory=dict)


@dataclass(frozen=True)
class Algorithm:
    """A way to put the rows of a table into classes.

    Attributes
    ----------
    name : str
    summary : str
        What it does, in a line.
    reference : str
        Where it was published.
    run : callable
        ``run(table, policy, limits, seed, effort, options)`` gives a `Partition`.
    options : mapping
        The options that it knows, and their defaults.
    """

    name: str
    summary: str
    reference: str
    run: Callable[[EncodedTable, Policy, Limits, int, str, Mapping[str, Any]], Partition] = field(repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """Name and summary."""
        return f"{self.name}: {self.summary}"

    def __repr__(self) -> str:
        """The same, as in a list."""
        return f"<{self}>"
