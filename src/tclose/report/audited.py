"""The page of an audit: what a table would give away. It is internal, as its table may be the raw one."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version

from tclose.judge.result import Audit
from tclose.policy.models import NAMED
from tclose.report.attained import attained_in_words, safer_side, verdict_in_words
from tclose.report.figures import MOST, Figure, distances
from tclose.report.inside import class_listing
from tclose.report.listing import Listing, cut
from tclose.report.page import render
from tclose.report.plots import sizes_of
from tclose.report.svg import draw_inline
from tclose.study.measured import people_in_words
from tclose.values.exact import number_of, plain


@dataclass(frozen=True)
class AuditFacts:
    """What the page of an audit says."""

    audit: Audit
    name: str

    @property
    def counted(self) -> str:
        """What k counts: "rows" or "persons"."""
        return "persons" if self.audit.counts_persons else "rows"

    def limits(self) -> Listing:
        """Return the limits of the policy: asked, attained, and how many classes break each."""
        rows = []
        for judgement in self.audit.judgements:
            model = NAMED[judgement.model]
            label = f"{model.label.format(judgement.sensitive or self.counted)}; {safer_side(model)}"
            asked = f"{plain(judgement.limit)} or {'more' if judgement.floor else 'less'}"
            broken = number_of(int(judgement.broken.sum()), "class", "classes")
            rows.append((label, asked, attained_in_words(self.audit, judgement), broken))
        return cut("Limits: asked and attained", ("limit", "asked", "attained", "broken by"), rows)

    @property
    def verdict(self) -> str:
        """Whether the policy is satisfied, in words."""
        return verdict_in_words(self.audit)

    @property
    def smallest(self) -> str:
        """Who is in the smallest class, in words."""
        counted = self.audit.persons if self.audit.counts_persons else self.audit.sizes
        assert counted is not None
        return people_in_words(self.audit, int(counted.argmin()))

    def sizes(self) -> Figure:
        """Return the chart of class sizes."""
        return Figure(draw_inline(sizes_of(self.audit)), f"How many classes have how many {self.counted}.")

    def classes(self) -> list[tuple[str, Figure, Listing]]:
        """Return for each of the first sensitive columns the distance of every class from the table."""
        names = list(self.audit.sensitive)[:MOST]
        return [(name, distances(self.audit, name), class_listing(self.audit, name)) for name in names]


def audit_page(audit: Audit, name: str = "table") -> str:
    """Return the page of an audit; ``name`` is that of the table."""
    return render("audit.html", facts=AuditFacts(audit, name), version=version("tclose"))
