"""Hierarchies: a tree or a rule meets the values of a column, and a value that it has no place for is named with its row."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from tclose.errors import HierarchyError, PolicyError, got, listed
from tclose.tables.table import Table
from tclose.values.builders import Builder
from tclose.values.exact import in_row, number_of
from tclose.values.formula_guard import is_risky
from tclose.values.hierarchy import Hierarchy, joined, printed

NUMERIC = ("integer", "decimal", "float")
"""Kinds of columns that have numbers."""


def hierarchy_of(source: Table, name: str, given: Hierarchy | Builder, cells: pa.Array, values: list[Any]) -> Hierarchy:
    """Return the hierarchy of a column: the given one, or the one that a rule makes from its values; raise if it lacks a value.

    Parameters
    ----------
    cells, values
        The distinct values of the column, ascending, as the engine and as their owner knows them. ``cells`` may have a missing
        one at its end.
    """
    if isinstance(given, Builder):
        if not values:  # nothing but missing cells, in the table or in the rows that are published
            return Hierarchy([["*"]])
        check_fits(source, name, given, cells, values)
        try:
            return Hierarchy(joined(given.paths(values)))
        except HierarchyError as error:
            raise HierarchyError(f"Column {name!r}: {error}") from None
    lacking = [index for index, value in enumerate(values) if value is not None and value not in given]
    if lacking:
        raise unknown_values(source, name, cells, values, lacking, "hierarchy", given)
    return given


def check_fits(source: Table, name: str, builder: Builder, cells: pa.Array, values: list[Any], *, guarded: bool = False) -> None:
    """Raise an error for a column whose values the rule of its hierarchy has no place for; it names the first one and its row.

    Parameters
    ----------
    cells, values
        The distinct values of the column, as the engine and as their owner knows them; values may lack missing ones at the end.
    guarded
        Whether values are also refused that a release writes with a guard before them, as =1: they would be read as others.
    """
    kind = source.kinds[name]
    if builder.needs == "dates" and kind == "timestamp":
        raise PolicyError(
            f"hierarchy: {builder.key} of {name!r} needs dates without a time of day. The column holds timestamps. Cut the "
            "time off, or publish ranges with snap: month."
        )
    odd = {index: needed for index, value in enumerate(values) if value is not None and (needed := builder.requirement(value))}
    if guarded and builder.needs == "codes":
        odd |= {
            index: "be a code that no spreadsheet takes for a formula" for index, value in enumerate(values) if _is_guarded(value)
        }
    if odd:
        first, row = source.first(name, cells.take(pa.array(sorted(odd))))
        needed = next((needed for index, needed in odd.items() if values[index] == first), next(iter(odd.values())))
        present = sum(value is not None for value in values)
        more = "" if len(odd) == 1 else f", and {number_of(len(odd) - 1, 'other value')} like it"
        remedy = builder.remedy if len(odd) < present else "None of its values fits: choose another hierarchy"
        raise HierarchyError(
            f"hierarchy: {builder.key} of {name!r}: a value must {needed}. Got {got(printed(first))}"
            f"{in_row(', first in row', row)}{more}. {remedy}."
        )
    if kind not in {"numbers": NUMERIC, "dates": ("date",)}.get(builder.needs, (kind,)):
        raise PolicyError(f"hierarchy: {builder.key} of {name!r} needs {builder.needs}. The column holds {kind}.")


def _is_guarded(value: Any) -> bool:
    """Whether a release may write a text with a guard before it."""
    return isinstance(value, str) and is_risky(value)


def unknown_values(
    source: Table, name: str, cells: pa.Array, values: list[Any], unknown: list[int], what: str, tree: Hierarchy | None
) -> HierarchyError:
    """Return the error that counts the values of a column that its hierarchy, matrix or order lacks, and names five.

    Parameters
    ----------
    cells, values
        The values of the column.
    unknown
        The indices of those that are lacking.
    what
        "hierarchy", "matrix" or "order".
    """
    first, row = source.first(name, cells.take(unknown))
    if len(unknown) > 1:
        lacking = listed([printed(values[index]) for index in unknown])
        return HierarchyError(
            f"{len(unknown):,} values of {name!r} are not in its {what}: {lacking}.{in_row(' One of them is in row', row, '.')} "
            "Add them there."
        )
    inner = tree is not None and tree.find(printed(first)) is not None
    found, mend = ("stands above other values in", "Only leaves are values") if inner else ("is not in", "Add it there")
    return HierarchyError(f"Value {printed(first)!r} of {name!r}{in_row(', first in row', row, ',')} {found} its {what}. {mend}.")
