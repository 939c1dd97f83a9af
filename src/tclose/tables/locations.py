"""Locations: which file a table is read from, and which table or sheet of it, as in ``study.duckdb::visits``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tclose.errors import InputError, listed, nearest

DATABASES = (".duckdb", ".ddb", ".db", ".sqlite", ".sqlite3")
"""Suffixes of databases; which kind one is, its first bytes tell."""

WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
"""Suffixes of workbooks."""

MARK = "::"
"""What stands between a file and the name of a table or a sheet in it."""

SCHEMES = ("postgresql://", "postgres://")
"""How the address of a database on a server begins."""

_WITH_PART = re.compile(f"(.*?({'|'.join(map(re.escape, (*DATABASES, *WORKBOOKS)))})){MARK}(.*)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class Location:
    """Where a table is.

    Attributes
    ----------
    path : Path
        The file, or the folder.
    part : str or None
        The table or the sheet in it; None where the user named none.
    """

    path: Path
    part: str | None = None

    @classmethod
    def of(cls, data: str | Path) -> Self:
        """Return the location that a user wrote; a file that has this very name is that file.

        >>> Location.of("study.duckdb::visits").part, Location.of("visits.csv").part
        ('visits', None)
        """
        found = _WITH_PART.fullmatch(str(data))
        if found is None or Path(data).is_file():
            return cls(Path(data))
        return cls(Path(found[1]), found[3])


def split_address(address: str) -> tuple[str, str]:
    """Return the address of a database and the name of a table behind it, "" if there is none; a host may be ``[::1]``.

    >>> split_address("postgresql://me@[::1]/clinic::visits"), split_address("postgresql://me@[::1]/clinic")
    (('postgresql://me@[::1]/clinic', 'visits'), ('postgresql://me@[::1]/clinic', ''))
    """
    database, mark, table = address.rpartition(MARK)
    return (database, table) if mark and "]" not in table else (address, "")


def choose_part(location: Location, names: Sequence[str], what: str) -> str:
    """Return the table or sheet to read, of those that a file has; raise InputError if it is not there, or not clear which."""
    name = location.path.name
    if not names:
        raise InputError(f"File {name!r} has no {what}s. There is nothing to read.")
    if location.part is None:
        if len(names) > 1:
            raise InputError(
                f"File {name!r} has {len(names):,} {what}s: {listed(names)}. Name one of them, as {name + MARK + names[0]!r}."
            )
        return names[0]
    if location.part not in names:
        hint = nearest(location.part, names) or f" It has {listed(names)}."
        raise InputError(f"File {name!r} has no {what} {location.part!r}.{hint}")
    return location.part
