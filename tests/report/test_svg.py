"""Charts become SVG: no text of a table breaks one, and a screen reader finds a title and a description."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tclose.errors import MissingExtraError
from tclose.report.svg import SVG, draw, draw_inline, replace_forbidden

FORBIDDEN = ["a\x00b", "\x1b[2J", "\x0b", "\ud800", "\udfff", "\ufffe", "\uffff"]


def chart_of(text: str) -> dict[str, Any]:
    mark = {"mark": "bar", "encoding": {"y": {"field": "a", "type": "nominal", "title": text}}}
    return {"title": {"text": [text, "below"]}, "description": text, "data": {"values": [{"a": text}]}, **mark}


def texts_of(svg: str) -> list[str]:
    return ["".join(element.itertext()) for element in ET.fromstring(svg).iter(f"{{{SVG}}}text")]


@pytest.mark.parametrize("text", FORBIDDEN)
def test_characters_that_xml_forbids_are_replaced(text: str) -> None:
    # vl-convert ends the whole process at one of them: were they let through, no other test would follow this one.
    for svg in (draw(chart_of(text)), draw_inline(chart_of(text))):
        assert "\ufffd" in texts_of(svg)[0]


def test_forbidden_characters_are_replaced_wherever_they_are() -> None:
    spec = {"a\x00": ["b\x01", ("c\x02", 1, None, 2.5, True)], "d": {"e": "f\x03"}, "tab": "\t\n\r"}
    assert replace_forbidden(spec) == {
        "a\ufffd": ["b\ufffd", ["c\ufffd", 1, None, 2.5, True]],
        "d": {"e": "f\ufffd"},
        "tab": "\t\n\r",
    }


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "\"'&<>]]>", "</svg>", "שלום עולם", "{{ 7 * 7 }}"])
def test_texts_are_shown_as_they_are(text: str) -> None:
    svg = draw_inline(chart_of(text))
    root = ET.fromstring(svg)
    assert text in texts_of(svg)
    assert not list(root.iter(f"{{{SVG}}}script"))
    assert root.findtext(f"{{{SVG}}}title") == f"{text} below"
    assert root.findtext(f"{{{SVG}}}desc") == text
    assert "<script" not in svg


def test_a_picture_in_a_page_is_one_image_that_grows_with_its_column() -> None:
    root = ET.fromstring(draw_inline(chart_of("ages")))
    assert (root.get("role"), root.get("aria-label")) == ("img", "ages below ages")
    assert (root.get("style") or "").startswith("width:100%;max-width:")
    assert root.get("viewBox")
    assert not [
        key
        for element in root.iter()
        if element is not root
        for key in element.attrib
        if key == "role" or key.startswith("aria-")
    ]


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tclose.extras.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'tclose\[report\]'"):
        draw(chart_of("ages"))
