"""Covering: which published classes a new row can join, because their published values stand for its own.

Labels are parsed as a reader of the file parses them (`tclose.judge.boxes`). There a box may be too wide, where a label leaves
open what it stands for. Here it must not be: a set covers its members alone, and a text that looks like a label is covered by
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tclose.judge.boxes import Line, Tree, axis_of, is_masked, set_members
from tclose.policy import Quasi
from tclose.values.arrays import Bools
from tclose.values.formula_guard import unguarded
from tclose.values.hierarchy import printed

_LIKE_A_LABEL = re.compile(r"[\[{\"'].*|.+ or (?:more|less|missing)|less than .+|any value|\*+", re.DOTALL)
_SET = re.compile(r"(\{.*\})(?: or missing)?", re.DOTALL)


def covers(column: Quasi, published: Mapping[str, Sequence[Any]], values: Sequence[Any]) -> Bools:
    """Return which classes cover which values of one quasi-identifier: (classes, values) bool.

    Parameters
    ----------
    published
        The value of each class, by the name of the published column: ``age``, or ``age.min`` and ``age.max``.
    values
        Values of new rows; None for a missing cell.
    """
    labels = next(iter(published.values()))
    axis = axis_of(column, {name: [*shown, *_as_class(column, name, values)] for name, shown in published.items()})
    inside = _lies_inside(axis, len(labels))
    if column.name in published:
        for number, members in _sets(labels).items():
            inside[number] &= np.array([value is None or printed(value) in members for value in values])
    plain = [not (isinstance(value, str) and (_LIKE_A_LABEL.fullmatch(value) or is_masked(value))) for value in values]
    return inside & np.array(plain, dtype=np.bool_)


def _as_class(column: Quasi, name: str, values: Sequence[Any]) -> Sequence[Any]:
    """Return values as the published cells of classes that have one value each."""
    if name == f"{column.name}.missing":
        return [value is None for value in values]
    return values if name == column.name else [_up_to_limits(column, value) for value in values]


def _up_to_limits(column: Quasi, value: Any) -> Any:
    """Return a value as its published bounds give it: one beyond the policy's top or bottom is that limit."""
    if value is not None and column.top is not None and value > column.top:
        return column.top
    return column.bottom if value is not None and column.bottom is not None and value < column.bottom else value


def _lies_inside(axis: Line | Tree, classes: int) -> Bools:
    """Return which of the first ``classes`` boxes of an axis contain which of the others."""
    if isinstance(axis, Line):
        starts = axis.low[:classes, np.newaxis] <= axis.low[classes:]
        return np.asarray(starts & (axis.high[classes:] <= axis.high[:classes, np.newaxis]), dtype=np.bool_)
    nodes, below = axis.paths[:classes, np.newaxis], axis.paths[classes:]
    return np.asarray(((nodes < 0) | (nodes == below)).all(axis=2), dtype=np.bool_)


def _sets(labels: Sequence[Any]) -> dict[int, set[str]]:
    """Return the members of each published label that is a set, by the number of its class."""
    found = {}
    for number, label in enumerate(labels):
        part = _SET.fullmatch(unguarded(label)) if isinstance(label, str) else None
        if part:
            found[number] = set(set_members(part[1]))
    return found
