"""Scene: the people whom an attacker knows, the release that the attacker reads, and the truth about the people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tclose.make.encode import Attribute, EncodedTable
from tclose.policy import Policy
from tclose.values.arrays import Bools, Bytes, Floats, Ints, grouped

CONTROL = -2
"""The class of people who are not in the table that was released."""
CHUNK = 4_000_000
"""Pairs of people and classes that are looked at together."""


@dataclass(frozen=True, eq=False)
class Scene:
    """People whom an attacker knows by their quasi-identifiers: members, whose rows are in a release, and controls.

    Attributes
    ----------
    policy : Policy
    table : EncodedTable
        The rows of all people. The scales are those of members and controls together.
    labels : (rows,) int64
        The class of each row; -1 where it is suppressed, `CONTROL` where it was held back.
    raw : dict of (rows,) int64
        The ranks of the values of quasi-identifiers with a grid or a limit, whose codes stand for several values.
    """

    policy: Policy
    table: EncodedTable
    labels: Ints
    raw: dict[str, Ints] = field(default_factory=dict)

    @property
    def members(self) -> Ints:
        """The rows that are in the release."""
        return np.flatnonzero(self.labels >= 0)

    @property
    def controls(self) -> Ints:
        """The rows that were held back; none where a release was given."""
        return np.flatnonzero(self.labels == CONTROL)

    @cached_property
    def persons(self) -> Ints:
        """The person of each row, numbered from 0; each row is one where the policy names no unit."""
        found = self.table.persons
        return np.arange(self.table.rows) if found is None else found.astype(np.int64)

    @cached_property
    def sizes(self) -> Ints:
        """The number of rows of each class."""
        return np.bincount(self.labels[self.members]).astype(np.int64)

    @property
    def classes(self) -> int:
        """The number of classes of the release."""
        return len(self.sizes)

    def counts(self, attribute: Attribute, among: Bools | None = None) -> Floats:
        """Return how many rows of each class have each value: (classes, values); of some rows only, if ``among`` says which."""
        rows = self.members if among is None else self.members[among[self.members]]
        keys = self.labels[rows] * len(attribute.values) + attribute.codes[rows].astype(np.int64)
        counts = np.bincount(keys, minlength=self.classes * len(attribute.values))
        return counts.reshape(self.classes, -1).astype(np.float64)

    @cached_property
    def combinations(self) -> tuple[Ints, Ints]:
        """One row of each combination of quasi-identifiers that people have, and for each row the number of its combination."""
        known = np.stack([codes.astype(np.int64) for codes in self.table.quasi], axis=1)
        _, first, number = np.unique(known, axis=0, return_index=True, return_inverse=True)
        return first, number.reshape(-1)

    @cached_property
    def attained(self) -> list[Ints]:
        """For each quasi-identifier, ``class * size + code`` of the codes that somebody in a published class must have."""
        rows, starts = grouped(np.maximum(self.labels, -1))
        pairs = zip(self.table.scales, self.table.quasi, strict=True)
        return [scale.attained(codes[rows].astype(np.int64), starts) for scale, codes in pairs]

    @cached_property
    def _covering(self) -> list[Bytes]:
        """For each quasi-identifier and each code, as bits, which published classes may stand for it."""
        rows, starts = grouped(np.maximum(self.labels, -1))
        found = []
        for scale, codes in zip(self.table.scales, self.table.quasi, strict=True):
            covers = scale.covers(codes[rows].astype(np.int64), starts)
            found.append(np.stack([np.packbits(covers(code)) for code in range(scale.size)]))
        return found

    def containing(self, rows: Ints) -> Iterator[tuple[Ints, Bools]]:
        """Yield some rows in parts, as indices, with the classes that contain their quasi-identifiers: (part, classes) bool."""
        step = max(1, CHUNK // max(self.classes, 1))
        for start in range(0, len(rows), step):
            part = np.arange(start, min(start + step, len(rows)))
            bits = np.full((len(part), self._covering[0].shape[1]), 255, dtype=np.uint8)
            for packed, codes in zip(self._covering, self.table.quasi, strict=True):
                bits &= packed[codes[rows[part]]]
            yield part, np.unpackbits(bits, axis=1, count=self.classes).view(np.bool_)

    def beliefs(self, counts: Floats, rows: Ints, otherwise: Floats) -> Floats:
        """Return what an attacker counts for some people: the rows with each value in all classes that contain them.

        That spreads a person over all classes whose published quasi-identifiers contain theirs, by size. It is the same procedure
        for members and controls: the attacker does not know who is in the table.

        Parameters
        ----------
        counts : (classes, values)
            How many rows of each class have each value.
        rows : (people,) int64
        otherwise : (values,)
            What is believed where no class contains a person, or none with a row to count.

        Returns
        -------
        (people, values) float64
        """
        known = np.stack([codes[rows] for codes in self.table.quasi], axis=1)
        _, first, inverse = np.unique(known, axis=0, return_index=True, return_inverse=True)
        found = np.empty((len(first), counts.shape[1]))
        for part, contains in self.containing(rows[first]):
            found[part] = contains.astype(np.float64) @ counts
        found[found.sum(axis=1) == 0] = otherwise
        return found[inverse.reshape(-1)]


def find_keys(keys: Ints, among: Ints) -> tuple[Ints, Bools]:
    """Return the index of each key among ascending ones, and whether it is there; the index says nothing where it is not.

    >>> find_keys(np.array([7, 2, 5]), np.array([2, 7]))
    (array([1, 0, 1]), array([ True,  True, False]))
    """
    if not len(among):
        return np.zeros_like(keys), np.zeros(len(keys), dtype=np.bool_)
    at = np.minimum(np.searchsorted(among, keys), len(among) - 1)
    return at, among[at] == keys


def one_person(groups: Ints, least: Ints, most: Ints, count: int) -> Bools:
    """Return for each group whether its entries, given by their least and greatest person, are of one person alone."""
    low, high = np.full(count, np.iinfo(np.int64).max), np.full(count, -1)
    np.minimum.at(low, groups, least)
    np.maximum.at(high, groups, most)
    alone: Bools = low == high
    return alone
