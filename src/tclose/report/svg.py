"""A chart as an SVG picture whose text is as wide for the reader as it was when the chart was laid out.

vl-convert lays a chart out with the widths of its own font. A reader without that font sees another one, often wider: legends
run into one another and titles out of the picture. So each text says how long it is (``textLength``), and the browser fits its
letters to that. It stays text, to select, search and read aloud.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

from tclose.extras import load
from tclose.report.look import CONFIG, DARK, FONT

SVG = "http://www.w3.org/2000/svg"
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML forbids: most control characters, halves of surrogate pairs, U+FFFE and U+FFFF."""
LONG_DECIMAL = re.compile(r"(\.\d\d)\d+")
LARGEST = 1.35
"""A picture in a page is shown at most this many times as large as it was laid out."""
ET.register_namespace("", SVG)


class Style(NamedTuple):
    """What the width of a text depends on."""

    text: str
    size: float
    weight: str
    slant: str


def draw(spec: dict[str, Any]) -> str:
    """Return the SVG of a Vega-Lite chart, in our look: a file of its own.

    Raises
    ------
    MissingExtraError
        vl-convert is not installed.
    """
    return _as_text(_drawn(spec))


def draw_inline(spec: dict[str, Any]) -> str:
    """Return the SVG of a Vega-Lite chart for an HTML page: as wide as its column allows, and one picture to a screen reader.

    The title and the description of the chart are read aloud instead of its single bars and ticks.

    Raises
    ------
    MissingExtraError
        vl-convert is not installed.
    """
    root = _drawn(spec)
    _keep_small(root)
    root.set("style", f"width:100%;max-width:{LARGEST * float(root.get('width', 0)):.0f}px;height:auto")
    _name(root, _title_of(spec), replace_forbidden(str(spec.get("description", ""))))
    return _as_text(root)


def replace_forbidden(part: Any) -> Any:
    """Replace characters that XML forbids in all texts of a chart: vl-convert would end the whole program at the first one."""
    if isinstance(part, str):
        return NOT_XML.sub("\ufffd", part)
    if isinstance(part, dict):
        return {replace_forbidden(key): replace_forbidden(value) for key, value in part.items()}
    return [replace_forbidden(one) for one in part] if isinstance(part, list | tuple) else part


def _drawn(spec: dict[str, Any]) -> ET.Element:
    """Return the chart as drawn by Vega, with the widths of its texts fixed and dark forms of its colours."""
    svg = load("vl_convert").vegalite_to_svg({**replace_forbidden(spec), "config": CONFIG})
    root = ET.fromstring(svg)
    _fix_widths(root)
    root.insert(0, _dark_style(svg))
    return root


def _as_text(root: ET.Element) -> str:
    """Return a picture as the text of an SVG file."""
    return ET.tostring(root, encoding="unicode") + "\n"


def _fix_widths(root: ET.Element) -> None:
    """Write into each line of text how long it was when it was measured."""
    root.set("font-family", FONT)
    texts = list(root.iter(f"{{{SVG}}}text"))
    for text in texts:
        text.attrib.pop("font-family", None)
    lines = [(text, line) for text in texts for line in text.findall(f"{{{SVG}}}tspan") or [text] if (line.text or "").strip()]
    for (_, line), width in zip(lines, _widths_of([_style_of(text, line) for text, line in lines]), strict=True):
        line.set("textLength", f"{width:.2f}")
        line.set("lengthAdjust", "spacingAndGlyphs")


def _style_of(text: ET.Element, line: ET.Element) -> Style:
    """Return what the width of a line of a text element depends on."""
    size = float(text.get("font-size", "11px").removesuffix("px"))
    return Style((line.text or "").strip(), size, text.get("font-weight", "normal"), text.get("font-style", "normal"))


def _widths_of(styles: list[Style]) -> list[float]:
    """Measure texts as vl-convert does when it lays out a chart: it is asked to draw them, each with a bar that is as long."""
    fields = {"text": "text", "fontSize": "size", "fontWeight": "weight", "fontStyle": "slant"}
    texts = {"font": {"value": FONT}, **{channel: {"field": field} for channel, field in fields.items()}}
    bars = {"width": {"signal": "datum.bounds.x2 - datum.bounds.x1"}, "height": {"value": 1}}
    drawn = load("vl_convert").vega_to_scenegraph(
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


def _dark_style(svg: str) -> ET.Element:
    """Return a style that replaces the colours of the picture where the reader prefers a dark page."""
    style = ET.Element(f"{{{SVG}}}style")
    used = set(re.findall(r'(fill|stroke)="(#[0-9a-f]{6})"', svg))
    rules = (f'[{what}="{colour}"]{{{what}:{DARK[colour]}}}' for what, colour in sorted(used) if colour in DARK)
    style.text = f"@media screen and (prefers-color-scheme: dark){{{''.join(rules)}}}"
    return style


def _keep_small(root: ET.Element) -> None:
    """Leave out of a picture what nobody sees: descriptions of single marks, empty paths, and decimals beyond the second."""
    for parent in root.iter():
        for child in list(parent):
            if child.tag == f"{{{SVG}}}path" and not child.get("d"):
                parent.remove(child)
    for element in root.iter():
        for key in list(element.attrib):
            if key == "role" or key.startswith("aria-"):
                del element.attrib[key]
            elif key in {"d", "transform", "x2", "y2"}:
                element.set(key, LONG_DECIMAL.sub(r"\1", element.attrib[key]))


def _title_of(spec: dict[str, Any]) -> str:
    """Return the title of a chart on one line."""
    title = spec.get("title", "")
    lines = title.get("text", "") if isinstance(title, dict) else title
    return str(replace_forbidden(lines if isinstance(lines, str) else " ".join(lines)))


def _name(root: ET.Element, title: str, description: str) -> None:
    """Give a picture a title and a description, and make it one image for a screen reader."""
    root.set("role", "img")
    root.set("aria-label", " ".join(filter(None, (title, description))))
    for tag, text in (("desc", description), ("title", title)):
        element = ET.Element(f"{{{SVG}}}{tag}")
        element.text = text
        root.insert(0, element)
