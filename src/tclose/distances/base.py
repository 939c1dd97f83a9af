"""What a distance is: a metric d on the values of one attribute, and the earth mover's distance that it gives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tclose.values.exact import INT64_MAX, product
from tclose.values.histograms import Histograms

Masses = Sequence[int] | Sequence[Fraction] | NDArray[Any]


@dataclass(frozen=True)
class Move:
    """One step of a transport plan: so much mass goes from one value to another."""

    source: Any
    target: Any
    mass: Fraction
    distance: Fraction

    @property
    def cost(self) -> Fraction:
        """Mass times distance; the costs of a plan add up to the earth mover's distance."""
        return self.mass * self.distance


class Distance(ABC):
    r"""A metric on the codes 0 to m-1, with values in [0, 1].

    .. math:: EMD(P, Q) = \min_{f \ge 0} \sum_{ij} f_{ij} d_{ij}, \quad \sum_j f_{ij} = P_i, \; \sum_i f_{ij} = Q_j

    With integer counts, n rows in Q and s in P, ``n * s * scale * EMD`` is an integer, and all limits are judged on it.

    Attributes
    ----------
    name : str
        As the policy calls it.
    m : int
        How many values the domain has.
    scale : int
        ``scale * d`` is an integer for every pair of values; 0 only where all values are the same.
    """

    name: ClassVar[str]
    m: int
    scale: int

    @abstractmethod
    def ground(self, i: int, j: int) -> Fraction:
        """d(i, j)."""

    @abstractmethod
    def cost(self, surplus: NDArray[Any]) -> Any:
        """``scale`` times the cost of levelling a surplus P - Q; dense, in the arithmetic of the array (float or Python's)."""

    @abstractmethod
    def _numerators(self, classes: Histograms, dtype: type) -> NDArray[Any]:
        """``n * s * scale * EMD`` of each class, from its touched values only, in integers of this dtype."""

    @abstractmethod
    def moves(self, surplus: Sequence[Fraction]) -> list[Move]:
        """An optimal plan that levels a surplus; its moves name codes."""

    @abstractmethod
    def delta(self, masses: Masses) -> Fraction:
        r"""The worst case over one fragment: :math:`\Delta(p, V) = \max_{v \in V} \sum_u p_u d(u, v)`, V = where p > 0."""

    def emd(self, p: Masses, q: Masses) -> float:
        """EMD of two distributions in floats, each scaled to sum 1; dense."""
        if self.scale == 0:
            return 0.0
        left, right = (_shares(np.asarray(side, dtype=np.float64)) for side in (p, q))
        return float(self.cost(left - right) / self.scale)

    def exact(self, p: Masses, q: Masses) -> Fraction:
        """EMD of two distributions as a fraction, each scaled to sum 1; dense."""
        if self.scale == 0:
            return Fraction(0)
        left, right = (np.array([_number(mass) for mass in side], dtype=object) for side in (p, q))
        mass_left, mass_right = left.sum(), right.sum()
        scaled = Fraction(self.cost(left * mass_right - right * mass_left))
        return scaled / (self.scale * Fraction(mass_left) * Fraction(mass_right))

    def numerators(self, classes: Histograms) -> NDArray[Any]:
        """``n * s * scale * EMD`` of each class against the table: integers that cannot wrap.

        A class with n * s * scale below 2^63 is computed in 64 bits: sums and products on the way may wrap, but the result
        lies in [0, n * s * scale], and arithmetic modulo 2^64 gives it exactly. Other classes are computed in Python's integers.
        """
        unit = classes.rows * self.scale
        fits = classes.sizes <= INT64_MAX // max(unit, 1)
        if fits.all():
            return self._numerators(classes, np.int64)
        result = np.empty(len(classes), dtype=object)
        for chosen, dtype in ((np.flatnonzero(fits), np.int64), (np.flatnonzero(~fits), object)):
            if len(chosen):
                result[chosen] = self._numerators(classes.take(chosen), dtype)
        return result

    def denominators(self, classes: Histograms) -> NDArray[Any]:
        """n * s * scale, by which `numerators` are divided; 1 where all values are the same."""
        return product(classes.sizes, classes.rows * self.scale) if self.scale else np.ones(len(classes), dtype=np.int64)

    def plan(self, p: Masses, q: Masses) -> list[Move]:
        """One optimal list of moves that turns p into q, each scaled to sum 1."""
        left, right = ([Fraction(_number(mass)) for mass in side] for side in (p, q))
        mass_left, mass_right = sum(left), sum(right)
        return self.moves([a / mass_left - b / mass_right for a, b in zip(left, right, strict=True)])


def _shares(masses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Masses scaled to sum 1, and to largest 1 before that, so that no sum overflows."""
    scaled = masses / masses.max()
    shares: NDArray[np.float64] = scaled / scaled.sum()
    return shares


def _number(mass: Any) -> int | Fraction:
    """A mass in Python's own arithmetic."""
    return mass if isinstance(mass, Fraction) else int(mass)


def split(surplus: Sequence[Fraction]) -> tuple[list[list[Any]], list[list[Any]]]:
    """What is too much and what is too little, as lists of [code, mass] that a plan uses up."""
    above = [[code, extra] for code, extra in enumerate(surplus) if extra > 0]
    below = [[code, -extra] for code, extra in enumerate(surplus) if extra < 0]
    return above, below


def match(above: list[list[Any]], below: list[list[Any]], distance: Distance) -> list[Move]:
    """Moves from the front of one list to the front of the other, until one of them is used up."""
    moves = []
    while above and below:
        (source, extra), (target, lack) = above[0], below[0]
        mass = min(extra, lack)
        moves.append(Move(source, target, mass, distance.ground(source, target)))
        for side in (above, below):
            side[0][1] -= mass
            if not side[0][1]:
                side.pop(0)
    return moves
