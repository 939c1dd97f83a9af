"""Groups: neighbouring values of a column put together, so that a release and its input can be counted alike."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tclose.make.encode import Attribute
from tclose.make.scales import Scale
from tclose.study.scene import CONTROL, Scene
from tclose.values.arrays import Floats, Ints, grouped
from tclose.values.hierarchy import printed


@dataclass(frozen=True, eq=False)
class Groups:
    """A column in groups: of the rows of the input, and of the classes of a release as a reader expects them.

    Attributes
    ----------
    name : str
    labels : list of str
        What each group contains.
    rows : (people,) int64
        The group of each row of the scene; controls have one too.
    shares : (classes, groups) float64
        The share of each class that a reader expects in each group. A quasi-identifier is distributed evenly over the values that
        its published value covers; a sensitive attribute is as it is.
    """

    name: str
    labels: list[str]
    rows: Ints
    shares: Floats

    @property
    def count(self) -> int:
        """The number of groups."""
        return len(self.labels)


def groups_of(scene: Scene, most: int) -> tuple[list[Groups], list[Groups]]:
    """Return the quasi-identifiers and the sensitive attributes of a scene, each in at most ``most`` groups."""
    columns = zip(scene.table.scales, scene.published_scales, scene.table.quasi, strict=True)
    quasi = [_of_quasi(scene, scale, published, codes.astype(np.int64), most) for scale, published, codes in columns]
    return quasi, [_of_sensitive(scene, attribute, most) for attribute in scene.table.sensitive]


def _of_quasi(scene: Scene, scale: Scale, published: Scale, codes: Ints, most: int) -> Groups:
    """Return a quasi-identifier in groups of neighbouring codes; ``published`` is the scale that its classes are on."""
    of_code = cut(np.bincount(codes[scene.labels != CONTROL], minlength=scale.size), most)
    rows, starts = grouped(np.maximum(scene.labels, -1))
    covers = published.covers(codes[rows], starts)
    shares = np.zeros((scene.classes, int(of_code[-1]) + 1))
    for code in range(scale.size):
        shares[:, of_code[code]] += covers(code)
    inside, ends = grouped(of_code)
    label = next(iter(scale.publish(inside, ends).columns.values()))
    labels = [str(label.values[index]) for index in label.indices]
    return Groups(scale.name, labels, of_code[codes], shares / shares.sum(axis=1, keepdims=True))


def _of_sensitive(scene: Scene, attribute: Attribute, most: int) -> Groups:
    """Return a sensitive attribute in groups of neighbouring codes, with the counts of each class as shares."""
    codes = attribute.codes.astype(np.int64)
    of_code = cut(np.bincount(codes[scene.labels != CONTROL], minlength=len(attribute.values)), most)
    counts = scene.counts(attribute)
    shares = np.stack([counts[:, of_code == group].sum(axis=1) for group in range(int(of_code[-1]) + 1)], axis=1)
    inside, ends = grouped(of_code)
    texts = [printed(value) for value in attribute.values]
    edges = [(texts[inside[start]], texts[inside[end - 1]]) for start, end in pairwise(ends)]
    labels = [first if first == last else f"{first} to {last}" for first, last in edges]
    return Groups(attribute.column.name, labels, of_code[codes], shares / shares.sum(axis=1, keepdims=True))


def cut(counts: Ints, most: int) -> Ints:
    """Return the group of each code: neighbouring codes with about as many rows in each of at most ``most`` groups.

    >>> cut(np.array([5, 1, 1, 1, 2, 10]), 4).tolist()
    [0, 1, 1, 1, 1, 2]
    >>> cut(np.array([5, 1, 9]), 4).tolist()
    [0, 1, 2]
    """
    if len(counts) <= most:
        return np.arange(len(counts))
    middles = np.cumsum(counts) - counts / 2  # the middle of each code's rows says in which part of the rows it lies
    parts = (middles * most / max(int(counts.sum()), 1)).astype(np.int64)
    return np.unique(np.minimum(parts, most - 1), return_inverse=True)[1].astype(np.int64)
