"""Inputs: a table opened as its cells ask for it, with the policy's ``input`` that does so and the reasons for it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tclose.errors import ColumnError
from tclose.policy import Input
from tclose.tables.csv import PACKED
from tclose.tables.encodings import encoding_of
from tclose.tables.input_file import InputFile
from tclose.tables.locations import Location
from tclose.tables.reader import Reader
from tclose.tables.readers import TEXT, open_reader
from tclose.tables.readings import Reading
from tclose.tables.table import Table, open_table

ROUNDS = 3
"""How often the table is read again: once for dates or decimals, once for words that stood beside them, once to be sure."""

REMEDY = re.compile(r"(?:;|, and) `input: [^`]*` reads (?:it|them)")
"""What a reading says of the settings that are proposed: not to be said where they stand already."""


@dataclass(frozen=True, eq=False)
class Read:
    """A table, open as it should be read.

    Attributes
    ----------
    reader, source
        All columns that can be read are open.
    given : Input
        How its cells are written, as far as that is not found out in any case.
    reasons : list of str
        Why, a sentence for each setting.
    unreadable : dict
        The columns that cannot be read, with the reason in a sentence.
    """

    reader: Reader
    source: Table
    given: Input
    reasons: list[str]
    unreadable: dict[str, str]


def read_as_needed(data: Any) -> Read:
    """Return a table open as its cells ask for it: in its encoding, with its decimal mark, form of dates and missing words."""
    encoding = _encoding_needed(data)
    given = Input(encoding=encoding)
    reasons = []
    if encoding is not None:
        reasons.append(f"The file is not UTF-8. {encoding} is a guess: look whether accents and umlauts are right.")
    reader = open_reader(data, given)
    source, unreadable = _open_what_can_be(reader, given)
    for _ in range(ROUNDS):
        readings = source.readings([name for name in source.names if name in source])
        wanted, why = _asked_by(readings, given)
        if wanted == given:
            break
        try:
            again = open_table(reader, dict.fromkeys(source.kinds, "auto"), given=wanted)
        except ColumnError:  # as 1.234 beside a decimal comma: its owner must say what it is
            break
        source, given = again, wanted
        reasons += why
    return Read(reader, source, given, reasons, unreadable)


def _encoding_needed(data: Any) -> str | None:
    """Return the encoding of a CSV that is not UTF-8; None for all other tables."""
    if not isinstance(data, str | Path):
        return None
    path = Location.of(data).path
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    if not suffixes or suffixes[-1] not in TEXT:
        return None
    file = InputFile.open(path)
    with file.read_as("a CSV"):
        return encoding_of(file)


def _open_what_can_be(reader: Reader, given: Input) -> tuple[Table, dict[str, str]]:
    """Return all columns of a table that can be read, open, and for each other column why it cannot be."""
    kinds = dict.fromkeys(reader.names, "auto")
    try:
        return open_table(reader, kinds, given=given), {}
    except ColumnError as error:
        refused = error
    unreadable = {}
    for name in reader.names:
        try:
            open_table(reader, {name: "auto"}, given=given)
        except ColumnError as error:
            unreadable[name] = str(error)
    rest = {name: kind for name, kind in kinds.items() if name not in unreadable}
    if not rest or not unreadable:
        raise refused
    return open_table(reader, rest, given=given), unreadable


def _asked_by(readings: dict[str, Reading], given: Input) -> tuple[Input, list[str]]:
    """Return how the cells must be written so that columns are read that are nearly numbers or dates; and why."""
    decimals, dates, words, why = Counter[str](), Counter[str](), dict.fromkeys(given.missing), []
    for reading in readings.values():
        settings = _settings_in(reading)
        if not reading.doubtful and "dates" not in settings:  # digits that are text by their type may be zip codes
            continue
        decimals.update([settings["decimal"]] if "decimal" in settings else [])
        dates.update([settings["dates"]] if "dates" in settings else [])
        words |= dict.fromkeys(settings.get("missing", []))
        why += [_reason_in_words(reading)] if settings else []
    wanted = replace(
        given,
        decimal=given.decimal or next((mark for mark, _ in decimals.most_common(1)), None),
        dates=given.dates or next((form for form, _ in dates.most_common(1)), None),
        missing=list(words),
    )
    return wanted, why


def _reason_in_words(reading: Reading) -> str:
    """Return why a column needs a setting, in a sentence that stands beside it.

    >>> _reason_in_words(Reading("pay", "text", "pay: text; its cells look like ...; `input: {decimal: ','}` reads them"))
    'Without this, pay would be read as text; its cells look like ....'
    """
    how = REMEDY.sub("", reading.sentence).removeprefix(f"{reading.column}: ")
    return f"Without this, {reading.column} would be read as {how}."


def _settings_in(reading: Reading) -> dict[str, Any]:
    """Return the settings of ``input`` that the remedy of a reading names; none if it names another."""
    from ruamel.yaml import YAML

    if reading.remedy is None or not reading.remedy.startswith("input:"):
        return {}
    settings: dict[str, Any] = YAML(typ="safe", pure=True).load(reading.remedy)["input"]
    return settings
