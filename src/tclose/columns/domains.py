"""Domains: the values of a sensitive attribute in the order of their codes, and the distance between them.

Here the settings of an attribute (its distance, hierarchy, order, bins, what missing means) are applied to the column's values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tclose.columns.hierarchies import check_fits, unknown_values
from tclose.distances import Distance
from tclose.distances.choose import KINDS, Labelling, arrange, as_number, label_of, labels_of, without_label
from tclose.errors import InputError, PolicyError
from tclose.policy import Policy, Sensitive
from tclose.tables.table import Table
from tclose.tables.types import PRINTED
from tclose.values.arrays import Ints
from tclose.values.bins import in_order, interval_of
from tclose.values.builders import Builder
from tclose.values.exact import in_row, plain
from tclose.values.hierarchy import Hierarchy

IN_ORDER = ("integer", "decimal", "float", "date", "timestamp", "time", "category")
"""Kinds of columns for which ``distance: auto`` is the ordered distance."""


@dataclass(frozen=True, eq=False)
class Domain:
    """The values of an attribute.

    Attributes
    ----------
    values : list
        In the order of their codes; the labels of bins where the attribute has bins.
    distance : Distance
        Between the codes.
    codes : (values of the column,) int64
        The code of each value of the column, ascending, missing last.
    """

    values: list[Any]
    distance: Distance
    codes: Ints

    def table(self, counts: Ints) -> Ints:
        """Return the number of rows with each code, from the number of rows with each value of the column."""
        table = np.zeros(len(self.values), dtype=np.int64)
        np.add.at(table, self.codes, counts)
        return table


def edges_from_table(column: Sensitive) -> bool:
    """Whether a sensitive attribute publishes bins whose edges come from the table, not from the policy."""
    return column.bins is not None and column.bins.count is not None and column.publish is None


def check_orders(source: Table, policy: Policy) -> None:
    """Raise PolicyError for a sensitive ordered category whose order the policy does not give: readers of a release need it."""
    for column in policy.sensitive:
        if source.kinds[column.name] == "category" and _needs_of_distance(column) == "order" and column.order is None:
            raise PolicyError(
                f"Sensitive column {column.name!r} is an ordered category, and a release keeps no such order. Give its order in "
                "the policy, or distance: equal."
            )


def kind_to_read(column: Sensitive) -> str:
    """Return the kind that a sensitive column is read as: as printed if it is looked up in a hierarchy, matrix or order."""
    if isinstance(column.hierarchy, Builder) and column.hierarchy.needs != "codes":
        return "value"
    return "value" if column.hierarchy is None and column.matrix is None and column.order is None else PRINTED


def domain_of(source: Table, column: Sensitive, cells: pa.Array, counts: Ints, *, binned: bool) -> Domain:
    """Return the domain of a sensitive attribute: its values in the order of their codes, and the distance between them.

    Parameters
    ----------
    cells, counts
        The values of the column, ascending, missing last, and how often each occurs.
    binned
        Put the values in the attribute's bins. A column that holds labels of bins already, as a release does, keeps them.
    """
    if column.bins is not None and source.kinds[column.name] == "text":
        shown = source.values(column.name, cells).to_pylist()
        labels = in_order([label for label in shown if label is not None])
        if labels is not None and (_needs_of_distance(column) == "" or column.missing == "value" or None not in shown):
            missing = [None] * (len(shown) - len(labels))
            ordered, distance = arrange("ordered" if column.kind == "auto" else column.kind, [*labels, *missing])
            return _domain_in_order(column, shown, ordered, distance)
        if labels is None and any(interval_of(label) is not None for label in shown):
            raise InputError(
                f"Sensitive column {column.name!r} must hold labels of bins that do not overlap, and nothing else beside them. "
                "Got other text, or bins that overlap."
            )
    kind = _name_of_distance(source, column)
    try:
        values = (source.numbers(cells) if KINDS[kind].needs == "numbers" else source.values(column.name, cells)).to_pylist()
    except (OverflowError, ValueError):
        raise InputError(f"Sensitive column {column.name!r} must have dates in the years 1 to 9999. Got others.") from None
    if isinstance(column.hierarchy, Builder):
        check_fits(source, column.name, column.hierarchy, cells, values, guarded=True)
    labelling = labelling_of(column, values)
    _check_missing(source, column, kind, values, labelling)
    if labelling is not None:
        _check_labels(source, column, labelling, cells, values)
    if KINDS[kind].needs == "numbers" and any(value is not None and abs(value) == float("inf") for value in values):
        raise InputError(f"Sensitive column {column.name!r} must have finite numbers for the {kind} distance. Got infinity.")
    if binned and column.bins is not None:
        return _domain_of_bins(source, column, kind, values, counts)
    ordered, distance = arrange(kind, values, labelling)
    return _domain_in_order(column, values, ordered, distance)


def _domain_in_order(column: Sensitive, values: list[Any], ordered: list[Any], distance: Distance) -> Domain:
    """Return the domain of a sensitive attribute whose values have a given order and distance."""
    rank = {value: code for code, value in enumerate(ordered)}
    if len(rank) < len(values):
        raise InputError(f"Sensitive column {column.name!r} has values that differ and yet are equal. Write each in one way.")
    return Domain(ordered, distance, np.array([rank[value] for value in values], dtype=np.int64))


def _domain_of_bins(source: Table, column: Sensitive, kind: str, values: list[Any], counts: Ints) -> Domain:
    """Return the domain of a sensitive attribute whose values are bins of numbers; missing cells are a value of their own."""
    if source.kinds[column.name] not in ("integer", "decimal", "float"):
        raise PolicyError(f"bins of {column.name!r} need numbers. The column holds {source.kinds[column.name]}.")
    present = [value for value in values if value is not None]
    if any(isinstance(value, float) and not np.isfinite(value) for value in present):
        raise InputError(f"Sensitive column {column.name!r} must have finite numbers for its bins. Got infinity.")
    labels = column.bins.labels([as_number(value) for value in present], counts[: len(present)].tolist())
    ordered = list(dict.fromkeys(labels)) + [None] * (len(values) - len(present))
    ordered, distance = arrange(kind, ordered)
    rank = {label: code for code, label in enumerate(ordered)}
    codes = [rank[label] for label in (*labels, *[None] * (len(values) - len(present)))]
    return Domain(ordered, distance, np.array(codes, dtype=np.int64))


def _needs_of_distance(column: Sensitive) -> str:
    """Return what the distance of a sensitive attribute needs of its values: "order", "numbers", ..., or "" for nothing."""
    return "order" if column.kind == "auto" else KINDS[column.kind].needs


def _name_of_distance(source: Table, column: Sensitive) -> str:
    """Return the name of a sensitive attribute's distance, by the column's type if the policy says ``auto``."""
    measured = source.kinds[column.name] in IN_ORDER
    if column.kind == "auto":
        return "ordered" if measured else "equal"
    if _needs_of_distance(column) == "order" and not measured and column.order is None:
        raise PolicyError(
            f"distance: {column.kind} of {column.name!r} needs an order: the column holds {source.kinds[column.name]}. Give one."
            f"{_doubt_in_words(source, column)}"
        )
    if _needs_of_distance(column) == "numbers" and (not measured or source.kinds[column.name] == "category"):
        raise PolicyError(
            f"distance: {column.kind} of {column.name!r} needs numbers or dates. The column holds {source.kinds[column.name]}."
            f"{_doubt_in_words(source, column)}"
        )
    return str(column.kind)


def _doubt_in_words(source: Table, column: Sensitive) -> str:
    """Return a sentence on a column that is nearly numbers or dates and was read as text; else an empty text."""
    reading = source.readings([column.name])[column.name]
    return f" Column {reading.sentence}." if reading.doubtful else ""


def labelling_of(column: Sensitive, values: list[Any]) -> Labelling | None:
    """Return the hierarchy, matrix or order that a sensitive attribute's values are looked up in; None if there is none.

    A rule makes the hierarchy from the values. All of its levels stay in it, also those that repeat a label: so the distance of
    two values does not depend on which others occur.
    """
    if isinstance(column.hierarchy, Builder):
        present = [value for value in values if value is not None]
        return Hierarchy(column.hierarchy.paths(present) if present else [["*"]])
    labelling: Labelling | None = next(
        (given for given in (column.hierarchy, column.matrix, column.order) if given is not None), None
    )
    return labelling


def _check_missing(source: Table, column: Sensitive, kind: str, values: list[Any], labelling: Labelling | None) -> None:
    """Raise an error for missing cells that the distance of a sensitive attribute has no position for."""
    if KINDS[kind].needs == "" or None not in values:
        return
    if column.missing == "value":
        if labelling is None or not without_label([None], labelling):
            return
        raise PolicyError(
            f"missing: value of {column.name!r} needs a place for missing cells, a null in its order or an empty leaf."
        )
    count, row = source.missing(column.name)
    place = "" if labelling is None else " and give it a place"
    beside = "" if column.t is None else f"t: {plain(column.t)}, "
    raise InputError(
        f"Sensitive column {column.name!r} must have a value in every row for the {kind} distance. Got {count} missing"
        f"{in_row(', the first in row', row)}. Fill them, leave those rows out, or add missing: value to the settings of "
        f"the column, as in {{{beside}missing: value}}{place}."
    )


def _check_labels(source: Table, column: Sensitive, labelling: Labelling, domain: pa.Array, values: list[Any]) -> None:
    """Raise an error for a value that the hierarchy, matrix or order of its sensitive attribute lacks, or two with one label."""
    unknown = set(without_label(values, labelling))
    if not unknown:
        known = set(labels_of(labelling))
        if len({label_of(value, known) for value in values}) < len(values):
            raise InputError(
                f"Sensitive column {column.name!r} has values that would share a place: missing cells beside empty text, or '= "
                "beside =. Use one of them."
            )
        return
    what = "hierarchy" if column.hierarchy is not None else "matrix" if column.matrix is not None else "order"
    lacking = [index for index, value in enumerate(values) if value in unknown]
    raise unknown_values(source, column.name, domain, values, lacking, what, column.hierarchy)
