"""Extras: a package that is missing is named with the command that installs it."""

from __future__ import annotations

import sys
import tomllib

import pytest

import tclose as tc
from tclose.extras import EXTRAS, load
from tests.support.project import PROJECT


def test_a_missing_package_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)  # as if it were not installed
    with pytest.raises(tc.MissingExtraError, match=r"This needs scikit-learn, .*: pip install 'tclose\[ml\]'\."):
        load("sklearn.linear_model")


def test_a_package_that_is_there() -> None:
    assert load("scipy.sparse").csr_matrix((1, 1)).shape == (1, 1)


def test_every_extra_is_one_of_the_package() -> None:
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {extra for _, extra in EXTRAS.values()} <= set(extras)
