"""Roles: what becomes of each column of a table in a release, and what may not be published as it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tclose.errors import ColumnError, InputError, PolicyError
from tclose.make.encode import EncodedTable, Kept
from tclose.make.recode import Recoded
from tclose.make.scales import Nominal
from tclose.policy import Policy
from tclose.release.certificate import describe_sensitive
from tclose.tables.duckdb import Table
from tclose.tables.readers import Reader, absent
from tclose.values.exact import number_of

LONGEST_LABEL = 40
"""Letters, on average: longer texts are free text, in which people write names."""

MOST_WORDS = 5

FEW = 8
"""A quasi-identifier with fewer values than this is a list of categories, in however small a table."""


@dataclass(frozen=True)
class Roles:
    """The columns of a table that are published as they are, and who is counted."""

    policy: Policy
    kept: list[str]

    def unit(self, source: Table) -> str | None:
        """The column that names persons, if they are counted; an identifier that repeats needs a decision."""
        unit = self.policy.unit
        if unit not in (None, "row"):
            count, row = source.missing(unit)
            if count:
                raise InputError(
                    f"The unit {unit!r} must name a person in every row. Got {count} missing, the first in row {row}."
                )
            return str(unit)
        for name in self.policy.identifiers if unit is None else ():
            if name in source:
                rows, values = source.count_values(name)
                if values < rows:
                    raise PolicyError(
                        f"Identifier {name!r} has {number_of(values, 'value')} in {rows:,} rows: some persons have several rows. "
                        "Set unit to the column that names a person, or unit: row if each row is one."
                    )
        return None

    def columns(self, table: EncodedTable, recoded: Recoded) -> list[dict[str, str]]:
        """Name, role and content of each published column."""
        found = []
        quasi = {name: part for part in zip(table.scales, recoded.published, strict=True) for name in part[1].columns}
        sensitive = {attribute.column.name: attribute for attribute in table.sensitive}
        for name in recoded.columns:
            if name in sensitive:
                role, holds = "sensitive", describe_sensitive(sensitive[name].column, sensitive[name].distance.name, self.policy)
            elif name in self.kept:
                role, holds = "kept", "As in the input."
            else:
                scale, published = quasi[name]
                role, holds = "quasi", scale.describe(name, missing=published.missing)
            found.append({"name": name, "role": role, "holds": holds})
        return found

    def check_kept(self, table: EncodedTable) -> None:
        """Refuse to publish as it is what would name people: a column that is nearly unique, or free text."""
        reasons = {column.name: column.despite for column in self.policy.keep}
        for name, column in table.kept.items():
            if not reasons.get(name):
                danger = _danger(column)
                if danger:
                    raise PolicyError(
                        f"Column {name!r} must not be kept as it is: {danger}. Drop it, give it a role, or keep it with "
                        "{despite: reason}."
                    )

    def check_quasi(self, table: EncodedTable) -> None:
        """Refuse to publish sets of texts or codes that would name people: nearly unique ones, without a hierarchy."""
        for column, scale, codes, kind in zip(self.policy.quasi, table.scales, table.quasi, table.types, strict=True):
            chosen = column.recode == "set" and not pa.types.is_string(kind)  # numbers, in sets by the owner's own choice
            if not isinstance(scale, Nominal) or chosen or column.despite:
                continue
            values = int(np.count_nonzero(np.bincount(codes, minlength=scale.size)[: scale.size - scale.missing]))
            if values >= FEW and _is_nearly_unique(values, table.rows):
                raise PolicyError(
                    f"Quasi-identifier {column.name!r} has {number_of(values, 'value')} in {table.rows:,} rows, nearly one for "
                    "each, and the release would list them in sets. Make it an identifier, publish it by a hierarchy, or set "
                    "despite: reason."
                )


def roles_of(policy: Policy, reader: Reader) -> Roles:
    """The role of each column; columns without one need a decision."""
    names = reader.names
    unit = [] if policy.unit in (None, "row") else [policy.unit]
    known = [column.name for column in (*policy.quasi, *policy.sensitive, *policy.keep)]
    known += [*unit, *policy.identifiers, *policy.drop]
    unknown = next((name for name in known if name not in names), None)
    if unknown is not None:  # a misspelt identifier would be published under its right name
        raise absent(reader, unknown)
    others = [name for name in names if name not in known]
    if others and policy.other is None:
        listed = ", ".join(repr(name) for name in others)
        raise ColumnError(
            f"Columns without a role must not slip into a release: {listed}. Give them roles, or set other: drop or other: keep."
        )
    for column in policy.quasi:
        if column.recode in ("bounds", "centroid"):
            taken = {f"{column.name}.{part}" for part in ("min", "max", "missing")}.intersection(names)
            if taken:
                raise ColumnError(
                    f"recode: {column.recode} of {column.name!r} publishes columns of which one is in the table already: "
                    f"{min(taken)!r}. Rename it."
                )
    kept = {column.name for column in policy.keep}.union(others if policy.other == "keep" else ())
    return Roles(policy, [name for name in names if name in kept])


def _danger(column: Kept) -> str:
    counts = np.bincount(column.codes, minlength=len(column.values))
    rows = int(counts.sum())
    present = column.values.drop_null()
    if _is_nearly_unique(len(present), rows):
        return f"it has {number_of(len(present), 'value')} in {rows:,} rows, nearly one for each"
    if pa.types.is_string(present.type) and len(present):
        weights = counts[: len(present)]
        letters = np.average(pc.utf8_length(present).to_numpy(zero_copy_only=False), weights=weights)
        words = np.average(pc.count_substring_regex(present, r"\S+").to_numpy(zero_copy_only=False), weights=weights)
        if letters > LONGEST_LABEL or words >= MOST_WORDS:
            return "it is free text"
    return ""


def _is_nearly_unique(values: int, rows: int) -> bool:
    """Whether more than every second row has a value of its own, on average."""
    return rows > 1 and 2 * values > rows
