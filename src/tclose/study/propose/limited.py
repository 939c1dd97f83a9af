"""Limited: sensitive columns of which one value has most of a class although t holds, because their distance counts steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tclose.study.propose.columns import NUMERIC
from tclose.study.propose.commented import flow
from tclose.study.propose.costs import Cost
from tclose.study.propose.hierarchies import WIDE
from tclose.study.propose.roles import Assigned
from tclose.study.propose.sensitive import BINS, T
from tclose.values.visible import visible

MOST = 2 / 3
"""The share of one value in a class of the trial from which on its owner is asked: who guesses it is right twice as often as
wrong. (Three of five rows, the smallest class, are less: they are as common as small classes.)"""

GROWN = 2
"""How many times t that share is above the share in the table, at least. Where all values are equally far apart it is once t at
most, so such columns are never asked about."""


def hardly_limited(assigned: Sequence[Assigned], costs: Sequence[Cost]) -> Iterator[tuple[str, str]]:
    """Yield each sensitive column that the proposed t hardly limits in the trial, with the question about it.

    A column whose owner is asked about its limits already, because most rows have one value, is left out.
    """
    t = float(T)
    shares = next((cost.shares for cost in costs if cost.t == t), {})
    for one in assigned:
        share, in_table = shares.get(one.column.name, (0.0, 0.0))
        if one.role != "sensitive" or one.decide or share < MOST or share - in_table <= GROWN * t:
            continue
        tree = "hierarchy" in one.settings
        settings = {key: value for key, value in one.settings.items() if key != "hierarchy"}
        if one.column.kind != "text":  # whose distance is equal without a hierarchy
            settings["distance"] = "equal"
        value = "range" if "bins" in settings else "value"
        counts = f"a change to {value}s close by counts little."
        near = f"In its hierarchy {counts}" if tree else f"The {value}s have an order, in which {counts}"
        equal = "Without its hierarchy all are equally far apart, which allows" if tree else "distance: equal allows"
        wide = one.column.kind in NUMERIC and one.column.values > WIDE and "bins" not in settings
        fewer = f" bins: {BINS} beside it costs less: then ranges of numbers are limited so." if wide else ""
        question = (
            f"Is {visible(one.column.name)} limited as you want it? In the trial at t = {t} one {value} has up to "
            f"{100 * share:.1f}% of a class, and {100 * in_table:.1f}% of all rows. {near} {equal} at most "
            f"{100 * (in_table + t):.1f}%, and costs more detail: write {flow(settings)} after its name.{fewer}"
        )
        yield one.column.name, question
