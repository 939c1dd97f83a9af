"""Boxes: the values that the published quasi-identifier of a class may stand for, along one axis that tells classes apart.

A reader of a release does not know codes. Two classes are disjoint along an axis only if no value can belong to both of their
labels. So each scale says here what its labels stand for, as docs/measures.md defines it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.values.arrays import Ints


class Ranges(NamedTuple):
    """Each class stands for all positions of a line from ``low`` to ``high``, both (classes,) int64."""

    low: Ints
    high: Ints


class Nodes(NamedTuple):
    """Each class stands for all values below a node of a tree.

    ``paths`` (depth, classes) int64: the nodes from the root down to that of each class; -1 below it.
    """

    paths: Ints


Boxes = Ranges | Nodes

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,99})(?:\.[0-9]{1,99})?")
_RANGE = re.compile(rf"\[({_NUMBER.pattern}), ({_NUMBER.pattern})([\])])")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CODE = re.compile(r"0[0-9]+")
_UNCLEAR = re.compile(
    r"|\[.*|'+\W.*|.*\*|.* or missing.*|any value|[-.0-9].* or (?:more|less)|less than [-.0-9].*"  # they look like our labels
    r"|-?[0-9.]+(?:[eE][-+]?[0-9]+|/[0-9]+)?|[0-9]{4}-.*|[0-9]{2}:[0-9]{2}.*",  # or like numbers, dates and times
    re.DOTALL,
)


def ranges_of(low: Ints, high: Ints, codes: NDArray[Any], starts: Ints) -> Ranges:
    """Return the range of each class, from the least and the greatest position that each code stands for."""
    return Ranges(np.minimum.reduceat(low[codes], starts[:-1]), np.maximum.reduceat(high[codes], starts[:-1]))


def nodes_of(paths: Ints, codes: NDArray[Any], starts: Ints) -> Nodes:
    """Return the path to the lowest node above all codes of each class; ``paths`` has the path of each code, -1 below it."""
    least = np.array([np.minimum.reduceat(level[codes], starts[:-1]) for level in paths])
    greatest = np.array([np.maximum.reduceat(level[codes], starts[:-1]) for level in paths])
    shared = np.logical_and.accumulate(least == greatest, axis=0)
    return Nodes(np.where(shared, least, -1))


def ranks_of(keys: Sequence[Any]) -> Ints:
    """Return the rank of each sort key of values among the distinct keys, from 0."""
    rank = {key: number for number, key in enumerate(sorted(set(keys)))}
    return np.array([rank[key] for key in keys], dtype=np.int64)


def texts_on_a_line(texts: Iterable[str]) -> list[tuple[Any, ...]] | None:
    """Return a sort key for each text of sets, as a reader orders them; None if a text can be read in another way.

    None if a text can be read as a label, or as a number, date or time in another form than ours.
    """
    keys = [_sort_key(text) for text in texts]
    kinds = {key[0] if key else None for key in keys}
    if None in kinds or (1 in kinds and len(kinds) > 1):  # beside dates, four digits are a year
        return None
    return [key for key in keys if key]


def _sort_key(text: str) -> tuple[Any, ...] | None:
    """Return the key by which a reader sorts a text: as a number, a date or a text; None if that is not clear."""
    if _NUMBER.fullmatch(text):
        return 0, Fraction(text)
    if _DAY.fullmatch(text):
        try:
            return 1, date.fromisoformat(text)
        except ValueError:
            return None
    return None if _UNCLEAR.fullmatch(text) and not _CODE.fullmatch(text) else (2, text)


def read_range(label: str) -> tuple[tuple[Fraction, int], tuple[Fraction, int]] | None:
    """Return the ends of a label ``[20, 29]``, ``[20, 30)`` (just before 30) or ``20``; None for other texts."""
    found = _RANGE.fullmatch(label)
    if found is None:
        return ((Fraction(label), 0),) * 2 if _NUMBER.fullmatch(label) else None
    low, high = Fraction(found[1]), Fraction(found[2])
    return ((low, 0), (high, 0 if found[3] == "]" else -1)) if low < high else None


def is_plain(text: str) -> bool:
    """Whether a text cannot be read as a label, number, date or time."""
    return not _UNCLEAR.fullmatch(text)
