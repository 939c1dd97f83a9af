"""A fragmentation: the boxes of sensitive values of which every class takes its share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

from tclose.report.charts.frame import INTERNAL, Spec, frame
from tclose.report.labels import labels_of, percent, quoted, width_of
from tclose.report.look import LINE, ON_BRIGHT
from tclose.values.exact import number_of

MOST = 250
"""Boxes that are drawn, at most: those with the most rows."""
PALE, FULL = "#eaf3fa", "#7fb6dd"
"""The colours of few rows and of many: both bright, on light pages and on dark ones, so that the same text is read on them."""
TICKS = (5, 10)
"""Values that are named along both axes, at most."""
ROOM = (240, 250)
"""Pixels that both axes have at least."""


class Box(NamedTuple):
    """A fragment: the codes that it has of each attribute, ascending, and its number of rows."""

    sides: tuple[Sequence[int], ...]
    rows: int


def fragmentation_boxes(
    names: Sequence[str], values: Sequence[Sequence[Any]], boxes: Sequence[Box], *, internal: bool = False
) -> Spec:
    """Return a chart of the fragments over the first two attributes; over one, if there is one only.

    Parameters
    ----------
    names
        The sensitive attributes.
    values
        The domain of each, in the order of codes.
    boxes
        The fragments, which do not overlap and cover the table.
    internal
        Whether the counts are those of a table that is not published: the chart says so.
    """
    flat = len(names) == 1
    drawn = sorted(range(len(boxes)), key=lambda number: -boxes[number].rows)[:MOST]
    total = sum(box.rows for box in boxes)
    counts = [len(values[0]), 1 if flat else len(values[1])]
    rectangles: list[Spec] = [
        {
            "x": across[0] - 0.5,
            "x2": across[1] + 0.5,
            "y": up[0] - 0.5,
            "y2": up[1] + 0.5,
            "rows": boxes[number].rows,
            "text": f"{boxes[number].rows:,}" if _has_room(f"{boxes[number].rows:,}", across, up, counts) else "",
        }
        for number in drawn
        for across, up in product(_runs(boxes[number].sides[0]), [(0, 0)] if flat else _runs(boxes[number].sides[1]))
    ]
    title = f"{number_of(len(boxes), 'fragment')}: boxes of {quoted(names[0], 110)}"
    title += "" if flat else f" and {quoted(names[1], 110)}"
    notes = [INTERNAL] if internal else []
    notes += ["Every class takes its share of each box. The number in a box is that of its rows; a darker one has more of them."]
    if len(boxes) > len(drawn):
        notes.append(f"The {len(drawn):,} boxes with the most rows are drawn.")
    if len(names) > 2:
        notes.append(f"Seen on the first 2 of {len(names)} attributes, where boxes lie over one another.")
    encoding: Spec = {
        "x": _axis("x", names[0], values[0], counts[0], TICKS[0], 58),
        "y": {"field": "y", "type": "quantitative", "axis": None}
        if flat
        else _axis("y", names[1], values[1], counts[1], TICKS[1], 90),
    }
    ends = {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    middle = {
        "x": {"field": "middle", "type": "quantitative"},
        "y": {"field": "centre", "type": "quantitative"},
        "text": {"field": "text"},
    }
    texts = [
        {"middle": (one["x"] + one["x2"]) / 2, "centre": (one["y"] + one["y2"]) / 2, "text": one["text"]}
        for one in rectangles
        if one["text"] and len(names) <= 2
    ]
    most = max((boxes[number].rows for number in drawn), default=1)
    colour = {"field": "rows", "type": "quantitative", "scale": {"domain": [0, most], "range": [PALE, FULL]}, "legend": None}
    layers: list[Spec] = [
        {
            "data": {"values": rectangles},
            "mark": {"type": "rect", "stroke": LINE, "strokeWidth": 1, "opacity": 1 if len(names) <= 2 else 0.5},
            "encoding": {**encoding, **ends, "color": colour},
        }
    ]
    if texts:
        layers.append(
            {"data": {"values": texts}, "mark": {"type": "text", "color": ON_BRIGHT, "fontSize": 11}, "encoding": middle}
        )
    largest = boxes[drawn[0]].rows
    share, least = percent(largest / total if total else 0), min(box.rows for box in boxes)
    said = f"The largest box has {number_of(largest, 'row')}, {share} of the table; the smallest has {least:,}."
    return frame(title, said, height=70 if flat else ROOM[1], layers=layers, notes=notes)


def _runs(codes: Sequence[int]) -> list[tuple[int, int]]:
    """Return the runs of ascending codes without gaps, each with its first and its last code."""
    runs: list[tuple[int, int]] = []
    for code in codes:
        if runs and runs[-1][1] == code - 1:
            runs[-1] = runs[-1][0], int(code)
        else:
            runs.append((int(code), int(code)))
    return runs


def _has_room(text: str, across: tuple[int, int], up: tuple[int, int], counts: list[int]) -> bool:
    """Whether a text has room in a box."""
    wide = (across[1] - across[0] + 1) / counts[0] * ROOM[0]
    high = (up[1] - up[0] + 1) / counts[1] * (ROOM[1] if counts[1] > 1 else 60)
    return width_of(text, 11) + 4 <= wide and high >= 15


def _axis(channel: str, name: str, values: Sequence[Any], count: int, ticks: int, width: float) -> Spec:
    """Return the encoding of the codes of an attribute along an axis, on which some values are named."""
    step = max(1, -(-count // ticks))
    shown = list(range(0, count, step))
    labels = labels_of([values[code] for code in shown], width)
    # In an expression of Vega: json writes plain ASCII with all quotes and backslashes escaped, so a label stays a text.
    named = json.dumps({str(code): label for code, label in zip(shown, labels, strict=True)})
    axis = {"values": shown, "labelExpr": f"{named}[datum.value]", "grid": False, "labelLimit": width + 20}
    axis["labelOverlap"] = channel == "x"
    scale = {"domain": [-0.5, count - 0.5], "nice": False, "zero": False}
    return {"field": channel, "type": "quantitative", "title": quoted(name), "axis": axis, "scale": scale}
