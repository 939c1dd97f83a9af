"""Columns of text that are nearly numbers or dates: what most of their cells are, and which cells are not."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

import ibis

from tclose.tables.forms import COMMA, is_moment, shape, written_as
from tclose.tables.moments import MOMENT
from tclose.tables.types import DECIMAL, PUBLISHED, is_date
from tclose.tables.written import Nearly
from tclose.values.notation import DateForm

WORDS = (
    "NA", "N/A", "n/a", "na", "NaN", "null", "NULL", "Null", "None", "none", "?", "-", "--", ".", "missing", "unknown", "#N/A",
    "",
)  # fmt: skip
"""Texts that are known to mean "no value". No sentence quotes any other cell."""

FORMS = {
    words: DateForm(words)
    for words in (
        "DD.MM.YYYY", "DD/MM/YYYY", "MM/DD/YYYY", "DD-MM-YYYY", "MM-DD-YYYY", "YYYY/MM/DD", "YYYY.MM.DD", "D.M.YYYY", "D/M/YYYY",
        "M/D/YYYY", "DD.MM.YYYY hh:mm", "DD.MM.YYYY hh:mm:ss", "DD/MM/YYYY hh:mm", "MM/DD/YYYY hh:mm",
    )
}  # fmt: skip
"""Forms of dates that are looked for. Ties: the first wins."""

FEW = 10
"""A column is nearly numbers if at most one cell in ten is not a number, or all cells that are not are known words."""

_CODE = r"^[+0][0-9]+$"
"""A number that begins with a zero or a plus, as a zip code or a telephone number: it is meant as text."""


def nearly(sample: Sequence[str], values: Callable[[], Any]) -> Nearly | None:
    """Return what nearly all cells of a text column are, numbers or dates; None if they are text, or those of a release.

    Parameters
    ----------
    sample
        Some cells that are not missing.
    values
        Called if the sample is likely to be numbers or dates: an ibis table of the values of the column, ``cell``, each with its
        number of rows, ``n``, and the first of them, ``row``.
    """
    likely = _likely_forms(sample)
    if not likely:
        return None
    found = values().filter(ibis._.cell.notnull())
    counts = _counts_of_forms(found, likely)
    cells = counts.pop("cells")
    what = max(likely, key=counts.__getitem__)  # ties: the first wins
    odd, row, words = cells - counts[what], 0, []
    if odd:
        others = found.filter(~_tests_of_forms(found.cell, [what])[what])
        facts = others.agg(
            row=others.row.min(),
            known=others.cell.isin(WORDS).ifelse(others.n, 0).sum(),
            meant=(others.cell.re_search(_CODE) | others.cell.re_search(PUBLISHED)).any(),
        )
        row, known, meant = facts.to_pyarrow().to_pylist()[0].values()
        if meant or 2 * odd > cells or (known < odd and odd * FEW > cells):
            return None
        words = sorted(others.cell.to_pyarrow().to_pylist()) if known == odd else []
    shapes = found.filter(is_moment(found.cell)).select(form=shape(found.cell)).form.nunique() if what == "moment" else None
    twins = (
        tuple(form for form in likely if form in FORMS and form != what and counts[form] == counts[what]) if what in FORMS else ()
    )
    return Nearly(what, twins, int(cells), int(odd), row, words, 0 if shapes is None else shapes.to_pyarrow().as_py())


def _likely_forms(cells: Sequence[str]) -> list[str]:
    """Return the forms of numbers and dates that at least half of a sample's cells have."""
    forms = {"number": DECIMAL, "comma": COMMA, "date": "[0-9]{4}-[0-9]{2}-[0-9]{2}", "moment": MOMENT}
    tests = {what: re.compile(form).fullmatch for what, form in forms.items()} | {
        words: form.fits for words, form in FORMS.items()
    }
    return [what for what, test in tests.items() if cells and 2 * sum(map(bool, map(test, cells))) >= len(cells)]


def _tests_of_forms(cell: Any, wanted: Collection[str]) -> dict[str, Any]:
    """Return for each form of numbers or dates a query's test whether a cell has it."""
    tests = {"number": cell.re_search(DECIMAL), "comma": cell.re_search(COMMA), "date": is_date(cell), "moment": is_moment(cell)}
    return {what: written_as(cell, FORMS[what]) if what in FORMS else tests[what] for what in wanted}


def _counts_of_forms(values: Any, wanted: list[str]) -> dict[str, int]:
    """Return the number of cells that have a value, and for each form the number of cells that have it."""
    tests = _tests_of_forms(values.cell, wanted)
    sums = {f"n{index}": tests[what].ifelse(values.n, 0).sum().fill_null(0) for index, what in enumerate(wanted)}
    found = values.agg(cells=values.n.sum().fill_null(0), **sums).to_pyarrow().to_pylist()[0]
    return dict(zip(("cells", *wanted), map(int, found.values()), strict=True))
