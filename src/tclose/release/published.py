"""Published columns: the name, role and content of each, as the certificate and the codebook state them."""

from __future__ import annotations

from tclose.columns.roles import Roles
from tclose.make.encode import EncodedTable
from tclose.make.recode import Recoded
from tclose.policy import Policy
from tclose.release.certificate import describe_sensitive


def describe_columns(policy: Policy, roles: Roles, table: EncodedTable, recoded: Recoded) -> list[dict[str, str]]:
    """Return the name, the role and a description of the content of each published column.

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
