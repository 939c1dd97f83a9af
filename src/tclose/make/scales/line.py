"""Line: numbers, dates and times, published as ranges, as the bounds of ranges, or as means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from datetime import datetime
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.errors import PolicyError
from tclose.make.scales.base import Column, Published, Reach, Scale, Widths, size_of_reach
from tclose.make.scales.boxes import Ranges, ranges_of, ranks_of
from tclose.make.scales.everything import Everything
from tclose.make.scales.grids import Grid
from tclose.make.scales.rulers import Cell, Days, Instants, Ruler, ruler
from tclose.make.scales.spans import Spans, charged, column_of_keys, covering, expected_rows, missing_codes, spans_of
from tclose.values.arrays import Bools, Floats, Ints
from tclose.values.exact import INT64_MAX, as_text, integer_dtype
from tclose.values.hierarchy import printed

RECODES = ("range", "bounds", "centroid")
OR_MISSING = " or missing"


class Line(Scale):
    r"""Values with an order and a difference, published as the range of a class: ``[25, 34]``, or ``27`` for a single value.

    .. math:: NCP = LM = (high - low) / (max - min)

    of the published range, as a share of the table's range; at most 1, and 0 if the table has one value only. With ``snap`` the
    range ends at cells of a grid; ``top`` and ``bottom`` publish all values beyond a limit as one, as in ``90 or more``,
    charged up to the end of the table. A class with values and missing cells is published as ``[25, 34] or missing`` and
    charged 1. The height is 0 for one value, otherwise 1.

    Squares are :math:`\sum ((x - c) / (max - min))^2` over the rows of a class. c is the middle of the range, or the mean; x is a
    value, the middle of its cell, or the limit that it is beyond. A missing cell in a class with values counts 1.

    References
    ----------
    Xu et al. 2006, Utility-Based Anonymization Using Local Recoding (NCP).
    Iyengar 2002, Transforming Data to Satisfy Privacy Constraints (LM).

    Examples
    --------
    >>> scale, codes = Line.of("age", [25, 27, 34, 45])
    >>> published = scale.publish(np.array([0, 1, 2, 3]), np.array([0, 3, 4]))
    >>> published.columns["age"].values, published.ncp.tolist()
    (['[25, 34]', '45'], [0.45, 0.0])
    """

    grid: Grid | None = None
    """The grid that ``snap: auto`` chose; None if the policy gives one, or none."""
    edges: int = 1
    """How many persons of a class must attain an end of its range; with fewer the end is moved outward. See `widen`."""
    edge_grid: Grid | None = None
    """The grid that such ends are moved to where there is no ``snap``."""

    @classmethod
    def of(
        cls,
        name: str,
        values: Sequence[Any],
        *,
        missing: bool = False,
        recode: str = "range",
        snap: Any = None,
        top: Any = None,
        bottom: Any = None,
        grid: Grid | None = None,
        show: Callable[[Any], str] = printed,
    ) -> tuple[Line, Ints]:
        """Return the scale of a column, and the code of each value; with ``missing``, the last code is that of missing cells.

        Parameters
        ----------
        name : str
        values : sequence
            The distinct values, ascending: integers, decimals, floats, dates, timestamps or times.
        missing : bool
            Whether some cells are missing.
        recode : {"range", "bounds", "centroid"}
            ``bounds`` publishes columns ``age.min`` and ``age.max``, ``centroid`` the mean; both add ``age.missing`` if cells are
            missing.
        snap : number, or {"day", "week", "month", "quarter", "year"}, optional
            The grid: cells [i * snap, (i + 1) * snap) of numbers, ISO weeks and other spans of the calendar.
        top, bottom : value, optional
            All values from this one on, up or down, are published as one.
        grid : Grid, optional
            The grid that ``snap: auto`` chose, instead of snap, top and bottom.
        show : callable
            Returns the text of a value.

        Raises
        ------
        PolicyError
            A setting does not fit the values of the column.
        ColumnError
            The values are not numbers, dates or times.
        """
        if recode not in RECODES:
            raise PolicyError(f"recode of {name!r} must be 'range', 'bounds' or 'centroid' without a hierarchy. Got {recode!r}.")
        settings = {"snap": snap, "top": top, "bottom": bottom} if grid is None else grid.settings(name, values)
        measure = ruler(name, values, **settings) if values else None
        if measure:
            measure.show = show
        if measure and recode == "centroid" and measure.grain is None:
            raise PolicyError(f"recode of {name!r} must be 'range' or 'bounds' for times of day. Got 'centroid'.")
        atoms, codes = _atoms_of_values(measure, values, settings["snap"] is not None)
        scale = cls(name, measure, atoms, missing=missing, recode=recode, settings=settings)
        scale.grid = grid
        return scale, np.array(codes + [len(atoms)] * missing, dtype=np.int64)

    def __init__(
        self, name: str, measure: Ruler | None, atoms: list[Atom], *, missing: bool, recode: str, settings: dict[str, Any]
    ) -> None:
        """Take a quasi-identifier's ruler, and its atoms: the values that each code stands for; `Line.of` makes them."""
        self.name = name
        self.missing = missing
        self.size = len(atoms) + missing
        self.ruler, self.atoms, self.recode, self.settings = measure, atoms, recode, settings
        units = measure.units if measure else [0]
        self._least, self._range = units[0], units[-1] - units[0]
        corners = [(atom.low, atom.high, atom.floor, atom.ceiling) for atom in atoms] + [(0, 0, 0, 0)] * missing
        ends = [[corner[side] for corner in corners] for side in range(4)]
        outmost = [units[0], units[-1], *(end for side in ends for end in (min(side, default=0), max(side, default=0)))]
        dtype = integer_dtype(8 * max(map(abs, outmost)))
        table: list[NDArray[Any]] = [np.array(side, dtype=dtype) for side in ends]
        self._lows, self._highs, self._floors, self._ceilings = table

    @property
    def has_ends(self) -> bool:
        """Whether the ends of ranges are published: a mean has none."""
        return self.recode != "centroid" and self.ruler is not None

    def with_edges(self, edges: int, grid: Grid | None) -> Line:
        """Return the line on which ends that fewer than ``edges`` persons attain are moved outward, to a grid or by one cell."""
        line = copy(self)
        line.edges, line.edge_grid = edges, grid
        return line

    def widths(self) -> Widths:
        """Return the NCP of all ranges of codes, as shares of the table's range."""
        lows, highs = self._share_of_range(self._floors - self._least), self._share_of_range(self._ceilings - self._least)
        own = np.minimum(self._share_of_range(self._ceilings - self._floors), 1.0)
        if self.missing:
            own[-1] = lows[-1] = highs[-1] = 0.0
        none = np.zeros((0, self.size), dtype=np.int32)
        return Widths(own, lows, highs, self.missing, ancestors=none, charges=np.zeros(0))

    def width_in_words(self, share: float) -> str:
        """Return in words how long the published ranges are, from their mean NCP: ``in ranges 8.6 wide``."""
        how = {
            "range": "in ranges {} wide",
            "bounds": "between bounds that differ by {}",
            "centroid": "as means over ranges {} wide",
        }
        length = self.ruler.length(Fraction(share) * self._range) if self.ruler else "0"
        return f"{how[self.recode].format(length)} on average"

    def at_level(self, level: int) -> Scale:
        """Return the scale that publishes ranges of one atom (1), or ``*`` (0); bounds and means have no levels."""
        if self.recode != "range":
            raise TypeError(f"recode: {self.recode} of {self.name!r} has no levels.")
        return self if level else Everything(self, numbers=True)

    def publish(self, codes: NDArray[Any], starts: Ints) -> Published:
        """Return classes published as ranges, bounds or means, and their information loss."""
        found = spans_of(codes, starts, self.size - 1 if self.missing else None)
        return self.publish_spans(codes, starts, found, expected_rows(self.size, found))

    def publish_spans(self, codes: NDArray[Any], starts: Ints, found: Spans, estimate: Floats) -> Published:
        """Return classes published from first to last code of given spans, which may be wider than those of their rows."""
        first, last = found.first, found.last
        ncp = charged(np.minimum(self._share_of_range(self._ceilings[last] - self._floors[first]), 1.0), found)
        single = np.array([atom.single for atom in self.atoms] + [True] * self.missing, dtype=np.bool_)
        height = charged(((first != last) | ~single[first]).astype(np.float64), found)
        if self.recode == "centroid":
            columns, centres = self._mean_column(codes, starts, found)
        else:
            columns = self._bound_columns(found) if self.recode == "bounds" else self._range_column(found)
            centres = self._share_of_range(self._lows[first] + self._highs[last] - 2 * self._least, 2)
        missing = bool(found.gone.any())
        if self.recode != "range" and missing:
            columns[f"{self.name}.missing"] = Column([False, True], (found.gone > 0).astype(np.int64), "boolean")
        squares = self._sums_of_squares(codes, found, centres)
        return Published(
            self.name,
            columns,
            ncp,
            ncp.copy(),
            height,
            squares,
            self._widths_seen(found),
            missing,
            estimate,
            self._reach(found),
            found.mixed,
        )

    def boxes(self, codes: NDArray[Any], starts: Ints) -> Ranges | None:
        """Return the range that each published class may stand for; a mean may be any value, missing cells come last."""
        low = high = np.arange(self.size, dtype=np.int64)
        if self.recode == "centroid":
            low = high = (low == len(self.atoms)).astype(np.int64)
        elif not self.ends_ascend():
            return None
        elif self.recode == "bounds" and self.ruler:
            low, high = self._ranks_of_bounds(self.ruler)
        return ranges_of(low, high, codes, starts)

    def ends_ascend(self) -> bool:
        """Whether printed ends ascend as codes do: clocks may be set back, and a year before 1000 looks like another code."""
        if not isinstance(self.ruler, Days | Instants):
            return True
        shown = [self.ruler.value(end) for atom in self.atoms for end in (atom.low, atom.high)]
        ends = [value.replace(tzinfo=None) if isinstance(value, datetime) else value for value in shown]
        ascending = all(a <= b for a, b in pairwise(ends)) and all(a < b for a, b in pairwise(ends[1::2]))
        return ascending and not (self.settings["snap"] == "year" and ends and ends[0].year < 1000)

    def _ranks_of_bounds(self, measure: Ruler) -> tuple[Ints, Ints]:
        """Return the ranks of the published low and high bound of each code's values; missing cells come last."""
        units = [atom.low for atom in self.atoms] + [atom.high for atom in self.atoms]
        values = [measure.value(unit) for unit in units]
        if measure.type_of(units) == "float":
            values = [float(value) for value in values]
        found = ranks_of(values)
        gone = [int(found.max()) + 1] * self.missing
        return np.append(found[: len(self.atoms)], gone), np.append(found[len(self.atoms) :], gone)

    def covers(self, codes: NDArray[Any], starts: Ints) -> Callable[[int], Bools]:
        """Return a function from a code to which published ranges have it inside.

        Bounds may be those of several codes: of a cell that begins at 20, and of all values of 20 or less.
        """
        missing = self.size - 1 if self.missing else None
        found = spans_of(codes, starts, missing)
        if self.recode != "bounds" or not self.ruler:
            return covering(found.first, found.last, found, missing)
        low, high = self._ranks_of_bounds(self.ruler)
        least, greatest = low[found.first], high[found.last]

        def covers(code: int) -> Bools:
            """Whether the bounds of each class have those of the code between them."""
            inside = np.less_equal(least, low[code]) & np.less_equal(high[code], greatest)
            return np.greater(found.gone, 0) if code == missing else inside

        return covers

    def attained(self, codes: NDArray[Any], starts: Ints) -> Ints:
        """Return both ends of each published range: it is the smallest that has all values. A mean has no ends.

        With a grid, somebody has a value in the cell at each end; beyond a limit, one beyond it.
        """
        found = spans_of(codes, starts, self.size - 1 if self.missing else None)
        classes, gone = np.arange(len(starts) - 1) * self.size, missing_codes(found, self.size)
        return (
            gone if self.recode == "centroid" else np.unique(np.concatenate([classes + found.first, classes + found.last, gone]))
        )

    def describe(self, published: str, *, missing: bool) -> str:
        """Return the codebook's sentence on what a published column contains."""
        if published == f"{self.name}.missing":
            return f"Whether some rows of the class miss {self.name!r}."
        end = "greatest" if published == f"{self.name}.max" else "least"
        what = {
            "range": f"The range of {self.name!r} among the rows of the class, or the value that they agree on",
            "bounds": f"The {end} {self.name!r} among the rows of the class",
            "centroid": f"The mean of {self.name!r} over the rows of the class",
        }[self.recode]
        given = {setting: _as_decimal(value) for setting, value in self.settings.items() if value is not None}
        if "snap" in given:
            what += f", widened to a grid of {_grid_in_words(self.settings['snap'])}"
        if "bottom" in given:
            what += f"; {given['bottom']} or less is one value"
        if "top" in given:
            what += f"; {given['top']} or more is one value"
        if self.edges > 1 and self.has_ends:
            what += f"; an end that fewer than {self.edges} persons of the class attain is moved outward"
            what += "" if self.edge_grid is None else f", to a grid of {_grid_in_words(self.edge_grid.snap)}"
            what += " whose outermost cells are open" if self.edge_grid is not None and any(self.edge_grid[1:]) else ""
        if missing:
            says = "'or missing'" if self.recode == "range" else repr(f"{self.name}.missing")
            what += f"; {says} says that some rows miss it"
        return what + "."

    def _share_of_range(self, widths: NDArray[Any], parts: int = 1) -> Floats:
        """Return widths, given in parts of a unit, as shares of the table's range."""
        if not self._range:
            return np.zeros(len(widths))
        if widths.dtype == object:
            return np.array([width / (parts * self._range) for width in widths.tolist()], dtype=np.float64)
        return np.asarray(widths / float(parts * self._range), dtype=np.float64)

    def _widths_seen(self, found: Spans) -> Floats | None:
        """Return the published widths as shares of the range that all classes cover; None for means."""
        if self.recode == "centroid":
            return None
        lows, highs, reach = self._lows[found.first], self._highs[found.last], self._reach(found)
        span = 0 if reach is None else size_of_reach(reach)
        shares = np.array([width / span for width in (highs - lows).tolist()]) if span else np.zeros(len(lows))
        return charged(shares, found)

    def _reach(self, found: Spans) -> Reach | None:
        """Return the least and the greatest number that is published; None if there is none."""
        present = ~found.absent
        if not present.any():
            return None
        return int(self._lows[found.first][present].min()), int(self._highs[found.last][present].max())

    def _sums_of_squares(self, codes: NDArray[Any], found: Spans, centres: Floats) -> Floats:
        """Return each class's sum of squared distances to the published value; a missing cell beside values counts 1."""
        away = self._share_of_range(self._lows + self._highs - 2 * self._least, 2)[codes] - np.repeat(centres, found.rows)
        away *= away
        if self.missing:
            away[codes == self.size - 1] = 0.0
        owners = np.repeat(np.arange(len(found.rows)), found.rows)
        # Rows are added one by one, so that the sum is the same on every machine.
        squares: Floats = np.bincount(owners, weights=away, minlength=len(found.rows)).astype(np.float64)
        return squares + np.where(found.mixed, found.gone, 0)

    def _range_column(self, found: Spans) -> dict[str, Column]:
        """Return the published column of ranges, a label for each class."""

        def label(key: int) -> str | None:
            """Return the label of a key: first code, last code, and whether cells are missing too."""
            (first, last), mixed = divmod(key // 2, self.size), key % 2
            if first == len(self.atoms):
                return None
            return self.range_label(self.atoms[first], self.atoms[last]) + (OR_MISSING if mixed else "")

        return {self.name: column_of_keys((found.first * self.size + found.last) * 2 + found.mixed, label)}

    def range_label(self, first: Atom, last: Atom) -> str:
        """Return the published label of the range from one code's values to another's: ``[25, 34]``."""
        if first is last:
            return first.text
        if first.beyond and last.beyond:
            return "any value"
        if last.beyond:
            return f"{first.start} or more"
        if first.beyond:
            return f"{last.end} or less" if last.closed else f"less than {last.end}"
        return f"[{first.start}, {last.end}{']' if last.closed else ')'}"

    def _bound_columns(self, found: Spans) -> dict[str, Column]:
        """Return the published columns of the least and the greatest value of each class."""
        kind = self.ruler.type_of([end for atom in self.atoms for end in (atom.low, atom.high)]) if self.ruler else "value"
        value = self.ruler.value if self.ruler else int
        return {
            f"{self.name}.min": _column_of_values(self._lows[found.first], found, value, kind),
            f"{self.name}.max": _column_of_values(self._highs[found.last], found, value, kind),
        }

    def _mean_column(self, codes: NDArray[Any], starts: Ints, found: Spans) -> tuple[dict[str, Column], Floats]:
        """Return the published column of means, and the position of each mean in the table's range, from 0 to 1."""
        grain, parts = (self.ruler and self.ruler.grain) or (1, 1)
        twice = self._lows + self._highs
        if self.missing:
            twice[-1] = 0
        if twice.dtype != object and int(np.abs(twice).max()) * int(found.rows.max(initial=0)) > INT64_MAX:
            twice = twice.astype(object)
        sums = np.add.reduceat(twice[codes], starts[:-1]).tolist() if len(found.rows) else []
        counts = np.maximum(found.rows - found.gone, 1).tolist()
        # Means are rounded half up to grains: floor(sum / (2 count grain) + 1/2), in integers.
        grains = [(parts * total + grain * count) // (2 * grain * count) for total, count in zip(sums, counts, strict=True)]
        whole = self._range * parts
        least = self._least * parts
        centres = [(number * grain - least) / whole if whole else 0.0 for number in grains]
        mean = self.ruler.mean if self.ruler else int
        kind = self.ruler.mean_type if self.ruler else "value"
        units: NDArray[Any] = np.array(grains, dtype=integer_dtype(max(map(abs, grains), default=0)))
        return {self.name: _column_of_values(units, found, mean, kind)}, np.array(centres, dtype=np.float64)


class Atom(NamedTuple):
    """The values that a code stands for: one value, a cell of a grid, or all values beyond a limit.

    ``low`` and ``high`` are its published ends in units of the ruler; beyond a limit both are the limit. Widths are charged from
    ``floor`` to ``ceiling``, which reach to the end of the table beyond a limit.
    """

    low: int
    high: int
    floor: int
    ceiling: int
    shown: Any
    """A value; or three texts: of the atom alone, as the start of a range, and as the end of one."""
    closed: bool = True
    """Whether the high end is included."""
    beyond: int = 0
    """Whether it stands for all values beyond a limit: 1 above it, -1 below it, else 0."""
    show: Callable[[Any], str] = printed
    """Returns the text of a value."""

    @property
    def single(self) -> bool:
        """Whether the code of this atom stands for one value, not for a cell of a grid or all values beyond a limit."""
        return self.closed and not self.beyond and self.low == self.high

    @property
    def text(self) -> str:
        """The published label of the values that a code stands for: ``27``, ``[20, 29]`` or ``90 or more``."""
        return str(self.shown[0]) if isinstance(self.shown, tuple) else self.show(self.shown)

    @property
    def start(self) -> str:
        """The published text of a code's values as the start of a range."""
        return str(self.shown[1]) if isinstance(self.shown, tuple) else self.show(self.shown)

    @property
    def end(self) -> str:
        """The published text of a code's values as the end of a range."""
        return str(self.shown[2]) if isinstance(self.shown, tuple) else self.show(self.shown)


def _atoms_of_values(measure: Ruler | None, values: Sequence[Any], snapped: bool) -> tuple[list[Atom], list[int]]:
    """Return the atoms of a quasi-identifier, the values that each code stands for, and the code of each value."""
    if measure is None:
        return [], []
    units, bottom, top = measure.units, measure.bottom, measure.top
    below = 0 if bottom is None else sum(unit <= bottom for unit in units)
    inside = len(units) if top is None else sum(unit < top for unit in units)
    atoms, codes = [], [0] * below
    if bottom is not None and below:
        atoms.append(open_atom(measure, bottom, -1))
    if not snapped:
        codes += range(len(atoms), len(atoms) + inside - below)
        atoms += [
            Atom(unit, unit, unit, unit, value, show=measure.show)
            for unit, value in zip(units[below:inside], values[below:inside], strict=True)
        ]
    else:
        keys, cell = measure.cells()
        code_of = {key: len(atoms) + index for index, key in enumerate(sorted(set(keys[below:inside])))}
        codes += [code_of[key] for key in keys[below:inside]]
        atoms += [cell_atom(measure, cell(key)) for key in code_of]
    if top is not None and inside < len(units):
        codes += [len(atoms)] * (len(units) - inside)
        atoms.append(open_atom(measure, top, 1))
    return atoms, codes


def open_atom(measure: Ruler, limit: int, side: Literal[-1, 1]) -> Atom:
    """Return the atom of all values beyond a limit, above it (side 1) or below it (-1), charged to the end of the table."""
    text, units = measure.text(limit), measure.units
    shown = f"{text} or {'more' if side > 0 else 'less'}", text, text
    floor, ceiling = (limit, max(limit, units[-1])) if side > 0 else (min(limit, units[0]), limit)
    return Atom(limit, limit, floor, ceiling, shown, beyond=side)


def cell_atom(measure: Ruler, cell: Cell) -> Atom:
    """Return the atom, the values of one code, for a cell of the grid, cut off at the policy's top and bottom."""
    step = measure.step or 0
    low = cell.low if measure.bottom is None else max(cell.low, measure.bottom + step)
    high = cell.high if measure.top is None else min(cell.high, measure.top - step)
    closed = measure.step is not None
    start, end = measure.text(low), measure.text(high)
    text = f"[{start}, {end}{']' if closed else ')'}" if low < high else start
    if cell.name is not None:
        text = cell.name if (low, high) == (cell.low, cell.high) else text
        start = cell.name if low == cell.low else start
        end = cell.name if high == cell.high else end
    return Atom(low, high, low, high, (text, start, end), closed)


def _grid_in_words(snap: Any) -> str:
    """Return the cells of a grid in words: ``5``, ``0.05``, ``whole numbers`` or ``months``."""
    if snap == 1:
        return "whole numbers"
    text = _as_decimal(snap)
    return f"{text}s" if text.isalpha() else text


def _as_decimal(setting: Any) -> str:
    """Return a setting as a codebook writes it: 20.1, not 201/10."""
    return as_text(setting) if isinstance(setting, Fraction) else printed(setting)


def _column_of_values(units: NDArray[Any], found: Spans, value: Callable[[int], Any], kind: Literal["float", "value"]) -> Column:
    """Return a published column of values, ascending; the last is missing, for classes without a value."""
    distinct, indices = np.unique(units[~found.absent], return_inverse=True)
    all_indices = np.full(len(units), len(distinct), dtype=np.int64)
    all_indices[~found.absent] = indices
    return Column([value(unit) for unit in distinct.tolist()] + [None] * bool(found.absent.any()), all_indices, kind)
