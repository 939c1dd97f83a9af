"""What a distance is: a metric on the values of one attribute."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import ClassVar


class Distance(ABC):
    """A metric d on the codes 0 to m-1, with values in [0, 1].

    A distance says what it is, and computes nothing with it. Code that needs an earth mover's distance chooses its form by the
    ``shape``; what each shape offers is in `tclose.distances.shapes`.

    Attributes
    ----------
    name : str
        As the policy calls it.
    shape : {"line", "set", "tree", "metric"}
    m : int
        The number of values of the domain.
    scale : int
        ``scale * d`` is an integer for every pair of values; 0 only where the domain has one value.
    """

    name: ClassVar[str]
    shape: ClassVar[str]
    m: int
    scale: int

    @abstractmethod
    def ground(self, i: int, j: int) -> Fraction:
        """Return d(i, j), the ground distance between the values with the codes i and j."""
