"""(n,t)-closeness: each class is close to some region around it that holds at least n rows (Li et al. 2010, section 3)."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tclose.distances import Distance
from tclose.histograms import Histograms
from tclose.models.base import Verdict

Groups = NDArray[np.int64]


def judge_regions(classes: Histograms, distance: Distance, t: Fraction, n: int, coarsenings: Iterable[Groups]) -> Verdict:
    """Whether each class is within t of a region of at least n rows that contains it.

    A class may be its own region, and the whole table is always tried; ``n`` = the table's rows gives t-closeness.

    Parameters
    ----------
    coarsenings
        Ways to put classes together to larger regions of quasi-identifier values: ``groups[i]`` is the region of class i.
        Regions are recounted here from the classes. Whoever made the classes hands over the regions it used; without
        them the levels of the hierarchies serve.

    Returns
    -------
    Verdict
        Values are the least distance found. ``broken`` means "not shown": another region might do.
    """
    best = [Fraction(0) if size >= n else Fraction(2) for size in classes.sizes.tolist()]
    whole = np.zeros(len(classes), dtype=np.int64)
    for groups in (*coarsenings, whole):
        regions = classes.merged(groups)
        large = regions.sizes >= n
        for number in range(len(classes)):
            if best[number] > t and large[groups[number]]:
                best[number] = min(best[number], distance.exact(classes.dense(number), regions.dense(int(groups[number]))))
    values = np.array([float(value) if value <= 1 else np.inf for value in best])
    worst = max(best)
    return Verdict(
        values,
        np.array([value > t for value in best]),
        worst if worst <= 1 else float("inf"),
        classes.first + best.index(worst),
    )
