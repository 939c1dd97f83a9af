"""A scale: the values of one quasi-identifier as codes, the published form of a class, and its information loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.make.scales.boxes import Boxes
from tclose.values.arrays import Bools, Floats, Ints


class Widths(NamedTuple):
    """The NCP of a range of codes [a, b], as plain arrays that a kernel can read.

    It is ``own[a]`` if a = b; 1 if b stands for missing cells and a does not; ``charges[N]`` with a tree, N being the lowest node
    above both codes; otherwise ``highs[b] - lows[a]``, at most 1.
    """

    own: Floats
    lows: Floats
    highs: Floats
    missing: bool
    ancestors: NDArray[np.int32]
    """(depth, size): with a tree, the node of each depth above or at each code, -1 below its leaf; without one, (0, size)."""
    charges: Floats
    """(nodes,): the NCP of each node; empty without a tree."""


class Claims(NamedTuple):
    """What published classes prove: that some persons of a class have one of some codes. A claim is one such statement.

    Of two claims that are alternatives to one another one is true, perhaps both.
    """

    keys: Ints
    """(n,): ``class * size + code`` of the codes of all claims, ascending."""
    claims: Ints
    """(n,): the number of the claim that each key belongs to."""
    persons: Ints
    """(claims,): how many persons of the class have one of its codes, at least."""
    other: Ints
    """(claims,): the number of the claim that is its alternative; -1 if it has none."""

    @classmethod
    def of(cls, size: int, classes: Ints, first: Ints, last: Ints, persons: Ints, other: Ints) -> Claims:
        """Return a claim for each given class: on the codes from first to last, none if last is below first."""
        lengths = np.maximum(last - first + 1, 0)
        claims = np.repeat(np.arange(len(classes)), lengths)
        codes = first[claims] + np.arange(len(claims)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        keys = classes[claims] * size + codes
        order = np.argsort(keys, kind="stable")
        return cls(keys[order], claims[order], persons, other)

    def fitting(self, keys: Ints) -> tuple[Ints, Ints]:
        """Return the indices of keys and of claims that fit one another, as pairs.

        >>> pair = np.array([0, 1]), np.array([2, 0]), np.array([3, 0])  # codes 2 to 3 of class 0, and code 0 of class 1
        >>> claims = Claims.of(5, *pair, persons=np.ones(2, dtype=np.int64), other=np.full(2, -1))
        >>> claims.fitting(np.array([0 * 5 + 3, 0 * 5 + 4, 1 * 5 + 0]))
        (array([0, 2]), array([0, 1]))
        """
        start, end = np.searchsorted(self.keys, keys), np.searchsorted(self.keys, keys, side="right")
        counts = end - start
        which = np.repeat(np.arange(len(keys)), counts)
        at = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts - start, counts)
        return which, self.claims[at]

    def proven(self, fitting: Ints) -> Bools:
        """Return which claims must be true, given how many persons, at most, could make each true: (claims,) integers."""
        return (self.other < 0) | (fitting < self.persons)[self.other]


@dataclass(frozen=True)
class Column:
    """One published column: its distinct values in the order in which rows are sorted, and the index of each class's value.

    ``type`` is the type of the values: "text", "value" (that of the input column), "float" or "boolean". None is a missing cell.
    """

    values: list[Any]
    indices: Ints
    type: Literal["text", "value", "float", "boolean"] = "text"


@dataclass(frozen=True)
class Published:
    """One quasi-identifier of all classes, as published, and the information loss of each row of a class.

    Attributes
    ----------
    name : str
        The quasi-identifier.
    columns : dict of Column
        By their published names: ``age``, or ``age.min`` and ``age.max``.
    ncp, lm : (classes,) float64
        Normalised certainty penalty (Xu et al. 2006) and loss metric (Iyengar 2002) of one row, charged as published.
    height : (classes,) float64
        How far up its hierarchy a row was generalised, as a share: the loss that precision (Sweeney 2002) counts.
    squares : (classes,) float64 or None
        Sum over the rows of a class of the squared distance to the published value, as a share of the table's range; None
        without numbers.
    seen : (classes,) float64 or None
        The NCP that a reader can recompute from the release and the hierarchy, without knowing which values the input has. Only
        this one is made public. None if the width of a class is not published.
    missing : bool
        Whether the value of some row of these classes is missing.
    estimate : (size,) float64
        How many rows a reader expects at each code: each class distributed evenly over the codes that its published value covers.
    reach : Reach or None
        What all classes cover, of which `seen` is a share; None where it is a share of something else.
    mixed : (classes,) bool or None
        The classes of which `seen` is 1, however much they cover.
    open_ends : OpenEnds or None
        Which ends of ranges are open; None where none can be.
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
    reach: Reach | None = None
    mixed: Bools | None = None
    open_ends: OpenEnds | None = None


class OpenEnds(NamedTuple):
    """Which ranges are open at their low and at their high end: no number is published there, as in ``90 or more``.

    A reader takes them to reach as far as the outermost number that is published of any class: see `Published.reach`.
    """

    low: Bools
    high: Bools
    numbered: bool
    """Whether any number is published; without one, open ends are taken to reach as far as their grid."""


Reach = tuple[int, int] | frozenset[int]
"""The least and the greatest published number of some classes; or the codes that are members of their sets."""


def joined_reach(reaches: Sequence[Reach]) -> Reach:
    """Return what the classes of all parts of a table cover.

    >>> joined_reach([(3, 7), (1, 4)]), joined_reach([frozenset({1, 2}), frozenset({2, 5})])
    ((1, 7), frozenset({1, 2, 5}))
    """
    spans = [reach for reach in reaches if isinstance(reach, tuple)]
    if spans:
        return min(span[0] for span in spans), max(span[1] for span in spans)
    return frozenset().union(*reaches)


def size_of_reach(reach: Reach) -> int:
    """Return how much classes cover.

    >>> size_of_reach((3, 7)), size_of_reach(frozenset({1, 2}))
    (4, 2)
    """
    return reach[1] - reach[0] if isinstance(reach, tuple) else len(reach)


class Scale(ABC):
    """The values of one quasi-identifier, in an order in which neighbours are similar; codes are indices in it.

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
        """Return the NCP (information loss) of all ranges of codes, by which algorithms choose rows."""

    @property
    def levels(self) -> int:
        """The number of levels at which all values can be published; without a hierarchy two, ``*`` and the value itself."""
        return 2

    def groups(self, level: int) -> Ints:
        """Return for each code the number of its group at a level: the values of a group are published alike.

        Levels are counted from the root, 0, where all values and missing cells are one group. Each group of a level lies inside
        a group of the level above it.
        """
        return np.arange(self.size) if level else np.zeros(self.size, dtype=np.int64)

    def at_level(self, level: int) -> Scale:
        """Return the scale that publishes all values at one level, counted from the root, 0."""
        from tclose.make.scales.everything import Everything  # which is a scale itself

        return self if level else Everything(self)

    def width_in_words(self, share: float) -> str:
        """Return in words how wide classes with this mean NCP are published: ``in sets of 2.1 of the 7 values on average``."""
        return f"in sets of {share * self.size:.1f} of the {self.size:,} values on average"

    @abstractmethod
    def publish(self, codes: NDArray[Any], starts: Ints) -> Published:
        """Return the published values of classes on this scale, and their information loss.

        Parameters
        ----------
        codes : (rows,) integers
            The codes of all rows, class after class.
        starts : (classes + 1,) int64
            Class i has the rows ``codes[starts[i]:starts[i+1]]``, at least one.
        """

    @abstractmethod
    def boxes(self, codes: NDArray[Any], starts: Ints) -> Boxes | None:
        """Return the sets of values that published classes may stand for; None if a reader may read one in another way.

        Classes are given as for `publish`.
        """

    @abstractmethod
    def covers(self, codes: NDArray[Any], starts: Ints) -> Callable[[int], Bools]:
        """Return a function from a code to which published classes may stand for it: (classes,) bool.

        Classes are given as for `publish`. A published mean stands for the range of the values that it is the mean of.
        """

    def attained(self, codes: NDArray[Any], starts: Ints) -> Ints:  # noqa: ARG002 - of a scale that says so
        """Return the codes that somebody in a published class must have, as ``class * size + code``, ascending.

        A reader who knows how classes are published knows this too. Classes are given as for `publish`. A label of which nothing
        follows about single codes has none.
        """
        return np.zeros(0, dtype=np.int64)

    def claims(self, codes: NDArray[Any], starts: Ints) -> Claims:
        """Return what published classes prove of the codes of their persons; by default of the codes that are `attained`."""
        keys = self.attained(codes, starts)
        return Claims(keys, np.arange(len(keys)), np.ones(len(keys), dtype=np.int64), np.full(len(keys), -1))

    @abstractmethod
    def describe(self, published: str, *, missing: bool) -> str:
        """Return a codebook's sentence on what a published column contains. It names no value of the table, only settings.

        Parameters
        ----------
        published
            The name of the column, which may be one of several: ``age.min``.
        missing
            Whether the value of some published row is missing. Suppressed rows must not show.
        """
