"""What a report says of a release: figures of the published table and of its certificate, as words and tables.

All of it can be computed from the release and its certificate, but for the policy's ``context``. In a public report counts of few
rows are masked, because the report may reach more people than the release.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from tclose.judge.result import Audit
from tclose.policy.models import NAMED
from tclose.policy.proposed import NOBODY
from tclose.policy.yaml import yaml_text
from tclose.release.certificate import labels_in_words
from tclose.report.attained import attained_in_words, safer_side
from tclose.report.commonest import Commonest
from tclose.report.labels import listed, percent, quoted
from tclose.report.listing import Listing, cut
from tclose.report.masking import masked_cells, pooled
from tclose.report.meanings import meanings_of
from tclose.report.papers import Papers
from tclose.report.published import (
    MEANS,
    SINGLE,
    PublishedColumn,
    coarseness_in_words,
    coarseness_of,
    ends_in_words,
    is_in_ranges,
    published_columns,
)
from tclose.study.measured import Distribution
from tclose.values.exact import decimal_up, number_of, plain

MASKED = "masked"
MOST_VALUES = 20
"""Values of a sensitive column that a table lists, at most."""
MOST_PUBLISHED = 10
"""Published values of a quasi-identifier that a table lists, at most."""
INTERVALS = 12
"""Ranges in which numbers of more values are listed, at most."""
SIZES = (1, 2, 5)
"""Classes are listed by size: from 1, 2 or 5 times a power of ten on."""
OF_FREQUENCIES = ("beta", "beta_enhanced", "delta")
"""Models whose attained value tells how often the rarest value occurs: a public report says only that they are satisfied."""
MOST_LINES = 80
"""Lines of a policy, at most."""
MOST_NAMED = 6
"""Sensitive columns that have sentences on page one, at most."""
MOST_LISTED = 30
"""Quasi-identifiers that page one lists, at most."""
TOPICS = (
    ("purpose", "context", "purpose"),
    ("recipient", "context", "recipient"),
    ("controls", "context", "controls"),
    ("adversaries", "adversaries", "adversaries"),
    ("thresholds", "method", "why these limits"),
    ("earlier_releases", "earlier", "earlier releases"),
    ("reviewer", "review", "review"),
)
"""Topics of the policy's context, the heading of each, and what it is."""
ROLES = {"quasi": "quasi-identifier", "sensitive": "sensitive", "kept": "published as it is"}


@dataclass(frozen=True)
class Facts:
    """What a report says of a release.

    Attributes
    ----------
    papers : Papers
    least : int
        Counts below this are masked; 1 in an internal report, where nothing is.
    """

    papers: Papers
    least: int

    @property
    def audit(self) -> Audit:
        """The audit of the published table."""
        return self.papers.measured.audit

    @property
    def certificate(self) -> Any:
        """The certificate of the release."""
        return self.papers.certificate

    @property
    def file(self) -> str:
        """The name of the published file."""
        return str(self.certificate.get("release", {}).get("file", "release"))

    @property
    def sha256(self) -> str | None:
        """The hash of the published file; None if it is not written yet."""
        found: str | None = self.certificate.get("release", {}).get("sha256")
        return found

    @property
    def kept(self) -> list[str]:
        """The names of the columns that are published as they are."""
        return [column["name"] for column in self.certificate["columns"] if column["role"] == "kept"]

    @property
    def sensitive(self) -> list[str]:
        """The names of the sensitive columns, in the order of the policy, as in all sentences and tables."""
        return [column.name for column in self.audit.policy.sensitive]

    @property
    def quasi(self) -> list[str]:
        """The names of the quasi-identifiers, as the policy has them."""
        return [column.name for column in self.audit.policy.quasi]

    @property
    def closeness(self) -> str:
        """A sentence on what is promised of the sensitive values in a class: only what a limit asks for."""
        limited = [column.name for column in self.audit.policy.sensitive if column.t is not None]
        free = [column.name for column in self.audit.policy.sensitive if column.t is None]
        said = []
        if limited:
            like = "in the whole table" if self.audit.policy.n is None else "among the people with similar quasi-identifiers"
            said.append(
                f"In each class the sensitive values of {listed(limited)} differ from those {like} by at most the limit t."
            )
        if free:
            said.append(f"How the values of {listed(free)} are distributed in a class has no such limit.")
        return " ".join(said)

    @property
    def mean_size(self) -> str:
        """The mean number of rows of a class, in words."""
        return f"{self.audit.rows / self.audit.classes:,.1f}"

    @property
    def counts_persons(self) -> bool:
        """Whether the publisher counted persons; the file does not tell which rows are of one."""
        return bool(self.certificate["counted"] == "persons")

    @property
    def unconfirmed(self) -> bool:
        """Whether nobody has confirmed the roles of the columns, as the context of a proposed policy says."""
        return self.papers.context.get("reviewer", "").startswith(NOBODY)

    @property
    def alike(self) -> str:
        """How many rows, or persons, look alike in each class, in words: those that can be promised to a reader."""
        if self.counts_persons:  # a person may have several rows of a class
            return number_of(self.audit.policy.k or 1, "person")
        return number_of(self.audit.k, "row")

    @property
    def match(self) -> str:
        """The largest chance to pick the right one of the rows, or persons, of a class."""
        return f"1 in {self.alike.partition(' ')[0]}"

    @property
    def detail_lost(self) -> str | None:
        """How much detail of the quasi-identifiers is lost, in percent; None if it is not known."""
        gcp = self.certificate["loss"].get("gcp")
        return None if gcp is None else percent(gcp)

    @property
    def unique(self) -> str:
        """How many rows are unique if all published columns are taken together, in sentences."""
        rows, others = int(self.certificate["unique_rows"]), [*self.sensitive, *self.kept]
        quantity = "" if len(others) == 1 else "both " if len(others) == 2 else "all of "
        together = f"the quasi-identifiers and {quantity}{listed(list(map(quoted, others)))}"
        found = self._of_rows(rows, "is", "are")
        said = f"{found[0].upper()}{found[1:]} unique when all published columns are taken together, {together}"
        if not rows:
            return f"{said}: that is the best there is."
        return f"{said}. Whoever knows all of that of such a person finds the row. None would be best; no limit is about it."

    @cached_property
    def commonest(self) -> list[Commonest]:
        """The commonest value of each sensitive column, and the classes in which everybody, or nobody, has it."""
        return [Commonest.of(found, self.audit) for found in self.papers.measured.distributions.values()]

    @property
    def sure(self) -> list[str]:
        """Sentences on classes where everybody, or nobody, has the commonest value of a sensitive column, and what closes it."""
        said = [one.in_words(self.audit, exactly=self._is_told(one)) for one in self.commonest]
        said = [sentences for sentences in said if sentences]
        more = len(said) - MOST_NAMED
        rest = [f"It is alike with {number_of(more, 'more sensitive column')}."] if more > 0 else []
        return said[:MOST_NAMED] + rest

    def _is_told(self, one: Commonest) -> bool:
        """Whether the commonest value of a column, its share and the rows of its classes may be told: no small count shows."""
        return one.told(self.least) and self._most(self.papers.measured.distributions[one.column]) != MASKED

    @property
    def homogeneous_at_top(self) -> bool:
        """Whether classes with one sensitive value are counted at the top of the report already."""
        return any(one.everybody.rows and self._is_told(one) for one in self.commonest)

    @property
    def homogeneous(self) -> str:
        """How many rows are in classes with one sensitive value, in words."""
        return self._of_rows(self.audit.homogeneous["rows"], "is", "are")

    def _of_rows(self, count: int, one: str, many: str) -> str:
        """Return a count among all rows with its verb; a small one, or one that leaves few rows, only roughly."""
        rows = self.audit.rows
        if count in (0, rows):
            return f"{'every' if count else 'no'} row {one}"
        if count < self.least:
            return f"fewer than {number_of(self.least, 'row')} {many}"
        if rows - count < self.least:
            return f"nearly every row {one}"
        return f"{count:,} of {number_of(rows, 'row')} {one if count == 1 else many}"

    @property
    def labels(self) -> str:
        """A sentence on where to find what the labels of hierarchies stand for; empty if there are none."""
        return labels_in_words(self.certificate["columns"])

    @property
    def has_masked(self) -> bool:
        """Whether some count of a value is masked, or some table not shown."""
        return any(
            listing is None or any(row[1] == MASKED for row in listing.rows)
            for _, listing in self.distributions() + self.quasi_distributions()
        )

    @property
    def has_bins(self) -> bool:
        """Whether a sensitive column is published in intervals."""
        return any(column.bins is not None and column.publish is None for column in self.audit.policy.sensitive)

    def columns(self) -> Listing:
        """Return the codebook: each published column, its role and what it holds."""
        rows = [(column["name"], ROLES[column["role"]], column["holds"]) for column in self.certificate["columns"]]
        return cut("Published columns", ("column", "role", "what it holds"), rows, 3, what=("column", "columns"))

    def limits(self, before: Audit | None = None) -> Listing:
        """Return the table of limits: what was asked, what the release attains, and what the raw table attained if known."""
        raw = {} if before is None else {(one.model, one.sensitive): attained_in_words(before, one) for one in before.judgements}
        rows = []
        for judgement in self.audit.judgements:
            model = NAMED[judgement.model]
            asked = f"{plain(judgement.limit)} or {'more' if judgement.floor else 'less'}"
            attained = attained_in_words(self.audit, judgement)
            if self.least > 1 and model.key in OF_FREQUENCIES:
                attained = "satisfied"
            if judgement.sensitive is None and self.counts_persons:  # in the release rows alone can be counted
                attained = asked
            counted = "persons" if self.counts_persons else "rows"
            label = f"{model.label.format(counted if judgement.sensitive is None else judgement.sensitive)}; {safer_side(model)}"
            found = [] if before is None else [raw.get((judgement.model, judgement.sensitive), "not measured")]
            rows.append((label, *found, asked, attained))
        headers = ("limit", *([] if before is None else ["raw table"]), "asked", "this release")
        listing = cut("Limits: asked and attained", headers, rows, what=("limit", "limits"))
        return replace(listing, note=" ".join(filter(None, [listing.note, self._of_persons])))

    @property
    def _of_persons(self) -> str:
        """What a reader can check of limits that count persons, in sentences; empty if rows were counted."""
        if not self.counts_persons:
            return ""
        said = f"a reader can check only that each class has at least {number_of(self.audit.k, 'row')}"
        return f"That {self.alike} or more are in each class is the publisher's word: {said}."

    @property
    def meanings(self) -> list[str]:
        """What the limits of the release mean, for a reader who never read a paper."""
        values = {name: len(found.values) for name, found in self.papers.measured.distributions.items()}
        return meanings_of(self.audit, values, "persons" if self.counts_persons else "rows")

    def inference(self) -> Listing:
        """Return for each sensitive column how near its classes are to the table."""
        rows = []
        for name, found in self.audit.sensitive.items():
            largest, whole = self.shares(name)
            rows.append((name, largest, whole, f"{found.l_distinct:,}", decimal_up(found.t_judged)))
        headers = ("sensitive column", "largest share of one value in a class", "in the table", "fewest values in a class", "t")
        return cut("Sensitive columns in the classes", headers, rows, what=("column", "columns"))

    def shares(self, name: str) -> tuple[str, str]:
        """Return the largest share of one value of a sensitive column in a class, and that in the table; masked if it must be."""
        whole = self._most(self.papers.measured.distributions[name])
        largest = MASKED if whole == MASKED and self.audit.classes == 1 else percent(self.audit.sensitive[name].share)
        return largest, whole

    @property
    def beyond_t(self) -> str:
        """A sentence on columns of which a value may have a share farther from the table than t; empty if there is none."""
        names = [quoted(name) for name in self.audit.sensitive if self._is_beyond_t(name)]
        if not names:
            return ""
        return f"t does not bound these shares of {listed(names)}: near values count as nearly the same there."

    def _is_beyond_t(self, name: str) -> bool:
        """Whether values have an order, and one has a share in a class beyond t and its share in the table."""
        found, counts = self.audit.sensitive[name], self.papers.measured.distributions[name].counts
        return (
            found.distance in ("ordered", "numeric")
            and found.limit is not None
            and self.audit.policy.n is None
            and self.shares(name)[1] != MASKED
            and found.worst("share") > Fraction(int(counts.max()), int(counts.sum())) + found.limit
        )

    def _most(self, found: Distribution) -> str:
        """Return the share of the most frequent value in the table; it is masked where its count is: then all counts are."""
        most, listing = int(found.counts.argmax()), self._distribution(found)
        if found.counts[most] < self.least or listing is None or all(row[1] == MASKED for row in listing.rows):
            return MASKED
        return percent(found.counts[most] / found.counts.sum())

    def class_sizes(self) -> Listing | None:
        """Return how many classes, and rows in them, there are of each size; sizes with few rows are pooled with the next."""
        edges = list(_edges_of_sizes(int(self.audit.sizes.max())))
        place = np.searchsorted(edges, self.audit.sizes, side="right") - 1
        classes = np.bincount(place, minlength=len(edges))
        rows = np.bincount(place, weights=self.audit.sizes, minlength=len(edges)).astype(np.int64)
        ends = [*(edge - 1 for edge in edges[1:]), int(self.audit.sizes.max())]
        ranges = pooled(rows.tolist(), self.least)
        found = [
            (
                _range_in_words(max(edges[first], self.audit.k), min(ends[last - 1], ends[-1])),
                f"{int(classes[first:last].sum()):,}",
                f"{int(rows[first:last].sum()):,}",
            )
            for first, last in ranges
        ]
        return cut("Classes by size", ("rows in a class", "classes", "rows"), found) if found else None

    def distributions(self) -> list[tuple[str, Listing | None]]:
        """Return the distribution of each sensitive column in the release; None for one that must not be shown."""
        return [(name, self._distribution(found)) for name, found in self.papers.measured.distributions.items()]

    def _distribution(self, found: Distribution) -> Listing | None:
        """Return the values of a sensitive column with their rows: many numbers in ranges, else each value, small ones masked."""
        rows = self.audit.rows
        if found.in_order and len(found.values) > MOST_VALUES:
            least = max(self.least, -(-rows // INTERVALS))
            ranges = pooled(found.counts.tolist(), least, self.least) or [(0, len(found.values))]
            if rows < self.least:
                return None
            lines = [
                (_interval_in_words(found.values, first, last), int(found.counts[first:last].sum()), False)
                for first, last in ranges
            ]
            return _listing_of_values(found.name, lines, rows, 0)
        of_bins = any(column.name == found.name and column.bins is not None for column in self.audit.policy.sensitive)
        return self._values(found.name, found.values, found.counts.tolist(), in_order=found.in_order or of_bins)

    def _values(
        self, name: str, values: Sequence[str], counts: Sequence[int], *, in_order: bool, longest: int = MOST_VALUES
    ) -> Listing | None:
        """Return the values of a column with their rows, small counts masked and a long list cut; None if it must not be shown.

        Which counts are masked is decided before the list is cut: the sum of what is cut tells no more than the masked ones do.
        Masked counts stand last, in the order of the values: by size, their order would tell of them.
        """
        masked = masked_cells(counts, self.least)
        if masked is None:
            return None
        lines = list(zip(values, counts, masked, strict=True))
        if not in_order:
            lines.sort(key=lambda line: (line[2], 0 if line[2] else -line[1]))
        rest, lines = lines[longest:], lines[:longest]
        for hidden in (False, True):
            of = [line for line in rest if line[2] is hidden]
            pooled_line = (f"{len(of):,} values more", sum(line[1] for line in of), hidden)
            lines += of if len(of) < 2 else [pooled_line]  # one more is shown by its name
        return _listing_of_values(name, lines, self.audit.rows, sum(masked))

    @cached_property
    def published(self) -> dict[str, PublishedColumn]:
        """The published columns of the quasi-identifiers."""
        return published_columns(self.audit)

    def quasi_distributions(self) -> list[tuple[str, Listing | None]]:
        """Return how often each published value of each quasi-identifier occurs; None for a column that must not be shown."""
        return [
            (name, self._values(name, column.values, column.counts.tolist(), in_order=False, longest=MOST_PUBLISHED))
            for name, column in self.published.items()
        ]

    @cached_property
    def coarseness(self) -> dict[str, list[tuple[float, str]]]:
        """How coarse each quasi-identifier is published: shares of the rows, largest first, each with words."""
        return {name: coarseness_of(name, self.published, self.audit, self._holds.get(name, "")) for name in self.quasi}

    @cached_property
    def _holds(self) -> dict[str, str]:
        """What the codebook says of each published column."""
        return {column["name"]: column["holds"] for column in self.certificate["columns"]}

    def _in_words(self, name: str) -> str:
        """Return how a quasi-identifier is published, in words, and beyond which ends all values are one."""
        said = coarseness_in_words(self.coarseness[name], self.audit.rows, self.least)
        return said + ends_in_words(self._holds.get(name, ""))

    def _published(self, name: str) -> str:
        """Return how a quasi-identifier is published, in words; for labels of a hierarchy with the detail that is lost."""
        found, said = self.coarseness[name], self._in_words(name)
        lost = self.certificate["loss"].get("by_attribute", {}).get("gcp", {}).get(name)
        is_label = any(" of its hierarchy" in what for _, what in found)
        return f"{said}; {percent(lost)} of its detail is lost" if is_label and lost is not None else said

    @property
    def coarse(self) -> list[tuple[str, str]]:
        """Each quasi-identifier with words on how it is published; a long list is cut, with a count."""
        said = [(quoted(name), self._published(name)) for name in self.quasi]
        more = len(said) - MOST_LISTED
        return said if more < 2 else [*said[:MOST_LISTED], (f"{more:,} more", "see the table of transformations")]

    @property
    def not_stated(self) -> list[tuple[str, str]]:
        """What the policy's context is silent about: the heading that it belongs to, and what it is."""
        return [(heading, what) for topic, heading, what in TOPICS if topic not in self.papers.context]

    def good_for(self) -> list[str]:
        """Return what the release can be used for, from its figures."""
        raw = {column.name: column.bins is None or column.publish is not None for column in self.audit.policy.sensitive}
        whole, binned = ([quoted(name) for name, own in raw.items() if own is kind] for kind in (True, False))
        said = []
        if whole:
            said.append(f"How often each value of {listed(whole)} occurs among all rows: published as in the table.")
        if binned:
            said.append(f"How often each interval of {listed(binned)} occurs among all rows.")
        single = [quoted(name) for name in self.quasi if [what for _, what in self.coarseness[name]] == [SINGLE]]
        if single:
            said.append(f"Counts by {listed(single)}: published as {'it is' if len(single) == 1 else 'they are'}.")
        ranges = [quoted(name) for name in self.quasi if is_in_ranges(self.coarseness[name][0][1])]
        if ranges:
            said.append(
                f"Counts over ranges of {listed(ranges)} that are much wider than those that are published. How wide these are "
                "is in section 10."
            )
        return said

    def not_good_for(self) -> list[str]:
        """Return what the release cannot be used for, from its figures and limits."""
        coarse = [quoted(name) for name in self.quasi if {what for _, what in self.coarseness[name]} - {SINGLE, MEANS}]
        said = ["Anything about one person."]
        if coarse:
            said.append(f"Questions finer than the published values of {listed(coarse)}. How each is published is in section 10.")
        limited = [quoted(column.name) for column in self.audit.policy.sensitive if column.t is not None]
        if limited:
            said.append(
                f"What sets small groups apart in {listed(limited)}: the limit t asks that every class is like "
                f"{'the people around it' if self.audit.policy.n is not None else 'the whole table'}."
            )
        return said

    def losses(self) -> Listing:
        """Return how each quasi-identifier is published, and how much detail it lost, if anybody can compute that."""
        parts = self.certificate["loss"].get("by_attribute", {}).get("gcp", {})
        rows = [(name, self._in_words(name), percent(parts[name]) if name in parts else "not stated") for name in self.quasi]
        return cut(
            "Quasi-identifiers: how they are published, and detail lost (GCP)", ("column", "published", "detail lost"), rows, 2
        )

    @property
    def loss_unknown(self) -> list[str]:
        """The quasi-identifiers of which nobody can compute from the release how much detail they lost."""
        return [name for name in self.quasi if name not in self.certificate["loss"].get("by_attribute", {}).get("gcp", {})]

    def policy_lines(self) -> list[str]:
        """Return the certificate's policy in YAML, by which the release can be judged again; a long one is cut."""
        return cut_lines(yaml_text(self.certificate["policy"]), "certificate")


def cut_lines(text: str, source: str) -> list[str]:
    """Return the lines of a text, at most `MOST_LINES`, with a count of those that are cut and the paper that has them all."""
    lines = text.rstrip("\n").split("\n")
    if len(lines) <= MOST_LINES:
        return lines
    return [*lines[:MOST_LINES], f"# {number_of(len(lines) - MOST_LINES, 'line')} more are not shown: see the {source}"]


def _listing_of_values(name: str, lines: Sequence[tuple[str, int, bool]], rows: int, hidden: int) -> Listing:
    """Return the table of a distribution: each value, its rows, and whether they are masked; ``hidden`` values are, in all."""
    found = [
        (label, MASKED, MASKED) if masked else (label, f"{count:,}", percent(count / rows)) for label, count, masked in lines
    ]
    note = (
        f"The rows of {number_of(hidden, 'value')} are masked: small counts, and others so that sums do not tell them. How many "
        "rows these values have together follows from the other lines; how many each has does not."
    )
    return Listing(f"Values of {name} in the release", ("value", "rows", "share"), found, 1, note if hidden else "")


def _edges_of_sizes(largest: int) -> Iterator[int]:
    """Yield 1, 2, 5, 10, 20, 50 and so on, up to the size of the largest class."""
    power = 1
    while True:
        for step in SIZES:
            if step * power > largest:
                return
            yield step * power
        power *= 10


def _interval_in_words(values: Sequence[str], first: int, last: int) -> str:
    """Return a range of sensitive values in words; the least and the greatest value of all, which few may have, are not named.

    A range of one value has rows enough for its name.
    """
    if last - first == 1:
        return values[first]
    if last == len(values):
        return "all values" if first == 0 else f"from {values[first]} on"
    return f"up to {values[last - 1]}" if first == 0 else _range_in_words(values[first], values[last - 1])


def _range_in_words(first: Any, last: Any) -> str:
    """Return a range of sizes or of values in words."""
    ends = [f"{end:,}" if isinstance(end, int) else str(end) for end in (first, last)]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
