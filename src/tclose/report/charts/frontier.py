"""The frontier: what each release gives away against what it loses, and which of them are beaten by others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from tclose.report.charts.frame import INTERNAL, Spec, frame, text_layer
from tclose.report.labels import labels_of, listed, shorten, width_of
from tclose.report.look import BROWN, GOLD, GREEN, GREY, INDIGO, NAVY, OLIVE, PINK, PURPLE, RED, SKY, TEAL
from tclose.values.exact import number_of

COLOURS = (SKY, RED, GREEN, GOLD, PURPLE, NAVY, PINK, BROWN, TEAL, OLIVE, INDIGO, GREY)
STAR = "M0,-1L0.29,-0.4L0.95,-0.31L0.48,0.15L0.59,0.81L0,0.5L-0.59,0.81L-0.48,0.15L-0.95,-0.31L-0.29,-0.4Z"
HEXAGON = "M-0.9,0L-0.45,-0.78L0.45,-0.78L0.9,0L0.45,0.78L-0.45,0.78Z"
BAR = "M-0.9,-0.35L0.9,-0.35L0.9,0.35L-0.9,0.35Z"
PILLAR = "M-0.35,-0.9L0.35,-0.9L0.35,0.9L-0.35,0.9Z"
SHAPES = (
    "circle", "square", "triangle-up", "diamond", "cross", "triangle-down", STAR, "triangle-right", HEXAGON, "triangle-left", BAR,
    PILLAR,
)  # fmt: skip
"""As many as colours: no two of the first twelve algorithms share a colour or a shape."""
MOST = 400
"""Points that are drawn, at most; those that are not dominated come first."""
ROOM = (290, 250)
"""Pixels that both axes have at least."""


class Outcome(NamedTuple):
    """A release: the algorithm that made it, its loss and risk, and whether another release dominates it."""

    name: str
    loss: float
    risk: float
    dominated: bool
    detail: str = ""
    """What it was asked for: "t=0.1"."""
    label: str = ""
    """What stands beside its point: "0.1"; by default its name and what it was asked for."""


def frontier(
    outcomes: Sequence[Outcome], *, loss: str, risk: str, title: str = "", labelled: str = "", internal: bool = False
) -> Spec:
    """Return a chart of releases, each a point: to the left it loses less, lower down it gives less away.

    Parameters
    ----------
    outcomes
        The releases.
    loss, risk
        What the axes measure: "information loss (GCP)", "attained t".
    title
        What is seen; by default how many releases are not dominated, and of which algorithms.
    labelled
        What the numbers beside the points are: "t", which was asked of the release.
    internal
        Whether the figures were measured with a table that is not published: the chart says so.
    """
    names = list(dict.fromkeys(outcome.name for outcome in outcomes))
    labels = dict(zip(names, labels_of(names, 150), strict=True))
    best = sorted((outcome for outcome in outcomes if not outcome.dominated), key=lambda outcome: (outcome.loss, outcome.risk))
    drawn = [*best, *(outcome for outcome in outcomes if outcome.dominated)][:MOST]
    winners = listed(list(dict.fromkeys(labels[outcome.name] for outcome in best)), 4)
    verb = "is" if len(best) == 1 else "are"
    title = title or f"{len(best):,} of {number_of(len(outcomes), 'release')} {verb} beaten by no other: {winners}"
    notes = [
        *([INTERNAL] if internal else []),
        "Better is left (loses less) and down (gives less away).",
        "Filled: beaten by no other. Hollow: another release is better in one of the two and no worse in the other.",
        *([f"Beside points, where there is room: the {labelled} that was asked."] if labelled else []),
    ]
    if len(drawn) < len(outcomes):
        notes.append(f"{number_of(len(outcomes) - len(drawn), 'dominated release')} not shown.")
    ends = [_domain([getattr(outcome, key) for outcome in drawn]) for key in ("loss", "risk")]
    crowded = _is_crowded([outcome.loss for outcome in drawn])
    if crowded:
        ends[0][0] = 0.0
        notes.append("The axis of what is lost has more room for small losses.")
    points = [
        {"name": labels[outcome.name], "loss": outcome.loss, "risk": outcome.risk, "hollow": outcome.dominated}
        for outcome in drawn
    ]
    encoding: Spec = {
        "x": {
            "field": "loss",
            "type": "quantitative",
            "title": loss,
            "scale": {"domain": ends[0], "nice": False, "type": "sqrt" if crowded else "linear"},
            "axis": {
                "format": "~r",
                "labelOverlap": "greedy",
                **({"values": _ticks(ends[0][1])} if crowded else {"tickCount": 5}),
            },
        },
        "y": {
            "field": "risk",
            "type": "quantitative",
            "title": risk,
            "scale": {"domain": ends[1], "nice": False},
            "axis": {"tickCount": 5},
        },
    }
    domain = [labels[name] for name in names]
    legend = {
        "orient": "bottom",
        "title": None,
        "columns": 2,
        "symbolOpacity": 1,
        "labelLimit": 160,
        "columnPadding": 16,
        "rowPadding": 3,
    }
    marks: Spec = {
        channel: {
            "field": "name", "type": "nominal", "legend": legend,
            "scale": {"domain": domain, "range": [known[number % len(known)] for number in range(len(names))]},
        }
        for channel, known in (("fill", COLOURS), ("stroke", COLOURS), ("shape", SHAPES))
    }  # fmt: skip
    hollow = {**marks, "fill": {"value": None}}
    line = {
        "data": {"values": [point for point in points if not point["hollow"]]},
        "mark": {"type": "line", "interpolate": "step-after", "color": GREY, "strokeWidth": 1.5, "strokeDash": [4, 3]},
        "encoding": encoding,
    }
    layers: list[Spec] = [
        *([line] if len(best) > 1 else []),
        {
            "data": {"values": [point for point in points if point["hollow"]]},
            "mark": {"type": "point", "size": 42, "strokeWidth": 1.3, "opacity": 1},
            "encoding": {**encoding, **hollow},
        },
        {
            "data": {"values": [point for point in points if not point["hollow"]]},
            "mark": {"type": "point", "size": 85, "strokeWidth": 1, "opacity": 1},
            "encoding": {**encoding, **marks},
        },
        *_texts([outcome._replace(name=labels[outcome.name]) for outcome in drawn], ends, power=0.5 if crowded else 1.0),
    ]
    said = "; ".join(
        f"{labels[outcome.name]}{outcome.detail and f' ({outcome.detail})'}: {loss} {outcome.loss:.3g}, {risk} {outcome.risk:.3g}"
        for outcome in best[:10]
    )
    return frame(title, f"Beaten by no other: {said}.", height=ROOM[1], layers=layers, notes=notes)


def _domain(numbers: Sequence[float]) -> list[float]:
    """Return the ends of an axis: the range of some figures with a margin, from 0 on where that costs little room."""
    least, most = min(numbers), max(numbers)
    margin = 0.08 * (most - least) or 0.1 * abs(most) or 0.1
    return [0.0 if 0 <= least < 0.5 * most else least - margin, most + margin]


def _is_crowded(losses: Sequence[float]) -> bool:
    """Whether a quarter of some losses lie in the first eighth of their axis, so that small losses need more room."""
    ordered = sorted(losses)
    return ordered[0] >= 0 and len(ordered) > 7 and ordered[(len(ordered) - 1) // 4] < ordered[-1] / 8


def _ticks(end: float) -> list[float]:
    """Return round numbers from 0 to the end of an axis, closer together at its start."""
    unit = 10.0 ** math.floor(math.log10(end))
    shares = (0, 0.2, 0.5, 1, 2, 4, 6, 8)
    return [float(f"{share * unit:.3g}") for share in shares if share * unit <= end]


def _texts(drawn: Sequence[Outcome], ends: list[list[float]], *, power: float) -> list[Spec]:
    """Return labels of the releases, those first that are not dominated, where there is room beside their points.

    A release that is dominated has one only if its label is short.
    """

    def at(outcome: Outcome) -> tuple[float, float]:
        """Return about where a release is, in pixels from the top left."""
        (left, right), (low, high) = ends
        x = max(outcome.loss, 0.0) ** power / right**power if power != 1 else (outcome.loss - left) / (right - left)
        return x * ROOM[0], (1 - (outcome.risk - low) / (high - low)) * ROOM[1]

    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in map(at, drawn)]
    placed: dict[str, list[Spec]] = {"left": [], "right": []}
    for outcome in drawn:
        if outcome.dominated and not outcome.label:
            continue
        text = shorten(outcome.label or f"{outcome.name} {outcome.detail}".strip(), 140, 11)
        x, y = at(outcome)
        wide = 1.15 * width_of(text, 11)
        for align, first in (("left", x + 6), ("right", x - 6 - wide)):
            box = first, y - 20, first + wide, y - 4  # above the line that joins the points
            inside = box[0] >= 0 and box[2] <= ROOM[0] and box[1] >= 0 and box[3] <= ROOM[1]
            if inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                placed[align].append({"text": text, "loss": outcome.loss, "risk": outcome.risk})
                break
    axes = {"x": {"field": "loss", "type": "quantitative"}, "y": {"field": "risk", "type": "quantitative"}}
    return [
        text_layer(texts, axes, align=align, baseline="bottom", dx=6 if align == "left" else -6, dy=-5, fontSize=11)
        for align, texts in placed.items()
        if texts
    ]


def _overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    """Whether two rectangles, each by its left, top, right and bottom, overlap."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
