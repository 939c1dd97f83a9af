"""Encoding: rows as small integer codes, sorted so that the order of the input never matters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tclose.columns.domains import domain_of, edges_from_table
from tclose.columns.persons import rows_like_the_row_before
from tclose.distances import Distance
from tclose.distances.choose import as_number
from tclose.errors import InfeasibleError, InputError, PolicyError
from tclose.make.one_class import check_k
from tclose.make.scales import Line, Nominal, Scale
from tclose.make.scales.grids import Grid, choose_grid
from tclose.make.scales.widened import widen
from tclose.make.trees import check_finite, tree_of_quasi
from tclose.policy import Policy, Quasi, Sensitive
from tclose.policy.fields import AUTO
from tclose.tables.coded import count_unique, narrow, sorted_order
from tclose.tables.table import Table
from tclose.values.arrays import Ints, renumber
from tclose.values.association import nearly_tells
from tclose.values.bins import labels_of
from tclose.values.hierarchy import printed

Codes = NDArray[Any]

ON_A_LINE = ("integer", "decimal", "float", "date", "timestamp", "time")
"""Kinds of columns whose values have an order and differences."""


MOST_COMPARED = 50_000
"""Rows in which kept columns are compared with quasi-identifiers, at most."""


@dataclass(frozen=True, eq=False)
class Attribute:
    """A sensitive attribute of an encoded table.

    Attributes
    ----------
    column : Sensitive
        What the policy asks of it.
    distance : Distance
        Between its codes.
    values : list
        The domain, in the order of the codes.
    published : pyarrow array
        The domain as it is published, in the same order.
    codes : (rows,) unsigned integers
        The code of each row.
    counts : (m,) int64
        Q: how often each code occurs in the input table, suppressed rows included.
    raw : Kept, optional
        The numbers below bins whose edges the table decides, where rows may be suppressed: see `as_published`.
    """

    column: Sensitive
    distance: Distance
    values: list[Any]
    published: pa.Array
    codes: Codes
    counts: Ints
    raw: Kept | None = None

    def take(self, rows: NDArray[Any]) -> Attribute:
        """Return the sensitive attribute for some of the rows; the reference distribution Q stays that of the input."""
        return replace(self, codes=self.codes[rows], raw=None if self.raw is None else self.raw.take(rows))


@dataclass(frozen=True, eq=False)
class Kept:
    """A column that is published as it is: its values, and for each row the index of its value."""

    values: pa.Array
    codes: Codes

    def take(self, rows: NDArray[Any]) -> Kept:
        """Return the kept column with the values of some of the rows only."""
        return Kept(self.values, self.codes[rows])


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """Rows of a table, sorted by their codes.

    Attributes
    ----------
    order : (rows,) int64
        The row of the input that each row comes from.
    scales, quasi : lists
        The scale of each quasi-identifier, and the codes of the rows on it.
    types : list of pyarrow types
        The types of the values of the quasi-identifiers.
    sensitive : list of Attribute
    persons : (rows,) unsigned integers or None
        The person of each row, numbered from 0, where the policy names a unit.
    kept : dict of Kept
    raw : list of Kept
        The values of the quasi-identifiers, where rows may be suppressed: see `as_published`.
    unique : int or None
        How many rows of the input differ from all others in the columns that are read, the unit aside, as the input has them.
    told : mapping
        From each kept column that nearly tells quasi-identifiers, as the input has them, to their names.
    like_before : float
        Where no unit is named, the share of the input's rows that agree with the row before in all columns but one at most, as
        rows of one person do; 0 if that may be chance.
    """

    order: Ints
    scales: list[Scale]
    quasi: list[Codes]
    types: list[Any]
    sensitive: list[Attribute]
    persons: Codes | None
    kept: dict[str, Kept]
    raw: list[Kept] = field(default_factory=list)
    unique: int | None = None
    told: Mapping[str, list[str]] = field(default_factory=dict)
    like_before: float = 0.0

    @property
    def rows(self) -> int:
        """The number of rows of the encoded table."""
        return len(self.order)

    def take(self, rows: NDArray[Any]) -> EncodedTable:
        """Return the table with some of the rows; reference distributions Q stay those of the input."""
        return EncodedTable(
            self.order[rows],
            self.scales,
            [codes[rows] for codes in self.quasi],
            self.types,
            [attribute.take(rows) for attribute in self.sensitive],
            None if self.persons is None else self.persons[rows],
            {name: kept.take(rows) for name, kept in self.kept.items()},
            [raw.take(rows) for raw in self.raw],
        )

    def only(self, sensitive: Collection[str]) -> EncodedTable:
        """Return the table with some of its sensitive attributes; an empty collection stands for all of them."""
        chosen = [attribute for attribute in self.sensitive if not sensitive or attribute.column.name in sensitive]
        return replace(self, sensitive=chosen)

    def scales_of(self, rows: NDArray[Any], starts: Ints) -> list[Scale]:
        """Return the scales on which some classes are published: ends that too few persons attain are moved, see `widen`.

        Parameters
        ----------
        rows, starts
            Class i has the rows ``rows[starts[i]:starts[i+1]]``.
        """
        persons = None if self.persons is None else self.persons[rows]
        pairs = zip(self.scales, self.quasi, strict=True)
        return [widen(scale, codes[rows], starts, persons) for scale, codes in pairs]

    def at_levels(self, levels: Sequence[int | None]) -> EncodedTable:
        """Return the table with scales that publish at a partition's levels of the hierarchies, if it has any."""
        pairs = zip(self.scales, levels or [None] * len(self.scales), strict=True)
        return replace(self, scales=[scale if level is None else scale.at_level(level) for scale, level in pairs])


def encode(source: Table, policy: Policy, unit: str | None, kept: Sequence[str], commit: Callable[[bytes], None]) -> EncodedTable:
    """Return the rows of a table as integer codes: of quasi-identifiers on their scales, of sensitive values in their domains.

    Parameters
    ----------
    unit
        The column that names persons, if they are counted.
    kept
        The columns that are published as they are.
    commit
        Called with all that was read, column by column: the name, the values ascending, and for each row the index of its value.
    """
    quasi, sensitive = [column.name for column in policy.quasi], [column.name for column in policy.sensitive]
    names = [*quasi, *sensitive, *kept, *([] if unit is None else [unit])]
    found = dict(zip(names, source.rows(names), strict=True))
    for name, (cells, ranks) in found.items():
        _feed_commitment(commit, name, source.values(name, cells), ranks)
    unique, told = _unique_rows_and_told({name: column for name, column in found.items() if name != unit}, quasi, kept)
    like_before = 0.0 if policy.unit is not None else _like_before(list(found.values()))

    scales, on_scales, types, raw = [], [], [], []
    persons = None if unit is None else found.pop(unit)[1]
    if any(column.snap == AUTO for column in policy.quasi):  # else the error would be about the grid, not k
        check_k(*((len(found[quasi[0]][1]), "row") if persons is None else (len(np.unique(persons)), "person")), policy)
    for column in policy.quasi:
        cells, ranks = found.pop(column.name)
        raw += [Kept(cells, ranks)] if policy.suppression else []
        show = source.show(column.name, suppression=bool(policy.suppression))
        grid = partial(choose_grid, ranks=ranks, persons=persons, k=policy.k or 1)
        scale, codes = scale_of_quasi(source, column, cells, show, grid)
        scales.append(scale)
        on_scales.append(codes.astype(narrow(scale.size))[ranks])
        types.append(source.values(column.name, cells).type)
    attributes = [
        _encode_sensitive(source, column, *found.pop(column.name), suppression=policy.suppression > 0)
        for column in policy.sensitive
    ]
    others = {name: Kept(source.values(name, cells), codes) for name, (cells, codes) in found.items()}

    keys = [(codes, scale.size) for codes, scale in zip(on_scales, scales, strict=True)]
    keys += [(attribute.codes, len(attribute.values)) for attribute in attributes]
    keys += [(column.codes, len(column.values)) for column in others.values()]
    keys += [] if persons is None else [(persons, int(persons.max()) + 1)]
    order = sorted_order(keys)
    table = EncodedTable(np.arange(len(order)), scales, on_scales, types, attributes, persons, others, raw)
    return replace(table.take(order), unique=unique, told=told, like_before=like_before)


def _unique_rows_and_told(
    columns: Mapping[str, tuple[pa.Array, Codes]], quasi: Sequence[str], kept: Sequence[str]
) -> tuple[int, dict[str, list[str]]]:
    """Return how many rows differ from all others in some columns, and what kept columns nearly tell."""
    order = sorted_order([(ranks, len(cells)) for cells, ranks in columns.values()])
    return count_unique([ranks[order] for _, ranks in columns.values()]), _told_by_kept(columns, quasi, kept, order)


def _like_before(columns: Sequence[tuple[pa.Array, Codes]]) -> float:
    """Return the share of the rows that agree with the row before in all columns but one at most; 0 if that may be chance."""
    return rows_like_the_row_before([ranks for cells, ranks in columns if 1 < len(cells) < len(ranks)])


def _told_by_kept(
    columns: Mapping[str, tuple[pa.Array, Codes]], quasi: Sequence[str], kept: Sequence[str], order: Ints
) -> dict[str, list[str]]:
    """Return for each kept column that nearly tells quasi-identifiers their names, by rows in which both have a value.

    Of a large table, rows are chosen at random among the sorted ones, so that the order of the input does not matter.
    """
    if not kept:
        return {}
    rows = order if len(order) <= MOST_COMPARED else np.random.default_rng(0).choice(order, MOST_COMPARED, replace=False)
    ranks = {name: _ranks_of_values(columns[name][0])[columns[name][1][rows]] for name in (*quasi, *kept)}

    def tells(name: str, other: str) -> bool:
        """Return whether a kept column nearly tells a quasi-identifier."""
        both = (ranks[name] >= 0) & (ranks[other] >= 0)
        return nearly_tells(*(renumber(ranks[column][both])[0] for column in (name, other)))

    told = {name: [other for other in quasi if tells(name, other)] for name in kept}
    return {name: others for name, others in told.items() if others}


def _ranks_of_values(cells: pa.Array) -> Ints:
    """Return the rank of each value of a column: of texts that are all numbers in the order of these; -1 of a missing one."""
    ranks = np.arange(len(cells))
    present = cells.drop_null()
    if pa.types.is_string(cells.type):
        with suppress(pa.ArrowInvalid):  # other texts stay in their own order
            ranks[: len(present)] = np.unique(present.cast(pa.float64()).to_numpy(), return_inverse=True)[1]
    ranks[len(present) :] = -1
    return ranks


def as_published(source: Table, policy: Policy, table: EncodedTable, rows: NDArray[Any]) -> EncodedTable:
    """Return the published rows, encoded again on scales and in types of their own, so that suppressed rows cannot show.

    A suppressed value with five decimals would make all others print with five. Where the table decides the edges of bins, they
    are set again, between the numbers that are published; a bin without rows is dropped. The grid of ``snap: auto`` is chosen
    again, so that k persons who are published have a value in each of its cells.
    """
    part = table.take(rows)
    scales, quasi, types = [], [], []
    for column, raw in zip(policy.quasi, part.raw, strict=True):
        occur, ranks = np.unique(raw.codes, return_inverse=True)
        ends = [end for end in (column.top, column.bottom) if isinstance(end, Fraction)]
        cells = _in_simplest_type(raw.values.take(pa.array(occur)), whole=all(end.denominator == 1 for end in ends))
        grid = partial(choose_grid, ranks=ranks, persons=part.persons, k=policy.k or 1)
        try:
            scale, codes = scale_of_quasi(source, column, cells, source.show(column.name, suppression=True), grid)
        except InfeasibleError as error:
            raise InfeasibleError(f"Without the rows that are suppressed, {error}") from None
        code_of = np.zeros(len(raw.values), dtype=narrow(scale.size))
        code_of[occur] = codes
        scales.append(scale)
        quasi.append(code_of[raw.codes])
        types.append(source.values(column.name, cells).type)
    sensitive = [
        replace(
            attribute,
            published=_in_simplest_type(attribute.published, attribute.codes)
            if attribute.raw is None
            else _labels_from_rows(attribute),
        )
        for attribute in part.sensitive
    ]
    kept = {name: Kept(_in_simplest_type(column.values, column.codes), column.codes) for name, column in part.kept.items()}
    return replace(part, scales=scales, quasi=quasi, types=types, sensitive=sensitive, kept=kept)


def chosen_grids(scales: Sequence[Scale]) -> dict[str, dict[str, Any]]:
    """Return the snap, top and bottom that ``snap: auto`` chose, by the name of the quasi-identifier."""
    lines = [scale for scale in scales if isinstance(scale, Line)]
    return {scale.name: scale.settings for scale in lines if scale.grid is not None}


def on_grids(source: Table, policy: Policy, table: EncodedTable, grids: Mapping[str, Mapping[str, Any]]) -> EncodedTable:
    """Return an encoded table, its quasi-identifiers on the grids that were chosen from other rows: those that are published."""
    scales, quasi = list(table.scales), list(table.quasi)
    for index, (column, scale) in enumerate(zip(policy.quasi, table.scales, strict=True)):
        if isinstance(scale, Line) and grids.get(column.name, scale.settings) != scale.settings:
            asked = replace(column, **grids[column.name])
            ((cells, ranks),) = source.rows([column.name])
            scales[index], codes = scale_of_quasi(source, asked, cells, source.show(column.name, suppression=True))
            quasi[index] = codes.astype(narrow(scales[index].size))[ranks[table.order]]
    return replace(table, scales=scales, quasi=quasi)


def _labels_from_rows(attribute: Attribute) -> pa.Array:
    """Return the label of each bin, from the numbers that its published rows have; None for a bin without rows."""
    assert attribute.raw is not None
    lowest, highest = np.full(len(attribute.values), len(attribute.raw.values)), np.full(len(attribute.values), -1)
    np.minimum.at(lowest, attribute.codes, attribute.raw.codes)
    np.maximum.at(highest, attribute.codes, attribute.raw.codes)
    bins = [code for code in np.argsort(lowest).tolist() if highest[code] >= 0 and attribute.values[code] is not None]
    ends = [(attribute.raw.values[int(lowest[code])], attribute.raw.values[int(highest[code])]) for code in bins]
    labels = dict(zip(bins, labels_of([(as_number(low.as_py()), as_number(high.as_py())) for low, high in ends]), strict=True))
    return pa.array([labels.get(code) for code in range(len(attribute.values))], pa.string())


def _in_simplest_type(values: pa.Array, codes: Codes | None = None, *, whole: bool = True) -> pa.Array:
    """Return decimals in the simplest type for those that occur: whole numbers if ``whole``, or fewer digits."""
    if not pa.types.is_decimal(values.type):
        return values
    occur = np.arange(len(values)) if codes is None else np.unique(codes)
    chosen = values.take(pa.array(occur))
    decimals = (pa.decimal128(digits, scale) for scale in range(values.type.scale) for digits in (18, 38))
    for kind in (*([pa.int64()] if whole else []), *decimals):
        try:
            fitting = chosen.cast(kind)
        except pa.ArrowInvalid:
            continue
        indices = np.full(len(values), -1)
        indices[occur] = np.arange(len(occur))
        return fitting.take(pa.array(indices, mask=indices < 0))
    return values


def _feed_commitment(commit: Callable[[bytes], None], name: str, cells: pa.Array, ranks: Codes) -> None:
    """Pass one column to ``commit``, as bytes that do not depend on the engine or its version."""
    texts = cells.cast(pa.large_string())
    _, offsets, letters = pa.concat_arrays([pa.array([""], pa.large_string()), texts.fill_null("")]).buffers()
    commit(name.encode())
    commit(bytes([texts.null_count]))
    commit(memoryview(offsets)[: 8 * (len(texts) + 2)].tobytes())
    commit(b"" if letters is None else letters.to_pybytes())
    commit(ranks.astype(ranks.dtype.newbyteorder("<")).tobytes())


def _encode_sensitive(source: Table, column: Sensitive, cells: pa.Array, ranks: Codes, *, suppression: bool) -> Attribute:
    """Return a sensitive attribute in codes, from the values of its column and the index of each row's value."""
    counts = np.bincount(ranks, minlength=len(cells)).astype(np.int64)
    attribute, codes = attribute_of(source, column, cells, counts)
    raw = Kept(source.values(column.name, cells), ranks) if suppression and edges_from_table(column) else None
    return replace(attribute, codes=codes.astype(narrow(len(attribute.values)))[ranks], raw=raw)


def attribute_of(source: Table, column: Sensitive, cells: pa.Array, counts: Ints) -> tuple[Attribute, Ints]:
    """Return a sensitive attribute without rows, and the code of each value of its column, of which ``counts`` are known."""
    binned = column.bins is not None and column.publish is None
    domain = domain_of(source, column, cells, counts, binned=binned)
    if binned:
        published = pa.array(domain.values, pa.string())
    else:
        published = source.values(column.name, cells).take(pa.array(np.argsort(domain.codes)))
    empty = np.empty(0, dtype=narrow(len(domain.values)))
    return Attribute(column, domain.distance, domain.values, published, empty, domain.table(counts)), domain.codes


def scale_of_quasi(
    source: Table,
    column: Quasi,
    cells: pa.Array,
    show: Callable[[Any], str] = printed,
    grid: Callable[[str, list[Any]], Grid | None] | None = None,
) -> tuple[Scale, Ints]:
    """Return the scale of a quasi-identifier, and the code of each value of its column.

    ``show`` prints a value, and ``grid`` chooses the grid of ``snap: auto`` from the name of the column and its values.
    """
    kind = source.kinds[column.name]
    try:
        values = source.values(column.name, cells).to_pylist()
    except (OverflowError, ValueError):
        raise InputError(f"Column {column.name!r} must have dates in the years 1 to 9999, not finer than microseconds.") from None
    missing = bool(values) and values[-1] is None
    present = values[:-1] if missing else values
    if kind == "timestamp" and (column.recode == "set" or column.type == "category" or column.hierarchy is not None):
        present = [show(value) for value in present]  # labels are looked up as they are written
    if column.recode == "set" or (column.type == "category" and column.hierarchy is None):
        return Nominal.of(column.name, present, missing=missing)
    if column.hierarchy is not None:
        return tree_of_quasi(source, column, cells, present, missing=missing)
    if kind in ON_A_LINE:
        check_finite(column, present)
        chosen = grid(column.name, present) if grid is not None and column.snap == AUTO else None
        snap = None if column.snap == AUTO and not present else column.snap
        settings = {"recode": column.recode, "snap": snap, "top": column.top, "bottom": column.bottom}
        return Line.of(column.name, present, missing=missing, grid=chosen, show=show, **settings)
    asked = next((key for key in ("snap", "top", "bottom") if getattr(column, key) is not None), None)
    asked = f"recode: {column.recode}" if column.recode in ("bounds", "centroid") else asked
    if asked is not None:
        raise PolicyError(f"{asked} of {column.name!r} needs numbers or dates. The column holds {kind}.")
    return Nominal.of(column.name, present, missing=missing)
