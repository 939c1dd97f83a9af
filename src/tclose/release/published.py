"""Published columns: what each holds, as the certificate and the codebook state it, and how its cells are written."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from tclose.columns.roles import Roles
from tclose.errors import PolicyError
from tclose.make.encode import EncodedTable
from tclose.make.recode import Recoded
from tclose.policy import Policy
from tclose.release.certificate import describe_sensitive
from tclose.tables.moments import Moments
from tclose.tables.table import Table


def describe_columns(policy: Policy, roles: Roles, table: EncodedTable, recoded: Recoded) -> list[dict[str, str]]:
    """Return the name, the role and a description of each published column, for the certificate and the codebook.

    Parameters
    ----------
    table
        The rows that are published: its scales say what a quasi-identifier's column holds.
    """
    # A quasi-identifier may be published as several columns: age.min and age.max.
    quasi = {name: part for part in zip(table.scales, recoded.published, strict=True) for name in part[1].columns}
    sensitive = {attribute.column.name: attribute for attribute in table.sensitive}
    found = []
    for name in recoded.columns:
        role = "quasi" if name in quasi else roles.of[name]
        if role == "quasi":
            scale, published = quasi[name]
            holds = scale.describe(name, missing=published.missing)
        elif role == "sensitive":
            holds = describe_sensitive(sensitive[name].column, sensitive[name].distance.name, policy)
        else:
            holds = "As in the input."
        found.append({"name": name, "role": role, "holds": holds})
    return found


def moments_of(source: Table, recoded: Recoded) -> dict[str, Moments]:
    """Return the form in which the input writes the timestamps of each published column that has timestamps."""
    # A quasi-identifier's may be in two columns.
    names = {part: name for name in source.moments for part in (f"{name}.min", f"{name}.max", name)}
    return {
        part: source.moments[names[part]]
        for part, column in recoded.columns.items()
        if part in names and pa.types.is_timestamp(column.dictionary.type)
    }


def check_missing_words(columns: Mapping[str, pa.Array], policy: Policy) -> None:
    """Refuse to publish a text that means "no value" in the policy's input: the release is audited with that policy."""
    words = policy.input.missing if policy.input is not None else []
    for name, column in columns.items() if words else ():
        shown = set(column.dictionary.cast(pa.string()).to_pylist())
        taken = [word for word in words if word in shown]
        if taken:
            raise PolicyError(
                f"missing of input has {taken[0]!r}, which the release would publish in {name!r}. Call it something else there."
            )
