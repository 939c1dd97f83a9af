"""The screen of a release: the verdict, what was asked and attained, the information loss, and who may still be found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tclose.cli.printing import Columns, Screen
from tclose.cli.screen import SATISFIED, WHAT_T_IS, how_read, limits_table, listed_names, size
from tclose.values.exact import number_of

if TYPE_CHECKING:
    from tclose.release.release import Release

USELESS = 0.9
"""With an information loss above this, a release says little of its quasi-identifiers."""


def show_release(release: Release, paths: list[Path]) -> None:
    """Print what a release attains, its information loss, and where it is."""
    screen = Screen()
    audit = release.audit
    gone = number_of(release.suppressed, "row") if release.suppressed else "none"
    screen.tell(SATISFIED)
    screen.tell(f"{paths[0].name}: {size(audit)}, {gone} suppressed")
    screen.print()
    screen.print(limits_table(audit, promised=release.certificate.get("promised"), judged=False))
    screen.tell(WHAT_T_IS)
    screen.print()
    _show_loss(screen, release)
    _show_unique(screen, release)
    for line in how_read(release.readings):
        screen.tell(line)
    screen.print()
    notes = ("the release", "public: what was asked and attained", "INTERNAL: never publish it", "public: what each column holds")
    width = max(len(str(path)) for path in paths)
    for path, note in zip(paths, notes, strict=True):
        screen.tell(f"  {path!s:<{width}}  {note}")


def _show_loss(screen: Screen, release: Release) -> None:
    gcp = release.loss["gcp"]
    screen.tell(f"{100 * gcp:.0f}% of the detail of the quasi-identifiers is lost (GCP {gcp:.4f}; 0 is all detail, 1 none):")
    table = Columns("", "detail lost", "published")
    for name, lost in release.loss.by_attribute["gcp"].items():
        table.row(f"  {name}", f"{100 * lost:.0f}%", release._details.in_words.get(name, ""))
    table.columns[2].justify = "left"
    screen.print(table)
    if gcp > USELESS:
        screen.tell("Nearly all that the quasi-identifiers say is lost. Loosen the limits, or name fewer quasi-identifiers.")


def _show_unique(screen: Screen, release: Release) -> None:
    """Print how many rows differ from all others, which column makes them differ, and what to do about it."""
    unique = release.certificate["unique_rows"]
    roles = {column["name"]: column["role"] for column in release.certificate["columns"]}
    kept = [name for name, role in roles.items() if role == "kept"]
    if kept:
        screen.tell(f"Published as {'it is' if len(kept) == 1 else 'they are'}: {listed_names(kept)}.")
    if not unique:
        screen.tell("Every row has another that is the same in all columns.")
        return
    differ = "differs" if unique == 1 else "differ"
    screen.tell(
        f"{unique:,} of {number_of(release.audit.rows, 'row')} {differ} from all others when sensitive and kept columns are "
        "counted in: whoever knows those of a person, too, can find that row."
    )
    names = [name for name, role in roles.items() if role in ("kept", "sensitive")]
    telling = max(names, key=lambda name: len(release._details.coded[name].combine_chunks().dictionary))
    values = len(release._details.coded[telling].combine_chunks().dictionary)
    mend = (
        "Drop it or make it coarser" if roles[telling] == "kept" else "Publish it in bins (bins in the policy) or make it coarser"
    )
    without = release._details.unique_without(telling)
    others = f"without it {f'{without:,}' if without else 'none'} would"
    screen.tell(
        f"  The most telling column is {telling}, with {number_of(values, 'value')}; {others}. {mend}, if that is too many."
    )
