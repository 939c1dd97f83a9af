"""What all tests share: where the public tables are, and the kinds of input that an audit takes."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.browser import find_axe, find_chromium
from tests.support.examples import examples
from tests.support.inputs import KINDS_OF_INPUT, Maker, contain
from tests.support.project import data_folder

# How fast the machine is decides no test.
settings.register_profile("any machine", max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

# Tests start Python more than a hundred times. Each start would compile the modules of tclose anew where the environment forbids to
# keep bytecode; it is kept where the kernels are, in folders __pycache__.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def pytest_collection_finish() -> None:
    """Let the garbage collector leave out what lives as long as the tests: modules, and the tests themselves."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("needs_data"):
        data_folder()
    if item.get_closest_marker("browser"):
        find_chromium()
        find_axe()


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of public tables; its tests are marked ``needs_data``."""
    return data_folder()


@pytest.fixture(scope="session")
def warm() -> None:
    """All kernels compiled, on a new machine too: a command that has to compile says so, where a test may expect silence."""
    from tclose.release.warmup import warm_up

    warm_up()


@pytest.fixture(params=KINDS_OF_INPUT)
def container(request: pytest.FixtureRequest, tmp_path: Path) -> Maker:
    """Turns a dict of columns into one kind of input."""
    return lambda columns: contain(request.param, columns, tmp_path)
