"""Forms: cells that are written otherwise than in a release are rewritten before they are typed, as the policy's ``input`` says.

In a release missing cells are empty, numbers have a decimal point, dates are 2024-01-31. A column is rewritten if all of its
cells have the form that the policy names, and stays as it is otherwise: so a release can be read with the policy that made it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import ibis

from tclose.errors import ColumnError
from tclose.policy import Input
from tclose.tables.moments import MOMENT, Moments
from tclose.values.notation import DateForm

COMMA = r"^-?(?:(?:0|[1-9][0-9]*)(?:,[0-9]+)?|,[0-9]+)(?:[eE][+-]?[0-9]+)?$"
"""A number with a decimal comma, or a whole number."""

_THOUSANDS = r"^-?[1-9][0-9]{0,2}(?:\.[0-9]{3})+$"

SAMPLE = 1_000
"""Rows of a sample: a form, or a type, that they do not have is not looked for in all rows."""


@dataclass(frozen=True)
class Rewritten:
    """Columns of text in the form of a release.

    Attributes
    ----------
    text : ibis table
    found : ibis table
        The same as they are written, but for missing cells.
    comma, dates : set
        The columns whose numbers have a decimal comma, and whose dates have the policy's form.
    moments : dict of Moments
        The columns of timestamps.
    """

    text: Any
    found: Any
    comma: set[str]
    dates: set[str]
    moments: dict[str, Moments]


def rewritten(table: Any, names: Mapping[str, str], kinds: Mapping[str, str], given: Input, texts: set[str]) -> Rewritten:
    """Return the text columns of a table with their numbers, dates and missing cells written as in a release.

    Parameters
    ----------
    names
        The column of the ibis table for each name.
    kinds
        What to read each as. Columns that are read as text or as they are printed are not rewritten.
    texts
        The columns that are text. In the others, numbers that mean "no value" become missing.
    """
    found = table.mutate(**{names[name]: without(table[names[name]], given) for name in names}) if given.missing else table
    open_ = {names[name]: kind for name, kind in kinds.items() if name in texts and kind not in ("text", "printed")}
    owners = {column: name for name, column in names.items()}
    dates = (
        _columns_where_all(found, {column: written_as(found[column], given.dates) for column in open_}) if given.dates else set()
    )
    commas = set()
    if given.decimal == ",":
        rest = [column for column in open_ if column not in dates]
        commas = _columns_where_all(found, {column: found[column].re_search(COMMA) for column in rest})
        commas = _columns_where_any(found, {column: found[column].contains(",") for column in commas})
        _check_thousands(found, {column: owners[column] for column in rest if column not in commas})
    cells = {column: iso(found[column], given.dates) for column in dates}
    cells |= {column: found[column].replace(",", ".") for column in commas}
    text = found.mutate(**cells) if cells else found
    asked = [column for column, kind in open_.items() if column not in commas and kind in ("auto", "value")]
    moments = _timestamp_columns(text, asked)
    return Rewritten(
        text, found, {owners[c] for c in commas}, {owners[c] for c in dates}, {owners[c]: form for c, form in moments.items()}
    )


def without(cell: Any, given: Input) -> Any:
    """Return a query's cell, made missing if it is one of the policy's texts that mean "no value"."""
    kind = cell.type()
    if kind.is_string():
        return cell.isin(given.missing).ifelse(ibis.null("string"), cell)
    if kind.is_numeric():
        numbers = _numbers_of_type(given.missing, kind)
        return cell.isin(numbers).ifelse(ibis.null(kind), cell) if numbers else cell
    return cell


def _numbers_of_type(texts: Sequence[str], kind: Any) -> list[Any]:
    """Return the texts that are numbers of an ibis type, as values of that type; only floats are rounded."""
    numbers = {text: Fraction(text) for text in texts if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text)}
    if kind.is_integer():
        low, high = kind.bounds.lower, kind.bounds.upper
        return [int(number) for number in numbers.values() if number.denominator == 1 and low <= number <= high]
    if kind.is_decimal():
        largest, unit = 10**kind.precision, 10**kind.scale
        numbers = {text: n for text, n in numbers.items() if (n * unit).denominator == 1 and abs(n * unit) < largest}
    return [ibis.literal(text).cast(kind) for text in numbers]


def written_as(cell: Any, form: DateForm) -> Any:
    """Return a query's test whether a cell is a date, or a timestamp, in a form; NULL if the cell is missing."""
    day = iso(cell, form).left(10)
    return (cell.re_search(form.pattern) & (day.try_cast("date").cast("string") == day)).fill_null(
        cell.isnull().ifelse(None, False)
    )


def iso(cell: Any, form: DateForm) -> Any:
    """Return a query's cell, a date or timestamp in a form, as the text 2024-01-31 or 2024-01-31 08:30:00."""
    found = {part: cell.re_extract(form.pattern, index).lpad(2, "0") for index, part in enumerate(form.parts, 1)}
    year = cell.re_extract(form.pattern, form.parts.index("year") + 1)
    text = year + "-" + found["month"] + "-" + found["day"]
    for part, mark in (("hour", " "), ("minute", ":"), ("second", ":")):
        text = text + mark + found[part] if part in found else text
    return text


def is_moment(cell: Any) -> Any:
    """Return a query's test whether a cell is a timestamp; NULL if the cell is missing."""
    day = cell.left(10)
    return (cell.re_search(MOMENT) & (day.try_cast("date").cast("string") == day)).fill_null(cell.isnull().ifelse(None, False))


def shape(cell: Any) -> Any:
    """Return a query's timestamp with all digits as 0, except those of the zone: equal for all that are written in one form."""
    return cell.re_extract(MOMENT, 1).re_replace("[0-9]", "0") + cell.re_extract(MOMENT, 2)


def _timestamp_columns(text: Any, columns: list[str]) -> dict[str, Moments]:
    """Return the columns whose cells are all timestamps in one form, each with that form."""
    columns = list(_columns_where_all(text, {column: is_moment(text[column]) for column in columns}))
    if not columns:
        return {}
    facts = {
        f"{end}{index}": getattr(shape(text[column]), end)() for index, column in enumerate(columns) for end in ("min", "max")
    }
    found = text.agg(**facts).to_pyarrow().to_pylist()[0]
    return {
        column: Moments.of(found[f"min{index}"])
        for index, column in enumerate(columns)
        if found[f"min{index}"] is not None and found[f"min{index}"] == found[f"max{index}"]
    }


def _columns_where_all(rows: Any, tests: Mapping[str, Any]) -> set[str]:
    """Return the text columns in which a query's test is true of every cell that is not missing, and of at least one."""
    hopeful = _test_all_cells(rows, tests, sample=True) if tests else {}
    answers = _test_all_cells(rows, {column: tests[column] for column, answer in hopeful.items() if answer is not False})
    return {column for column, answer in answers.items() if answer}


def _test_all_cells(rows: Any, tests: Mapping[str, Any], *, sample: bool = False) -> dict[str, bool | None]:
    """Return for each text column whether a query's test is true of all cells; None if all are missing."""
    if not tests:
        return {}
    asked = rows.select(**dict(zip((f"a{index}" for index in range(len(tests))), tests.values(), strict=True)))
    asked = asked.limit(SAMPLE) if sample else asked
    found = asked.agg(**{name: asked[name].all() for name in asked.columns}).to_pyarrow().to_pylist()[0]
    return dict(zip(tests, found.values(), strict=True))


def _columns_where_any(rows: Any, tests: Mapping[str, Any]) -> set[str]:
    """Return the text columns in which a query's test is true of some cell."""
    if not tests:
        return set()
    found = rows.agg(**{column: test.any() for column, test in tests.items()}).to_pyarrow().to_pylist()[0]
    return {column for column, answer in found.items() if answer}


def _check_thousands(rows: Any, columns: Mapping[str, str]) -> None:
    """Refuse cells as 1.234 under a decimal comma: they may be thousands, or decimals of a release."""
    tests = {column: rows[column].re_search(_THOUSANDS) | rows[column].re_search("^-?[0-9]+$") for column in columns}
    numbers = _columns_where_all(rows, tests)
    for column in sorted(_columns_where_any(rows, {column: rows[column].contains(".") for column in numbers})):
        raise ColumnError(
            f"Column {columns[column]!r} has cells as 1.234, which may be decimals or thousands. With a decimal comma write "
            "thousands without a point. A release is checked by tclose verify."
        )
