"""Queries: how far the answers that a release gives to random COUNT queries are from those of the input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tclose.study.scene import CONTROL, Scene
from tclose.study.utility.groups import Groups
from tclose.values.arrays import Bools, Floats, Ints

QUERIES = 1000
"""How many queries are asked."""
COLUMNS = 3
"""Quasi-identifiers of a query, at most; there is always one sensitive attribute besides."""
SELECTIVITIES = (0.0001, 0.1)
"""Between which shares of the rows queries are drawn, evenly on a logarithmic scale."""
BANDS = (0.0, 0.001, 0.01, 0.1, 1.0)
"""Ends of the bands of true selectivities in which errors are told."""


class Query(NamedTuple):
    """How many rows have their quasi-identifiers and a sensitive value in some ranges of groups."""

    quasi: dict[int, tuple[int, int]]
    """For some quasi-identifiers the first group and the one after the last."""
    sensitive: int
    values: tuple[int, int]


@dataclass(frozen=True)
class Band:
    """The errors of queries of about one selectivity.

    Attributes
    ----------
    low, high : float
        The share of the rows that truly answer the query: above low, at most high.
    queries : int
    median : float or None
        The median of the relative errors: ``|estimate - truth| / truth``. None without queries.
    """

    low: float
    high: float
    queries: int
    median: float | None


@dataclass(frozen=True)
class Queries:
    """The errors of random COUNT queries; those that no row of the input answers are not asked.

    Attributes
    ----------
    median : float or None
        The median of the relative errors over all queries.
    bands : list of Band
        By selectivity.
    """

    median: float | None
    bands: list[Band]


def ask(scene: Scene, quasi: Sequence[Groups], sensitive: Sequence[Groups], seed: int) -> Queries:
    """Return how far the answers of a release are from those of its input, for random queries."""
    queries = draw(quasi, sensitive, scene.labels != CONTROL, seed)
    truth = np.array([answer(query, quasi, sensitive, scene.labels != CONTROL) for query in queries])
    estimates = np.array([estimate(query, quasi, sensitive, scene.sizes) for query in queries])
    asked = truth > 0
    errors = np.abs(estimates[asked] - truth[asked]) / truth[asked]
    selectivity = truth[asked] / np.count_nonzero(scene.labels != CONTROL)
    bands = []
    for low, high in pairwise(BANDS):
        inside = errors[(selectivity > low) & (selectivity <= high)]
        bands.append(Band(low, high, len(inside), _median(inside)))
    return Queries(_median(errors), bands)


def draw(quasi: Sequence[Groups], sensitive: Sequence[Groups], among: Bools, seed: int) -> list[Query]:
    """Return random queries: each column's range has about the same share of the rows, their product is the selectivity.

    The columns are taken at random, as in the workloads of Cao et al. 2011 (SABRE).
    """
    rng = np.random.default_rng(seed)
    before = [[np.bincount(one.rows[among], minlength=one.count) for one in columns] for columns in (quasi, sensitive)]
    low, high = np.log(SELECTIVITIES)
    found = []
    for _ in range(QUERIES):
        chosen = sorted(rng.choice(len(quasi), min(COLUMNS, len(quasi)), replace=False).tolist())
        last = int(rng.integers(len(sensitive)))
        share = float(np.exp(rng.uniform(low, high))) ** (1 / (len(chosen) + 1))
        ranges = {column: _range(before[0][column], share, rng) for column in chosen}
        found.append(Query(ranges, last, _range(before[1][last], share, rng)))
    return found


def _range(counts: Ints, share: float, rng: np.random.Generator) -> tuple[int, int]:
    """Return a random range of groups with about a share of the rows: its first group, and the one after the last."""
    ends = np.cumsum(counts) / counts.sum()
    start = rng.uniform(0, 1 - share)
    first = int(np.searchsorted(ends, start, side="right"))
    return first, max(first + 1, int(np.searchsorted(ends, start + share, side="left")))


def answer(query: Query, quasi: Sequence[Groups], sensitive: Sequence[Groups], among: Bools) -> int:
    """Return how many rows of the input answer a query."""
    inside = among.copy()
    for groups, (start, end) in _parts(query, quasi, sensitive):
        inside &= (groups.rows >= start) & (groups.rows < end)
    return int(np.count_nonzero(inside))


def estimate(query: Query, quasi: Sequence[Groups], sensitive: Sequence[Groups], sizes: Ints) -> float:
    """Return how many rows a reader of the release expects to answer a query: of each class the product of its shares."""
    expected: Floats = sizes.astype(np.float64)
    for groups, (start, end) in _parts(query, quasi, sensitive):
        expected *= groups.shares[:, start:end].sum(axis=1)
    return float(expected.sum())


def _parts(query: Query, quasi: Sequence[Groups], sensitive: Sequence[Groups]) -> list[tuple[Groups, tuple[int, int]]]:
    """Return the columns of a query with their ranges."""
    return [*((quasi[column], ends) for column, ends in query.quasi.items()), (sensitive[query.sensitive], query.values)]


def _median(values: Floats) -> float | None:
    """Return the median; None of nothing."""
    return float(np.median(values)) if len(values) else None
