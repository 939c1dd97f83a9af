"""Boxes: what the published quasi-identifiers of a class may stand for, as a reader of the file can tell.

A class publishes a box: for each quasi-identifier the set of values that its label may stand for. This module parses labels. Each
quasi-identifier becomes an axis, a line or a tree, with the boxes of all classes on it. Where a label leaves open what it stands
for, its box is too wide, never too narrow.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time
from fractions import Fraction
from functools import partial
from itertools import repeat
from math import inf
from typing import Any

import numpy as np

from tclose.policy import Quasi
from tclose.values.arrays import Ints
from tclose.values.builders import Dates, NumberBuilder, Prefixes, Ranges
from tclose.values.exact import exact
from tclose.values.formula_guard import unguarded
from tclose.values.hierarchy import Hierarchy, node_names, printed

Key = tuple[Any, ...]
"""A position on a line: first numbers, then dates, times of day, other texts, and last missing cells."""
Span = tuple[Key, Key]
"""All positions from a least to a greatest one."""

NUMBER, DATE, TIME, TEXT, MISSING = range(5)
NONE: Span = (MISSING,), (MISSING,)
EVERY_VALUE: Span = (NUMBER - 0.5,), (MISSING - 0.5,)
EVERYTHING: Span = EVERY_VALUE[0], NONE[1]

_NUMBER = re.compile(r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?|-?[0-9]+/[0-9]+")
_YEAR = re.compile(r"[0-9]{4}")
_CALENDAR = re.compile(r"([0-9]{4})-(?:([0-9]{2})(?:-([0-9]{2})(?:[ T](.+))?)?|Q([1-4])|W([0-9]{2}))")
_CLOCK = re.compile(r"[0-9]{2}:[0-9]{2}.*")
_OPEN = re.compile(r"(?P<below>less than )(?P<end>.+)|(?P<limit>.+) or (?P<side>more|less)")
_SEVERAL = re.compile(r"[\[{].*|.+ or (?:more|less)|less than .+|any value", re.DOTALL)
_MEMBER = re.compile(r'("(?:[^"]|"")*"|[^,{}"]+)(?:, |\})')
_OR_MISSING = re.compile(r"(.*) or missing(?: cell)*", re.DOTALL)
_DAY = 86_400_000_000
"""Microseconds."""


@dataclass(frozen=True, eq=False)
class Line:
    """An axis on which each class spans the positions from ``low`` to ``high``, both (classes,) int64. So does a region."""

    low: Ints
    high: Ints


@dataclass(frozen=True, eq=False)
class Tree:
    """An axis on which each class stands for all that is below a node. So does a region.

    ``paths`` (classes, depth) int64: the branch taken at each fork between the root and the node of a class; -1 after that.
    """

    paths: Ints


def axis_of(column: Quasi, published: Mapping[str, Sequence[Any]]) -> Line | Tree:
    """Return the boxes of all classes along one quasi-identifier, a line or a tree, parsed from what is published.

    Parameters
    ----------
    published
        The value of each class, by the name of the published column: ``age``, or ``age.min`` and ``age.max``.
    """
    name = column.name
    gone = published.get(f"{name}.missing", repeat(None))
    if name not in published:
        pairs = list(zip(published[f"{name}.min"], published[f"{name}.max"], gone, strict=False))
        read = _label_parser(value for pair in pairs for value in pair[:2])
        return _line_of_cells(pairs, lambda low, high, missing: _with_missing(_hull([read(low), read(high)]), missing))
    if column.recode == "centroid":  # a mean may stand for any value
        means = list(zip(published[name], gone, strict=False))
        return _line_of_cells(means, lambda mean, missing: _with_missing(NONE if mean is None else EVERY_VALUE, missing))
    labels = published[name]
    ranges = isinstance(column.hierarchy, NumberBuilder) or _are_ranges(labels)  # a range says itself what it stands for
    if column.hierarchy is not None and not ranges:
        return _tree_of_labels(labels, _path_parser(column, labels))
    if any(is_masked(label) for label in set(labels)):
        return _tree_of_labels(labels, _prefix_path_parser(labels))
    read = _label_parser(labels)
    return _line_of_cells([(label,) for label in labels], read)


def _hull(spans: Sequence[Span]) -> Span:
    """Return the smallest span of values that contains some spans."""
    return min(low for low, _ in spans), max(high for _, high in spans)


def _with_missing(span: Span, missing: Any) -> Span:
    """Return a class's span of values, extended up to missing cells if the class has some."""
    return (span[0], NONE[1]) if missing and printed(missing) != "false" else span


# --- lines ------------------------------------------------------------------------------------------------------------


def _line_of_cells(published: Sequence[tuple[Any, ...]], span: Callable[..., Span]) -> Line:
    """Return the line on which each class has the span of values that its published cells stand for."""
    spans = {cells: span(*cells) for cells in set(published)}
    ends = sorted({end for pair in spans.values() for end in pair})
    rank = {end: position for position, end in enumerate(ends)}
    positions = {cells: (rank[low], rank[high]) for cells, (low, high) in spans.items()}
    found = np.array([positions[cells] for cells in published], dtype=np.int64)
    return Line(found[:, 0], found[:, 1])


def _label_parser(labels: Iterable[Any]) -> Callable[[Any], Span]:
    """Return a function from a published label to the span of values that it stands for.

    Four digits are a year if some label of the column is a date, else a number.
    """
    distinct = {_unguarded_text(label) for label in labels if label is not None}
    years = any(_span_of_date(part) for text in distinct for part in _ends_or_text(text))

    def point(text: str) -> Span | None:
        """Return the span of values that a number, a date or a time stands for; None for another text."""
        if years and _YEAR.fullmatch(text):
            return _span_of_date(f"{text}-01-01", f"{text}-12-31")
        return _span_of_number(text) or _span_of_date(text) or _span_of_time(text)

    def read(label: Any) -> Span:
        """Return the span of values that a published label stands for."""
        if label is None:
            return NONE
        text = _unguarded_text(label)
        mixed = _OR_MISSING.fullmatch(text)
        found = _span_of_label(mixed[1] if mixed else text, point)
        return (found[0], NONE[1]) if mixed else found

    return read


def _unguarded_text(label: Any) -> str:
    """Return a published label as text, without the formula guard."""
    return unguarded(printed(label))


def _ends_or_text(text: str) -> list[str]:
    """Return the ends of a range's label, or the label itself if it is not a range."""
    mixed = _OR_MISSING.fullmatch(text)
    text = mixed[1] if mixed else text
    found = _OPEN.fullmatch(text)
    return _range_ends(text) or ([found["end"] or found["limit"]] if found else [text])


def _range_ends(text: str) -> list[str]:
    """Return the two ends of a label ``[25, 34]`` or ``[25, 35)``; an empty list for any other label."""
    ends = text[1:-1].split(", ") if text.startswith("[") and text.endswith(("]", ")")) else []
    return ends if len(ends) == 2 else []


def _span_of_label(text: str, point: Callable[[str], Span | None]) -> Span:
    """Return the span of values that a published label stands for.

    It is everything if the label looks like a range or a set and cannot be parsed.
    """
    if text == "any value":
        return EVERY_VALUE
    if text and not text.strip("*"):
        return EVERYTHING
    if text.startswith("["):
        spans = [span for span in map(point, _range_ends(text)) if span is not None]
        if len(spans) < 2 or spans[0][0][0] != spans[1][0][0]:
            return EVERYTHING
        last = spans[1][1] if text.endswith("]") else _just_before(spans[1][0])
        return _hull([spans[0], (last, last)])
    if text.startswith("{"):
        members = [point(member) or _span_of_text(member) for member in set_members(text)]
        return _hull(members) if members else EVERYTHING
    if text.startswith('"'):
        return _span_of_text(_unquoted(text))
    return point(text) or _span_of_open_range(text, point) or _span_of_text(text)


def ends_of_range(label: Any, *, dates: bool) -> tuple[Key | None, Key | None]:
    """Return the ends of the range of numbers or dates that a published label names; None for an open end, and for no range.

    A single value is both ends. The last part of a key is -1 where the range ends just before the value. With ``dates`` four
    digits are a year.
    """
    text = "" if label is None else _unguarded_text(label)
    mixed = _OR_MISSING.fullmatch(text)

    def point(part: str) -> Span | None:
        """Return the span of values that a number or a date stands for; None for another text."""
        if not dates:
            return _span_of_number(part)
        return _span_of_date(f"{part}-01-01", f"{part}-12-31") if _YEAR.fullmatch(part) else _span_of_date(part)

    low, high = _span_of_label(mixed[1] if mixed else text, point)
    kind = DATE if dates else NUMBER
    first, last = (key if key[0] == kind and key[1] not in (inf, -inf) else None for key in (low, high))
    return first, last


def position_of(value: Any) -> tuple[Any, Any]:
    """Return the first and the last position of a number, a date or a timestamp, as in the keys of `ends_of_range`.

    A day has many positions, those of its microseconds; a number or a timestamp has one. A timestamp is that of its own clock.
    """
    if isinstance(value, datetime):
        at = value.toordinal() * _DAY + _microseconds(value.time())
        return at, at
    if isinstance(value, date):
        return value.toordinal() * _DAY, (value.toordinal() + 1) * _DAY - 1
    return exact(value), exact(value)


def day_of(position: int) -> date:
    """Return the day of a position of dates, as `position_of` gives it."""
    return date.fromordinal(position // _DAY)


def _span_of_text(text: str) -> Span:
    """Return the span of values, on a line, that a published text stands for which is neither a number nor a date: itself."""
    return (TEXT, text), (TEXT, text)


def _span_of_open_range(text: str, point: Callable[[str], Span | None]) -> Span | None:
    """Return the span of values that a label as ``90 or more`` or ``less than 5`` stands for; None for another label."""
    found = _OPEN.fullmatch(text)
    limit = point(found["end"] or found["limit"]) if found else None
    if found is None or limit is None:
        return None
    kind = limit[0][0]
    if found["side"] == "more":
        return limit[0], (kind, inf, 0)
    return (kind, -inf, 0), limit[1] if found["side"] else _just_before(limit[0])


def _just_before(position: Key) -> Key:
    """Return the position just before a position on a line, for a range that does not include its end."""
    return (*position[:2], -1)


def set_members(label: str) -> list[str]:
    """Return the members of a set's label ``{a, b}``; an empty list for a label that is not a set."""
    found, start = [], 1
    while start < len(label):
        member = _MEMBER.match(label, start)
        if member is None or (member.end() == len(label)) != label[start : member.end()].endswith("}"):
            return []
        found.append(_unquoted(member[1]))
        start = member.end()
    return found


def _unquoted(text: str) -> str:
    """Return a member of a published set without the quotes around it."""
    return text[1:-1].replace('""', '"') if text.startswith('"') else text


def _span_of_number(text: str) -> Span | None:
    """Return the span of values, on a line, that a published number stands for: itself; None for another text."""
    if not _NUMBER.fullmatch(text):
        return None
    try:
        value: Fraction | int = exact(text)
    except ValueError:  # 1/0
        return None
    value = int(value) if value.denominator == 1 else value
    return (NUMBER, value, 0), (NUMBER, value, 0)


def _span_of_date(first: str, last: str | None = None) -> Span | None:
    """Return the span of moments that a published moment, day, week, month, quarter or year stands for; None for another text."""
    found = _CALENDAR.fullmatch(first)
    if found is None:
        return None
    year, month, day, clock, quarter, week = found.groups()
    with suppress(ValueError):
        if clock is not None:
            moment = datetime.fromisoformat(first).replace(tzinfo=None)
            at = moment.toordinal() * _DAY + _microseconds(moment.time())
            return (DATE, at, 0), (DATE, at, 0)
        if week is not None:
            begin = date.fromisocalendar(int(year), int(week), 1).toordinal()
            end = begin + 6
        elif day is not None:
            begin = date.fromisoformat(first).toordinal()
            end = date.fromisoformat(last or first).toordinal()
        else:
            months = (int(quarter) * 3 - 2, int(quarter) * 3) if quarter else (int(month), int(month))
            begin = date(int(year), months[0], 1).toordinal()
            end = date(int(year), months[1], monthrange(int(year), months[1])[1]).toordinal()
        return (DATE, begin * _DAY, 0), (DATE, (end + 1) * _DAY - 1, 0)
    return None


def _span_of_time(text: str) -> Span | None:
    """Return the span of values, on a line, that a published time of day stands for: itself; None for another text."""
    if not _CLOCK.fullmatch(text):
        return None
    with suppress(ValueError):
        at = _microseconds(time.fromisoformat(text))
        return (TIME, at, 0), (TIME, at, 0)
    return None


def _microseconds(value: time) -> int:
    """Return a time of day in microseconds from midnight."""
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond


def _are_ranges(labels: Sequence[Any]) -> bool:
    """Whether the labels say themselves which values they stand for, as ``[20, 29]``, so that no hierarchy is needed."""
    read = _label_parser(labels)
    kinds = {read(label)[0][0] for label in set(labels)}
    return any(isinstance(label, str) and _range_ends(label) for label in labels) and kinds <= {NUMBER, DATE, TIME, MISSING}


# --- trees ------------------------------------------------------------------------------------------------------------

Way = Any
"""The path from the root to a node, a text or tuple: first whether there is a value, then what names the node of each level."""


def _path_parser(column: Quasi, labels: Sequence[Any]) -> Callable[[Any], Way]:
    """Return a function from a label to its path in the hierarchy of a column: the given one, or the one that its rule makes."""
    builder = column.builder
    if isinstance(builder, Prefixes):
        return _prefix_path_parser(labels) if builder.shown is None else _shown_path_parser(labels, builder.shown[::-1])
    if isinstance(builder, Dates):
        return partial(_calendar_path, builder.units[::-1])
    if isinstance(builder, Ranges):
        return partial(_ranges_path, builder)
    assert column.tree is not None
    return _hierarchy_path_parser(column.tree)


def _tree_of_labels(labels: Sequence[Any], way: Callable[[Any], Way]) -> Tree:
    """Return the tree on which each class stands at the node of its published label."""
    ways = {label: way(label) for label in set(labels)}
    branches = _branches_at_forks(set(ways.values()))
    depth = max(map(len, branches.values()))
    padded = {label: branches[found] + [-1] * (depth - len(branches[found])) for label, found in ways.items()}
    return Tree(np.array([padded[label] for label in labels], dtype=np.int64).reshape(len(labels), depth))


def _branches_at_forks(ways: Iterable[Way]) -> dict[Way, list[int]]:
    """Return the branches that each path takes at forks; a level at which all paths agree is not a fork."""
    ordered = sorted(ways)  # those with a common beginning stand side by side
    found: dict[Way, list[int]] = {way: [] for way in ordered}
    waiting = [(0, len(ordered), 0)]
    while waiting:
        start, end, level = waiting.pop()
        first, last = ordered[start], ordered[end - 1]
        while level < min(len(first), len(last)) and first[level] == last[level]:
            level += 1
        if level == len(first):  # it ends at the fork, above all others
            start += 1
        branch = 0
        while start < end:
            begin, step = start, ordered[start][level]
            while start < end and ordered[start][level] == step:
                found[ordered[start]].append(branch)
                start += 1
            if start - begin > 1:
                waiting.append((begin, start, level))
            branch += 1
    return found


def _hierarchy_path_parser(tree: Hierarchy) -> Callable[[Any], Way]:
    """Return a function from a label to its path in a hierarchy; an unknown label stands for everything."""
    nodes = {name or "": node for node, name in enumerate(node_names(tree))}

    def way(label: Any) -> Way:
        """Return the path from the root to the node of a label."""
        text = printed(label)
        text = text if text in nodes else unguarded(text)
        if text in nodes:
            return (0, *tree.path(nodes[text]))
        return (1,) if label is None else ()

    return way


def _calendar_path(units: Sequence[str], label: Any) -> Way:
    """Return the path from the root to a label of a hierarchy of dates; ``units`` of the calendar are given, the coarsest first.

    An unknown label, or one of another unit, stands for everything.
    """
    if label is None:
        return (1,)
    text = printed(label)
    if text == "*":
        return (0,)
    span = _span_of_date(f"{text}-01-01", f"{text}-12-31") if _YEAR.fullmatch(text) else _span_of_date(text)
    found = _CALENDAR.fullmatch(text)
    if span is None or (found is not None and found[4]):
        return ()
    unit = "year" if found is None else "day" if found[3] else "quarter" if found[5] else "week" if found[6] else "month"
    first = day_of(span[0][1])
    keys = {
        "year": first.year,
        "quarter": (first.month + 2) // 3,
        "month": first.month,
        "week": first.toordinal() - first.weekday(),
    }
    above = [step for step in units if step != "day"]
    if unit == "day":
        return (0, *(keys[step] for step in above), first.toordinal())
    return (0, *(keys[step] for step in above[: above.index(unit) + 1])) if unit in above else ()


def _ranges_path(builder: Ranges, label: Any) -> Way:
    """Return the path from the root to a label of a table of ranges, or to a code; an unknown label stands for everything."""
    if label is None:
        return (1,)
    text = _unguarded_text(label)
    if _OR_MISSING.fullmatch(text) or _SEVERAL.fullmatch(text):  # or it would be taken for a code
        return ()
    path = builder.path_of_label(text)
    return () if path is None else (0, *path)


def _shown_path_parser(labels: Sequence[Any], shown: Sequence[int]) -> Callable[[Any], Way]:
    """Return a function from a label to its path in a hierarchy of prefixes with given levels, from the fewest characters on."""
    length = max((len(_unguarded_text(label)) for label in set(labels) if label is not None), default=0)

    def way(label: Any) -> Way:
        """Return the path of a label: what each level shows of it, as far as it is not hidden."""
        if label is None:
            return (1,)
        text = _unguarded_text(label)
        if _OR_MISSING.fullmatch(text) or _SEVERAL.fullmatch(text):
            return ()
        visible = text.rstrip("*") if text.endswith("*") else text.ljust(length)
        steps = tuple(visible[:count] for count in shown if count <= len(visible) and count < length)
        return (0, *steps) if text.endswith("*") else (0, *steps, visible)

    return way


def is_masked(label: Any) -> bool:
    """Whether the end of a label is hidden by stars, as in ``476**``, but not ``*`` alone."""
    return isinstance(label, str) and label.endswith("*") and label.strip("*") != "" and not _SEVERAL.fullmatch(label)


def _prefix_path_parser(labels: Sequence[Any]) -> Callable[[Any], Way]:
    """Return a function from a label to its path in a hierarchy of `Hierarchy.from_prefixes`: each character is a level."""
    length = max((len(_unguarded_text(label)) for label in set(labels) if label is not None), default=0)

    def way(label: Any) -> Way:
        """Return the path of a label: its characters before the stars."""
        if label is None:
            return "1"
        text = _unguarded_text(label)
        if _OR_MISSING.fullmatch(text) or _SEVERAL.fullmatch(text):
            return ""
        return "0" + (text.rstrip("*") if text.endswith("*") else text.ljust(length))

    return way
