"""Privacy models as data: where a limit comes from, how it is called and shown, and what merging classes does to it.

Nothing is measured here. `tclose.judge.models` judges classes by these models, `tclose.make.models` has the checks of the makers;
both go by the key, and tests compare the three. Screens, certificates and messages iterate over `MODELS`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Literal

from tclose.policy.columns import Sensitive
from tclose.policy.policy import Policy
from tclose.values.exact import decimal_down, decimal_up, plain


@dataclass(frozen=True)
class Setting:
    """One setting that a model reads.

    Attributes
    ----------
    name : str
    of : {"policy", "sensitive"}
        Whether it is a field of `Policy` or of `Sensitive`.
    value_type : type
        `Fraction`, `int` or, for the name of a kind, `str`.
    idle : int or None
        With this value every table satisfies the model.
    """

    name: str
    of: Literal["policy", "sensitive"]
    value_type: type = Fraction
    idle: int | None = None

    def value(self, policy: Policy, column: Sensitive | None) -> Any:
        """Return the value that a policy, or its sensitive column, has for this setting."""
        return getattr(policy if self.of == "policy" else column, self.name)


K = Setting("k", "policy", int, idle=1)
N = Setting("n", "policy", int, idle=1)
ALPHA = Setting("alpha", "policy", idle=1)
T = Setting("t", "sensitive", idle=1)
L, L_KIND, C = Setting("l", "sensitive", idle=1), Setting("l_kind", "sensitive", str), Setting("c", "sensitive")
BETA, BETA_KIND = Setting("beta", "sensitive"), Setting("beta_kind", "sensitive", str)
DELTA, DELTA_KIND = Setting("delta", "sensitive"), Setting("delta_kind", "sensitive", str)

REGION = "n,t"
"""The key of (n,t)-closeness, which takes the limit on t for itself."""


@dataclass(frozen=True, kw_only=True)
class PrivacyModel:
    """What is known of a privacy model without measuring it.

    Attributes
    ----------
    key : str
        Its name among the figures of an audit and of a certificate.
    judged_on : {"sizes", "values", "regions"}
        What decides: the sizes of classes, the values of a sensitive column in them, or also the classes around them.
    settings : tuple of Setting
        What asks for it; the first is the one that a message names. Without any it is measured, never limited.
    limit_from : Setting or None
        The one that the attained value is compared with; by default the first.
    kind : str or None
        What the setting that names a kind must be.
    unless : Setting or None
        Where this one is given, another model takes the limit.
    name : str
        What its limit is called in violations; by default the key.
    at_least : bool
        Whether the limit is a least value, as for k. Then an attained value is rounded down, else up: always against us.
    whole : bool
        Whether attained values are whole numbers.
    counts_persons : bool
        Whether it counts persons, not rows, where the policy names a unit.
    merging_breaks : str
        Where the union of classes that satisfy the limit may break it: "always", "over persons", or the name of a kind. Empty:
        merging preserves it.
    always : bool
        Whether it is measured even where the policy asks for nothing of its kind.
    on_screen : bool
        Whether a screen shows what is attained even where there is no limit.
    label : str
        A row of a screen; ``{}`` is the column.
    sentence : str
        Asked and attained, in the scope of a verification.
    in_papers : tuple of str
        The limit as certificates and codebooks write it; further settings after those of all other models.
    meaning : str
        What it is, for a reader who never read a paper.
    """

    key: str
    judged_on: Literal["sizes", "values", "regions"] = "values"
    settings: tuple[Setting, ...] = ()
    limit_from: Setting | None = None
    kind: str | None = None
    unless: Setting | None = None
    name: str = ""
    at_least: bool = False
    whole: bool = False
    counts_persons: bool = False
    merging_breaks: str = ""
    always: bool = True
    on_screen: bool = False
    label: str
    sentence: str = ""
    in_papers: tuple[str, ...] = ()
    meaning: str = ""

    def __post_init__(self) -> None:
        """Fill in the defaults that depend on other attributes: the name, and the setting that is the limit."""
        object.__setattr__(self, "name", self.name or self.key)
        if self.limit_from is None and self.settings:
            object.__setattr__(self, "limit_from", self.settings[0])

    def limit(self, policy: Policy, column: Sensitive | None) -> Fraction | None:
        """Return the limit that a policy sets for this model and a sensitive column; None if it sets none."""
        if self.limit_from is None or (self.unless is not None and self.unless.value(policy, column) is not None):
            return None
        given = [setting.value(policy, column) for setting in self.settings]
        if None in given or (self.kind is not None and self.kind not in given):
            return None
        return Fraction(self.limit_from.value(policy, column))

    def is_measured(self, policy: Policy, column: Sensitive) -> bool:
        """Whether an audit measures this model: always, if the policy names its kind, or if it sets its limit."""
        if self.always:
            return True
        if self.kind is not None:
            return self.kind in [setting.value(policy, column) for setting in self.settings]
        return self.limit(policy, column) is not None

    def is_idle(self, policy: Policy, column: Sensitive | None) -> bool:
        """Whether every table satisfies this model's limit in a policy, as k=1 or t=1."""
        return any(setting.idle is not None and setting.value(policy, column) == setting.idle for setting in self.settings)

    def merging_may_break(self, policy: Policy, column: Sensitive | None) -> bool:
        """Whether the union of classes that each satisfy this model's limit may break it."""
        where = ["always", *(setting.value(policy, column) for setting in self.settings if setting.value_type is str)]
        if policy.unit not in (None, "row"):
            where.append("over persons")
        return self.merging_breaks in where

    def asked(self, policy: Policy, column: Sensitive | None) -> str:
        """Return the setting of a policy that asks for this model, as a message names it: "l=3"."""
        return f"{self.settings[0].name}={plain(Fraction(self.settings[0].value(policy, column)))}"

    def rounded(self, attained: Fraction | float) -> str:
        """Return an attained value as a decimal text, rounded against us: protection down, risk up."""
        return decimal_down(attained) if self.at_least else decimal_up(attained)


_MODELS = (
    PrivacyModel(
        key="k",
        judged_on="sizes",
        settings=(K,),
        at_least=True,
        whole=True,
        counts_persons=True,
        label="k, {} in the smallest class",
        sentence="k: at least {asked} in each class; the smallest has {attained}.",
    ),
    PrivacyModel(
        key="t",
        settings=(T,),
        unless=N,
        on_screen=True,
        label="t of {}: distance from the table",
        sentence="t of {column}: each class within {asked} of the table; attained {rounded}, exactly {attained}.",
        in_papers=("t={t}",),
        meaning="t: how far the values of a class are from those of the whole table. 0: the same distribution; 1: as far as can "
        "be.",
    ),
    PrivacyModel(
        key=REGION,
        judged_on="regions",
        settings=(N, T),
        limit_from=T,
        always=False,
        merging_breaks="always",
        label="(n,t) of {}: distance from a region",
        sentence="(n,t) of {column}: each class within {asked} of a region of {n:,} rows or more; attained {rounded}.",
        in_papers=("t={t}",),
    ),
    PrivacyModel(
        key="l_distinct",
        settings=(L, L_KIND),
        kind="distinct",
        at_least=True,
        whole=True,
        counts_persons=True,
        on_screen=True,
        label="l of {}: values in a class",
        sentence="l, different values in each class, of {column}: at least {asked}; attained {shortest}.",
        in_papers=("l={l} (at least {l} different values in each class)",),
    ),
    PrivacyModel(
        key="l_entropy",
        settings=(L, L_KIND),
        kind="entropy",
        at_least=True,
        counts_persons=True,
        merging_breaks="over persons",  # a person in two classes counts in each, and once in their union
        label="l of {}: values by entropy",
        sentence="l, by entropy, of {column}: at least {asked}; attained {shortest}.",
        in_papers=("l={l} ({l_kind})",),
        meaning="l by entropy: as many equally frequent values would say as little of a person.",
    ),
    PrivacyModel(
        key="c_recursive",
        settings=(L, L_KIND, C),
        limit_from=C,
        kind="recursive",
        counts_persons=True,
        merging_breaks="over persons",  # a person in two classes counts in each, and once in their union
        label="c of {}: recursive diversity",
        sentence="c, of recursive l-diversity, of {column}: at most {asked}; attained {shortest}.",
        in_papers=("l={l} ({l_kind})", "c={c}"),
        meaning="c: how many times as frequent the most frequent value of a class is as all others together, the next l - 2 not "
        "counted.",
    ),
    PrivacyModel(
        key="beta",
        settings=(BETA, BETA_KIND),
        kind="basic",
        label="beta of {}: likeness",
        sentence="beta, by how much a class may make a value likelier, of {column}: at most {asked}; attained {shortest}.",
        in_papers=("beta={beta}",),
        meaning="lift: how many times likelier a value is in some class than in the table. beta is lift - 1.",
    ),
    PrivacyModel(
        key="beta_enhanced",
        settings=(BETA, BETA_KIND),
        kind="enhanced",
        always=False,
        label="beta of {}: enhanced likeness",
        sentence="enhanced beta, by how much a class may make a value likelier, of {column}: at most {asked}; attained "
        "{shortest}.",
        in_papers=("beta={beta}",),
    ),
    PrivacyModel(
        key="delta",
        settings=(DELTA, DELTA_KIND),
        merging_breaks="lenient",  # it skips values that a class lacks, and the union may have them
        label="delta of {}: disclosure",
        sentence="delta, how much a class may change the share of a value, of {column}: at most {asked}; attained {shortest}.",
        in_papers=("delta={delta}",),
        meaning="delta: the logarithm of the largest such change, up or down; unbounded where a class lacks a value that the "
        "table has.",
    ),
    PrivacyModel(key="lift", label="lift of {}: how much likelier a value becomes"),
    PrivacyModel(
        key="share",
        settings=(ALPHA,),
        name="alpha",
        label="alpha of {}: share of one value in a class",
        sentence="alpha, the share of one value in a class, of {column}: at most {asked}; attained {shortest}.",
        in_papers=("alpha={alpha}",),
    ),
)

MODELS = {model.key: model for model in _MODELS}
"""Every privacy model by its key, in the order of an audit's JSON."""

NAMED = {model.name: model for model in _MODELS}
"""The same by the name of its limit in violations."""

_READ = {setting.name: setting for model in _MODELS for setting in model.settings}
SETTINGS = tuple(_READ[item.name] for item in (*fields(Policy), *fields(Sensitive)) if item.name in _READ)
"""Every setting that a model reads, once, in the order of the fields."""


def asked_of(policy: Policy) -> Iterator[tuple[PrivacyModel, Sensitive | None]]:
    """Yield every limit that a policy sets: its model, and its sensitive column, or None for the sizes of classes."""
    for model in MODELS.values():
        for column in [None] if model.judged_on == "sizes" else policy.sensitive:
            if model.limit(policy, column) is not None:
                yield model, column


def merging_may_break(policy: Policy) -> bool:
    """Whether merging classes may break a limit of the policy that each of them satisfies."""
    return any(model.merging_may_break(policy, column) for model, column in asked_of(policy))
