"""(n,t)-closeness: each class is within t of some region around it that has at least n rows (Li et al. 2010, section 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tclose.distances import Distance
from tclose.judge.emd import denominators, numerators
from tclose.judge.models.base import Verdict
from tclose.values.histograms import Histograms

Regions = Callable[[NDArray[np.bool_]], Iterable[NDArray[np.int64]]]
"""A function from the classes that still need a region, an array that changes meanwhile, to regions: the classes inside each."""


def judge_regions(classes: Histograms, distance: Distance, t: Fraction, n: int, regions: Regions) -> Verdict:
    """Return the verdict of (n,t)-closeness: whether each class is within t of a region around it with at least n rows.

    The whole table is the first region; ``n`` = the table's rows gives t-closeness. The histogram of a region is the sum of those
    of the classes inside.

    Returns
    -------
    Verdict
        Values are the least distance found; a class within t is not compared again. ``broken`` means "not shown": some region
        that was not tried might be close enough.
    """
    best = [Fraction(2)] * len(classes)  # above any distance: no region compared yet
    wanted = np.ones(len(classes), dtype=bool)

    def compare(inside: NDArray[np.int64]) -> None:
        """Compare the classes of a region that are not yet within t of one with the distribution of the region's rows."""
        part = classes.take(inside)
        if part.counts.sum() < n:
            return
        region = np.zeros_like(classes.table)
        np.add.at(region, part.codes, part.counts)
        searching = inside[wanted[inside]]
        against = replace(classes.take(searching), table=region)
        ratios = zip(numerators(distance, against).tolist(), denominators(distance, against).tolist(), strict=True)
        for number, ratio in zip(searching.tolist(), ratios, strict=True):
            best[number] = min(best[number], Fraction(*ratio))
            wanted[number] = best[number] > t

    compare(np.arange(len(classes)))
    if wanted.any():
        for inside in regions(wanted):
            if wanted[inside].any():
                compare(inside)
    worst = max(best)
    return Verdict(
        np.array([float(value) if value <= 1 else np.inf for value in best]),
        wanted,
        worst if worst <= 1 else float("inf"),
        classes.first + best.index(worst),
    )
