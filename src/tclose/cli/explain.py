"""tclose explain: why a table breaks a policy, and what would help."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tclose.cli.tables import TABLE, name_of, table_of

if TYPE_CHECKING:
    from tclose.study.explain.explanation import Explanation


def explain(
    data: Path = typer.Argument(..., metavar="DATA", help=TABLE),
    policy: Path = typer.Option(..., "-p", "--policy", metavar="FILE", help="The policy, in YAML."),
    n: int = typer.Option(5, "-n", metavar="N", min=1, help="How many of the worst classes to explain."),
    as_json: bool = typer.Option(False, "--json", help="One JSON object, with all moves, instead of the screen."),
) -> None:
    """Explain why a table, raw or released, breaks a policy, and what would help.

    The worst classes are shown: which values each has too much and too little of, and what would have to move. What would help
    is tried: a coarser column, another limit, suppressed rows, each with what an audit then finds. If no release can satisfy the
    policy at all, the smallest changes are named with which one can. The table is taken as it is; nothing is written.

    The output is INTERNAL: it shows classes and values of the table. Do not publish it.

    Exits with 0 when every limit of the policy is satisfied, with 1 when one is not.

    \b
    Examples:
      tclose explain visits.csv -p policy.yaml
      tclose explain release.csv -p stricter.yaml -n 2
      tclose explain release.csv -p stricter.yaml --json > explained.internal.json
    """
    from tclose.cli.printing import a_reader_may_leave, echo_json, warnings_told
    from tclose.cli.screen import stages
    from tclose.policy import Policy

    asked = Policy.load(policy)
    with table_of(data) as table, warnings_told(), stages(name_of(data)):
        from tclose.study.explain.explain import explain as explain_table

        found = explain_table(table, asked, n)
    with a_reader_may_leave():
        if as_json:
            echo_json(found.to_json())
        else:
            _show_explanation(found, name_of(data))
    if not found.satisfied:
        raise typer.Exit(1)


def _show_explanation(found: Explanation, title: str) -> None:
    """Print the screen of an explanation: the verdict, the worst classes, and what would help."""
    from tclose.cli.printing import Columns, Screen, words
    from tclose.study.explain import words as sentences

    screen = Screen()
    screen.tell(words(sentences.INTERNAL, style="bold"))
    first, *others = sentences.opening(found)
    screen.tell(f"{title}:", words(first, style="bold green" if found.satisfied else "bold red"))
    for line in others:
        screen.tell(line)
    if sentences.heading_of_classes(found):
        screen.print()
        screen.tell(words(sentences.heading_of_classes(found), style="bold"))
    for number in range(len(found.classes)):
        first, *others = sentences.class_in_words(found, number)
        screen.tell(first)
        for line in others:
            screen.tell_below(line)
    if sentences.heading_of_changes(found):
        screen.print()
        screen.tell(words(sentences.heading_of_changes(found), style="bold"))
    for line in sentences.changes_in_words(found):
        screen.tell(line)
    if rows := list(sentences.rows_of_changes(found)):
        table = Columns(*sentences.headers(found))
        for cells in rows:
            table.row(*cells)
        screen.print(table)
    for line in sentences.closing(found):
        screen.tell(line)
