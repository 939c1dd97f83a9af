"""Register: people with their quasi-identifiers, in the release or not, on the same scales as a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from tclose.errors import ColumnError, nearest
from tclose.make.encode import EncodedTable, scale_of_quasi
from tclose.policy import Policy
from tclose.study.scene import CONTROL, Scene
from tclose.study.staging import Staged, as_published
from tclose.tables.reader import Reader
from tclose.tables.readers import open_reader
from tclose.tables.table import open_table


def open_register(register: Any, policy: Policy) -> Reader:
    """Return a register open to be read; raise InputError if it cannot be, ColumnError if it lacks a quasi-identifier.

    Parameters
    ----------
    register : path, pandas, polars or pyarrow table
        With the quasi-identifiers as columns, read as the table is; each row is a person.
    """
    reader = open_reader(register, policy.input)
    for column in policy.quasi:
        if column.name not in reader.names:
            hint = nearest(column.name, reader.names)
            raise ColumnError(f"Column {column.name!r}, a quasi-identifier, is not in the register.{hint}")
    return reader


def with_register(staged: Staged, register: Reader) -> Scene:
    """Return the members of a release, and the people of a register as those who are not in it, on common scales.

    Parameters
    ----------
    staged : Staged
        The release, and the table that it was made of.
    register : Reader
        See `open_register`.
    """
    policy, encoded = staged.scene.policy, staged.encoded
    names = [column.name for column in policy.quasi]
    kinds = {column.name: column.read_as for column in policy.quasi}
    people = open_table(register, kinds, given=policy.input)
    everybody = np.arange(len(people.column(names[0])))
    ours, theirs = staged.opened.source.take(names, encoded.order), people.take(names, everybody)
    joined = {name: _joined(name, ours[name], theirs[name]) for name in names}
    both = open_table(open_reader(pa.table(joined)), kinds)
    scales, quasi = [], []
    for column, (cells, ranks) in zip(policy.quasi, both.rows(names), strict=True):
        scale, codes = scale_of_quasi(both, column, cells, both.show(column.name))
        scales.append(scale)
        quasi.append(codes[ranks])
    rows = encoded.rows + len(everybody)
    persons = None
    if encoded.persons is not None:
        persons = np.append(encoded.persons.astype(np.int64), int(encoded.persons.max()) + 1 + everybody)
    table = EncodedTable(np.arange(rows), scales, quasi, [], [], persons, {})
    labels = np.append(staged.scene.labels, np.full(len(everybody), CONTROL))
    return Scene(policy, as_published(both, table, staged.release), labels)


def _joined(name: str, ours: pa.ChunkedArray, theirs: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the cells of a column of the table and of the register, in one type; raise ColumnError if there is none."""
    coded = pa.types.is_dictionary(ours.type)
    first, second = (
        cells.cast(cells.type.value_type) if pa.types.is_dictionary(cells.type) else cells for cells in (ours, theirs)
    )
    parts = [pa.table({name: first}), pa.table({name: second})]
    try:
        cells = pa.concat_tables(parts, promote_options="permissive")[name]
    except pa.ArrowInvalid:  # whole numbers and decimals
        cells = pa.concat_tables([part.cast(pa.schema({name: pa.float64()})) for part in parts])[name]
    except pa.ArrowTypeError:
        raise ColumnError(
            f"Column {name!r} of the register must be of the type that the table's is, {first.type}. Got {second.type}."
        ) from None
    return cells.dictionary_encode() if coded else cells
