"""What an algorithm is, and what it gives: a partition of the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tclose.errors import PolicyError, got, one_of
from tclose.values.exact import exact

if TYPE_CHECKING:
    from tclose.make.encode import EncodedTable
    from tclose.make.kernels.limits import Limits
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
        Under (n,t)-closeness the regions that classes are close to, larger ones before smaller ones: each array gives the region
        of each class, -1 where it has none. What is published of a class may be wider; see `tclose.release.repair`.
    promised : dict of Fraction
        How far from the table classes can be, for each sensitive attribute with a limit, as an algorithm knew before it chose
        their rows; empty where it knew nothing.
    course : dict
        How it went, for the private record.
    """

    labels: Ints
    regions: list[Ints] = field(default_factory=list)
    promised: dict[str, Fraction] = field(default_factory=dict)
    course: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Choice:
    """An option that is one of some names, the first by default: ``Choice(("relaxed", "gcd"))``."""

    names: tuple[str, ...]

    @property
    def default(self) -> str:
        """What it is where nothing is said."""
        return self.names[0]

    def read(self, name: str, given: Any) -> str:
        """What was given for the option of this name."""
        return one_of(name, given, self.names)

    def __str__(self) -> str:
        """What it may be, the default first."""
        return "|".join(self.names)


@dataclass(frozen=True)
class Above:
    """An option that is a number above a bound: ``Above(0, default=60)``."""

    bound: float
    default: float

    def read(self, name: str, given: Any) -> float:
        """What was given for the option of this name; a text, as a command line has it, may be a number."""
        try:
            number = float(exact(given))
        except (ValueError, OverflowError):
            number = self.bound
        if number <= self.bound:
            raise PolicyError(f"{name} must be a number above {self.bound:g}. Got {got(given)}.")
        return number

    def __str__(self) -> str:
        """The default, and what it may be."""
        return f"{self.default:g}, or another number above {self.bound:g}"


Option = Choice | Above
"""What an algorithm lets one choose: it has a default, reads what was given, and says as text what it may be."""


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
        The options that it knows.
    regions : bool
        Whether it looks for regions under (n,t)-closeness. One that does not keeps classes close to the whole table.
    """

    name: str
    summary: str
    reference: str
    run: Callable[[EncodedTable, Policy, Limits, int, str, Mapping[str, Any]], Partition] = field(repr=False)
    options: Mapping[str, Option] = field(default_factory=dict)
    regions: bool = False

    @property
    def defaults(self) -> dict[str, Any]:
        """Each option as it is where nothing is said."""
        return {name: option.default for name, option in self.options.items()}

    def compile_ahead(self) -> None:
        """Begin to compile its kernels, in other processes, if they are not on the disk; see `tclose.make.kernels.ahead`."""
        from tclose.make.kernels.ahead import compile_ahead
        from tclose.make.kernels.rehearsing import NEEDED

        compile_ahead(NEEDED.get(self.name, ()))

    def __str__(self) -> str:
        """Name and summary."""
        return f"{self.name}: {self.summary}"

    def __repr__(self) -> str:
        """The same, as in a list."""
        return f"<{self}>"
