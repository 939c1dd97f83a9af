"""Two distributions over the same values, side by side as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tclose.report.charts.binning import Groups, share_ticks
from tclose.report.charts.frame import LABELS, Spec, frame
from tclose.report.labels import percent
from tclose.report.look import NAVY, SKY, TEXT

MOST = 12
"""Values that have bars of their own, at most."""


def two_distributions(
    values: Sequence[Any],
    first: Sequence[float],
    second: Sequence[float],
    names: tuple[str, str],
    title: str,
    *,
    in_order: bool,
    notes: Sequence[str] = (),
) -> Spec:
    """Return a chart of two distributions: for each value a bar of the first and a bar of the second.

    Parameters
    ----------
    values
        The domain; None stands for missing cells.
    first, second
        Counts or shares at each value.
    names
        What the two are called in the legend; they differ.
    in_order
        Whether the values have an order: then neighbours share bars where there are too many, else the rare ones.
    """
    shares = [_shares(counts) for counts in (first, second)]
    groups = Groups(values, [max(pair) for pair in zip(*shares, strict=True)], most=MOST, in_order=in_order, width=LABELS)
    sums = [groups.sums(one) for one in shares]
    bars: list[Spec] = [
        {"value": label, "of": name, "share": one[number], "text": percent(one[number])}
        for number, label in enumerate(groups.labels)
        for name, one in zip(names, sums, strict=True)
    ]
    most = max(bar["share"] for bar in bars) or 1.0
    encoding: Spec = {
        "y": {
            "field": "value",
            "type": "nominal",
            "sort": None,
            "title": None,
            "axis": {"ticks": False, "domain": False, "labelPadding": 6, "labelLimit": LABELS + 20},
            "scale": {"paddingInner": 0.25, "paddingOuter": 0.1},
        },
        "yOffset": {"field": "of", "type": "nominal", "sort": list(names)},
        "x": {
            "field": "share",
            "type": "quantitative",
            "title": "share of the rows",
            "scale": {"domain": [0, 1.2 * most], "nice": False},
            "axis": {"format": "~p", "values": share_ticks(most), "labelOverlap": True, "domain": False},
        },
    }
    colour = {
        "field": "of",
        "type": "nominal",
        "scale": {"domain": list(names), "range": [SKY, NAVY]},
        "legend": {"orient": "top", "title": None, "symbolType": "square", "columns": 1, "offset": 4},
    }
    layers: list[Spec] = [
        {"mark": {"type": "bar"}, "encoding": {**encoding, "color": colour}},
        {
            "mark": {"type": "text", "align": "left", "dx": 4, "fontSize": 11, "color": TEXT},
            "encoding": {**encoding, "text": {"field": "text"}},
        },
    ]
    said = "; ".join(
        f"{label}: {percent(one)} and {percent(other)}" for label, one, other in zip(groups.labels, *sums, strict=True)
    )
    description = f"Share of the rows, {names[0]} and {names[1]}. {said}."
    return frame(title, description, height=34 * len(groups.labels), layers=layers, notes=notes, data={"values": bars})


def _shares(counts: Sequence[float]) -> list[float]:
    """Return counts divided by their sum."""
    total = sum(counts) or 1
    return [float(count) / float(total) for count in counts]
