"""Loosen: for each limit that a table breaks, the nearest limit that it satisfies, and the figures of having tried it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tclose.judge.result import Audit
from tclose.policy import Policy
from tclose.policy.models import NAMED, SETTINGS, PrivacyModel, Setting
from tclose.study.explain.trial import Figures, Rows
from tclose.values.exact import decimal_up, plain

STEP = Fraction(1, 1000)
"""Limits on logarithms, and those that must not be attained, are named to three decimals."""

IN_STEPS = ("l_entropy", "c_recursive", "delta")
"""The models of these limits."""


@dataclass(frozen=True)
class Limit:
    """A limit that the table satisfies as it is.

    Attributes
    ----------
    setting : str
        The key of a policy: "t", "k", "l", ...
    column : str or None
        The sensitive column that it is set for; None for a limit of the whole policy.
    asked, value : Fraction
        What the policy asks, and what the table satisfies. It is exact; of an entropy, a recursive l and a delta to 3 decimals.
    policy : Policy
        The policy with this change.
    after : Figures
        Of the table under that policy.
    """

    setting: str
    column: str | None
    asked: Fraction
    value: Fraction
    policy: Policy
    after: Figures

    @property
    def what(self) -> str:
        """What to do, in words."""
        return change_in_words(self.setting, self.column, self.value, self.asked)

    def to_dict(self) -> dict[str, Any]:
        """Return the limit as a mapping for JSON."""
        facts = {"kind": "limit", "what": self.what, "setting": self.setting, "column": self.column}
        return {**facts, "asked": str(self.asked), "value": str(self.value), "after": self.after.to_dict()}


def change_in_words(setting: str, column: str | None, value: Fraction, asked: Fraction) -> str:
    """Return a setting with its new value and the one that was asked; a value that every table satisfies is marked."""
    of = "" if column is None else f" of {column}"
    idle = any(one.name == setting and one.idle == value for one in SETTINGS)
    return f"{setting}{of}: {limit_in_words(value)}{' (asks nothing)' if idle else ''} instead of {plain(asked)}"


def limit_in_words(value: Fraction) -> str:
    """Return a limit as a policy writes it; one of many decimals rounded up, as the table satisfies that, too.

    >>> limit_in_words(Fraction(1, 6)), limit_in_words(Fraction(200_000, 3)), limit_in_words(Fraction(1_234_567))
    ('0.1667', '66666.6667', '1234567')
    """
    shown = plain(value)
    long = isinstance(shown, str) or (isinstance(shown, float) and len(str(shown)) > 6)
    return decimal_up(value).replace(",", "") if long else str(shown)  # YAML would read a separator as text


def loosened_limits(rows: Rows, audit: Audit) -> list[Limit]:
    """Return for each limit that some class breaks the nearest one that all classes satisfy, if it asks for something."""
    found = []
    for judgement in audit.judgements:
        if not judgement.broken.any():
            continue
        model = NAMED[judgement.model]
        setting = model.limit_from
        value = _attained(audit, model, judgement.sensitive)
        if setting is None or value is None or value == setting.idle:
            continue
        policy = with_setting(rows.policy, setting, judgement.sensitive, value)
        after = rows.audit(policy=policy)
        again = [one for one in after.judgements if (one.model, one.sensitive) == (judgement.model, judgement.sensitive)]
        if not any(one.broken.any() for one in again):
            column = judgement.sensitive if setting.of == "sensitive" else None
            found.append(Limit(setting.name, column, judgement.limit, value, policy, Figures.of(after)))
    return list({(one.setting, one.column): one for one in sorted(found, key=_strictness)}.values())


def _strictness(limit: Limit) -> Fraction:
    """Return a key that sorts limits of one setting from the strictest to the loosest, as alpha has one for each column."""
    return abs(limit.value - limit.asked)


def _attained(audit: Audit, model: PrivacyModel, name: str | None) -> Fraction | None:
    """Return the strictest limit of a model that all classes satisfy; None if there is none."""
    if name is None:
        return Fraction(audit.k_persons if audit.counts_persons and audit.k_persons is not None else audit.k)
    worst = audit.sensitive[name].verdicts[model.key].worst
    if not math.isfinite(worst):
        return None
    if model.key not in IN_STEPS:
        return Fraction(worst)
    if model.at_least:
        return max(Fraction(math.floor(Fraction(worst) / STEP)) * STEP, Fraction(1))
    return (math.floor(Fraction(worst) / STEP) + 1) * STEP  # it must be below the limit


def with_setting(policy: Policy, setting: Setting, column: str | None, value: Fraction) -> Policy:
    """Return a policy with another value of one setting, of the whole policy or of one sensitive column."""
    given: Any = int(value) if setting.value_type is int else value
    if setting.of == "policy":
        return replace(policy, **{setting.name: given})
    sensitive = [replace(one, **{setting.name: given}) if one.name == column else one for one in policy.sensitive]
    return replace(policy, sensitive=sensitive)
