"""A transport plan, drawn as moves of mass: what has to go where until a class has the distribution of the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tclose.report.charts.binning import Groups
from tclose.report.charts.frame import INTERNAL, LABELS, Spec, frame, text_layer
from tclose.report.labels import percent, quoted
from tclose.report.look import RED, SKY
from tclose.values.exact import decimal_up

MOST = 12
"""Values that have a line of their own, at most."""
TOLD = 10
"""Moves that the description names, at most."""
HOW_EMD = "The EMD, earth mover's distance, adds up each part that moves, times how far it moves (at most 1)."
HEADING = ""
"""The label of the line above all values, where the names of both sides stand."""
LEFT, RIGHT, BAR = 0.36, 0.64, 0.2
"""Where the bars of both sides begin, and how long the longest is, as shares of the width."""


def transport_plan(
    name: str,
    values: Sequence[Any],
    of_class: Sequence[float],
    table: Sequence[float],
    moves: Sequence[tuple[int, int, float]],
    *,
    emd: Any,
    in_order: bool,
    class_name: str = "the class",
    internal: bool = False,
) -> Spec:
    """Return a chart of a transport plan from a class to the table.

    Parameters
    ----------
    name
        The sensitive attribute.
    values
        Its domain; None stands for missing cells.
    of_class, table
        Rows at each value, or shares of them.
    moves
        For each move the indices of its source and its target among the values, and the share of the class that moves.
    emd : Fraction or float
        The cost of all moves together.
    in_order
        Whether the values have an order.
    internal
        Whether the class is one of a table that is not published: the chart says so.
    """
    sides = [[float(count) / (float(sum(counts)) or 1.0) for count in counts] for counts in (of_class, table)]
    groups = Groups(values, [max(pair) for pair in zip(*sides, strict=True)], most=MOST, in_order=in_order, width=LABELS)
    shares = [groups.sums(side) for side in sides]
    drawn: dict[tuple[int, int], float] = {}
    inside = 0.0
    for source, target, mass in moves:
        pair = groups.group[source], groups.group[target]
        if pair[0] == pair[1]:
            inside += mass
        else:
            drawn[pair] = drawn.get(pair, 0.0) + mass
    labels = groups.labels
    longest = max(map(max, shares)) or 1.0
    moved = sum(drawn.values()) + inside
    title = f"{quoted(name)}: {class_name} is distributed as the table, and nothing has to move"
    if moved:
        cost = f"EMD {decimal_up(emd)}"
        title = f"{quoted(name)}: {percent(moved)} of {class_name} has to move until it is distributed as the table; {cost}"
    notes = [
        *([INTERNAL] if internal else []),
        *(["Red: what leaves a value of the class, and what arrives at it; blue: what stays.", HOW_EMD] if moved else []),
    ]
    if inside:
        notes.append(f"{percent(inside)} moves between values that share a line, and is not drawn.")
    said = "; ".join(
        f"{percent(mass)} from {labels[source]} to {labels[target]}"
        for (source, target), mass in sorted(drawn.items(), key=lambda move: -move[1])[:TOLD]
    )
    return frame(
        title,
        f"The largest moves: {said}." if said else "No mass moves.",
        height=27 * (len(labels) + 1),
        layers=[
            _bars(labels, shares, drawn, longest),
            *([_lines(labels, drawn)] if drawn else []),
            *_texts(labels, shares, longest, class_name),
        ],
        notes=notes,
    )


def _bars(labels: list[str], shares: list[list[float]], drawn: dict[tuple[int, int], float], longest: float) -> Spec:
    """Return the bars of both sides: next to the middle all mass that a line moves, outside of it what stays."""
    moving = [[0.0] * len(labels) for _ in shares]
    for ends, mass in drawn.items():
        for side, index in enumerate(ends):
            moving[side][index] += mass
    bars = []
    for index, label in enumerate(labels):
        for start, side, sign in ((LEFT, 0, -1), (RIGHT, 1, 1)):
            middle, end = (start + sign * BAR * part / longest for part in (moving[side][index], shares[side][index]))
            bars.append({"value": label, "from": start, "to": middle, "moves": True})
            bars.append({"value": label, "from": middle, "to": end, "moves": False})
    axis = {"ticks": False, "domain": False, "labelPadding": 6, "labelLimit": LABELS + 20}
    lines = {"domain": [HEADING, *labels]}
    return {
        "data": {"values": [bar for bar in bars if bar["from"] != bar["to"]]},
        "mark": {"type": "bar", "height": {"band": 0.6}},
        "encoding": {
            "y": {"field": "value", "type": "nominal", "sort": None, "title": None, "axis": axis, "scale": lines},
            "x": {"field": "from", "type": "quantitative", "axis": None, "scale": {"domain": [0, 1], "nice": False}},
            "x2": {"field": "to"},
            "color": {"condition": {"test": "datum.moves", "value": RED}, "value": SKY},
        },
    }  # fmt: skip


def _lines(labels: list[str], drawn: dict[tuple[int, int], float]) -> Spec:
    """Return a line for each move, as thick as its mass."""
    lines = [
        {"from": labels[source], "to": labels[target], "mass": mass, "x": LEFT + 0.01, "x2": RIGHT - 0.01}
        for (source, target), mass in drawn.items()
    ]
    thickness = {"domain": [0, max(drawn.values())], "range": [1, 12]}
    return {
        "data": {"values": lines},
        "mark": {"type": "rule", "color": RED, "opacity": 0.45, "strokeCap": "round"},
        "encoding": {
            "y": {"field": "from", "type": "nominal"},
            "y2": {"field": "to"},
            "x": {"field": "x", "type": "quantitative"},
            "x2": {"field": "x2"},
            "strokeWidth": {"field": "mass", "type": "quantitative", "scale": thickness, "legend": None},
        },
    }


def _texts(labels: list[str], shares: list[list[float]], longest: float, class_name: str) -> list[Spec]:
    """Return the percentages beside the bars, and the names of both sides above them."""
    layers = []
    for start, sign, side, name in ((LEFT, -1, shares[0], class_name), (RIGHT, 1, shares[1], "the table")):
        align = "right" if sign < 0 else "left"
        at = {"y": {"field": "value", "type": "nominal"}, "x": {"field": "x", "type": "quantitative"}}
        texts = [
            {"value": label, "text": percent(share), "x": start + sign * BAR * share / longest}
            for label, share in zip(labels, side, strict=True)
        ]
        layers.append(text_layer(texts, at, align=align, dx=sign * 4, fontSize=11))
        layers.append(text_layer([{"value": HEADING, "text": name, "x": start}], at, align=align, fontWeight="bold"))
    return layers
