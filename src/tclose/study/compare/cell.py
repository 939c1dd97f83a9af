"""A cell of a comparison: one algorithm, one t, one k and one seed; the release that they make, attacked and measured."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from tclose.errors import InfeasibleError, PolicyError, TcloseError
from tclose.make.registry import settings_of
from tclose.policy import Policy
from tclose.release.detail import DetailLost, commonest_shares
from tclose.study.attack import attack_scene
from tclose.study.staging import Staged, stage
from tclose.study.utility.groups import groups_of
from tclose.study.utility.queries import ask
from tclose.study.utility.utility import FINE

Status = Literal["done", "refused", "time", "failed"]


class Task(NamedTuple):
    """What all cells of a comparison have in common."""

    table: Any
    policy: Policy
    holdout: Fraction
    effort: str


class Cell(NamedTuple):
    """What one cell asks. ``t`` is that of all sensitive attributes with a t; None where there is none."""

    algorithm: str
    t: float | None
    k: int
    seed: int


@dataclass(frozen=True)
class Figures:
    """What was measured on the release of a cell.

    Attributes
    ----------
    attained : dict
        The t that each sensitive attribute attains.
    classes, suppressed, homogeneous : int
        The number of classes, of suppressed rows, and of rows in classes with a single value of some sensitive attribute.
    gcp, lm : float
        The information loss, measured by all that the raw table has: so that algorithms can be compared.
    query_error : float or None
        The median of the relative errors of random COUNT queries.
    excess : float
        The largest excess of an attack on a sensitive attribute: how much more often it is right about people in the release than
        about others.
    excess_interval : pair of float
        95%, of that attack.
    attack : str
        Its name, and the attribute that it is about.
    seconds : float
        CPU time of making the release.
    gcp_stated : float or None
        The information loss as the screen and the report of the release state it, measured by what is published. Records of
        earlier versions do not have it.
    sentence : str or None
        What that attacker knows and does, and how often it is right, in a sentence. Records of earlier versions do not have it.
    share, share_in_table : dict
        For each sensitive attribute the largest share of one value in a class, and the share of the commonest value in the
        release. Records of earlier versions do not have them.
    """

    attained: dict[str, float]
    classes: int
    suppressed: int
    homogeneous: int
    gcp: float
    lm: float
    query_error: float | None
    excess: float
    excess_interval: tuple[float, float]
    attack: str
    seconds: float
    gcp_stated: float | None = None
    sentence: str | None = None
    share: dict[str, float] = field(default_factory=dict)
    share_in_table: dict[str, float] = field(default_factory=dict)

    @property
    def t(self) -> float:
        """The largest t that a sensitive attribute attains."""
        return max(self.attained.values())


@dataclass(frozen=True)
class Result:
    """How a cell went: "done", "refused" (with the reason: the algorithm cannot do it), "time" (it ran out) or "failed"."""

    cell: Cell
    status: Status
    reason: str | None = None
    figures: Figures | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a mapping for JSON."""
        figures = None if self.figures is None else {"t": self.figures.t, **asdict(self.figures)}
        return {**self.cell._asdict(), "status": self.status, "reason": self.reason, "figures": figures}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Result:
        """Return a result that was written as JSON."""
        cell = Cell(*(given[name] for name in Cell._fields))
        found = given["figures"]
        if found is not None:
            known = {name: value for name, value in found.items() if name != "t"}
            found = Figures(**{**known, "excess_interval": tuple(known["excess_interval"])})
        return cls(cell, given["status"], given["reason"], found)


def asked(policy: Policy, cell: Cell) -> Policy:
    """Return the policy of a cell: its k, and its t for every sensitive attribute that has one."""
    sensitive = [column if column.t is None else replace(column, t=cell.t) for column in policy.sensitive]
    return replace(policy, k=cell.k, sensitive=sensitive)


def run(task: Task, cell: Cell) -> Result:
    """Make the release of a cell, attack it and measure what it keeps."""
    try:
        begun = time.process_time()
        policy, settings = asked(task.policy, cell), settings_of(cell.algorithm, cell.seed, task.effort, None)
        staged = stage(task.table, policy, settings, None, task.holdout)
        return Result(cell, "done", figures=_measured(staged, cell.seed, time.process_time() - begun))
    except (PolicyError, InfeasibleError) as error:
        return Result(cell, "refused", str(error))
    except TcloseError as error:
        return Result(cell, "failed", str(error))


def _measured(staged: Staged, seed: int, seconds: float) -> Figures:
    """Return the figures of a release with its people."""
    release, scene = staged.release, staged.scene
    tried = [(one.excess, one.name, one) for one in attack_scene(scene) if one.sensitive is not None and one.excess is not None]
    excess, _, worst = max(tried, key=lambda found: found[:2])
    assert worst.interval is not None
    return Figures(
        attained={name: own.t for name, own in release.audit.sensitive.items()},
        classes=release.audit.classes,
        suppressed=release.suppressed,
        homogeneous=release.audit.homogeneous["rows"],
        gcp=release.loss["gcp"],
        lm=release.loss["lm"],
        query_error=ask(scene, *groups_of(scene, FINE), seed).median,
        excess=excess,
        excess_interval=worst.interval,
        attack=f"{worst.name}, {worst.sensitive}",
        seconds=seconds,
        gcp_stated=DetailLost.of(release).overall,
        sentence=worst.sentence,
        share={name: own.share for name, own in release.audit.sensitive.items()},
        share_in_table={name: float(share) for name, share in commonest_shares(release).items()},
    )
