"""What a table attains of the limits of a policy, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tclose.policy.models import NAMED

if TYPE_CHECKING:
    from tclose.judge.result import Audit, Judgement


def attained_in_words(audit: Audit, judgement: Judgement) -> str:
    """Return what a table attains of one limit, as text, rounded against us."""
    model = NAMED[judgement.model]
    if judgement.sensitive is None:
        return f"{audit.k_persons if audit.counts_persons else audit.k:,}"
    worst = audit.sensitive[judgement.sensitive].verdicts[model.key].worst
    return f"{int(worst):,}" if model.whole else model.rounded(worst)
