"""Tables that a notebook shows, in Chromium: no barriers, light and dark, and none makes the page wider than a phone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import tclose as tc
from tests.support.browser import PHONE, barriers, is_too_wide, reading

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

STYLE = "body {background: #fff; color: #111} @media (prefers-color-scheme: dark) {body {background: #111; color: #eee}}"
HEAD = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Tables</title><style>{STYLE}</style>'


def test_tables_of_a_notebook_have_no_barriers(browser: Browser, tmp_path: Path) -> None:
    people = pa.table(
        {"age": [20 + row % 9 for row in range(36)], "pay": [row % 7 for row in range(36)], "<b>" + "x" * 9000: ["a", "b"] * 18}
    )
    policy = tc.Policy(["age"], {"pay": 0.5}, k=3, other="keep")
    release = tc.anonymize(people, policy, algorithm="mondrian")
    verification = tc.verify(release.write(tmp_path / "release.parquet")[0])
    shown = "".join(one._repr_html_() for one in (policy, tc.audit(people, policy), release, verification))
    path = tmp_path / "tables.html"
    path.write_text(
        f'<!doctype html><html lang="en"><head>{HEAD}</head><body><main><h1>Tables</h1>{shown}</main></body></html>',
        encoding="utf-8",
    )
    with reading(browser, path, width=PHONE) as page:
        assert not is_too_wide(page)
        assert barriers(page) == []
        page.emulate_media(color_scheme="dark")
        assert barriers(page) == []
