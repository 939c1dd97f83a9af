"""Recoding: from a partition to the values that are published, in rows sorted by nothing but these values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tclose.make.encode import EncodedTable
from tclose.make.scales import Column, Published
from tclose.tables.coded import dense, sorted_order

Ints = NDArray[np.int64]

_TYPES = {"text": pa.string(), "float": pa.float64(), "boolean": pa.bool_()}


@dataclass(frozen=True, eq=False)
class Recoded:
    """What is published of a table.

    Attributes
    ----------
    columns : dict of pyarrow dictionary arrays
        By published name, in the order of publication; no dictionary holds a value that no row has.
    rows : (published rows,) int64
        The row of the encoded table that each published row was made from.
    published : list of Published
        Each quasi-identifier of each class.
    sizes : (classes,) int64
        The rows of each class.
    classes : (classes,) int64
        Which classes a reader cannot tell apart: they have the same number.
    unique : int
        Published rows that no other equals in all columns.
    """

    columns: dict[str, pa.Array]
    rows: Ints
    published: list[Published]
    sizes: Ints
    classes: Ints
    unique: int

    def seen(self) -> Ints:
        """The sizes of the classes that a reader sees."""
        sums = np.zeros(int(self.classes.max()) + 1, dtype=np.int64)
        np.add.at(sums, self.classes, self.sizes)
        return sums


def recode(table: EncodedTable, labels: Ints, names: Sequence[str], *, keep_order: bool = False) -> Recoded:
    """Publish the classes of a table.

    Parameters
    ----------
    labels : (rows,) int64
        The class of each row, numbered from 0 without gaps; -1 where the row is left out.
    names
        The columns of the input, in its order: that of publication.
    keep_order
        Keep the order of the input's rows instead of sorting them by what is published.
    """
    members, starts = grouped(labels)
    published = [scale.publish(codes[members], starts) for scale, codes in zip(table.scales, table.quasi, strict=True)]
    classes = _told_apart([column for quasi in published for column in quasi.columns.values()])

    of_classes = {name: column for quasi in published for name, column in quasi.columns.items()}
    types = {name: kind for quasi, kind in zip(published, table.types, strict=True) for name in quasi.columns}
    of_rows = {attribute.column.name: (attribute.published, attribute.codes) for attribute in table.sensitive}
    of_rows |= {name: (kept.values, kept.codes) for name, kept in table.kept.items()}

    keys = [(classes[labels[members]], int(classes.max()) + 1)]
    keys += [(codes[members], len(values)) for values, codes in of_rows.values()]
    by_value = sorted_order(keys)
    unique = _unique([codes[by_value] for codes, _ in keys])
    rows = members[np.argsort(table.order[members]) if keep_order else by_value]

    columns = {}
    for name in _in_order(names, table, published):
        if name in of_classes:
            column = of_classes[name]
            kind = _roomy(types[name]) if column.type == "value" else _TYPES[column.type]
            values, codes = pa.array(_as_floats(column), kind), column.places[labels[rows]]
        else:
            values, codes = of_rows[name][0], of_rows[name][1][rows]
        columns[name] = _occurring(values, codes)
    return Recoded(columns, rows, published, np.diff(starts), classes, unique)


def grouped(labels: Ints) -> tuple[Ints, Ints]:
    """The rows that are not left out, class after class, and where each class starts among them; last, where all end."""
    members = np.argsort(labels, kind="stable")[np.count_nonzero(labels < 0) :]
    starts = np.flatnonzero(np.diff(labels[members], prepend=-1))
    return members, np.append(starts, len(members)).astype(np.int64)


def _told_apart(columns: Sequence[Column]) -> Ints:
    """Classes numbered by what is published of them: equal numbers where it is the same."""
    keys = np.zeros(len(columns[0].places), dtype=np.int64)
    for column in columns:
        keys = dense(keys * len(column.values) + column.places)[0]
    return keys


def _unique(columns: Sequence[NDArray[Any]]) -> int:
    """How many rows of sorted columns equal neither neighbour."""
    differs = np.logical_or.reduce([codes[1:] != codes[:-1] for codes in columns])
    ends = np.concatenate([[True], differs, [True]])
    return int(np.count_nonzero(ends[1:] & ends[:-1]))


def _in_order(names: Sequence[str], table: EncodedTable, published: Sequence[Published]) -> list[str]:
    """The published columns in the order of the input's."""
    parts = {scale.name: list(quasi.columns) for scale, quasi in zip(table.scales, published, strict=True)}
    parts |= {name: [name] for name in (*(attribute.column.name for attribute in table.sensitive), *table.kept)}
    return [part for name in names for part in parts.get(name, [])]


def _as_floats(column: Column) -> list[Any]:
    """The values of a column, decimals among them as floats where that is how it is published."""
    return [None if value is None else float(value) for value in column.values] if column.type == "float" else column.values


def _roomy(kind: Any) -> Any:
    """The type for the bounds of a column: a grid may reach beyond what a narrow integer holds, or from decimals below 1 to 1."""
    if pa.types.is_decimal(kind) and kind.precision == kind.scale:
        return (pa.decimal128 if kind.precision < 38 else pa.decimal256)(kind.precision + 1, kind.scale)
    return pa.int64() if pa.types.is_integer(kind) and not pa.types.is_uint64(kind) else kind


def _occurring(values: pa.Array, codes: NDArray[Any]) -> pa.Array:
    """A column as a dictionary that holds nothing but what occurs: a value of a row that was left out must not travel along."""
    occurs = np.bincount(codes, minlength=len(values)) > 0
    missing = values.is_null().to_numpy(zero_copy_only=False)
    kept = np.flatnonzero(occurs & ~missing)
    places = np.full(len(values), -1, dtype=np.int64)
    places[kept] = np.arange(len(kept))
    indices = places.astype(np.int32)[codes]
    return pa.DictionaryArray.from_arrays(pa.array(indices, mask=indices < 0), values.take(pa.array(kept)))
