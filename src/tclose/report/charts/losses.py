"""The detail that each quasi-identifier lost (GCP): what of the columns is given up."""

from __future__ import annotations

from collections.abc import Mapping

from tclose.report.charts.frame import LABELS, Spec, frame
from tclose.report.labels import labels_of, percent
from tclose.report.look import SKY, TEXT
from tclose.values.exact import number_of

MOST = 15
"""Columns that have a bar of their own, at most."""


def loss_by_column(losses: Mapping[str, float], *, overall: float | None = None, weighted: bool = False) -> Spec:
    """Return a chart of the detail that each column lost, largest first.

    Parameters
    ----------
    losses
        The loss of each quasi-identifier, from 0 (published as it is) to 1 (nothing is left): ``Losses.by_attribute["gcp"]``.
    overall : float, optional
        The loss of the whole release, gcp.
    weighted
        Whether the columns have different weights in it.
    """
    columns = sorted(losses, key=lambda name: -losses[name])
    labels = labels_of(columns[:MOST], LABELS)
    bars: list[Spec] = [
        {"column": label, "loss": losses[name], "text": percent(losses[name])}
        for label, name in zip(labels, columns, strict=False)
    ]
    encoding: Spec = {
        "y": {
            "field": "column",
            "type": "nominal",
            "sort": None,
            "title": None,
            "axis": {"ticks": False, "domain": False, "labelPadding": 6, "labelLimit": LABELS + 20},
        },
        "x": {
            "field": "loss",
            "type": "quantitative",
            "title": "detail lost (GCP; 0%: none, 100%: all)",
            "scale": {"domain": [0, 1.18]},
            "axis": {"format": ".0%", "values": [0, 0.25, 0.5, 0.75, 1], "domain": False},  # its line would go on past 100%
        },
    }
    layers: list[Spec] = [
        {"mark": {"type": "bar", "color": SKY}, "encoding": encoding},
        {"mark": {"type": "text", "align": "left", "dx": 4, "color": TEXT}, "encoding": {**encoding, "text": {"field": "text"}}},
    ]
    title = f"{bars[0]['column']} lost the most detail: {bars[0]['text']}"
    if len(columns) == 1:
        title = f"{bars[0]['column']} lost {bars[0]['text']} of its detail"
    elif not losses[columns[0]]:
        title = "No quasi-identifier lost detail"
    weights = ", by their weights" if weighted else ""
    notes = [] if overall is None else [f"All quasi-identifiers together{weights}: {percent(overall)}."]
    if len(columns) > MOST:
        notes.append(f"{number_of(len(columns) - MOST, 'column')} with a smaller loss are not shown.")
    said = "Detail lost: " + "; ".join(f"{bar['column']}: {bar['text']}" for bar in bars) + "."
    return frame(title, said, height=28 * len(bars), layers=layers, notes=notes, data={"values": bars})
