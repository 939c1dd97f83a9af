"""Recoding: from a partition to the published values, in rows that are sorted by these values alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tclose.make.encode import EncodedTable
from tclose.make.scales import Column, Published
from tclose.tables.coded import count_unique, sorted_order
from tclose.values.arrays import Ints, grouped, renumber

_TYPES = {"text": pa.string(), "float": pa.float64(), "boolean": pa.bool_()}


@dataclass(frozen=True, eq=False)
class Recoded:
    """The published columns of a table, and its published classes.

    Attributes
    ----------
    columns : dict of pyarrow dictionary arrays
        By published name, in the order of publication; a dictionary holds only values that occur.
    rows : (published rows,) int64
        The row of the encoded table that each published row was made from.
    published : list of Published
        The quasi-identifiers, each with its value for every class.
    sizes : (classes,) int64
        The rows of each class.
    classes : (classes,) int64
        The published class of each class: classes that a reader cannot tell apart have the same number.
    unique : int
        The number of published rows that no other row equals in all columns.
    """

    columns: dict[str, pa.Array]
    rows: Ints
    published: list[Published]
    sizes: Ints
    classes: Ints
    unique: int

    def seen(self) -> Ints:
        """Return the number of rows of each published class, as a reader sees it."""
        sums = np.zeros(int(self.classes.max()) + 1, dtype=np.int64)
        np.add.at(sums, self.classes, self.sizes)
        return sums


def recode(table: EncodedTable, labels: Ints, names: Sequence[str], *, keep_order: bool = False) -> Recoded:
    """Return the published columns and classes of a partition, its quasi-identifiers published on the table's scales.

    Parameters
    ----------
    labels : (rows,) int64
        The class of each row, numbered from 0 without gaps; -1 where the row is suppressed.
    names
        The columns of the input, in its order: that of publication.
    keep_order
        Keep the order of the input's rows instead of sorting them by their published values.
    """
    members, starts = grouped(labels)
    scales = table.scales_of(members, starts)
    published = [scale.publish(codes[members], starts) for scale, codes in zip(scales, table.quasi, strict=True)]
    classes = _published_classes([column for quasi in published for column in quasi.columns.values()])

    of_classes = {name: column for quasi in published for name, column in quasi.columns.items()}
    types = {name: kind for quasi, kind in zip(published, table.types, strict=True) for name in quasi.columns}
    of_rows = {attribute.column.name: (attribute.published, attribute.codes) for attribute in table.sensitive}
    of_rows |= {name: (kept.values, kept.codes) for name, kept in table.kept.items()}

    keys = [(classes[labels[members]], int(classes.max()) + 1)]
    keys += [(codes[members], len(values)) for values, codes in of_rows.values()]
    by_value = sorted_order(keys)
    unique = count_unique([codes[by_value] for codes, _ in keys])
    rows = members[np.argsort(table.order[members]) if keep_order else by_value]

    columns = {}
    for name in _published_names(names, table, published):
        if name in of_classes:
            column = of_classes[name]
            values = pa.array(_values_to_publish(column), type_of_column(types[name], column))
            codes = column.indices[labels[rows]]
        else:
            values, codes = of_rows[name][0], of_rows[name][1][rows]
        columns[name] = _dictionary_of_occurring(values, codes)
    return Recoded(columns, rows, published, np.diff(starts), classes, unique)


def _published_classes(columns: Sequence[Column]) -> Ints:
    """Return the number of the published class of each class; classes with the same published values share one."""
    keys = np.zeros(len(columns[0].indices), dtype=np.int64)
    for column in columns:
        keys = renumber(keys * len(column.values) + column.indices)[0]
    return keys


def _published_names(names: Sequence[str], table: EncodedTable, published: Sequence[Published]) -> list[str]:
    """Return the names of the published columns, in the order of the input's columns."""
    parts = {scale.name: list(quasi.columns) for scale, quasi in zip(table.scales, published, strict=True)}
    parts |= {name: [name] for name in (*(attribute.column.name for attribute in table.sensitive), *table.kept)}
    return [part for name in names for part in parts.get(name, [])]


def _values_to_publish(column: Column) -> list[Any]:
    """Return the values of a published quasi-identifier's column; as floats if its type is "float"."""
    return [None if value is None else float(value) for value in column.values] if column.type == "float" else column.values


def type_of_column(kind: Any, *columns: Column) -> Any:
    """Return the Arrow type for a published column of a quasi-identifier with values of type ``kind``; of several forms of it."""
    values = [value for column in columns for value in column.values]
    return _type_for_bounds(kind, values) if columns[0].type == "value" else _TYPES[columns[0].type]


def _type_for_bounds(kind: Any, values: Sequence[Any]) -> Any:
    """Return the Arrow type for published bounds: a grid may exceed an integer type, or decimals below 1."""
    if pa.types.is_integer(kind):
        given = [value for value in values if value is not None]
        least, most = min(given, default=0), max(given, default=0)
        if pa.types.is_uint64(kind) and least >= 0 and most < 2**64:
            return kind
        return pa.int64() if least >= -(2**63) and most < 2**63 else pa.decimal128(38, 0)
    if pa.types.is_decimal(kind) and kind.precision == kind.scale:
        return (pa.decimal128 if kind.precision < 38 else pa.decimal256)(kind.precision + 1, kind.scale)
    return kind


def _dictionary_of_occurring(values: pa.Array, codes: NDArray[Any]) -> pa.Array:
    """Return a published column as a dictionary array of the values that occur, without those of suppressed rows."""
    occurs = np.bincount(codes, minlength=len(values)) > 0
    missing = values.is_null().to_numpy(zero_copy_only=False)
    kept = np.flatnonzero(occurs & ~missing)
    index_of = np.full(len(values), -1, dtype=np.int64)
    index_of[kept] = np.arange(len(kept))
    indices = index_of.astype(np.int32)[codes]
    return pa.DictionaryArray.from_arrays(pa.array(indices, mask=indices < 0), values.take(pa.array(kept)))
