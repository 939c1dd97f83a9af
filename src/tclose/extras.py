"""Extras: packages that only some parts of tclose need. One that is missing is named, with the command that installs it."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from tclose.errors import MissingExtraError

EXTRAS = {
    "altair": ("Altair", "report"),
    "jinja2": ("Jinja2", "report"),
    "markupsafe": ("MarkupSafe", "report"),
    "psycopg": ("Psycopg", "postgres"),
    "pyreadstat": ("pyreadstat", "statistics"),
    "pyspark": ("PySpark", "spark"),
    "python_calamine": ("python-calamine", "excel"),
    "scipy": ("SciPy", "ml"),
    "sklearn": ("scikit-learn", "ml"),
    "vl_convert": ("vl-convert", "report"),
}
"""For each package that is imported, its name where it is installed from, and the extra of tclose that asks for it."""


def load(module: str) -> Any:
    """Return a module of an extra.

    Raises
    ------
    MissingExtraError
        It is not installed.
    """
    name = module.partition(".")[0]
    if find_spec(name) is None:
        package, extra = EXTRAS[name]
        raise MissingExtraError(f"This needs {package}, which is not installed: pip install 'tclose[{extra}]'.")
    return import_module(module)
