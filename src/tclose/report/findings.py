"""What attacks, utility and a comparison found, read again from the JSON files that an internal report is given."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from tclose.release.entries import Count, Difference, Entry, Error, Share, read_entries
from tclose.study.compare.record import CellsEntry

Pair = Field(min_length=2, max_length=2)


class RateEntry(Entry):
    """How often an attack is right; see `tclose.study.attacks.record.Rate`."""

    share: Share


class AttackFiguresEntry(Entry):
    """Further figures of an attack, as far as a page shows them."""

    known: str | None = None


class AttackEntry(Entry):
    """One attack; see `tclose.study.attacks.record.Attack`."""

    name: str
    sensitive: str | None
    knows: str
    does: str
    says: str
    lowers: str
    before: Share | None
    members: RateEntry
    controls: RateEntry | None
    excess: Difference | None
    interval: Annotated[list[Difference], Pair] | None
    figures: AttackFiguresEntry = AttackFiguresEntry()

    @model_validator(mode="after")
    def _is_compared_or_not(self) -> Self:
        """Raise ValueError for an excess without controls, or controls without one."""
        if not (self.controls is None) == (self.excess is None) == (self.interval is None):
            raise ValueError("an attack has an excess and nobody to compare with, or the other way round")
        return self


class AttacksEntry(Entry):
    """What `tclose.attack` found."""

    internal: Literal[True]
    members: Count
    controls: Count
    attacks: list[AttackEntry]
    skipped: list[str]


class BandEntry(Entry):
    """Queries that have about as many answers; see `tclose.study.utility.queries.Band`."""

    low: Share
    high: Share
    queries: Count
    median: Error | None


class QueriesEntry(Entry):
    """The errors of random COUNT queries."""

    bands: list[BandEntry]


class ColumnEntry(Entry):
    """A column before and after; see `tclose.study.utility.columns.ColumnKept`."""

    name: str
    labels: Annotated[list[str], Field(min_length=1)]
    before: list[Share]
    after: list[Share]
    moved: Share

    @model_validator(mode="after")
    def _has_shares_for_each_label(self) -> Self:
        """Raise ValueError for shares that are more or fewer than the labels."""
        if not len(self.labels) == len(self.before) == len(self.after):
            raise ValueError("a column has shares without labels, or labels without shares")
        return self


class AssociationEntry(Entry):
    """How strongly two columns go together; see `tclose.study.utility.associations.Association`."""

    columns: Annotated[list[str], Pair]
    before: Share
    after: Share


class ModelEntry(Entry):
    """How often models guess a sensitive column; see `tclose.study.utility.models.Model`."""

    target: str
    constant: Share
    released: Share
    raw: Share


class UtilityEntry(Entry):
    """What `tclose.utility` found."""

    internal: Literal[True]
    queries: QueriesEntry
    columns: list[ColumnEntry]
    associations: list[AssociationEntry]
    models: list[ModelEntry]
    skipped: list[str]


class ComparedEntry(Entry):
    """What was compared; see `tclose.study.compare.comparison.Compared`."""

    rows: Count
    persons: Count
    held_back: Count
    quasi: list[str]
    sensitive: list[str]


class ComparisonEntry(CellsEntry):
    """What `tclose.compare` found; its record has the same entries."""

    internal: Literal[True]
    compared: ComparedEntry | None = None


_FORMS: dict[str, tuple[type[Entry], str]] = {
    "attacks": (AttacksEntry, "the output of 'tclose attack --json'"),
    "utility": (UtilityEntry, "the JSON of tclose.utility"),
    "comparison": (ComparisonEntry, "the record of 'tclose compare', or its output with --json"),
}


def read_findings(path: Path, kind: str) -> dict[str, Any]:
    """Return what "attacks", "utility" or a "comparison" found, from a JSON file.

    Raises
    ------
    InputError
        The file is something else, or damaged.
    """
    form, what = _FORMS[kind]
    return read_entries(path, form, what, "Make it again.").model_dump()
