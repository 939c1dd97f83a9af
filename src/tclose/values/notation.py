"""Notation: how a steward says in which form the cells of a table are written: dates, and the encoding of its letters."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from functools import cached_property

ENCODINGS = (
    "utf-8", "utf-16", "latin-1", "cp1252", "iso-8859-2", "iso-8859-15", "cp1250", "cp1251", "cp437", "cp850", "mac-roman",
)  # fmt: skip
"""Encodings whose texts are not taken for UTF-8: those with one byte a letter, for a letter beyond ASCII has two bytes and more
in UTF-8, which would be odd letters side by side; and UTF-16, which has NUL bytes."""

_NAMES = {
    "utf8": "utf-8",
    "utf16": "utf-16",
    "latin1": "latin-1",
    "iso-8859-1": "latin-1",
    "windows-1252": "cp1252",
    "macroman": "mac-roman",
}
_NAMES |= {f"windows-{page}": f"cp{page}" for page in ("1250", "1251")}

_PARTS = {
    "YYYY": ("year", r"([0-9]{4})"),
    "MM": ("month", r"(0[1-9]|1[0-2])"),
    "DD": ("day", r"(0[1-9]|[12][0-9]|3[01])"),
    "hh": ("hour", r"([01][0-9]|2[0-3])"),
    "mm": ("minute", r"([0-5][0-9])"),
    "ss": ("second", r"([0-5][0-9])"),
    "M": ("month", r"([1-9]|1[0-2])"),
    "D": ("day", r"([1-9]|[12][0-9]|3[01])"),
}
_SAME = {"%Y": "YYYY", "%m": "MM", "%d": "DD", "%H": "hh", "%M": "mm", "%S": "ss", "HH": "hh"}
_TOKEN = re.compile("|".join([*map(re.escape, _SAME), *_PARTS, "."]), re.DOTALL)

REQUIREMENT = "a form such as DD.MM.YYYY, MM/DD/YYYY or DD.MM.YYYY hh:mm, with a year of four digits"


@dataclass(frozen=True)
class DateForm:
    """How dates are written, in words: ``DD.MM.YYYY``; each date has one text, so that no two cells that differ are one date.

    ``DD`` and ``MM`` have two digits, ``D`` and ``M`` have no zero in front. ``hh``, ``mm`` and ``ss`` are a time of day.

    >>> DateForm.read("%d.%m.%Y")
    DateForm(words='DD.MM.YYYY')
    >>> DateForm("D/M/YYYY").parts, DateForm("D/M/YYYY").example
    (['day', 'month', 'year'], '1/2/2024')
    """

    words: str

    @classmethod
    def read(cls, text: str) -> DateForm:
        """Return the form of dates that a text describes, in words as ``DD.MM.YYYY`` or in the letters of strftime."""
        form = cls("".join(_SAME.get(token, token) for token in _TOKEN.findall(text)))
        letters = re.sub("|".join(_PARTS), "", form.words)
        date, clock = sorted(form.parts[:3]), form.parts[3:]
        good = date == ["day", "month", "year"] and clock in ([], ["hour", "minute"], ["hour", "minute", "second"])
        ambiguous = form.words.startswith("YYYY-D")  # would be taken for the form of a release
        if not good or ambiguous or re.search("[A-Za-z%0-9]", letters.replace("T", "")):
            raise ValueError(REQUIREMENT)
        return form

    @cached_property
    def parts(self) -> list[str]:
        """The parts of a date in the order in which they are written: "day", "month", "year", perhaps "hour" and so on."""
        return [_PARTS[token][0] for token in _TOKEN.findall(self.words) if token in _PARTS]

    @cached_property
    def pattern(self) -> str:
        """A regular expression that matches dates in this form, with a group for each part."""
        return (
            "^" + "".join(_PARTS[token][1] if token in _PARTS else re.escape(token) for token in _TOKEN.findall(self.words)) + "$"
        )

    def fits(self, text: str) -> bool:
        """Whether a text is a date in this form that exists in the calendar."""
        found = re.fullmatch(self.pattern, text)
        if found is None:
            return False
        parts = dict(zip(self.parts, map(int, found.groups()), strict=True))
        return parts["year"] > 0 and parts["day"] <= monthrange(parts["year"], parts["month"])[1]

    @property
    def example(self) -> str:
        """An example for messages: the first of February 2024, half past eight, in this form."""
        values = {"YYYY": "2024", "MM": "02", "DD": "01", "hh": "08", "mm": "30", "ss": "00", "M": "2", "D": "1"}
        return "".join(values.get(token, token) for token in _TOKEN.findall(self.words))


def encoding_of(text: str) -> str:
    """Return the name of a text encoding as tclose writes it ("latin-1"); raise ValueError if it is not one of `ENCODINGS`."""
    name = text.strip().lower().replace("_", "-")
    name = _NAMES.get(name, name)
    if name not in ENCODINGS:
        raise ValueError(f"one of {', '.join(ENCODINGS)}")
    return name
