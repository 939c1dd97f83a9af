"""What a table attains of the limits of a policy, and the verdict, as text: the same words on screens, notebooks and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tclose.policy.models import NAMED
from tclose.values.exact import number_of

if TYPE_CHECKING:
    from tclose.judge.result import Audit, Judgement
    from tclose.policy.models import PrivacyModel

SATISFIED = "The policy is satisfied for these quasi-identifiers; this is not a legal determination."
"""The verdict says no more than was checked."""


def verdict_in_words(audit: Audit) -> str:
    """Return the verdict of an audit: whether the policy is satisfied, and how many classes and rows are not."""
    if not audit.judgements:
        return "No limit was asked for; this is what was measured."
    return SATISFIED if audit.satisfied else f"The policy is not satisfied. {broken_in_words(audit)}."


def broken_in_words(audit: Audit) -> str:
    """Return how many classes of a table break a limit, and how many rows are in them, in words."""
    broken = [judgement.broken for judgement in audit.judgements]
    some = np.logical_or.reduce(broken) if broken else np.zeros(audit.classes, dtype=bool)
    count, rows = int(some.sum()), int(audit.sizes[some].sum())
    verb = "breaks" if count == 1 else "break"
    classes = number_of(audit.classes, "class", "classes")
    return f"{count:,} of {classes} {verb} a limit, with {rows:,} of {number_of(audit.rows, 'row')}"


def attained_in_words(audit: Audit, judgement: Judgement) -> str:
    """Return what a table attains of one limit, as text, rounded against us."""
    model = NAMED[judgement.model]
    if judgement.sensitive is None:
        return f"{audit.k_persons if audit.counts_persons else audit.k:,}"
    worst = audit.sensitive[judgement.sensitive].verdicts[model.key].worst
    return f"{int(worst):,}" if model.whole else model.rounded(worst)


def safer_side(model: PrivacyModel) -> str:
    """Return which values of a model's limit protect more, in words."""
    return "larger is safer" if model.at_least else "smaller is safer"
