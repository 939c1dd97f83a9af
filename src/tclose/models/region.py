"""(n,t)-closeness: each class is close to some region around it that holds at least n rows (Li et al. 2010, section 3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tclose.distances import Distance
from tclose.histograms import Histograms
from tclose.models.base import Verdict

Groups = NDArray[np.int64]


def judge_regions(classes: Histograms, distance: Distance, t: Fraction, n: int, coarsenings: Iterable[Groups]) -> Verdict:
    """Whether each class is within t of a region of at least n rows that contains it.

    The whole table is always tried; ``n`` = the table's rows gives t-closeness.

    Parameters
    ----------
    coarsenings
        Ways to put classes together to larger regions of quasi-identifier values: ``groups[i]`` is the region of class i, -1
        where it has none.
        Regions are recounted here from the classes. Whoever made the classes hands over the regions it used; without
        them the levels of the hierarchies serve.

    Returns
    -------
    Verdict
        Values are the least distance found. ``broken`` means "not shown": another region might do.
    """
    best = [Fraction(2)] * len(classes)  # farther than anything: nothing found yet
    whole = np.zeros(len(classes), dtype=np.int64)
    for groups in (*coarsenings, whole):
        members = np.flatnonzero(groups >= 0)
        if not len(members):
            continue
        numbers = np.unique(groups[members], return_inverse=True)[1]
        part = classes.take(members)
        regions = part.merged(numbers)
        alone = np.bincount(numbers) == 1
        for number in members[alone[numbers] & (part.sizes >= n)].tolist():
            best[number] = Fraction(0)  # a region that is the class itself
        for region in np.flatnonzero((regions.sizes >= n) & ~alone).tolist():
            inside = members[numbers == region]
            inside = inside[[best[number] > t for number in inside]]
            if len(inside):
                against = replace(classes.take(inside), table=regions.dense(region))
                ratios = zip(distance.numerators(against).tolist(), distance.denominators(against).tolist(), strict=True)
                for number, ratio in zip(inside.tolist(), ratios, strict=True):
                    best[number] = min(best[number], Fraction(*ratio))
    worst = max(best)
    return Verdict(
        np.array([float(value) if value <= 1 else np.inf for value in best]),
        np.array([value > t for value in best]),
        worst if worst <= 1 else float("inf"),
        classes.first + best.index(worst),
    )
