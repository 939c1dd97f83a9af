"""Pictures of the docs can be read: in whatever font the reader has, on a light page and on a dark one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.browser import reading
from tests.support.pictures import contrast, faults_of
from tests.support.project import PROJECT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

PICTURES = sorted((PROJECT / "docs").rglob("*.svg"))


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_no_text_of_a_picture_is_cut_or_overlaps_another_or_is_pale(browser: Browser, path: Path) -> None:
    with reading(browser, path) as page:
        assert faults_of(page) == []
        page.emulate_media(color_scheme="dark")
        assert faults_of(page) == []
        use_wide_font(page)
        assert faults_of(page) == []


def test_without_their_written_widths_texts_overlap_in_a_wide_font(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "times.svg"
    path.write_text(re.sub(r' textLength="[^"]*"', "", (PROJECT / "docs" / "pictures" / "times.svg").read_text()))
    with reading(browser, path) as page:
        use_wide_font(page)
        assert any(fault.endswith("overlap") for fault in faults_of(page))


def use_wide_font(page: Page) -> None:
    """Show all text in a font that is wider than the one in which pictures are measured."""
    page.evaluate("document.querySelectorAll('text').forEach((text) => {text.style.fontFamily = 'monospace'})")


SOUND = (
    """<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100"><rect width="200" height="100" fill="white"/>{}</svg>"""
)


@pytest.mark.parametrize(
    ("drawn", "fault"),
    [
        ('<text x="10" y="50">here</text><text x="100" y="50">there</text>', None),
        ('<text x="10" y="50">two<tspan/></text><text x="10" y="70">lines</text>', None),
        ('<text transform="translate(20,90) rotate(-90)">upwards</text><text x="40" y="50">across</text>', None),
        ('<text x="10" y="50" opacity="0">here</text><text x="10" y="50">there</text>', None),
        ('<rect width="90" height="90" fill="black"/><text x="10" y="50" fill="white">here</text>', None),
        ('<text x="170" y="50">beyond</text>', "'beyond' goes beyond the picture"),
        ('<text x="10" y="8">above</text>', "'above' goes beyond the picture"),
        ('<text x="10" y="50">a long na…</text>', "'a long na…' is cut"),
        ('<text x="10" y="50">here</text><text x="30" y="50">there</text>', "'here' and 'there' overlap"),
        ('<text x="10" y="50">here</text><text x="10" y="58">there</text>', "'here' and 'there' overlap"),
        ('<text transform="translate(50,90) rotate(-90)">upwards</text><text x="20" y="50">across</text>', "'upwards' and 'across' overlap"),
        ('<text transform="translate(20,20) rotate(30)">slanting</text><text x="30" y="50">across</text>', "'slanting' and 'across' overlap"),
        ('<text x="10" y="50" fill="#999">pale</text>', "'pale' is hard to read: rgb(153, 153, 153) on rgb(255, 255, 255)"),
        ('<rect width="90" height="90" fill="black"/><text x="10" y="50">dark</text>', "'dark' is hard to read: rgb(0, 0, 0) on rgb(0, 0, 0)"),
    ],
)  # fmt: skip
def test_faults_are_found(browser: Browser, tmp_path: Path, drawn: str, fault: str | None) -> None:
    path = tmp_path / "picture.svg"
    path.write_text(SOUND.format(drawn))
    with reading(browser, path) as page:
        assert faults_of(page) == ([fault] if fault else [])


def test_all_pictures_of_a_long_page_are_looked_at(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    right, wrong = (SOUND.format(f'<text x="{x}" y="50">there</text>') for x in (10, 175))
    path.write_text(f'<!doctype html><title>Pictures</title>{right}<p style="height: 3000px"></p>{wrong}{right}')
    with reading(browser, path) as page:
        assert faults_of(page) == ["'there' goes beyond the picture"]


def test_a_picture_without_a_background_is_a_fault(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "picture.svg"
    path.write_text('<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100"><text x="10" y="50">here</text></svg>')
    with reading(browser, path) as page:
        assert faults_of(page) == ["'here' is hard to read: rgb(0, 0, 0) on None"]


def test_contrast_is_that_of_wcag() -> None:
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast((118, 118, 118), (255, 255, 255)) == pytest.approx(4.54, abs=0.01)  # the lightest grey that passes on white
