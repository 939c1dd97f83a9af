"""Plots: the objects of tclose as Altair charts, for a notebook. Each ``plot`` method calls a function of this file."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tclose.errors import ColumnError, PolicyError, nearest
from tclose.extras import load
from tclose.report.charts.attribute import attribute_in_class
from tclose.report.charts.class_sizes import class_sizes
from tclose.report.charts.emd import emd_by_class
from tclose.report.charts.fragmentation import Box, fragmentation_boxes
from tclose.report.charts.frame import Spec
from tclose.report.charts.frontier import Outcome, frontier
from tclose.report.charts.hierarchy import hierarchy_tree
from tclose.report.charts.transport import transport_plan
from tclose.report.look import CONFIG
from tclose.report.svg import replace_forbidden

if TYPE_CHECKING:
    from tclose.judge.result import Audit
    from tclose.make.fragmentation.result import Fragmentation
    from tclose.release.release import Release
    from tclose.study.compare.comparison import Comparison
    from tclose.study.measured import Distribution
    from tclose.values.hierarchy import Hierarchy


def as_altair(spec: Spec) -> Any:
    """Return a chart as an Altair chart, which a notebook shows and which can be changed and saved.

    Raises
    ------
    MissingExtraError
        Altair is not installed.
    """
    return load("altair").Chart.from_dict({**replace_forbidden(spec), "config": CONFIG})


def plot_class_sizes(audit: Audit) -> Any:
    """Return a chart of the sizes of an audit's classes, in persons where these are judged."""
    return as_altair(sizes_of(audit))


def sizes_of(audit: Audit) -> Spec:
    """Return the chart of the sizes of an audit's classes, in persons where these are judged."""
    if audit.counts_persons:
        return class_sizes(audit.persons, k=audit.policy.k, unit="person")
    return class_sizes(audit.sizes, k=audit.policy.k)


def plot_emd(audit: Audit, name: str) -> Any:
    """Return a chart of the distance of each class from the table, against the limit t if the policy has one."""
    _check_sensitive(audit, name)
    return as_altair(distances_of(audit, name))


def distances_of(audit: Audit, name: str) -> Spec:
    """Return the chart of the distances of an audit's classes; under (n,t)-closeness t itself is not judged, and not drawn."""
    judgement = next((one for one in audit.judgements if (one.model, one.sensitive) == ("t", name)), None)
    limit, broken = (None, None) if judgement is None else (judgement.limit, judgement.broken)
    others = [one.broken for one in audit.judgements if one is not judgement]
    otherwise = np.logical_or.reduce(others) if others else None
    distances = audit.sensitive[name].verdicts["t"].values
    return emd_by_class(name, distances, audit.sizes, limit=limit, broken=broken, otherwise=otherwise)


def plot_attribute(release: Release, name: str, number: int | None) -> Any:
    """Return a chart of a sensitive attribute in the release and in one of its classes."""
    found, chosen, counts = _class_of(release, name, number)
    return as_altair(
        attribute_in_class(
            name, found.values, found.counts.tolist(), counts, class_name=f"class {chosen:,}", in_order=found.in_order
        )
    )


def plot_transport(release: Release, name: str, number: int | None) -> Any:
    """Return a chart of the moves of mass that turn a class's distribution into that of the release."""
    from tclose.judge.transport import plan

    found, chosen, counts = _class_of(release, name, number)
    distance = found.domain.distance
    moves = plan(distance, counts, found.counts.tolist())
    emd = sum((mass * Fraction(distance.ground(source, target)) for source, target, mass in moves), Fraction(0))
    steps = [(source, target, float(mass)) for source, target, mass in moves]
    spec = transport_plan(
        name, found.values, counts, found.counts.tolist(), steps, emd=emd, in_order=found.in_order, class_name=f"class {chosen:,}"
    )
    return as_altair(spec)


def plot_hierarchy(hierarchy: Hierarchy) -> Any:
    """Return a chart of a hierarchy."""
    return as_altair(hierarchy_tree(hierarchy.labels, hierarchy.parents))


def plot_fragmentation(fragmentation: Fragmentation, names: Sequence[str] | None) -> Any:
    """Return a chart of the fragments over the first two attributes."""
    values = fragmentation.matrix.values
    names = [f"attribute {number}" for number in range(1, len(values) + 1)] if names is None else list(names)
    if len(names) != len(values):
        raise PolicyError(f"names must name each of the {len(values)} attributes. Got {len(names)}.")
    boxes = [Box(tuple(side.tolist() for side in one.sides), one.rows) for one in fragmentation.fragments]
    return as_altair(fragmentation_boxes(names, values, boxes, internal=True))


MEASURES = {
    "t": "attained t",
    "excess": "largest excess of an attack, in points",
    "gcp": "information loss (GCP: 0 none, 1 all)",
    "lm": "information loss (LM: 0 none, 1 all)",
    "query_error": "median error of COUNT queries, %",
    "homogeneous": "rows in classes with one sensitive value",
}
"""What the measures of a comparison are called on an axis."""
IN_HUNDREDTHS = ("excess", "query_error")
"""Measures that are drawn as tables show them, in points of 100 or in percent."""


def frontier_spec(comparison: Comparison, x: str, y: str) -> Spec:
    """Return the chart of two measures of a comparison; releases that another one beats are hollow."""
    points, best = comparison.points, comparison.frontier(x, y)
    if not points:
        raise PolicyError("Nothing of the comparison was done, and there is nothing to draw.")
    several = [len({point.asked for point in points}) > 1, len({point.k for point in points}) > 1]
    named = " and ".join(name for name, differs in zip(("t", "k"), several, strict=True) if differs)
    outcomes = []
    for point in points:
        asked = [*([] if point.asked is None else [f"t={point.asked:g}"]), *([f"k={point.k}"] if several[1] else [])]
        short = [
            f"{part:g}" for part, differs in zip((point.asked, point.k), several, strict=True) if differs and part is not None
        ]
        cost, risk = (getattr(point, name) * (100 if name in IN_HUNDREDTHS else 1) for name in (x, y))
        outcomes.append(Outcome(point.algorithm, cost, risk, point not in best, ", ".join(asked), "/".join(short)))
    return frontier(outcomes, loss=MEASURES[x], risk=MEASURES[y], labelled=named, internal=True)


def plot_frontier(comparison: Comparison, x: str, y: str) -> Any:
    """Return a chart of the releases of a comparison by two of its measures."""
    return as_altair(frontier_spec(comparison, x, y))


def _check_sensitive(audit: Audit, name: str) -> None:
    """Raise ColumnError if an audit has no sensitive attribute of a name."""
    if name not in audit.sensitive:
        raise ColumnError(f"Column {name!r} is not sensitive in the policy.{nearest(str(name), audit.sensitive)}")


def _class_of(release: Release, name: str, number: int | None) -> tuple[Distribution, int, list[int]]:
    """Return a sensitive attribute's distribution, the number of a class, and the class's counts; the farthest by default."""
    from tclose.judge.gate import as_read
    from tclose.study.measured import measure

    audit = release.audit
    _check_sensitive(audit, name)
    chosen = audit.sensitive[name].worst_class if number is None else number
    if isinstance(chosen, bool) or not isinstance(chosen, int) or not 0 <= chosen < audit.classes:
        raise ColumnError(f"The release has classes 0 to {audit.classes - 1:,}. Got {chosen!r}.")
    details = release._details
    found = measure(as_read(details.coded), details.policy, audit).distributions[name]
    return found, chosen, found.of_classes([chosen])[chosen].tolist()
