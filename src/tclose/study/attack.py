"""attack: what a release still gives away about people, measured against people who are not in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import permutations
from typing import Any

import numpy as np

from tclose.errors import PolicyError, raising_alone
from tclose.jobs import announce, report
from tclose.make.encode import Attribute, EncodedTable
from tclose.make.registry import settings_of
from tclose.policy import Policy, check_policy
from tclose.release.opened import Opened
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
from tclose.study.attacks.several_rows import same_in_all_rows, several_rows
from tclose.study.attacks.similarity import similarity, too_many
from tclose.study.attacks.skewness import skewness
from tclose.study.attacks.uniques import Uniques, population_uniques
from tclose.study.register import open_register, with_register
from tclose.study.scene import Scene
from tclose.study.staging import as_published, labels_of, share_of, stage
from tclose.values.arrays import renumber


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
    table : path, pandas, polars or pyarrow table, DuckDB relation or ibis table
        Which files are read is in docs/tables.md.
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
    held = share_of(holdout, "holdout", "persons")
    taken = None if sampling is None else float(share_of(sampling, "sampling", "population"))
    settings = settings_of(algorithm, seed, effort, None)
    people = None if register is None else open_register(register, policy)
    staged = stage(table, policy, settings, release, held)
    scene, encoded = staged.scene, staged.encoded
    population = None
    if people is not None:
        announce("Reading the register")
        population = with_register(staged, people)
    before = None
    if earlier is not None:
        classes = labels_of(earlier, "earlier", policy, encoded)
        before = Scene(scene.policy, as_published(staged.opened.source, encoded, earlier), classes)
    announce("Attacking")
    uniques = None if taken is None else _uniques(staged.opened, policy, encoded, taken)
    outcomes = [*_outcomes(scene), *linking(scene, taken, population, uniques)]
    outcomes += [] if before is None else intersection(scene, before)
    found = [record_of(scene, outcome) for outcome in outcomes]
    members, controls, *tried = (
        len(np.unique(scene.persons[rows])) for rows in (scene.published, scene.held_back, scene.members, scene.controls)
    )
    return Attacks(found, members, controls, Tried(*tried), staged.release, list(_skipped(scene)))


def attack_scene(scene: Scene) -> list[Attack]:
    """Return the attacks on a release that need nothing but its people."""
    return [record_of(scene, outcome) for outcome in _outcomes(scene)]


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
        if same_in_all_rows(scene, attribute):
            yield several_rows(scene, seen)
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
