"""Figures: charts of a report, drawn as pictures inside the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tclose.judge.result import Audit
from tclose.make.fragmentation.result import Fragmentation
from tclose.report.charts.before_after import before_after
from tclose.report.charts.class_sizes import class_sizes
from tclose.report.charts.fragmentation import Box, fragmentation_boxes
from tclose.report.charts.losses import loss_by_column
from tclose.report.charts.transport import transport_plan
from tclose.report.facts import Facts
from tclose.report.plots import distances_of, frontier_spec
from tclose.report.published import how_wide
from tclose.report.svg import draw_inline
from tclose.study.compare.comparison import Comparison
from tclose.study.measured import Distribution
from tclose.values.arrays import Ints

MOST = 4
"""Sensitive columns that have charts, at most."""


@dataclass(frozen=True)
class Figure:
    """A chart in a page: its SVG, and a sentence below it."""

    svg: str
    caption: str


def charts_of_facts(facts: Facts) -> dict[str, list[Figure]]:
    """Return the charts that every report of a release has, by section."""
    losses = facts.certificate["loss"].get("by_attribute", {}).get("gcp", {})
    weighted = len({column.weight for column in facts.audit.policy.quasi}) > 1
    said = how_wide(
        trees=any("hierarchy" in column["holds"] for column in facts.certificate["columns"] if column["role"] == "quasi")
    )
    return {
        "risk": list(_sizes(facts)),
        "transformations": [
            Figure(
                draw_inline(loss_by_column(losses, overall=facts.certificate["loss"].get("gcp"), weighted=weighted)),
                f"{said[0].upper()}{said[1:]}",
            )
        ]
        if losses
        else [],
    }


def _sizes(facts: Facts) -> Iterator[Figure]:
    """Yield the chart of class sizes, unless it would show that few people are in classes of some size."""
    if facts.audit.k >= facts.least:
        spec = class_sizes(facts.audit.sizes, k=facts.audit.policy.k, asked="person" if facts.counts_persons else "")
        yield Figure(draw_inline(spec), "How many classes have how many rows. No class is smaller than k.")


def distances(audit: Audit, name: str) -> Figure:
    """Return the chart of the distance of every class from the table in one sensitive column."""
    return Figure(draw_inline(distances_of(audit, name)), "Each point is one class, or several that lie close together.")


def transport(found: Distribution, counts: Ints, moved: list[tuple[int, int, Fraction]], class_name: str) -> Figure:
    """Return the chart of the transport plan from one class to the table."""
    cost = sum((mass * found.domain.distance.ground(source, target) for source, target, mass in moved), Fraction(0))
    spec = transport_plan(
        found.name,
        found.values,
        counts.tolist(),
        found.counts.tolist(),
        [(source, target, float(mass)) for source, target, mass in moved],
        emd=cost,
        in_order=found.in_order,
        class_name=class_name,
    )
    return Figure(draw_inline(spec), f"What would have to move for {class_name} to be distributed as the whole table.")


def column_before_after(column: Mapping[str, Any]) -> Figure:
    """Return the chart of a column's distribution in the raw table, and as a reader of the release expects it."""
    spec = before_after(column["name"], column["labels"], column["before"], column["after"], in_order=True)
    return Figure(draw_inline(spec), "After: a reader who distributes each class evenly over the values that it covers.")


def fragments_of(fragmentation: Fragmentation, names: Sequence[str]) -> Figure:
    """Return the chart of the fragments of the sensitive values, over the first two of them."""
    values = fragmentation.matrix.values
    titles = list(names) if len(names) == len(values) else [f"attribute {number}" for number in range(1, len(values) + 1)]
    boxes = [Box(tuple(side.tolist() for side in one.sides), one.rows) for one in fragmentation.fragments]
    spec = fragmentation_boxes(titles, values, boxes, internal=True)
    return Figure(draw_inline(spec), "Boxes of sensitive values: each class takes its share of every box.")


CAPTIONS = {
    "t": "How far sensitive values of a class may be from those of the table, against the detail that is lost.",
    "excess": "What an attacker gains on people in the release, against how wrong counts become.",
    "homogeneous": "Rows whose sensitive value anybody knows who knows their class, against the detail that is lost.",
}
"""What is below the chart of a comparison, by its risk."""


def frontier_of(comparison: Comparison, cost: str = "gcp", risk: str = "t") -> Figure:
    """Return the chart of a comparison: a cost and a risk of each release."""
    return Figure(draw_inline(frontier_spec(comparison, cost, risk)), f"Each point is a release. {CAPTIONS[risk]}")
