"""Feasible: whether any release of a table can satisfy a policy, and the smallest changes with which one can. Each is tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from tclose import jobs
from tclose.columns.domains import kind_to_read
from tclose.errors import InfeasibleError, InputError, PolicyError
from tclose.judge.audit import quasi_kinds
from tclose.judge.emd import exact_emd
from tclose.make.encode import EncodedTable, encode
from tclose.make.feasibility import rows_to_suppress
from tclose.policy import Policy, Quasi
from tclose.policy.models import ALPHA, BETA, DELTA, C, K, L, N, Setting, T
from tclose.study.explain.loosen import STEP, change_in_words, with_setting
from tclose.tables.readers import open_reader
from tclose.tables.table import open_table
from tclose.values.arrays import Bools
from tclose.values.exact import number_of

LOOSEST = 10**6
"""Limits without a largest value are tried up to this one."""

HAIR = Fraction(1, 10**9)
"""A t that is smaller by this much is infeasible."""

SUPPRESSION = "suppression"


@dataclass(frozen=True)
class Change:
    """One change of a policy: with it a release is feasible, and with the value just before it none is.

    Attributes
    ----------
    setting : str
        The key of a policy: "t", "k", "l", ...
    column : str or None
        The sensitive column that it is set for; None for a setting of the whole policy.
    asked, value : Fraction
        What the policy asks, and the nearest value that is feasible: exact for t and whole numbers, else to three decimals.
    refused : Fraction
        The value just before it, which was tried and is infeasible.
    rows : int
        For ``suppression``, the rows that are suppressed.
    """

    setting: str
    column: str | None
    asked: Fraction
    value: Fraction
    refused: Fraction
    rows: int = 0

    @property
    def what(self) -> str:
        """What to change, in words."""
        if self.setting == SUPPRESSION:
            rows = number_of(self.rows, "row")
            return f"{change_in_words(self.setting, None, self.value, self.asked)}, which is {rows}"
        return change_in_words(self.setting, self.column, self.value, self.asked)

    def to_dict(self) -> dict[str, Any]:
        """Return the change as a mapping for JSON."""
        facts = {"what": self.what, "setting": self.setting, "column": self.column, "asked": str(self.asked)}
        return {**facts, "value": str(self.value), "refused": str(self.refused)} | ({"rows": self.rows} if self.rows else {})


@dataclass(frozen=True)
class Infeasible:
    """A policy that no release of a table can satisfy.

    Attributes
    ----------
    reason : str
        The sentence with which `tclose.anonymize` refuses it.
    changes : list of Change
        Each of them alone makes the policy feasible.
    together : list of Change
        Where no change of one limit does: changes of several limits that do, together.
    """

    reason: str
    changes: list[Change]
    together: list[Change]

    def to_dict(self) -> dict[str, Any]:
        """Return the reason and the changes as a mapping for JSON."""
        parts = {key: [change.to_dict() for change in getattr(self, key)] for key in ("changes", "together")}
        return {"reason": self.reason, **parts}


def why_infeasible(table: Any, policy: Policy) -> Infeasible | None:
    """Return why no release of a table can satisfy a policy, and what would make one feasible; None if one is."""
    try:
        judge = _Judge(_encode(table, policy), policy)
    except InfeasibleError as error:
        return Infeasible(str(error), [], [])
    reason = judge.refusal(policy)
    if reason is None:
        return None
    changes = [found for knob in _knobs(policy) if (found := judge.nearest(policy, knob)) is not None]
    more = judge.suppression(policy)
    together = [] if changes else judge.together(policy)
    return Infeasible(reason, [*changes, *([] if more is None else [more])], together)


def _encode(table: Any, policy: Policy) -> EncodedTable:
    """Return the rows as `tclose.anonymize` encodes them; of a table that it would not take, such as a release, as texts."""
    reader = open_reader(table, policy.input)
    as_texts = replace(policy, quasi=[Quasi(name, type="text", recode="set") for name in quasi_kinds(policy, reader.names)])
    try:
        return _encoded(reader, policy)
    except (InputError, PolicyError):
        return _encoded(reader, as_texts)


def _encoded(reader: Any, policy: Policy) -> EncodedTable:
    """Return the rows of a table under a policy, without columns that are kept."""
    unit = policy.unit if policy.unit in reader.names and policy.unit != "row" else None
    kinds = {column.name: column.read_as for column in policy.quasi}
    kinds |= {column.name: kind_to_read(column) for column in policy.sensitive}
    kinds |= {} if unit is None else {unit: "text"}
    source = open_table(reader, kinds, given=policy.input)
    return encode(source, policy, unit, [], lambda _: None)


@dataclass(frozen=True)
class _Knob:
    """A limit that can be loosened: its setting, its column, and its values from the one that is asked to the loosest."""

    setting: Setting
    column: str | None
    asked: Fraction
    step: Fraction
    loosest: Fraction

    @property
    def steps(self) -> int:
        """The number of values after the one that is asked."""
        return int(abs(self.loosest - self._start) / self.step)

    @property
    def _start(self) -> Fraction:
        """The value on the grid of steps that is asked, or the next stricter one."""
        up = self.loosest > self.asked
        whole = self.asked // self.step if up else -(-self.asked // self.step)
        return Fraction(whole) * self.step

    def value(self, step: int) -> Fraction:
        """Return the value after some steps; the first is the one that is asked."""
        if step == 0:
            return self.asked
        return self._start + (self.step if self.loosest > self.asked else -self.step) * step


def _knobs(policy: Policy) -> Iterator[_Knob]:
    """Yield the limits of a policy that can be loosened."""
    one, fine = Fraction(1), STEP
    for setting in (K, N):
        if setting.value(policy, None) is not None:
            yield _Knob(setting, None, Fraction(setting.value(policy, None)), one, one)
    if policy.alpha is not None:
        yield _Knob(ALPHA, None, policy.alpha, fine, one)
    for column in policy.sensitive:
        if column.t is not None:
            yield _Knob(T, column.name, column.t, fine, one)
        if column.l is not None:
            yield _Knob(L, column.name, column.l, fine if column.l_kind == "entropy" else one, one)
        for setting in (C, BETA, DELTA):
            if setting.value(policy, column) is not None:
                yield _Knob(setting, column.name, setting.value(policy, column), fine, Fraction(LOOSEST))


class _Judge:
    """Whether a release of one table is feasible, under policies that differ in their limits."""

    def __init__(self, table: EncodedTable, policy: Policy) -> None:
        """Take a table and the policy that it was encoded under."""
        self._table = table
        self._column_of = {attribute.column.name: attribute for attribute in table.sensitive}
        self._policy = policy

    def refusal(self, policy: Policy) -> str | None:
        """Return why a policy is infeasible, in a sentence; None if it is feasible."""
        found = self._suppressed(policy)
        return found if isinstance(found, str) else None

    def nearest(self, policy: Policy, knob: _Knob) -> Change | None:
        """Return the nearest value of a limit with which a policy is feasible; None if no value of it will do."""
        if knob.setting is T:
            return self._nearest_t(policy, knob)
        step = _first(
            lambda step: self.refusal(with_setting(policy, knob.setting, knob.column, knob.value(step))) is None, knob.steps
        )
        if step is None or step == 0:
            return None
        return Change(knob.setting.name, knob.column, knob.asked, knob.value(step), knob.value(step - 1))

    def _nearest_t(self, policy: Policy, knob: _Knob) -> Change | None:
        """Return the smallest t that is feasible: the distance of all rows that are left from the input."""
        found = self._suppressed(with_setting(policy, T, knob.column, Fraction(1)))
        if isinstance(found, str):
            return None
        attribute = self._column_of[str(knob.column)]
        left = np.bincount(attribute.codes[~found], minlength=len(attribute.counts))
        t = exact_emd(attribute.distance, left, attribute.counts)
        less = max(t - HAIR, knob.asked)
        fits = self.refusal(with_setting(policy, T, knob.column, t)) is None
        if t <= knob.asked or not fits or self.refusal(with_setting(policy, T, knob.column, less)) is None:
            return None
        return Change(T.name, knob.column, knob.asked, t, less)

    def suppression(self, policy: Policy) -> Change | None:
        """Return the fewest suppressed rows with which a policy is feasible, as `tclose.anonymize` chooses them."""
        found = self._suppressed(replace(policy, suppression=Fraction(1)))
        if isinstance(found, str):
            return None
        rows = int(found.sum())
        value, less = Fraction(rows, len(found)), Fraction(max(rows - 1, 0), len(found))
        tried = [self.refusal(replace(policy, suppression=share)) is None for share in (value, less)]
        return Change(SUPPRESSION, None, policy.suppression, value, less, rows) if tried == [True, False] else None

    def together(self, policy: Policy) -> list[Change]:
        """Return changes of several limits that make a policy feasible; each is as small as those before it allow."""
        knobs = list(_knobs(policy))
        tried = policy
        for knob in knobs:
            tried = with_setting(tried, knob.setting, knob.column, knob.loosest)
        if self.refusal(tried) is not None:
            return []
        changes = []
        for knob in knobs:
            tried = with_setting(tried, knob.setting, knob.column, knob.asked)
            if self.refusal(tried) is None:
                continue
            change = self.nearest(tried, knob)
            if change is None:
                return []
            changes.append(change)
            tried = with_setting(tried, knob.setting, knob.column, change.value)
        return changes

    def _suppressed(self, policy: Policy) -> Bools | str:
        """Return the rows that are suppressed so that the others can satisfy a policy; or why none can, in a sentence."""
        jobs.check()
        columns = {column.name: column for column in policy.sensitive}
        attributes = [replace(one, column=columns[one.column.name]) for one in self._table.sensitive]
        try:
            return rows_to_suppress(replace(self._table, sensitive=attributes), policy)
        except InfeasibleError as error:
            return str(error)


def _first(fits: Callable[[int], bool], steps: int) -> int | None:
    """Return a number of steps that fits while one step less does not; None if none of the tried ones fits.

    >>> _first(lambda step: step >= 37, 1000)
    37
    """
    low, high = 0, 1
    while high < steps and not fits(high):
        low, high = high, 2 * high
    high = min(high, steps)
    if steps < 1 or not fits(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high
