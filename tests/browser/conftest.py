"""One Chromium for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support.browser import ARGUMENTS, TIMEOUT, find_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser


# Closed after the folder, not after the session: Playwright keeps an event loop running in its thread, and tests elsewhere start their own.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium, without a window."""
    chromium = find_chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS), timeout=TIMEOUT)
        yield found
        found.close()
