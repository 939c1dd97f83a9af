"""The frontier: what each release gives away against what it loses, and which of them are beaten by others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tclose.report.charts.frame import INTERNAL, Spec, frame, text_layer
from tclose.report.labels import labels_of, listed, shorten, width_of
from tclose.report.look import GOLD, GREEN, GREY, INDIGO, NAVY, PURPLE, RED, SKY
from tclose.values.exact import number_of

COLOURS = (SKY, RED, GREEN, GOLD, PURPLE, NAVY, INDIGO, GREY)
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
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
    """What it was asked for, for the label: "t=0.1"."""


def frontier(outcomes: Sequence[Outcome], *, loss: str, risk: str, title: str = "", internal: bool = False) -> Spec:
    """Return a chart of releases, each a point: to the left it loses less, lower down it gives less away.

    Parameters
    ----------
    outcomes
        The releases.
    loss, risk
        What the axes measure: "information loss (GCP)", "attained t".
    title
        What is seen; by default how many releases are not dominated, and of which algorithms.
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
        "Pale: another release is better in one of the two and no worse in the other.",
    ]
    if len(drawn) < len(outcomes):
        notes.append(f"{number_of(len(outcomes) - len(drawn), 'dominated release')} not shown.")
    ends = [_domain([getattr(outcome, key) for outcome in drawn]) for key in ("loss", "risk")]
    points = [
        {"name": labels[outcome.name], "loss": outcome.loss, "risk": outcome.risk, "pale": outcome.dominated} for outcome in drawn
    ]
    encoding: Spec = {
        "x": {
            "field": "loss",
            "type": "quantitative",
            "title": loss,
            "scale": {"domain": ends[0], "nice": False},
            "axis": {"tickCount": 5},
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
    marks = {
        "color": {
            "field": "name", "type": "nominal", "legend": legend,
            "scale": {"domain": domain, "range": [COLOURS[number % len(COLOURS)] for number in range(len(names))]},
        },
        "shape": {
            "field": "name", "type": "nominal", "legend": legend,
            "scale": {"domain": domain, "range": [SHAPES[number % len(SHAPES)] for number in range(len(names))]},
        },
        "opacity": {"condition": {"test": "datum.pale", "value": 0.4}, "value": 1},
        "size": {"condition": {"test": "datum.pale", "value": 40}, "value": 75},
    }  # fmt: skip
    line = {
        "data": {"values": [point for point in points if not point["pale"]]},
        "mark": {"type": "line", "interpolate": "step-after", "color": GREY, "strokeWidth": 1.5, "strokeDash": [4, 3]},
        "encoding": encoding,
    }
    layers: list[Spec] = [
        *([line] if len(best) > 1 else []),
        {"data": {"values": points}, "mark": {"type": "point", "filled": True}, "encoding": {**encoding, **marks}},
        *_texts([outcome._replace(name=labels[outcome.name]) for outcome in best], drawn, ends),
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


def _texts(best: Sequence[Outcome], drawn: Sequence[Outcome], ends: list[list[float]]) -> list[Spec]:
    """Return a label for each release that is not dominated, where there is room beside its point."""

    def at(outcome: Outcome) -> tuple[float, float]:
        """Return about where a release is, in pixels from the top left."""
        x, y = ((value - low) / (high - low) for value, (low, high) in zip((outcome.loss, outcome.risk), ends, strict=True))
        return x * ROOM[0], (1 - y) * ROOM[1]

    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in map(at, drawn)]
    placed: dict[str, list[Spec]] = {"left": [], "right": []}
    for outcome in best:
        text = shorten(f"{outcome.name} {outcome.detail}".strip(), 140, 11)
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
