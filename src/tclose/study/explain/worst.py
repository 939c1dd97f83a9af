"""The worst classes of a table: which values each has too much and too little of, and the moves that make up its distance."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tclose.judge.attribute import finite
from tclose.judge.result import Audit, Judgement
from tclose.judge.transport import Move
from tclose.study.explain.suppress import Fewest
from tclose.study.measured import Distribution, people_in_words
from tclose.values.arrays import Floats, Ints
from tclose.values.exact import float_up


@dataclass(frozen=True)
class Share:
    """A sensitive value, with its rows and its share in a class and in the table."""

    value: str
    rows: int
    of_class: Fraction
    of_table: Fraction

    def to_dict(self) -> dict[str, Any]:
        """Return the value with its rows and shares as a mapping for JSON."""
        shares = {"in_class": float(self.of_class), "in_table": float(self.of_table)}
        return {"value": self.value, "rows": self.rows, **shares}


@dataclass(frozen=True)
class Broken:
    """A limit that a class breaks, and what the class attains; ``sensitive`` is None for k."""

    model: str
    sensitive: str | None
    attained: float
    limit: Fraction
    at_least: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the limit as a mapping for JSON."""
        facts = {"model": self.model, "sensitive": self.sensitive, "limit": float(self.limit), "at_least": self.at_least}
        return {**facts, **finite("attained", self.attained)}


@dataclass(frozen=True)
class WorstClass:
    """A class of a table, and why it is far from the table.

    Attributes
    ----------
    number, rows : int
        Its number, as in an audit, and its rows.
    people : str
        Its quasi-identifiers, in words.
    column : str
        The sensitive column that it is looked at in.
    distance : Fraction
        Of the class from the table in that column.
    breaks : list of Broken
        The limits that it breaks, in any column.
    too_much, too_little : list of Share
        The values that are more, or less, frequent in it than in the table, largest difference first.
    moves : list of Move
        A plan that makes the class like the table, as `tclose.transport` has it; the costs add up to the distance.
    persons : int or None
        Its persons, where they are counted.
    middle : pair of str, or None
        The median of the class and that of the table, where values have an order.
    fewest : Fewest or None
        The rows to suppress, so that what is left of the class breaks no limit.
    """

    number: int
    rows: int
    people: str
    column: str
    distance: Fraction
    breaks: list[Broken]
    too_much: list[Share]
    too_little: list[Share]
    moves: list[Move]
    persons: int | None = None
    middle: tuple[str, str] | None = None
    fewest: Fewest | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the class as a mapping for JSON; fractions are texts beside floats that are rounded up."""
        return {
            "class": self.number,
            "rows": self.rows,
            "persons": self.persons,
            "people": self.people,
            "column": self.column,
            "distance": float_up(self.distance),
            "distance_exact": str(self.distance),
            "breaks": [broken.to_dict() for broken in self.breaks],
            "medians": None if self.middle is None else dict(zip(("class", "table"), self.middle, strict=True)),
            "too_much": [share.to_dict() for share in self.too_much],
            "too_little": [share.to_dict() for share in self.too_little],
            "moves": [
                {"from": move.source, "to": move.target, "mass": str(move.mass), "distance": str(move.distance)}
                | {"cost": float_up(move.cost), "cost_exact": str(move.cost)}
                for move in self.moves
            ],
            "fewest": None if self.fewest is None else self.fewest.to_dict(),
        }


def worst_numbers(audit: Audit, most: int, least: int) -> list[int]:
    """Return the numbers of the classes that break the policy most, at most ``most``, worst first.

    A class is as bad as the limit that it exceeds by the largest factor; ties: the one that is farther from the table, then the
    first. Classes that break nothing are listed only where no class does: those nearest to their t, else the farthest.

    Parameters
    ----------
    least
        Classes with fewer rows, or persons, are not listed.
    """
    compared = [one for one in audit.judgements if not audit.satisfied or one.model == "t"]
    factors = [_factors(one) if audit.satisfied else np.where(one.broken, _factors(one), 0.0) for one in compared]
    factor = np.max([np.zeros(audit.classes), *factors], axis=0)
    listed = np.flatnonzero((counted(audit) >= least) & ((factor > 0) | audit.satisfied))
    order = np.lexsort((listed, -_farthest(audit)[listed], -factor[listed]))
    chosen: list[int] = listed[order[:most]].tolist()
    return chosen


def counted(audit: Audit) -> Ints:
    """Return the size of each class: its persons where they are counted, else its rows."""
    return audit.persons if audit.counts_persons and audit.persons is not None else audit.sizes


def _factors(judgement: Judgement) -> Floats:
    """Return by which factor each class exceeds a limit; below 1 if it satisfies it."""
    values, limit = np.asarray(judgement.values, dtype=np.float64), float(judgement.limit)
    above, below = (np.full_like(values, limit), values) if judgement.floor else (values, np.full_like(values, limit))
    factors: Floats = np.divide(above, below, out=np.where(above > 0, np.inf, 0.0), where=below > 0)
    return factors


def _farthest(audit: Audit) -> Floats:
    """Return the largest distance of each class from the table in any sensitive column."""
    distances: Floats = np.max([attribute.verdicts["t"].values for attribute in audit.sensitive.values()], axis=0)
    return distances


def explain_class(audit: Audit, number: int, distributions: dict[str, Distribution]) -> WorstClass:
    """Return one class, in the sensitive column in which it exceeds a limit most, else in which it is farthest."""
    broken = [judgement for judgement in audit.judgements if judgement.broken[number]]
    by_factor = sorted(broken, key=lambda judgement: -_factors(judgement)[number])
    far = max(audit.sensitive, key=lambda name: audit.sensitive[name].verdicts["t"].values[number])
    name = next((judgement.sensitive for judgement in by_factor if judgement.sensitive is not None), far)
    distribution = distributions[name]
    counts = distribution.of_classes([number])[number]
    moves = distribution.moves(distribution.plan(counts))
    much, little = shares_of(distribution, counts)
    breaks = [
        Broken(one.model, one.sensitive, float(one.values[number]), one.limit, one.floor)
        for one in sorted(broken, key=lambda one: one.sensitive != name)
    ]
    distance = sum((move.cost for move in moves), Fraction(0))
    return WorstClass(
        number,
        int(counts.sum()),
        people_in_words(audit, number),
        name,
        distance,
        breaks,
        much,
        little,
        moves,
        int(counted(audit)[number]) if audit.counts_persons else None,
        (_median(distribution, counts), _median(distribution, distribution.counts)) if distribution.in_order else None,
    )


def _median(distribution: Distribution, counts: Ints) -> str:
    """Return the median of the values of a class or of the table, which have an order: the lower one of two."""
    return distribution.values[int(np.searchsorted(np.cumsum(counts), (int(counts.sum()) + 1) // 2))]


def shares_of(distribution: Distribution, counts: Ints) -> tuple[list[Share], list[Share]]:
    """Return the values that a class has too much of, and those that it has too little of, largest difference first."""
    rows, of_table = int(counts.sum()), int(distribution.counts.sum())
    shares = [
        Share(value, count, Fraction(count, rows), Fraction(all_rows, of_table))
        for value, count, all_rows in zip(distribution.values, counts.tolist(), distribution.counts.tolist(), strict=True)
    ]
    shares.sort(key=lambda share: -abs(share.of_class - share.of_table))
    much = [share for share in shares if share.of_class > share.of_table]
    return much, [share for share in shares if share.of_class < share.of_table]
