"""Suppress: which rows to suppress so that what is left of a class, or of the whole table, satisfies the policy."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from tclose import jobs
from tclose.columns.domains import edges_from_table
from tclose.judge.result import Audit
from tclose.study.explain.fewest import most_rows_kept
from tclose.study.explain.trial import Figures, Rows, broken_classes
from tclose.study.measured import value_in_words
from tclose.values.arrays import Bools, Ints, renumber
from tclose.values.exact import number_of

ROUNDS = 8
"""Rounds in which classes lose the fewest rows. What is left of the table changes with each; after that they lose all rows."""


@dataclass(frozen=True)
class Fewest:
    """Rows of one class to suppress, so that what is left of it breaks no limit. It was tried.

    Attributes
    ----------
    rows : list of int
        Their indices in the table, from 0.
    values : dict
        How many of them have each value of the sensitive column.
    proven : bool
        Whether it is certain that fewer rows of the class will not do.
    whole : bool
        Whether they are all rows of the class.
    after : Figures
        Of the table without these rows.
    """

    rows: list[int]
    values: dict[str, int]
    proven: bool
    whole: bool
    after: Figures

    def to_dict(self) -> dict[str, Any]:
        """Return the rows as a mapping for JSON."""
        facts = {"rows": len(self.rows), "values": self.values, "proven_fewest": self.proven, "all_of_the_class": self.whole}
        return {**facts, "after": self.after.to_dict()}


@dataclass(frozen=True)
class Suppression:
    """Rows to suppress, so that what is left of the table satisfies the policy. It was tried, and may not be the fewest rows.

    Attributes
    ----------
    rows : list of int
        Their indices in the table, from 0.
    classes, whole : int
        The classes that lose rows, and those that lose all of them.
    values : dict
        How many of the rows have each value, by sensitive column.
    after : Figures
        Of the table without these rows.
    """

    rows: list[int]
    classes: int
    whole: int
    values: dict[str, dict[str, int]]
    after: Figures

    @property
    def what(self) -> str:
        """What to do, in words."""
        classes = number_of(self.classes, "class", "classes")
        gone = f" ({self.whole:,} of them whole)" if self.whole else ""
        return f"{number_of(len(self.rows), 'row')} suppressed in {classes}{gone}"

    def to_dict(self) -> dict[str, Any]:
        """Return the rows as a mapping for JSON."""
        facts = {"kind": "suppress", "what": self.what, "rows": len(self.rows), "classes": self.classes}
        return {**facts, "whole_classes": self.whole, "values": self.values, "after": self.after.to_dict()}


def fewest_rows(rows: Rows, audit: Audit, number: int, name: str) -> Fewest | None:
    """Return the rows of a class to suppress, so that what is left of it breaks no limit; None if it breaks none.

    Where the class breaks t of one column and nothing else, they are the fewest for t, if what is left satisfies all limits.
    Otherwise they are all its rows.
    """
    broken = [judgement for judgement in audit.judgements if judgement.broken[number]]
    if not broken:
        return None
    everything = np.flatnonzero(rows.classes == number)
    chosen = _fewest_for_t(rows, audit, number)
    for suppressed in [everything] if chosen is None else [chosen, everything]:
        whole = len(suppressed) == len(everything)
        gone = np.zeros(len(rows.classes), dtype=bool)
        gone[suppressed] = True
        if gone.all():
            return None
        after = rows.audit(rows.table.filter(~gone))
        if not whole and broken_classes(after)[_number_after(rows, gone, number)]:
            continue
        too_small = broken[0].sensitive is None  # and what is left of it would be smaller
        proven = too_small or (suppressed is chosen and _domain_stays(rows, number, str(broken[0].sensitive)))
        return Fewest(suppressed.tolist(), _values(rows, name, suppressed), proven, whole, Figures.of(after))
    return None


def suppress_rows(rows: Rows) -> Suppression | None:
    """Return rows to suppress so that the others satisfy the policy; None if that is none of them.

    Each class that breaks a limit loses the fewest rows that let it satisfy t, or all its rows. That changes the table that all
    classes are compared with, so it is done again until no class breaks a limit.
    """
    gone = np.zeros(len(rows.classes), dtype=bool)
    rounds = 0
    while True:
        left = rows.without(gone) if gone.any() else rows
        audit = left.audit()
        broken = np.flatnonzero(broken_classes(audit)).tolist()
        jobs.report(f"{number_of(int(gone.sum()), 'row')} suppressed")
        if not broken:
            break
        indices = np.flatnonzero(~gone)
        members = _members(left.classes)
        for number in broken:
            chosen = _fewest_for_t(left, audit, number) if rounds < ROUNDS else None
            gone[indices[members[number] if chosen is None else chosen]] = True
        rounds += 1
        if gone.all():
            return None
    if not gone.any():
        return None
    touched = np.unique(rows.classes[gone])
    whole = len(np.setdiff1d(touched, rows.classes[~gone]))
    values = {name: _values(rows, name, np.flatnonzero(gone)) for name in rows.codes}
    return Suppression(np.flatnonzero(gone).tolist(), len(touched), whole, values, Figures.of(audit))


def _fewest_for_t(rows: Rows, audit: Audit, number: int) -> Ints | None:
    """Return the fewest rows of a class to suppress so that it satisfies t; None if it breaks another limit, or was not tried."""
    broken = [judgement for judgement in audit.judgements if judgement.broken[number]]
    if len(broken) != 1 or broken[0].model != "t":
        return None
    name = str(broken[0].sensitive)
    inside = np.flatnonzero(rows.classes == number)
    codes = rows.codes[name][inside]
    size = len(rows.domains[name].values)
    counts = np.bincount(codes, minlength=size).astype(np.int64)
    kept = most_rows_kept(rows.domains[name].distance, counts, rows.counts(name), broken[0].limit, max(rows.policy.k or 1, 1))
    if kept is None:
        return None
    # Of rows with one value, those with the largest codes in the other columns go: the order of the table does not matter.
    order = np.lexsort((*(rows.codes[other][inside] for other in rows.codes if other != name), codes))
    place = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)  # among the rows of the same value
    chosen: Ints = np.sort(inside[order[place >= kept[codes[order]]]])
    return chosen


def _domain_stays(rows: Rows, number: int, name: str) -> bool:
    """Whether the domain of a sensitive column is the same whichever rows of a class are suppressed: others have its values."""
    counts = rows.counts(name, number)
    column = next(column for column in rows.policy.sensitive if column.name == name)
    return not edges_from_table(column) and bool((rows.counts(name) > counts)[counts > 0].all())


def _number_after(rows: Rows, gone: Bools, number: int) -> int:
    """Return the number that a class has without some rows."""
    left = rows.classes[~gone]
    return int(renumber(left)[0][np.flatnonzero(left == number)[0]])


def _members(classes: Ints) -> list[Ints]:
    """Return the indices of the rows of each class."""
    order = np.argsort(classes, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(classes[order])) + 1)


def _values(rows: Rows, name: str, chosen: Ints) -> dict[str, int]:
    """Return how many of some rows have each value of a sensitive column, most frequent first."""
    values = rows.domains[name].values
    counted = Counter(value_in_words(values[code]) for code in rows.codes[name][chosen].tolist())
    return dict(sorted(counted.items(), key=lambda item: -item[1]))
