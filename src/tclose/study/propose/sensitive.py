"""Sensitive: the settings that are proposed for a sensitive column, and which classes its distance would let pass."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tclose.columns.domains import IN_ORDER
from tclose.study.propose.columns import NUMERIC, Column
from tclose.study.propose.hierarchies import WIDE
from tclose.study.propose.offered import Fit
from tclose.values.bins import count_bins, quantile_starts
from tclose.values.exact import number_of

T, L = Fraction("0.2"), 2
"""The limits of a sensitive column that are proposed."""

COMMON = Fraction(1, 2)
"""The share of the rows from which on it is asked whether t bounds the share of one value in a class. Where most people have a
value, as no income of a kind, who has it and who has not is the first thing that a class could tell. And from half of the rows
on, the value has a bin of its own among four bins of about equally many rows."""

BINS_OF_REST = 4
"""Bins of a column with such a value."""

BINS = 10
"""Bins of numbers that few rows share, if there are rows enough."""

FEW_SHARE = Fraction(1, 2)
"""The share of the rows with a number that fewer than k rows have, from which on a column of numbers gets bins: then the numbers
themselves would tell most rows from all but a few others."""


@dataclass(frozen=True)
class Commonest:
    """The commonest value of a column with an order, and how near to the table a class with all of it, or none, can be.

    Attributes
    ----------
    share : Fraction
        Of the rows, that have the value.
    missing : bool
        Whether it is the missing cell.
    values : int
        The values of the column; the missing cell is one.
    nobody : Fraction
        The least ordered distance of a class in which nobody has the value: each of its rows moves by one step at least.
    everybody : Fraction
        The ordered distance of a class in which everybody has it.
    """

    share: Fraction
    missing: bool
    values: int
    nobody: Fraction
    everybody: Fraction

    @classmethod
    def of(cls, column: Column) -> Commonest:
        """Return the commonest value of a column that has at least two; ties: the first wins."""
        counts, rows, steps = column.counts, column.rows, len(column.domain) - 1
        index = int(counts.argmax())
        moved = int((counts * np.abs(np.arange(steps + 1) - index)).sum())
        share = Fraction(int(counts[index]), rows)
        return cls(share, index == column.values, steps + 1, share / steps, Fraction(moved, rows * steps))

    @property
    def passing(self) -> list[str]:
        """The classes that t lets pass by the ordered distance, and not if all values are equally far apart; in words."""
        if self.share < COMMON:
            return []
        found = [f"a class in which nobody has it may have a distance of {_shown(self.nobody)}"] if self.nobody <= T else []
        if self.everybody <= T < 1 - self.share:
            found.append(f"a class in which everybody has it has a distance of {_shown(self.everybody)}")
        return found


def settings_of_sensitive(column: Column, fit: Fit | None, k: int) -> tuple[dict[str, Any], tuple[str, ...], str]:
    """Return the settings of a sensitive column, the reasons, and what is to be decided about it; "" if nothing is.

    Parameters
    ----------
    fit
        Whether the hierarchy that is offered for it fits; None if none is offered.
    """
    settings: dict[str, Any] = {"t": float(T), "l": L}
    reasons = [] if fit is None else [fit.reason]
    decide = ""
    if column.missing:
        settings["missing"] = "value"
        reasons.append(f"A missing cell, in {number_of(column.missing, 'row')}, counts as a value.")
    if column.kind == "category":
        settings["distance"] = "equal"
        reasons.append("Give its order for distances along it.")
    if fit is not None and fit.tree is not None:
        settings["hierarchy"] = fit.tree
        reasons.append("Values are the nearer, the lower the group that has both.")
    elif column.kind == "text":
        reasons.append("All values are equally far apart; a hierarchy would say which are near.")
    if column.kind == "text" and (column.nearly_unique or column.free_text):
        reasons.append("Nearly each row has a text of its own, by which it can be recognised: is it to be published at all?")
    common = Commonest.of(column) if column.kind in IN_ORDER and column.kind != "category" and len(column.domain) > 1 else None
    if common is not None and common.passing:
        more, why = _against_common(column, common)
        proposed = " with ".join(f"{key}: {value}" for key, value in more.items())
        answer = f"That is why it has {proposed}: read its comment." if more else "Read its comment."
        decide = f"Is {column.name} limited as you want it? {_have(common)} {answer}"
        return {**settings, **more}, (*reasons, *why), decide
    bins = min(BINS, column.rows // k)
    few = _rarely_shared(column, k)
    rare = column.nearly_unique or column.amount or few >= FEW_SHARE
    if column.kind in NUMERIC and rare and not column.infinite and bins > 1:
        settings["bins"], fewer = _bins_made(column, bins)
        reasons.append(
            f"{_percent(few)} of the rows have a number that fewer than {k} rows have, and by which they could be recognised: so "
            f"it is published in ranges of about equally many rows, bins: {settings['bins']}. Take bins away to publish the "
            f"numbers.{fewer}"
        )
    elif column.whole:
        reasons.append("Taken as ordered; distance: equal if they are codes.")
    return settings, tuple(reasons), decide


def _against_common(column: Column, common: Commonest) -> tuple[dict[str, Any], list[str]]:
    """Return the settings by which t bounds the share of the commonest value of a column in each class, and the reasons."""
    why = (
        f"{_have(common)} The values have an order, in which a step to the next of {common.values:,} values counts little. So a "
        f"t of {float(T)} would allow classes that tell who has it: {', and '.join(common.passing)}. (l: {L} refuses a class "
        "only if everybody has it.)"
    )
    many = common.values > WIDE and 1 - common.share > T
    if many and (column.kind not in NUMERIC or column.infinite):
        return {}, [why, "distance: equal would prevent that; with so many other values it needs very large classes."]
    low, high = max(Fraction(0), common.share - T), common.share + T
    most = _percent(high) if high < 1 else "less than 100%"  # everybody: l refuses that
    bounds = f"its share is from {_percent(low)} to {most} in each class"
    if many:
        bins, fewer = _bins_made(column, BINS_OF_REST)
        apart = f"And bins: {bins}, of which it has one for itself: so many other values would need very large classes.{fewer}"
        return {"bins": bins, "distance": "equal"}, [why, f"So distance: equal: {bounds}. {apart}"]
    settings = {"distance": "equal"}
    rest = 1 - common.share
    few = f"All other values have {_percent(rest)} of the rows" if rest <= T else "The other values are few"
    return settings, [why, f"So distance: equal: {bounds}. {few}, so it costs little."]


def _bins_made(column: Column, asked: int) -> tuple[int, str]:
    """Return the number of bins to propose, and a sentence, after a space, if a table makes fewer of it; "" if it makes as many.

    It is the number of bins that are made where that makes the same bins; a smaller number may make still fewer.
    """
    counts = column.counts[: column.values].tolist()
    starts = quantile_starts(counts, asked)
    made = len(starts) + 1
    if quantile_starts(counts, made) == starts:
        return made, ""
    words = number_of(made, "bin")
    return asked, (
        f" On this table they are {words}, because rows with the same value share a bin; bins: {made} would make "
        f"{count_bins(counts, made):,}. So it is right that anonymize tells of {words}, not {asked}."
    )


def _rarely_shared(column: Column, k: int) -> Fraction:
    """Return the share of the rows with a value that fewer than k rows have."""
    counts = column.counts[: column.values]
    return Fraction(int(counts[counts < k].sum()), column.rows)


def _have(common: Commonest) -> str:
    """Return a sentence with the share of the commonest value."""
    return f"{_percent(common.share)} of the rows have {'no value' if common.missing else 'the same value'}."


def _percent(share: Fraction) -> str:
    """Return a share as percents with one decimal."""
    return f"{float(100 * share):.1f}%"


def _shown(distance: Fraction) -> str:
    """Return a distance with three decimals."""
    return f"{float(distance):.3f}" if distance >= Fraction("0.001") else "less than 0.001"
