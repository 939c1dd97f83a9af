"""Scene: the people whom an attacker knows, the release that the attacker reads, and the truth about the people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tclose.jobs import check
from tclose.make.encode import Attribute, EncodedTable
from tclose.make.scales import Claims, Scale
from tclose.policy import Policy
from tclose.values.arrays import Bools, Bytes, Floats, Ints, grouped, renumber

CONTROL = -2
"""The class of people who are not in the table that was released."""
CHUNK = 4_000_000
"""Pairs of people and classes that are looked at together."""


@dataclass(frozen=True, eq=False)
class Scene:
    """People whom an attacker knows by their quasi-identifiers: some have rows in a release, others were held back.

    Attacks are tried on all of them, or on a sample: the members, who are in the release, and the controls, who are not. The
    attacker reads all of the release in any case.

    Attributes
    ----------
    policy : Policy
    table : EncodedTable
        The rows of all people. The scales are those of members and controls together.
    labels : (rows,) int64
        The class of each row; -1 where it is suppressed, `CONTROL` where it was held back.
    raw : dict of (rows,) int64
        The ranks of the values of quasi-identifiers with a grid or a limit, whose codes stand for several values.
    sample : (rows,) bool or None
        Which rows are those of people on whom attacks are tried; None if it is everybody.
    """

    policy: Policy
    table: EncodedTable
    labels: Ints
    raw: dict[str, Ints] = field(default_factory=dict)
    sample: Bools | None = None

    @cached_property
    def published(self) -> Ints:
        """The rows that are in the release."""
        return np.flatnonzero(self.labels >= 0)

    @cached_property
    def held_back(self) -> Ints:
        """The rows that were held back; none where a release was given."""
        return np.flatnonzero(self.labels == CONTROL)

    @cached_property
    def members(self) -> Ints:
        """The rows in the release of people on whom attacks are tried."""
        return self.published if self.sample is None else self.published[self.sample[self.published]]

    @cached_property
    def controls(self) -> Ints:
        """The rows that were held back of people on whom attacks are tried."""
        return self.held_back if self.sample is None else self.held_back[self.sample[self.held_back]]

    @cached_property
    def persons(self) -> Ints:
        """The person of each row, numbered from 0; each row is one where the policy names no unit."""
        found = self.table.persons
        return np.arange(self.table.rows) if found is None else found.astype(np.int64)

    @cached_property
    def sizes(self) -> Ints:
        """The number of rows of each class."""
        return np.bincount(self.labels[self.published]).astype(np.int64)

    @property
    def classes(self) -> int:
        """The number of classes of the release."""
        return len(self.sizes)

    def counts(self, attribute: Attribute, among: Bools | None = None) -> Floats:
        """Return how many rows of each class have each value: (classes, values); of some rows only, if ``among`` says which."""
        rows = self.published if among is None else self.published[among[self.published]]
        keys = self.labels[rows] * len(attribute.values) + attribute.codes[rows].astype(np.int64)
        counts = np.bincount(keys, minlength=self.classes * len(attribute.values))
        return counts.reshape(self.classes, -1).astype(np.float64)

    @cached_property
    def combinations(self) -> tuple[Ints, Ints]:
        """One row of each combination of quasi-identifiers that people have, and for each row the number of its combination."""
        number, first = np.zeros(self.table.rows, dtype=np.int64), np.zeros(0, dtype=np.int64)
        for scale, codes in zip(self.table.scales, self.table.quasi, strict=True):
            number, first = renumber(number * scale.size + codes)
        return first, number

    @cached_property
    def published_scales(self) -> list[Scale]:
        """The scales on which the classes are published: the ends of some ranges may be moved on them."""
        return self.table.scales_of(*grouped(np.maximum(self.labels, -1)))

    @cached_property
    def attained(self) -> list[Claims]:
        """For each quasi-identifier what published classes prove: which codes some persons of a class must have."""
        rows, starts = grouped(np.maximum(self.labels, -1))
        pairs = zip(self.published_scales, self.table.quasi, strict=True)
        return [scale.claims(codes[rows].astype(np.int64), starts) for scale, codes in pairs]

    @cached_property
    def _covering(self) -> list[Bytes]:
        """For each quasi-identifier and each code, as bits, which published classes may stand for it."""
        rows, starts = grouped(np.maximum(self.labels, -1))
        found = []
        for scale, codes in zip(self.published_scales, self.table.quasi, strict=True):
            covers = scale.covers(codes[rows].astype(np.int64), starts)
            found.append(np.stack([np.packbits(covers(code)) for code in range(scale.size)]))
        return found

    def containing(self, rows: Ints, only: Bytes | None = None, by: int = 0) -> Iterator[tuple[Ints, Bools]]:
        """Yield some rows in parts, as indices, with the classes that contain their quasi-identifiers: (part, classes) bool.

        If ``only`` says for each code of the quasi-identifier ``by`` which classes are asked for, as bits, others are left out.
        """
        step = max(1, CHUNK // max(self.classes, 1))
        for start in range(0, len(rows), step):
            check()
            part = np.arange(start, min(start + step, len(rows)))
            bits = np.full((len(part), self._covering[0].shape[1]), 255, dtype=np.uint8)
            for packed, codes in zip(self._covering, self.table.quasi, strict=True):
                bits &= packed[codes[rows[part]]]
            if only is not None:
                bits &= only[self.table.quasi[by][rows[part]]]
            yield part, np.unpackbits(bits, axis=1, count=self.classes).view(np.bool_)

    def contains(self, rows: Ints, classes: Ints) -> Bools:
        """Return for pairs of a row and a class whether the class contains the row's quasi-identifiers."""
        byte, bit = np.divmod(classes, 8)
        found = np.ones(len(rows), dtype=np.bool_)
        for packed, codes in zip(self._covering, self.table.quasi, strict=True):
            found &= (packed[codes[rows], byte] << bit.astype(np.uint8)) >= 128
        return found

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
        used, inverse = np.unique(self.combinations[1][rows], return_inverse=True)
        found = np.empty((len(used), counts.shape[1]))
        for part, contains in self.containing(self.combinations[0][used]):
            found[part] = contains.astype(np.float64) @ counts
        found[found.sum(axis=1) == 0] = otherwise
        return found[inverse]


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
