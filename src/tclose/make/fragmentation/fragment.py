"""Fragments: boxes of the matrix, their worst cases, splits and unions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tclose.errors import PolicyError
from tclose.make.fragmentation.counts import Counts
from tclose.values.arrays import Ints
from tclose.values.exact import number_of

BOUNDS = ("corrected", "published")
"""The two worst cases of a fragment; see `tclose.make.fragmentation.axes`."""


@dataclass(frozen=True, eq=False, repr=False)
class Fragment:
    """A box of the matrix: on each attribute some of its values (Bagai et al. 2023, definition 12).

    Attributes
    ----------
    matrix : Counts
    sides : one array for each attribute
        The codes that the box spans, ascending: a run of them where they stand on a line.
    cells : (cells,) int64
        The indices of the matrix's cells that lie in it.
    """

    matrix: Counts
    sides: tuple[Ints, ...]
    cells: Ints

    @classmethod
    def top(cls, matrix: Counts) -> Fragment:
        """Return the fragment of all values of a multiplicity matrix."""
        return cls(matrix, tuple(np.arange(axis.distance.m) for axis in matrix.axes), np.arange(len(matrix.rows)))

    @property
    def rows(self) -> int:
        """The number of rows of the table that lie in the fragment."""
        return int(self.matrix.rows[self.cells].sum())

    @property
    def mass(self) -> Fraction:
        """The fragment's share of the rows of the table."""
        return Fraction(self.rows, self.matrix.total)

    @property
    def values(self) -> tuple[tuple[Any, ...], ...]:
        """The values that the fragment spans, for each attribute."""
        return tuple(tuple(names[code] for code in side) for names, side in zip(self.matrix.values, self.sides, strict=True))

    def marginal(self, attribute: int) -> Ints:
        """Return the fragment's number of rows at each code of one attribute."""
        return self.matrix.marginal(attribute, self.cells)

    def worst(self, attribute: int, bound: str = "corrected") -> Fraction:
        """Return Delta: the fragment's largest EMD to rows on the same values, times its share of the table."""
        self._check_attribute(attribute)
        if bound not in BOUNDS:
            raise PolicyError(f"bound must be one of {', '.join(BOUNDS)}. Got {bound!r}.")
        axis, counts, side = self.matrix.axes[attribute], self.marginal(attribute), self.sides[attribute]
        if bound == "published":
            return Fraction(axis.published(side, counts[side]), self.matrix.total * axis.published_unit)
        return Fraction(axis.delta(counts), self.matrix.total * axis.scale)

    def conforms(self, rows: Any) -> bool:
        """Whether a class has the same share of its rows in the fragment as the table (definition 16)."""
        held = self.matrix.of_class(rows)
        size = int(held.sum())
        return size > 0 and int(held[self.cells].sum()) * self.matrix.total == self.rows * size

    def parts(self, attribute: int, sides: Sequence[Ints]) -> list[Fragment]:
        """Return the fragments that this one falls into when the values of one attribute are split into sides."""
        part_of = np.empty(self.matrix.axes[attribute].distance.m, dtype=np.int64)
        for number, side in enumerate(sides):
            part_of[side] = number
        at = part_of[self.matrix.cells[self.cells, attribute]]
        around = self.sides[:attribute], self.sides[attribute + 1 :]
        return [
            Fragment(self.matrix, (*around[0], np.sort(side), *around[1]), self.cells[at == number])
            for number, side in enumerate(sides)
        ]

    def split(self, attribute: int, after: int) -> tuple[Fragment, Fragment]:
        """Return the two fragments on both sides of a cut along one attribute, after ``after`` of its values."""
        self._check_attribute(attribute)
        side = self.sides[attribute]
        if not isinstance(after, int | np.integer) or not 0 < after < len(side):
            raise PolicyError(
                f"A fragment must be split between two of its values: after 1 to {len(side) - 1} of {len(side)}. Got {after}."
                if len(side) > 1
                else "A fragment cannot be split along an attribute of which it has one value."
            )
        left, right = self.parts(attribute, [side[:after], side[after:]])
        return left, right

    def union(self, other: Fragment) -> Fragment:
        """Return the union with an adjacent fragment: equal on all attributes but one, side by side on that (definition 13)."""
        differing = []
        if isinstance(other, Fragment) and self.matrix is other.matrix:
            pairs = zip(self.sides, other.sides, strict=True)
            differing = [number for number, (a, b) in enumerate(pairs) if not np.array_equal(a, b)]
        if len(differing) != 1 or not self._adjoins(other, differing[0]):
            raise PolicyError("Only fragments of one matrix that are adjacent along one attribute have a union. Got others.")
        sides = list(self.sides)
        sides[differing[0]] = np.union1d(sides[differing[0]], other.sides[differing[0]])
        return Fragment(self.matrix, tuple(sides), np.union1d(self.cells, other.cells))

    def _check_attribute(self, attribute: int) -> None:
        """Raise PolicyError if the matrix has no attribute of this number."""
        if not isinstance(attribute, int | np.integer) or not 0 <= attribute < len(self.sides):
            raise PolicyError(f"The matrix has attributes 0 to {len(self.sides) - 1}. Got {attribute!r}.")

    def _adjoins(self, other: Fragment, attribute: int) -> bool:
        """Whether two fragments lie side by side along one attribute."""
        a, b = self.sides[attribute], other.sides[attribute]
        if self.matrix.axes[attribute].distance.shape == "line":
            return bool(min(a[-1], b[-1]) + 1 == max(a[0], b[0]))
        return not np.isin(a, b).any()

    def __or__(self, other: Fragment) -> Fragment:
        """Return the union with an adjacent fragment."""
        return self.union(other)

    def __eq__(self, other: object) -> bool:
        """Whether two fragments are the same box of the same matrix."""
        return isinstance(other, Fragment) and self.matrix is other.matrix and self._box_as_bytes() == other._box_as_bytes()

    def __hash__(self) -> int:
        """Return the hash of the fragment's box."""
        return hash(self._box_as_bytes())

    def _box_as_bytes(self) -> tuple[bytes, ...]:
        """Return the codes of each side of the fragment as bytes, to compare and hash."""
        return tuple(side.astype(np.int64).tobytes() for side in self.sides)

    def __repr__(self) -> str:
        """Return the fragment's values, as ranges on lines, and its number of rows."""
        spans = []
        for axis, names in zip(self.matrix.axes, self.values, strict=True):
            if len(names) == 1:
                spans.append(str(names[0]))
            else:
                spans.append(
                    f"{names[0]}..{names[-1]}" if axis.distance.shape == "line" else "{" + ", ".join(map(str, names)) + "}"
                )
        return f"<Fragment {' x '.join(spans)}: {number_of(self.rows, 'row')}>"
