"""Scope: what a verification covers, in plain words, so that nothing can hide behind "as certified".

It lists limits asked and attained, the role of each column, the distances, and what a reader should know though no rule forbids
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from tclose.columns.domains import Domain, domain_of
from tclose.distances import Distance
from tclose.judge.attribute import AttributeAudit
from tclose.judge.result import Audit, Judgement
from tclose.policy import Policy, Sensitive
from tclose.policy.models import NAMED, SETTINGS, asked_of
from tclose.release.certificate import STATED
from tclose.tables.counted import Cells
from tclose.tables.table import Table
from tclose.values.builders import Builder
from tclose.values.exact import decimal_up, number_of, plain

MUCH_LESS = 10
"""A reader is warned if t under a tree or a matrix is this many times smaller than under the equal distance."""

MOST_ROWS, NARROW = Fraction(9, 10), Fraction(1, 20)
"""The numeric distance says little if this share of the rows lies within this part of the range."""

WRITTEN_OUT = ("hierarchy", "matrix", "order", "bins")
OF_POLICY, OF_SENSITIVE = ([setting.name for setting in SETTINGS if setting.of == owner] for owner in ("policy", "sensitive"))
"""The limits of a whole policy, and those of a sensitive column."""


@dataclass(frozen=True)
class Scope:
    """What a verification covers.

    Attributes
    ----------
    title : str
        The file, its rows and classes.
    limits : list of str
        For each limit what was asked, and what is attained.
    columns : list of str
        The columns by their roles, and the distance of each sensitive one.
    warnings : list of str
    """

    title: str
    limits: list[str]
    columns: list[str]
    warnings: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Return the scope as lines of text, without its warnings."""
        return [self.title, *(self.limits or ["No limit was asked."]), *self.columns]


OF_PERSONS = "k and l are checked over rows. That they are satisfied over persons, too, is the publisher's word."


def scope_of(
    name: str, source: Table, values: Cells, audit: Audit, kept: Mapping[str, int], *, of_persons: bool = False
) -> Scope:
    """Return what a verification of a release covers: limits asked and attained, columns, distances, and warnings.

    Parameters
    ----------
    source, values
        The sensitive columns, and their values.
    kept
        The columns that are published as they are, each with the number of its different values.
    of_persons
        Whether the certificate says that persons were counted, whom nobody sees in the release.
    """
    title = f"{name}: {number_of(audit.rows, 'row')} in {number_of(audit.classes, 'class', 'classes')}"
    columns = [f"Quasi-identifiers, which others may know: {', '.join(audit.quasi)}.", *_trees_in_words(audit.policy)]
    risks = []
    for column in audit.policy.sensitive:
        cells, counts = values.domain(column.name)
        domain = domain_of(source, column, cells, counts, binned=column.bins is not None and column.publish is None)
        columns.append(f"Sensitive: {column.name}. {_distance_in_words(column, domain)}")
        risks += _warnings_on_column(column, audit.sensitive[column.name], domain, domain.table(counts))
    if audit.policy.n is not None and audit.policy.n <= audit.k:
        risks.append(f"Every class has {audit.policy.n:,} rows or more, and may be a region by itself: (n,t) says little.")
    shown = ", ".join(f"{column} ({number_of(count, 'different value')})" for column, count in kept.items())
    columns.append(f"Published as they are: {shown or 'no columns'}.")
    risks += [
        f"{name}: {number_of(count, 'different value')} in {number_of(audit.rows, 'row')}, published as it is."
        for name, count in kept.items()
        if audit.rows > 1 and 2 * count > audit.rows
    ]
    return Scope(
        title,
        [
            *(_limit_in_words(audit, judgement) for judgement in audit.judgements),
            *([OF_PERSONS] if of_persons else []),
            *_limits_not_asked(audit.policy),
        ],
        columns,
        risks,
    )


def asks_for_something(policy: Policy) -> bool:
    """Whether some table breaks the policy: k, l, alpha or t of 1 asks for nothing, nor does any t with n of 1."""
    return not all(model.is_idle(policy, column) for model, column in asked_of(policy))


def differences(own: Policy, certified: Policy) -> list[str]:
    """Return sentences on what a reader's policy and a certificate's policy ask differently."""
    found = [
        f"{key} is {_limit_as_shown(getattr(own, key))}, certified is {_limit_as_shown(getattr(certified, key))}"
        for key in (*OF_POLICY, STATED)
        if getattr(own, key) != getattr(certified, key)
    ]
    for role, what in (("quasi", "quasi-identifier"), ("sensitive", "sensitive")):
        yours, theirs = ([column.name for column in getattr(policy, role)] for policy in (own, certified))
        found += [f"{name} is {what} in yours only" for name in yours if name not in theirs]
        found += [f"{name} is {what} in the certificate only" for name in theirs if name not in yours]
    theirs_by_name = {column.name: column for column in certified.sensitive}
    for column in own.sensitive:
        other = theirs_by_name.get(column.name)
        if other is not None:
            found += [
                _difference_in_words(column, other, key)
                for key in ("distance", *OF_SENSITIVE, *WRITTEN_OUT)
                if _settings_differ(column, other, key)
            ]
    return found


def _settings_differ(own: Sensitive, other: Sensitive, key: str) -> bool:
    """Whether two policies differ in one setting of a sensitive column."""
    if key == "distance":  # "auto" leaves it to the column
        return own.kind not in ("auto", other.kind)
    return bool(getattr(own, key) != getattr(other, key))


def _difference_in_words(own: Sensitive, other: Sensitive, key: str) -> str:
    """Return the sentence on how two policies differ in one setting of a sensitive column."""
    if key in WRITTEN_OUT:
        yours, theirs = (getattr(column, key) is not None for column in (own, other))
        said = f"another {key}" if yours and theirs else f"a {key} in {'yours' if yours else 'the certificate'} only"
        return f"{own.name} has {said}"
    asked = [column.kind if key == "distance" else getattr(column, key) for column in (own, other)]
    return f"{key} of {own.name} is {_limit_as_shown(asked[0])}, certified is {_limit_as_shown(asked[1])}"


def _limit_as_shown(limit: Any) -> Any:
    """Return a policy's limit as a sentence shows it; "not asked" for None."""
    return "not asked" if limit is None else plain(limit) if isinstance(limit, Fraction) else limit


def _limit_in_words(audit: Audit, judgement: Judgement) -> str:
    """Return the sentence on one limit of the policy: what was asked, and what is attained."""
    model, name = NAMED[judgement.model], judgement.sensitive
    if name is None:
        return model.sentence.format(asked=number_of(int(judgement.limit), "row"), attained=f"{audit.k:,}")
    worst = audit.sensitive[name].verdicts[model.key].worst
    whole = isinstance(worst, Fraction) and worst.denominator == 1
    return model.sentence.format(
        column=name,
        asked=plain(judgement.limit),
        n=audit.policy.n,
        attained=worst,
        rounded=model.rounded(worst),
        shortest=worst if whole else model.rounded(worst),
    )


def _limits_not_asked(policy: Policy) -> list[str]:
    """Return sentences on limits that a reader may expect but the policy does not set: k, and t of each column."""
    missing = ["No k was asked: a class may have one row only."] if policy.k is None else []
    return missing + [f"No t was asked for {column.name}." for column in policy.sensitive if column.t is None]


def _trees_in_words(policy: Policy) -> list[str]:
    """Return a sentence on each hierarchy that defines regions of (n,t)-closeness, which the publisher chose."""
    trees = [(column.name, column.tree) for column in policy.quasi if policy.n is not None and column.tree is not None]
    return [
        f"Regions of {name}: by the certificate's tree, of {number_of(tree.height + 1, 'level')} and "
        f"{number_of(len(tree.leaves), 'label')}."
        for name, tree in trees
    ]


def _distance_in_words(column: Sensitive, domain: Domain) -> str:
    """Return the sentence on the distance between the values of a sensitive column."""
    count = len(domain.values)
    if isinstance(column.hierarchy, Builder):
        levels = number_of(len(column.hierarchy.levels()) + 2, "level")
        return f"Distance: a tree of {levels}, by the rule of the certificate, over {number_of(count, 'value')}."
    if column.hierarchy is not None:
        levels, known = number_of(column.hierarchy.height + 1, "level"), number_of(len(column.hierarchy.leaves), "value")
        return f"Distance: a tree of {levels} and {known}, {count:,} of them in the file."
    if column.matrix is not None:
        return f"Distance: a matrix of {number_of(len(column.matrix.labels), 'value')}, {count:,} of them in the file."
    binned = column.bins is not None and column.publish is None
    return f"Distance: {domain.distance.name}, over {number_of(count, 'bin' if binned else 'value')}."


def _warnings_on_column(column: Sensitive, found: AttributeAudit, domain: Domain, counts: Any) -> list[str]:
    """Return warnings on a sensitive column whose t says less than it seems to."""
    name, risks = column.name, []
    reach = _largest_distance(domain.distance)
    equal = found.divergences["variational"]
    if reach < 1:
        risks.append(f"{name}: the distances between the values that occur reach at most {decimal_up(reach)}, so t says little.")
    elif domain.distance.shape in ("tree", "metric") and equal > MUCH_LESS * found.t_judged and equal > 0.1:
        risks.append(
            f"{name}: most distances are small, so t says little. With all different values equally far apart it would be "
            f"{decimal_up(equal)}."
        )
    if domain.distance.name == "numeric" and len(domain.values) > 1 and _is_narrow(domain, counts):
        risks.append(f"{name}: nearly all values lie close together in a small part of their range, so t says little.")
    if found.homogeneous_classes:
        where = number_of(found.homogeneous_classes, "class has", "classes have")
        rows = number_of(found.homogeneous_rows, "row")
        risks.append(f"{name}: {where} one value only ({rows}): anyone who knows the class of a person knows the value.")
    return risks


def _largest_distance(distance: Distance) -> Fraction:
    """Return the largest distance between two values of a sensitive attribute's domain."""
    if distance.m < 2:
        return Fraction(1)
    if distance.shape == "metric":
        return max(distance.ground(i, j) for i, j in combinations(range(distance.m), 2))
    return distance.ground(0, distance.m - 1)  # the first and the last value of a line, or of a tree's leaves


def _is_narrow(domain: Domain, counts: Any) -> bool:
    """Whether most rows lie within a small part of the range, as an outlier makes all other distances small."""
    total, below = int(counts.sum()), np.concatenate([[0], np.cumsum(counts)])
    needed = -(-total * MOST_ROWS.numerator // MOST_ROWS.denominator)
    for first in range(len(counts)):
        last = int(np.searchsorted(below, below[first] + needed)) - 1
        if last >= len(counts):
            return False
        if domain.distance.ground(first, last) <= NARROW:
            return True
    return False
