"""Audits of parts of a release, joined: each class is in one part, and all are compared with one table.

Where a release lies on a cluster, each machine judges the classes that it has, from published values alone, and only what the
worst of them attain comes home.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from tclose.judge.attribute import Attained, AttributeAudit
from tclose.judge.result import Audit
from tclose.policy import Policy
from tclose.policy.models import MODELS
from tclose.values.exact import decimal_up, number_of, plain


@dataclass(frozen=True)
class AttributeFigures(Attained):
    """What a table gives away about one sensitive attribute: the worst of its classes, without the classes.

    Attributes
    ----------
    distance : str
    limit : Fraction or None
        The t of the policy.
    of_worst : dict
        What the worst class attains of each model, by its key.
    broken : dict
        The number of classes that break the limit of each model, by its key.
    homogeneous_classes, homogeneous_rows : int
        Classes whose rows all have one value, and the rows in them.
    divergences : dict
        Measures, never the guarantee.
    t_other, judged
        As in `AttributeAudit`.
    """

    distance: str
    limit: Fraction | None
    of_worst: dict[str, Fraction | float]
    broken: dict[str, int]
    homogeneous_classes: int
    homogeneous_rows: int
    divergences: dict[str, float]
    t_other: Fraction | None
    judged: Literal["values", "bins"]

    @classmethod
    def of(cls, audit: AttributeAudit) -> AttributeFigures:
        """Return the figures of an audit of one attribute."""
        return cls(
            audit.distance,
            audit.limit,
            {key: verdict.worst for key, verdict in audit.verdicts.items()},
            {key: int(verdict.broken.sum()) for key, verdict in audit.verdicts.items()},
            audit.homogeneous_classes,
            audit.homogeneous_rows,
            audit.divergences,
            audit.t_other,
            audit.judged,
        )

    @classmethod
    def joined(cls, parts: Sequence[AttributeFigures]) -> AttributeFigures:
        """Return the figures of all parts of a table."""
        first = parts[0]
        worst = {
            key: (min if MODELS[key].at_least else max)(part.of_worst[key] for part in parts) for key in first.of_worst
        }  # protection is least, risk is largest in the worst class
        others = [part.t_other for part in parts if part.t_other is not None]
        return cls(
            first.distance,
            first.limit,
            worst,
            {key: sum(part.broken[key] for part in parts) for key in first.broken},
            sum(part.homogeneous_classes for part in parts),
            sum(part.homogeneous_rows for part in parts),
            {name: max(part.divergences[name] for part in parts) for name in first.divergences},
            max(others) if others else None,
            first.judged,
        )

    @property
    def keys(self) -> list[str]:
        """The keys of the privacy models by which the attribute was measured."""
        return list(self.of_worst)

    def worst(self, key: str) -> Fraction | float:
        """Return what the worst class attains of the privacy model with this key, exactly."""
        return self.of_worst[key]

    def __repr__(self) -> str:
        """Return the attribute's distance and t in one line."""
        limit = "" if self.limit is None else f" (limit {plain(self.limit)})"
        return f"<AttributeFigures: {self.distance}, t={decimal_up(self.t_judged)}{limit}>"


@dataclass(frozen=True, repr=False)
class Figures:
    """What a release attains, without its classes: the joined audits of its parts.

    Attributes
    ----------
    policy : Policy
    rows, classes, k : int
        k is the number of rows of the smallest class.
    k_persons : int or None
        The persons of the class with the fewest, where a unit names them.
    squared : int
        The sum of the squared numbers of rows of all classes.
    homogeneous : dict
        The numbers of classes, and of rows in them, in which some sensitive attribute has one value only.
    sensitive : dict of AttributeFigures
    broken : dict
        The number of classes that break each limit, by its name and sensitive attribute.
    """

    policy: Policy
    rows: int
    classes: int
    k: int
    k_persons: int | None
    squared: int
    homogeneous: dict[str, int]
    sensitive: Mapping[str, AttributeFigures]
    broken: Mapping[tuple[str, str | None], int]

    @classmethod
    def of(cls, audit: Audit) -> Figures:
        """Return the figures of an audit."""
        return cls(
            audit.policy,
            audit.rows,
            audit.classes,
            audit.k,
            audit.k_persons,
            sum(size * size for size in audit.sizes.tolist()),
            audit.homogeneous,
            {name: AttributeFigures.of(attribute) for name, attribute in audit.sensitive.items()},
            {(judgement.model, judgement.sensitive): int(judgement.broken.sum()) for judgement in audit.judgements},
        )

    @classmethod
    def joined(cls, parts: Sequence[Figures]) -> Figures:
        """Return the figures of a release from those of its parts; no class is in two of them."""
        first = parts[0]
        persons = [part.k_persons for part in parts if part.k_persons is not None]
        return cls(
            first.policy,
            sum(part.rows for part in parts),
            sum(part.classes for part in parts),
            min(part.k for part in parts),
            min(persons) if persons else None,
            sum(part.squared for part in parts),
            {what: sum(part.homogeneous[what] for part in parts) for what in first.homogeneous},
            {name: AttributeFigures.joined([part.sensitive[name] for part in parts]) for name in first.sensitive},
            {limit: sum(part.broken[limit] for part in parts) for limit in first.broken},
        )

    @property
    def satisfied(self) -> bool:
        """Whether the release satisfies every limit of the policy."""
        return not any(self.broken.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as a mapping of plain types, which `to_json` writes."""
        return {
            "rows": self.rows,
            "classes": self.classes,
            "k": self.k,
            "k_persons": self.k_persons,
            "satisfied": self.satisfied,
            "homogeneous": self.homogeneous,
            "sensitive": {name: attribute.to_dict() for name, attribute in self.sensitive.items()},
        }

    def to_json(self) -> str:
        """Return the figures as a JSON text of one object."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def __repr__(self) -> str:
        """Return the figures in one line: rows, classes, k, t of each sensitive attribute, and the verdict."""
        measured = ", ".join(f"{name} t={decimal_up(attribute.t_judged)}" for name, attribute in self.sensitive.items())
        verdict = "satisfied" if self.satisfied else "not satisfied"
        rows, classes = number_of(self.rows, "row"), number_of(self.classes, "class", "classes")
        return f"<Figures: {rows} in {classes}, k={self.k}; {measured}; {verdict}>"
