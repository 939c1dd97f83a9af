"""The public names of tclose: which they are, that each is there, and that importing tclose stays light."""

from __future__ import annotations

import inspect
import subprocess
import sys
import tomllib
from functools import partial
from typing import get_args, get_type_hints

import pyarrow as pa
import pytest

import tclose
from tests.support.project import PROJECT

NAMES = [
    "Above",
    "Algorithm",
    "Applied",
    "Attack",
    "Attacks",
    "AttributeAudit",
    "AttributeFigures",
    "Audit",
    "Choice",
    "ColumnError",
    "Comparison",
    "Cost",
    "Explanation",
    "Figures",
    "Finding",
    "Fragment",
    "Fragmentation",
    "GateError",
    "Hierarchy",
    "HierarchyError",
    "InfeasibleError",
    "Input",
    "InputError",
    "Joined",
    "Judgement",
    "Keep",
    "Level",
    "Losses",
    "MissingExtraError",
    "Move",
    "OutputError",
    "Policy",
    "PolicyError",
    "PrivacyRiskWarning",
    "Proposal",
    "Quasi",
    "Rate",
    "Reading",
    "ReadingWarning",
    "Release",
    "ReleaseSet",
    "Scope",
    "Sensitive",
    "SingledOut",
    "SparkRelease",
    "TcloseError",
    "Utility",
    "Verification",
    "Violation",
    "Worst",
    "__version__",
    "anonymize",
    "apply",
    "attack",
    "audit",
    "compare",
    "emd",
    "explain",
    "find_fragmentation",
    "list_algorithms",
    "propose",
    "transport",
    "utility",
    "verify",
]

HEAVY = {"ibis", "duckdb", "numba", "llvmlite", "pyarrow", "numpy", "pandas", "polars", "networkx", "pydantic", "ruamel", "scipy"}
ALL_CALLABLE = "assert all(callable(getattr(tclose, name)) for name in tclose.__all__ if name != '__version__')"


def test_public_names_are_pinned() -> None:
    assert tclose.__all__ == NAMES
    assert dir(tclose) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_public_name_resolves(name: str) -> None:
    assert getattr(tclose, name) is not None


def test_the_version_is_that_of_the_project() -> None:
    """It stands in pyproject.toml alone; an install that is older than that file must be made anew."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert tclose.__version__ == project["version"]


def test_what_a_public_function_returns_has_a_public_name() -> None:
    public = {getattr(tclose, name) for name in NAMES if name != "__version__"}
    functions = [function for function in map(partial(getattr, tclose), NAMES) if inspect.isfunction(function)]
    assert [function.__name__ for function in functions] == [name for name in NAMES if name[0].islower()]
    for function in functions:
        returned = get_type_hints(function)["return"]
        own = {kind for kind in (returned, *get_args(returned)) if getattr(kind, "__module__", "").startswith("tclose")}
        assert own <= public, function


def test_arguments_after_the_policy_are_named() -> None:
    for function in (tclose.anonymize, tclose.audit):
        _, _, *others = inspect.signature(function).parameters.values()
        assert {parameter.kind for parameter in others} <= {inspect.Parameter.KEYWORD_ONLY}


def test_a_release_shows_its_contract_and_nothing_internal() -> None:
    table = pa.table({"age": [1, 2, 3, 4], "pay": [1, 2, 1, 2]})
    release = tclose.anonymize(table, tclose.Policy(["age"], ["pay"], k=2), algorithm="mondrian")
    papers = {"audit", "certificate", "codebook", "loss", "partition", "readings", "record", "suppressed", "table"}
    assert {name for name in dir(release) if not name.startswith("_")} == papers | {
        "plot_attribute",
        "plot_transport",
        "to_html",
        "to_pandas",
        "to_polars",
        "write",
    }


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'tclose' has no attribute 'anonymise'"):
        _ = tclose.anonymise


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        ("InputError", ValueError),
        ("PolicyError", ValueError),
        ("InfeasibleError", ValueError),
        ("GateError", RuntimeError),
        ("OutputError", OSError),
        ("PrivacyRiskWarning", UserWarning),
        ("ReadingWarning", UserWarning),
    ],
)
def test_errors_are_builtin_errors_too(error: str, builtin: type[Exception]) -> None:
    assert issubclass(getattr(tclose, error), builtin)
    assert issubclass(getattr(tclose, error), tclose.TcloseError) or builtin is UserWarning


@pytest.mark.parametrize(
    "order",
    [NAMES, NAMES[::-1], ["audit", "anonymize", *NAMES], [*NAMES[9:], *NAMES[:9]]],
    ids=["sorted", "reversed", "functions first", "rotated"],
)
def test_functions_are_functions_after_every_other_name_was_touched(order: list[str]) -> None:
    # A submodule called like a public function would take its place as soon as it is imported.
    in_fresh_python(f"import tclose\nfor name in {order!r}: getattr(tclose, name)\n{ALL_CALLABLE}")


def test_functions_are_functions_after_every_module_was_imported() -> None:
    in_fresh_python(
        "import importlib, pkgutil, tclose\n"
        "names = [module.name for module in pkgutil.walk_packages(tclose.__path__, 'tclose.')]\n"
        "for name in names: name.endswith('__main__') or importlib.import_module(name)\n"
        "assert {'tclose.judge.audit', 'tclose.release.anonymize', 'tclose.release.verify'} <= set(names)\n" + ALL_CALLABLE
    )


@pytest.mark.parametrize(
    "first",
    [
        "import tclose",
        "from tclose import Policy, Keep, Hierarchy, list_algorithms",
        "import tclose.cli",
        "from tclose.cli import main; sys.argv = ['tclose', '--help']; run(main)",
        "from tclose.cli import main; sys.argv = ['tclose', '--version']; run(main)",
        *(
            f"from tclose.cli import main; sys.argv = ['tclose', '{command}', '--help']; run(main)"
            for command in ("audit", "anonymize", "verify", "report", "attack", "algorithms", "schema", "warmup", "demo")
        ),
    ],
)
def test_what_stays_light_imports_no_heavy_package(first: str) -> None:
    # A policy needs pydantic and numpy, and typer takes pydantic for a command's options; nothing needs an engine or a compiler.
    allowed = {"numpy", "pydantic", "networkx"} if "Policy" in first else {"pydantic"} if "'--help'" in first else set()
    in_fresh_python(
        "import sys\n"
        "def run(main):\n    try:\n        main()\n    except SystemExit as end:\n        assert not end.code\n"
        f"{first}\n"
        f"heavy = {HEAVY - allowed!r} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )


def in_fresh_python(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
