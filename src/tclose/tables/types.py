"""The types of columns: the cells of a CSV are text, and the type of a column is the one that all of its cells have."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import ibis

from tclose.errors import ColumnError
from tclose.policy import Input
from tclose.tables.forms import SAMPLE, Rewritten, rewritten
from tclose.tables.moments import Moments
from tclose.tables.written import Written
from tclose.values.exact import number_of

PRINTED = "printed"
"""Keep a CSV's cells as they are printed: for columns whose values are looked up in a hierarchy, a matrix or an order."""

OR_PUBLISHED = " or published"
"""Suffix of a type: cells without it may be what a release publishes instead of values; the column is text then."""

OR_AUTO = " or auto"
"""Suffix of a type: if some cell does not have it, the column is typed by its cells: a release may have anything there."""

PUBLISHED = r"^(\*|\[.+, .+[\])]|.+ or (more|less|missing)|less than .+|any value|\{.+\}|\d{4}(-\d{2}|-W\d{2}|-Q[1-4])?)$"
"""What a release publishes instead of values: everything, ranges, sets, and spans of the calendar."""

_ASKED = {"integer": "int64", "decimal": "float64", "date": "date"}

_DAY = r"^[0-9]{4}[-/][0-9]{1,2}[-/][0-9]{1,2}([ T][0-9:.]+(Z|[+-][0-9:]+)?)?$"
"""What a text must look like to be a date: DuckDB would take each text that begins with a date for one."""

_SOME_DAY = datetime(2024, 1, 31)

DECIMAL = r"^-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
"""A number with a decimal point, or a whole number, without leading zeros."""


@dataclass(frozen=True)
class Typed:
    """Columns in their types, and how the cells of those that were text are written.

    Attributes
    ----------
    rows, found : ibis tables
        The columns in their types, and as they are written, but for missing cells.
    written : Written
    """

    rows: Any
    found: Any
    written: Written

    @classmethod
    def of(cls, rows: Any, forms: Rewritten, guessed: dict[str, str], digits: dict[str, int]) -> Typed:
        """Return columns in their types together with how their cells are written."""
        return cls(rows, forms.found, Written(forms.comma, forms.dates, forms.moments, guessed, digits))


def typed(table: Any, names: Mapping[str, str], kinds: Mapping[str, str], given: Input) -> Typed:
    """Return the columns of a CSV in the types that all of their cells have, or in those that the policy asks for.

    Parameters
    ----------
    table : ibis table of text columns
    names
        The column of the ibis table for each name.
    kinds
        For each name "auto", "integer", "decimal", "date", "text", `PRINTED`, or "value": as auto, but for a sensitive column,
        where 1.0 and 1.00 are one value.
    given
        How the cells are written, as far as the policy says.
    """
    forms = rewritten(table, names, kinds, given, set(names))
    casts, guessed, digits = _typed_texts(forms, names, kinds)
    return Typed.of(forms.text.select(**casts), forms, guessed, digits)


def _typed_texts(
    forms: Rewritten, names: Mapping[str, str], kinds: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, str], dict[str, int]]:
    """Return text columns cast to their types; the columns whose types their cells decided; and the digits of decimals."""
    text = forms.text
    kinds = {name: _fitting_type(text, text[names[name]], kind, name) for name, kind in kinds.items()}
    guessed = {name: kind for name, kind in kinds.items() if kind in ("auto", "value")}
    found, digits = _types_of_all_cells(
        text, {names[name]: kind == "auto" for name, kind in guessed.items() if name not in forms.moments}
    )
    casts = {}
    for name, kind in kinds.items():
        cell = text[names[name]]
        if name in forms.moments and name in guessed:
            casts[names[name]] = _timestamp_of_text(cell, forms.moments[name])
        else:
            casts[names[name]] = _cast_text(cell, found.get(names[name], kind))
    return casts, guessed, {name: digits[names[name]] for name in guessed if names[name] in digits}


def _timestamp_of_text(cell: Any, form: Moments) -> Any:
    """Return a query's text cell as a timestamp; in UTC if the cells say how far from UTC they are."""
    moment = cell.left(len(form.text(_SOME_DAY)) - len(form.zone)).replace("T", " ").cast("timestamp")
    return moment if form.offset is None else moment - ibis.interval(seconds=int(form.offset.total_seconds()))


def converted(table: Any, names: Mapping[str, str], kinds: Mapping[str, str], categories: Collection[str], given: Input) -> Typed:
    """Return the columns of a table that has types in the types that the policy asks for; NaN is missing.

    ``categories`` have an order, and stay as they are. Text stays text unless the policy says how numbers or dates are written:
    then it is read as that of a CSV.
    """
    chosen = {name: column for name, column in names.items() if name not in categories}
    texts = {name for name, column in chosen.items() if table[column].type().is_string()}
    forms = rewritten(table, chosen, kinds, given, texts if given.decimal or given.dates else set())
    casts: dict[str, Any] = {}
    guessed: dict[str, str] = {}
    digits: dict[str, int] = {}
    if given.decimal or given.dates:
        casts, guessed, digits = _typed_texts(forms, names, {name: kinds[name] for name in texts})
    table = forms.text
    for name, kind in kinds.items():
        if names[name] in casts:
            continue
        if name in categories:
            casts[names[name]] = table[names[name]]
            continue
        column = table[names[name]]
        if column.type().is_floating():
            column = one_zero(column.isnan().ifelse(ibis.null(column.type()), column))
        kind = "auto" if kind.startswith("integer") and column.type().is_integer() else _fitting_type(table, column, kind, name)
        if kind in _ASKED and not (kind == "integer" and column.type().is_integer()):
            column = column.cast(_ASKED[kind])
        elif kind == "text":
            column = column.cast("string")
        casts[names[name]] = column
    asked = {name: kinds[name] for name in texts if kinds[name] in ("auto", "value")}
    return Typed.of(table.select(**{column: casts[column] for column in names.values()}), forms, guessed or asked, digits)


def _fitting_type(table: Any, column: Any, asked: str, name: str) -> str:
    """Return the type to read a column as: as asked, or text for a release's ranges; raise ColumnError if cells do not fit."""
    kind = asked.removesuffix(OR_PUBLISHED).removesuffix(OR_AUTO)
    if kind not in _ASKED:
        return kind
    if asked.endswith(OR_PUBLISHED) and column.type().is_string():
        odd = table.filter(_try_cast(column, kind).isnull() & column.notnull())
        if odd.agg(all=column.re_search(PUBLISHED).all()).to_pyarrow()["all"][0].as_py():
            return "text"
    try:
        _check_fit(table, column, kind, name)
    except ColumnError:
        if asked.endswith(OR_AUTO):
            return "auto"
        raise
    return kind


def _check_fit(table: Any, column: Any, kind: str, name: str) -> None:
    """Raise ColumnError if some cell of a column does not have a type, or two values would become one."""
    found = table.select(cell=column).mutate(row=ibis.row_number() + 1)
    value = _try_cast(found.cell, kind)
    fits = value.notnull()
    if kind == "integer":  # a cast alone would round, and take 0x1F
        fits &= (found.cell.try_cast("float64") == value.cast("float64")).fill_null(False)
    odd = found.filter(found.cell.notnull() & ~fits).agg(count=ibis._.count(), row=ibis._.row.min())
    count, row = odd.to_pyarrow().to_pylist()[0].values()
    if count:
        what = "1 cell that is none" if count == 1 else f"{count} cells that are none, the first"
        raise ColumnError(f"type of {name!r} must fit all its cells. Got {kind!r}, and {what} in row {row}.")
    before, after = found.agg(before=found.cell.nunique(), after=value.nunique()).to_pyarrow().to_pylist()[0].values()
    if before != after:  # times of day cut off, digits lost: people who can be distinguished would share a class
        raise ColumnError(
            f"type of {name!r} must keep its values apart. Got {kind!r}, which makes {number_of(after, 'value')} of {before:,}."
        )


def _try_cast(column: Any, kind: str) -> Any:
    """Return a query's column in a type, missing where a cell does not have it."""
    if kind == "date" and column.type().is_string():
        column = column.re_search(_DAY).ifelse(column, ibis.null("string"))
    return column.try_cast(_ASKED[kind])


def kind_of(kind: Any) -> str:
    """Return tclose's name of an ibis type: "integer", "decimal", "float", "date", and so on; else "text"."""
    names = (
        ("integer", kind.is_integer()), ("decimal", kind.is_decimal()), ("float", kind.is_floating()), ("date", kind.is_date()),
        ("timestamp", kind.is_timestamp()), ("time", kind.is_time()), ("boolean", kind.is_boolean()),
    )  # fmt: skip
    return next((name for name, is_it in names if is_it), "text")


def _types_of_all_cells(text: Any, columns: Mapping[str, bool]) -> tuple[dict[str, str], dict[str, int]]:
    """Return the type that all cells of each text column have, and for decimals the number of digits if all have as many.

    True for a column means that no two of its texts may be one number: a reader who sees 1.0 and 1.00 in the file can tell the
    people apart. An integer or a date has one text only: no plus sign, no leading zeros (a zip code is text).
    """
    tests = {"integer": _prints_as("int64"), "decimal": _is_decimal, "date": is_date}
    tries = [(column, kind) for column in columns for kind in tests]
    hopeful = [which for which, answer in _test_kinds_of_cells(text.limit(SAMPLE), tries, tests).items() if answer is not False]
    found: dict[str, str] = {}
    digits: dict[str, int] = {}
    while hopeful:  # of each column the first kind that the sample allows; the next only where not all cells have it
        firsts = dict(reversed(hopeful)).items()
        for (column, kind), answer in _test_kinds_of_cells(text, list(firsts), tests).items():
            if answer:
                found[column] = kind
                if kind == "decimal":
                    found[column], least, most = _decimal_type(text, text[column], one_text=columns[column])
                    digits |= {column: most} if least == most and found[column].startswith("decimal(") else {}
        hopeful = [which for which in hopeful if which not in firsts and which[0] not in found]
    return {column: found.get(column, "text") for column in columns}, digits


def _test_kinds_of_cells(
    rows: Any, tries: list[tuple[str, str]], tests: Mapping[str, Callable[[Any], Any]]
) -> dict[tuple[str, str], bool | None]:
    """Return for pairs of column and kind whether all cells are of the kind, in one query; None if there are no cells."""
    if not tries:
        return {}
    answers = {f"a{index}": tests[kind](rows[column]).all() for index, (column, kind) in enumerate(tries)}
    return dict(zip(tries, rows.agg(**answers).to_pyarrow().to_pylist()[0].values(), strict=True))


def _prints_as(kind: str) -> Callable[[Any], Any]:
    """Return a query's test whether a text is what a value of a type prints as; NULL if the cell is missing."""
    return lambda cell: (cell.try_cast(kind).cast("string") == cell).fill_null(cell.isnull().ifelse(None, False))


def is_date(cell: Any) -> Any:
    """Return a query's test whether a text is a date as 2024-01-31; NULL if the cell is missing."""
    return _prints_as("date")(cell) & cell.re_search("^[0-9]{4}-[0-9]{2}-[0-9]{2}$")


def _is_decimal(cell: Any) -> Any:
    """Return a query's test whether a text is a decimal number, or NaN."""
    return cell.re_search(DECIMAL) | (cell.lower() == "nan")


def _decimal_type(text: Any, cell: Any, *, one_text: bool) -> tuple[str, int, int]:
    """Return the type that preserves all digits of a column's decimals, or "text"; and their fewest and most decimals.

    With it come the fewest and the most digits after the point.
    """
    point, size, number = cell.find("."), cell.length(), cell.try_cast("float64")
    has_part = point >= 0
    facts = text.agg(
        whole=has_part.ifelse(point, size).max(),
        least=has_part.ifelse(size - point - 1, 0).min(),
        part=has_part.ifelse(size - point - 1, 0).max(),
        power=(cell.lower().contains("e")).any(),
        texts=cell.nunique() if one_text else ibis.literal(0),
        numbers=number.nunique() if one_text else ibis.literal(0),
        two_missing=(cell.lower() == "nan").any() & cell.isnull().any() if one_text else ibis.literal(False),
        lost=(number.isinf() | ((number == 0) & cell.re_search("^[^eE]*[1-9]"))).any(),
    ).to_pyarrow()
    whole, least, part, power, texts, numbers, two_missing, lost = facts.to_pylist()[0].values()
    width = whole + part
    if texts != numbers or two_missing or (power and lost) or width > (15 if power else 38):  # a float preserves 15 digits
        return "text", least, part
    return "decimal" if power else f"decimal({18 if width <= 18 else 38}, {part})", least, part


def _cast_text(cell: Any, kind: str) -> Any:
    """Return a query's text cell cast to a type; NaN becomes missing."""
    if kind in ("text", PRINTED):
        return cell
    number = (cell.lower() == "nan").ifelse(ibis.null("string"), cell).cast(_ASKED.get(kind, kind))
    return one_zero(number) if number.type().is_floating() else number


def one_zero(column: Any) -> Any:
    """Return a query's column with 0.0 for -0.0: one number, but two values to a reader who compares bits."""
    return (column == 0).ifelse(ibis.literal(0.0).cast(column.type()), column)
