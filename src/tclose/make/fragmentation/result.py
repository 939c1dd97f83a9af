"""The result of a search: fragments that cover the matrix, the bounds that they promise, and the sizes of classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.errors import PolicyError
from tclose.make.fragmentation.bounds import NEAR, Promises
from tclose.make.fragmentation.counts import Counts, numbers
from tclose.make.fragmentation.fragment import Fragment
from tclose.make.fragmentation.search import Split, Walk
from tclose.make.fragmentation.sizing import by_gcd, by_halving
from tclose.values.arrays import Codes, Ints
from tclose.values.exact import decimal_up, number_of

SIZINGS = ("relaxed", "gcd")


@dataclass(frozen=True, eq=False, repr=False)
class Fragmentation:
    """Fragments that do not overlap and cover the matrix (Bagai et al. 2023, definition 15).

    A class that takes the same share of every fragment is within `bounds` of the table, for any choice of rows (theorem 20).

    Attributes
    ----------
    matrix : Counts
    fragments : tuple of Fragment
    bounds : tuple of Fraction
        For each attribute the sum of the fragments' worst cases.
    t : tuple of Fraction
        The limit of each attribute.
    bound : str
        Which worst cases are added up: ``corrected`` or ``published``.
    splits : tuple of Split
        The steps that led here from the box of all values.
    """

    matrix: Counts
    fragments: tuple[Fragment, ...]
    bounds: tuple[Fraction, ...]
    t: tuple[Fraction, ...]
    bound: str
    splits: tuple[Split, ...]

    @classmethod
    def of_walk(cls, walk: Walk, t: Sequence[Fraction]) -> Fragmentation:
        """Return the fragmentation that a search has reached."""
        return cls(walk.fragments[0].matrix, tuple(walk.fragments), walk.bounds, tuple(t), walk.bound, tuple(walk.splits))

    @property
    def acceptable(self) -> bool:
        """Whether the bound of every attribute is within its limit."""
        return all(bound <= limit for bound, limit in zip(self.bounds, self.t, strict=True))

    @cached_property
    def rows(self) -> Ints:
        """The number of rows of each fragment."""
        return np.array([fragment.rows for fragment in self.fragments], dtype=np.int64)

    def fragments_of(self, cells: Ints) -> Codes:
        """Return the fragment of each row, from the cell of the matrix that it lies in."""
        fragment = np.empty(len(self.matrix.rows), dtype=np.int32)
        for number, part in enumerate(self.fragments):
            fragment[part.cells] = number
        return fragment[cells]

    def walk(self) -> Iterator[Fragmentation]:
        """Yield all fragmentations of the search, from the box of all values down to this one."""
        top = Fragment.top(self.matrix)
        bounds = tuple(top.worst(s, self.bound) for s in range(len(self.bounds)))
        here = replace(self, fragments=(top,), bounds=bounds, splits=())
        yield here
        for number, split in enumerate(self.splits, 1):
            before, after = here.fragments[: split.fragment], here.fragments[split.fragment + 1 :]
            here = replace(here, fragments=(*before, *split.parts, *after), bounds=split.bounds, splits=self.splits[:number])
            yield here

    def taken(self, rows: Any) -> Ints:
        """Return a class's number of rows of each fragment; given as an array, or as ``{(value, ...): count}``."""
        taken = np.zeros(len(self.fragments), dtype=np.int64)
        held = self.matrix.of_class(rows)
        for number, fragment in enumerate(self.fragments):
            taken[number] = held[fragment.cells].sum()
        return taken

    def conforms(self, rows: Any) -> bool:
        """Whether a class takes the same share of every fragment (definition 17)."""
        taken = self.taken(rows)
        n, size = self.matrix.total, int(taken.sum())
        return size > 0 and all(int(a) * n == int(f) * size for a, f in zip(taken, self.rows, strict=True))

    def promise(self, taken: Any) -> tuple[Fraction, ...]:
        """Return for each attribute the bound on a class's distance from the table, from its rows of each fragment."""
        wanted = numbers(taken)
        if wanted.shape != self.rows.shape or wanted.dtype.kind not in "iu" or wanted.min() < 0 or not wanted.any():
            raise PolicyError(
                "A class must take a number of rows of each fragment: "
                f"{number_of(len(self.rows), 'whole number')}, not all 0. Got others."
            )
        if (wanted > self.rows).any():
            raise PolicyError("A class must take no more rows of a fragment than there are in it. Got more.")
        return self.promises.exact(wanted)

    def class_sizes(self, k: int = 1, sizing: str = "relaxed") -> Ints:
        """Return the number of rows of each fragment that every class takes: (classes, fragments).

        Parameters
        ----------
        k : int
            The least number of rows of a class.
        sizing : {"relaxed", "gcd"}
            ``gcd``, as published: the same share of every fragment for all; one row more or less may leave one class of all.
            ``relaxed``: fragments are halved while classes are promised to satisfy the limits.
        """
        if sizing not in SIZINGS:
            raise PolicyError(f"sizing must be one of {', '.join(SIZINGS)}. Got {sizing!r}.")
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            raise PolicyError(f"k must be a whole number, 1 at least. Got {k!r}.")
        if sizing == "relaxed":
            return by_halving(self.rows, int(k), self._orders_to_try(), self._strain_of_classes, self._within_limits)
        if not self.acceptable:
            raise PolicyError("Classes that conform are within the bounds, but here these are above t. Split further.")
        return by_gcd(self.rows, int(k))

    def plot(self, names: Sequence[str] | None = None) -> Any:
        """Return an Altair chart of the fragments, as boxes over the first two attributes. It shows counts of the raw table.

        It needs the extra ``report``: ``pip install 'tclose[report]'``.

        Parameters
        ----------
        names
            Of the attributes, in their order.
        """
        from tclose.report.plots import plot_fragmentation

        return plot_fragmentation(self, names)

    @cached_property
    def promises(self) -> Promises:
        """The bounds on classes' distances from the table, from the rows that they take of each fragment."""
        return Promises(self.matrix, self.fragments, self.bound)

    def _orders_to_try(self) -> list[Ints]:
        """Return orders of the fragments for halving: as found, by their rows, and along each attribute."""
        orders = [np.arange(len(self.rows)), np.argsort(self.rows, kind="stable")]
        for attribute in range(len(self.bounds)):
            codes = [self.matrix.cells[fragment.cells, attribute] for fragment in self.fragments]
            rows = [self.matrix.rows[fragment.cells] for fragment in self.fragments]
            means = [at @ weights / max(weights.sum(), 1) for at, weights in zip(codes, rows, strict=True)]
            orders.append(np.argsort(means, kind="stable"))
        return orders

    def _strain_of_classes(self, wanted: Ints) -> NDArray[np.float64]:
        """Return for each class its largest promise as a share of the attribute's limit."""
        limits = np.array([max(float(limit), NEAR) for limit in self.t])
        strain: NDArray[np.float64] = (self.promises.rough(wanted, flows=False) / limits).max(axis=1)
        return strain

    def _within_limits(self, wanted: Ints) -> NDArray[np.bool_]:
        """Return for each class whether it is promised to satisfy the limits."""
        return self.promises.within(wanted, self.t)

    def __repr__(self) -> str:
        """Return the number of fragments, and the bounds beside the limits, in one line."""
        sides = ", ".join(f"{decimal_up(bound)} of {limit}" for bound, limit in zip(self.bounds, self.t, strict=True))
        return f"<Fragmentation: {number_of(len(self.fragments), 'fragment')}, {self.bound} bounds {sides}>"
