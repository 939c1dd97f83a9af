"""Builders: rules that make a hierarchy of any values, and how a policy writes them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tclose.errors import HierarchyError, got
from tclose.values.builders.base import Builder
from tclose.values.builders.dates import Dates
from tclose.values.builders.numbers import Cuts, Intervals, NumberBuilder, Rounding, cuts_of_quantiles
from tclose.values.builders.prefixes import Prefixes
from tclose.values.builders.ranges import Ranges

__all__ = [
    "BUILDERS",
    "GROUPS",
    "NAMED",
    "Builder",
    "Cuts",
    "Dates",
    "Intervals",
    "NumberBuilder",
    "Prefixes",
    "Ranges",
    "Rounding",
    "asks_for_builder",
    "cuts_of_quantiles",
    "read_builder",
    "why_no_tree",
]

BUILDERS: dict[str, Any] = {kind.key: kind for kind in (Intervals, Rounding, Cuts, Prefixes, Dates, Ranges)}
"""The rules, by the key of a policy."""

NAMED: dict[str, Builder] = {"prefixes": Prefixes(), "dates": Dates()}
"""The rules that a policy may name by a word alone."""

GROUPS = "groups"
"""The key of groups of values, in their order. They are a tree at once, and no rule."""

QUANTILES = "quantiles"


def asks_for_builder(setting: Any) -> bool:
    """Whether a policy's hierarchy is meant to be a rule, or groups, not a tree: a mapping of that key alone.

    A rule has no mapping below its key, and groups have one. A tree whose root is called so is written the other way round.
    """
    if not isinstance(setting, Mapping) or len(setting) != 1:
        return False
    ((key, given),) = setting.items()
    return (key in BUILDERS and not isinstance(given, Mapping | None)) or (key == GROUPS and isinstance(given, Mapping))


def read_builder(setting: Mapping[str, Any]) -> Builder:
    """Return the rule of a policy's setting, ``{intervals: [5, 10, 20]}``; raise HierarchyError with the requirement."""
    ((key, given),) = setting.items()
    try:
        builder: Builder = BUILDERS[key].read(given)
    except HierarchyError as error:
        raise HierarchyError(f"{key}: {error}" if not isinstance(given, str | Path) else str(error)) from None
    except ValueError as error:
        raise HierarchyError(f"{key} must be a list of {error}. Got {got(given, setting=True)}.") from None
    return builder


def why_no_tree(setting: Any) -> str | None:
    """Return why a mapping that is nearly a rule, or quantiles, is not read as a tree, in a sentence; else None."""
    if not isinstance(setting, Mapping) or not setting:
        return None
    (key, given), *others = setting.items()
    if others:  # YAML: {intervals: 5, 10, 20}
        bare = key in BUILDERS and not isinstance(given, Mapping | list | tuple | None)
        if not bare or any(below is not None for _, below in others):
            return None
        listed = ", ".join(str(part) for part in (given, *(part for part, _ in others)))
        return f"{key} must have its list in brackets. Write {{{key}: [{listed}]}}."
    if not isinstance(key, str) or isinstance(given, Mapping | None) or key in BUILDERS:
        return None
    if key == GROUPS:
        trees = isinstance(given, list | tuple) and all(isinstance(part, Mapping) for part in given)
        return None if trees else "groups must be a mapping from labels to lists of values: {groups: {low: [1, 2], high: [3]}}."
    if difflib.get_close_matches(key.lower(), [QUANTILES], cutoff=0.8):
        return (
            "quantiles of all rows would tell about rows that are suppressed. Let 'tclose hierarchy DATA COLUMN --quantiles 4,2' "
            "find them once, and write the cuts that it names: {cuts: [[30, 45, 60], [45]]}."
        )
    meant = difflib.get_close_matches(key.lower(), [*BUILDERS, GROUPS], n=1, cutoff=0.75)
    if not meant:
        return None
    return (
        f"{key!r} is no way to build a hierarchy. Did you mean {meant[0]!r}? For a tree with the root {key!r}, write a mapping "
        f"below it: {{{key}: {{value: null}}}}."
    )
