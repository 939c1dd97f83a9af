"""One sensitive attribute under all models: from its histograms to what every class attains."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from tclose.distances import Distance
from tclose.judge.divergences import jensen_shannon, kullback_leibler, variational
from tclose.judge.models import ON_VALUES
from tclose.judge.models.anonymity import homogeneous
from tclose.judge.models.base import Model, Verdict
from tclose.policy import Policy, Sensitive
from tclose.policy.models import MODELS
from tclose.values.arrays import Bools, Ints
from tclose.values.exact import decimal_up, float_up, plain
from tclose.values.hierarchy import printed
from tclose.values.histograms import Histograms

DIVERGENCES = {"variational": variational, "kullback_leibler": kullback_leibler, "jensen_shannon": jensen_shannon}


@dataclass(frozen=True)
class Profile:
    """The sensitive values of one class, with their counts in the class and in the table.

    Attributes
    ----------
    values : list of str
        The values of the class, as they print, in the order of the domain.
    counts, table : list of int
        The rows of the class, and of the table, at each value.
    rows, of_table : int
        The rows of the class and of the table.
    middle : pair of str, or None
        The median of the class and that of the table, where values have an order.
    """

    values: list[str]
    counts: list[int]
    table: list[int]
    rows: int
    of_table: int
    middle: tuple[str, str] | None = None

    def excess(self) -> list[tuple[str, int, int]]:
        """Return the values that are more frequent in the class than in the table, largest excess first, with both counts."""
        found = [
            (Fraction(count, self.rows) - Fraction(of_table, self.of_table), value, count, of_table)
            for value, count, of_table in zip(self.values, self.counts, self.table, strict=True)
        ]
        found.sort(key=lambda part: -part[0])
        return [(value, count, of_table) for share, value, count, of_table in found if share > 0]

    def most_different(self) -> tuple[str, int, int]:
        """Return the value of the class whose share differs most from that in the table, with both counts; ties: the first."""
        both = list(zip(self.values, self.counts, self.table, strict=True))
        return max(both, key=lambda part: abs(Fraction(part[1], self.rows) - Fraction(part[2], self.of_table)))

    @classmethod
    def of(cls, part: Histograms, number: int, values: Sequence[Any], *, in_order: bool) -> Profile:
        """Return the profile of one class of some histograms: its values and their counts; ``values`` is the domain."""
        own = slice(part.starts[number], part.starts[number + 1])
        codes, counts = part.codes[own], part.counts[own]
        rows = int(counts.sum())
        middle = None
        if in_order:
            median = int(codes[np.searchsorted(np.cumsum(counts), (rows + 1) // 2)])
            of_table = int(np.searchsorted(np.cumsum(part.table), (part.rows + 1) // 2))
            middle = _value_in_words(values[median]), _value_in_words(values[of_table])
        shown = [_value_in_words(values[code]) for code in codes]
        return cls(shown, counts.tolist(), part.table[codes].tolist(), rows, part.rows, middle)


class Attained(ABC):
    """What a table gives away about one sensitive attribute: the worst of its classes under every model.

    Risks are rounded up. c is for the policy's l, else for l = 2. l and c count persons where the policy names a unit.
    """

    distance: str
    limit: Fraction | None
    divergences: dict[str, float]
    judged: Literal["values", "bins"]
    t_other: Fraction | None
    homogeneous_classes: int
    homogeneous_rows: int

    @property
    @abstractmethod
    def keys(self) -> list[str]:
        """The keys of the privacy models by which the attribute was measured."""

    @abstractmethod
    def worst(self, key: str) -> Fraction | float:
        """Return what the worst class attains of the privacy model with this key, exactly."""

    def _place_of_worst(self) -> dict[str, int]:
        """Return where the class is that is farthest from the table, for JSON, if that is known."""
        return {}

    @property
    def t(self) -> float:
        """The largest distance of a class from the table, as a float rounded up; over bins where the attribute has some."""
        return float_up(self.t_exact)

    @property
    def t_exact(self) -> Fraction:
        """The largest distance of a class from the table, as a fraction; over bins where the attribute has some."""
        over_bins = self.judged == "values" and self.t_other is not None
        return self.t_other if over_bins and self.t_other is not None else self.t_judged

    @property
    def t_raw(self) -> Fraction | None:
        """The largest distance of a class from the table over the values inside bins; None without bins, or with labels alone."""
        return self.t_other if self.judged == "bins" or self.t_other is None else self.t_judged

    @property
    def t_judged(self) -> Fraction:
        """The largest distance of a class from the table over what the limit applies to, values or bins."""
        return Fraction(self.worst("t"))

    @property
    def l_distinct(self) -> int:
        """The attained l of distinct l-diversity: the smallest number of different values in a class."""
        return int(self.attained("l_distinct"))

    @property
    def l_entropy(self) -> float:
        """The attained l of entropy l-diversity: the smallest exp(entropy) of the values in a class."""
        return self.attained("l_entropy")

    @property
    def c_recursive(self) -> float:
        """The attained c of recursive (c,l)-diversity; infinite if a class has fewer than l values."""
        return self.attained("c_recursive")

    @property
    def beta(self) -> float:
        """The attained beta of beta-likeness: the largest (p - q) / q of a value's shares in a class and in the table."""
        return self.attained("beta")

    @property
    def delta(self) -> float:
        """The attained delta of delta-disclosure: the largest abs(ln(p/q)); infinite if a class lacks a value."""
        return self.attained("delta")

    @property
    def lift(self) -> float:
        """The largest p/q: how many times likelier a value is in a class than in the table."""
        return self.attained("lift")

    @property
    def share(self) -> float:
        """The attained alpha: the largest share of one sensitive value in a class."""
        return self.attained("share")

    def attained(self, key: str) -> float:
        """Return what the table attains of the privacy model with this key, as a number; risks are rounded up."""
        worst = self.worst(key)
        return int(worst) if MODELS[key].whole else float_up(worst)

    def to_dict(self) -> dict[str, Any]:
        """Return all figures of the attribute as a mapping for JSON; an infinite one is null, and marked as unbounded."""
        facts = {
            "distance": self.distance,
            "t": self.t,
            "t_exact": str(self.t_exact),
            **({} if self.t_raw is None else {"t_raw": float_up(self.t_raw), "t_raw_exact": str(self.t_raw)}),
            "limit": None if self.limit is None else float(self.limit),
            **self._place_of_worst(),
        }
        always = [key for key, model in MODELS.items() if model.always and key in self.keys]
        for key in (*always, *(key for key in self.keys if key not in always)):
            if key not in facts:
                facts |= finite(key, self.attained(key))
        facts["homogeneous"] = {"classes": self.homogeneous_classes, "rows": self.homogeneous_rows}
        return {**facts, "divergences": self.divergences}


@dataclass(frozen=True, eq=False)
class AttributeAudit(Attained):
    """What a table gives away about one sensitive attribute: the worst of its classes under every model.

    Risks are rounded up. c is for the policy's l, else for l = 2. l and c count persons where the policy names a unit.

    Attributes
    ----------
    distance : str
    limit : Fraction or None
        The t of the policy.
    sizes, homogeneous : (classes,) arrays
        The rows of each class, and whether they all have one value.
    divergences : dict
        Largest variational, Kullback-Leibler and Jensen-Shannon divergence: measures, never the guarantee.
    models, verdicts : dict
        Each model and what it found, by its key.
    judged, t_other
        Whether the limits apply to the values or to their bins, and the largest distance over the other ones.
    profile : Profile or None
        The values of the class that is farthest from the table.
    bins : int or None
        How many bins of numbers occur in the table; None without bins. A missing cell is in none of them.
    """

    distance: str
    limit: Fraction | None
    sizes: Ints
    homogeneous: Bools
    divergences: dict[str, float]
    models: dict[str, Model]
    verdicts: dict[str, Verdict]
    judged: Literal["values", "bins"] = "values"
    t_other: Fraction | None = None
    profile: Profile | None = None
    bins: int | None = None

    @property
    def keys(self) -> list[str]:
        """The keys of the privacy models by which the attribute was measured."""
        return list(self.verdicts)

    def worst(self, key: str) -> Fraction | float:
        """Return what the worst class attains of the privacy model with this key, exactly."""
        return self.verdicts[key].worst

    def _place_of_worst(self) -> dict[str, int]:
        """Return the number of the class that is farthest from the table, for JSON."""
        return {"worst_class": self.worst_class}

    @property
    def worst_class(self) -> int:
        """The number of the first class with the largest distance from the table."""
        return self.verdicts["t"].worst_class

    @property
    def homogeneous_classes(self) -> int:  # type: ignore[override]
        """The number of classes whose rows all have one sensitive value, though the table has several."""
        return int(self.homogeneous.sum())

    @property
    def homogeneous_rows(self) -> int:  # type: ignore[override]
        """The number of rows in classes whose rows all have one sensitive value, though the table has several."""
        return int(self.sizes[self.homogeneous].sum())

    def __repr__(self) -> str:
        """Return the attribute's distance, t, l and lift in one line."""
        limit = "" if self.limit is None else f" (limit {plain(self.limit)})"
        t, lift = decimal_up(self.t_judged), decimal_up(self.lift)
        return f"<AttributeAudit: {self.distance}, t={t}{limit}, l={self.l_distinct}, lift={lift}>"


def finite(key: str, value: float) -> dict[str, Any]:
    """Return a figure as an entry for JSON, which has no infinity: null, and a mark that it is unbounded."""
    return {key: value} if math.isfinite(value) else {key: None, f"{key}_unbounded": True}


def measure(
    column: Sensitive,
    policy: Policy,
    distance: Distance,
    parts: Iterable[Histograms],
    persons: Iterable[Histograms] | None = None,
    values: Sequence[Any] | None = None,
) -> AttributeAudit:
    """Return the audit of one sensitive attribute: what the classes of a table attain of every privacy model.

    Parameters
    ----------
    parts
        The attribute's histograms, a part of the classes at a time, in order.
    persons
        Histograms that count persons instead of rows; models that count persons are judged on them.
    values
        The domain, for the profile of the class that is farthest from the table.
    """
    measured = [model for model in MODELS.values() if model.judged_on == "values" and model.is_measured(policy, column)]
    about_rows, about_persons = (
        {model.key: ON_VALUES[model.key].of(policy, column, distance) for model in measured if model.counts_persons is of_persons}
        for of_persons in (False, True)
    )
    found: dict[str, list[Verdict]] = {key: [] for key in (*about_rows, *about_persons)}
    sizes, one_value = [], []
    diverged = dict.fromkeys(DIVERGENCES, 0.0)
    farthest, profile = Fraction(-1), None

    def judge(models: dict[str, Model], part: Histograms) -> None:
        """Judge a part of the classes under some models, and keep the verdicts."""
        for key, model in models.items():
            found[key].append(model.judge(part))

    for part in parts:
        judge(about_rows, part)
        found_t = found["t"][-1]
        if values is not None and found_t.worst > farthest:
            farthest = Fraction(found_t.worst)
            in_order = distance.shape == "line"
            profile = Profile.of(part, found_t.worst_class - part.first, values, in_order=in_order)
        if persons is None:
            judge(about_persons, part)
        sizes.append(part.sizes)
        one_value.append(homogeneous(part))
        for name, divergence in DIVERGENCES.items():
            diverged[name] = max(diverged[name], float(divergence(part).max()))
    for part in persons or ():
        judge(about_persons, part)
    models = about_rows | about_persons
    return AttributeAudit(
        distance.name,
        column.t,
        np.concatenate(sizes),
        np.concatenate(one_value),
        diverged,
        models,
        {key: models[key].join(verdicts) for key, verdicts in found.items()},
        profile=profile,
    )


def _value_in_words(value: Any) -> str:
    """Return a sensitive value as text; "missing" for a missing one."""
    return "missing" if value is None else printed(value)
