"""Charts in a page, looked at in Chromium: wide and narrow, light and dark, in a wide font; no text is cut, pale or overlaps another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tclose.report.svg import draw_inline
from tests.support.browser import DESKTOP, PHONE, barriers, is_too_wide, reading
from tests.support.charts import all_charts
from tests.support.pictures import faults_of, pictures_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

STYLE = """
body {background: #fff; margin: 16px}
@media (prefers-color-scheme: dark) {body {background: #0d1117}}
main {display: grid; grid-template-columns: repeat(auto-fit, minmax(340px, 1fr)); gap: 16px}
"""
HEAD = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Charts</title><style>{STYLE}</style>'


@pytest.fixture(scope="module")
def page_of_charts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("charts") / "charts.html"
    drawn = "".join(f"<div>{draw_inline(spec)}</div>" for spec in all_charts().values())
    path.write_text(
        f'<!doctype html><html lang="en"><head>{HEAD}</head><body><main>{drawn}</main></body></html>', encoding="utf-8"
    )
    return path


def test_all_text_of_charts_can_be_read(browser: Browser, page_of_charts: Path) -> None:
    with reading(browser, page_of_charts, width=DESKTOP) as page:
        pictures = pictures_of(page)
        assert len(pictures) == len(all_charts())
        assert all(picture.width > 300 and picture.height > 60 for picture in pictures)
        assert faults_of(page) == []
        page.emulate_media(color_scheme="dark")
        assert faults_of(page) == []


def test_charts_fit_on_a_phone_in_a_wide_font(browser: Browser, page_of_charts: Path) -> None:
    with reading(browser, page_of_charts, width=PHONE) as page:
        page.evaluate("document.querySelectorAll('text').forEach((text) => {text.style.fontFamily = 'monospace'})")
        assert not is_too_wide(page)
        assert faults_of(page) == []


def test_charts_have_no_barriers(browser: Browser, page_of_charts: Path) -> None:
    with reading(browser, page_of_charts) as page:
        assert barriers(page) == []
