"""Trees: the scale of a quasi-identifier whose hierarchy the policy gives, or makes by a rule from the column's values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from tclose.columns.hierarchies import check_fits, hierarchy_of
from tclose.errors import InputError
from tclose.make.scales import IntervalTree, Tree
from tclose.policy import Quasi
from tclose.tables.table import Table
from tclose.values.arrays import Ints
from tclose.values.builders import NumberBuilder


def tree_of_quasi(source: Table, column: Quasi, cells: pa.Array, values: list[Any], *, missing: bool) -> tuple[Tree, Ints]:
    """Return the scale of a quasi-identifier with a hierarchy, and the code of each value of its column.

    A rule sees nothing but these values. Where rows are suppressed it is applied again, to the values of the others: see
    `tclose.make.encode.as_published`.

    Parameters
    ----------
    cells, values
        See `tclose.columns.hierarchies.hierarchy_of`.
    """
    builder = column.builder
    if isinstance(builder, NumberBuilder):
        check_finite(column, values)
        if values:
            check_fits(source, column.name, builder, cells, values)
        return IntervalTree.of_builder(column.name, values, builder, missing=missing)
    tree = hierarchy_of(source, column.name, column.hierarchy if builder is None else builder, cells, values)
    return Tree.of(column.name, values, tree, missing=missing, given=builder is None)


def check_finite(column: Quasi, values: list[Any]) -> None:
    """Raise InputError if a quasi-identifier that is published as ranges has an infinite number."""
    if any(isinstance(value, float) and not np.isfinite(value) for value in values):
        raise InputError(f"Column {column.name!r} must have finite numbers for its ranges. Got infinity.")
