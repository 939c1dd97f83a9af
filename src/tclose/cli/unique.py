"""Unique rows on the screen: who could find one, and whether one column makes most of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tclose.cli.printing import Screen
from tclose.cli.screen import listed_names
from tclose.values.exact import number_of

if TYPE_CHECKING:
    from tclose.release.release import Release

NUMERIC = ("integer", "decimal", "float")
MOST_TRIED = 5
"""Columns without which unique rows are counted, at most: those with the most values."""
FEW = 10
"""Bins are not advised for a column with this many values, or fewer."""
HELPS = 0.5
"""To make a column coarser is advised only if without it at most this share of the unique rows would be left."""


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
    quantity = "" if len(others) == 1 else "both " if len(others) == 2 else "all of "
    before = "" if raw is None else f" (raw table: {raw:,})"
    alone = " By the quasi-identifiers alone no row is unique, because of k." if release.audit.k > 1 else ""
    screen.tell(
        f"{unique:,} of {number_of(release.audit.rows, 'row')} {'is' if unique == 1 else 'are'} unique when all published "
        f"columns are taken together{before}: somebody who knows the quasi-identifiers of a person, and "
        f"{quantity}{listed_names(others)}, may find the row.{alone} No limit is about this number, "
        "and 0 would be best."
    )
    screen.tell_below(_advice(release, unique, roles, others), 2)


def _advice(release: Release, unique: int, roles: dict[str, str], others: list[str]) -> str:
    """Return what would leave fewer unique rows: one column if it makes most of them, else all of them."""
    values = {name: len(release._details.coded[name].combine_chunks().dictionary) for name in others}
    tried = sorted(others, key=lambda name: -values[name])[:MOST_TRIED]
    left = {name: release._details.unique_without(name) for name in tried}
    telling = min(tried, key=lambda name: left[name])
    count = f"{left[telling]:,}" if left[telling] else "none"
    if left[telling] > HELPS * unique:
        numbers = [name for name in others if roles[name] == "sensitive" and release.readings[name].kind in NUMERIC]
        binned = {column.name for column in release._details.policy.sensitive if column.bins is not None}
        bins = "wider bins" if binned.issuperset(numbers) else "bins"
        wider = f", and so would {bins} of {listed_names(numbers)}" if numbers else ""
        return (
            f"No column makes that by itself: without {telling} {count} would still be unique. Fewer sensitive or kept columns "
            f"in one table would help{wider}."
        )
    mend = "Drop it, or make it coarser,"
    if roles[telling] == "sensitive":
        number = release.readings[telling].kind in NUMERIC
        binned = next(column.bins for column in release._details.policy.sensitive if column.name == telling) is not None
        many = number and not binned and values[telling] > FEW
        mend = "Publish it in bins (bins in the policy)," if many else "Make it coarser before you publish it,"
    source = f"{telling}, with {number_of(values[telling], 'value')}"
    return f"Most of that comes from {source}: without it {count} would be unique. {mend} if that is too many."
