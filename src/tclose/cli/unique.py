"""Unique rows on the screen: who could find one, and whether one column makes most of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tclose.cli.printing import Screen
from tclose.cli.screen import listed_names
from tclose.study.propose.commented import flow, scalar
from tclose.values.arrays import Ints
from tclose.values.bins import in_order, quantile_starts
from tclose.values.exact import exact, number_of

if TYPE_CHECKING:
    from tclose.release.release import Details, Release

NUMERIC = ("integer", "decimal", "float")
MOST_TRIED = 5
"""Columns without which unique rows are counted, at most: those with the most values."""
FEW_BINS = 4
"""Bins of numbers with which unique rows are counted."""
WITHOUT_BINS = {"hierarchy", "matrix", "order"}
"""Settings of a sensitive column that cannot have bins."""
HELPS = 0.5
"""A change is said to help only if at most this share of the unique rows would be left."""


def show_unique(screen: Screen, release: Release) -> None:
    """Print the number of rows that are unique in all published columns together, and advice if it would help."""
    unique = release.certificate["unique_rows"]
    roles = {column["name"]: column["role"] for column in release.certificate["columns"]}
    kept = [name for name, role in roles.items() if role == "kept"]
    if kept:
        screen.tell(f"Published as {'it is' if len(kept) == 1 else 'they are'}: {listed_names(kept)}.")
    raw = release._details.unique_before
    if not unique:
        before = "" if raw is None else f" In the raw table {number_of(raw, 'row')} had none."
        screen.tell(f"Every row has another that is the same in all columns: that is the best there is.{before}")
        return
    others = [*(name for name, role in roles.items() if role == "sensitive"), *kept]
    raw_rows = "" if raw is None else f" (raw table: {raw:,})"
    found = f"{unique:,} of {number_of(release.audit.rows, 'row')} {'is' if unique == 1 else 'are'} unique"
    screen.tell(f"{found} when all published columns are taken together{raw_rows}{_who_finds(release, others, kept)}")
    if raw is not None and unique > raw:
        screen.tell("  They are more than in the raw table: rows that were equal there may be in different classes here.")
    screen.tell_below(_advice(release, unique, others), 2)


def _who_finds(release: Release, others: list[str], kept: list[str]) -> str:
    """Return the end of the sentence on unique rows: what somebody must know of a person to find the row."""
    if release.audit.k == 1:
        return f": somebody who knows the quasi-identifiers of a person, and {listed_names(others)}, may find the row."
    known = "sensitive or kept" if kept else "sensitive"
    many = 2 * release.certificate["unique_rows"] > release.audit.rows
    coarser = " If others may know such values, publish them coarser, or fewer of them." if many else ""
    return f", none by the quasi-identifiers alone: whoever also knows {known} values of a person may find the row.{coarser}"


def _advice(release: Release, unique: int, others: list[str]) -> str:
    """Return what would leave fewer unique rows, as it was counted: without the column that makes most of them, or in bins."""
    values = {name: len(release._details.coded[name].combine_chunks().dictionary) for name in others}
    tried = sorted(others, key=lambda name: -values[name])[:MOST_TRIED]
    left = {name: release._details.unique_without(name) for name in tried}
    telling = min(tried, key=lambda name: left[name])
    count = f"{left[telling]:,}" if left[telling] else "none"
    if left[telling] <= HELPS * unique:
        source = f"{telling}, with {number_of(values[telling], 'value')}"
        in_bins = _in_few_bins(release, unique, [telling], ", and in {} bins {}")
        return f"Most of that comes from {source}: without it {count} would be unique{in_bins}."
    in_bins = _in_few_bins(release, unique, others, "; with all sensitive numbers in {} bins each, {}")
    return f"No column makes that by itself: without {telling} {count} would still be unique{in_bins}."


def _in_few_bins(release: Release, unique: int, names: list[str], words: str) -> str:
    """Return how many rows would be unique if the sensitive numbers were in few bins; "" if that would not help."""
    numbers = [column.name for column in release.audit.policy.sensitive if release.readings[column.name].kind in NUMERIC]
    found = {name: few_bins(release._details, name) for name in names if name in numbers}
    left = release._details.unique_if(found)
    if left > HELPS * unique:
        return ""
    return f"{words.format(FEW_BINS, f'{left:,}' if left else 'none')}{_how_to_have_bins(release, list(found))}"


def _how_to_have_bins(release: Release, names: list[str]) -> str:
    """Return what to write in the policy for few bins, with the other settings of the first column that can have them."""
    asked = {name: release.record["policy"]["sensitive"][name] or {} for name in names}
    able = [name for name in names if WITHOUT_BINS.isdisjoint(asked[name]) and asked[name].get("distance") != "numeric"]
    if not able:
        return ""
    settings = {setting: value for setting, value in asked[able[0]].items() if setting != "publish"}  # of the values
    more = ", and so for the others" if len(able) > 1 else ""
    return f" (write {scalar(able[0])}: {flow({**settings, 'bins': FEW_BINS})}{more})"


def few_bins(details: Details, name: str) -> Ints:
    """Return the codes of the rows of a column if its numbers, or its bins, were put together to few bins."""
    cells = details.coded[name].combine_chunks().dictionary.to_pylist()
    labels = in_order(cells)
    rank = {cell: place for place, cell in enumerate(sorted(cells, key=exact) if labels is None else labels)}
    ranks = np.array([*(rank[cell] for cell in cells), len(cells)], dtype=np.int64)[details.codes_of(name)]  # missing cells last
    starts = quantile_starts(np.bincount(ranks, minlength=len(cells))[: len(cells)].tolist(), FEW_BINS)
    return np.where(ranks < len(cells), np.searchsorted(starts, ranks, side="right"), FEW_BINS)
