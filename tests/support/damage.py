"""Damaged JSON: each entry of a paper in turn is removed, or replaced by a value of another type."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

REMOVED = object()
VALUES: tuple[Any, ...] = (REMOVED, None, "x", -1, 10**400, 1e300, float("nan"), True, [], [[]], {}, {"x": 0}, "\ud800")
"""What stands in place of an entry."""


def places(found: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the keys that lead to each entry of a paper; of a list those of its first entry alone, the others are like it."""
    if before:
        yield before
    inside = found.items() if isinstance(found, dict) else list(enumerate(found))[:1] if isinstance(found, list) else ()
    for key, value in inside:
        yield from places(value, (*before, key))


def damages(found: Any, values: tuple[Any, ...] = VALUES) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield the keys of an entry, and the paper with this entry removed or replaced, for all entries and values."""
    for path in places(found):
        for value in values:
            damaged = deepcopy(found)
            parent = damaged
            for key in path[:-1]:
                parent = parent[key]
            if value is REMOVED:
                del parent[path[-1]]
            else:
                parent[path[-1]] = value
            yield path, damaged
