"""A column before and after: its distribution in the table, and the one that a reader expects from the release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tclose.report.charts.frame import Spec
from tclose.report.charts.shares import two_distributions
from tclose.report.labels import percent, quoted


def before_after(
    name: str,
    values: Sequence[Any],
    before: Sequence[float],
    after: Sequence[float],
    *,
    in_order: bool,
    names: tuple[str, str] = ("before: the table", "after: as the release reads"),
) -> Spec:
    """Return a chart of a column's distribution before and after it was changed.

    Parameters
    ----------
    name
        The column.
    values
        Its domain; None stands for missing cells.
    before, after
        Rows at each value, or shares of them, in the table and in the release.
    in_order
        Whether the values have an order.
    names
        What the two are called in the legend.
    """
    total = float(sum(before)) or 1.0, float(sum(after)) or 1.0
    differ = sum(abs(float(a) / total[0] - float(b) / total[1]) for a, b in zip(before, after, strict=True)) / 2
    title = f"{quoted(name)} before and after: {percent(differ)} of the rows are at other values"
    if not differ:
        title = f"{quoted(name)} before and after: the distribution is the same"
    return two_distributions(values, before, after, names, title, in_order=in_order)
