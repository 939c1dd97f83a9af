"""Regions by brute force: the boxes that classes publish, and every union of classes that is a box without cutting one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fuzzing.covering import OR_MISSING, Covering, set_of
from fuzzing.reading import plain

MISSING = (2, 0)
ANYTHING = None
"""A side of a box that holds every value."""

MOST = 3000
"""Regions that are looked at around one class."""


@dataclass(frozen=True)
class Side:
    """What a published cell may stand for in one quasi-identifier: an interval, the texts that begin so, or a set of texts."""

    kind: str
    value: Any

    def meets(self, other: Side) -> bool:
        """Return whether both may stand for one value."""
        if self.value is ANYTHING or other.value is ANYTHING:
            return True
        if self.kind == "interval":
            return bool(self.value[0] <= other.value[1] and other.value[0] <= self.value[1])
        if self.kind == "prefix":
            return bool(_begins(self.value, other.value) or _begins(other.value, self.value))
        return bool(self.value & other.value)

    def hull(self, other: Side, cover: Callable[[Any], Any]) -> Side:
        """Return the least side that holds both."""
        if self.value is ANYTHING or other.value is ANYTHING:
            return Side(self.kind, ANYTHING)
        if self.kind == "interval":
            return Side(self.kind, (min(self.value[0], other.value[0]), max(self.value[1], other.value[1])))
        if self.kind == "prefix":
            same = 0
            while same < min(len(self.value), len(other.value)) and self.value[same] == other.value[same]:
                same += 1
            return Side(self.kind, self.value[:same])
        return Side(self.kind, cover(self.value | other.value))


def _begins(text: str, start: str) -> bool:
    return text[: len(start)] == start


class Boxes:
    """The boxes of all classes."""

    def __init__(self, quasi: Sequence[Covering], cells: Sequence[dict[str, Any]]) -> None:
        """From each class's published cells."""
        self._covers = [_cover(column) for column in quasi]
        self.boxes = [[side_of(column, own) for column in quasi] for own in cells]

    def regions(self, own: int) -> Iterator[frozenset[int] | None]:
        """Yield the regions around a class, each as the classes inside; last None where there are too many to try."""
        first = self._closed([own])
        seen, waiting = {first}, [first]
        yield first
        while waiting:
            region = waiting.pop(0)
            for other in range(len(self.boxes)):
                if other in region:
                    continue
                larger = self._closed([*region, other])
                if larger not in seen:
                    seen.add(larger)
                    waiting.append(larger)
                    yield larger
                if len(seen) > MOST:
                    yield None
                    return

    def _closed(self, members: Sequence[int]) -> frozenset[int]:
        """The classes that meet the hull of these, and of what is then inside, until none is cut."""
        inside = frozenset(members)
        while True:
            sides = list(self.boxes[members[0]])
            for place in inside:
                sides = [
                    side.hull(other, cover) for side, other, cover in zip(sides, self.boxes[place], self._covers, strict=True)
                ]
            met = frozenset(
                place
                for place, box in enumerate(self.boxes)
                if all(side.meets(other) for side, other in zip(sides, box, strict=True))
            )
            if met == inside:
                return inside
            inside = met | inside


def _cover(column: Covering) -> Callable[[Any], Any]:
    """How a set of leaves becomes a side: with a hierarchy as the leaves below the lowest node above them all."""
    if not column.paths:
        return lambda values: values

    def lowest(values: Any) -> Any:
        present = values - {None}
        for label in column.paths[next(iter(present))] if present else ():
            below = frozenset(leaf for leaf, path in column.paths.items() if label in path)
            if present <= below:
                return below | (values & {None})  # a region may be with missing cells or without
        return ANYTHING if present else values

    return lowest


def side_of(column: Covering, cells: dict[str, Any]) -> Side:
    """Return what the published cells of a quasi-identifier may stand for."""
    tree = column.recode != "set" and column.hierarchy is not None
    built = "interval" if column.hierarchy == "dates" or column.widths else "prefix"
    kind = "interval" if column.ranged else built if tree and not column.paths else "texts"
    beyond = cells.get(f"{column.name}.missing") in (True, "true")
    if column.recode == "centroid" and column.ranged:  # a mean may stand for any value
        return Side(kind, (MISSING, MISSING) if cells[column.name] is None else ((0, 0), MISSING if beyond else (2, -1)))
    if column.recode == "bounds" and column.ranged:
        low, high = (plain(cells[f"{column.name}.{end}"], column.kind) for end in ("min", "max"))
        if low is None:
            return Side(kind, (MISSING, MISSING))
        top, bottom = (column.settings.get(end) for end in ("top", "bottom"))
        first = (0, 0) if bottom is not None and low == plain(bottom, column.kind) else (1, low, 0)
        last = MISSING if beyond else (2, -1) if top is not None and high == plain(top, column.kind) else (1, high, 0)
        return Side(kind, (first, last))
    cell = cells[column.name]
    if cell is None:
        return Side(kind, (MISSING, MISSING) if kind == "interval" else "\0" if kind == "prefix" else frozenset([None]))
    text = str(cell)
    missing = text.endswith(OR_MISSING)
    if text.removesuffix(OR_MISSING) == "*" and (missing or not tree or column.widths):
        return Side(kind, ANYTHING)
    if kind == "texts":
        if tree:
            text = text.removesuffix(OR_MISSING)
            below = frozenset(leaf for leaf, path in column.paths.items() if text in path)
            return Side(kind, ANYTHING if missing else below)
        members, missing = set_of(text)
        return Side(kind, frozenset([*members, *([None] if missing else [])]))
    text = text.removesuffix(OR_MISSING)
    if kind == "prefix":
        return Side(kind, ANYTHING if missing else text.rstrip("*"))
    if text == "*":
        return Side(kind, ((0, 0), MISSING if missing else (2, -1)))
    low, high, closed = column.range_of(text)
    last = (2, -1) if high is None else (1, high, 0 if closed else -1)  # [0, 5) ends before [5, 10) begins
    return Side(kind, ((0, 0) if low is None else (1, low, 0), MISSING if missing else last))
