"""Timestamps in text: the form in which all timestamps of a column are written, and a timestamp in that form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,6})?)?"
_ZONE = r"Z|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?"
MOMENT = rf"^([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[ T]{_CLOCK})({_ZONE})?$"
"""A timestamp: a date, a blank or T, a time of day, and optionally its distance from UTC."""


@dataclass(frozen=True)
class Moments:
    """The form in which all timestamps of a column are written, as ``2024-01-31T08:30Z``.

    Attributes
    ----------
    separator : str
        A blank, or T.
    digits : int or None
        Digits of the fraction of a second; None if there are no seconds.
    zone : str
        The distance from UTC as it is written; "" if none is.
    """

    separator: str
    digits: int | None
    zone: str

    @classmethod
    def of(cls, shape: str) -> Moments:
        """Return the form of timestamps of a shape: a timestamp with all digits as 0, except those of the zone."""
        main, zone = re.fullmatch(MOMENT, shape).groups()  # type: ignore[union-attr]
        seconds = main[17:]
        return cls(main[10], len(seconds.partition(".")[2]) if seconds else None, zone or "")

    @property
    def offset(self) -> timedelta | None:
        """The offset from UTC that is written in the column's timestamps; None if none is."""
        if not self.zone:
            return None
        digits = re.sub("[^0-9]", "", self.zone).ljust(4, "0")
        ahead = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
        return -ahead if self.zone[0] == "-" else ahead

    @property
    def timezone(self) -> str | None:
        """The time zone of the column's timestamps, as Arrow names it; None if none is written."""
        if self.offset is None or self.zone == "Z":
            return "UTC" if self.zone else None
        minutes = int(self.offset.total_seconds()) // 60
        return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"

    def text(self, value: datetime) -> str:
        """Return a timestamp as text in this form, with more digits of a second only if it needs them."""
        plain = value.replace(tzinfo=None)
        digits = -1 if self.digits is None else self.digits
        if plain.second or plain.microsecond:
            digits = max(digits, 0)
        while plain.microsecond * 10 ** max(digits, 0) % 10**6:
            digits += 1
        text = plain.isoformat(self.separator, "minutes" if digits < 0 else "seconds")
        fraction = f".{plain.microsecond:06d}"[: digits + 1] if digits > 0 else ""
        return f"{text}{fraction}{self.zone}"
