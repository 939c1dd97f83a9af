"""Roles: what becomes of each column, and why. Which columns are sensitive is a guess that only their owner can check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from tclose.errors import InputError
from tclose.make.kept import FEW
from tclose.study.propose.columns import Column
from tclose.study.propose.hierarchies import Suggested, suggest_for_quasi, with_offered
from tclose.study.propose.offered import Misfit, Offered
from tclose.study.propose.persons import Unit
from tclose.study.propose.sensitive import settings_of_sensitive
from tclose.study.propose.words import stem, suggests_name_of_person, suggests_number_of_person, suggests_sensitive, tells_nothing
from tclose.tables.coded import Codes
from tclose.values.exact import number_of

Role = Literal["identifiers", "quasi", "sensitive", "keep", "drop"]

MOST_SENSITIVE = 3
"""Sensitive columns that are proposed: each one makes classes larger. Dummies of one variable are never divided."""

MANY = 100
"""Rows from which on whole numbers that all differ may be numbers of persons or of rows."""

DIGITS = 5
"""Digits of such numbers, if all have as many. Amounts and weights have different numbers of digits."""

GLANCE = 1_000
"""Rows that are compared first: most columns differ in them already."""

ONE_COLUMN = " If its cells are separated by anything but a comma, semicolon, tab or |, save it as CSV."


@dataclass(frozen=True)
class Assigned:
    """The role of a column.

    Attributes
    ----------
    column : Column
    role : str
        The key of the policy that it stands under.
    settings : dict
        Its settings there.
    reasons : tuple of str
        Sentences.
    grid : dict or None
        The snap, top and bottom that ``snap: auto`` chooses.
    decide : str
        What its owner must decide about it, in a sentence for the head of the file; "" if there is nothing of its own.
    amount : bool
        Whether it is a quasi-identifier that may as well be sensitive, or of no use: see `Column.amount`.
    doubtful : bool
        Whether it is a quasi-identifier only because its name tells nothing.
    instead : Suggested or None
        How it would be published without the hierarchy that its owner offered; None without one.
    twin : str or None
        Another column that tells the same; None if there is none.
    way : str
        How a class is published, in a sentence that is the same for all columns that are published so; "" if there is none.
    if_sensitive : dict or None
        The settings that would be proposed if its owner moved it to sensitive; None for a column that is no quasi-identifier.
    misfit : Misfit or None
        The file of a hierarchy that is offered for it, if its owner should mend it.
    """

    column: Column
    role: Role
    settings: dict[str, Any]
    reasons: tuple[str, ...]
    grid: dict[str, Any] | None = None
    decide: str = ""
    amount: bool = False
    doubtful: bool = False
    instead: Suggested | None = None
    way: str = ""
    twin: str | None = None
    if_sensitive: dict[str, Any] | None = None
    misfit: Misfit | None = None


def assign_roles(
    columns: Sequence[Column], unit: Unit | None, k: int, named: Sequence[str] = (), offered: Offered | None = None
) -> list[Assigned]:
    """Return a role for each column, in the order of the table.

    Parameters
    ----------
    named
        The sensitive columns, if their owner named them; otherwise they are guessed.
    offered
        Files of hierarchies.

    Raises
    ------
    InputError
        No two columns are left, one for a quasi-identifier and one that is sensitive.
    """
    owner = None if unit is None else unit.column
    files = Offered() if offered is None else offered
    hidden = {column.name: role for column in columns if column.name not in named and (role := _hidden(column, unit)) is not None}
    rest = [column for column in columns if column.name not in hidden]
    suggested = {column.name: with_offered(column, suggest_for_quasi(column, owner, k), files) for column in rest}
    sensitive = dict.fromkeys(named, "You named it.") or _guess_sensitive(
        rest, [name for name, found in suggested.items() if found.settings is not None]
    )
    open_ = {
        column.name: _sensitive(column, sensitive[column.name], files, k)
        if column.name in sensitive
        else _quasi(column, suggested[column.name], files, k, guessed=not named)
        for column in rest
    }
    found = [hidden.get(column.name) or open_[column.name] for column in columns]
    if not {"quasi", "sensitive"} <= {one.role for one in found}:
        raise InputError(
            "A policy needs a quasi-identifier, which others may know, and a sensitive column. The table has "
            f"{number_of(len(rest), 'column')} that could be one of them: others are the same in every row, empty, or free text, "
            f"or they name persons.{ONE_COLUMN if len(columns) == 1 else ''}"
        )
    twins = {one.column.name: _twin(one.column, rest) for one in found if one.column.name not in hidden}
    return [
        replace(one, reasons=(*one.reasons, f"It tells the same as {twin.name}: publish one of them."), twin=twin.name)
        if (twin := twins.get(one.column.name)) is not None
        else one
        for one in found
    ]


def _twin(column: Column, others: Sequence[Column]) -> Column | None:
    """Return the first other column that has another value exactly where the column has another; None if there is none."""
    for other in others:
        if other is column or len(other.domain) != len(column.domain) or column.nearly_unique:
            continue
        if all(_is_renamed(column.codes[:rows], other.codes[:rows], len(column.domain)) for rows in (GLANCE, column.rows)):
            return other
    return None


def _is_renamed(codes: Codes, others: Codes, size: int) -> bool:
    """Whether two columns have the same values under other names in some rows; codes are below ``size``."""
    first, back = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    first[codes], back[others] = others, codes
    return bool((first[codes] == others).all() and (back[others] == codes).all())


def _hidden(column: Column, unit: Unit | None) -> Assigned | None:
    """Return the role of a column that tells nothing, or that names persons; None for one that others may know, or nobody."""
    if unit is not None and column is unit.column:
        return Assigned(column, "identifiers", {}, (f"It names the person: {unit.reason}.",))
    if not column.values:
        return Assigned(column, "drop", {}, ("It has no values.",))
    if column.constant:
        role: Role = "drop" if column.free_text or column.nearly_unique else "keep"
        return Assigned(column, role, {}, ("It is the same in every row.",))
    named = (column.kind == "text" or column.whole) and _is_called_like_persons(column)
    if column.unique and (named or _looks_like_numbers_of_rows(column)):
        more = "Its name says so, too." if named else "Make it a quasi-identifier if it is a measurement."
        return Assigned(column, "identifiers", {}, ("No two rows have the same value.", more))
    if named and unit is not None:
        return Assigned(column, "identifiers", {}, ("By its name it identifies persons.",))
    if named:
        why = "By its name it identifies persons, and its values repeat. If the same value is the same person, set it as unit."
        return Assigned(column, "drop", {}, (why,))
    if column.free_text:
        return Assigned(column, "drop", {}, ("Free text, in which people write names.",))
    if column.infinite:
        return Assigned(column, "drop", {}, ("It has infinite numbers. Make them missing in order to publish it.",))
    return None


def _is_called_like_persons(column: Column) -> bool:
    """Whether a column is called like what identifies persons, and has as many values as that would have."""
    if suggests_name_of_person(column.name):
        return column.kind == "text" or column.nearly_unique
    return suggests_number_of_person(column.name) and column.values * FEW > column.rows


def _looks_like_numbers_of_rows(column: Column) -> bool:
    """Whether a column with no value twice has texts, or whole numbers that count the rows or have as many digits each."""
    if column.kind == "text":
        return column.rows >= FEW
    if not column.whole or suggests_sensitive(column.name):
        return False
    span = column.present[-1].as_py() - column.present[0].as_py() + 1
    if column.rows < MANY:
        return bool(span == column.values >= FEW)
    return bool(column.digits >= DIGITS or span < 2 * column.values)


def _guess_sensitive(columns: Sequence[Column], publishable: Sequence[str]) -> dict[str, str]:
    """Return the names of the columns that are guessed to be sensitive, each with the reason.

    One column at least must be left to be a quasi-identifier.
    """
    fitting = [column for column in columns if len(column.domain) > 1 and not (column.kind == "text" and column.nearly_unique)]
    strength = {column.name: suggests_sensitive(column.name) for column in fitting}
    best = max(strength.values(), default=0)
    found = {name: "A guess. Its name suggests it." for name, own in strength.items() if own == best > 0}
    if not found and fitting:
        why = "A guess. No name suggests a sensitive column; the last one is often what a table is about."
        found = {fitting[-1].name: why}
    chosen: dict[str, str] = {}
    for column in fitting:
        if column.name in found and len(chosen) < MOST_SENSITIVE:
            chosen |= {name: found[name] for name in _dummies(column, fitting) if name in found}
    while chosen and not set(publishable) - chosen.keys():
        chosen.popitem()
    return chosen


def _dummies(column: Column, columns: Sequence[Column]) -> list[str]:
    """Return the names of the columns that are dummies of one variable with a column; its own alone if it is no dummy.

    Dummies have a stem in common and the numbers 0 and 1, and no row has a 1 in two of them.
    """
    alike = [
        other
        for other in columns
        if stem(other.name) == stem(column.name)
        and len(other.domain) == 2
        and other.whole
        and other.present.to_pylist() == [0, 1]
    ]
    ones = np.sum([other.codes for other in alike], axis=0, dtype=np.int64)
    return [other.name for other in alike] if column in alike and ones.max() == 1 else [column.name]


def _sensitive(column: Column, why: str, files: Offered, k: int) -> Assigned:
    """Return the role of a sensitive column, with its limits, and the hierarchy that is offered for it if it fits."""
    fit = files.fit_sensitive(column)
    settings, reasons, decide = settings_of_sensitive(column, fit, k)
    return Assigned(column, "sensitive", settings, (why, *reasons), decide=decide, misfit=None if fit is None else fit.misfit)


def _quasi(column: Column, suggested: Suggested, files: Offered, k: int, *, guessed: bool) -> Assigned:
    """Return the role of a column that others may know; it is dropped if it would name people.

    Where sensitive columns are ``guessed``, one whose name tells nothing may be one of them.
    """
    if suggested.settings is None:
        found = f"{number_of(column.values, 'value')} in {column.rows:,} rows, nearly one for each."
        reasons = [f"{found} Give it a hierarchy to publish it.", *suggested.reasons]
        return Assigned(column, "drop", {}, tuple(reasons), misfit=suggested.misfit)
    reasons = list(suggested.reasons)
    amount = column.amount and "hierarchy" not in suggested.settings
    if amount:
        reasons.append("Few rows share a number: DECIDE its role, see above.")
    if column.unique and column.whole:
        reasons.append("No two rows have the same value: make it an identifier if it is the number of a person or of a row.")
    if suggests_sensitive(column.name):
        reasons.append("Its name suggests that it is sensitive, too: move it there if nobody should learn it.")
    doubtful = guessed and not amount and tells_nothing(column.name)
    if doubtful:
        reasons.append("Its name tells nothing: DECIDE its role, see above.")
    return Assigned(
        column,
        "quasi",
        suggested.settings,
        tuple(reasons),
        suggested.grid,
        amount=amount,
        doubtful=doubtful,
        instead=suggested.instead,
        way=suggested.way,
        misfit=suggested.misfit,
        if_sensitive=settings_of_sensitive(column, files.fit_sensitive(column), k)[0],
    )
