"""Numbers: hierarchies of intervals, by widths, by rounding or between stated cut points."""

from __future__ import annotations

import math
from abc import abstractmethod
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

from tclose.values.bins import roundest_between
from tclose.values.builders.base import Builder
from tclose.values.exact import as_text, exact, plain
from tclose.values.printed import printed

MOST_WIDTHS = 20
"""Levels of numbers: each width is at least twice the one before, so that twenty of them span a factor of a million."""

MOST_CUTS = 1_000
"""Cut points of a level."""

MULTIPLES = f"at most {MOST_WIDTHS} numbers above 0, each a multiple of the one before: [5, 10, 20]"

Number = Fraction | float
"""A number; a float only for infinity."""
End = tuple[Number, int]
"""A number, and 0; or -1 for the position just before it."""


class Interval(NamedTuple):
    """All numbers from ``low`` to just below ``high``; an end may be infinite."""

    low: Number
    high: Number


class NumberBuilder(Builder):
    """A rule that puts numbers into intervals, which become wider from level to level.

    Labels are those of ranges: ``[20, 24]`` for whole numbers, ``[20, 25)`` for others. An interval with one whole number is that
    number, an interval without an end is ``17 or less``, ``less than 17.5`` or ``65 or more``.
    """

    needs = "numbers"

    @abstractmethod
    def interval(self, number: Fraction, level: int) -> Interval:
        """Return the interval of a level, 0 the finest, that has a number."""

    def in_words(self, levels: Sequence[str]) -> str:
        """Return which intervals some levels have, for the codebook: ``of width 5 or 10``."""
        return f"{self.phrase} {listed_with_or(levels)}"

    phrase: ClassVar[str]

    def requirement(self, value: Any) -> str | None:
        """Return "be a finite number" for anything else."""
        return "be a finite number" if _number_of(value) is None else None

    def paths(self, values: Sequence[Any]) -> list[list[str]]:
        """Return the labels of each number's intervals, from the root down, in ascending order of the numbers."""
        return self.labelled(values)[0]

    def labelled(self, values: Sequence[Any]) -> tuple[list[list[str]], dict[str, tuple[End, End]]]:
        """Return the paths of numbers in ascending order, and where each labelled interval begins and ends."""
        numbers = {printed(value): _number_of(value) or Fraction(0) for value in values}
        leaves = sorted(numbers, key=numbers.__getitem__)
        whole = all(map(_is_whole, values))
        ends: dict[str, tuple[End, End]] = {leaf: ((numbers[leaf], 0), (numbers[leaf], 0)) for leaf in leaves}
        columns = [leaves]
        for level in range(len(self.levels())):
            labels: list[str] = []
            inside, label = Interval(math.inf, math.inf), ""
            for leaf in leaves:
                if not inside.low <= numbers[leaf] < inside.high:
                    inside = self.interval(numbers[leaf], level)
                    label, ends_of_label = _label(inside, whole=whole)
                    ends[label] = ends_of_label
                labels.append(label)
            columns.append(labels)
        return [["*", *path] for path in zip(*reversed(columns), strict=True)], ends


@dataclass(frozen=True)
class Intervals(NumberBuilder):
    """A hierarchy of numbers: the value, intervals of the first width, of the second, and so on, then ``*``.

    Intervals begin at the multiples of their width, 0 among them. Each width is a multiple of the one before, so that every
    interval lies inside one of the next level.

    >>> Intervals.read([5, 10]).paths([23, 47])
    [['*', '[20, 29]', '[20, 24]', '23'], ['*', '[40, 49]', '[45, 49]', '47']]
    """

    widths: tuple[Fraction, ...]
    key = "intervals"
    phrase = "of width"

    @classmethod
    def read(cls, given: Any) -> Intervals:
        """Return the intervals of a policy's list of widths: ``[5, 10, 20]``."""
        return cls(_read_multiples(given))

    def setting(self) -> dict[str, Any]:
        """Return the intervals as a policy writes them: ``{"intervals": [5, 10, 20]}``."""
        return {self.key: [plain(width) for width in self.widths]}

    def levels(self) -> list[str]:
        """Return the width of each level."""
        return [str(plain(width)) for width in self.widths]

    def interval(self, number: Fraction, level: int) -> Interval:
        """Return the interval of a level's width that has a number; it begins at a multiple of the width."""
        low = number // self.widths[level] * self.widths[level]
        return Interval(low, low + self.widths[level])


@dataclass(frozen=True)
class Rounding(NumberBuilder):
    """A hierarchy of numbers: the value, the numbers that round to the same multiple of a unit, for each unit, then ``*``.

    A half is rounded up. Each level rounds what the level before has rounded, so that levels nest: 47 is 50, and 50 is 100. A
    label names the numbers that it stands for: a published 20 could be the value 20, or what rounds to 20.

    >>> Rounding.read([10, 100]).paths([23, 47])
    [['*', '[-55, 44]', '[15, 24]', '23'], ['*', '[45, 144]', '[45, 54]', '47']]
    """

    units: tuple[Fraction, ...]
    key = "rounding"
    phrase = "of the numbers that round to the same multiple of"

    @classmethod
    def read(cls, given: Any) -> Rounding:
        """Return the rounding of a policy's list of units: ``[10, 100]``."""
        return cls(_read_multiples(given))

    def setting(self) -> dict[str, Any]:
        """Return the rounding as a policy writes it: ``{"rounding": [10, 100]}``."""
        return {self.key: [plain(unit) for unit in self.units]}

    def levels(self) -> list[str]:
        """Return the unit of each level."""
        return [str(plain(unit)) for unit in self.units]

    def interval(self, number: Fraction, level: int) -> Interval:
        """Return the numbers that a level rounds as it rounds a number."""
        rounded = number
        for unit in self.units[: level + 1]:
            rounded = math.floor(rounded / unit + Fraction(1, 2)) * unit
        return Interval(self._begin(rounded, level), self._begin(rounded + self.units[level], level))

    def _begin(self, rounded: Fraction, level: int) -> Fraction:
        """Return the least number that a level rounds to a multiple of its unit."""
        least = rounded - self.units[level] / 2
        if level == 0:
            return least
        finer = self.units[level - 1]
        return self._begin(math.ceil(least / finer) * finer, level - 1)


@dataclass(frozen=True)
class Cuts(NumberBuilder):
    """A hierarchy of numbers: the value, intervals between the cut points of each level, then ``*``.

    A number at a cut point belongs to the interval above it. The outermost intervals have no end. The cut points of a level are
    some of those of the level before.

    >>> Cuts.read([[18, 30, 65], [30]]).paths([12, 29, 70])[1]
    ['*', '29 or less', '[18, 29]', '29']
    """

    cuts: tuple[tuple[Fraction, ...], ...]
    key = "cuts"
    phrase = "between the cut points"

    @classmethod
    def read(cls, given: Any) -> Cuts:
        """Return the cut points of a policy: a list of numbers, or a list of them for each level, the finest first."""
        rows = given if isinstance(given, list | tuple) else []
        rows = rows if rows and all(isinstance(row, list | tuple) for row in rows) else [rows]
        try:
            cuts = tuple(tuple(map(exact, row)) for row in rows)
        except ValueError:
            cuts = ()
        ascending = all(row and len(row) <= MOST_CUTS and all(low < high for low, high in pairwise(row)) for row in cuts)
        nested = all(set(coarse) < set(fine) for fine, coarse in pairwise(cuts))
        if not cuts or len(cuts) > MOST_WIDTHS or not ascending or not nested:
            raise ValueError(
                "ascending numbers, or a list of them for each level, the finest first, of which each level keeps some of those "
                "before: [[18, 30, 45, 65], [30, 65]]"
            )
        return cls(cuts)

    def setting(self) -> dict[str, Any]:
        """Return the cut points as a policy writes them: ``{"cuts": [[18, 30, 65], [30]]}``."""
        return {self.key: [[plain(cut) for cut in row] for row in self.cuts]}

    def levels(self) -> list[str]:
        """Return the cut points of each level."""
        return [", ".join(str(plain(cut)) for cut in row) for row in self.cuts]

    def in_words(self, levels: Sequence[str]) -> str:
        """Return which intervals some levels have, for the codebook; the coarser cut points are among the finest."""
        return f"{self.phrase} {levels[0]}"

    def interval(self, number: Fraction, level: int) -> Interval:
        """Return the interval between two neighbouring cut points of a level that has a number."""
        row = self.cuts[level]
        above = bisect_right(row, number)
        return Interval(row[above - 1] if above else -math.inf, row[above] if above < len(row) else math.inf)


def cuts_of_quantiles(values: Mapping[Any, int], groups: Any) -> Cuts:
    """Return cut points that divide the rows of a table into groups of about equally many rows, on each level.

    A cut point is the roundest number at which the rows below it differ by at most a tenth of a group from an equal share: it is
    seldom a value of the table. If there is none, it lies where they differ least. The cut points of a level are those of the
    level before that come nearest to its groups.

    Parameters
    ----------
    values : mapping from numbers to counts
        How many rows have each number.
    groups : list of int
        The number of groups on each level, the finest first, each a multiple of the next: ``[8, 4, 2]``.
    """
    wanted = groups if isinstance(groups, list | tuple) else [groups]
    whole = all(isinstance(count, int) and not isinstance(count, bool) and 2 <= count <= MOST_CUTS for count in wanted)
    if not wanted or not whole or any(fine <= coarse or fine % coarse for fine, coarse in pairwise(wanted)):
        raise ValueError(f"numbers of groups from {MOST_CUTS:,} to 2, each a multiple of the next: [8, 4, 2]")
    counted: Counter[Fraction] = Counter()
    for value, count in values.items():
        counted[_number_of(value) or Fraction(0)] += count
    numbers = sorted(counted)
    if len(numbers) < 2:
        raise ValueError("numbers of groups for at least two different numbers")
    below = [0, *accumulate(counted[number] for number in numbers)]
    rows_below: dict[Fraction, int] = {}
    for part in range(1, wanted[0]):
        cut = _round_cut(numbers, below, Fraction(below[-1] * part, wanted[0]), Fraction(below[-1], 10 * wanted[0]))
        rows_below[cut] = below[bisect_left(numbers, cut)]
    levels: list[tuple[Fraction, ...]] = [tuple(sorted(rows_below))]
    for count in wanted[1:]:
        targets = [Fraction(below[-1] * part, count) for part in range(1, count)]
        chosen = {min(levels[-1], key=lambda cut, target=target: abs(rows_below[cut] - target)) for target in targets}  # type: ignore[misc]
        if len(chosen) < len(levels[-1]):
            levels.append(tuple(sorted(chosen)))
    return Cuts(tuple(levels))


def _round_cut(numbers: Sequence[Fraction], below: Sequence[int], target: Fraction, slack: Fraction) -> Fraction:
    """Return the roundest number with about ``target`` rows below it: within ``slack``, or as near as can be.

    ``below`` has the number of rows below each of the numbers, which ascend.
    """
    first = min(max(bisect_left(below, target - slack), 1), len(numbers) - 1)
    last = min(bisect_right(below, target + slack) - 1, len(numbers) - 1)
    if last < first:  # no number is within the slack: the nearest; ties: the first wins
        first = last = min((max(last, 1), first), key=lambda index: abs(below[index] - target))
    return roundest_between(numbers[first - 1], numbers[last])


def listed_with_or(parts: Sequence[str]) -> str:
    """Return parts of a sentence, separated by commas and "or".

    >>> listed_with_or(["5", "10", "20"])
    '5, 10 or 20'
    """
    return parts[-1] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"


def _read_multiples(given: Any) -> tuple[Fraction, ...]:
    """Return numbers above 0 of which each is a multiple of the one before; raise ValueError with the requirement."""
    try:
        numbers = tuple(map(exact, given)) if isinstance(given, list | tuple) and len(given) <= MOST_WIDTHS else ()
    except ValueError:
        numbers = ()
    multiples = all(high > low and (high / low).denominator == 1 for low, high in pairwise(numbers) if low > 0)
    if not numbers or numbers[0] <= 0 or not multiples:
        raise ValueError(MULTIPLES)
    return numbers


def _number_of(value: Any) -> Fraction | None:
    """Return the number that a value or a text stands for; None for anything else, and for infinity."""
    try:
        return exact(value)
    except ValueError:
        return None


def _is_whole(value: Any) -> bool:
    """Whether a value is a whole number by its type, or a text without decimals."""
    return isinstance(value, Integral) or (isinstance(value, str) and value.strip().lstrip("+-").isdigit())


def _label(inside: Interval, *, whole: bool) -> tuple[str, tuple[End, End]]:
    """Return the label of an interval, and its ends; of whole numbers, the first and the last one."""
    low, high = inside
    if whole:
        low = Fraction(math.ceil(low)) if math.isfinite(low) else low
        high = Fraction(math.ceil(high) - 1) if math.isfinite(high) else high
    ends: tuple[End, End] = (low, 0), (high, 0 if whole or high == math.inf else -1)
    if isinstance(low, float):
        assert isinstance(high, Fraction)
        return (f"{as_text(high)} or less" if whole else f"less than {as_text(high)}"), ends
    if isinstance(high, float):
        return f"{as_text(low)} or more", ends
    if low == high:
        return as_text(low), ends
    return f"[{as_text(low)}, {as_text(high)}{']' if whole else ')'}", ends
