"""The published quasi-identifiers as a reader sees them: how often each value occurs, and how coarse the values are, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tclose.judge.boxes import ends_of_range, is_masked, set_members
from tclose.judge.result import Audit
from tclose.report.labels import percent
from tclose.values.exact import about, number_of
from tclose.values.hierarchy import printed

DAY = 86_400_000_000
"""Microseconds, the unit of positions of dates."""
ANY = ("*", "any value")
OR_MISSING = " or missing"
OPEN = ("less than ", " or more", " or less")
ONE_VALUE = " is one value"
"""How the codebook says that there is a top or a bottom."""


@dataclass(frozen=True, eq=False)
class PublishedColumn:
    """A published column of a quasi-identifier.

    Attributes
    ----------
    name : str
    values : list of str
        Different published values as they print, ascending; "missing" for a missing one.
    counts : (values,) int64
        The rows with each of them.
    """

    name: str
    values: list[str]
    counts: np.ndarray[Any, np.dtype[np.int64]]


def published_columns(audit: Audit) -> dict[str, PublishedColumn]:
    """Return the published columns of all quasi-identifiers, with the rows at each value, by their names."""
    found = {}
    for name, column in audit.quasi.items():
        coded = column.dictionary_encode(null_encoding="encode")
        values = ["missing" if value is None else printed(value) for value in coded.dictionary.to_pylist()]
        rows = np.bincount(coded.indices.to_numpy(), weights=audit.sizes, minlength=len(values)).astype(np.int64)
        found[name] = PublishedColumn(name, values, rows)
    return found


def coarseness_of(name: str, columns: Mapping[str, PublishedColumn], audit: Audit, holds: str) -> list[tuple[float, str]]:
    """Return how coarse the published values of a quasi-identifier are: shares of the rows, largest first, each with words.

    Parameters
    ----------
    holds
        What the codebook says of the column. Nobody can tell from the release how many values a label of a hierarchy stands for.

    Examples
    --------
    [(0.96, "in ranges 8.6 wide on average"), (0.04, "as they are")]
    """
    if name not in columns:
        return [(1.0, _bounds_in_words(name, audit))]
    if holds.startswith("The mean"):
        return [(1.0, MEANS)]
    column = columns[name]
    kinds = [_kind_of(value) for value in column.values]
    rows = int(column.counts.sum())
    found = []
    for kind, words in WORDS.items():
        own = [(width, int(count)) for (one, width), count in zip(kinds, column.counts, strict=True) if one == kind]
        if own:
            of = sum(count for _, count in own)
            mean = sum(width * count for width, count in own) / of
            found.append((of / rows, words.format(about(mean) if kind in ("range", "day") else f"{mean:.1f}")))
    labels = "hierarchy" in holds and not any(kind == "masked" for kind, _ in kinds)
    if labels:
        number = sum(kind == "single" for kind, _ in kinds)
        found = [
            (
                share,
                f"as {number_of(number, 'value or group', 'values or groups')} of its hierarchy" if words == SINGLE else words,
            )
            for share, words in found
        ]
    return sorted(found, key=lambda part: -part[0])


SINGLE, MEANS = "as they are", "as means over each class"
WORDS = {
    "range": "in ranges {} wide on average",
    "day": "in ranges of {} days on average",
    "set": "in sets of {} values on average",
    "masked": "with {} characters hidden on average",
    "open": "in ranges that are open at one end",
    "any": "as * (any value)",
    "single": SINGLE,
}
"""How each kind of published value is called."""


def is_in_ranges(words: str) -> bool:
    """Whether words say how wide ranges are.

    >>> is_in_ranges("in ranges 8.6 wide on average"), is_in_ranges("in ranges that are open at one end")
    (True, False)
    """
    return words.startswith("in ranges ") and words != WORDS["open"]


def coarseness_in_words(found: Sequence[tuple[float, str]], rows: int, least: int) -> str:
    """Return how a quasi-identifier is published, as the screen of a release says it: unchanged values first, then coarse ones.

    Shares of fewer than ``least`` of the ``rows`` are not told.

    >>> coarseness_in_words([(0.79, "as they are"), (0.21, "in sets of 2.6 values on average")], 1000, 5)
    '79.0% of the rows as they are; the others in sets of 2.6 values on average'
    >>> coarseness_in_words([(1.0, "as they are")], 1000, 5)
    'as it is'
    """
    if len(found) == 1:
        return "as it is" if found[0][1] == SINGLE else found[0][1]
    small = min(share for share, _ in found) * rows < least
    order = sorted(found, key=lambda part: part[1] != SINGLE)  # a stable order: the largest share of the coarse ones first
    shares = [("most" if share > 1 / 2 else "some") if small else percent(share) for share, _ in order]
    if len(order) == 2:  # what is not the one is the other
        shares[1] = "the others"
    first, *others = (f"{share} {what}" for share, (_, what) in zip(shares, order, strict=True))
    rows_of = " rows " if small else " of the rows "
    return "; ".join([first.replace(" ", rows_of, 1), *others])


def how_wide(*, trees: bool) -> str:
    """Return what detail lost is, and who can compute it; ``trees`` is whether a quasi-identifier has a hierarchy.

    A hierarchy is not in the certificate, so what a label stands for is known only to those who have it.
    """
    if not trees:
        return "how wide the published values are, as a share of all that is published. Any reader can compute it."
    return (
        "how wide the published values are, as a share of all that is published, or of the whole hierarchy. Any reader can "
        "compute it; of a column with a hierarchy, whoever has the hierarchy."
    )


def ends_in_words(holds: str) -> str:
    """Return beyond which ends all values of a quasi-identifier are published as one, after what the codebook says of it.

    >>> ends_in_words("The range of 'pay' among the rows of the class, widened to a grid of 200; 1000 or more is one value.")
    '; 1000 or more is one value'
    """
    return "".join(f"; {part}" for part in holds.removesuffix(".").split("; ") if part.endswith(ONE_VALUE))


def _kind_of(label: str) -> tuple[str, float]:
    """Return the kind of a published value, and how long its range is, how many values its set has, or how much is hidden."""
    text = label.removesuffix(OR_MISSING)
    if text in ANY:
        return "any", 0
    if text.startswith("{") and (members := set_members(text)):
        return "set", len(members)
    for kind, dates in (("range", False), ("day", True)):
        low, high = ends_of_range(text, dates=dates)
        if low is not None and high is not None and (text.startswith("[") or not dates):
            length = float(high[1] - low[1])
            return ("single", 0) if length == 0 else (kind, length / DAY if dates else length)
    if text.startswith(("[", OPEN[0])) or text.endswith(OPEN[1:]):
        return "open", 0
    return ("masked", len(text) - len(text.rstrip("*"))) if is_masked(text) else ("single", 0)


def _bounds_in_words(name: str, audit: Audit) -> str:
    """Return how far the bounds of a quasi-identifier are apart, which is published in two columns."""
    sides = [audit.quasi.get(f"{name}.{side}") for side in ("min", "max")]
    try:
        low, high = (np.array([float(value) for value in side.to_pylist()]) for side in sides)  # type: ignore[union-attr]
    except (TypeError, ValueError, AttributeError):  # dates, missing cells, or no bounds
        return "as bounds"
    return f"between bounds that differ by {about(float(((high - low) * audit.sizes).sum() / audit.sizes.sum()))} on average"
