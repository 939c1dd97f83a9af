"""Opening: a table meets a policy, and is open to be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tclose.columns.domains import check_orders
from tclose.columns.persons import unit_to_release
from tclose.columns.reading import check_input, readings_of, warn_of
from tclose.columns.roles import Roles, roles_of
from tclose.make.algorithm import Algorithm
from tclose.policy import Policy
from tclose.release.room import check_room
from tclose.tables.reader import Reader
from tclose.tables.readers import open_reader
from tclose.tables.readings import Reading
from tclose.tables.table import Table, open_table


@dataclass(frozen=True, eq=False)
class Opened:
    """A table that is open to be read under a policy.

    Attributes
    ----------
    reader, source
        The table, and the columns of it that are read.
    roles : Roles
    unit : str or None
        The column that names persons, if they are counted.
    readings : dict of Reading
        How the columns were read.
    """

    reader: Reader
    source: Table
    roles: Roles
    unit: str | None
    readings: dict[str, Reading]


def check_columns(table: Any, policy: Policy) -> tuple[Reader, Roles]:
    """Return the reader of a table, and the role of each column; raise if its columns do not fit the policy."""
    reader = open_reader(table, policy.input)
    check_input(reader, policy)
    return reader, roles_of(policy, reader)


def open_input(table: Any, policy: Policy, algorithm: Algorithm) -> Opened:
    """Return the table open to be read, with the role of each column, checked before all rows are read."""
    reader, roles = check_columns(table, policy)
    algorithm.compile_ahead()  # in other processes, while the table is read
    source = open_table(reader, roles.kinds, optional=policy.identifiers, given=policy.input)
    check_room(reader.rows, len(roles.kinds), len(policy.sensitive))
    check_orders(source, policy)
    readings = readings_of(source, policy, [column.name for column in policy.quasi])
    warn_of(readings, stacklevel=4)
    return Opened(reader, source, roles, unit_to_release(source, policy), readings)
