"""Where the project is, and where the public tables are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

import pytest

PROJECT = Path(__file__).resolve().parents[2]


def data_folder() -> Path:
    """TCLOSE_DATA, else ``../shared/data`` beside the project; without either the test is skipped, or fails if TCLOSE_NO_SKIP=1."""
    places = [Path(os.environ["TCLOSE_DATA"])] if os.environ.get("TCLOSE_DATA") else []
    places.append(PROJECT.parent / "shared" / "data")
    found = [place for place in places if place.is_dir()]
    if not found:
        skip_or_fail("The public tables are missing: set TCLOSE_DATA to their folder, or put it at ../shared/data.")
    return found[0]


def skip_or_fail(missing: str) -> NoReturn:
    """Skip the test, for the reason that something is missing on this machine; where TCLOSE_NO_SKIP=1, as in .ci/run, it fails."""
    if os.environ.get("TCLOSE_NO_SKIP") == "1":
        pytest.fail(missing, pytrace=False)
    pytest.skip(missing)
