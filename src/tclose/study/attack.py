"""attack: what a release still gives away about people, measured against people who are not in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np

from tclose.errors import PolicyError, got, raising_alone
from tclose.jobs import announce, report
from tclose.make.algorithm import Settings
from tclose.make.encode import Attribute, EncodedTable, encode
from tclose.make.registry import settings_of
from tclose.policy import Policy, check_policy
from tclose.release.anonymize import anonymize
from tclose.release.opened import Opened, open_input
from tclose.release.published import on_chosen_grids
from tclose.release.release import Release
from tclose.study.attacks.background import background
from tclose.study.attacks.believed import believed, too_detailed
from tclose.study.attacks.edges import edges, find_edges, told_about
from tclose.study.attacks.homogeneity import homogeneity
from tclose.study.attacks.intersection import intersection
from tclose.study.attacks.join import join, too_long
from tclose.study.attacks.kept import kept
from tclose.study.attacks.learning import learn, learning
from tclose.study.attacks.linking import linking
from tclose.study.attacks.record import Attack, Outcome, record_of
from tclose.study.attacks.refinement import refine, refinement, too_large
from tclose.study.attacks.similarity import similarity, too_many
from tclose.study.attacks.skewness import skewness
from tclose.study.attacks.uniques import Uniques, population_uniques
from tclose.study.register import open_register, with_register
from tclose.study.scene import CONTROL, Scene
from tclose.values.arrays import Bools, Ints, renumber
from tclose.values.exact import exact

ALL = 50_000
"""The largest number of persons on all of whom attacks are tried."""
TRIED = 20_000
"""Of more persons, at most this many of the release, and this many of the controls, are chosen at random."""
CELLS = 100_000_000
"""The largest number of pairs of a person and a sensitive value. With more values, fewer persons are chosen."""


@dataclass(frozen=True)
class Tried:
    """On how many persons attacks were tried: all, or some of them who were chosen at random."""

    members: int
    controls: int


@dataclass(frozen=True, eq=False, repr=False)
class Attacks:
    """All attacks on a release. INTERNAL: it is measured with the raw table, and must not be published.

    Attributes
    ----------
    attacks : list of Attack
    members, controls : int
        How many persons are in the release, and how many were held back.
    tried : Tried
        On how many of them the attacks were tried: all, or a random sample if there are more than 50,000, or if a sensitive
        attribute has very many values. Homogeneity, background knowledge, edges, refinement and linking go over everybody in any
        case. The shares of each attack say of how many persons they are.
    release : Release
        The release that was attacked.
    skipped : list of str
        Which attacks were not tried, and why: a sentence for each.
    """

    attacks: list[Attack]
    members: int
    controls: int
    tried: Tried
    release: Release
    skipped: list[str]

    def __iter__(self) -> Iterator[Attack]:
        """Iterate over the attacks."""
        return iter(self.attacks)

    def to_dict(self) -> dict[str, Any]:
        """Return all attacks as a mapping for JSON."""
        found = [attack.to_dict() for attack in self.attacks]
        counts = {"members": self.members, "controls": self.controls, "tried": asdict(self.tried)}
        return {"internal": True, **counts, "attacks": found, "skipped": self.skipped}

    def to_json(self) -> str:
        """Return all attacks as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def __repr__(self) -> str:
        """Return the number of attacks and the largest excess in one line."""
        excesses = [attack.excess for attack in self.attacks if attack.excess is not None]
        most = f"; largest excess {max(excesses):+.1%}" if excesses else ""
        return f"<Attacks: {len(self.attacks)} on {self.members:,} persons, {self.controls:,} controls{most}; INTERNAL>"


@raising_alone
def attack(
    table: Any,
    policy: Policy,
    *,
    release: Release | None = None,
    holdout: Any = "1/10",
    earlier: Release | None = None,
    sampling: Any = None,
    register: Any = None,
    algorithm: str | None = None,
    effort: str = "balanced",
    seed: int = 0,
) -> Attacks:
    """Attack a release of a table, and measure how often each attack is right about people.

    A share of the persons is held back at random as controls, and a release is made of the rest. The same procedure attacks both.
    If it works as well for people who are not in the table, it is what the table teaches. The excess is what it gives away.

    Parameters
    ----------
    table : path (CSV, Parquet, Arrow), pandas, polars or pyarrow table
    policy : Policy
        With a k; see `tclose.anonymize`.
    release : Release, optional
        A release of this table under this policy, which is attacked instead. There are no controls then.
    holdout : number or text
        The share of the persons to hold back: above 0, below 1.
    earlier : Release, optional
        An earlier release of the same table, with the same quasi-identifiers: what both tell together. It needs ``release``.
    sampling : number or text, optional
        The share of the population that is in the table, for the journalist's risk and the number of people of the population who
        are alone with their quasi-identifiers.
    register : path, pandas, polars or pyarrow table, optional
        People with their quasi-identifiers, for the journalist's risk: each row is a person. It is read as the table is.
    algorithm : str, optional
        The algorithm that makes the release; see `tclose.list_algorithms`.
    effort : str
        How long it may refine the release; see `tclose.anonymize`.
    seed : int
        For the choice of controls, and for the algorithm.

    Returns
    -------
    Attacks

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [*range(20, 60)] * 2, "ill": ["flu", "cold", "gout", "flu"] * 20})
    >>> found = attack(people, Policy(quasi=["age"], sensitive={"ill": 0.5}, k=4))
    >>> [one.name for one in found]
    ['homogeneity', 'background knowledge', 'skewness', 'similarity', 'learning', 'edges', 'refinement', 'prosecutor', 'marketer']
    """
    check_policy(policy)
    if earlier is not None and release is None:
        raise PolicyError("earlier is compared with a later release of the same table. Give it as release.")
    held = _share(holdout, "holdout", "persons")
    taken = None if sampling is None else float(_share(sampling, "sampling", "population"))
    settings = settings_of(algorithm, seed, effort, None)
    if settings.algorithm.several:
        raise PolicyError(f"{settings.algorithm.name} makes several tables, and one is attacked here. Choose another algorithm.")
    people = None if register is None else open_register(register, policy)
    announce("Encoding")
    opened = open_input(table, policy, settings.algorithm)
    encoded = encode(opened.source, policy, opened.unit, opened.roles.kept, lambda _: None)
    policy = on_chosen_grids(policy, encoded)  # one grid for members, controls and a register
    labels = np.full(encoded.rows, CONTROL, dtype=np.int64)
    if release is None:
        inside = ~_held_back(encoded, held, seed)
        release = _release_of(opened, policy, encoded.order[inside], settings)
        labels[inside] = release.partition
    else:
        labels = _labels_of(release, "release", policy, encoded)
    sample = _sample(encoded, labels, seed)
    scene = Scene(policy, encoded.at_levels(release._details.levels), labels, _ranks(opened, policy, encoded), sample)
    population = None
    if people is not None:
        announce("Reading the register")
        population = with_register(opened.source, policy, encoded.order, labels, release._details.levels, people)
    before = None
    if earlier is not None:
        classes = _labels_of(earlier, "earlier", policy, encoded)
        before = Scene(policy, encoded.at_levels(earlier._details.levels), classes)
    announce("Attacking")
    uniques = None if taken is None else _uniques(opened, policy, encoded, taken)
    outcomes = [*_outcomes(scene), *linking(scene, taken, population, uniques)]
    outcomes += [] if before is None else intersection(scene, before)
    found = [record_of(scene, outcome) for outcome in outcomes]
    members, controls, *tried = (
        len(np.unique(scene.persons[rows])) for rows in (scene.published, scene.held_back, scene.members, scene.controls)
    )
    return Attacks(found, members, controls, Tried(*tried), release, list(_skipped(scene)))


def _labels_of(release: Release, name: str, policy: Policy, encoded: EncodedTable) -> Ints:
    """Return the class of each encoded row in a release; raise PolicyError if it is not one of this table."""
    if len(release.partition) != encoded.rows:
        raise PolicyError(
            f"{name} must be made from this table, of {encoded.rows:,} rows. Got one from {len(release.partition):,} rows."
        )
    asked, made = ([column.name for column in each.quasi] for each in (policy, release._details.policy))
    if asked != made:
        raise PolicyError(f"{name} must have the quasi-identifiers of the policy: {', '.join(asked)}. Got {', '.join(made)}.")
    return release.partition[encoded.order]


def _share(given: Any, name: str, whole: str) -> Fraction:
    """Return a share of persons; raise PolicyError unless it is between 0 and 1."""
    try:
        share = exact(given)
    except (ValueError, OverflowError):
        share = Fraction(0)
    if not 0 < share < 1:
        raise PolicyError(f"{name} must be a share of the {whole} between 0 and 1, as 1/10. Got {got(given)}.")
    return share


def _held_back(encoded: EncodedTable, share: Fraction, seed: int) -> Bools:
    """Return which rows are those of controls: all rows of persons who are chosen at random.

    Rows are sorted by what they contain, so the choice does not depend on the order of the input.
    """
    persons = np.arange(encoded.rows) if encoded.persons is None else encoded.persons
    names = np.unique(persons)
    count = round(share * len(names))
    if not 0 < count < len(names):
        raise PolicyError(f"There are too few persons to hold some back: {len(names):,}.")
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


def _uniques(opened: Opened, policy: Policy, encoded: EncodedTable, sampling: float) -> Uniques:
    """Return how many persons are alone with their raw quasi-identifiers, in the table and in the population."""
    columns = opened.source.rows([column.name for column in policy.quasi])
    numbers = np.zeros(encoded.rows, dtype=np.int64)
    for values, codes in columns:
        numbers = renumber(numbers * len(values) + codes)[0]
    persons = np.arange(encoded.rows)
    if encoded.persons is not None:
        persons[encoded.order] = encoded.persons
    pairs = np.unique(numbers * encoded.rows + persons)  # several rows of a person with the same values are one
    return population_uniques(np.bincount(pairs // encoded.rows).astype(np.int64), sampling)


def _skipped(scene: Scene) -> Iterator[str]:
    """Yield which attacks are not tried, and why: a sentence for each."""
    for attribute in scene.table.sensitive:
        if (reason := too_detailed(scene, attribute) or too_many(attribute)) is not None:
            yield reason
    for known, wanted in permutations(_attacked(scene), 2):
        if (reason := too_long(scene, known, wanted)) is not None:
            yield reason
    if (reason := too_large(scene)) is not None:
        yield reason


def _attacked(scene: Scene) -> list[Attribute]:
    """Return the sensitive attributes that are attacked."""
    return [attribute for attribute in scene.table.sensitive if too_detailed(scene, attribute) is None]


def _outcomes(scene: Scene) -> Iterator[Outcome]:
    """Yield how each attack went."""
    report("edges")
    found = find_edges(scene)
    told: dict[str, Any] = {}
    attributes = _attacked(scene)
    for attribute in attributes:
        report(attribute.column.name)
        seen = believed(scene, attribute)
        yield homogeneity(seen)
        yield background(seen)
        yield skewness(seen)
        if too_many(attribute) is None:
            yield similarity(seen)
        learned = learn(scene, attribute)
        yield learning(scene, attribute, learned)
        told[attribute.column.name] = told_about(scene, found, seen, learned)
    for known, wanted in permutations(attributes, 2):
        if too_long(scene, known, wanted) is None:
            report(f"{wanted.column.name} from {known.column.name}")
            yield join(scene, known, wanted)
    yield edges(scene, found, told)
    if too_large(scene) is None:
        report("refinement")
        refined = refine(scene)
        for attribute in attributes:
            yield refinement(scene, refined, attribute)
    if scene.table.kept:
        report("kept columns")
        yield kept(scene)
