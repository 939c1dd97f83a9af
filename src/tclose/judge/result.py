"""Audit: what a table gives away, as an object with measures, violations, classes, and JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tclose.judge.attribute import AttributeAudit, finite
from tclose.judge.models import ON_SIZES
from tclose.judge.models.base import Verdict
from tclose.policy import Policy
from tclose.policy.models import MODELS
from tclose.tables.readings import Reading
from tclose.values.arrays import Bools, Floats
from tclose.values.exact import decimal_up, float_up, number_of

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Judgement:
    """One limit of the policy, and what every class attains.

    ``floor`` says that the limit is a least value, as for k, and not a largest.
    """

    model: str
    sensitive: str | None
    limit: Fraction
    values: Floats
    broken: Bools
    floor: bool = False

    def worst(self, count: int) -> list[int]:
        """Return the numbers of the classes that break the limit most, at most ``count``, worst first."""
        numbers = np.flatnonzero(self.broken)
        far = self.values[numbers] if self.floor else -self.values[numbers]
        chosen: list[int] = numbers[np.argsort(far, kind="stable")[:count]].tolist()
        return chosen


@dataclass(frozen=True)
class Violation:
    """One class that breaks one limit; `value` is what it attains. For (n,t): "not shown", and the least distance found."""

    model: str
    sensitive: str | None
    number: int
    size: int
    value: float
    limit: Fraction

    def to_dict(self) -> dict[str, Any]:
        """Return the violation as a mapping for JSON."""
        place = {"model": self.model, "sensitive": self.sensitive, "class": self.number, "size": self.size}
        return {**place, **finite("value", self.value), "limit": float(self.limit)}


@dataclass(frozen=True, eq=False)
class Audit:
    """What a table gives away, measured exactly.

    Attributes
    ----------
    policy : Policy
    rows, classes : int
    sizes, persons : (classes,) int64
        Rows of each class, and persons if they are known.
    k : int
        Rows of the smallest class.
    k_persons : int or None
        Persons of the smallest class, where a unit is named or an identifier repeats.
    sensitive : dict of AttributeAudit
    quasi : dict of pyarrow arrays
        Each quasi-identifier's value in each class.
    joint_verdict : Verdict or None
        What the joint test found: all sensitive attributes taken as one, never judged. None with fewer than two of them, and
        where the table is compared with another, of which only the single attributes are known.
    readings : dict of Reading
        How each quasi-identifier and each sensitive attribute was read, and why it was not read as numbers or dates.
    satisfied : bool
        Whether every limit of the policy is satisfied; true when nothing is limited.
    violations : list of Violation
    judgements : list of Judgement
    """

    policy: Policy
    rows: int
    sizes: NDArray[np.int64]
    persons: NDArray[np.int64] | None
    sensitive: dict[str, AttributeAudit]
    quasi: dict[str, pa.Array]
    joint_verdict: Verdict | None = None
    readings: dict[str, Reading] = field(default_factory=dict)

    @property
    def classes(self) -> int:
        """The number of equivalence classes."""
        return len(self.sizes)

    @property
    def k(self) -> int:
        """The attained k: the number of rows of the smallest class."""
        return int(self.sizes.min())

    @property
    def k_persons(self) -> int | None:
        """The number of persons of the smallest class; None if persons are not known."""
        return None if self.persons is None else int(self.persons.min())

    @property
    def counts_persons(self) -> bool:
        """Whether k and l are judged on persons: the policy names a unit, and the table has it."""
        return self.persons is not None and self.policy.unit is not None

    @property
    def homogeneous(self) -> dict[str, int]:
        """The numbers of classes, and of rows in them, in which some sensitive attribute has one value only."""
        some = np.logical_or.reduce([attribute.homogeneous for attribute in self.sensitive.values()])
        return {"classes": int(some.sum()), "rows": int(self.sizes[some].sum())}

    @property
    def joint(self) -> float | None:
        """The largest distance of a class from the table in the joint test, rounded up: a measure, never the guarantee."""
        return None if self.joint_exact is None else float_up(self.joint_exact)

    @property
    def joint_exact(self) -> Fraction | None:
        """The largest distance of a class from the table in the joint test, as a fraction; None if there is no such test."""
        return None if self.joint_verdict is None else Fraction(self.joint_verdict.worst)

    @cached_property
    def judgements(self) -> list[Judgement]:
        """Every limit of the policy, with what each class attains of it."""
        found = []
        for key, breaks in ON_SIZES.items():
            limit = MODELS[key].limit(self.policy, None)
            if limit is not None:
                persons = self.persons if self.counts_persons and MODELS[key].counts_persons else None
                counted = self.sizes if persons is None else persons
                values, broken = counted.astype(np.float64), breaks(counted, int(limit))
                found.append(Judgement(MODELS[key].name, None, limit, values, broken, MODELS[key].at_least))
        for column in self.policy.sensitive:
            for key, verdict in self.sensitive[column.name].verdicts.items():
                model, limit = MODELS[key], MODELS[key].limit(self.policy, column)
                if limit is not None:
                    found.append(Judgement(model.name, column.name, limit, verdict.values, verdict.broken, model.at_least))
        return found

    @cached_property
    def satisfied(self) -> bool:
        """Whether the audited table satisfies every limit of the policy."""
        return not any(judgement.broken.any() for judgement in self.judgements)

    @cached_property
    def violations(self) -> list[Violation]:
        """Every class that breaks a limit, once for each limit that it breaks."""
        return [
            Violation(that.model, that.sensitive, number, int(self.sizes[number]), float(that.values[number]), that.limit)
            for that in self.judgements
            for number in np.flatnonzero(that.broken).tolist()
        ]

    def class_table(self) -> pa.Table:
        """Return a table with one row per class: quasi-identifiers, rows, attained values, and the limits that it breaks."""
        import pyarrow as pa

        columns: list[tuple[str, Any]] = [("class", np.arange(self.classes)), *self.quasi.items()]
        columns += [("rows", self.sizes)] + ([] if self.persons is None else [("persons", self.persons)])
        columns += [
            (f"{name}.{key}", verdict.values)
            for name, attribute in self.sensitive.items()
            for key, verdict in attribute.verdicts.items()
        ]
        breaks: list[list[str]] = [[] for _ in range(self.classes)]
        for violation in self.violations:
            breaks[violation.number].append(violation.model + (f" of {violation.sensitive}" if violation.sensitive else ""))
        columns.append(("breaks", ["; ".join(limits) for limits in breaks]))
        return pa.table([values for _, values in columns], names=_distinct_names([name for name, _ in columns]))

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as a mapping of plain types, which `to_json` writes."""
        return {
            "rows": self.rows,
            "classes": self.classes,
            "k": self.k,
            "k_persons": self.k_persons,
            "satisfied": self.satisfied,
            "homogeneous": self.homogeneous,
            "sensitive": {name: attribute.to_dict() for name, attribute in self.sensitive.items()},
            "joint": self._joint_to_dict(),
            "violations": [violation.to_dict() for violation in self.violations],
            "readings": {name: reading.to_dict() for name, reading in self.readings.items()},
        }

    def _joint_to_dict(self) -> dict[str, Any] | None:
        """Return the figures of the joint test as a mapping for JSON; None if there is no such test."""
        if self.joint_verdict is None:
            return None
        return {"t": self.joint, "t_exact": str(self.joint_exact), "worst_class": self.joint_verdict.worst_class}

    def to_json(self) -> str:
        """Return the audit as a JSON text of one object."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def plot_class_sizes(self) -> Any:
        """Return an Altair chart of the sizes of the classes, with the k that is asked.

        It needs the extra ``report``: ``pip install 'tclose[report]'``.
        """
        from tclose.report.plots import plot_class_sizes

        return plot_class_sizes(self)

    def plot_emd(self, sensitive: str) -> Any:
        """Return an Altair chart of the distance of each class from the table in a sensitive attribute, with the limit t.

        It needs the extra ``report``: ``pip install 'tclose[report]'``.

        Examples
        --------
        >>> import pyarrow as pa, tclose as tc
        >>> people = pa.table({"zip": ["476", "476", "479", "479"], "salary": [3, 5, 4, 6]})
        >>> audit = tc.audit(people, tc.Policy(quasi=["zip"], sensitive={"salary": 0.2}, k=2))
        >>> audit.plot_emd("salary")
        alt.LayerChart(...)
        """
        from tclose.report.plots import plot_emd

        return plot_emd(self, sensitive)

    def _repr_html_(self) -> str:
        """Return the audit as a small table for a notebook: the verdict, and what is asked and attained."""
        from tclose.report.summaries import audit_html

        return audit_html(self)

    def to_html(self, path: str | Path | None = None, *, name: str = "table", force: bool = False) -> str:
        """Return the audit as one HTML page, and write it to a file if a path is given.

        It is INTERNAL: it shows who is in which class. It needs the extra ``report``: ``pip install 'tclose[report]'``.

        Parameters
        ----------
        path
            Ends in .html.
        name
            What the page calls the table.
        force
            Whether a file that exists may be replaced.
        """
        from tclose.report.audited import audit_page
        from tclose.report.page import make_page

        return make_page(lambda: audit_page(self, name), path, force=force)

    def __repr__(self) -> str:
        """Return the audit in one line: rows, classes, k, t of each sensitive attribute, and the verdict."""
        measured = ", ".join(f"{name} t={decimal_up(attribute.t_judged)}" for name, attribute in self.sensitive.items())
        verdict = "satisfied" if self.satisfied else "not satisfied"
        rows, classes = number_of(self.rows, "row"), number_of(self.classes, "class", "classes")
        return f"<Audit: {rows} in {classes}, k={self.k}; {measured}; {verdict}>"


def _distinct_names(names: list[str]) -> list[str]:
    """Return column names made distinct: a quasi-identifier may be called "class" too."""
    distinct: list[str] = []
    for name in names:
        while name in distinct:
            name += "_"
        distinct.append(name)
    return distinct
