"""The record of an attack: how often it is right about members, and about people who are not in the table."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from tclose.study.scene import Scene
from tclose.values.arrays import Bools, Floats, Ints

NORMAL = 1.959963984540054
"""95% of a normal distribution lie within this many standard deviations of its mean."""
LEAST = 30
"""Members of a group that can be named as the worst: in smaller ones chance decides."""
BANDS = 4
"""A quasi-identifier of many values is divided into this many groups of about as many members."""


@dataclass(frozen=True)
class Rate:
    """How often an attack is right about people.

    Attributes
    ----------
    share : float
        The mean over persons. One with several rows counts once: by the mean over their rows; where the attacker knows when they
        are right, if it is so for one of them.
    persons : int
    error : float
        The standard error of the share.
    """

    share: float
    persons: int
    error: float


@dataclass(frozen=True)
class Worst:
    """The group of members about whom an attack is right most often: those with one value, or band, of a quasi-identifier."""

    column: str
    label: str
    share: float
    persons: int


@dataclass(frozen=True)
class Attack:
    """One attack on a release.

    Attributes
    ----------
    name : str
    sensitive : str or None
        The attribute that the attacker wants to know.
    knows : str
        What the attacker knows besides the release.
    does : str
        What the attacker does: "is certain of their disease".
    before : float or None
        How often the attacker is right from the table's shares alone.
    members : Rate
        How often they are right about people in the table.
    controls : Rate or None
        How often the same procedure is right about people who were held back; None without controls.
    excess : float or None
        Members minus controls: what the release gives away. The rest is what it teaches about everybody.
    interval : pair of float or None
        95% of the intervals of such differences contain the true one.
    class_known : Rate or None
        How often an attacker is right who knows the class of everybody. That is more than an outsider knows, and mostly an upper
        bound; but the shares of many classes that contain a person may say more than those of one small class.
    worst : Worst or None
    lowers : str
        What would lower the success.
    figures : dict
        Further figures of this attack.
    says : str
        What the shares say: the attack is "right for" people. One that finds a row is "true for" them: of controls none is right.
        Where persons have several rows, it also says whether the share is a mean over them.
    """

    name: str
    sensitive: str | None
    knows: str
    does: str
    before: float | None
    members: Rate
    controls: Rate | None
    excess: float | None
    interval: tuple[float, float] | None
    class_known: Rate | None
    worst: Worst | None
    lowers: str
    figures: dict[str, Any] = field(default_factory=dict)
    says: str = "right for"

    @property
    def sentence(self) -> str:
        """What the attack found, in one sentence."""
        said = f"Someone who knows {self.knows} {self.does}: {self.says} {self.members.share:.1%} of the people in the release"
        return f"{said}." if self.controls is None else f"{said}, and {self.controls.share:.1%} of people who are not in it."

    def to_dict(self) -> dict[str, Any]:
        """Return the record of the attack as a mapping for JSON."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Outcome:
    """How an attack went, person by person.

    Attributes
    ----------
    members, controls : arrays of float
        For each row of the scene's members and controls whether the attacker is right; or with what chance.
    class_known : array of float or None
        For each member the same, if the attacker knows the class of everybody.
    everybody : bool
        Whether members and controls are all published rows and all that were held back, also where other attacks are tried on a
        sample of people.
    proves : bool
        Whether the attacker knows when they are right. A person with several rows then counts if it is so for one of them.
    """

    name: str
    sensitive: str | None
    knows: str
    does: str
    before: float | None
    members: Floats
    controls: Floats
    class_known: Floats | None
    lowers: str
    figures: dict[str, Any] = field(default_factory=dict)
    says: str = "right for"
    everybody: bool = False
    proves: bool = False


def record_of(scene: Scene, outcome: Outcome) -> Attack:
    """Return the record of an attack: rates over persons, members minus controls with an interval, and the worst group."""
    rows, held_back = (scene.published, scene.held_back) if outcome.everybody else (scene.members, scene.controls)
    persons, once = scene.persons[rows], outcome.proves
    members = rate_of(outcome.members, persons, once=once)
    controls = rate_of(outcome.controls, scene.persons[held_back], once=once) if len(outcome.controls) else None
    excess, interval = (None, None) if controls is None else difference(members, controls)
    class_known = None if outcome.class_known is None else rate_of(outcome.class_known, persons, once=once)
    several = members.persons < len(persons)
    return Attack(
        outcome.name,
        outcome.sensitive,
        outcome.knows,
        outcome.does,
        outcome.before,
        members,
        controls,
        excess,
        interval,
        class_known,
        _worst_group(scene, rows, outcome, members.share if several and once else 0.0),
        outcome.lowers,
        outcome.figures,
        f"averaged over the rows of each person, {outcome.says}" if several and not once else outcome.says,
    )


def rate_of(right: Floats | Bools, persons: Ints, *, once: bool = False) -> Rate:
    """Return the mean over persons of how often an attack is right about their rows, and its standard error.

    With ``once`` a person counts as the row about which it is right most often does.

    >>> right, persons = np.array([1.0, 0.0, 0.0, 0.0]), np.array([7, 7, 8, 9])
    >>> rate_of(right, persons).share, rate_of(right, persons, once=True).share
    (0.16666666666666666, 0.3333333333333333)
    """
    names, number = np.unique(persons, return_inverse=True)
    if once:
        means = np.zeros(len(names))
        np.maximum.at(means, number, right)
    else:
        means = np.bincount(number, weights=right) / np.bincount(number)
    spread = float(means.std(ddof=1)) if len(means) > 1 else 0.0
    return Rate(float(means.mean()), len(means), spread / math.sqrt(len(means)))


def difference(first: Rate, second: Rate) -> tuple[float, tuple[float, float]]:
    """Return the difference of two rates over different persons, and its 95% interval (normal approximation)."""
    found, error = first.share - second.share, NORMAL * math.hypot(first.error, second.error)
    return found, (found - error, found + error)


def _worst_group(scene: Scene, members: Ints, outcome: Outcome, above: float) -> Worst | None:
    """Return the group of members about whom an attack is right most often, and more often than ``above``; ties: the first.

    A person is in the groups of all of their rows, and in each by the rows that are in it: where one row of several is enough, it
    may be less often so in every group than among all people.
    """
    worst: Worst | None = None
    persons = scene.persons[members]
    for scale, codes in zip(scene.table.scales, scene.table.quasi, strict=True):
        group = _bands(codes[members].astype(np.int64), scale.size)
        for number in range(int(group.max()) + 1):
            inside = group == number
            found = rate_of(outcome.members[inside], persons[inside], once=outcome.proves)
            if found.persons >= LEAST and found.share > (above if worst is None else worst.share):
                label = scale.publish(codes[members[inside]].astype(np.int64), np.array([0, int(inside.sum())]))
                column = next(iter(label.columns.values()))
                worst = Worst(scale.name, str(column.values[column.indices[0]]), found.share, found.persons)
    return worst


def _bands(codes: Ints, size: int) -> Ints:
    """Return the group of each member by one quasi-identifier: its value, or one of a few bands of neighbouring values."""
    if size <= 4 * BANDS:
        return np.unique(codes, return_inverse=True)[1].astype(np.int64)
    ends = np.quantile(codes, np.arange(1, BANDS) / BANDS)
    return np.unique(np.searchsorted(ends, codes), return_inverse=True)[1].astype(np.int64)
