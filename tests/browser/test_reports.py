"""Reports in Chromium: readable from the disk without a network, by everybody, at every width, and on paper."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import tclose as tc
from tclose.policy.proposed import without_review
from tclose.study.compare.cell import Cell, Result
from tests.support.browser import DESKTOP, PHONE, barriers, is_too_wide, print_page, reading
from tests.support.compared import figures
from tests.support.project import PROJECT

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

HOSTILE = ["<script>alert(1)</script>", "'\"><img src=x onerror=alert(1)>", "x" * 10_000, "שלום עולם", "a\u202eb", "\x1b[2J\x07"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A public and an internal report, one of a policy that nobody confirmed, the page of an audit and of a comparison, of a table with hostile values and 200 classes of one row."""
    folder = tmp_path_factory.mktemp("reports")
    table = pa.table({"who": [f"p{number}" for number in range(200)], "ill": HOSTILE * 33 + HOSTILE[:2], "age": [*range(200)]})
    policy = tc.Policy([tc.Quasi("who", despite="a test"), "age"], {"ill": 0.9}, k=1, context={"purpose": HOSTILE[1]})
    release = tc.anonymize(table, policy, algorithm="mondrian")
    files = {"public": folder / "report.html", "internal": folder / "internal.html", "audit": folder / "audit.html"}
    files["comparison"], files["unconfirmed"] = folder / "comparison.html", folder / "unconfirmed.html"
    release.to_html(files["public"])
    release.to_html(files["internal"], internal=True, data=table)
    tc.anonymize(table, without_review(policy), algorithm="mondrian").to_html(files["unconfirmed"])
    tc.audit(table, policy).to_html(files["audit"])
    done = [
        Result(Cell(name, t, 5, 0), "done", figures=figures(t=t, gcp=t)) for t in (0.1, 0.2) for name in ("growth", *HOSTILE[:3])
    ]
    tc.Comparison([*done, Result(Cell("sabre", 0.1, 5, 0), "refused", HOSTILE[1])], 0.2).to_html(files["comparison"])
    return files


@pytest.mark.parametrize("kind", ["public", "internal", "audit", "comparison", "unconfirmed"])
@pytest.mark.parametrize(("width", "dark"), [(DESKTOP, False), (PHONE, True)], ids=["desktop, light", "phone, dark"])
def test_a_report_opens_from_the_disk_for_everybody(
    browser: Browser, pages: dict[str, Path], kind: str, width: int, dark: bool
) -> None:
    with reading(browser, pages[kind], width=width, dark=dark) as page:
        assert not is_too_wide(page)  # a wide table scrolls in its box
        sizes = page.eval_on_selector_all(
            "svg", "all => all.map(one => [one.getBoundingClientRect().width, one.getBoundingClientRect().height])"
        )
        assert sizes
        assert all(wide > 100 and high > 50 for wide, high in sizes)
        assert barriers(page) == []
        if dark:
            assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(13, 17, 23)"


def test_a_printed_report_has_all_pages_and_no_contents(browser: Browser, pages: dict[str, Path]) -> None:
    with reading(browser, pages["public"], dark=True) as page:
        assert len(re.findall(rb"/Type\s*/Page\b", print_page(page))) > 3
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"


@pytest.mark.parametrize("name", ["adult.html", "hospital.internal.html"])
def test_the_gallery_is_readable_on_a_phone(browser: Browser, name: str) -> None:
    path = PROJECT / "docs" / "gallery" / name
    assert path.stat().st_size < 2_000_000
    with reading(browser, path, width=PHONE) as page:
        assert not is_too_wide(page)
        assert barriers(page) == []
