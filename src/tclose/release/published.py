"""Published columns: what each holds, as the certificate and the codebook state it, and how its cells are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from tclose.columns.roles import Roles
from tclose.errors import PolicyError
from tclose.make.edges import edge_settings
from tclose.make.encode import Attribute, EncodedTable
from tclose.make.recode import Recoded
from tclose.make.scales import Scale
from tclose.policy import Policy, Quasi
from tclose.policy.settings import plain_settings
from tclose.release.certificate import describe_sensitive
from tclose.tables.moments import Moments
from tclose.tables.table import Table


def policies_of_release(policy: Policy, attributes: Sequence[Attribute]) -> tuple[Policy, Policy]:
    """Return the policy by which its owner judges a release, and that of a reader, who does not know the unit.

    Distances are as the input's types decided, and quasi-identifiers are read as text.
    """
    sensitive = [
        replace(column, distance=attribute.distance.name) if column.kind == "auto" else column
        for column, attribute in zip(policy.sensitive, attributes, strict=True)
    ]
    quasi = [replace(column, type="text") for column in policy.quasi]
    of_owner = replace(policy, input=None, sensitive=sensitive, quasi=quasi)
    return of_owner, replace(of_owner, unit=None, identifiers=[], drop=[], keep=[])


def quasi_columns(table: EncodedTable, recoded: Recoded) -> dict[str, tuple[Scale, bool]]:
    """Return for each published column of a quasi-identifier its scale, and whether the value of some row is missing.

    A quasi-identifier may be published as several columns: age.min and age.max.
    """
    pairs = zip(table.scales, recoded.published, strict=True)
    return {name: (scale, published.missing) for scale, published in pairs for name in published.columns}


def describe_columns(
    policy: Policy,
    roles: Roles,
    names: Sequence[str],
    quasi: Mapping[str, tuple[Scale, bool]],
    attributes: Sequence[Attribute],
) -> list[dict[str, str]]:
    """Return the name, the role and a description of each published column, for the certificate and the codebook.

    Parameters
    ----------
    names
        The published columns.
    quasi
        See `quasi_columns`: a scale says what a quasi-identifier's column holds.
    """
    sensitive = {attribute.column.name: attribute for attribute in attributes}
    found = []
    for name in names:
        role = "quasi" if name in quasi else roles.of[name]
        if role == "quasi":
            scale, missing = quasi[name]
            holds = scale.describe(name, missing=missing)
        elif role == "sensitive":
            holds = describe_sensitive(sensitive[name].column, sensitive[name].distance.name, policy)
        else:
            holds = "As in the input."
        found.append({"name": name, "role": role, "holds": holds})
    return found


def plain_grids(policy: Policy, grids: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the snap, top and bottom that ``snap: auto`` chose for quasi-identifiers, as a policy's YAML file gives them."""
    return {
        column.name: {
            setting: value for setting, value in plain_settings(column, None).items() if setting in ("snap", "top", "bottom")
        }
        for column in on_chosen_grids(policy, grids).quasi
        if column.name in grids
    }


def chosen_edge_grids(scales: Sequence[Scale]) -> dict[str, dict[str, Any]]:
    """Return the grids to which ends of ranges are moved, in the form of `plain_grids`."""
    chosen = {name: plain_settings(Quasi(name, **settings), None) for name, settings in edge_settings(scales).items()}
    return {name: {setting: value for setting, value in given.items() if setting != "name"} for name, given in chosen.items()}


def on_chosen_grids(policy: Policy, grids: Mapping[str, Mapping[str, Any]]) -> Policy:
    """Return the policy with the snap, top and bottom that ``snap: auto`` chose, by the name of the quasi-identifier."""
    return replace(policy, quasi=[replace(column, **grids.get(column.name, {})) for column in policy.quasi])


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
    for name, column in columns.items() if words_for_missing(policy) else ():
        check_missing_texts(name, column.dictionary.cast(pa.string()).to_pylist(), policy)


def check_missing_texts(name: str, shown: Iterable[str | None], policy: Policy) -> None:
    """Raise PolicyError if one of the texts that a column would publish means "no value" in the policy's input."""
    shown = set(shown)
    taken = [word for word in words_for_missing(policy) if word in shown]
    if taken:
        raise PolicyError(
            f"missing of input has {taken[0]!r}, which the release would publish in {name!r}. Call it something else there."
        )


def words_for_missing(policy: Policy) -> list[str]:
    """Return the texts that mean "no value" in the policy's input."""
    return list(policy.input.missing) if policy.input is not None else []
