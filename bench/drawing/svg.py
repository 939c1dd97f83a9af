"""A chart as an SVG file whose text is as wide for the reader as it was when the chart was laid out.

vl-convert lays a chart out with the widths of its own font. A reader without that font sees another one, often wider: legends run into one another
and titles out of the picture. So each text says how long it is (``textLength``), and the browser fits its letters to that. It stays text, to select, search and read aloud.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import vl_convert

from drawing.look import CONFIG, DARK, FONT

SVG = "http://www.w3.org/2000/svg"
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML forbids: most control characters, halves of surrogate pairs, U+FFFE and U+FFFF."""
ET.register_namespace("", SVG)


class Style(NamedTuple):
    """What the width of a text depends on."""

    text: str
    size: float
    weight: str
    slant: str


def draw(spec: dict[str, Any]) -> str:
    """Return the SVG of a Vega-Lite chart, in our look."""
    return finish(vl_convert.vegalite_to_svg({**replace_forbidden(spec), "config": CONFIG}))


def replace_forbidden(part: Any) -> Any:
    """Replace characters that XML forbids in all texts of a chart: vl-convert would end the whole program at the first one."""
    if isinstance(part, str):
        return NOT_XML.sub("\ufffd", part)
    if isinstance(part, dict):
        return {replace_forbidden(key): replace_forbidden(value) for key, value in part.items()}
    return [replace_forbidden(one) for one in part] if isinstance(part, list) else part


def finish(svg: str) -> str:
    """Fix the widths of the texts of an SVG of Vega, and give its colours their dark forms."""
    root = ET.fromstring(svg)
    fix_widths(root)
    root.insert(0, dark_style(svg))
    return ET.tostring(root, encoding="unicode") + "\n"


def fix_widths(root: ET.Element) -> None:
    """Write into each line of text how long it was when it was measured."""
    root.set("font-family", FONT)
    texts = list(root.iter(f"{{{SVG}}}text"))
    for text in texts:
        text.attrib.pop("font-family", None)
    lines = [(text, line) for text in texts for line in text.findall(f"{{{SVG}}}tspan") or [text] if (line.text or "").strip()]
    for (_, line), width in zip(lines, widths_of([style_of(text, line) for text, line in lines]), strict=True):
        line.set("textLength", f"{width:.2f}")
        line.set("lengthAdjust", "spacingAndGlyphs")


def style_of(text: ET.Element, line: ET.Element) -> Style:
    size = float(text.get("font-size", "11px").removesuffix("px"))
    return Style((line.text or "").strip(), size, text.get("font-weight", "normal"), text.get("font-style", "normal"))


def widths_of(styles: list[Style]) -> list[float]:
    """Measure texts as vl-convert does when it lays out a chart: it is asked to draw them, each with a bar that is as long."""
    fields = {"text": "text", "fontSize": "size", "fontWeight": "weight", "fontStyle": "slant"}
    texts = {"font": {"value": FONT}, **{channel: {"field": field} for channel, field in fields.items()}}
    bars = {"width": {"signal": "datum.bounds.x2 - datum.bounds.x1"}, "height": {"value": 1}}
    drawn = vl_convert.vega_to_scenegraph(
        {
            "$schema": "https://vega.github.io/schema/vega/v6.json",
            "data": [{"name": "styles", "values": [style._asdict() for style in styles]}],
            "marks": [
                {"type": "text", "name": "texts", "from": {"data": "styles"}, "encode": {"enter": texts}},
                {"type": "rect", "from": {"data": "texts"}, "encode": {"enter": bars}},
            ],
        }
    )
    _, marks = drawn["scenegraph"]["items"][0]["items"]
    return [float(bar["width"]) for bar in marks["items"]]


def dark_style(svg: str) -> ET.Element:
    """Return a style that replaces the colours of the picture where the reader prefers a dark page."""
    style = ET.Element(f"{{{SVG}}}style")
    used = set(re.findall(r'(fill|stroke)="(#[0-9a-f]{6})"', svg))
    rules = (f'[{what}="{colour}"]{{{what}:{DARK[colour]}}}' for what, colour in sorted(used) if colour in DARK)
    style.text = f"@media (prefers-color-scheme: dark){{{''.join(rules)}}}"
    return style
