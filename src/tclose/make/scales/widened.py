"""Widened: ranges whose ends too few persons attain, moved outward to a grid.

A published range is the smallest that has all values of its class. So somebody attains each of its ends, and a person who alone
does is known to be in the class. With ``edges: e`` an end that fewer than e persons of the class attain moves outward to the next
edge of a grid, where nobody of the class is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tclose.errors import InfeasibleError
from tclose.make.scales.base import Claims, Column, OpenEnds, Published, Scale, Widths
from tclose.make.scales.boxes import Ranges, ranks_of
from tclose.make.scales.line import OR_MISSING, Atom, Line, cell_atom, open_atom
from tclose.make.scales.rulers import Cell, Instants, Ruler
from tclose.make.scales.spans import Spans, covering, expected_rows, spans_of
from tclose.values.arrays import Bools, Ints

Side = Literal[-1, 1]
"""An end of a range: the low one (-1) or the high one (1)."""
Key = tuple[Any, ...]
"""A published end of a range; ends sort by their keys."""


def widen(scale: Scale, codes: NDArray[Any], starts: Ints, persons: NDArray[Any] | None) -> Scale:
    """Return the scale on which these classes, and no others, are published with ends moved where too few persons attain them.

    It is the scale itself where the policy does not ask for that, and where no ranges are published.

    Parameters
    ----------
    codes, starts
        The classes, as for `Scale.publish`.
    persons : (rows,) integers or None
        The person of each row; None if each row is one.
    """
    if not isinstance(scale, Line) or scale.edges == 1 or not scale.has_ends:
        return scale
    found = spans_of(codes, starts, scale.size - 1 if scale.missing else None)
    closed = np.array([not atom.beyond for atom in scale.atoms] + [False] * scale.missing, dtype=np.bool_)
    low, high = (closed[end] & (_persons_at(codes, starts, end, persons) < scale.edges) for end in (found.first, found.last))
    return Widened(scale, found, low, high)


def _persons_at(codes: NDArray[Any], starts: Ints, end: Ints, persons: NDArray[Any] | None) -> Ints:
    """Return how many persons of each class have the code at one end of its range."""
    owners = np.repeat(np.arange(len(end)), np.diff(starts))
    there = np.flatnonzero(codes == end[owners])
    owners = owners[there]
    if persons is not None:
        count = int(persons.max(initial=0)) + 1
        owners = np.unique(owners * count + persons[there].astype(np.int64)) // count
    return np.bincount(owners, minlength=len(end))


class Widened(Scale):
    """The values of a line, and given classes on it, some ends of whose ranges are moved outward.

    Its methods take these classes and no others. Codes are those of the line.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from tclose.make.scales.grids import Grid
    >>> line = Line.of("age", [23, 25, 29, 31, 40])[0].with_edges(2, Grid(Fraction(5), None, None))
    >>> codes, starts = np.array([0, 1, 2, 2, 3, 4]), np.array([0, 4, 6])
    >>> widen(line, codes, starts, None).publish(codes, starts).columns["age"].values
    ['[20, 29]', '[30, 44]']
    """

    def __init__(self, line: Line, found: Spans, low: Bools, high: Bools) -> None:
        """Take the spans of the classes on a line, and for each class whether its low and its high end is moved."""
        assert line.ruler is not None
        self.name, self.size, self.missing = line.name, line.size, line.missing
        self._line = line
        below, above, self._open = _outer_atoms(line, line.ruler, found, low, high)
        distinct = {_identity(atom): atom for atom in [*line.atoms, *below.values(), *above.values()]}
        self._low_key, self._high_key = _keys_of_ends(line, line.ruler, [*distinct.values()])
        atoms = sorted(distinct.values(), key=lambda atom: (self._low_key(atom), self._high_key(atom)))
        index = {_identity(atom): number for number, atom in enumerate(atoms)}
        self._wide = Line(line.name, line.ruler, atoms, missing=line.missing, recode=line.recode, settings=line.settings)
        self._codes = np.array([index[_identity(atom)] for atom in line.atoms] + [len(atoms)] * line.missing, dtype=np.int64)

        def moved(codes: Ints, which: Bools, outer: dict[int, Atom]) -> Ints:
            """Return the atoms at one end of all classes, as codes of the wide line."""
            ends = self._codes[codes]
            ends[which] = [index[_identity(outer[code])] for code in codes[which].tolist()]
            return ends

        self._ends = found._replace(first=moved(found.first, low, below), last=moved(found.last, high, above))
        self._lows, self._highs = lows, highs = [*map(self._low_key, line.atoms)], [*map(self._high_key, line.atoms)]
        gone = [self.size - 1] * line.missing
        first = np.array([bisect_left(lows, self._low_key(atom)) for atom in atoms] + gone, dtype=np.int64)
        last = np.array([bisect_right(highs, self._high_key(atom)) - 1 for atom in atoms] + gone, dtype=np.int64)
        self._covered = found._replace(first=first[self._ends.first], last=last[self._ends.last])

    def widths(self) -> Widths:
        """Return the NCP of all ranges of codes of the line, whose ends are not moved."""
        return self._line.widths()

    def width_in_words(self, share: float) -> str:
        """Return in words how long the published ranges are, from their mean NCP."""
        return self._line.width_in_words(share)

    def publish(self, codes: NDArray[Any], starts: Ints) -> Published:
        """Return the classes published with moved ends, and their information loss."""
        estimate = expected_rows(self.size, self._covered)
        published = self._wide.publish_spans(self._codes[codes], starts, self._ends, estimate)
        if self._line.recode != "range":
            return published
        return replace(published, columns={self.name: self._range_column()}, open_ends=self._open)

    def boxes(self, codes: NDArray[Any], starts: Ints) -> Ranges | None:  # noqa: ARG002 - of the classes that it was made for
        """Return the range that each published class may stand for; missing cells come last."""
        if isinstance(self._line.ruler, Instants) or not self._line.ends_ascend():
            return None
        low, high = self._ranks()
        gone = int(max(low.max(), high.max()))
        return Ranges(low[self._ends.first], np.where(self._ends.gone > 0, gone, high[self._ends.last]))

    def covers(self, codes: NDArray[Any], starts: Ints) -> Callable[[int], Bools]:  # noqa: ARG002 - see boxes
        """Return a function from a code to which published ranges have it inside."""
        covered = self._covered
        return covering(covered.first, covered.last, covered, self.size - 1 if self.missing else None)

    def claims(self, codes: NDArray[Any], starts: Ints) -> Claims:  # noqa: ARG002 - see boxes
        """Return what the ends of ranges prove to a reader who knows that ends may have been moved.

        An end is attained by enough persons; or, where values move to it, somebody has one of these values.
        """
        classes, gone = np.flatnonzero(~self._ends.absent), np.flatnonzero(self._ends.gone > 0)
        low, high = self._claims_at(classes, self._ends.first[classes], -1), self._claims_at(classes, self._ends.last[classes], 1)
        missing, ones = np.full(len(gone), self.size - 1), np.ones(len(gone), dtype=np.int64)
        first, last, persons = (
            np.concatenate([*parts, own]) for *parts, own in zip(*low, *high, (missing, missing, ones), strict=True)
        )
        numbers = np.arange(len(classes))
        other = np.concatenate([numbers + len(classes), numbers, numbers + 3 * len(classes), numbers + 2 * len(classes), -ones])
        return Claims.of(self.size, np.concatenate([*[classes] * 4, gone]), first, last, persons, other)

    def _claims_at(self, classes: Ints, ends: Ints, side: Side) -> tuple[tuple[Ints, Ints, Ints], tuple[Ints, Ints, Ints]]:
        """Return first and last code and persons of two claims on one end of each class: it is attained, or was moved.

        Nobody can make the second one true where no value moves to the end.
        """
        line, atoms = self._line, self._wide.atoms
        assert line.ruler is not None
        key, own = (self._low_key, self._lows) if side < 0 else (self._high_key, self._highs)
        inner: dict[Key, tuple[int, int]] = {}  # from an end to the first and the last code that move to it
        for code, atom in enumerate(line.atoms):
            if not atom.beyond:
                with suppress(InfeasibleError):
                    end = key(_outer_atom(line, line.ruler, code, side))
                    inner[end] = (inner.get(end, (code, code))[0], code)
        attained = np.array([(bisect_left(own, key(atom)), bisect_right(own, key(atom)) - 1) for atom in atoms])[ends]
        moved = np.array([inner.get(key(atom), (self.size, -1)) for atom in atoms])[ends]
        first, last = self._covered.first[classes], self._covered.last[classes]
        enough = np.where(np.array([bool(atom.beyond) for atom in atoms])[ends], 1, line.edges)
        one = np.ones(len(classes), dtype=np.int64)
        return (
            (attained[:, 0], attained[:, 1], enough),
            (np.maximum(moved[:, 0], first), np.minimum(moved[:, 1], last), one),
        )

    def describe(self, published: str, *, missing: bool) -> str:
        """Return the codebook's sentence on what a published column contains."""
        return self._line.describe(published, missing=missing)

    def _ranks(self) -> tuple[Ints, Ints]:
        """Return the ranks of the low and of the high end of each atom among all ends; missing cells come last."""
        atoms = self._wide.atoms
        ranks = ranks_of([*map(self._low_key, atoms), *map(self._high_key, atoms)])
        gone = [int(ranks.max()) + 1]  # also where no cell is missing: it stands for none
        return np.append(ranks[: len(atoms)], gone), np.append(ranks[len(atoms) :], gone)

    def _range_column(self) -> Column:
        """Return the published column of ranges; classes with the same ends have one label, wherever their ends come from."""
        low, high = self._ranks()
        ends = self._ends
        keys = (low[ends.first] * (int(high.max()) + 1) + high[ends.last]) * 2 + ends.mixed
        _, some, indices = np.unique(keys, return_index=True, return_inverse=True)
        labels: list[str | None] = []
        for number in some.tolist():
            if ends.absent[number]:
                labels.append(None)
                continue
            first, last = (self._wide.atoms[end[number]] for end in (ends.first, ends.last))
            labels.append(self._wide.range_label(first, last) + (OR_MISSING if ends.mixed[number] else ""))
        return Column(labels, indices.reshape(-1).astype(np.int64))


def _identity(atom: Atom) -> tuple[int, int, bool, int]:
    """Return what makes an atom the same as another: its ends."""
    return atom.low, atom.high, atom.closed, atom.beyond


def _keys_of_ends(line: Line, measure: Ruler, atoms: list[Atom]) -> tuple[Callable[[Atom], Key], Callable[[Atom], Key]]:
    """Return functions from an atom to the keys of its low and its high end, as a reader sees them."""
    if line.recode == "range":
        return (
            lambda atom: (-1,) if atom.beyond < 0 else (0, atom.low, 0),
            lambda atom: (1,) if atom.beyond > 0 else (0, atom.high, 0 if atom.closed else -1),
        )
    as_float = measure.type_of([end for atom in atoms for end in (atom.low, atom.high)]) == "float"

    def value(unit: int) -> Any:
        """Return the bound that is published for a position."""
        return float(measure.value(unit)) if as_float else measure.value(unit)

    return lambda atom: (0, value(atom.low), 0), lambda atom: (0, value(atom.high), 0)


def _outer_atoms(
    line: Line, measure: Ruler, found: Spans, low: Bools, high: Bools
) -> tuple[dict[int, Atom], dict[int, Atom], OpenEnds]:
    """Return the atoms that the low and the high ends of ranges move to, by the code that they move from; and which are open.

    An open end of the grid has no number that is published. A reader takes it to reach as far as the outermost number that is.
    """
    below = {code: _outer_atom(line, measure, code, -1) for code in np.unique(found.first[low]).tolist()}
    above = {code: _outer_atom(line, measure, code, 1) for code in np.unique(found.last[high]).tolist()}
    open_below = [code for code, atom in below.items() if atom.beyond and atom.low != measure.bottom]
    open_above = [code for code, atom in above.items() if atom.beyond and atom.low != measure.top]
    staying = np.append(found.first[~low & ~found.absent], found.last[~high & ~found.absent])
    stay = [line.atoms[code] for code in np.unique(staying).tolist()]
    ends = [end for atom in stay for end in (atom.low, atom.high)]
    ends += [atom.low for code, atom in below.items() if code not in open_below]
    ends += [atom.high for code, atom in above.items() if code not in open_above]
    below |= {code: open_atom(measure, min(ends, default=below[code].low), -1) for code in open_below}
    above |= {code: open_atom(measure, max(ends, default=above[code].low), 1) for code in open_above}
    is_open = low & np.isin(found.first, open_below), high & np.isin(found.last, open_above)
    return below, above, OpenEnds(*is_open, bool(ends))


def _outer_atom(line: Line, measure: Ruler, code: int, side: Side) -> Atom:
    """Return the atom that an end of a range moves to: the next one of the grid, or all values beyond a limit of the policy.

    Raises
    ------
    InfeasibleError
        The calendar ends there.
    """
    atom, step = line.atoms[code], measure.step or 0
    unit, limit = (atom.high, measure.top) if side > 0 else (atom.low, measure.bottom)
    if limit is not None and side * (unit + side * step - limit) >= 0:
        return open_atom(measure, limit, side)
    snapped = line.settings["snap"]
    assert snapped is not None or line.edge_grid is not None
    cell = measure.cell_beyond(unit, side, snapped if line.edge_grid is None else line.edge_grid.snap)
    if cell is None:
        end, which = ("after the last", "top") if side > 0 else ("before the first", "bottom")
        raise InfeasibleError(
            f"edges={line.edges} cannot be satisfied for {line.name!r}: no date comes {end} one of the calendar, which a range "
            f"ends at. Give the column a {which}."
        )
    if line.edge_grid is None:
        return cell_atom(measure, cell)
    bottom, top = line.edge_grid.limits(measure)
    if side > 0 and top is not None and cell.low >= top:
        return open_atom(measure, top, side)
    if side < 0 and bottom is not None and cell.high <= bottom:
        return open_atom(measure, bottom, side)
    low = cell.low if top is None else min(cell.low, top)  # an open cell is one: nothing ends inside it
    high = cell.high if bottom is None else max(cell.high, bottom)
    return cell_atom(measure, Cell(low, high))
