"""Staging: a release is made of most people of a table, others are held back, and all of them are put on common scales."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from tclose.errors import PolicyError, got
from tclose.jobs import announce
from tclose.make.algorithm import Settings
from tclose.make.edges import with_edge_grids
from tclose.make.encode import EncodedTable, chosen_grids, encode, on_grids
from tclose.policy import Policy
from tclose.release.anonymize import anonymize
from tclose.release.opened import Opened, open_input
from tclose.release.published import on_chosen_grids
from tclose.release.release import Release
from tclose.study.scene import CONTROL, Scene
from tclose.tables.table import Table
from tclose.values.arrays import Bools, Ints
from tclose.values.exact import exact, number_of

ALL = 50_000
"""The largest number of persons on all of whom attacks are tried."""
TRIED = 20_000
"""Of more persons, at most this many of the release, and this many of the controls, are chosen at random."""
CELLS = 100_000_000
"""The largest number of pairs of a person and a sensitive value. With more values, fewer persons are chosen."""


@dataclass(frozen=True, eq=False)
class Staged:
    """A release, and the people whom it is studied on.

    Attributes
    ----------
    opened : Opened
        The table as it was read.
    encoded : EncodedTable
        All its rows.
    release : Release
        Of all rows, or of those that were not held back.
    scene : Scene
        Its policy has the grids that were chosen.
    """

    opened: Opened
    encoded: EncodedTable
    release: Release
    scene: Scene


def stage(table: Any, policy: Policy, settings: Settings, release: Release | None, held: Fraction) -> Staged:
    """Return a release of a table with the people in it and, unless one is given, people who were held back before it was made.

    Parameters
    ----------
    settings : Settings
        Of the algorithm that makes the release. Its seed chooses those who are held back as well.
    release : Release or None
        A release of all rows of the table, which is studied instead.
    held : Fraction
        The share of the persons to hold back.
    """
    if settings.algorithm.several:
        raise PolicyError(f"{settings.algorithm.name} makes several tables, and one is studied here. Choose another algorithm.")
    announce("Encoding")
    opened = open_input(table, policy, settings.algorithm)
    encoded = encode(opened.source, policy, opened.unit, opened.roles.kept, lambda _: None)
    # One grid for members, controls and a register: that of the release, or one for all of them.
    policy = on_chosen_grids(policy, chosen_grids(encoded.scales) if release is None else release._details.grids)
    labels = np.full(encoded.rows, CONTROL, dtype=np.int64)
    if release is None:
        inside = ~_held_back(encoded, held, settings.seed)
        release = _release_of(opened, policy, encoded.order[inside], settings)
        labels[inside] = release.partition
    else:
        labels = labels_of(release, "release", policy, encoded)
    sample = _sample(encoded, labels, settings.seed)
    scene = Scene(policy, as_published(opened.source, encoded, release), labels, _ranks(opened, policy, encoded), sample)
    return Staged(opened, encoded, release, scene)


def as_published(source: Table, encoded: EncodedTable, release: Release) -> EncodedTable:
    """Return encoded rows on the scales that a release is published on: grids, levels of hierarchies, and ends that are moved."""
    details = release._details
    table = on_grids(source, details.policy, encoded, details.grids)
    return with_edge_grids(table.at_levels(details.levels), details.policy.edges, details.edge_grids)


def share_of(given: Any, name: str, whole: str) -> Fraction:
    """Return a share of persons; raise PolicyError unless it is between 0 and 1."""
    try:
        share = exact(given)
    except (ValueError, OverflowError):
        share = Fraction(0)
    if not 0 < share < 1:
        raise PolicyError(f"{name} must be a share of the {whole} between 0 and 1, as 1/10. Got {got(given)}.")
    return share


def held_back(share: Fraction, persons: int) -> int:
    """Return how many persons are held back."""
    return round(share * persons)


def _held_back(encoded: EncodedTable, share: Fraction, seed: int) -> Bools:
    """Return which rows are those of controls: all rows of persons who are chosen at random.

    Rows are sorted by what they contain, so the choice does not depend on the order of the input.
    """
    persons = np.arange(encoded.rows) if encoded.persons is None else encoded.persons
    names = np.unique(persons)
    count = held_back(share, len(names))
    if not 0 < count < len(names):
        some = "all of them" if count else "none of them"
        raise PolicyError(
            f"The table has {number_of(len(names), 'person')}, and a holdout of {share} is {some}. Choose another holdout."
        )
    held = np.random.default_rng(seed).choice(names, count, replace=False)
    return np.isin(persons, held)


def _sample(encoded: EncodedTable, labels: Ints, seed: int) -> Bools | None:
    """Return which rows are those of people on whom attacks are tried; None if it is everybody.

    Persons are chosen at random, from the release and from those who were held back. As in `_held_back`, the choice does not
    depend on the order of the input.
    """
    persons = np.arange(encoded.rows) if encoded.persons is None else encoded.persons
    values = max(len(attribute.values) for attribute in encoded.sensitive)
    if len(np.unique(persons)) <= ALL and encoded.rows * values <= CELLS:
        return None
    chosen, most = [], min(TRIED, max(1, CELLS // values))
    random = np.random.default_rng((seed, 1))  # another stream than that of the controls
    for group in (labels >= 0, labels == CONTROL):
        names = np.unique(persons[group])
        chosen.append(random.choice(names, min(most, len(names)), replace=False))
    return np.isin(persons, np.concatenate(chosen))


def _release_of(opened: Opened, policy: Policy, rows: Ints, settings: Settings) -> Release:
    """Return a release of some rows of a table, which are read as they were in it."""
    hidden = [name for name in policy.identifiers if name in opened.source]
    names = dict.fromkeys([*opened.roles.kinds, *hidden])
    part = opened.source.take(list(names), rows)
    asked = replace(policy, input=None, drop=[])
    made = anonymize(part, asked, algorithm=settings.algorithm.name, seed=settings.seed, effort=settings.effort)
    assert isinstance(made, Release)
    return made


def _ranks(opened: Opened, policy: Policy, encoded: EncodedTable) -> dict[str, Ints]:
    """Return the ranks of the values of quasi-identifiers with a grid or a limit, in the order of the encoded rows."""
    names = [column.name for column in policy.quasi if any(end is not None for end in (column.snap, column.top, column.bottom))]
    ranks = (found for _, found in opened.source.rows(names)) if names else ()
    return {name: rank[encoded.order].astype(np.int64) for name, rank in zip(names, ranks, strict=True)}


def labels_of(release: Release, name: str, policy: Policy, encoded: EncodedTable) -> Ints:
    """Return the class of each encoded row in a release; raise PolicyError if it is not one of this table."""
    if len(release.partition) != encoded.rows:
        raise PolicyError(
            f"{name} must be made from this table, of {encoded.rows:,} rows. Got one from {len(release.partition):,} rows."
        )
    asked, made = ([column.name for column in each.quasi] for each in (policy, release._details.policy))
    if asked != made:
        raise PolicyError(f"{name} must have the quasi-identifiers of the policy: {', '.join(asked)}. Got {', '.join(made)}.")
    return release.partition[encoded.order]
