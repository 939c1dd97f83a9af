"""The types of columns that stay in a database or a cluster: as they are there, or cast without loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ibis

from tclose.errors import ColumnError
from tclose.policy import Input
from tclose.tables.forms import without
from tclose.tables.types import OR_AUTO, OR_PUBLISHED, kind_of, one_zero
from tclose.values.exact import number_of

_CASTS = {"integer": "int64", "decimal": "float64", "date": "date"}

Ask = Callable[[Any], dict[str, Any]]
"""Returns the only row of a query's result."""


def as_asked(rows: Any, names: Mapping[str, str], kinds: Mapping[str, str], given: Input, ask: Ask) -> Any:
    """Return columns in the types that the policy asks for; NaN is missing, and so is what the policy says means "no value".

    Text stays text. Where the policy asks for numbers or dates of text it is refused: a view in the database can cast it.
    """
    casts = {}
    for name, column in names.items():
        cell = rows[column]
        if cell.type().is_floating():
            cell = one_zero(cell.isnan().ifelse(ibis.null(cell.type()), cell))
        cell = without(cell, given) if given.missing else cell
        casts[column] = _cast(rows, cell, kinds[name], name, ask)
    return rows.select(**casts)


def _cast(rows: Any, cell: Any, asked: str, name: str, ask: Ask) -> Any:
    """Return a cell in the type that is asked for; raise ColumnError if some cell does not have it, or two would become one."""
    kind = asked.removesuffix(OR_PUBLISHED).removesuffix(OR_AUTO)
    found = cell.type()
    if kind == "text":
        return _as_text(cell, name)
    fits = {"integer": found.is_integer(), "decimal": found.is_floating(), "date": found.is_date()}
    if kind not in _CASTS or fits[kind]:
        return cell
    if found.is_string() and kind != asked:  # a release has labels there
        return cell
    castable = {"integer": found.is_numeric(), "decimal": found.is_numeric(), "date": found.is_timestamp()}
    if not castable[kind]:
        raise ColumnError(
            f"type of {name!r} must fit the column. Got {kind!r}, and it is {kind_of(found)} there. Cast it in a view."
        )
    value = cell.cast(_CASTS[kind])
    facts = {"odd": (value.cast(found) != cell).sum().fill_null(0)} if kind == "integer" else {"odd": ibis.literal(0)}
    odd, before, after = ask(rows.agg(**facts, before=cell.nunique(), after=value.nunique())).values()
    if odd:
        what = "1 cell that is none" if odd == 1 else f"{odd:,} cells that are none"
        raise ColumnError(f"type of {name!r} must fit all its cells. Got {kind!r}, and {what}.")
    if before != after:  # times of day cut off, digits lost: people who can be distinguished would share a class
        raise ColumnError(
            f"type of {name!r} must keep its values apart. Got {kind!r}, which makes {number_of(after, 'value')} of {before:,}."
        )
    return value


def _as_text(cell: Any, name: str) -> Any:
    """Return a cell as text; raise ColumnError for a type that engines print differently."""
    found = cell.type()
    if found.is_string():
        return cell
    if found.is_integer() or found.is_date() or found.is_boolean() or found.is_decimal():
        return cell.cast("string")
    raise ColumnError(
        f"Column {name!r} cannot be read as text where it is: engines print {kind_of(found)} differently. Cast it in a view."
    )
