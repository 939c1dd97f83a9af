"""Associations: how strongly two columns go together in the input, and in the release as a reader expects it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tclose.study.scene import CONTROL, Scene
from tclose.study.utility.groups import Groups
from tclose.values.arrays import Bools, Floats


@dataclass(frozen=True)
class Association:
    """Cramér's V of two columns, in groups of neighbouring values: 0 if neither tells anything of the other, 1 if one tells all.

    Attributes
    ----------
    columns : pair of str
    before, after : float
        In the input; and in the release, if within a class a quasi-identifier does not depend on other columns.
    """

    columns: tuple[str, str]
    before: float
    after: float


def associations(scene: Scene, quasi: Sequence[Groups], sensitive: Sequence[Groups]) -> list[Association]:
    """Return the association of all pairs of columns.

    Two sensitive columns stand in the same rows of the release as in the input. Of a quasi-identifier and another column a reader
    knows only what the classes say.
    """
    found = []
    for first, second in combinations([*quasi, *sensitive], 2):
        if first in sensitive:
            after = _joint(first, second, scene.labels >= 0)
        else:
            after = (first.shares * scene.sizes[:, None]).T @ second.shares
        before = _joint(first, second, scene.labels != CONTROL)
        found.append(Association((first.name, second.name), cramers_v(before), cramers_v(after)))
    return found


def _joint(first: Groups, second: Groups, among: Bools) -> Floats:
    """Return how many of some rows are in each pair of groups of two columns."""
    keys = first.rows[among] * second.count + second.rows[among]
    counts = np.bincount(keys, minlength=first.count * second.count)
    return counts.reshape(first.count, second.count).astype(np.float64)


def cramers_v(joint: Floats) -> float:
    """Return Cramér's V of a table of counts; 0 where one of its columns or rows has everything.

    >>> cramers_v(np.array([[10.0, 0.0], [0.0, 10.0]])), cramers_v(np.array([[4.0, 8.0], [2.0, 4.0]]))
    (1.0, 0.0)
    """
    joint = joint[joint.sum(axis=1) > 0][:, joint.sum(axis=0) > 0]
    least = min(joint.shape) - 1
    if least < 1:
        return 0.0
    total = joint.sum()
    expected = np.outer(joint.sum(axis=1), joint.sum(axis=0)) / total
    squares = float(((joint - expected) ** 2 / expected).sum())
    return float(np.sqrt(squares / (total * least)))
