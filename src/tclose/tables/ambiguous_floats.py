"""Ambiguous floats: one value to some readers and two to others. NaN beside missing cells, 0.0 beside -0.0."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tclose.errors import ColumnError
from tclose.tables.types import PRINTED

_NO_CLASSES = ("value", PRINTED)
"""Kinds of columns that make no classes: in a sensitive or kept column NaN is missing, and -0.0 is 0.0."""


def _only_row(question: Any) -> dict[str, Any]:
    """Return the only row of a query's result, run where its table is."""
    return question.to_pyarrow().to_pylist()[0]  # type: ignore[no-any-return]


def check_apart(
    table: Any, names: Mapping[str, str], kinds: Mapping[str, str], ask: Callable[[Any], dict[str, Any]] = _only_row
) -> None:
    """Refuse a column of floats with both NaN and missing cells, or 0.0 and -0.0: some readers tell them apart, others do not.

    polars tells NaN from a missing cell, pandas does not. 0.0 and -0.0 are equal, and are printed differently. ``ask`` returns
    the only row of a query's result.
    """
    floats = {name: table[column] for name, column in names.items() if kinds[name] not in _NO_CLASSES}
    floats = {name: column for name, column in floats.items() if column.type().is_floating()}
    if not floats:
        return
    facts: dict[str, Any] = {}
    for index, column in enumerate(floats.values()):
        signed = (column == 0).ifelse(column.cast("string").startswith("-"), None)  # NULL where it is not 0
        nan = column.isnan().fill_null(False)
        missing = column.isnull() & ~nan  # to Spark NaN is missing, too
        facts |= {f"a{index}": nan.any() & missing.any(), f"b{index}": signed.any() & (~signed).any()}
    found = ask(table.agg(**facts))
    for index, name in enumerate(floats):
        if found[f"a{index}"]:
            raise ColumnError(
                f"Column {name!r} has both NaN and missing cells, which some programs tell apart. Make them one, or fill them."
            )
        if found[f"b{index}"]:
            raise ColumnError(f"Column {name!r} has both 0.0 and -0.0, which some programs tell apart. Make them one.")
