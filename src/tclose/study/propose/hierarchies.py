"""Hierarchies: the settings that suggest themselves for a quasi-identifier, tried on its column before they are proposed."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import pyarrow as pa

from tclose.errors import InfeasibleError
from tclose.make.kept import FEW
from tclose.make.scales.grids import choose_grid
from tclose.study.propose.columns import NUMERIC, Column, percent
from tclose.study.propose.offered import Misfit, Offered
from tclose.study.propose.words import suggests_zip
from tclose.values.builders import Prefixes
from tclose.values.builders.fitting import fitting_widths
from tclose.values.exact import as_text, exact
from tclose.values.printed import printed

WIDE = 10
"""Numbers with more values than this are published on a grid; fewer may be codes, or answers on a scale."""

SHORTEST_CODE = 4
"""Characters of a code whose first ones may stand for a region."""

IN_RANGES = "In ranges: a class is published as a range of whole steps; each step has {k} persons or more, or nobody."
IN_SETS = "In sets: a class is published as the set of its values."
FEW_NUMBERS = (
    "Few numbers: a class is published as one of them, or as a range from one to another. If they are codes without an order, "
    "write {type: category} after the column's name: then it is published as the set of its values."
)
AS_WRITTEN = (
    "Whole numbers written as decimals are published as they are written, with the point and what stands after it. To avoid "
    "that, write them as whole numbers into the file first."
)
BY_LABELS = "With a file: a class is published by the labels of the file's groups."
"""What ways to publish a class mean: said once for all columns that have one."""
GRID = "ranges on a grid chosen from the values, which usually lose less than a hierarchy"
"""What ``snap: auto`` is, where it stands beside a hierarchy."""
COULD_GROUP = " A hierarchy could name groups of them."
"""Said of many texts for which no file is offered."""


@dataclass(frozen=True)
class Suggested:
    """Settings of a quasi-identifier, why, and the grid that ``snap: auto`` chooses on the table.

    Without settings, None, a release would refuse the column. ``instead`` is what would be suggested without the hierarchy that
    its owner offered. ``way`` is a sentence on how a class is published, the same for all columns that are published so.
    ``misfit`` is the file that is offered for it if its owner should mend it.
    """

    settings: dict[str, Any] | None = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    grid: dict[str, Any] | None = None
    instead: Suggested | None = None
    way: str = ""
    misfit: Misfit | None = None


def with_offered(column: Column, suggested: Suggested, offered: Offered) -> Suggested:
    """Return what is suggested for a quasi-identifier, with the hierarchy that is offered for it in its place if that fits."""
    fit = offered.fit_quasi(column)
    if fit is None:
        return suggested
    if fit.tree is None:
        own = tuple(reason.removesuffix(COULD_GROUP) for reason in suggested.reasons)
        return replace(suggested, reasons=(*own, fit.reason), misfit=fit.misfit)
    settings = suggested.settings or {}
    grid = f": {GRID}" if settings == {"snap": "auto"} else ""
    other = [f"Or {', '.join(f'{key}: {value}' for key, value in settings.items())}{grid}."] if settings else []
    return Suggested({"hierarchy": fit.tree}, (fit.reason, *other), instead=suggested, way=BY_LABELS)


def suggest_for_quasi(column: Column, unit: Column | None, k: int) -> Suggested:
    """Return the settings that a column would have as a quasi-identifier."""
    if column.infinite:
        return Suggested(None)
    if _has_prefixes(column):
        shown = "*" * column.same_length
        reason = f"Codes of one length are published by their first characters, as {'1' * (len(shown) - 2)}**."
        return Suggested({"hierarchy": "prefixes"}, (reason,))
    if column.kind in (*NUMERIC, "date", "timestamp"):
        return _suggest_for_line(column, unit, k)
    if column.kind in ("text", "codes", "category") and column.nearly_unique and column.values >= FEW:
        return Suggested(None)
    more = COULD_GROUP if column.values > WIDE else ""
    return Suggested({}, (f"In sets.{more}",), way=IN_SETS)


def _has_prefixes(column: Column) -> bool:
    """Whether a column has codes of one length, as zip codes: by its name, or as digits that are not read as a number."""
    if column.same_length < SHORTEST_CODE or column.same_length > 12:
        return False
    texts = column.present.cast(pa.string()).to_pylist()
    if any(Prefixes().requirement(text) for text in texts):
        return False
    return suggests_zip(column.name) or (column.kind == "text" and all(text.isdecimal() for text in texts))


def _suggest_for_line(column: Column, unit: Column | None, k: int) -> Suggested:
    """Return the settings of a column of numbers or dates: a grid on which each cell has at least k persons."""
    if column.kind in NUMERIC and column.values <= WIDE:
        if column.whole:
            return Suggested({}, ("Few numbers.",), way=FEW_NUMBERS)
        return Suggested({}, ("Few numbers, in ranges from one of them to another.",))
    try:
        values = column.present.to_pylist()
        grid = choose_grid(column.name, values, column.codes, None if unit is None else unit.codes, k)
    except (OverflowError, ValueError, InfeasibleError):  # dates that Python cannot represent, or no grid
        grid = None
    other = _other_ways(column, None if grid is None else grid.snap)
    if grid is None:
        settings: dict[str, dict[str, Any]] = {"date": {"hierarchy": "dates"}, "timestamp": {"snap": "year"}}
        return Suggested(settings.get(column.kind, {}), (f"No round steps have at least {k} persons each.", *other))
    if column.kind != "integer" and grid.bottom is grid.top is None and _has_cells_of_one_value(values, grid.snap):
        return Suggested({}, (f"In ranges from one of its numbers to another; each number has {k} persons or more.",))
    step = f"one {grid.snap}" if isinstance(grid.snap, str) else as_text(grid.snap)
    chosen = grid.settings(column.name, values)
    reasons = (f"In ranges, with steps of {step}.", *_open_ends(column, values, chosen["bottom"], chosen["top"]), *other)
    return Suggested({"snap": "auto"}, reasons, chosen, way=IN_RANGES.format(k=k))


def _open_ends(column: Column, values: list[Any], bottom: Any, top: Any) -> list[str]:
    """Return a sentence on each open end of a grid: where it begins, and how many rows it has; None is no open end."""
    key = exact if column.kind in NUMERIC else None
    found = []
    if bottom is not None:
        found.append((f"up to {_limit(bottom)}", slice(bisect_right(values, bottom, key=key))))
    if top is not None:
        found.append((f"from {_limit(top)} on", slice(bisect_left(values, top, key=key), column.values)))
    return [
        f"Values {which} become one value ({percent(int(column.counts[own].sum()) / column.rows)} of the rows)."
        for which, own in found
    ]


def _limit(limit: Any) -> str:
    """Return an end of a grid as a release publishes it."""
    return as_text(limit) if isinstance(limit, Fraction) else printed(limit)


def _has_cells_of_one_value(values: list[Any], snap: Fraction | str) -> bool:
    """Whether no two numbers are in one cell of a grid: then its steps, 0.0000001 for example, only make ranges odd."""
    return not isinstance(snap, str) and len({Fraction(str(value)) // snap for value in values}) == len(values)


def _other_ways(column: Column, step: Fraction | str | None) -> list[str]:
    """Return a sentence with another way to publish the column, if any: a hierarchy of dates, or of intervals for numbers.

    No interval is finer than the ``step`` of the grid: fewer than k persons may have it.
    """
    if column.kind == "date":
        return ["Or hierarchy: dates, for month, quarter and year."]
    if column.kind not in NUMERIC:
        return []
    low, high = (column.present[index].as_py() for index in (0, -1))
    least = 0 if step is None or isinstance(step, str) else step
    widths = [width for width in fitting_widths(low, high, whole=column.whole) if exact(width) >= least]
    return [f"Or hierarchy: {{intervals: {widths}}}."] if widths else []
