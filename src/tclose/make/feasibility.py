"""Feasibility: whether a release of a table can hold a policy, asked before long work.

Merging classes preserves every limit over rows but (n,t)-closeness and lenient delta-disclosure. So if some partition of the
published rows holds a policy, the one class of all of them does. Its distance from what is published is 0; from the input it is
s * EMD(R, S) where a share s of rows with the spread S is left out. Algorithms start from that class, so it must hold over
persons too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tclose.errors import InfeasibleError
from tclose.judge.attribute import measure
from tclose.make.encode import Attribute, EncodedTable
from tclose.policy import Policy
from tclose.values.exact import number_of, plain
from tclose.values.histograms import Histograms

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
    everyone = np.ones(table.rows, dtype=bool)
    common = [attribute for attribute in table.sensitive if _too_common(attribute, policy, _counts(attribute, everyone))]
    for attribute in common:
        least = int((attribute.counts - _levelled(attribute, policy, _counts(attribute, everyone))).sum())
        if least > allowed:
            raise InfeasibleError(
                f"{_too_common(attribute, policy, attribute.counts)} of {attribute.column.name!r} cannot hold unless "
                f"{number_of(least, 'row is', 'rows are')} left out: its commonest values are too common. "
                f"suppression={plain(policy.suppression)} allows {allowed:,}. Loosen one of them."
            )
    for attribute in (*common, *(other for other in table.sensitive if other not in common)):  # which may have become common
        counts = _counts(attribute, ~left_out)
        levelled = _levelled(attribute, policy, counts) if left_out.any() or attribute in common else counts
        for value in np.flatnonzero(levelled < counts):
            rows = np.flatnonzero((attribute.codes == value) & ~left_out)
            left_out[_chosen(rows, int(counts[value] - levelled[value]), table.sensitive, left_out)] = True
    if int(left_out.sum()) > allowed:
        raise InfeasibleError(
            f"No choice of {number_of(allowed, 'row')} was found that can be left out so that the limits of all sensitive "
            "attributes hold. Loosen them, or allow more suppression."
        )
    rest = f"the {number_of(int((~left_out).sum()), 'row')} that would be left" if left_out.any() else "all rows"
    for attribute in table.sensitive:
        counts = _counts(attribute, ~left_out)
        broken = _broken(attribute, policy, counts)  # over rows, which is what a reader can judge, and over persons
        if table.persons is not None:
            broken = broken or _broken(attribute, policy, counts, _counts(attribute, ~left_out, table.persons))
        if broken:
            raise InfeasibleError(f"{broken} of {attribute.column.name!r} was not found to hold: one class of {rest} breaks it.")
    if left_out.any():
        _check_sizes(table.take(~left_out), policy)
    return left_out


def _chosen(rows: Ints, count: int, attributes: Sequence[Attribute], left_out: Bools) -> Ints:
    """So many of these rows: those whose values are commonest in all attributes first, else evenly over the sorted rows."""
    spread = rows[np.argsort(np.arange(len(rows)) * count % len(rows), kind="stable")]
    scores = np.zeros(len(spread))
    for attribute in attributes:
        scores += _counts(attribute, ~left_out)[attribute.codes[spread]]
    return spread[np.argsort(-scores, kind="stable")[:count]]


def _check_sizes(table: EncodedTable, policy: Policy) -> None:
    counted, what = table.rows, "row"
    if table.persons is not None:
        counted, what = len(np.unique(table.persons)), "person"
    if policy.k is not None and counted < policy.k:
        raise InfeasibleError(f"The table has {number_of(counted, what)}: k={policy.k} cannot hold. Choose a smaller k.")
    if policy.n is not None and table.rows < policy.n:
        raise InfeasibleError(f"The table has {number_of(table.rows, 'row')}: n={policy.n} cannot hold. Choose a smaller n.")
    for attribute in table.sensitive:
        values, l = len(attribute.counts), attribute.column.l  # noqa: E741 - the name of the model
        if l is not None and values < l:
            found = f"Column {attribute.column.name!r} has {number_of(values, 'value')}"
            raise InfeasibleError(f"{found}: l={plain(l)} cannot hold. Choose a smaller l.")


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


def _too_common(attribute: Attribute, policy: Policy, counts: Ints) -> str:
    """The first limit on how common a value may be, alpha or l, that these counts break; empty if they break none."""
    column = replace(attribute.column, t=None, beta=None, delta=None)
    return _broken(replace(attribute, column=column), replace(policy, n=None, sensitive=[column]), counts)


def _levelled(attribute: Attribute, policy: Policy, counts: Ints) -> Ints:
    """The counts after as few rows as possible are left out, where values are commonest, so that none is too common.

    For alpha and recursive l only full levels count: a level of h rows has the most rows of all counts up to h, and the share of
    h in them falls with h. Entropy grows with every row that the commonest value loses; then again levels for the others.
    """

    def fits(candidate: Ints) -> bool:
        return not _too_common(attribute, policy, candidate)

    if fits(counts):
        return counts
    if not fits(np.minimum(counts, counts[counts > 0].min())):
        broken, name = _too_common(attribute, policy, counts), attribute.column.name
        raise InfeasibleError(f"{broken} of {name!r} cannot hold, whichever rows are left out.")
    low, high = int(counts[counts > 0].min()), int(counts.max())
    while high - low > 1:  # the highest level that fits: low fits, high does not
        middle = (low + high) // 2
        low, high = (middle, high) if fits(np.minimum(counts, middle)) else (low, middle)
    fewest, most = int(np.maximum(counts - high, 0).sum()), int(np.maximum(counts - low, 0).sum())
    steps = [level(counts, rows) for rows in range(fewest, most)] if attribute.column.l_kind == "entropy" else []
    return next((step for step in steps if fits(step)), np.minimum(counts, low))


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
