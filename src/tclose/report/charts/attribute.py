"""A sensitive attribute in the table and in one class: what somebody learns who knows that a person is in the class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tclose.report.charts.frame import INTERNAL, Spec
from tclose.report.charts.shares import two_distributions
from tclose.report.labels import quoted
from tclose.values.exact import number_of


def attribute_in_class(
    name: str,
    values: Sequence[Any],
    table: Sequence[int],
    of_class: Sequence[int],
    *,
    class_name: str,
    in_order: bool,
    internal: bool = False,
) -> Spec:
    """Return a chart of a sensitive attribute's distribution in the table and in one class.

    Parameters
    ----------
    name
        The sensitive attribute.
    values
        Its domain; None stands for missing cells.
    table, of_class
        The rows of the table, and of the class, at each value.
    class_name
        What the class is called: "class 3".
    in_order
        Whether the values have an order.
    internal
        Whether the class is one of a table that is not published: the chart says so.
    """
    rows, of_table = (number_of(int(sum(counts)), "row") for counts in (of_class, table))
    title = f"{quoted(name)} in {class_name} ({rows}), beside the whole table ({of_table})"
    notes = [INTERNAL] if internal else []
    return two_distributions(values, table, of_class, ("the table", class_name), title, in_order=in_order, notes=notes)
