"""The page of a comparison: what each algorithm attains, loses and gives away at each t. It is internal."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version

from tclose.report.figures import Figure, frontier_of
from tclose.report.labels import percent
from tclose.report.listing import Listing, cut
from tclose.report.page import render
from tclose.study.compare.comparison import Comparison

PAIRS = (("gcp", "t"), ("query_error", "excess"), ("gcp", "homogeneous"))
"""What the charts of the page compare: a cost and a risk."""
HEADERS = (
    "release",
    "t attained",
    "GCP",
    "GCP, raw table",
    "LM",
    "query error",
    "excess, points",
    "rows with one value",
    "CPU s",
    "frontier",
)


def points_of(comparison: Comparison) -> Listing:
    """Return a table of all releases of a comparison."""
    best = comparison.frontier()
    sizes = {point.k for point in comparison.points}
    one = f", k = {min(sizes)}" if len(sizes) == 1 else ""
    rows = [(point.name.removesuffix(one), *point.texts, "yes" if point in best else "no") for point in comparison.points]
    caption = f"All releases{one}: what they attain, lose and give away"
    return cut(caption, HEADERS, rows, what=("release", "releases"), longest=200)


def shares_of(comparison: Comparison) -> Listing:
    """Return a table of the largest share of one value of each sensitive column in a class of each release, and in the table."""
    of_table = comparison.share_in_table
    rows = [
        (point.name, *(percent(point.share[name]) if name in point.share else "-" for name in of_table))
        for point in comparison.points
    ]
    rows = [*rows, ("the table", *(percent(share) for share in of_table.values()))] if of_table else []
    caption = "Largest share of one value, or bin, in a class"
    return cut(caption, ("release", *of_table), rows, what=("release", "releases"), longest=200)


@dataclass(frozen=True)
class ComparisonFacts:
    """What the page of a comparison says."""

    comparison: Comparison
    name: str

    def figures(self) -> list[Figure]:
        """Return the charts; none if nothing was made."""
        return [frontier_of(self.comparison, cost, risk) for cost, risk in PAIRS] if self.comparison.points else []

    def releases(self) -> Listing:
        """Return the table of all releases."""
        return points_of(self.comparison)

    def shares(self) -> Listing:
        """Return the table of the largest shares of one value."""
        return shares_of(self.comparison)

    def missing(self) -> Listing:
        """Return what was not made, and why."""
        rows = [
            (
                result.cell.algorithm,
                "" if result.cell.t is None else f"{result.cell.t:g}",
                str(result.cell.k),
                result.reason or "",
            )
            for result in self.comparison
            if result.status != "done"
        ]
        return cut("Not made", ("algorithm", "t asked", "k", "why"), rows, 4, what=("release", "releases"))


def comparison_page(comparison: Comparison, name: str = "table") -> str:
    """Return the page of a comparison; ``name`` is that of the table."""
    return render("comparison.html", facts=ComparisonFacts(comparison, name), version=version("tclose"))
