"""The look of all pictures: one font, a few sizes, and colours that have a light and a dark form."""

from __future__ import annotations

from typing import Any

FONT = "Liberation Sans, Arial, Helvetica, Arimo, Nimbus Sans, sans-serif"
"""Liberation Sans comes with vl-convert, which lays charts out in it. The next four have its widths; most readers have one."""

PAPER, TEXT, LINE, GRID = "#ffffff", "#1f2328", "#8c959f", "#e6eaef"
NAVY, SKY, RED, GOLD, GREEN, INDIGO, PURPLE = "#173f5f", "#2490bd", "#d1495b", "#b9770e", "#2f8f68", "#3d5fa4", "#8f6bb3"
BROWN, PINK, OLIVE, TEAL = "#7a4f2b", "#c2478f", "#7c8a1f", "#0f8b8d"
GREY, PALE = "#7d8590", "#b8c0c8"

DARK = {
    PAPER: "#0d1117", TEXT: "#e6edf3", LINE: "#6e7681", GRID: "#262c36",
    NAVY: "#b9d6f2", SKY: "#38a3d1", RED: "#f0687c", GOLD: "#e0a030", GREEN: "#4fbf8b", INDIGO: "#86a3ec", PURPLE: "#b995e0",
    BROWN: "#c79a6b", PINK: "#ea7fbd", OLIVE: "#b5c24a", TEAL: "#45c4c6",
    GREY: "#8b949e", PALE: "#49515c",
}  # fmt: skip
"""What each colour becomes for a reader whose page is dark. Other colours, such as those of heat maps, stay."""

ON_BRIGHT, ON_DEEP = "#222222", "white"
"""Of a text on a coloured area, which is the same on a light page and on a dark one."""

CONFIG: dict[str, Any] = {
    "aria": False,  # Vega would put titles into expressions, where the text \x00 becomes that character
    "font": FONT,
    "background": PAPER,
    "padding": 8,
    "view": {"stroke": None},
    "axis": {
        "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "labelColor": TEXT, "titleColor": TEXT,
        "titlePadding": 8, "domainColor": LINE, "tickColor": LINE, "gridColor": GRID,
    },
    "axisX": {"labelFlush": False},
    "legend": {
        "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "labelColor": TEXT, "titleColor": TEXT,
        "labelLimit": 0,
    },
    "title": {"fontSize": 13, "color": TEXT, "subtitleFontSize": 12, "subtitleColor": TEXT, "anchor": "start", "frame": "group"},
    "text": {"fontSize": 12, "color": TEXT},
    "line": {"strokeWidth": 2.5},
}  # fmt: skip
"""The configuration of Vega-Lite that all charts share."""
