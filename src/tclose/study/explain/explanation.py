"""Explanation: why a table breaks a policy, and what would help, as an object that prints well."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tclose.judge.result import Audit
from tclose.policy import Policy
from tclose.study.explain import words
from tclose.study.explain.coarser import Coarser
from tclose.study.explain.feasible import Infeasible
from tclose.study.explain.loosen import Limit
from tclose.study.explain.made import Made
from tclose.study.explain.suppress import Suppression
from tclose.study.explain.trial import Figures
from tclose.study.explain.worst import WorstClass
from tclose.values.exact import number_of


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a table breaks a policy, and what would help. It is INTERNAL: it shows classes and values of the table.

    ``print`` shows it in words.

    Attributes
    ----------
    policy : Policy
    audit : Audit
    now : Figures
        Of the table as it is.
    alone : int
        The classes of one row, or of one person where they are counted.
    raw : bool
        Whether most classes are such: then it is a raw table, and small classes are not listed.
    classes_from : int
        Classes with fewer rows, or persons, are not listed.
    classes : list of WorstClass
        The worst classes, worst first: their values, the moves that make up their distance, and the rows to suppress.
    suggestions : list of Made, Coarser, Limit and Suppression
        What would help, with the figures of having tried it.
    infeasible : Infeasible or None
        Why no release can satisfy the policy, and the smallest changes with which one can.
    released : bool
        Whether the table is known to be a release: the file of its certificate lies beside it.
    """

    policy: Policy
    audit: Audit
    now: Figures
    alone: int
    raw: bool
    classes_from: int
    classes: list[WorstClass]
    suggestions: list[Made | Coarser | Limit | Suppression]
    infeasible: Infeasible | None
    released: bool = False

    @property
    def satisfied(self) -> bool:
        """Whether the table satisfies the policy as it is."""
        return self.now.satisfied

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as a mapping for JSON, with all moves of each class."""
        return {
            "internal": True,
            "satisfied": self.satisfied,
            "now": self.now.to_dict(),
            "classes_of_one": self.alone,
            "raw": self.raw,
            "classes": [one.to_dict() for one in self.classes],
            "infeasible": None if self.infeasible is None else self.infeasible.to_dict(),
            "suggestions": [suggestion.to_dict() for suggestion in self.suggestions],
        }

    def to_json(self) -> str:
        """Return the explanation as the text of one JSON object."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def __str__(self) -> str:
        """Return the explanation in words, for a screen."""
        return "\n".join(words.all_lines(self))

    def __repr__(self) -> str:
        """Return the numbers of classes that break a limit and of suggestions, in one line."""
        broken = f"{self.now.broken:,} of {number_of(self.now.classes, 'class', 'classes')} break a limit"
        return f"<Explanation: {broken}; {number_of(len(self.suggestions), 'suggestion')}; INTERNAL>"
