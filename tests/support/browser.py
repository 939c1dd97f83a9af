"""Pages as readers see them: opened from the disk in Chromium, without a network, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.project import PROJECT, skip_or_fail

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Request

DESKTOP, PHONE = 1280, 390
"""Widths of a window in pixels."""
TIMEOUT = 300_000
"""Milliseconds after which something must be wrong, on the slowest machine too."""
AXE = PROJECT / "node_modules" / "axe-core" / "axe.min.js"
ARGUMENTS = (
    "--no-sandbox",  # Chromium refuses to start as root with its sandbox; the pages are our own
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_chromium() -> str:
    """Return the path of Chromium; without it, or without Playwright, the test is skipped, or fails if TCLOSE_NO_SKIP=1."""
    if find_spec("playwright") is None:
        skip_or_fail("Playwright is missing: pip install -e '.[test]'.")
    names = [os.environ["TCLOSE_CHROMIUM"]] if os.environ.get("TCLOSE_CHROMIUM") else ["chromium", "google-chrome"]
    found = [path for path in map(shutil.which, names) if path]
    if not found:
        skip_or_fail("Chromium is missing: .ci/browser installs it on Debian; or set TCLOSE_CHROMIUM to its path.")
    return found[0]


def find_axe() -> Path:
    """Return the path of axe-core; without it the test is skipped, or fails if TCLOSE_NO_SKIP=1."""
    if not AXE.is_file():
        skip_or_fail("axe-core is missing: .ci/browser installs it, by npm, in node_modules.")
    return AXE


@contextmanager
def reading(browser: Browser, path: Path, *, width: int = DESKTOP, dark: bool = False) -> Iterator[Page]:
    """Open a file of the disk; when it was read, nothing may have gone wrong: no error on the console, no request to a network."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light", offline=True
    )
    wrong: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            wrong.append(f"console: {message.text}")

    def crash(error: Error) -> None:
        wrong.append(f"exception: {error.message}")

    def watch(request: Request) -> None:
        if not request.url.startswith(("file:", "data:")):
            wrong.append(f"request: {request.url}")

    context.set_default_timeout(TIMEOUT)
    try:
        page = context.new_page()
        page.on("console", hear)
        page.on("pageerror", crash)
        page.on("request", watch)
        page.goto(path.as_uri())
        yield page
    finally:
        context.close()
    assert not wrong, f"{path.name}: " + "; ".join(wrong)


def take_screenshots(browser: Browser, path: Path, folder: Path) -> list[Path]:
    """Write PNG files of a whole page: at the width of a desktop and of a phone, light and dark."""
    shots = []
    for name, width in (("desktop", DESKTOP), ("phone", PHONE)):
        for scheme in ("light", "dark"):
            with reading(browser, path, width=width, dark=scheme == "dark") as page:
                shots.append(folder / f"{path.stem}-{name}-{scheme}.png")
                page.screenshot(path=shots[-1], full_page=True)
    return shots


def print_page(page: Page) -> bytes:
    """Return the page as printed on A4 paper, as a PDF."""
    page.emulate_media(media="print")
    return bytes(page.pdf(format="A4"))


def barriers(page: Page) -> list[str]:
    """Return what keeps people from using the page, in the judgement of axe: its serious and its critical findings."""
    page.evaluate(find_axe().read_text(encoding="utf-8"))  # not by a script element, which a page may forbid
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{violation['impact']}: {violation['help']} ({', '.join(str(node['target']) for node in violation['nodes'])})"
        for violation in found["violations"]
        if violation["impact"] in {"serious", "critical"}
    ]


def is_too_wide(page: Page) -> bool:
    """Whether a reader has to scroll sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))
