"""Feasibility: whether a release of a table can satisfy a policy, decided before long work.

Merging classes preserves every limit over rows but (n,t)-closeness and lenient delta-disclosure. So if some partition of the
published rows satisfies a policy, the one class of all of them does. Its distance from what is published is 0; from the input it
is s * EMD(R, S) where a share s of rows with the distribution S is suppressed and R is left. Algorithms start from that class, so
it must satisfy the policy over persons too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tclose.errors import InfeasibleError
from tclose.make.encode import Attribute, EncodedTable
from tclose.make.one_class import check_k, check_n, too_far, too_uneven
from tclose.policy import Policy
from tclose.values.arrays import Bools, Codes, Ints
from tclose.values.exact import number_of, plain


def rows_to_suppress(table: EncodedTable, policy: Policy) -> Bools:
    """Return for each row whether to suppress it, so that the others can satisfy the policy; raise if that is impossible.

    Raises
    ------
    InfeasibleError
        The policy cannot be satisfied, or not with as few suppressed rows as it allows.
    """
    _check_sizes(table, policy)
    suppressed = np.zeros(table.rows, dtype=bool)
    allowed = int(policy.suppression * table.rows)
    everyone = np.ones(table.rows, dtype=bool)
    uneven = [
        attribute for attribute in table.sensitive if too_uneven(attribute.column, policy, _counts_of_values(attribute, everyone))
    ]
    for attribute in uneven:
        counts = _counts_of_values(attribute, everyone)
        least = int((attribute.counts - _levelled_counts(attribute, policy, counts)).sum())
        if least > allowed:
            raise InfeasibleError(
                f"{too_uneven(attribute.column, policy, counts)} of {attribute.column.name!r} cannot be satisfied unless "
                f"{number_of(least, 'row is', 'rows are')} suppressed: its commonest values are too common. "
                f"suppression={plain(policy.suppression)} allows {allowed:,}. Loosen one of them."
            )
    for attribute in (*uneven, *(other for other in table.sensitive if other not in uneven)):  # which may have become uneven
        counts = _counts_of_values(attribute, ~suppressed)
        levelled = _levelled_counts(attribute, policy, counts) if suppressed.any() or attribute in uneven else counts
        for value in np.flatnonzero(levelled < counts):
            rows = np.flatnonzero((attribute.codes == value) & ~suppressed)
            suppressed[_choose_rows(rows, int(counts[value] - levelled[value]), table.sensitive, suppressed)] = True
    if int(suppressed.sum()) > allowed:
        raise InfeasibleError(
            f"No choice of {number_of(allowed, 'row')} was found that can be suppressed so that the limits of all sensitive "
            "attributes are satisfied. Loosen them, or allow more suppression."
        )
    rest = f"the {number_of(int((~suppressed).sum()), 'row')} that would be left" if suppressed.any() else "all rows"
    for attribute in table.sensitive:
        broken = _broken_limit(attribute, policy, ~suppressed, table.persons)
        if broken:
            raise InfeasibleError(
                f"No way was found to satisfy {broken} of {attribute.column.name!r}: one class of {rest} breaks it."
            )
    if suppressed.any():
        _check_sizes(table.take(~suppressed), policy)
    return suppressed


def _choose_rows(rows: Ints, count: int, attributes: Sequence[Attribute], suppressed: Bools) -> Ints:
    """Return ``count`` of some rows to suppress: those with the most frequent values in all attributes; ties: evenly."""
    evenly = rows[np.argsort(np.arange(len(rows)) * count % len(rows), kind="stable")]
    scores = np.zeros(len(evenly))
    for attribute in attributes:
        scores += _counts_of_values(attribute, ~suppressed)[attribute.codes[evenly]]
    return evenly[np.argsort(-scores, kind="stable")[:count]]


def _check_sizes(table: EncodedTable, policy: Policy) -> None:
    """Raise InfeasibleError if the table has fewer rows or persons than k, fewer rows than n, or fewer values than l."""
    counted, what = table.rows, "row"
    if table.persons is not None:
        counted, what = len(np.unique(table.persons)), "person"
    check_k(counted, what, policy)
    check_n(table.rows, policy)
    for attribute in table.sensitive:
        values, l = len(attribute.counts), attribute.column.l  # noqa: E741 - the name of the model
        if l is not None and values < l:
            found = f"Column {attribute.column.name!r} has {number_of(values, 'value')}"
            raise InfeasibleError(f"{found}: l={plain(l)} cannot be satisfied. Choose a smaller l.")


def _counts_of_values(attribute: Attribute, published: Bools, persons: Codes | None = None) -> Ints:
    """Return the number of published rows, or of persons in them, at each value of a sensitive attribute."""
    codes, size = attribute.codes[published], len(attribute.counts)
    if persons is not None:
        codes = np.unique(persons[published].astype(np.int64) * size + codes) % size
    return np.bincount(codes, minlength=size).astype(np.int64)


def _broken_limit(attribute: Attribute, policy: Policy, published: Bools, persons: Codes | None) -> str:
    """Return the first limit that one class of all published rows breaks; an empty text if it breaks none."""
    column, counts = attribute.column, _counts_of_values(attribute, published)
    found = too_far(column, policy, attribute.distance, counts, attribute.counts) or too_uneven(column, policy, counts)
    if found or persons is None:
        return found
    return too_uneven(column, policy, counts, _counts_of_values(attribute, published, persons))


def _levelled_counts(attribute: Attribute, policy: Policy, counts: Ints) -> Ints:
    """Return a sensitive attribute's counts after the fewest rows are suppressed that let one class satisfy alpha and l.

    For alpha and recursive l only full levels count: a level of h rows has the most rows of all counts up to h, and the share of
    h in them falls with h. Entropy grows with every row that the most frequent value loses; then again levels for the others.
    """

    def fits(candidate: Ints) -> bool:
        """Whether one class with the counts of a candidate satisfies alpha and l."""
        return not too_uneven(attribute.column, policy, candidate)

    if fits(counts):
        return counts
    if not fits(np.minimum(counts, counts[counts > 0].min())):
        broken, name = too_uneven(attribute.column, policy, counts), attribute.column.name
        raise InfeasibleError(f"{broken} of {name!r} cannot be satisfied, whichever rows are suppressed.")
    low, high = int(counts[counts > 0].min()), int(counts.max())
    while high - low > 1:  # the highest level that fits: low fits, high does not
        middle = (low + high) // 2
        low, high = (middle, high) if fits(np.minimum(counts, middle)) else (low, middle)
    fewest, most = int(np.maximum(counts - high, 0).sum()), int(np.maximum(counts - low, 0).sum())
    steps = [level(counts, rows) for rows in range(fewest, most)] if attribute.column.l_kind == "entropy" else []
    return next((step for step in steps if fits(step)), np.minimum(counts, low))


def level(counts: Sequence[int] | Ints, rows: int) -> Ints:
    """Return counts after ``rows`` rows are taken away where the counts are largest.

    >>> level([5, 3, 1], 3).tolist()
    [3, 2, 1]
    """
    full = np.asarray(counts, dtype=np.int64)
    low, high = 0, int(full.max())
    while high - low > 1:  # the least height above which there are at most that number of rows
        middle = (low + high) // 2
        low, high = (low, middle) if int(np.maximum(full - middle, 0).sum()) <= rows else (middle, high)
    levelled = np.minimum(full, high)
    rest = rows - int((full - levelled).sum())
    levelled[np.flatnonzero(levelled == high)[::-1][:rest]] -= 1  # ties: the last give one more
    return levelled
