"""The texts of an SVG picture as a browser draws them: where each one is, what it stands on, and what makes it hard to read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from playwright.sync_api import Page

Point = tuple[float, float]
Colour = tuple[float, float, float]

CONTRAST = 4.5
"""What WCAG 2.2 (1.4.3, level AA) asks between a text and its background."""
GAP = 2.0
"""Pixels that two texts in one line are apart at least; closer ones run into one another."""

COLLECT = """
() => {
    const corners = (element, box) => {
        const toScreen = element.getScreenCTM();
        // Letters do not fill the box of their font: without accents there is room above them, and a little below.
        const [top, bottom] = [box.y + 0.15 * box.height, box.y + 0.96 * box.height];
        return [[box.x, top], [box.x + box.width, top], [box.x + box.width, bottom], [box.x, bottom]].map(([x, y]) => {
            const point = new DOMPoint(x, y).matrixTransform(toScreen);
            return [point.x, point.y];
        });
    };
    const opaque = (element) => {
        const style = getComputedStyle(element);
        return style.fill !== "none" && style.display !== "none" && style.opacity * style.fillOpacity > 0.5 ? style.fill : null;
    };
    const background = ([first, , opposite]) => {
        const behind = document.elementsFromPoint((first[0] + opposite[0]) / 2, (first[1] + opposite[1]) / 2);
        return behind.filter((element) => !element.closest("text") && element instanceof SVGGeometryElement).map(opaque).find(Boolean) ?? null;
    };
    const read = (picture, line) => {
        line.scrollIntoView({block: "center", inline: "center"});  // what is behind a point is told only where it is on the screen
        const [shape, frame] = [corners(line, line.getBBox()), picture.getBoundingClientRect()];
        return {
            text: line.textContent.trim(),
            corners: shape.map(([x, y]) => [x - frame.x, y - frame.y]),
            fill: getComputedStyle(line).fill,
            background: background(shape),
        };
    };
    const everything = document.createElementNS("http://www.w3.org/2000/svg", "style");
    everything.textContent = "* {pointer-events: all !important}";  // else what takes no clicks is not found
    document.documentElement.append(everything);
    const found = [...document.querySelectorAll("svg")].filter((picture) => !picture.ownerSVGElement).map((picture) => {
        const lines = [...picture.querySelectorAll("text")].flatMap((text) => text.children.length ? [...text.children] : [text]);
        const seen = lines.filter((line) => line.textContent.trim() && line.checkVisibility({opacityProperty: true}));
        const {width, height} = picture.getBoundingClientRect();
        return {width, height, texts: seen.map((line) => read(picture, line))};
    });
    everything.remove();
    return found;
}
"""


class Text(NamedTuple):
    """A line of text in a picture."""

    text: str
    corners: list[Point]
    """Of the box around its letters, clockwise from the top left, in pixels of the picture; with the line turned, the box is too."""
    fill: str
    background: str | None
    """The colour of what lies behind it; none where the page of the reader shows through."""


class Picture(NamedTuple):
    """An SVG picture: a file of its own, or a part of an HTML page."""

    width: float
    height: float
    texts: list[Text]


def pictures_of(page: Page) -> list[Picture]:
    """Return the pictures that the page shows."""
    return [
        Picture(
            found["width"],
            found["height"],
            [Text(**{**text, "corners": [(x, y) for x, y in text["corners"]]}) for text in found["texts"]],
        )
        for found in page.evaluate(COLLECT)
    ]


def faults_of(page: Page) -> list[str]:
    """Return a sentence for each text of a picture that is cut, goes beyond it, touches another one or is hard to tell from its background."""
    return [fault for picture in pictures_of(page) for fault in faults_in(picture)]


def faults_in(picture: Picture) -> list[str]:
    width, height, texts = picture
    return [
        *(f"{one.text!r} is cut" for one in texts if one.text.endswith("…")),
        *(f"{one.text!r} goes beyond the picture" for one in texts if not is_inside(one.corners, width, height)),
        *(
            f"{one.text!r} and {other.text!r} overlap"
            for one, other in combinations(texts, 2)
            if overlap(one.corners, other.corners)
        ),
        *(f"{one.text!r} is hard to read: {one.fill} on {one.background}" for one in texts if not is_legible(one)),
    ]


def is_inside(corners: Sequence[Point], width: float, height: float) -> bool:
    return all(0 <= x <= width and 0 <= y <= height for x, y in corners)


def overlap(one: Sequence[Point], other: Sequence[Point]) -> bool:
    """Whether two rectangles, turned in any way, overlap or are closer than the gap along the lines of text.

    They do not if some side of one of them has the other wholly beyond it (the separating axis theorem).
    """
    return not any(is_apart(first, second, axis) for first, second in ((one, other), (other, one)) for axis in axes_of(first))


def axes_of(corners: Sequence[Point]) -> list[tuple[float, float, float]]:
    """Return the direction of the line of text and the direction across it, each with the gap that is asked there."""
    (x0, y0), (x1, y1) = corners[0], corners[1]
    length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
    along = ((x1 - x0) / length, (y1 - y0) / length)
    return [(*along, GAP), (-along[1], along[0], 0.0)]


def is_apart(one: Sequence[Point], other: Sequence[Point], axis: tuple[float, float, float]) -> bool:
    dx, dy, gap = axis
    first, second = ([x * dx + y * dy for x, y in corners] for corners in (one, other))
    return max(first) + gap <= min(second) or max(second) + gap <= min(first)


def is_legible(text: Text) -> bool:
    return text.background is not None and contrast(rgb(text.fill), rgb(text.background)) >= CONTRAST


def rgb(colour: str) -> Colour:
    """Return the parts, from 0 to 255, of a colour as a browser computes it: ``rgb(1, 2, 3)``."""
    red, green, blue = (float(part) for part in colour.partition("(")[2].rstrip(")").split(",")[:3])
    return red, green, blue


def contrast(one: Colour, other: Colour) -> float:
    """Return the contrast ratio of WCAG: 1 for the same luminance, 21 for black on white."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: Colour) -> float:
    """Return the relative luminance of WCAG, from 0 to 1."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (part / 255 for part in colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
