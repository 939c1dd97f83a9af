"""Printed: the text of a value, by which it is found in a hierarchy, an order or a matrix."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from typing import Any


def printed(value: Any) -> str:
    """Return the text by which a value is found in a hierarchy, an order or a matrix: 39 and 39.0 are "39", missing is ""."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        text = format(value, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    return str(value)
