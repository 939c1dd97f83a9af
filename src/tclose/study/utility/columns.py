"""Columns before and after: how the values of each column are distributed in the input and, to a reader, in the release."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tclose.study.scene import CONTROL, Scene
from tclose.study.utility.groups import Groups


@dataclass(frozen=True)
class ColumnKept:
    """The distribution of a column in the input and in the release.

    Attributes
    ----------
    name : str
    labels : list of str
        Groups of neighbouring values.
    before, after : list of float
        The share of each group among the rows of the input; and as a reader of the release expects it, who distributes each class
        evenly over the values that it covers.
    moved : float
        The share of the rows that would have to change their group for both to be the same (total variation).
    """

    name: str
    labels: list[str]
    before: list[float]
    after: list[float]
    moved: float


def compare_column(scene: Scene, groups: Groups) -> ColumnKept:
    """Return a column before and after."""
    counts = np.bincount(groups.rows[scene.labels != CONTROL], minlength=groups.count)
    before = counts / counts.sum()
    after = scene.sizes @ groups.shares / scene.sizes.sum()
    moved = float(np.abs(before - after).sum() / 2)
    return ColumnKept(groups.name, groups.labels, before.tolist(), after.tolist(), moved)
