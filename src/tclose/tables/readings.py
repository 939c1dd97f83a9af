"""Readings: a sentence for each column that says how it was read, and why one that is nearly numbers or dates is text.

No sentence quotes a cell, except words that are known to mean "no value". Examples of dates are not from the table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from tclose.policy import Input
from tclose.tables.nearly import FORMS
from tclose.tables.types import PRINTED
from tclose.tables.written import Nearly, Written
from tclose.values.exact import in_row

NOUNS = {
    "integer": "whole numbers", "decimal": "numbers", "float": "numbers", "date": "dates", "timestamp": "timestamps",
    "time": "times of day", "boolean": "true or false", "category": "ordered categories", "codes": "categories without an order",
    "text": "text",
}  # fmt: skip

_SOME_DAY = datetime(2024, 2, 1, 8, 30)


@dataclass(frozen=True)
class Reading:
    """How a column was read.

    Attributes
    ----------
    column : str
    kind : str
        "integer", "decimal", "float", "date", "timestamp", "time", "boolean", "category", "codes" or "text".
    sentence : str
        The same in words: what the column was taken for, what kept it from being numbers or dates, and the remedy.
    remedy : str or None
        What to write in the policy if the column is meant otherwise.
    doubtful : bool
        Whether the column is nearly numbers or dates, and was read as text.
    """

    column: str
    kind: str
    sentence: str
    remedy: str | None = None
    doubtful: bool = False

    def settled(self, how: str | None = None) -> Reading:
        """Return the reading without doubt and remedy, for a column whose type the policy decides; ``how`` says as what."""
        if how is not None:
            return replace(self, sentence=f"{self.column}: {how}", remedy=None, doubtful=False)
        if self.kind != "integer":
            return replace(self, doubtful=False)
        return replace(self, sentence=f"{self.column}: {NOUNS[self.kind]}", remedy=None)

    def to_dict(self) -> dict[str, Any]:
        """Return the reading as a mapping of plain types, for JSON."""
        return {"kind": self.kind, "sentence": self.sentence, "remedy": self.remedy, "doubtful": self.doubtful}


def reading(name: str, kind: str, asked: str, written: Written, nearly: Nearly | None, given: Input, *, csv: bool) -> Reading:
    """Return how a column was read, as a `Reading`: its kind, a sentence about it, and a remedy where it is in doubt.

    Parameters
    ----------
    kind, asked
        What it was read as, and what was asked.
    written
        How its cells are written.
    nearly
        What nearly all of its cells are, if it is text and they decided that.
    given
        What the policy says about how cells are written.
    csv
        Whether text may be anything, as in a CSV; elsewhere it is text by its type.
    """
    if nearly is not None:
        return _reading_in_doubt(name, nearly, given, csv=csv)
    noun = NOUNS[kind]
    if asked == PRINTED:
        noun = "as printed"
    elif name in written.comma:
        noun += " with a decimal comma"
    elif name in written.dates and given.dates is not None:
        noun += f" written as {given.dates.words}"
    elif name in written.moments and kind == "timestamp":
        noun += f" written as {written.moments[name].text(_SOME_DAY)}"
    if kind == "integer" and asked in ("auto", "value"):
        remedy = "type: category" if asked == "auto" else "distance: equal"
        return Reading(name, kind, f"{name}: {noun}, taken as ordered; `{remedy}` if they are codes", remedy)
    return Reading(name, kind, f"{name}: {noun}")


def _reading_in_doubt(name: str, found: Nearly, given: Input, *, csv: bool) -> Reading:
    """Return the reading of a text column whose cells are nearly all numbers or dates."""
    if not found.odd and (found.what == "number" or (not csv and found.what in ("date", "moment") and found.shapes < 2)):
        return _reading_as_text(name, found, csv=csv)
    if found.what == "moment" and found.shapes > 1:
        why = f"its timestamps are written in {found.shapes} forms, or with {found.shapes} distances from UTC. Write them in one"
        return Reading(name, "text", f"{name}: text; {why}", doubtful=True)
    settings = _remedy_settings(found, given, csv=csv)
    remedy = f"input: {{{', '.join(settings)}}}" if settings else None
    parts = [part for part in (_looks_in_words(found, csv=csv), _advice_in_words(found, remedy)) if part]
    return Reading(name, "text", f"{name}: text{_reason_in_words(found)}; {'; '.join(parts)}", remedy, doubtful=True)


def _reading_as_text(name: str, found: Nearly, *, csv: bool) -> Reading:
    """Return the reading of a text column whose cells are all numbers or dates in the form of a release."""
    if csv:
        why = "numbers are written in two ways, as 1.5 and 1.50, or have too many digits"
        return Reading(name, "text", f"{name}: text, because {why}")
    what, setting = {"number": ("numbers", "decimal: '.'"), "date": ("dates", "dates: YYYY-MM-DD")}.get(
        found.what, ("timestamps", "dates: YYYY-MM-DD")
    )
    remedy = f"input: {{{setting}}}"
    return Reading(name, "text", f"{name}: text, by its type; its cells are {what}, and `{remedy}` reads them", remedy)


def _remedy_settings(found: Nearly, given: Input, *, csv: bool) -> list[str]:
    """Return the settings of the policy's input with which a text column would be read as numbers or dates."""
    settings = {"comma": ["decimal: ','"]}.get(found.what, [f"dates: {found.what}"] if found.what in FORMS else [])
    if not settings and not csv:  # text of a frame is read once the policy says how
        settings = ["decimal: '.'"] if found.what == "number" else ["dates: YYYY-MM-DD"]
    if found.words:
        settings.append(f"missing: [{', '.join(map(_yaml_scalar, dict.fromkeys([*given.missing, *found.words])))}]")
    return settings


def _reason_in_words(found: Nearly) -> str:
    """Return the clause that says how many cells are no number or date, and where the first is unless they are known words."""
    if not found.odd:
        return ""
    what = {"number": "number", "comma": "number", "moment": "timestamp"}.get(found.what, "date")
    none = f"cells is no {what}" if found.odd == 1 else f"cells are no {what}s"
    where = "" if found.words else in_row(f", {'' if found.odd == 1 else 'the first '}in row", found.row)
    return f", because {found.odd:,} of {found.cells:,} {none}{where}"


def _looks_in_words(found: Nearly, *, csv: bool) -> str:
    """Return the clause that says what the cells look like; empty if they have the form of a release."""
    looks = {"comma": "numbers with a decimal comma"}.get(found.what)
    if found.what in FORMS:
        looks = f"dates as {FORMS[found.what].example}"
    elif looks is None and not csv:
        looks = {"number": "numbers", "date": "dates"}.get(found.what, "timestamps")
    return f"its {'other ' if found.odd else ''}cells look like {looks}" if looks else ""


def _advice_in_words(found: Nearly, remedy: str | None) -> str:
    """Return the clause that says what to do: a setting of the policy that reads the column, or cells to mend."""
    ways = [f"`{remedy}` reads {'it' if found.odd == 1 else 'them'}"] if remedy else []
    ways += [f"or `dates: {form}`, where the month comes first" for form in found.others if form.startswith("M")]
    if found.odd and not found.words:
        mend = "mend it, or name its text" if found.odd == 1 else "mend them, or name their texts"
        ways.append(f"{mend} in `input: {{missing: [...]}}`")
    return "; ".join(ways)


def _yaml_scalar(text: str) -> str:
    """Return a text as YAML writes it: in quotes where YAML would read something else."""
    plain = re.fullmatch("[A-Za-z/]+", text) and text.lower() not in ("null", "true", "false")
    return text if plain else f'"{text}"'
