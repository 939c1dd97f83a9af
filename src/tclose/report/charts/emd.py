"""The distance of every class from the table in one sensitive attribute, against the limit t."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tclose.report.charts.binning import grid, is_far_apart, whole_ticks
from tclose.report.charts.frame import Spec, frame, text_layer
from tclose.report.labels import quoted
from tclose.report.look import RED, SKY, TEXT
from tclose.values.exact import decimal_up, number_of, plain

SATISFIES, OTHERWISE, FARTHER = KINDS = ["satisfies all limits", "breaks another limit", "farther than t"]
WHAT_EMD_IS = "EMD, the earth mover's distance: which part of the class would have to move, and how far. 0 is like the table."
COLUMNS, ROWS = 25, 16
"""Cells of the grid: classes in one cell are one point."""


def emd_by_class(
    name: str, distances: Any, sizes: Any, *, limit: Fraction | None = None, broken: Any = None, otherwise: Any = None
) -> Spec:
    """Return a chart of the distance of each class from the table.

    Parameters
    ----------
    name
        The sensitive attribute.
    distances, sizes : (classes,) arrays
        The earth mover's distance of each class from the table, and its rows.
    limit : Fraction, optional
        The t that is asked.
    broken : (classes,) array of bool, optional
        Whether each class breaks the limit, as it was judged exactly; by default from the distances.
    otherwise : (classes,) array of bool, optional
        Whether each class breaks a limit of another kind, as k.
    """
    distances, sizes = np.asarray(distances, dtype=np.float64), np.asarray(sizes, dtype=np.int64)
    beyond = _beyond(distances, limit) if broken is None else np.asarray(broken, dtype=bool)
    other = np.zeros(len(sizes), dtype=bool) if otherwise is None else np.asarray(otherwise, dtype=bool) & ~beyond
    logarithmic = is_far_apart(sizes)
    x = np.log(sizes) if logarithmic else sizes.astype(np.float64)
    points: list[Spec] = [
        {"rows": float(np.exp(at)) if logarithmic else at, "distance": distance, "classes": count, "class": label}
        for label, of in ((SATISFIES, ~beyond & ~other), (OTHERWISE, other), (FARTHER, beyond))
        if of.any()
        for at, distance, count in grid(x[of], distances[of], COLUMNS, ROWS)
    ]
    most = max(point["classes"] for point in points)
    top = 1.12 * max(float(distances.max()), float(limit or 0)) or 1.0
    scale = {
        "type": "log" if logarithmic else "linear",
        "zero": False,
        "nice": False,
        "domain": _ends(x, logarithmic=logarithmic),
    }
    ticks = whole_ticks(int(sizes.min()), int(sizes.max()), logarithmic=logarithmic)
    area = {"domain": [1, most], "range": [20, 240]} if most > 1 else {"domain": [1, 2], "range": [60, 120]}
    layers: list[Spec] = [
        {
            "data": {"values": points},
            "mark": {"type": "point", "filled": True, "opacity": 0.8},
            "encoding": {
                "x": {
                    "field": "rows",
                    "type": "quantitative",
                    "scale": scale,
                    "title": "rows in the class",
                    "axis": {"format": ",d", "values": ticks, "labelOverlap": True},
                },
                "y": {
                    "field": "distance",
                    "type": "quantitative",
                    "scale": {"domain": [0, top], "nice": False},
                    "title": "distance from the table (EMD)",
                    "axis": {"tickCount": 5},
                },
                "size": {"field": "classes", "type": "quantitative", "scale": area, "legend": None},
                "color": {
                    "field": "class",
                    "type": "nominal",
                    "legend": None,
                    "scale": {"domain": KINDS, "range": [SKY, RED, RED]},
                },
                "shape": {
                    "field": "class",
                    "type": "nominal",
                    "legend": None,
                    "scale": {"domain": KINDS, "range": ["circle", "triangle-up", "diamond"]},
                },
            },
        }
    ]
    notes = [f"Each point is {'one class' if most == 1 else f'up to {most:,} classes; a larger point is more of them'}."]
    if limit is not None:
        layers += _limit_line(limit)
        notes.append("On the line or below it a class satisfies the limit t.")
    if beyond.any():
        notes.append("Red diamonds: farther than t.")
    if other.any():
        notes.append(
            f"Red triangles: {number_of(int(other.sum()), 'class', 'classes')} within t, but beyond another limit, as k."
        )
    notes.append(WHAT_EMD_IS)
    return frame(_title(name, distances, beyond, limit), _in_words(distances, sizes), height=210, layers=layers, notes=notes)


def _ends(x: Any, *, logarithmic: bool) -> list[float]:
    """Return the ends of the axis of sizes, or of their logarithms: at its right there is room for the name of the limit."""
    width = float(x.max() - x.min()) or 0.5
    ends = [float(x.min()) - 0.06 * width, float(x.max()) + 0.2 * width]
    return [float(np.exp(end)) for end in ends] if logarithmic else ends


def _beyond(distances: Any, limit: Fraction | None) -> Any:
    """Return for each class whether its distance is above the limit."""
    return np.array([limit is not None and Fraction(distance) > limit for distance in distances.tolist()], dtype=bool)


def _limit_line(limit: Fraction) -> list[Spec]:
    """Return the line at the limit t, with its name."""
    at = {"datum": float(limit), "type": "quantitative"}
    rule = {"mark": {"type": "rule", "color": TEXT, "strokeDash": [5, 3], "strokeWidth": 1.5}, "encoding": {"y": at}}
    name = text_layer([{"text": f"t = {plain(limit)}"}], {"y": at, "x": {"value": "width"}},
                      align="right", baseline="bottom", dx=-2, dy=-3)  # fmt: skip
    return [{"data": {"values": [{}]}, **rule}, name]


def _title(name: str, distances: Any, beyond: Any, limit: Fraction | None) -> str:
    """Return what is seen: how many classes are within the limit, and how far the farthest is."""
    classes, farthest = len(distances), decimal_up(float(distances.max()))
    if limit is None:
        return f"{quoted(name)}: the distance of {number_of(classes, 'class', 'classes')} from the table is at most {farthest}"
    if beyond.any():
        count = f"{int(beyond.sum()):,} of {number_of(classes, 'class', 'classes')}"
        verb = "is" if beyond.sum() == 1 else "are"
        return f"{quoted(name)}: {count} {verb} farther from the table than t = {plain(limit)}; the farthest at {farthest}"
    every = "the only class is" if classes == 1 else f"all {classes:,} classes are"
    return f"{quoted(name)}: {every} within t = {plain(limit)} of the table; the farthest at {farthest}"


def _in_words(distances: Any, sizes: Any) -> str:
    """Return the distribution of the distances in words."""
    ordered = np.sort(distances)
    middle, worst = ordered[(len(ordered) - 1) // 2], int(distances.argmax())
    return (
        f"Half of the classes are at {decimal_up(float(middle))} or nearer. The farthest is at "
        f"{decimal_up(float(distances[worst]))} and has {number_of(int(sizes[worst]), 'row')}."
    )
