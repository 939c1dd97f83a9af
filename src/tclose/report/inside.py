"""What only the owner of a release may see: the raw table, every class, transport plans, attacks, and what is kept."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tclose.judge.result import Audit
from tclose.make.fragmentation.result import Fragmentation
from tclose.policy.yaml import yaml_text
from tclose.report.attained import broken_in_words
from tclose.report.compared import points_of
from tclose.report.facts import Facts, cut_lines
from tclose.report.figures import MOST, Figure, column_before_after, distances, fragments_of, frontier_of, transport
from tclose.report.labels import listed, percent, quoted
from tclose.report.listing import Listing, cut
from tclose.study.compare.comparison import Comparison
from tclose.study.measured import Measured, people_in_words, worst_classes
from tclose.values.exact import decimal_up, number_of

CLASSES = 15
"""Classes of a table that are listed, at most."""
WORST = 2
"""Classes of each sensitive column that are looked at closely, at most."""
RIGHT, WRONG = 0.1, 0.25
"""Counts are good with a median error up to the first, and not good with one above the second."""
TIED, KEPT, LOST = 0.1, 0.8, 0.5
"""Pairs of columns go together from this Cramér's V on; shares of it that are kept, and below which it is lost."""
MOVES = 8
"""Moves of a transport plan that are listed, at most."""


@dataclass(frozen=True)
class Closely:
    """One class, looked at closely: who is in it, its values, and the moves that would make it like the table."""

    title: str
    people: str
    plan: Listing
    figure: Figure


@dataclass(frozen=True)
class Classes:
    """The classes of a table in one sensitive column: their distances, and the farthest of them closely."""

    name: str
    listing: Listing
    figure: Figure | None
    worst: list[Closely]


@dataclass(frozen=True)
class Inside:
    """What an internal report has besides the public one.

    Attributes
    ----------
    record : mapping
        The private record; empty if it is not known.
    before : Audit or None
        Of the raw table; None if it was not given.
    raw, released : list of Classes
        The classes of the raw table and of the release, for each sensitive column.
    attacks, utility : mapping or None
        What `tclose.attack` and `tclose.utility` found, as mappings for JSON.
    comparison : Comparison or None
    fragmentation : Fragmentation or None
        What `tclose.find_fragmentation` found.
    """

    facts: Facts
    record: Mapping[str, Any]
    before: Audit | None
    raw: list[Classes]
    released: list[Classes]
    attacks: Mapping[str, Any] | None
    utility: Mapping[str, Any] | None
    comparison: Comparison | None
    fragmentation: Fragmentation | None = None

    @property
    def before_classes(self) -> str:
        """How many classes of the raw table break a limit, in words."""
        return "" if self.before is None else broken_in_words(self.before)

    @property
    def not_published(self) -> str:
        """The columns of the input that are not in the release, in words; empty if there are none, or nobody knows."""
        policy = self.record.get("policy", {})
        said = [
            f"{listed(list(map(quoted, policy[role])))} ({why})"
            for role, why in (("identifiers", "named as identifiers"), ("drop", "dropped"))
            if policy.get(role)
        ]
        return "; ".join([*said, *(["all columns without a role (other: drop)"] if policy.get("other") == "drop" else [])])

    @property
    def changes(self) -> Listing | None:
        """The quasi-identifiers before and after: their different values, and how wide these are as a share of the raw table."""
        if self.before is None:
            return None
        lost = self.record.get("loss", {}).get("by_attribute", {}).get("gcp", {})
        rows = [
            (
                name,
                f"{len(column.unique()):,}",
                ", ".join(
                    f"{len(self.facts.audit.quasi[part].unique()):,}"
                    for part in self.facts.audit.quasi
                    if part == name or part.rpartition(".")[0] == name
                ),
                percent(lost[name]) if name in lost else "not stated",
            )
            for name, column in self.before.quasi.items()
        ]
        headers = ("quasi-identifier", "values before", "values after", "width, as a share of the raw table")
        return cut("Quasi-identifiers before and after", headers, rows)

    @property
    def commands(self) -> list[str]:
        """The command that makes the release again; none without the record."""
        if not self.record:
            return []
        options = [part for name, value in self.record["options"].items() for part in ("--option", f"{name}={value}")]
        words = ["--algorithm", self.record["algorithm"], "--seed", str(self.record["seed"]), "--effort", self.record["effort"]]
        return [shlex.join(["tclose", "anonymize", "DATA", "-p", "policy.yaml", "-o", self.facts.file, *words, *options])]

    @property
    def policy_lines(self) -> list[str]:
        """The full policy in YAML, cut if it is long."""
        return cut_lines(yaml_text(self.record["policy"]), "record")

    def attacks_table(self) -> Listing:
        """Return how often each attack is right, those that give away most first."""
        assert self.attacks is not None
        rows = [
            (
                _name_of_attack(one),
                one["sensitive"] or "",
                _percent(one["before"]),
                _percent(one["members"]["share"]),
                _percent(one["controls"] and one["controls"]["share"]),
                _points(one["excess"], one["interval"]),
            )
            for one in sorted(self.attacks["attacks"], key=lambda one: -(one["excess"] or 0))
        ]
        headers = ("attack", "about", "without the release", "people in it", "others", "given away")
        return cut("Attacks: how often each is right about a person", headers, rows, 2)

    @property
    def most_given_away(self) -> str:
        """A sentence on the attack that gives away most beyond chance; empty if none does, or without controls."""
        assert self.attacks is not None
        seen = [one for one in self.attacks["attacks"] if one["interval"] is not None and one["interval"][0] > 0]
        if not seen:
            return ""
        most = max(seen, key=lambda one: one["excess"])
        members, others = (_percent(most[group]["share"]) for group in ("members", "controls"))
        rates = f"{members} of the people in the release, and {others} of others"
        return f"Given away most: someone who knows {most['knows']} {most['does']}: {most['says']} {rates}."

    def attackers(self) -> list[tuple[str, str, str]]:
        """Return for each kind of attack its name, what its attacker knows and does, and what lowers it."""
        assert self.attacks is not None
        kinds: dict[str, Any] = {}
        for one in self.attacks["attacks"]:  # each kind on the column of which it gives away most; ties: the first
            if (one["excess"] or 0) > (kinds.setdefault(one["name"], one)["excess"] or 0):
                kinds[one["name"]] = one
        return [(name, f"Someone who knows {one['knows']} {one['does']}.", one["lowers"]) for name, one in kinds.items()]

    def queries(self) -> Listing:
        """Return the errors of COUNT queries by the share of the rows that answer them."""
        assert self.utility is not None
        rows = [
            (f"{100 * band['low']:g}% to {100 * band['high']:g}%", f"{band['queries']:,}", _percent(band["median"]))
            for band in self.utility["queries"]["bands"]
        ]
        return cut("Counting rows: the median error of answers", ("rows that answer", "queries", "median error"), rows)

    def kept(self) -> Listing:
        """Return how far the distribution of each column is changed."""
        assert self.utility is not None
        rows = [(one["name"], _percent(one["moved"])) for one in self.utility["columns"]]
        return cut("Columns: rows that a reader expects at other values", ("column", "share of the rows"), rows)

    def columns(self) -> list[Figure]:
        """Return charts of the columns that are changed most, before and after."""
        assert self.utility is not None
        changed = sorted((one for one in self.utility["columns"] if one["moved"]), key=lambda one: -one["moved"])
        return [column_before_after(one) for one in changed[:MOST]]

    def associations(self) -> Listing:
        """Return how strongly pairs of columns go together, before and after."""
        assert self.utility is not None
        order = sorted(self.utility["associations"], key=lambda one: -one["before"])
        rows = [(" and ".join(one["columns"]), f"{one['before']:.2f}", f"{one['after']:.2f}") for one in order]
        headers = ("columns", "raw table", "release")
        return cut(
            "Pairs of columns: how strongly they go together (Cramér's V. 0: not at all, 1: one tells the other)",
            headers,
            rows,
            longest=20,
        )

    def good_for(self) -> list[str]:
        """Return what the measured utility speaks for."""
        return self._uses(good=True)

    def not_good_for(self) -> list[str]:
        """Return what the measured utility speaks against."""
        return self._uses(good=False)

    def _uses(self, *, good: bool) -> list[str]:
        """Return sentences on counts, pairs of columns and models that the release keeps, or that it does not keep."""
        if self.utility is None:
            return []
        said = []
        for band in self.utility["queries"]["bands"]:
            error = band["median"]
            if error is not None and (error <= RIGHT if good else error > WRONG):
                rows = f"{100 * band['low']:g}% to {100 * band['high']:g}% of the rows"
                said.append(f"Counts of groups that have {rows}: the median error is {percent(error)}.")
        tied = [one for one in self.utility["associations"] if one["before"] >= TIED]
        kept = [one for one in tied if (one["after"] >= KEPT * one["before"] if good else one["after"] < LOST * one["before"])]
        if kept:
            pairs = listed(
                [" with ".join(map(quoted, one["columns"])) for one in sorted(kept, key=lambda one: -one["before"])], 4
            )
            how = "largely kept" if good else "less than half is left"
            said.append(f"How strongly columns go together ({how}): {pairs}.")
        for one in self.utility["models"]:
            gain, least = one["raw"] - one["constant"], 0.01
            if gain >= least and (one["released"] - one["constant"] >= LOST * gain) is good:
                released, raw, constant = (percent(one[key]) for key in ("released", "raw", "constant"))
                rates = f"right for {released} of people; {raw} if trained on raw rows, {constant} by the most frequent value"
                said.append(f"Models that guess {quoted(one['target'])}: {rates}.")
        return said

    def models(self) -> Listing | None:
        """Return how often models guess a sensitive column; None if none was tried."""
        assert self.utility is not None
        rows = [
            (one["target"], *(_percent(one[key]) for key in ("constant", "released", "raw"))) for one in self.utility["models"]
        ]
        headers = ("guessed column", "always the most frequent", "trained on the release", "trained on raw rows")
        return cut("Models: right guesses about people who are not in the release", headers, rows) if rows else None

    def points(self) -> Listing:
        """Return the releases of a comparison: what each was asked, attains, loses and gives away."""
        assert self.comparison is not None
        return points_of(self.comparison)

    def fragments(self) -> Figure:
        """Return the chart of the fragments of the sensitive values."""
        assert self.fragmentation is not None
        return fragments_of(self.fragmentation, list(self.facts.audit.sensitive))

    def frontier(self) -> Figure:
        """Return the chart of the comparison."""
        assert self.comparison is not None
        return frontier_of(self.comparison)


def look_inside(facts: Facts, raw: Measured | None, attacks: Any, utility: Any, comparison: Any, fragmentation: Any) -> Inside:
    """Return what an internal report has besides the public one."""
    return Inside(
        facts,
        facts.papers.record,
        None if raw is None else raw.audit,
        [] if raw is None else classes_of(raw),
        classes_of(facts.papers.measured),
        attacks,
        utility,
        None if comparison is None else Comparison.from_dict(comparison),
        fragmentation,
    )


def classes_of(table: Measured) -> list[Classes]:
    """Return the classes of a table in each of its first sensitive columns, the farthest of them closely."""
    found = []
    for name, distribution in list(table.distributions.items())[:MOST]:
        numbers = worst_classes(table.audit, name, WORST)
        counts = distribution.of_classes(numbers)
        worst = []
        for number in numbers:
            moved = distribution.plan(counts[number])
            rows = [
                (str(move.source), str(move.target), _percent(float(move.mass)), decimal_up(move.distance), decimal_up(move.cost))
                for move in distribution.moves(moved)
            ]
            plan = cut(
                f"Transport plan of class {number}: what would have to move, for the class to be like the table",
                ("from", "to", "share of the class", "how far", "share times distance"),
                rows,
                2,
                what=("move", "moves"),
                longest=MOVES,
            )  # fmt: skip
            figure = transport(distribution, counts[number], moved, f"class {number}")
            worst.append(Closely(f"Class {number}", people_in_words(table.audit, number), plan, figure))
        found.append(Classes(name, class_listing(table.audit, name), distances(table.audit, name), worst))
    return found


def class_listing(audit: Audit, name: str) -> Listing:
    """Return the classes of a table by their distance from it in one sensitive column, farthest first, cut with a count."""
    verdict = audit.sensitive[name].verdicts["t"]
    order = np.argsort(-verdict.values, kind="stable")
    rows = [
        (
            str(number),
            people_in_words(audit, int(number)),
            f"{int(audit.sizes[number]):,}",
            decimal_up(float(verdict.values[number])),
        )
        for number in order[: CLASSES if len(order) > CLASSES + 1 else CLASSES + 1].tolist()
    ]
    more = len(order) - len(rows)
    note = f"{number_of(more, 'class', 'classes')} more, which are not farther, are not shown." if more else ""
    return Listing(
        f"Classes by their distance from the table in {name}", ("class", "who is in it", "rows", "distance"), rows, 2, note
    )


def _name_of_attack(attack: Mapping[str, Any]) -> str:
    """Return the name of an attack; of a join with the value that the attacker knows: it is about the one that they guess."""
    known = attack.get("figures", {}).get("known")
    return attack["name"] if known is None else f"{attack['name']}, knows {known}"


def _percent(share: float | None) -> str:
    """Return a share in percent; a dash if there is none."""
    return "-" if share is None else percent(share)


def _points(excess: float | None, interval: Sequence[float] | None) -> str:
    """Return an excess in points of 100 with its interval; a dash if there is none."""
    if excess is None:
        return "-"
    return f"{100 * excess:+.1f}" + ("" if interval is None else f" ({100 * interval[0]:+.1f} to {100 * interval[1]:+.1f})")
