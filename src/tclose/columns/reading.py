"""Reading: how the columns of a table were read under a policy, and which of them are in doubt."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

from tclose.columns.domains import kind_to_read
from tclose.errors import PolicyError, ReadingWarning
from tclose.policy import Policy
from tclose.tables.reader import Reader
from tclose.tables.readers import CsvReader
from tclose.tables.readings import Reading
from tclose.tables.table import Table
from tclose.tables.types import PRINTED

CODES, LOOKED_UP = "codes without an order", "text, as in its {}"
"""What numbers of type category are taken for, and a column whose cells are looked up as they are written."""

NUMBERS, TABLES = ("integer", "decimal", "float"), ("hierarchy", "matrix", "order")
"""Kinds of numbers, and settings in which cells are looked up."""


def check_input(reader: Reader, policy: Policy) -> None:
    """Raise PolicyError if the policy says how a CSV is written and the table is not a CSV.

    An audit does not ask: the table may be a release in another format than the input.
    """
    for setting in ("delimiter", "encoding"):
        if not isinstance(reader, CsvReader) and getattr(policy.input, setting, None) is not None:
            raise PolicyError(f"{setting} of input says how a CSV is written. {reader.title} is none. Leave it out.")


def readings_of(source: Table, policy: Policy, quasi: Sequence[str]) -> dict[str, Reading]:
    """Return how each quasi-identifier and sensitive attribute was read, by the name of its column.

    A column is in doubt only where the policy leaves its type to the cells.
    """
    decided = [column.name for column in policy.quasi if column.type == "category" or column.hierarchy is not None]
    decided += [column.name for column in policy.sensitive if column.distance != "auto" or column.bins is not None]
    found = source.readings([*quasi, *(column.name for column in policy.sensitive)], decided)
    codes = {column.name: CODES for column in policy.quasi if column.type == "category" and found[column.name].kind in NUMBERS}
    looked_up = {
        column.name: LOOKED_UP.format(next(setting for setting in TABLES if getattr(column, setting) is not None))
        for column in policy.sensitive
        if kind_to_read(column) == PRINTED
    }
    how = codes | looked_up
    return {name: own.settled(how[name]) if name in how else own for name, own in found.items()}


def warn_of(readings: Mapping[str, Reading], stacklevel: int) -> None:
    """Warn of each column that was read as text although nearly all of its cells are numbers or dates."""
    for reading in readings.values():
        if reading.doubtful:
            warnings.warn(f"Column {reading.sentence}.", ReadingWarning, stacklevel=stacklevel + 1)
