"""CSV, character by character: the slow, obvious twin of `tclose.tables.csv_scan`."""

from __future__ import annotations


def cells_of(text: str, delimiter: str) -> list[list[tuple[str, bool]]] | None:
    """The rows of a CSV, each cell with whether it stood in quotes; None where readers may split it into different cells."""
    text = text.removeprefix("\ufeff")
    rows: list[list[tuple[str, bool]]] = []
    row: list[tuple[str, bool]] = []
    ends: set[str] = set()
    cell, state, place = "", "start", 0
    while place < len(text):
        char, place = text[place], place + 1
        if state == "in quotes":
            state, cell = ("quote", cell) if char == '"' else ("in quotes", cell + char)
        elif char == '"':
            if state == "bare":
                return None
            state, cell = "in quotes", (cell + '"' if state == "quote" else "")
        elif char == delimiter:
            row.append((cell, state == "quote"))
            cell, state = "", "start"
        elif char in "\r\n":
            if char == "\r" and text[place : place + 1] != "\n":
                return None
            ends.add(char)
            place += char == "\r"
            rows.append([*row, (cell, state == "quote")])
            row, cell, state = [], "", "start"
        elif state == "quote":
            return None
        else:
            state, cell = "bare", cell + char
    if state == "in quotes":
        return None
    if row or state != "start":
        rows.append([*row, (cell, state == "quote")])
    blank = any(len(found) == 1 and not found[0][1] and not found[0][0].strip(" \t") for found in rows)
    ragged = len({len(found) for found in rows}) > 1
    return None if blank or ragged or len(ends) > 1 or "\0" in text else rows
