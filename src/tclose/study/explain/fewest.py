r"""The fewest rows of a class to suppress, so that what is left of the class is close to what is left of the table.

Rows outside of the class stay: A of them, O with each value. Of the s rows of the class r are kept, R of the table, and

.. math:: EMD(P, Q) = \frac{A}{A + r} EMD(P, O)

because Q mixes P and O. The distance from O is a sum over nested sets N of values, :math:`\sum_N w_N |A P_N - r O_N|` in
integers: beginnings of a line, nodes of a tree, or single values. So the best counts of a set follow from the best counts of its
parts: a set has a table of the least cost for every number of rows that it may keep. All of it is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose import jobs
from tclose.distances import Distance
from tclose.values.arrays import Ints
from tclose.values.exact import INT64_MAX

BLOCK = 200_000
"""Entries of a table of costs; numbers of rows to keep are tried in blocks that fit."""
WORK = 2_000_000_000
"""Entries that are computed for one class, at most; a class that needs more is not tried."""


def most_rows_kept(distance: Distance, counts: Ints, table: Ints, t: Fraction, least: int) -> Ints | None:
    """Return how many rows of a class to keep at each value: the most with which it is within t of what is left of the table.

    No rows at all if no number of them from ``least`` on will do. None if it was not tried: the distance is a matrix, the class
    is the whole table, or it is too large.

    Parameters
    ----------
    counts, table : (m,) int64
        The rows of the class, and those of the table with the class, at each value.

    Examples
    --------
    >>> from tclose.distances.equal import Equal
    >>> most_rows_kept(Equal(2), np.array([3, 1]), np.array([6, 6]), Fraction(1, 6), 1).tolist()
    [1, 1]
    """
    outside = table - counts
    size, others = int(counts.sum()), int(outside.sum())
    bound = 2 * max(distance.scale, 1) * others * size
    if distance.shape not in BUILD or bound > INT64_MAX or not others:
        return None
    step = max(1, BLOCK // (size + 1))
    work = 0
    for most in range(size, least - 1, -step):
        jobs.check()
        kept = np.arange(most, max(most - step, least - 1), -1, dtype=np.int64)
        work += len(kept) * (size + 1) * size
        if work > WORK:
            return None
        root = BUILD[distance.shape](distance, counts, outside, kept)
        for index, rows in enumerate(kept.tolist()):
            cost = int(root.costs[index, rows])
            if cost * t.denominator <= t.numerator * (others + rows) * rows * distance.scale * TWICE[distance.shape]:
                return root.counts(index, rows, len(counts))
    return np.zeros_like(counts)


@dataclass(frozen=True, eq=False)
class _Part:
    """A set of values: the least cost of keeping x of its rows, for each number of rows that the class keeps in all.

    Attributes
    ----------
    costs : (numbers of rows in all, x) int64
    code : int
        Of the value, where the set has only one with rows of the class.
    parts, chosen
        Where it is the union of two sets: the two, and how many of the x rows are those of the second.
    """

    costs: NDArray[np.int64]
    code: int = -1
    parts: tuple[_Part, _Part] | None = None
    chosen: NDArray[np.int64] | None = None

    @property
    def rows(self) -> int:
        """The number of rows of the class that have a value of the set."""
        return int(self.costs.shape[1]) - 1

    def counts(self, index: int, rows: int, values: int) -> Ints:
        """Return the counts at all values that have the least cost of keeping some rows."""
        found = np.zeros(values, dtype=np.int64)
        waiting: list[tuple[_Part, int]] = [(self, rows)]
        while waiting:
            part, left = waiting.pop()
            if part.parts is None or part.chosen is None:
                found[part.code] = left
            else:
                second = int(part.chosen[index, left])
                waiting += [(part.parts[0], left - second), (part.parts[1], second)]
        return found


def _single(code: int, rows: int, kept: Ints) -> _Part:
    """Return the set of one value of which the class has some rows; it costs nothing by itself."""
    return _Part(np.zeros((len(kept), rows + 1), dtype=np.int64), code)


def _union(first: _Part, second: _Part) -> _Part:
    """Return the union of two sets: the best way to keep each number of rows in them. Ties: the first keeps more."""
    costs = np.full((len(first.costs), first.rows + second.rows + 1), INT64_MAX, dtype=np.int64)
    chosen = np.zeros_like(costs)
    small, large, swapped = (second, first, False) if second.rows <= first.rows else (first, second, True)
    for rows in range(small.rows, -1, -1) if swapped else range(small.rows + 1):
        place = slice(rows, rows + large.rows + 1)
        tried = large.costs + small.costs[:, rows : rows + 1]
        better = tried < costs[:, place]
        costs[:, place] = np.where(better, tried, costs[:, place])
        of_second = np.arange(large.rows + 1) if swapped else rows
        chosen[:, place] = np.where(better, of_second, chosen[:, place])
    return _Part(costs, parts=(first, second), chosen=chosen)


def _with_cost(part: _Part, cost: NDArray[Any]) -> _Part:
    """Return a set with a cost added for each number of its rows."""
    return _Part(part.costs + cost, part.code, part.parts, part.chosen)


def _uneven(part: _Part, weight: int, others: int, outside: int, kept: Ints) -> _Part:
    """Return a set with its own cost: by how much its share in the class differs from that outside of it."""
    return _with_cost(part, weight * np.abs(others * np.arange(part.rows + 1) - kept[:, None] * outside))


def _on_line(distance: Any, counts: Ints, outside: Ints, kept: Ints) -> _Part:
    """Return the set of all values on a line, as beginnings of the line that take in one value after another.

    Between two values of the class, what is kept before a gap is x, so gap i costs |A x - r O_i| times its width, as in
    `tclose.judge.emd.line`: the sign changes once.
    """
    others = int(outside.sum())
    cumulated = np.cumsum(outside)
    positions = distance.positions.astype(np.int64)
    work = np.concatenate([[0], np.cumsum(cumulated[:-1] * np.diff(positions))])
    codes = np.flatnonzero(counts).tolist()
    part = None
    for code, after in zip(codes, [*codes[1:], len(counts) - 1], strict=True):
        single = _single(code, int(counts[code]), kept)
        part = single if part is None else _union(part, single)
        mass = others * np.arange(part.rows + 1)[None, :]
        change = np.clip(np.searchsorted(cumulated, -(-mass // kept[:, None])), code, after)
        below = mass * (positions[change] - positions[code]) - kept[:, None] * (work[change] - work[code])
        above = kept[:, None] * (work[after] - work[change]) - mass * (positions[after] - positions[change])
        part = _with_cost(part, below + above)
    assert part is not None
    return _with_cost(part, (kept * work[codes[0]])[:, None])


def _in_set(_: Any, counts: Ints, outside: Ints, kept: Ints) -> _Part:
    """Return the set of all values without an order: each value counts by itself."""
    others = int(outside.sum())
    codes = np.flatnonzero(counts).tolist()
    singles = [_uneven(_single(code, int(counts[code]), kept), 1, others, int(outside[code]), kept) for code in codes]
    return _with_cost(_joined(singles), (kept * int(outside[counts == 0].sum()))[:, None])


def _in_tree(distance: Any, counts: Ints, outside: Ints, kept: Ints) -> _Part:
    """Return the set of all values of a tree, as the nodes below its root."""
    others = int(outside.sum())
    elsewhere = 0  # the cost of nodes without rows of the class, by each row that it keeps

    def below(depth: int, first: int, last: int) -> _Part:
        """Return the set of the codes of one node, from its children."""
        nonlocal elsewhere
        if depth + 1 == len(distance.ancestors) or distance.ancestors[depth + 1][first] < 0:
            return _single(first, int(counts[first]), kept)
        nodes = distance.ancestors[depth + 1][first:last]
        starts = first + np.flatnonzero(np.diff(nodes, prepend=-2))
        children = []
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), last], strict=True):
            if counts[start:end].any():
                weight = int(distance.weights[depth + 1][start])
                child = below(depth + 1, start, end)
                children.append(_uneven(child, weight, others, int(outside[start:end].sum()), kept))
            else:
                elsewhere += int((distance.weights[depth + 1 :, start:end].sum(axis=0) * outside[start:end]).sum())
        return _joined(children)

    root = below(0, 0, len(counts))
    return _with_cost(root, (kept * elsewhere)[:, None])


def _joined(parts: Sequence[_Part]) -> _Part:
    """Return the union of some sets."""
    whole = parts[0]
    for part in parts[1:]:
        whole = _union(whole, part)
    return whole


BUILD = {"line": _on_line, "set": _in_set, "tree": _in_tree}
"""From a distance, the counts of the class and outside of it, and numbers of rows to keep, to the set of all values."""
TWICE = {"line": 1, "set": 2, "tree": 2}
"""How often each move of a plan is counted in the cost: in a set and in a tree where it leaves and where it arrives."""
