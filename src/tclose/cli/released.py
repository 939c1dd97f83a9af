"""The screen of a release: the verdict, what was asked and attained, the information loss, and who may still be found."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from tclose.cli.binned import OWN_BINS, fewer_bins
from tclose.cli.commonest import hardly_limited, largest_shares
from tclose.cli.printing import Columns, Screen, words
from tclose.cli.screen import WHAT_T_IS, how_read, in_doubt, limit_as_text, limits_table, listed_names, size
from tclose.cli.unique import show_unique
from tclose.make.registry import DEFAULT
from tclose.policy.models import asked_of
from tclose.release.certificate import edges_in_words
from tclose.release.detail import DetailLost, commonest_shares
from tclose.report.attained import SATISFIED
from tclose.report.labels import percent
from tclose.report.published import coarseness_in_words, coarseness_of, ends_in_words, published_columns
from tclose.study.propose.words import suggests_number_of_person
from tclose.values.exact import decimal_up, number_of

if TYPE_CHECKING:
    from tclose.policy import Policy
    from tclose.release.release import Release
    from tclose.release.release_set import ReleaseSet
    from tclose.release.spark_release import SparkRelease
    from tclose.tables.readings import Reading

OF_REPORT = ("in ranges ", "as labels that stand for ")
"""How the maker calls ranges that are published in one column, and labels of a hierarchy: the report has words of its own."""
SHORTER = {" of the rows": "", " on average": "", "in ranges that are open at one end": "in open ranges"}
"""Words of the report that a screen can do without: a header says what the figures are."""
EACH_A_PERSON = "; each row is taken for a person"
"""What a release without a unit assumes."""
ONE_ROW = (
    "The limits are about one row of a person: who knows several of their rows can combine the classes. tclose attack tries that."
)
"""What no limit says where persons have several rows."""
COARSE = 0.25
"""Columns with a hierarchy that lose more than this have their loss explained."""
USELESS = 0.9
"""With an information loss above this, a release says little of its quasi-identifiers."""


@dataclass(frozen=True)
class Asked:
    """The files of the command that made a release, from which the next commands are written.

    Attributes
    ----------
    policy : Path
    data : Path or None
        The raw table; None if it is no file that another command could read in the same way.
    """

    policy: Path
    data: Path | None


def show_release(
    release: Release, paths: list[Path], asked: Asked | None = None, reports: Sequence[Path] = (), notes: Sequence[str] = ()
) -> None:
    """Print the screen of a release: what it attains, its information loss, unique rows, its files, and what to do next.

    Parameters
    ----------
    asked
        The files of the command that made it; without them no next commands are shown.
    notes
        Lines on how the table was read.
    """
    screen = Screen()
    _show_doubts(screen, release.readings)
    _show_several_rows(screen, release)
    _show_dropped_persons(screen, release.audit.policy)
    _show_attained(screen, release, paths[0])
    for line in how_read(release.readings, notes):
        screen.tell(line)
    screen.print()
    show_paths(screen, paths, reports)
    if asked is not None:
        _show_next(screen, paths[0], asked)


def _show_doubts(screen: Screen, readings: Mapping[str, Reading]) -> None:
    """Print which columns may not be what they were read as: before the result, which they change."""
    for warning in in_doubt(readings):
        screen.tell(words(warning, style="bold yellow"))


def _show_dropped_persons(screen: Screen, policy: Policy) -> None:
    """Print which dropped columns may name persons, where nothing says whether persons have several rows."""
    dropped = [name for name in policy.drop if suggests_number_of_person(name)] if policy.unit is None else []
    if dropped:
        one = len(dropped) == 1
        screen.tell(
            f"{listed_names(dropped)} {'is' if one else 'are'} dropped. If {'it names' if one else 'one of them names'} persons "
            "who have several rows, name it in unit: it is not published, and k and l count persons."
        )


def _show_several_rows(screen: Screen, release: Release) -> None:
    """Print that persons may have several rows, where the policy does not say what a row is and rows look like it."""
    if release._details.like_before:
        screen.tell(
            words(
                f"Warning: {percent(release._details.like_before)} of the rows agree with the row before in all columns but one "
                "at most, as rows of one person do, and k counts rows. Name the column that names the persons in unit, or write "
                "unit: row if each row is a person.",
                style="bold yellow",
            )
        )


def _show_next(screen: Screen, release: Path, asked: Asked) -> None:
    """Print the commands that come next: what a reader checks, the page for those who decide, and the worst classes."""
    raw = [] if asked.data is None else ["--data", str(asked.data)]
    for before, command in (
        ("Next:", ["verify", str(release)]),
        ("For those who decide:", ["report", str(release), "--internal", *raw]),
        ("The classes farthest from the table:", ["audit", str(release), "-p", str(asked.policy)]),
    ):
        screen.tell_command(before, shlex.join(["tclose", *command]))


def _show_attained(screen: Screen, release: Release, path: Path) -> None:
    """Print the verdict on a release, what it attains, its information loss, and how many rows differ from all others."""
    audit = release.audit
    gone = number_of(release.suppressed, "row") if release.suppressed else "none"
    screen.tell(words(SATISFIED, style="bold green"))
    _show_unlimited(screen, audit.policy)
    screen.tell(f"{path.name}: {size(audit)}, {gone} suppressed{EACH_A_PERSON if audit.policy.unit is None else ''}")
    screen.print()
    screen.print(limits_table(audit, promised=release.certificate.get("promised"), judged=False))
    screen.tell(WHAT_T_IS)
    for sentence in largest_shares(release, commonest_shares(release)):
        screen.tell(sentence)
    if release.certificate["counted"] == "persons":
        screen.tell(ONE_ROW)
    for sentence in fewer_bins(audit):
        screen.tell(sentence, OWN_BINS)
    for sentence in hardly_limited(release):
        screen.tell(words(sentence, style="bold yellow"))
    if audit.policy.edges > 1:
        promise = edges_in_words(audit.policy.edges)
        screen.tell(f"{promise[0].upper()}{promise[1:]} (edges: checked with the raw table).")
    screen.print()
    _show_loss(screen, release, _published_in_words(release))
    show_unique(screen, release)


def _show_unlimited(screen: Screen, policy: Policy) -> None:
    """Print which sensitive columns have no limit: beside the verdict, which says nothing of them."""
    limited = {column.name for _, column in asked_of(policy) if column is not None}
    free = [column.name for column in policy.sensitive if column.name not in limited]
    if free:
        screen.tell(
            words(
                f"No limit was asked for {listed_names(free)}: a class may give away what its people have there. Give each a "
                f"limit in the policy, as {free[0]}: {{t: 0.2}}.",
                style="bold yellow",
            )
        )


def show_paths(screen: Screen, paths: list[Path], reports: Sequence[Path] = ()) -> None:
    """Print the files of a release and its reports, and what each is."""
    notes = ("the release", "public: what was asked and attained", "INTERNAL: never publish it", "public: what each column holds")
    files = [*paths, *reports]
    width = max(len(str(path)) for path in files)
    for path, note in zip(files, [*notes, *["public: a report"] * len(reports)], strict=True):
        screen.tell(f"  {path!s:<{width}}  {note}")


def show_release_set(releases: ReleaseSet, paths: list[list[Path]], notes: Sequence[str] = ()) -> None:
    """Print each of several tables, and what someone would see who joins them; ``notes`` say how the table was read."""
    screen, joined = Screen(), releases.joined
    _show_doubts(screen, releases.releases[0].readings)
    _show_several_rows(screen, releases.releases[0])
    for number, (release, written) in enumerate(zip(releases.releases, paths, strict=True), start=1):
        screen.tell(f"Table {number} of {len(paths)}: {listed_names(joined.tables[number - 1])}")
        _show_attained(screen, release, written[0])
        show_paths(screen, written)
        screen.print()
    for line in how_read(releases.releases[0].readings, notes):
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


def show_spark_release(release: SparkRelease, paths: list[Path], asked: Asked, reports: Sequence[Path] = ()) -> None:
    """Print the screen of a release on Spark: what it attains, its information loss, and its files."""
    screen, audit = Screen(), release.audit
    _show_doubts(screen, release.readings)
    _show_dropped_persons(screen, audit.policy)
    screen.tell(words(SATISFIED, style="bold green"))
    _show_unlimited(screen, audit.policy)
    screen.tell(f"{paths[0].name}: {size(audit)}, none suppressed{EACH_A_PERSON if audit.policy.unit is None else ''}")
    screen.print()
    table = Columns("", "attained", "asked")
    for model, column in asked_of(audit.policy):
        limit = model.limit(audit.policy, column)
        told = "" if limit is None else f"{limit_as_text(limit)} or {'more' if model.at_least else 'less'}"
        if column is None:
            who, attained = ("rows", audit.k) if audit.k_persons is None else ("persons", audit.k_persons)
            table.row(model.label.format(who), f"{attained:,}", told)
        else:
            worst = audit.sensitive[column.name].worst(model.key)
            table.row(model.label.format(column.name), f"{int(worst):,}" if model.whole else model.rounded(worst), told)
    alike = audit.homogeneous["rows"]
    table.row("rows in classes with one sensitive value", f"{alike:,} ({decimal_up(Fraction(100 * alike, audit.rows), 1)}%)", "")
    screen.print(table)
    screen.tell(WHAT_T_IS)
    for sentence in largest_shares(release, {}):  # the table's counts are not at home
        screen.tell(sentence)
    if release.certificate["counted"] == "persons":
        screen.tell(ONE_ROW)
    screen.print()
    _show_loss(screen, release, release.in_words)
    for line in how_read(release.readings):
        screen.tell(line)
    screen.print()
    show_paths(screen, paths, reports)
    _show_next(screen, paths[0], asked)


def show_unconfirmed(policy: Path) -> None:
    """Print that nobody has confirmed the roles in the file of a policy."""
    Screen().tell(
        words(
            f"The roles of the columns are a proposal that nobody has confirmed: {policy} still has the line NOT CONFIRMED. "
            "Check each column, then delete the line.",
            style="bold yellow",
        )
    )


def _published_in_words(release: Release) -> dict[str, str]:
    """Return how each quasi-identifier is published; ranges and labels in the words of the report, read from published values.

    Those of the maker count a range that is open at one end up to the last value of the table, and the values behind a label.
    """
    audit, columns = release.audit, published_columns(release.audit)
    holds = {column["name"]: column["holds"] for column in release.certificate["columns"]}
    return {
        name: coarseness_in_words(coarseness_of(name, columns, audit, holds[name]), audit.rows, 1)
        if any(words in own for words in OF_REPORT)
        else own
        for name, own in release._details.in_words.items()
    }


def _show_loss(screen: Screen, release: Release | SparkRelease, in_words: Mapping[str, str]) -> None:
    """Print the information loss of a release, in all and for each quasi-identifier, in the figures of its report."""
    lost = DetailLost.of(release)
    published = " in the rows that are published" if release.suppressed else ""
    explained = "; the report explains it" if len(lost.against_input) < len(lost.by_column) else ""
    screen.tell(
        f"{percent(lost.overall)} of the detail of the quasi-identifiers is lost{published} (GCP {lost.overall:.3f}; 0 is all "
        f"detail, 1 none{explained}):"
    )
    table = Columns("", "detail lost", "published (of the rows; on average)")
    ends = {column["name"]: ends_in_words(column["holds"]) for column in release.certificate["columns"]}
    for name, share in lost.by_column.items():
        mark = " *" if name in lost.against_input else "  " if lost.against_input else ""
        said = in_words.get(name, "") + ends.get(name, "")
        for long, short in SHORTER.items():
            said = said.replace(long, short)
        table.row(f"  {name}", f"{percent(share)}{mark}", said)
    table.columns[-1].justify = "left"
    screen.print(table)
    if lost.against_input:
        others = "" if len(lost.against_input) == len(lost.by_column) else " The figure of all columns is that of the others."
        screen.tell(f"* As a share of what your table has: readers cannot compute it, and the report does not state it.{others}")
    _show_coarse_labels(screen, release, lost)
    if lost.overall > USELESS:
        advice = "" if release.record["algorithm"] in (DEFAULT, "codip") else f" Or choose {DEFAULT}, which usually loses less."
        screen.tell(
            f"Nearly all that the quasi-identifiers say is lost. Loosen the limits, or name fewer quasi-identifiers.{advice}"
        )


def _show_coarse_labels(screen: Screen, release: Release | SparkRelease, lost: DetailLost) -> None:
    """Print why quasi-identifiers with a hierarchy lose much, and what would lose less."""
    coarse = [
        column.name for column in release.audit.policy.quasi if column.tree is not None and lost.by_column[column.name] >= COARSE
    ]
    if coarse:
        several = len(coarse) > 1
        screen.tell(
            f"Most detail is lost to the {'hierarchies' if several else 'hierarchy'} of {listed_names(coarse)}. "
            "Without a hierarchy, ranges (snap: auto) or sets of values usually lose less."
        )
