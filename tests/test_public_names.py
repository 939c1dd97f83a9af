"""The public names of tclose: which they are, that each is there, and that importing tclose stays light."""

from __future__ import annotations

import subprocess
import sys

import pytest

import tclose

NAMES = [
    "Audit",
    "ColumnError",
    "Hierarchy",
    "HierarchyError",
    "InputError",
    "OutputError",
    "Policy",
    "PolicyError",
    "PrivacyRiskWarning",
    "Quasi",
    "Sensitive",
    "TcloseError",
    "Violation",
    "__version__",
    "audit",
    "emd",
    "transport",
]


def test_public_names_are_pinned() -> None:
    assert tclose.__all__ == NAMES
    assert dir(tclose) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_public_name_resolves(name: str) -> None:
    assert getattr(tclose, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'tclose' has no attribute 'anonymise'"):
        _ = tclose.anonymise


@pytest.mark.parametrize(
    ("error", "builtin"),
    [("InputError", ValueError), ("PolicyError", ValueError), ("OutputError", OSError), ("PrivacyRiskWarning", UserWarning)],
)
def test_errors_are_builtin_errors_too(error: str, builtin: type[Exception]) -> None:
    assert issubclass(getattr(tclose, error), builtin)


@pytest.mark.parametrize(
    "order",
    [NAMES, NAMES[::-1], ["audit", *NAMES], [*NAMES[9:], *NAMES[:9]]],
    ids=["sorted", "reversed", "audit first", "rotated"],
)
def test_audit_is_a_function_after_every_other_name_was_touched(order: list[str]) -> None:
    # A submodule called like a public function would take its place as soon as it is imported.
    in_fresh_python(
        f"import tclose\nfor name in {order!r}: getattr(tclose, name)\nassert callable(tclose.audit) and callable(tclose.emd)"
    )


def test_audit_is_a_function_after_every_module_was_imported() -> None:
    in_fresh_python(
        "import importlib, pkgutil, tclose\n"
        "names = [module.name for module in pkgutil.walk_packages(tclose.__path__, 'tclose.')]\n"
        "for name in names: name.endswith('__main__') or importlib.import_module(name)\n"
        "assert 'tclose._audit' in names\n"
        "assert callable(tclose.audit) and callable(tclose.emd) and callable(tclose.transport)"
    )


def test_importing_tclose_imports_no_heavy_package() -> None:
    in_fresh_python(
        "import sys, tclose\n"
        "heavy = {'ibis', 'duckdb', 'pyarrow', 'numpy', 'pandas', 'polars', 'networkx', 'pydantic'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )


def in_fresh_python(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
