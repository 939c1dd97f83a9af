"""What all charts have in common: their width, a title that says what is seen, and a description for those who do not see it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tclose.report.labels import wrap
from tclose.report.look import TEXT

Spec = dict[str, Any]
"""A chart in Vega-Lite, as plain types."""

WIDTH = 400
"""Pixels, with labels and legend. On a phone, which has nearly as many, letters stay about as large as they were laid out."""
PADDING = 8
LABELS = 130
"""Pixels that labels beside bars have at most."""
INTERNAL = "INTERNAL, not for publication: made from the raw table."
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"


def frame(title: str, description: str, *, height: float, layers: Sequence[Spec], notes: Sequence[str] = (), **rest: Any) -> Spec:
    """Return a chart of some layers, in the common width.

    Parameters
    ----------
    title
        What is seen, in one sentence.
    description
        The figures that a reader takes from the picture, for one who does not see it.
    height
        Of the plot alone, in pixels.
    notes
        Sentences below the title, each on lines of its own.
    """
    room = WIDTH - 2 * PADDING
    text = {"text": wrap(title, room, 13, bold=True), "frame": "bounds", "offset": 10}
    subtitle = [line for note in notes for line in wrap(note, room)]
    return {
        "$schema": SCHEMA,
        "description": " ".join(filter(None, (*notes, description))),
        "title": {**text, "subtitle": subtitle, "subtitlePadding": 5} if subtitle else text,
        "width": WIDTH,
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "layer": list(layers),
        **rest,
    }


def text_layer(values: Sequence[Spec], encoding: Spec, **mark: Any) -> Spec:
    """Return a layer of texts, which its values have in the field ``text``."""
    return {
        "data": {"values": list(values)},
        "mark": {"type": "text", "color": TEXT, **mark},
        "encoding": {**encoding, "text": {"field": "text", "type": "nominal"}},
    }
