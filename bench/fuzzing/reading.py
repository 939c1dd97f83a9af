"""Published files read as a stranger would: without tclose. Cells become plain values that can be compared."""

from __future__ import annotations

import re
from datetime import date, datetime, time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

_RISKY = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NEGATIVE = re.compile(r"-[0-9]+(\.[0-9]+)?")


def read_table(path: Path) -> dict[str, list[Any]]:
    """Return the columns of a file; of a CSV all cells are text, without the guard against formulas, or None."""
    if path.suffix == ".csv":
        header, *rows = parse_csv(path.read_bytes().decode("utf-8"))
        if any(len(row) != len(header) for row in rows):
            raise ValueError("rows of different length")
        return {str(name): [_unguarded(row[place]) for row in rows] for place, name in enumerate(header)}
    if path.suffix == ".parquet":
        table = pq.read_table(path)
    else:
        with pa.ipc.open_file(path) as reader:
            table = reader.read_all()
    return {name: table[name].to_pylist() for name in table.column_names}


def parse_csv(text: str) -> list[list[str | None]]:
    """Return the cells of a CSV; a cell without quotes and letters is None, which Python's own reader cannot tell."""
    rows: list[list[str | None]] = []
    row: list[str | None] = []
    place = 0
    while place < len(text):
        if text[place] == '"':
            end = place + 1
            while not (text[end] == '"' and text[end + 1 : end + 2] != '"'):
                end += 2 if text[end] == '"' else 1
            row.append(text[place + 1 : end].replace('""', '"'))
            place = end + 1
        else:
            end = min(found for found in (text.find(",", place), text.find("\n", place), len(text)) if found >= 0)
            row.append(text[place:end] or None)
            place = end
        if text[place : place + 1] == ",":
            if text[place + 1 : place + 2] in ("\n", ""):
                row.append(None)
                place += 1
            else:
                place += 1
                continue
        if text[place : place + 1] not in ("\n", ""):
            raise ValueError("letters behind a closing quote")
        rows.append(row)
        row, place = [], place + 1
    return rows


def _unguarded(cell: str | None) -> str | None:
    if cell is None or not cell.startswith("'"):
        return cell
    return cell[1:] if _RISKY.match(cell[1:]) and not _NEGATIVE.fullmatch(cell[1:]) else cell


def kind_of(values: list[Any]) -> str:
    """Return what the values of an input's column are: "number", "date", "moment", "clock" or "text"."""
    first = next((value for value in values if value is not None), None)
    if isinstance(first, datetime):
        return "moment"
    if isinstance(first, date):
        return "date"
    if isinstance(first, time):
        return "clock"
    if isinstance(first, int | float | Decimal) and not isinstance(first, bool):
        return "number"
    return "text"


def plain(value: Any, kind: str) -> Any:
    """Return a value, of the input or of a published cell, in the one form of its kind: numbers as fractions."""
    if value is None:
        return None
    if kind == "number":
        return Fraction(Decimal(str(value).replace(",", ".")))  # a kept column is published as it is written
    if isinstance(value, str):
        readers: dict[str, Any] = {"date": date.fromisoformat, "moment": datetime.fromisoformat, "clock": time.fromisoformat}
        return readers.get(kind, str)(value)
    return value if kind != "text" else str(value)


def printed(value: Any) -> str:
    """Return the text by which a value is known in hierarchies and sets."""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, Decimal):
        text = f"{value:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return str(value)
