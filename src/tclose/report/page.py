"""Pages: one HTML file with all that it needs. Every value is shown harmlessly: escaped, on one line, and cut if it is long."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from tclose.errors import OutputError
from tclose.extras import load
from tclose.report.glossary import terms_on
from tclose.tables.files import check_target, write_whole
from tclose.values.exact import decimal_up, number_of, plain
from tclose.values.visible import visible

LONGEST = 200
"""Characters of one value, at most."""

LONGEST_TEXT = 20_000
"""Characters of one text of the policy's context, at most."""

INTERNAL = "internal"
"""What the name of an internal report's file has in it."""


def render(template: str, **facts: Any) -> str:
    """Return a page: a template of this package filled with facts."""
    return str(_environment().get_template(template).render(facts))


def write_page(page: str, path: Path, *, internal: bool, force: bool) -> None:
    """Write a page to a file, whole or not at all; only its owner may read an internal one."""
    write_whole(path, lambda beside: beside.write_bytes(page.encode("utf-8", "backslashreplace")), force=force, private=internal)


def check_page(path: Path, *, internal: bool | None, force: bool, inputs: Any = ()) -> None:
    """Raise, before long work, if a page cannot be made or written, or is not named as what it is.

    Parameters
    ----------
    internal
        Whether the name must say that the page is internal; None if it may.
    """
    for package in ("jinja2", "vl_convert"):
        load(package)
    if path.suffix.lower() not in (".html", ".htm"):
        raise OutputError(f"A report must end in .html. Got {path.name!r}.")
    if internal and INTERNAL not in path.name.lower():
        raise OutputError(
            f"The name of an internal report must say so, for example {path.stem}.internal.html. Got {path.name!r}."
        )
    if internal is False and INTERNAL in path.name.lower():
        raise OutputError(f"This report is public, and its name says that it is internal. Got {path.name!r}.")
    check_target(path, force=force, inputs=inputs)


def make_page(make: Callable[[], str], path: str | Path | None, *, force: bool) -> str:
    """Return an internal page, and write it to a file if a path is given; whether it can be is checked before it is made."""
    if path is None:
        return make()
    check_page(Path(path), internal=None, force=force)
    page = make()
    write_page(page, Path(path), internal=True, force=force)
    return page


def report_paths(path: Path, tables: int | None) -> list[Path]:
    """Return the paths of the reports of a release, or of several tables: report.html becomes report.1.html and so on."""
    if tables is None:
        return [path]
    return [path.with_name(f"{path.stem}.{number}{path.suffix}") for number in range(1, tables + 1)]


def shown(value: Any) -> str:
    """Return a value for a page: on one line, control characters as their escapes, and cut if it is long.

    >>> print(shown("a" * 1000 + "b")[-40:])
    aaaaaaaaaaaaaaaaa ... (1,001 characters)
    """
    text = value if isinstance(value, str) else str(value)
    return visible(text) if len(text) <= LONGEST else f"{visible(text[:LONGEST])} ... ({len(text):,} characters)"


def _not_shown(text: str) -> list[str]:
    """Return a sentence on how many characters of a text are not shown; none if it is not too long.

    >>> _not_shown("a" * 20_002)
    ['... 2 more characters are not shown.']
    """
    more = len(text) - LONGEST_TEXT
    return [f"... {number_of(more, 'more character is', 'more characters are')} not shown."] if more > 0 else []


@cache
def _environment() -> Any:
    """Return the environment of the templates: every value passes `shown` and is escaped."""
    jinja2, markup = load("jinja2"), load("markupsafe").Markup

    def finalize(value: Any) -> Any:
        return value if isinstance(value, markup) else shown(value)

    def prose(text: str) -> Any:
        """Return a sentence of ours, which may be longer than a value of a table, escaped."""
        return markup.escape(" ".join([visible(text[:LONGEST_TEXT]), *_not_shown(text)]))

    def paragraphs(text: str) -> list[Any]:
        """Return the paragraphs of a text of the context: it may be longer than a value. A long one is cut with a count."""
        lines = [visible(line) for line in text[:LONGEST_TEXT].splitlines() if line.strip()]
        return [markup.escape(line) for line in (*lines, *_not_shown(text))]

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["paragraphs"] = paragraphs
    environment.filters["prose"] = prose
    environment.filters["up"] = decimal_up
    environment.filters["plain"] = plain
    environment.filters["terms"] = terms_on
    environment.filters["svg"] = markup  # of our own charts, whose texts are escaped
    return environment
