"""The helpers that read pages find what is wrong with a page, and nothing in one that is right."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.browser import PHONE, barriers, is_too_wide, print_page, reading, take_screenshots

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

STYLE = """
body {background: #fff; color: #111}
@media (prefers-color-scheme: dark) {body {background: #111; color: #eee}}
@media print {p {break-before: page}}
"""
HEAD = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>A page</title><style>{STYLE}</style>'


def write(folder: Path, body: str) -> Path:
    path = folder / "page.html"
    path.write_text(f'<!doctype html><html lang="en"><head>{HEAD}</head><body><main><h1>A page</h1>{body}</main></body></html>')
    return path


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ("<script>console.error('a fault')</script>", "console: a fault"),
        ("<script>throw new Error('a fault')</script>", "exception: a fault"),
        ("<script src='https://example.org/script.js'></script>", r"request: https://example\.org/script\.js"),
        ("<img src='http://localhost:9/dot.png' alt=''>", "request: http://localhost:9/dot.png"),
        ("<img src='missing.png' alt=''>", "console: Failed to load resource"),
    ],
)
def test_what_goes_wrong_while_a_page_is_read_is_a_failure(browser: Browser, tmp_path: Path, body: str, wrong: str) -> None:
    path = write(tmp_path, body)
    with pytest.raises(AssertionError, match=wrong), reading(browser, path) as page:
        assert page.title() == "A page"


def test_a_page_that_is_right(browser: Browser, tmp_path: Path) -> None:
    dot = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="
    with reading(browser, write(tmp_path, f'<p>Nothing is wrong here. <img src="{dot}" alt="A dot"></p>'), width=PHONE) as page:
        assert not is_too_wide(page)
        assert barriers(page) == []
        assert len(re.findall(rb"/Type\s*/Page\b", print_page(page))) == 2


def test_barriers_and_what_is_too_wide_are_found(browser: Browser, tmp_path: Path) -> None:
    body = '<p style="color: #ccc; width: 800px">Pale.</p><img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=">'
    with reading(browser, write(tmp_path, body), width=PHONE) as page:
        assert is_too_wide(page)
        assert [finding.partition(":")[0] for finding in barriers(page)] == ["serious", "critical"]


def test_screenshots_at_two_widths_light_and_dark(browser: Browser, tmp_path: Path) -> None:
    shots = take_screenshots(browser, write(tmp_path, ""), tmp_path)
    assert [shot.name for shot in shots] == [
        f"page-{name}.png" for name in ("desktop-light", "desktop-dark", "phone-light", "phone-dark")
    ]
    assert len({shot.read_bytes() for shot in shots}) == 4
