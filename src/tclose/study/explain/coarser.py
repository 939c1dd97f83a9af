"""Coarser: a quasi-identifier one level up its hierarchy, or in wider intervals, and the figures of having tried it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from tclose import jobs
from tclose.judge.boxes import day_of, ends_of_range, position_of
from tclose.policy import Quasi
from tclose.study.explain.trial import Figures, Rows
from tclose.values.builders import Dates, NumberBuilder, Prefixes, Ranges
from tclose.values.exact import as_text, exact
from tclose.values.formula_guard import unguarded
from tclose.values.hierarchy import ROOT, Hierarchy, node_names, printed

CELLS = 20
"""A first interval of raw numbers is at least this part of their span."""

EVERYTHING = "*"
"""The label of a column that is published as one value."""

OR_MISSING = " or missing"

Labels = dict[Any, str]
"""From the values of a column that change to their new labels."""


@dataclass(frozen=True)
class Coarser:
    """A quasi-identifier that is published coarser.

    Attributes
    ----------
    column : str
    how : str
        In words: "in intervals of 10".
    labels : dict
        By the name of each column of the table that changes, from its values to their new labels; others stay.
    after : Figures
        Of the table with the new labels.
    """

    column: str
    how: str
    labels: dict[str, Labels]
    after: Figures

    @property
    def what(self) -> str:
        """What to do, in words."""
        return f"{self.column} {self.how}"

    def apply(self, table: pa.Table) -> pa.Table:
        """Return a table with the new labels of the column."""
        return relabelled(table, self.labels)

    def to_dict(self) -> dict[str, Any]:
        """Return the change as a mapping for JSON, without the labels."""
        return {"kind": "coarser", "what": self.what, "column": self.column, "after": self.after.to_dict()}


def coarser_columns(rows: Rows) -> Iterator[Coarser]:
    """Yield for each quasi-identifier that can be coarser the next coarser form, tried."""
    for column in rows.policy.quasi:
        found = _next_coarser(column, rows)
        if found is not None and any(found[1].values()):
            how, labels = found
            jobs.report(column.name)
            yield Coarser(column.name, how, labels, Figures.of(rows.audit(relabelled(rows.table, labels))))


def relabelled(table: pa.Table, labels: Mapping[str, Labels]) -> pa.Table:
    """Return a table in which the values of some columns have new labels; missing cells stay missing."""
    for name, new in labels.items():
        encoded = table[name].combine_chunks().dictionary_encode()
        texts = [new.get(value, printed(value)) for value in encoded.dictionary.to_pylist()]
        column = pa.array(texts, pa.string()).take(encoded.indices)
        table = table.set_column(table.column_names.index(name), name, column)
    return table


def _next_coarser(column: Quasi, rows: Rows) -> tuple[str, dict[str, Labels]] | None:
    """Return how a quasi-identifier is published coarser, in words, and its new labels; None if it is one value already."""
    name = column.name
    parts = [name] if name in rows.quasi else [f"{name}.min", f"{name}.max"]
    try:
        counted = {part: _counts(rows.table[part]) for part in parts}
    except (OverflowError, ValueError):  # dates that Python does not have
        return None
    values = list(dict.fromkeys(value for one in counted.values() for value in one))
    if len(values) < 2:
        return None
    up = _level_up(column, values) if len(parts) == 1 and column.hierarchy is not None else None
    if up is not None:
        how, new = up
        return how, {name: new}
    weights: dict[Any, int] = {}
    for one in counted.values():
        for value, count in one.items():
            weights[value] = weights.get(value, 0) + count
    if isinstance(column.builder, Dates):
        widened = _wider_dates(weights)
    elif column.type == "category" or column.recode == "set" or _are_codes(values):
        widened = None
    else:
        widened = _wider_numbers(weights, _lengths(rows, parts)) or _wider_dates(weights)
    if widened is None:
        return "as one value", {part: dict.fromkeys(counted[part], EVERYTHING) for part in parts}
    how, label = widened
    sides = [None] if len(parts) == 1 else [0, 1]
    new_labels = {part: {value: label(value, side) for value in counted[part]} for part, side in zip(parts, sides, strict=True)}
    return how, {part: {value: text for value, text in new.items() if text != printed(value)} for part, new in new_labels.items()}


def _are_codes(values: Sequence[Any]) -> bool:
    """Whether all values are texts and none is the label of a range: numbers among them are codes, as zip codes are."""
    texts = [value.partition(OR_MISSING)[0] for value in values if isinstance(value, str)]
    ranges = [text for text in texts if text.startswith(("[", "less than ")) or text.endswith((" or more", " or less"))]
    return len(texts) == len(values) and not ranges


def _counts(column: pa.ChunkedArray) -> dict[Any, int]:
    """Return the values of a column with their numbers of rows, without missing cells."""
    encoded = column.combine_chunks().dictionary_encode()
    indices = encoded.indices.drop_null().to_numpy()
    counts = np.bincount(indices, minlength=len(encoded.dictionary)).tolist()
    return dict(zip(encoded.dictionary.to_pylist(), counts, strict=True))


# --- one level up a hierarchy ----------------------------------------------------------------------------------------------


def _level_up(column: Quasi, values: Sequence[Any]) -> tuple[str, Labels] | None:
    """Return the labels of values one level up the hierarchy of a column; None where the labels are those of intervals."""
    builder = column.builder
    if builder is None:
        assert column.tree is not None
        return _up_tree(column.tree, values)
    if all(builder.requirement(value) is None for value in values):
        return _up_tree(Hierarchy.from_builder(builder, values), values)
    if isinstance(builder, Prefixes):
        return _up_prefixes(values, builder.shown)
    if isinstance(builder, Ranges):
        return _up_ranges(builder, values)
    return _up_intervals(builder, values) if isinstance(builder, NumberBuilder) else None


def _up_tree(tree: Hierarchy, values: Sequence[Any]) -> tuple[str, Labels] | None:
    """Return the labels one level up in a tree: values below the next level get the label above them, others stay.

    A level is counted from the deepest values. The next level is the one above the lowest that some value is at.
    """
    names = node_names(tree)
    nodes = {name: node for node, name in enumerate(names) if name is not None}
    depths = [0] * len(names)
    for node in range(1, len(names)):
        depths[node] = depths[tree.parents[node]] + 1
    deepest = max(depths)
    found = {value: nodes.get(printed(value), nodes.get(unguarded(printed(value)))) for value in values}
    known = {value: node for value, node in found.items() if node is not None and node != ROOT}
    if not known:
        return None
    level = min(deepest - depths[node] for node in known.values()) + 1
    labels = {}
    for value, node in known.items():
        while deepest - depths[node] < level:
            node = tree.parents[node]
        labels[value] = str(names[node])
    if level == deepest:
        return "as one value, the top of its hierarchy", labels
    return f"at level {level} of its hierarchy", {value: label for value, label in labels.items() if label != printed(value)}


def _up_prefixes(values: Sequence[Any], shown: Sequence[int] | None) -> tuple[str, Labels]:
    """Return codes of which one more character is hidden than of any; codes that show no more stay."""
    texts = {value: unguarded(printed(value)) for value in values}
    length = max(map(len, texts.values()))
    levels = sorted(shown or range(1, length), reverse=True)
    most = max(len(text.rstrip("*")) for text in texts.values())
    left = next((count for count in levels if count < most), 0)
    labels = {value: text[:left].ljust(length, "*") for value, text in texts.items() if len(text.rstrip("*")) > left}
    how = f"with {left} {'character' if left == 1 else 'characters'} shown" if left else "as one value, the top of its hierarchy"
    return how, labels


def _up_ranges(builder: Ranges, values: Sequence[Any]) -> tuple[str, Labels]:
    """Return the ranges above the codes, or ranges, that are deepest in a table of ranges."""
    paths = {value: builder.path_of_label(unguarded(printed(value))) or () for value in values}
    deepest = max(map(len, paths.values()))
    return "one level up its ranges", {value: path[-2] for value, path in paths.items() if len(path) == deepest > 1}


def _up_intervals(builder: NumberBuilder, values: Sequence[Any]) -> tuple[str, Labels] | None:
    """Return the labels of the intervals above those, or above the numbers, that are at the lowest level of a rule."""
    known = {value: pair for value in values if (pair := _ends(value, dates=False)) != (None, None)}
    if not known:
        return None
    whole = all(Fraction(end[1]).denominator == 1 and end[2] == 0 for pair in known.values() for end in pair if end is not None)
    top = len(builder.levels())
    levels = {value: _level_of(builder, *pair) for value, pair in known.items()}
    target = min(levels.values()) + 1
    if target >= top:
        return "as one value, the top of its hierarchy", dict.fromkeys(known, EVERYTHING)
    labels = {}
    for value, (low, high) in known.items():
        if levels[value] < target:
            number = Fraction((low or high)[1])
            (path,) = builder.paths([int(number) if whole else number])
            labels[value] = path[-2 - target]
    return f"at level {target + 1} of its hierarchy", {value: label for value, label in labels.items() if label != printed(value)}


def _level_of(builder: NumberBuilder, low: Any, high: Any) -> int:
    """Return the lowest level of a rule with an interval that has a whole range, 0 the finest; -1 for a single number."""
    if low is not None and high is not None and low[1:] == high[1:]:
        return -1
    number = Fraction((low or high)[1])
    for level in range(len(builder.levels())):
        inside = builder.interval(number, level)
        begins = inside.low == -math.inf if low is None else inside.low <= low[1]
        last = (math.inf, -1) if high is None else high[1:]
        if begins and last < (inside.high, 0):
            return level
    return len(builder.levels())


# --- wider intervals -------------------------------------------------------------------------------------------------------

Widened = tuple[str, Callable[[Any, int | None], str]]
"""In words, and a function from a value or label to its new label; 0 and 1 ask for the label of one end alone."""


def _wider_numbers(counts: Mapping[Any, int], lengths: Sequence[tuple[Fraction, int]]) -> Widened | None:
    """Return wider intervals of numbers, or of labels of ranges; None if the values are no numbers, or one interval has them all.

    Intervals are on a grid of 1, 2 or 5 times a power of ten: of ranges the first width that is twice the median one of all rows.

    Parameters
    ----------
    lengths
        Of ranges whose ends are two columns, with their numbers of rows; none if they are one.
    """
    ends = {value: _ends(value, dates=False) for value in counts}
    known = {value: pair for value, pair in ends.items() if pair != (None, None)}
    if 2 * len(known) < len(counts):
        return None
    numbers = sorted({end[1] for pair in known.values() for end in pair if end is not None})
    if len(numbers) < 2:
        return None
    whole = all(Fraction(number).denominator == 1 for number in numbers) and all(
        end[2] == 0 for pair in known.values() for end in pair if end is not None
    )
    gap = min(high - low for low, high in pairwise(numbers))
    span = Fraction(numbers[-1] - numbers[0])
    widths = [(_length(pair, whole=whole), counts[value]) for value, pair in known.items() if None not in pair]
    present = _median(lengths or widths)
    raw = not lengths and all(low is not None and high is not None and low[1] == high[1] for low, high in known.values())
    wanted = max(Fraction(2 * gap), span / CELLS) if raw else 2 * max(present, Fraction(gap))
    width = _round_up(wanted)
    if width > span:
        return None

    def label(value: Any, side: int | None) -> str:
        """Return the interval, or one of its ends, that a number or a range lies in."""
        low, high = ends[value]
        text = printed(value)
        if low is None and high is None:
            return text
        begin = None if low is None else math.floor(Fraction(low[1]) / width) * width
        end = None if high is None else (math.ceil(Fraction(high[1]) / width) if high[2] < 0 else _next(high[1], width)) * width
        if side is not None:
            of_side = begin if side == 0 else None if end is None else end - whole
            return text if of_side is None else as_text(Fraction(of_side))
        rest = text[text.rindex(OR_MISSING) :] if OR_MISSING in text else ""
        if begin is None and end is not None:
            return (f"{as_text(Fraction(end - 1))} or less" if whole else f"less than {as_text(Fraction(end))}") + rest
        if end is None and begin is not None:
            return f"{as_text(Fraction(begin))} or more{rest}"
        assert begin is not None
        assert end is not None
        last = f"{as_text(Fraction(end - 1))}]" if whole else f"{as_text(Fraction(end))})"
        return f"[{as_text(Fraction(begin))}, {last}{rest}"

    return f"in intervals on a grid of {as_text(width)}", label


def _next(number: Any, width: Fraction) -> int:
    """Return which multiple of a width ends the interval that a number lies in."""
    return math.floor(Fraction(number) / width) + 1


def _wider_dates(counts: Mapping[Any, int]) -> Widened | None:
    """Return intervals of whole months, quarters or years that dates or ranges of dates lie in; None if they are no dates."""
    ends = {value: _ends(value, dates=True) for value in counts}
    known = {value: pair for value, pair in ends.items() if None not in pair}
    if not known or 2 * len(known) < len(counts):
        return None
    days = {value: (day_of(low[1]), day_of(high[1])) for value, (low, high) in known.items() if low and high}
    length = _median([(Fraction((high - low).days + 1), counts[value]) for value, (low, high) in days.items()])
    unit = next((unit for unit, most in (("month", 1), ("quarter", 31), ("year", 92)) if length <= most), None)
    if unit is None:
        return None

    def label(value: Any, side: int | None) -> str:
        """Return the interval of whole units, or one of its ends, that a date or a range lies in."""
        if value not in days:
            return printed(value)
        begin, end = _unit_around(days[value][0], unit)[0], _unit_around(days[value][1], unit)[1]
        if side is not None:
            return (begin, end)[side].isoformat()
        text = printed(value)
        rest = text[text.rindex(OR_MISSING) :] if OR_MISSING in text else ""
        return f"[{begin.isoformat()}, {end.isoformat()}]{rest}"

    return f"in whole {unit}s", label


def _unit_around(day: date, unit: str) -> tuple[date, date]:
    """Return the first and the last day of the month, quarter or year of a day."""
    months = {"month": 1, "quarter": 3, "year": 12}[unit]
    first = (day.month - 1) // months * months + 1
    begin = date(day.year, first, 1)
    if day.year == date.max.year and first + months > 12:
        return begin, date.max
    after = date(day.year + (first + months > 12), (first + months - 1) % 12 + 1, 1)
    return begin, after - timedelta(days=1)


def _ends(value: Any, *, dates: bool) -> tuple[Any, Any]:
    """Return the ends of a number, a date or the label of a range, as `ends_of_range` has them; None for an end that is none."""
    if isinstance(value, str):
        return ends_of_range(value, dates=dates)
    if isinstance(value, date) != dates or isinstance(value, bool):
        return None, None
    if not dates:
        try:
            number = exact(value)
        except ValueError:
            return None, None
        return (0, number, 0), (0, number, 0)
    low, high = position_of(value)
    return (1, low, 0), (1, high, 0)


def _lengths(rows: Rows, parts: Sequence[str]) -> list[tuple[Fraction, int]]:
    """Return how wide the ranges of a quasi-identifier are whose ends are two columns of numbers, with their rows."""
    if len(parts) == 1:
        return []
    pairs = Counter(zip(*(rows.table[part].to_pylist() for part in parts), strict=True))
    ends = [(_ends(low, dates=False)[0], _ends(high, dates=False)[1], count) for (low, high), count in pairs.items()]
    return [(Fraction(high[1] - low[1]) + 1, count) for low, high, count in ends if low is not None and high is not None]


def _length(pair: tuple[Any, Any], *, whole: bool) -> Fraction:
    """Return how wide a range is; a range of whole numbers has both of its ends."""
    low, high = pair
    return Fraction(high[1] - low[1]) + (whole and high[2] == 0)


def _median(weighted: Sequence[tuple[Fraction, int]]) -> Fraction:
    """Return the median of numbers with weights; 0 for none."""
    total, below = sum(weight for _, weight in weighted), 0
    for number, weight in sorted(weighted):
        below += weight
        if 2 * below >= total:
            return number
    return Fraction(0)


def _round_up(number: Fraction) -> Fraction:
    """Return the least of 1, 2 and 5 times a power of ten that is not below a number.

    >>> str(_round_up(Fraction(37, 10))), str(_round_up(Fraction(10))), str(_round_up(Fraction(3, 100)))
    ('5', '10', '1/20')
    """
    power = Fraction(1)
    while power > number:
        power /= 10
    while 10 * power <= number:
        power *= 10
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= number)
