"""The types of columns: a CSV's cells are text, and a column's type is what all of its cells agree on."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import ibis

from tclose.errors import ColumnError

PRINTED = "printed"
"""Keep a CSV's cells as they are printed: for columns whose values are looked up in a hierarchy, a matrix or an order."""

_ASKED = {"integer": "int64", "decimal": "float64", "date": "date"}

# One number has one text, so that two texts that a reader of the file can tell apart are never put in one class:
# no plus sign, no leading zeros (a zip code is text), no minus zero.
_INTEGER = r"0|-?[1-9][0-9]*"
_DECIMAL = r"-?(0|[1-9][0-9]*)?(\.[0-9]+)?([eE][+-]?[0-9]+)?"
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"


def typed(text: Any, names: Mapping[str, str], kinds: Mapping[str, str]) -> Any:
    """A CSV's columns of text in the types that all their cells agree on, or in those that were asked for.

    Parameters
    ----------
    text : ibis table of text columns
    names
        The column of the ibis table for each name.
    kinds
        For each name "auto", "integer", "decimal", "date", "text", `PRINTED`, or "value": as auto, but for a sensitive column,
        where 1.0 and 1.00 are one value.
    """
    facts = _facts(text, [names[name] for name, kind in kinds.items() if kind in ("auto", "value")])
    casts = {}
    for name, kind in kinds.items():
        cell = text[names[name]]
        if kind in ("auto", "value"):
            kind = _agreed(facts[names[name]], cell, one_text=kind == "auto")
        elif kind in _ASKED:
            _check_fit(text, cell, kind, name)
        casts[names[name]] = _convert(cell, kind)
    return text.select(**casts)


def converted(table: Any, names: Mapping[str, str], kinds: Mapping[str, str], categories: Collection[str]) -> Any:
    """The columns of a table that has types of its own, in those that were asked for; NaN is missing.

    ``categories`` are ordered by their owner, and stay as they are.
    """
    casts = {}
    for name, kind in kinds.items():
        if name in categories:
            casts[names[name]] = table[names[name]]
            continue
        column = table[names[name]]
        if column.type().is_floating():
            column = column.isnan().ifelse(ibis.null(column.type()), column)
        if kind in _ASKED and not (kind == "integer" and column.type().is_integer()):
            _check_fit(table, column, kind, name)
            column = column.cast(_ASKED[kind])
        elif kind == "text":
            column = column.cast("string")
        casts[names[name]] = column
    return table.select(**casts)


def _check_fit(table: Any, column: Any, kind: str, name: str) -> None:
    """Refuse a type that some cell does not have."""
    found = table.select(column=column).mutate(row=ibis.row_number() + 1)
    odd = found.filter(found.column.notnull() & found.column.try_cast(_ASKED[kind]).isnull()).agg(
        count=ibis._.count(), row=ibis._.row.min()
    )
    count, row = odd.to_pyarrow().to_pylist()[0].values()
    if count:
        raise ColumnError(
            f"type of {name!r} must fit all its cells. Got {kind!r}, and {count} cells that are none, the first in row {row}."
        )


def kind_of(kind: Any) -> str:
    """The name of an ibis type."""
    names = (
        ("integer", kind.is_integer()), ("decimal", kind.is_decimal()), ("float", kind.is_floating()), ("date", kind.is_date()),
        ("timestamp", kind.is_timestamp()), ("time", kind.is_time()), ("boolean", kind.is_boolean()),
    )  # fmt: skip
    return next((name for name, holds in names if holds), "text")


def _facts(text: Any, columns: list[str]) -> dict[str, dict[str, Any]]:
    """What all cells of each column have in common, in one pass over the file."""
    if not columns:
        return {}
    measures: dict[str, Any] = {}
    for column in columns:
        cell = text[column]
        digits = cell.re_replace(r"[eE].*|[^0-9.]", "")
        part = ibis.ifelse(digits.contains("."), digits.re_replace(r"^[^.]*\.", "").length(), 0)
        number = (_full(cell, _DECIMAL) & cell.re_search("[0-9]")) | (cell.lower() == "nan")
        found = {
            "any": cell.notnull().any(),
            "integer": _full(cell, _INTEGER).all(),
            "decimal": number.all(),
            "date": (_full(cell, _DATE) & cell.try_cast("date").notnull()).all(),
            "whole": digits.re_replace(r"\..*", "").length().max(),
            "part": part.max(),
            "power": cell.re_search("[0-9.][eE]").any(),
        }
        measures |= {f"{column} {name}": measure for name, measure in found.items()}
    row = text.agg(**measures).to_pyarrow().to_pylist()[0]
    return {column: {key.split()[1]: fact for key, fact in row.items() if key.split()[0] == column} for column in columns}


def _agreed(fact: Mapping[str, Any], cell: Any, *, one_text: bool) -> str:
    """The type that all cells have; ``one_text`` asks that no two texts be one number."""
    if not fact["any"]:
        return "text"
    if fact["integer"]:
        return "integer" if fact["whole"] <= 18 else "decimal(38, 0)" if fact["whole"] <= 38 else "text"
    if fact["decimal"] and not (one_text and _texts_collide(cell)):
        width = fact["whole"] + fact["part"]
        return "decimal" if fact["power"] or width > 38 else f"decimal({18 if width <= 18 else 38}, {fact['part']})"
    return "date" if fact["date"] else "text"


def _texts_collide(cell: Any) -> bool:
    both = cell.as_table().agg(texts=cell.nunique(), numbers=cell.cast("float64").nunique()).to_pyarrow()
    return bool(both["texts"][0].as_py() != both["numbers"][0].as_py())


def _convert(cell: Any, kind: str) -> Any:
    """A text cell in a type; NaN is missing."""
    if kind in ("text", PRINTED):
        return cell
    number = (cell.lower() == "nan").ifelse(ibis.null("string"), cell)
    return number.cast(_ASKED.get(kind, kind))


def _full(cell: Any, pattern: str) -> Any:
    return cell.re_search(f"^({pattern})$")
