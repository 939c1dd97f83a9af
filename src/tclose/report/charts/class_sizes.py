"""The sizes of classes: how many classes have how many rows, against the least number that is asked."""

from __future__ import annotations

from typing import Any

import numpy as np

from tclose.report.charts.binning import edges_of_sizes, is_far_apart, whole_ticks
from tclose.report.charts.frame import Spec, frame, text_layer
from tclose.report.look import RED, SKY, TEXT
from tclose.values.exact import number_of

NARROW = 4
"""A range of sizes below this has empty room on both sides, so that bars do not become walls."""


def class_sizes(sizes: Any, *, k: int | None = None, unit: str = "row", asked: str = "") -> Spec:
    """Return a chart of the sizes of classes.

    Parameters
    ----------
    sizes : (classes,) array of int
    k : int, optional
        The least size that is asked; classes below it are red.
    unit : str
        What is counted in a class: "row" or "person".
    asked : str
        What k counts, if it is not what is counted here: "person" where rows are, because a person may have several rows.
    """
    sizes = np.asarray(sizes, dtype=np.int64)
    least, most = int(sizes.min()), int(sizes.max())
    shown = [min(least, k or least), max(most, k or 0)]
    logarithmic = is_far_apart(shown)  # bins are made for the axis that they stand on
    edges = edges_of_sizes(sizes, k or 0, logarithmic=logarithmic)
    if k is not None and edges[0] < k < edges[-1]:
        edges = sorted({*edges, k})  # so that no bar has classes on both sides of the line
    counts = np.histogram(sizes, [edge - 0.5 for edge in edges])[0].tolist()
    bars: list[Spec] = [
        {"from": first - 0.5, "to": after - 0.5, "classes": count, "below": bool(k is not None and after - 1 < k)}
        for first, after, count in zip(edges, edges[1:], counts, strict=False)
        if count
    ]
    least, most = min(edges[0], shown[0]), max(edges[-1] - 1, shown[1])
    if most - least < NARROW:
        least, most = max(least - 2, 0), most + 2
    scale = {"type": "log" if logarithmic else "linear", "nice": False, "zero": False, "domain": [least - 0.5, most + 0.5]}
    sizes_axis = {
        "format": ",d",
        "values": whole_ticks(least, most, logarithmic=logarithmic),
        "grid": False,
        "labelOverlap": True,
    }
    number_axis = {"format": ",d", "values": whole_ticks(0, max(counts), count=5)}
    layers: list[Spec] = [
        {
            "data": {"values": bars},
            "mark": {"type": "rect", "stroke": "#ffffff", "strokeWidth": 1},
            "encoding": {
                "x": {
                    "field": "from",
                    "type": "quantitative",
                    "scale": scale,
                    "title": f"{unit}s in the class",
                    "axis": sizes_axis,
                },
                "x2": {"field": "to"},
                "y": {"field": "classes", "type": "quantitative", "title": "number of classes", "axis": number_axis},
                "y2": {"datum": 0},
                "color": {"condition": {"test": "datum.below", "value": RED}, "value": SKY},
            },
        }
    ]
    notes = []
    if k is not None:
        layers += _limit(k, max(counts))
        below = int((sizes < k).sum())
        all_have = "All classes have that."
        if asked:  # what is asked is not counted here
            all_have = f"Here {unit}s are counted: there are at least as many as {asked}s."
        notes.append(
            f"Asked: {number_of(k, asked or unit)} or more (the line). "
            + (f"{number_of(below, 'class has', 'classes have')} fewer." if below else all_have)
        )
    classes = number_of(len(sizes), "class", "classes")
    least, most = int(sizes.min()), int(sizes.max())
    title = f"{classes} of {least:,} to {most:,} {unit}s; median {_middle(sizes):,}"
    if least == most:
        title = f"{classes} of {number_of(least, unit)}{' each' if len(sizes) > 1 else ''}"
    return frame(title, _in_words(bars, unit, most), height=200, layers=layers, notes=notes)


def _limit(k: int, height: int) -> list[Spec]:
    """Return the line at the least size that is asked, just before the first size that satisfies it."""
    at = {"datum": k - 0.5, "type": "quantitative"}
    rule = {"mark": {"type": "rule", "color": TEXT, "strokeDash": [5, 3], "strokeWidth": 1.5}, "encoding": {"x": at}}
    name = text_layer(
        [{"text": f"k = {k:,}", "y": height}],
        {"x": at, "y": {"field": "y", "type": "quantitative"}},
        align="left", dx=4, dy=-7,
    )  # fmt: skip
    return [{"data": {"values": [{}]}, **rule}, name]


def _middle(sizes: Any) -> int:
    """Return the median of sizes: the least size such that half of the classes have at most it."""
    return int(np.sort(sizes)[(len(sizes) - 1) // 2])


def _in_words(bars: list[Spec], unit: str, most: int) -> str:
    """Return the heights of the bars in words; the last bar may reach beyond the largest class."""
    parts = []
    for bar in bars:
        first, last = int(bar["from"] + 0.5), min(int(bar["to"] - 0.5), most)
        span = f"{first:,}" if first == last else f"{first:,} to {last:,}"
        parts.append(f"{number_of(bar['classes'], 'class', 'classes')} of {span} {unit}s")
    return f"{'; '.join(parts)}."
