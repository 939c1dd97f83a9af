"""Previews: what a hierarchy makes of a column of a table, level by level. They are internal, as they show raw values."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tclose.columns.domains import kind_to_read
from tclose.columns.hierarchies import check_fits, hierarchy_of
from tclose.errors import HierarchyError, PolicyError, nearest
from tclose.policy import Policy, Quasi, Sensitive
from tclose.tables.readers import open_reader
from tclose.tables.table import open_table
from tclose.values.builders import NAMED, Builder, cuts_of_quantiles, read_builder
from tclose.values.builders.fitting import fitting_rule
from tclose.values.hierarchy import Hierarchy, printed
from tclose.values.preview import Level

FILE, QUANTILES = "file", "quantiles"
"""Ways to give a hierarchy that are no rules: the path of its file, and numbers of groups of which the cut points are found."""

INTERNAL = "It shows values of the table. Keep it to yourself."

K = 5
"""Labels with fewer rows are counted, unless the policy or the caller has another k."""


@dataclass(frozen=True, eq=False)
class ColumnPreview:
    """What a hierarchy makes of a column.

    Attributes
    ----------
    column : str
    rows, missing, values : int
        The rows of the table, those without a value, and the distinct values of the others.
    hierarchy : Hierarchy
        With the values of the column as its leaves, or with all that the policy or a file gives.
    in_policy : str
        The hierarchy as a policy has it, in one line of YAML; "" if the policy has it.
    k : int
        Labels with fewer rows are counted.
    levels : list of Level
        From the values up.
    """

    column: str
    rows: int
    missing: int
    values: int
    hierarchy: Hierarchy
    in_policy: str
    k: int
    levels: list[Level]

    def to_dict(self) -> dict[str, Any]:
        """Return the preview in plain types, without the hierarchy itself."""
        facts = {key: getattr(self, key) for key in ("column", "rows", "missing", "values", "k", "in_policy")}
        return {"internal": INTERNAL, **facts, "levels": [level.to_dict() for level in self.levels]}

    def to_json(self) -> str:
        """Return the preview as the text of one JSON object."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)


def preview_column(
    data: Any,
    column: str,
    *,
    policy: Policy | None = None,
    rule: Mapping[str, Any] | None = None,
    k: int | None = None,
    called: str = "DATA",
) -> ColumnPreview:
    """Return what a hierarchy makes of a column: the policy's, or that of a rule.

    Parameters
    ----------
    data
        A path, or a table in memory.
    rule
        A mapping of one key: that of a rule, as a policy has it; ``file`` with a path; or ``quantiles`` with numbers of groups.
    called
        What a command calls the table.
    """
    if rule and (policy is not None or len(rule) > 1):
        raise PolicyError("Give one hierarchy: by the policy, or by one of the options. Try 'tclose hierarchy --help'.")
    asked = None if policy is None else _column_of(policy, column)
    kind = "auto" if asked is None else kind_to_read(asked) if isinstance(asked, Sensitive) else asked.read_as
    given_input = None if policy is None else policy.input
    source = open_table(open_reader(data, given_input), {column: kind}, given=given_input)
    ((cells, ranks),) = source.rows([column])
    values = source.values(column, cells).to_pylist()
    counts = np.bincount(ranks, minlength=len(cells)).tolist()
    missing = counts[-1] if values[-1] is None else 0
    present = values[:-1] if values[-1] is None else values
    if source.kinds[column] == "timestamp":
        present = list(map(source.show(column), present))  # labels are looked up as they are written

    own = None if asked is None else asked.hierarchy
    if own is not None:
        given: Hierarchy | Builder = NAMED[own] if isinstance(own, str) else own
        in_policy = ""
    elif not rule:
        lacking = f"{column!r} has no hierarchy yet" if policy is None else f"The policy has no hierarchy for {column!r}"
        command = _example(source.kinds[column], present, ["tclose", "hierarchy", called, column])
        raise PolicyError(f"{lacking}. Give one by an option{' alone' if policy else ''}, as in: {command}")
    elif QUANTILES in rule:
        check_fits(source, column, read_builder({"cuts": [0]}), cells, present)
        given = _cuts_of_quantiles(dict(zip(present, counts, strict=False)), rule[QUANTILES])
        in_policy = _in_yaml(given.setting())
    else:
        given, in_policy = _given_by(rule)
    tree = hierarchy_of(source, column, given, cells, present)
    texts = dict(zip(map(printed, present), counts, strict=False)) | ({"": missing} if missing and None in tree else {})
    limit = k or (policy.k if policy is not None else None) or K
    return ColumnPreview(column, len(ranks), missing, len(present), tree, in_policy, limit, tree.levels(texts, limit))


def _column_of(policy: Policy, name: str) -> Quasi | Sensitive:
    """Return the column of a policy that has a name; raise PolicyError if there is none."""
    columns: list[Quasi | Sensitive] = [*policy.quasi, *policy.sensitive]
    found = next((column for column in columns if column.name == name), None)
    if found is None:
        hint = nearest(name, [column.name for column in columns])
        raise PolicyError(f"The policy has no quasi-identifier and no sensitive attribute {name!r}.{hint}")
    return found


def _example(kind: str, values: list[Any], command: list[str]) -> str:
    """Return a command with a rule that fits the values of a column; or with a file, and what to write into it."""
    rule = fitting_rule(kind, values)
    if not rule:
        return (
            f"{shlex.join([*command, '--file', f'{command[-1]}.csv'])} (a file of your own, a line VALUE;GROUP;* for each value)."
        )
    ((key, setting),) = rule.items()
    return shlex.join([*command, f"--{key}", ",".join(map(str, setting))])


def _given_by(rule: Mapping[str, Any]) -> tuple[Hierarchy | Builder, str]:
    """Return the hierarchy of a file, or the rule, and its line in a policy."""
    ((key, setting),) = rule.items()
    if key == FILE:
        return Hierarchy.from_csv(setting), json.dumps(str(setting), ensure_ascii=False)
    if key in NAMED and setting == ["all"]:
        return NAMED[key], key
    builder = read_builder({key: setting})
    return builder, _in_yaml({key: setting} if isinstance(setting, str) else builder.setting())


def _cuts_of_quantiles(values: Mapping[Any, int], groups: Any) -> Builder:
    """Return the cut points of quantiles; raise HierarchyError with the requirement."""
    try:
        return cuts_of_quantiles(values, groups)
    except ValueError as error:
        raise HierarchyError(f"quantiles must be a list of {error}.") from None


def _in_yaml(setting: Any) -> str:
    """Return a setting of a rule in one line of YAML: ``{dates: [month, year]}``; texts that are no plain word are quoted."""
    return re.sub(r'"([A-Za-z]+)"(?=[:,\]]|$)', r"\1", json.dumps(setting, ensure_ascii=False))
