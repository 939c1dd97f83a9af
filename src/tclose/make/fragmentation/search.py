"""The search: from the box of all values down, one split at a time, until every bound is within its limit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from tclose.errors import PolicyError
from tclose.make.fragmentation.axes import Numbers
from tclose.make.fragmentation.candidates import Candidates, candidates, sides_of, units
from tclose.make.fragmentation.counts import Counts
from tclose.make.fragmentation.fragment import Fragment
from tclose.values.arrays import Ints
from tclose.values.exact import integer_dtype

STRATEGIES = ("psi", "sum")
Path = Sequence[tuple[int, int, int]]


class Split(NamedTuple):
    """One step of the walk: a fragment is replaced by its parts."""

    fragment: int
    """Its index among the fragments so far."""
    attribute: int
    parts: list[Fragment]
    bounds: tuple[Fraction, ...]
    """The bounds of the fragmentation after this step."""


class Walk:
    """A walk down the lattice of fragmentations (Bagai et al. 2023, section 3.1).

    The splits of each fragment are weighed once, when the fragment is made. A step only adds the changes of each to the bounds.
    Splits of a fragment without rows change no bound: they are not weighed, and there may be many more of them.
    """

    bounds: tuple[Fraction, ...]
    """The bound of each attribute: the sum of the worst cases of all fragments (definition 19)."""
    _bounds: Numbers
    _best: tuple[list[int], int, int, int] | None
    """The best split of a fragment with rows, as `_best_with_rows` gives it; None where it is not known."""

    def __init__(self, matrix: Counts, t: Sequence[Fraction], bound: str) -> None:
        """Start the search for fragments at the top: one fragment of all values."""
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
        # Fragments with rows: their indices among all, their candidates, and all changes of these one after the other.
        self._inhabited: Ints = np.zeros(1, dtype=np.int64)
        self._weighed = [first]
        self._changes = self._scaled_changes(first)
        # Fragments without rows that can be split: their indices.
        self._empty: Ints = np.empty(0, dtype=np.int64)
        self._set_bounds(self._scaled_worst_cases(first.own))

    @property
    def ended(self) -> bool:
        """Whether the search has ended: every bound is within its limit, or no fragment can be split."""
        return bool((self._bounds <= self._limits).all()) or len(self._changes) + len(self._empty) == 0

    def step(self, strategy: str) -> None:
        """Take the best split of a fragment: least Psi, or least sum of bounds; ties: the first fragment, attribute and cut."""
        if self._best is None:
            self._best = self._best_with_rows(strategy)
        merit, fragment, attribute, cut = self._best
        if len(self._empty):
            unchanged = [
                int(number[0]) for number in self._merits_of_splits(np.zeros((1, len(self._bounds)), dtype=np.int64), strategy)
            ]
            if not merit or (unchanged, self._empty[0]) < (merit, fragment):
                fragment = int(self._empty[0])
                attribute = next(number for number, side in enumerate(self.fragments[fragment].sides) if len(side) > 1)
                cut = 0
        sides = sides_of(self.fragments[fragment], attribute, cut, self.bound)
        self._replace_fragment(fragment, attribute, self.fragments[fragment].parts(attribute, sides))

    def _merits_of_splits(self, changes: Numbers, strategy: str) -> list[Numbers]:
        """Return the numbers by which splits of fragments are compared: the least is the best."""
        bounds = self._bounds + changes
        psi = [np.maximum(bounds - self._limits, 0).sum(axis=1)] if strategy == "psi" else []
        return [*psi, bounds.sum(axis=1)]

    def _best_with_rows(self, strategy: str) -> tuple[list[int], int, int, int]:
        """Return the best split of a fragment with rows: merit, fragment, attribute and cut; an empty merit if none."""
        if not len(self._changes):
            return [], -1, -1, -1
        merits = self._merits_of_splits(self._changes, strategy)
        best = np.arange(len(self._changes))
        for numbers in merits:
            best = best[numbers[best] == numbers[best].min()]
        choice = int(best[0])
        starts = np.cumsum([0] + [len(weighed.cuts) for weighed in self._weighed])
        owner = int(np.searchsorted(starts, choice, side="right")) - 1
        weighed, index = self._weighed[owner], choice - starts[owner]
        merit = [int(numbers[choice]) for numbers in merits]
        return merit, int(self._inhabited[owner]), int(weighed.attributes[index]), int(weighed.cuts[index])

    def take(self, fragment: int, attribute: int, after: int) -> None:
        """Take a given split of a fragment along one attribute, after ``after`` of its values."""
        if not 0 <= fragment < len(self.fragments):
            raise PolicyError(f"A path must split fragments that are there: 0 to {len(self.fragments) - 1}. Got {fragment}.")
        self._replace_fragment(fragment, attribute, list(self.fragments[fragment].split(attribute, after)))

    def _replace_fragment(self, fragment: int, attribute: int, parts: list[Fragment]) -> None:
        """Replace a fragment by its parts, and update the search's bounds and candidates."""
        first, shift = int(np.searchsorted(self._inhabited, fragment)), len(parts) - 1
        numbered = list(enumerate(parts, fragment))
        inhabited = [(index, part) for index, part in numbered if len(part.cells)]
        if inhabited:
            weighed = [candidates(part, self.bound) for _, part in inhabited]
            before = sum(len(other.cuts) for other in self._weighed[:first])
            old = self._weighed[first]
            changes = [self._scaled_changes(part) for part in weighed]
            self._changes = np.concatenate([self._changes[:before], *changes, self._changes[before + len(old.cuts) :]])
            self._set_bounds(
                self._bounds - self._scaled_worst_cases(old.own) + sum(self._scaled_worst_cases(part.own) for part in weighed)
            )
            self._weighed[first : first + 1] = weighed
        elif self._best is not None and self._best[1] > fragment:
            self._best = (self._best[0], self._best[1] + shift, *self._best[2:])
        self._inhabited = _replaced_indices(self._inhabited, fragment, [index for index, _ in inhabited], shift)
        empty = [index for index, part in numbered if not len(part.cells) and self._can_split_empty(part)]
        self._empty = _replaced_indices(self._empty, fragment, empty, shift)
        self.fragments[fragment : fragment + 1] = parts
        self.splits.append(Split(fragment, attribute, parts, self.bounds))

    def _can_split_empty(self, fragment: Fragment) -> bool:
        """Whether a fragment without rows can be split: only the published bound cuts beside values that do not occur."""
        return self.bound == "published" and any(len(side) > 1 for side in fragment.sides)

    def _set_bounds(self, bounds: Numbers) -> None:
        """Set the bounds of the search's fragments, and forget the best split, which has to be found anew."""
        self._bounds = bounds
        self.bounds = tuple(Fraction(int(bound), self._common) for bound in bounds)
        self._best = None

    def _scaled_worst_cases(self, numbers: Sequence[Any]) -> Numbers:
        """Return fragments' worst cases as integers over the common divisor of all bounds."""
        return np.array([int(x) * factor for x, factor in zip(numbers, self._factors, strict=True)], dtype=self._dtype)

    def _scaled_changes(self, weighed: Candidates) -> Numbers:
        """Return the changes that splits make to bounds as integers over the common divisor of all bounds."""
        changes: Numbers = weighed.changes.astype(self._dtype) * np.array(self._factors, dtype=self._dtype)
        return changes


def _replaced_indices(indices: Ints, old: int, new: list[int], shift: int) -> Ints:
    """Return ascending indices of fragments with ``new`` instead of ``old``, if it is there; those after it are shifted."""
    at = int(np.searchsorted(indices, old))
    after = indices[at + (at < len(indices) and indices[at] == old) :]
    return np.concatenate([indices[:at], np.array(new, dtype=np.int64), after + shift])


def search(
    matrix: Counts,
    t: Sequence[Fraction],
    bound: str,
    strategy: str | Path,
) -> Walk:
    """Return the walk from one fragment of all values to fragments within the limits, or to the end of a given path."""
    walk = Walk(matrix, t, bound)
    if isinstance(strategy, str):
        while not walk.ended:
            walk.step(strategy)
    else:
        for fragment, attribute, after in strategy:
            walk.take(fragment, attribute, after)
    return walk
