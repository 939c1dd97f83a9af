"""(n,t)-closeness by brute force: all regions over the values that occur.

Labels are parsed here independently, with knowledge of the original values: may this label stand for that value?
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from fractions import Fraction
from itertools import chain, combinations, pairwise
from typing import Any

from tclose import Quasi
from tclose.values.builders import Dates, NumberBuilder, Prefixes, Ranges

Cells = Mapping[str, Any]
"""The published cells of one class, by column."""


def regions(quasi: Sequence[Quasi], values: Mapping[str, Iterable[Any]], classes: Sequence[Cells]) -> list[set[int]]:
    """Return all regions, each as the classes inside: boxes that each class lies inside of, or does not meet."""
    found = {(2 ** len(classes) - 1, 2 ** len(classes) - 1)}
    for column in quasi:
        atoms = _atoms(column, values[column.name])
        boxes = [{atom for atom in atoms if may_stand_for(column, cells, atom)} for cells in classes]
        assert all(boxes)
        sides = set()
        for natural in _natural(column, atoms):
            inside = sum(2**number for number, box in enumerate(boxes) if box <= natural)
            meeting = sum(2**number for number, box in enumerate(boxes) if box & natural)
            sides.add((inside, meeting))
        found = {(inside & a, meeting & b) for inside, meeting in found for a, b in sides}
    return [{number for number in range(len(classes)) if inside >> number & 1} for inside, meeting in found if inside == meeting]


def _is_line(column: Quasi, values: Sequence[Any]) -> bool:
    ranges = column.hierarchy is None or isinstance(column.hierarchy, NumberBuilder)
    return column.recode != "set" and ranges and column.type != "text" and not isinstance(values[0], str)


def _atoms(column: Quasi, values: Iterable[Any]) -> list[Any]:
    """Return the values, ascending, on a line also some between them; last a missing one."""
    present = sorted({value for value in values if value is not None})
    if present and _is_line(column, present):
        if isinstance(present[0], date):
            between: list[Any] = [day + timedelta(days=1) for day in present]
        else:
            present = [Fraction(value) for value in present]
            between = [(a + b) / 2 for a, b in pairwise(present)]
        present = sorted({*present, *between})
    return [*present, None]


def _natural(column: Quasi, atoms: Sequence[Any]) -> Iterable[set[Any]]:
    """Return the sides that a region can have along one quasi-identifier."""
    present = list(atoms[:-1])
    if not present:
        return [{None}]
    if column.hierarchy is not None and column.recode != "set" and not _is_line(column, present):
        nodes = [
            {leaf for leaf in present if node in _above(column, leaf, present)}
            for value in present
            for node in _above(column, value, present)
        ]
        return [*nodes, {None}, {*atoms}]
    if _is_line(column, present):
        runs = [set(present[a:b]) for a in range(len(present)) for b in range(a + 1, len(present) + 1)]
    else:
        runs = [set(some) for some in chain.from_iterable(combinations(present, size) for size in range(1, len(present) + 1))]
    return [*runs, *({*run, None} for run in runs), {None}]


def _above(column: Quasi, value: Any, values: Sequence[Any]) -> list[str]:
    """Return the labels above a value in its hierarchy, and its own."""
    text = str(value)
    if column.hierarchy == "dates":
        return ["*", text[:4], f"{text[:4]}-Q{(int(text[5:7]) + 2) // 3}", text[:7], text]
    if column.hierarchy == "prefixes":
        length = max(len(str(other)) for other in values)
        return [*(text.ljust(length)[:shown] + "*" * (length - shown) for shown in range(length)), text]
    if isinstance(column.hierarchy, Prefixes):
        length = max(len(str(other)) for other in values)
        shown = [count for count in reversed(column.hierarchy.shown or ()) if count < length]
        return ["*" * length, *(text.ljust(length)[:count] + "*" * (length - count) for count in shown), text]
    if isinstance(column.hierarchy, Dates):
        year, week, _ = value.isocalendar()
        names = {
            "year": text[:4],
            "quarter": f"{text[:4]}-Q{(int(text[5:7]) + 2) // 3}",
            "month": text[:7],
            "week": f"{year}-W{week:02d}",
        }
        return ["*", *(names[unit] for unit in reversed(column.hierarchy.units) if unit != "day"), text]
    if isinstance(column.hierarchy, Ranges):
        row = next(row for row in column.hierarchy.rows if row[0][:3] <= text[:3] <= row[0][4:])
        return ["*", *reversed(row), text]
    tree = column.hierarchy
    return [tree.labels[node] for node in tree.path(tree.leaf(value))]


def may_stand_for(column: Quasi, cells: Cells, atom: Any) -> bool:
    """Whether a class with these cells may have a row with this value."""
    missing = bool(cells.get(f"{column.name}.missing")) and cells[f"{column.name}.missing"] != "false"
    if column.recode == "bounds":
        low, high = cells[f"{column.name}.min"], cells[f"{column.name}.max"]
        if atom is None or low is None:
            return atom is None and (missing or low is None)
        atom = atom if column.top is None else min(atom, column.top)
        atom = atom if column.bottom is None else max(atom, column.bottom)
        return bool(_as(low, atom) <= atom <= _as(high, atom))
    label = cells[column.name]
    if column.recode == "centroid":
        return (atom is None) == (label is None) or (atom is None and missing)
    if label is None:
        return atom is None
    label = str(label)
    without_tree = column.hierarchy is None or column.recode == "set" or isinstance(column.hierarchy, NumberBuilder)
    if label == "*" and without_tree:
        return True
    while label.endswith(" or missing"):
        if atom is None:
            return True
        label = label.removesuffix(" or missing")
    if atom is None:
        return False
    if not without_tree:
        return label in _above(column, atom, [atom, label])
    return label == "*" or covers(label, atom)


def _as(published: Any, atom: Any) -> Any:
    return date.fromisoformat(str(published)) if isinstance(atom, date) else Fraction(str(published))


def covers(label: str, atom: Any) -> bool:
    if isinstance(atom, str):
        if label.startswith("{"):
            return atom in next(csv.reader([label[1:-1]], skipinitialspace=True))
        return atom == (label[1:-1].replace('""', '"') if label.startswith('"') else label)
    if label == "any value":
        return True
    if label.startswith("["):
        low, high = label[1:-1].split(", ")
        above, below = _compare(atom, low), _compare(atom, high)
        return above >= 0 and (below <= 0 if label.endswith("]") else below < 0)
    if label.startswith("{"):
        return any(_compare(atom, member) == 0 for member in label[1:-1].split(", "))
    if label.startswith("less than "):
        return _compare(atom, label.removeprefix("less than ")) < 0
    if label.endswith(" or more"):
        return _compare(atom, label.removesuffix(" or more")) >= 0
    if label.endswith(" or less"):
        return _compare(atom, label.removesuffix(" or less")) <= 0
    return _compare(atom, label) == 0


def _compare(atom: Any, text: str) -> int:
    """Return -1, 0 or 1: a number or date is below, at (or within the month or week), or above what a text says."""
    if not isinstance(atom, date):
        other: Any = Fraction(text)
        own: Any = atom
    elif "W" in text:
        own, other = f"{atom.isocalendar().year:04d}-W{atom.isocalendar().week:02d}", text
    else:
        own, other = atom.isoformat()[: len(text)], text
    return int(own > other) - int(own < other)
