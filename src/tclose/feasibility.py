"""Feasibility: whether any release of a table can hold a policy, asked before long work.

Merging classes preserves every limit but (n,t)-closeness and lenient delta-disclosure. So if some partition of the published
rows holds a policy, the one class of all of them does; a policy can hold just when it holds for that class. Its distance from
what is published is 0; from the input it is s * EMD(R, S) where a share s of rows with the spread S is left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tclose._numbers import plain
from tclose.attribute import measure
from tclose.encode import Attribute, EncodedTable
from tclose.errors import InfeasibleError
from tclose.histograms import Histograms
from tclose.policy import Policy

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def must_leave_out(table: EncodedTable, policy: Policy) -> Bools:
    """The rows without which the policy can hold; none where it can hold with all of them.

    Raises
    ------
    InfeasibleError
        The policy cannot hold, or not with as few rows left out as it allows.
    """
    _check_sizes(table, policy)
    left_out = np.zeros(table.rows, dtype=bool)
    allowed = int(policy.suppression * table.rows)
    for attribute in table.sensitive:
        if not _broken(attribute, policy, _counts(attribute, np.ones(table.rows, dtype=bool))):
            continue
        counts = _counts(attribute, ~left_out)
        levelled = _levelled(attribute, policy, counts, allowed - int(left_out.sum()))
        for value in np.flatnonzero(levelled < counts):
            rows = np.flatnonzero((attribute.codes == value) & ~left_out)
            excess = int(counts[value] - levelled[value])
            left_out[rows[np.arange(excess) * len(rows) // excess]] = True  # evenly over the sorted rows
    rest = f"the {int((~left_out).sum())} rows that would be left" if left_out.any() else "all rows"
    for attribute in table.sensitive:
        counts = _counts(attribute, ~left_out)
        broken = _broken(attribute, policy, counts)  # over rows, which is what a reader can judge, and over persons
        if table.persons is not None:
            broken = broken or _broken(attribute, policy, counts, _counts(attribute, ~left_out, table.persons))
        if broken:
            raise InfeasibleError(f"{broken} of {attribute.column.name!r} cannot hold: one class of {rest} breaks it.")
    if left_out.any():
        _check_sizes(table.take(~left_out), policy)
    return left_out


def _check_sizes(table: EncodedTable, policy: Policy) -> None:
    counted, what = table.rows, "rows"
    if table.persons is not None:
        counted, what = len(np.unique(table.persons)), "persons"
    if policy.k is not None and counted < policy.k:
        raise InfeasibleError(f"The table has {counted:,} {what}: k={policy.k} cannot hold.")
    if policy.n is not None and table.rows < policy.n:
        raise InfeasibleError(f"The table has {table.rows:,} rows: n={policy.n} cannot hold.")
    for attribute in table.sensitive:
        values, l = len(attribute.counts), attribute.column.l  # noqa: E741 - the name of the model
        if l is not None and values < l:
            raise InfeasibleError(f"Column {attribute.column.name!r} has {values:,} values: l={plain(l)} cannot hold.")


def _counts(attribute: Attribute, kept: Bools, persons: NDArray[np.integer] | None = None) -> Ints:
    """How often each value occurs in the kept rows; or, with persons, in how many persons."""
    codes, size = attribute.codes[kept], len(attribute.counts)
    if persons is not None:
        codes = np.unique(persons[kept].astype(np.int64) * size + codes) % size
    return np.bincount(codes, minlength=size).astype(np.int64)


def _broken(attribute: Attribute, policy: Policy, counts: Ints, persons: Ints | None = None) -> str:
    """The first limit that one class with these counts breaks; empty if it breaks none."""
    one, of_persons = (
        None if given is None else [Histograms.of([given.tolist()], attribute.counts.tolist())] for given in (counts, persons)
    )
    found = measure(attribute.column, policy, attribute.distance, one or [], of_persons)
    for key, model in found.models.items():
        if model.limit is not None and found.verdicts[key].broken.any():
            if key == "share":
                return f"alpha={plain(policy.alpha)}"
            name = key[0] if key.startswith("l_") else "l" if key == "c_recursive" else key.removesuffix("_enhanced")
            return f"{name}={plain(getattr(attribute.column, name))}"
    return ""


def _levelled(attribute: Attribute, policy: Policy, counts: Ints, allowed: int) -> Ints:
    """The counts after as few rows as possible are left out, where values are commonest, so that the limits can hold."""
    broken, name = _broken(attribute, policy, counts), attribute.column.name
    if not broken:
        return counts  # what was left out for another attribute mends this one
    fewest, most = 0, int((counts - counts[counts > 0].min())[counts > 0].sum())
    if _broken(attribute, policy, level(counts, most)):
        raise InfeasibleError(f"{broken} of {name!r} cannot hold, whichever rows are left out.")
    while most - fewest > 1:
        middle = (fewest + most) // 2
        fewest, most = (middle, most) if _broken(attribute, policy, level(counts, middle)) else (fewest, middle)
    if most > allowed:
        raise InfeasibleError(
            f"{broken} of {name!r} cannot hold unless {most:,} rows are left out: its commonest values are too common. "
            f"suppression={plain(policy.suppression)} allows {allowed:,}. Loosen one of them."
        )
    return level(counts, most)


def level(counts: Sequence[int] | Ints, rows: int) -> Ints:
    """Counts from which so many rows are taken where they are largest.

    >>> level([5, 3, 1], 3).tolist()
    [3, 2, 1]
    """
    full = np.asarray(counts, dtype=np.int64)
    low, high = 0, int(full.max())
    while high - low > 1:  # the least height that at most so many rows stand above
        middle = (low + high) // 2
        low, high = (low, middle) if int(np.maximum(full - middle, 0).sum()) <= rows else (middle, high)
    levelled = np.minimum(full, high)
    rest = rows - int((full - levelled).sum())
    levelled[np.flatnonzero(levelled == high)[::-1][:rest]] -= 1  # the last of equals give one more
    return levelled
