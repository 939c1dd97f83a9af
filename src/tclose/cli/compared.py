"""The screen of a comparison: a line for each algorithm at each t, what is better than all others, and a suggestion."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tclose.cli.attacked import INTERNAL
from tclose.cli.printing import Columns, Screen, words
from tclose.make.registry import DEFAULT
from tclose.report.labels import percent
from tclose.values.exact import number_of

if TYPE_CHECKING:
    from tclose.study.compare.comparison import Comparison, Point

MEANINGS = (
    "GCP (global certainty penalty), LM (loss metric): information loss, 0 is none and 1 is all.",
    "Query error: that of the median COUNT query.",
    "GCP is measured by what is published, as the screen and the report of each of these releases state it.",
    "GCP, raw table, and LM are measured by all that the table has, so that algorithms can be compared.",
    "Excess: points by which the best attack on a sensitive column is more often right about people in the release than others.",
    "0 is best. t limits what a class says to those who know quasi-identifiers; those who know a sensitive value may learn more.",
    "One value: rows in classes with a single value of a sensitive column.",
)
REASONS = {"refused": "cannot", "time": "out of time", "failed": "failed"}


def show_comparison(found: Comparison, name: str, attack: Sequence[str]) -> None:
    """Print the screen of a comparison.

    Parameters
    ----------
    name
        The name of the table.
    attack
        The words of the command that attacks a release of it.
    """
    screen = Screen()
    screen.tell(INTERNAL)
    made = sum(result.status == "done" for result in found)
    screen.tell(f"{name}: {made:,} of {number_of(len(found.results), 'release')} made.")
    if found.suggestion is not None:
        screen.tell(found.suggestion)
    if found.best is not None:
        by = [] if found.best.algorithm == DEFAULT else ["--algorithm", found.best.algorithm]
        screen.tell(f"All attacks under the limits of the policy, and what lowers each: {shlex.join([*attack, *by, '--all'])}")
    screen.print()
    if found.points:
        _show_points(screen, found)
    missing: dict[str, list[str]] = {}
    for result in found:
        if result.status != "done":
            limit = "" if result.cell.t is None else f" at t = {result.cell.t:g}"
            missing.setdefault(f"{REASONS[result.status]}: {result.reason}", []).append(f"{result.cell.algorithm}{limit}")
    for reason, which in missing.items():
        screen.tell(f"Not made, {', '.join(dict.fromkeys(which))}: {reason}")


def _show_points(screen: Screen, found: Comparison) -> None:
    """Print a line for each release that was made, and what its figures mean."""
    points, front = found.points, found.choice()
    table = Columns(
        "algorithm", "t asked", "k", "t attained", "GCP", "GCP, raw table", "LM", "query error", "excess", "one value", "CPU s"
    )
    for point in points:
        style = "" if not front else "bold" if point in front else "dim"
        cells = (
            f"{'* ' if point in front else '  '}{point.algorithm}",
            *_asked_in_words(point),
            *point.texts,
        )
        table.row(*(words(cell, style=style) for cell in cells))
    screen.print(table)
    if front:
        screen.tell("* No other loses less information (GCP, raw table) and attains a smaller t.")
    _show_shares(screen, found)
    screen.tell(_held_back(found))
    for line in MEANINGS:
        screen.tell(line)


def _show_shares(screen: Screen, found: Comparison) -> None:
    """Print the largest share of one value of each sensitive column in a class of each release, and in the table."""
    of_table = found.share_in_table
    if not of_table:
        return
    screen.print()
    screen.tell("Largest share of one value, or bin, in a class:")
    table = Columns("algorithm", "t asked", "k", *of_table)
    for point in found.points:
        shares = (percent(point.share[name]) if name in point.share else "-" for name in of_table)
        table.row(f"  {point.algorithm}", *_asked_in_words(point), *shares)
    table.row("  in the table", "", "", *(percent(share) for share in of_table.values()))
    screen.print(table)
    screen.print()


def _asked_in_words(point: Point) -> tuple[str, str]:
    """Return the t and the k that were asked of a release."""
    return "-" if point.asked is None else f"{point.asked:g}", str(point.k)


def _held_back(found: Comparison) -> str:
    """Return a sentence on who is in none of the releases, and that one of everybody has other figures."""
    people = found.compared
    held = "some persons" if people is None else f"{people.held_back:,} of {number_of(people.persons, 'person')}"
    return (
        f"No release here has all persons: {held} were held back at random, to try attacks on. So a release that anonymize makes "
        "of all of them has slightly different figures, GCP included."
    )
