"""Roles: what becomes of each column of a table in a release."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from tclose.columns.domains import kind_to_read
from tclose.errors import ColumnError
from tclose.policy import Policy
from tclose.policy.fields import CONTEXT
from tclose.tables.reader import Reader
from tclose.tables.readers import absent, check_right_table
from tclose.tables.types import PRINTED

Role = Literal["quasi", "sensitive", "kept", "hidden"]
"""A quasi-identifier is published generalised, a sensitive attribute as it is judged, a kept column as it is; a hidden one, as an
identifier, is not published."""


@dataclass(frozen=True)
class Roles:
    """The role of each column of a table.

    Attributes
    ----------
    of : mapping
        From the name of each column, in the order of the table, to its role.
    kinds : mapping
        The columns to read, each with the type to read it as.
    """

    of: Mapping[str, Role]
    kinds: Mapping[str, str]

    @property
    def kept(self) -> list[str]:
        """The columns that are published as they are, in the order of the table."""
        return [name for name, role in self.of.items() if role == "kept"]


def roles_of(policy: Policy, reader: Reader) -> Roles:
    """Return the role of each column of a table under a policy, and the types to read the columns as.

    Raises
    ------
    InputError
        A column that the policy names is not in the table: a misspelt identifier would be published under its right name.
    ColumnError
        A column has no role, or has a name that the release needs for another.
    """
    names = reader.names
    given: dict[str, Role] = {column.name: "quasi" for column in policy.quasi}
    given |= {column.name: "sensitive" for column in policy.sensitive}
    given |= {column.name: "kept" for column in policy.keep}
    unit = [] if policy.unit in (None, "row") else [policy.unit]
    given |= dict.fromkeys((*unit, *policy.identifiers, *policy.drop), "hidden")
    unknown = next((name for name in given if name not in names), None)
    if unknown is not None:
        check_right_table(reader, given)
        if policy.context is None and unknown in CONTEXT and any(column.name == unknown for column in policy.keep):
            raise ColumnError(
                f"Column {unknown!r}, which keep names, is not in the table. If it is the topic of context: take '# ' away "
                "before context:, too."
            )
        raise absent(reader, unknown, "unit" if unknown == policy.unit else "")
    others = [name for name in names if name not in given]
    if others and policy.other is None:
        listed = ", ".join(repr(name) for name in others)
        raise ColumnError(
            f"Columns without a role must not slip into a release: {listed}. Name those that are not to be published in "
            "drop: [...], and give the others a role. Or set other: drop, which drops all of them; other: keep publishes them "
            "as they are, exactly."
        )
    _check_published_names(policy, names)
    other: Role = "kept" if policy.other == "keep" else "hidden"
    of: dict[str, Role] = {name: given.get(name, other) for name in names}
    return Roles(of, _kinds_to_read(policy, of))


def _check_published_names(policy: Policy, names: Collection[str]) -> None:
    """Raise ColumnError for a quasi-identifier whose published columns would have the name of another column."""
    for column in policy.quasi:
        if column.recode in ("bounds", "centroid"):
            taken = {f"{column.name}.{part}" for part in ("min", "max", "missing")}.intersection(names)
            if taken:
                raise ColumnError(
                    f"recode: {column.recode} of {column.name!r} publishes columns of which one is in the table already: "
                    f"{min(taken)!r}. Rename it."
                )


def _kinds_to_read(policy: Policy, roles: Mapping[str, Role]) -> dict[str, str]:
    """Return the columns to read, those that are published and the unit, each with the type to read it as."""
    kinds = {column.name: column.read_as for column in policy.quasi}
    kinds |= {column.name: kind_to_read(column) for column in policy.sensitive}
    kinds |= {name: PRINTED for name, role in roles.items() if role == "kept"}
    return kinds | ({policy.unit: "text"} if policy.unit not in (None, "row") else {})
