"""The search: from the box of all values down, one split at a time, until every bound is within its limit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from tclose._numbers import integer_dtype
from tclose.errors import PolicyError
from tclose.fragments.axes import Numbers
from tclose.fragments.candidates import Candidates, candidates, sides_of, units
from tclose.fragments.counts import Counts
from tclose.fragments.fragment import Fragment

STRATEGIES = ("psi", "sum")
Path = Sequence[tuple[int, int, int]]


class Split(NamedTuple):
    """One step of the walk: a fragment is replaced by its parts."""

    fragment: int
    """Its place among the fragments so far."""
    attribute: int
    parts: list[Fragment]
    bounds: tuple[Fraction, ...]
    """Of the fragmentation after this step."""


class Walk:
    """A walk down the lattice of fragmentations (Bagai et al. 2023, section 3.1).

    The splits of each fragment are weighed once, when it comes to be. A step only adds what each would change to the bounds.
    """

    def __init__(self, matrix: Counts, t: Sequence[Fraction], bound: str) -> None:
        """At the top: one fragment of all values."""
        self.bound = bound
        # Bounds, limits and changes are integers over one common divisor, so that neither ties nor limits are rounded.
        parts = [matrix.total * unit for unit in units(matrix, bound)]
        self._common = math.lcm(*parts, *(limit.denominator for limit in t))
        self._dtype = integer_dtype(4 * len(parts) * self._common)
        self._factors = [self._common // part for part in parts]
        self._limits: Numbers = np.array([int(limit * self._common) for limit in t], dtype=self._dtype)
        self.fragments = [Fragment.top(matrix)]
        self.splits: list[Split] = []
        first = candidates(self.fragments[0], bound)
        self._bounds: Numbers = self._scaled(first.own)
        self._weighed = [first]  # the candidates of each fragment, and all their changes one after the other:
        self._changes = self._scaled_changes(first)

    @property
    def bounds(self) -> tuple[Fraction, ...]:
        """The bound of each attribute: the sum of the worst cases of all fragments (definition 19)."""
        return tuple(Fraction(int(bound), self._common) for bound in self._bounds)

    @property
    def ended(self) -> bool:
        """Whether every bound is within its limit, or no fragment can be split."""
        return bool((self._bounds <= self._limits).all()) or len(self._changes) == 0

    def step(self, strategy: str) -> None:
        """Take the best split: least Psi, or least sum of bounds alone; of equals the first fragment, attribute and cut."""
        bounds = self._bounds + self._changes
        sums = bounds.sum(axis=1)
        best = np.arange(len(sums))
        if strategy == "psi":
            psi = np.maximum(bounds - self._limits, 0).sum(axis=1)
            best = np.flatnonzero(psi == psi.min())
        choice = best[np.argmin(sums[best])]
        starts = np.cumsum([0] + [len(weighed.cuts) for weighed in self._weighed])
        fragment = int(np.searchsorted(starts, choice, side="right")) - 1
        weighed, place = self._weighed[fragment], choice - starts[fragment]
        attribute = int(weighed.attributes[place])
        sides = sides_of(self.fragments[fragment], attribute, int(weighed.cuts[place]), self.bound)
        self._replace(fragment, attribute, self.fragments[fragment].parts(attribute, sides))

    def take(self, fragment: int, attribute: int, after: int) -> None:
        """Take a given split: of this fragment along this attribute, after so many of its values."""
        if not 0 <= fragment < len(self.fragments):
            raise PolicyError(f"A path must split fragments that are there: 0 to {len(self.fragments) - 1}. Got {fragment}.")
        self._replace(fragment, attribute, list(self.fragments[fragment].split(attribute, after)))

    def _replace(self, fragment: int, attribute: int, parts: list[Fragment]) -> None:
        """Put parts in the place of their fragment."""
        weighed = [candidates(part, self.bound) for part in parts]
        before = sum(len(other.cuts) for other in self._weighed[:fragment])
        old = self._weighed[fragment]
        changes = [self._scaled_changes(part) for part in weighed]
        self._changes = np.concatenate([self._changes[:before], *changes, self._changes[before + len(old.cuts) :]])
        self._bounds = self._bounds - self._scaled(old.own) + sum(self._scaled(part.own) for part in weighed)
        self._weighed[fragment : fragment + 1] = weighed
        self.fragments[fragment : fragment + 1] = parts
        self.splits.append(Split(fragment, attribute, parts, self.bounds))

    def _scaled(self, numbers: Sequence[Any]) -> Numbers:
        return np.array([int(x) * factor for x, factor in zip(numbers, self._factors, strict=True)], dtype=self._dtype)

    def _scaled_changes(self, weighed: Candidates) -> Numbers:
        changes: Numbers = weighed.changes.astype(self._dtype) * np.array(self._factors, dtype=self._dtype)
        return changes


def search(
    matrix: Counts,
    t: Sequence[Fraction],
    bound: str,
    strategy: str | Path,
) -> Walk:
    """Walk down until every bound is within its limit, or to the end of a given path."""
    walk = Walk(matrix, t, bound)
    if isinstance(strategy, str):
        while not walk.ended:
            walk.step(strategy)
    else:
        for fragment, attribute, after in strategy:
            walk.take(fragment, attribute, after)
    return walk
