"""The screen of a release: the verdict, what was asked and attained, the information loss, and who may still be found."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from tclose.cli.printing import Columns, Screen, words
from tclose.cli.screen import WHAT_T_IS, how_read, limits_table, listed_names, size, worst_classes
from tclose.make.registry import DEFAULT
from tclose.policy.models import asked_of
from tclose.release.certificate import edges_in_words
from tclose.report.attained import SATISFIED
from tclose.values.exact import number_of, plain

if TYPE_CHECKING:
    from tclose.release.release import Release
    from tclose.release.release_set import ReleaseSet
    from tclose.release.spark_release import SparkRelease

ANOTHER = 0.005
"""Two figures of one information loss that differ by more are explained."""
USELESS = 0.9
"""With an information loss above this, a release says little of its quasi-identifiers."""


def show_release(release: Release, paths: list[Path]) -> None:
    """Print the screen of a release: what it attains, its information loss, unique rows, and its files."""
    screen = Screen()
    _show_attained(screen, release, paths[0])
    for line in how_read(release.readings):
        screen.tell(line)
    screen.print()
    show_paths(screen, paths)


def _show_attained(screen: Screen, release: Release, path: Path) -> None:
    """Print the verdict on a release, what it attains, its information loss, and how many rows differ from all others."""
    audit = release.audit
    gone = number_of(release.suppressed, "row") if release.suppressed else "none"
    screen.tell(words(SATISFIED, style="bold green"))
    screen.tell(f"{path.name}: {size(audit)}, {gone} suppressed")
    screen.print()
    screen.print(limits_table(audit, promised=release.certificate.get("promised"), judged=False))
    screen.tell(WHAT_T_IS)
    for sentence in worst_classes(audit):
        screen.tell(sentence)
    limited = {column.name for _, column in asked_of(audit.policy) if column is not None}
    free = [column.name for column in audit.policy.sensitive if column.name not in limited]
    if free:
        screen.tell(
            words(
                f"No limit was asked for {listed_names(free)}: a class may give away what its people have there. Give each a "
                f"limit in the policy, as {free[0]}: {{t: 0.2}}.",
                style="bold yellow",
            )
        )
    if audit.policy.edges > 1:
        promise = edges_in_words(audit.policy.edges)
        screen.tell(f"{promise[0].upper()}{promise[1:]} (edges: checked with the raw table).")
    screen.print()
    _show_loss(screen, release, release._details.in_words)
    _show_unique(screen, release)


def show_paths(screen: Screen, paths: list[Path]) -> None:
    """Print the files of a release, and what each is."""
    notes = ("the release", "public: what was asked and attained", "INTERNAL: never publish it", "public: what each column holds")
    width = max(len(str(path)) for path in paths)
    for path, note in zip(paths, notes, strict=True):
        screen.tell(f"  {path!s:<{width}}  {note}")


def show_release_set(releases: ReleaseSet, paths: list[list[Path]]) -> None:
    """Print each of several tables, and what someone would see who joins them."""
    screen, joined = Screen(), releases.joined
    for number, (release, written) in enumerate(zip(releases.releases, paths, strict=True), start=1):
        screen.tell(f"Table {number} of {len(paths)}: {listed_names(joined.tables[number - 1])}")
        _show_attained(screen, release, written[0])
        show_paths(screen, written)
        screen.print()
    for line in how_read(releases.releases[0].readings):
        screen.tell(line)
    screen.print()
    least, k = joined.smallest_intersection, releases.releases[0].audit.policy.k
    screen.tell(
        "The limits are satisfied by each table by itself. Someone who joins the tables by the quasi-identifiers of a person "
        f"may be left with {number_of(least, releases.releases[0].certificate['counted'].removesuffix('s'))}, and k is {k}."
    )
    screen.tell(f"{100 * joined.association_lost:.0f}% of the association between sensitive columns is in no table:")
    table = Columns("", "association", "")
    for pair in sorted(joined.associations, key=lambda pair: -pair.strength):
        table.row(f"  {pair.between[0]} and {pair.between[1]}", f"{pair.strength:.4f}", "kept" if pair.kept else "lost")
    screen.print(table)
    screen.tell("How often the best guess of a value is right, for someone who knows the class of a person:")
    table = Columns("", "by the class", "and the other values of its table", "all other values, in one table")
    for name, guess in joined.guesses.items():
        table.row(f"  {name}", *(f"{100 * share:.0f}%" for share in (guess.by_class, guess.by_join, guess.if_joined)))
    screen.print(table)


def show_spark_release(release: SparkRelease, paths: list[Path]) -> None:
    """Print the screen of a release on Spark: what it attains, its information loss, and its files."""
    screen, audit = Screen(), release.audit
    screen.tell(words(SATISFIED, style="bold green"))
    screen.tell(f"{paths[0].name}: {size(audit)}, none suppressed")
    screen.print()
    table = Columns("", "attained", "asked")
    for model, column in asked_of(audit.policy):
        attained = Fraction(audit.k) if column is None else audit.sensitive[column.name].worst(model.key)
        limit = model.limit(audit.policy, column)
        asked = "" if limit is None else f"{plain(limit)} or {'more' if model.at_least else 'less'}"
        table.row(model.name if column is None else f"{model.name} of {column.name}", model.rounded(attained), asked)
    screen.print(table)
    screen.tell(WHAT_T_IS)
    screen.print()
    _show_loss(screen, release, release.in_words)
    for line in how_read(release.readings):
        screen.tell(line)
    screen.print()
    show_paths(screen, paths)


def _show_loss(screen: Screen, release: Release | SparkRelease, in_words: Mapping[str, str]) -> None:
    """Print the information loss of a release, in all and for each quasi-identifier."""
    gcp = release.loss["gcp"]
    screen.tell(f"{100 * gcp:.0f}% of the detail of the quasi-identifiers is lost (GCP {gcp:.4f}; 0 is all detail, 1 none):")
    table = Columns("", "detail lost", "published")
    for name, lost in release.loss.by_attribute["gcp"].items():
        table.row(f"  {name}", f"{100 * lost:.0f}%", in_words.get(name, ""))
    table.columns[2].justify = "left"
    screen.print(table)
    seen = release.certificate["loss"].get("gcp")
    if seen is not None and abs(seen - gcp) >= ANOTHER:
        screen.tell(
            f"The certificate and the report have GCP {seen:.4f}: a reader does not know your table, and compares with what is "
            "published."
        )
    if gcp > USELESS:
        advice = "" if release.record["algorithm"] in (DEFAULT, "codip") else f" Or choose {DEFAULT}, which usually loses less."
        screen.tell(
            f"Nearly all that the quasi-identifiers say is lost. Loosen the limits, or name fewer quasi-identifiers.{advice}"
        )


def _show_unique(screen: Screen, release: Release) -> None:
    """Print the number of rows that differ from all others, the column that makes most of them differ, and advice."""
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
    differ = "differs" if unique == 1 else "differ"
    before = "" if raw is None else f" (raw table: {raw:,})"
    alone = "By the quasi-identifiers alone it is 0, which k sees to; n" if release.audit.k > 1 else "N"
    screen.tell(
        f"{unique:,} of {number_of(release.audit.rows, 'row')} {differ} from all others when sensitive and kept columns are "
        f"counted in{before}: anyone who knows all of those of a person, too, can find that row. {alone}o limit is about this "
        "number, and 0 would be best."
    )
    names = [name for name, role in roles.items() if role in ("kept", "sensitive")]
    telling = max(names, key=lambda name: len(release._details.coded[name].combine_chunks().dictionary))
    values = len(release._details.coded[telling].combine_chunks().dictionary)
    mend = "Drop it or make it coarser"
    if roles[telling] == "sensitive":
        number = release.readings[telling].kind in ("integer", "decimal", "float")
        binned = next(column.bins for column in release._details.policy.sensitive if column.name == telling) is not None
        mend = "Publish it in bins (bins in the policy)" if number and not binned else "Make it coarser before you publish it"
    without = release._details.unique_without(telling)
    others = f"without it {f'{without:,}' if without else 'none'} would"
    screen.tell(
        f"  The most telling column is {telling}, with {number_of(values, 'value')}; {others}. {mend}, if that is too many."
    )
