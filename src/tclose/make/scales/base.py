"""What a scale is: the values of one quasi-identifier as codes, the published form of a class, and its loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.make.scales.boxes import Boxes

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Widths(NamedTuple):
    """The NCP of a range of codes [a, b], on plain arrays that a kernel can read.

    It is ``own[a]`` where a = b; 1 where b stands for missing cells and a does not; ``charges[N]`` with a tree, N the lowest
    node above both codes; else ``highs[b] - lows[a]``, at most 1.
    """

    own: Floats
    lows: Floats
    highs: Floats
    missing: bool
    ancestors: NDArray[np.int32]
    """(depth, size): with a tree the node of each depth above or at each code, -1 below its leaf; (0, size) without."""
    charges: Floats
    """(nodes,): the NCP of each node; empty without a tree."""


@dataclass(frozen=True)
class Column:
    """One published column: its distinct values in the order in which rows are sorted, and the place of each class among them.

    ``type`` says what the values are: "text", "value" (as the column's own), "float" or "boolean". None is a missing cell.
    """

    values: list[Any]
    places: Ints
    type: Literal["text", "value", "float", "boolean"] = "text"


@dataclass(frozen=True)
class Published:
    """One quasi-identifier of all classes, as published, and what each row of a class loses by it.

    Attributes
    ----------
    name : str
        The quasi-identifier.
    columns : dict of Column
        By the name under which they are published: ``age``, or ``age.min`` and ``age.max``.
    ncp, lm : (classes,) float64
        Normalised certainty penalty (Xu et al. 2006) and loss metric (Iyengar 2002) of one row, charged as published.
    height : (classes,) float64
        How far up a row was generalised, as a share of the way: what precision (Sweeney 2002) loses.
    squares : (classes,) float64 or None
        Sum over the class's rows of the squared distance to the published value, in ranges of the table; None without numbers.
    seen : (classes,) float64 or None
        The NCP as a reader can recompute it, who knows what is published and the hierarchy, but not which values the table has:
        what may be said in public. None where the width of a class is not published.
    missing : bool
        Whether some row of these classes misses its value.
    estimate : (size,) float64
        How many rows a reader expects at each code: each class spread evenly over the codes that its published value covers.
    """

    name: str
    columns: dict[str, Column]
    ncp: Floats
    lm: Floats
    height: Floats
    squares: Floats | None
    seen: Floats | None
    missing: bool
    estimate: Floats


class Scale(ABC):
    """The values of one quasi-identifier, in an order in which neighbours are alike; codes are places in it.

    Attributes
    ----------
    name : str
    size : int
        Codes are 0 to size - 1; each occurs in the table.
    missing : bool
        Whether the last code stands for missing cells.
    """

    name: str
    size: int
    missing: bool

    @abstractmethod
    def widths(self) -> Widths:
        """What an algorithm is steered by."""

    def at_level(self, level: int) -> Scale:
        """Return the scale that publishes all values at one level of its hierarchy, counted from the root, 0."""
        raise TypeError(f"{self.name!r} has no hierarchy, and no level {level}.")

    def width_in_words(self, share: float) -> str:
        """How wide classes are published whose NCP is this share on average, for a person: ``in sets of 2.1 of 7 values``."""
        return f"in sets of {share * self.size:.1f} of {self.size:,} values"

    @abstractmethod
    def publish(self, codes: NDArray[Any], starts: Ints) -> Published:
        """Publish classes.

        Parameters
        ----------
        codes : (rows,) integers
            The codes of all rows, class after class.
        starts : (classes + 1,) int64
            Class i holds ``codes[starts[i]:starts[i+1]]``, at least one row.
        """

    @abstractmethod
    def boxes(self, codes: NDArray[Any], starts: Ints) -> Boxes | None:
        """What the published values of classes may stand for; None where a reader may take one otherwise.

        Classes are given as for `publish`.
        """

    @abstractmethod
    def describe(self, published: str, *, missing: bool) -> str:
        """What a published column holds, in a sentence for the codebook. Names no value of the table but what a policy set.

        Parameters
        ----------
        published
            The name of the column, which may be one of several: ``age.min``.
        missing
            Whether some published row misses its value. Rows that are left out must not show.
        """
