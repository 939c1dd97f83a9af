"""What an algorithm is, and what it returns: a partition of the rows into classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tclose.errors import PolicyError, got, nearest, one_of
from tclose.values.arrays import Ints
from tclose.values.exact import exact

if TYPE_CHECKING:
    from tclose.make.problem import Problem
    from tclose.policy import Policy


EFFORTS = ("fast", "balanced", "best")
"""How long an algorithm may refine what it found."""


@dataclass(frozen=True, eq=False)
class Partition:
    """The rows of a table in classes.

    Attributes
    ----------
    labels : (rows,) int64
        The class of each row, numbered from 0 without gaps; -1 where the row is suppressed.
    levels : sequence of int or None
        For each quasi-identifier the level of its hierarchy at which all rows are published (full-domain recoding), counted from
        the root, 0; a leaf that is nearer to the root is published itself. Without a hierarchy 0 publishes ``*`` and 1 the value.
        None publishes the lowest label above the values of a class. Empty: None for all. Counted from the root, a level of
        prefixes shows as many characters whichever values occur.
    sensitive : tuple of str
        The sensitive columns that are published with these classes; empty: all of them. An algorithm that makes several tables
        returns a list of partitions, each with columns of its own.
    regions : list of (classes,) int64
        Under (n,t)-closeness the regions that classes are close to, larger ones before smaller ones: each array gives the region
        of each class, -1 where it has none. What is published of a class may be wider; see `tclose.make.repair`.
    promised : dict of Fraction
        For each sensitive attribute with a limit the largest distance from the table that a class can have, if the algorithm
        knew it before it chose the rows; else empty.
    course : dict
        How the run went, for the private record.
    """

    labels: Ints
    levels: Sequence[int | None] = ()
    sensitive: tuple[str, ...] = ()
    regions: list[Ints] = field(default_factory=list)
    promised: dict[str, Fraction] = field(default_factory=dict)
    course: dict[str, Any] = field(default_factory=dict)

    def asked(self, policy: Policy) -> Policy:
        """Return what a policy asks of the table that is published with these classes."""
        if not self.sensitive:
            return policy
        return replace(policy, sensitive=[column for column in policy.sensitive if column.name in self.sensitive])


@dataclass(frozen=True)
class Choice:
    """An option that is one of some names, the first by default: ``Choice(("relaxed", "gcd"))``."""

    names: tuple[str, ...]

    @property
    def default(self) -> str:
        """The value of an algorithm's option if a user gives none: the first name."""
        return self.names[0]

    def read(self, name: str, given: Any) -> str:
        """Return the name that a user gave for an algorithm's option; raise PolicyError if it is not one of the names."""
        return one_of(name, given, self.names)

    def __str__(self) -> str:
        """Return the possible values of an algorithm's option as text, the default first."""
        return "|".join(self.names)


@dataclass(frozen=True)
class Above:
    """An option that is a number above a bound: ``Above(0, default=60)``."""

    bound: float
    default: float

    def read(self, name: str, given: Any) -> float:
        """Return the number that a user gave for an algorithm's option; raise PolicyError if it is not above the bound."""
        try:
            number = float(exact(given))
        except (ValueError, OverflowError):
            number = self.bound
        if number <= self.bound:
            raise PolicyError(f"{name} must be a number above {self.bound:g}. Got {got(given)}.")
        return number

    def __str__(self) -> str:
        """Return the default and the possible values of an algorithm's option as text."""
        return f"{self.default:g}, or another number above {self.bound:g}"


Option = Choice | Above
"""An option of an algorithm: it has a default, reads a value that was given, and describes the possible values as text."""

Run = Callable[["Problem", int, str, Mapping[str, Any]], "Partition | list[Partition]"]
Refuses = Callable[["Policy", "Problem | None"], str]


def refuses_nothing(policy: Policy, problem: Problem | None) -> str:  # noqa: ARG001 - whatever they are
    """Return the empty text: the algorithm can do what any policy asks."""
    return ""


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
        ``run(problem, seed, effort, options)`` returns a `Partition` of the rows of a `tclose.make.problem.Problem`; a list of
        them, if it makes several tables.
    options : mapping
        The options that it knows, by name.
    regions : bool
        Whether it looks for regions under (n,t)-closeness. One that does not keeps classes close to the whole table.
    several : bool
        Whether it makes several tables, each with some of the sensitive columns.
    refuses : callable
        ``refuses(policy, problem)`` returns in one sentence what the algorithm cannot do of what the policy asks; an empty text
        where it can do all of it. It is called before the table is read, with None for the problem, and again before the work
        begins: only then is it known which distance ``auto`` means, and which scales the quasi-identifiers have.
    """

    name: str
    summary: str
    reference: str
    run: Run = field(repr=False)
    options: Mapping[str, Option] = field(default_factory=dict)
    regions: bool = False
    several: bool = False
    refuses: Refuses = field(default=refuses_nothing, repr=False)

    @property
    def defaults(self) -> dict[str, Any]:
        """The default value of each option of the algorithm, by name."""
        return {name: option.default for name, option in self.options.items()}

    def read_options(self, given: Any) -> dict[str, Any]:
        """Return the value of each option of the algorithm: the given one, else the default; raise PolicyError if unknown."""
        if not isinstance(given, Mapping):
            raise PolicyError(f"options must be a mapping from names to values. Got {got(given)}.")
        for name in given:
            if name not in self.options:
                known = ", ".join(self.options) or "none"
                raise PolicyError(
                    f"{got(name)} is not an option of {self.name}. Known are: {known}.{nearest(str(name), self.options)}"
                )
        return self.defaults | {name: self.options[name].read(name, value) for name, value in given.items()}

    def compile_ahead(self) -> None:
        """Start to compile the algorithm's kernels in other processes, if they are not on the disk."""
        from tclose.make.kernels.ahead import compile_ahead
        from tclose.make.kernels.rehearsing import NEEDED

        compile_ahead(NEEDED.get(self.name, ()))

    def __str__(self) -> str:
        """Return the name and the summary of the algorithm."""
        return f"{self.name}: {self.summary}"

    def __repr__(self) -> str:
        """Return the name and the summary of the algorithm in angle brackets."""
        return f"<{self}>"


@dataclass(frozen=True)
class Settings:
    """How a release is made, besides its policy.

    Attributes
    ----------
    algorithm : Algorithm
    options : dict
        The value of each option of the algorithm.
    seed : int
    effort : str
    """

    algorithm: Algorithm
    options: dict[str, Any]
    seed: int
    effort: str
