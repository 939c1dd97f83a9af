"""tclose init: propose a policy for a table, with reasons in comments, to edit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tclose.cli.names import parse_names
from tclose.cli.tables import STANDARD_INPUT, TABLE, files_read, name_of, table_of
from tclose.cli.targets import a_file, faults_of_inputs_first

if TYPE_CHECKING:
    from tclose.study.propose.proposal import Proposal


def init(
    data: Path = typer.Argument(..., metavar="DATA", help=TABLE),
    out: Path | None = typer.Option(
        None, "-o", "--out", metavar="FILE", parser=a_file, help="Write the policy to a file; without it, to the screen."
    ),
    sensitive: list[str] = typer.Option(
        [], "--sensitive", metavar="A,B", help="Sensitive columns, if you know them: then they are not guessed."
    ),
    hierarchies: Path | None = typer.Option(
        None, "--hierarchies", metavar="FOLDER", help="Hierarchies: a file COLUMN.csv for a column. Those that fit are proposed."
    ),
    force: bool = typer.Option(False, "--force", help="Replace the file if it exists."),
) -> None:
    """Propose a policy for a table: a role for each column, with the reasons in comments, to edit.

    It says which columns name persons, how many rows each column and each set of two or three singles out, and what three values
    of t cost on a sample. Which columns are sensitive is a GUESS from names and kinds, unless you name them: check it before
    anything is published.

    The first time on a machine, what makes releases is compiled, which may take a minute.

    The policy runs as it is, but nobody has confirmed its roles: check each column, then delete the line NOT CONFIRMED. Its
    comments count rows of the raw table: it is INTERNAL.

    \b
    Examples:
      tclose init visits.csv -o policy.yaml
      tclose init visits.parquet -o policy.yaml --force
      tclose init visits.csv --sensitive diagnosis,cost -o policy.yaml
      tclose init visits.csv --hierarchies hierarchies -o policy.yaml
      tclose init visits.csv | less
      tclose anonymize visits.csv -p policy.yaml -o release.csv
    """
    from tclose.cli.printing import a_reader_may_leave, echo
    from tclose.cli.screen import stages
    from tclose.tables.files import check_target

    if out is not None:
        with faults_of_inputs_first(lambda: _check_table(data)):
            check_target(out, force=force, inputs=files_read(data))
    with table_of(data) as table, stages(name_of(data)):
        from tclose.study.propose.propose import propose

        found = propose(table, sensitive=parse_names(sensitive), hierarchies=hierarchies)
    if data == STANDARD_INPUT:  # not the file that it was kept in
        found = replace(found, title=name_of(data), data=str(data))
    if out is not None:
        found.save(out, force=force)
    with a_reader_may_leave():
        if out is None:
            echo(*found.to_yaml().splitlines())
        else:
            _show_proposal(found, out)


def _check_table(data: Path) -> None:
    """Raise an error for a table that cannot be read."""
    from tclose.tables.readers import open_reader

    with table_of(data) as table:
        open_reader(table)


def _show_proposal(found: Proposal, out: Path) -> None:
    """Print what was proposed, what is dangerous, and what to decide."""
    from tclose.cli.printing import Columns, Screen, words
    from tclose.study.propose.commented import (
        ASK_IN_SHORT,
        FIRST,
        ROLES_IN_SHORT,
        WHICH_SENSITIVE,
        WHICH_T,
        cost_table,
        costs_command,
        costs_in_short,
        in_short,
        loss_in_short,
        next_command,
        source_of_sensitive,
        why_in_short,
        worst_dangers,
    )
    from tclose.study.propose.persons import SEVERAL_ROWS

    policy, guess = found.policy, "guess: " if found.guessed else ""
    screen = Screen()
    wrote = f"Wrote {out}: a proposal to check and edit."
    screen.tell(words(f"{wrote} INTERNAL: it counts rows of the raw table.", style="bold"))
    screen.print()
    table = Columns("column", "role", "why")
    table.columns[1].justify = table.columns[2].justify = "left"
    roles = {"identifiers": policy.identifiers, "quasi": policy.quasi, "sensitive": policy.sensitive}
    for role, columns in {**roles, "keep": policy.keep, "drop": policy.drop}.items():
        for name in (getattr(column, "name", column) for column in columns):
            unit = ", unit" if name == policy.unit else ""
            table.row(name, f"{guess if role == 'sensitive' else ''}{role}{unit}", why_in_short(found, role, name))
    screen.print(table)
    screen.print()
    for sentence in worst_dangers(found):
        screen.tell(sentence)
    screen.print()
    header, *cells = cost_table(found.costs)
    costs = Columns(*header)
    for row in cells:
        costs.row(*row)
    screen.print(costs)
    screen.tell(costs_in_short(found))
    if loss_in_short(found):
        screen.tell(loss_in_short(found))
    for refusal in dict.fromkeys(cost.refusal for cost in found.costs if cost.refusal):
        screen.tell(f"Refused: {refusal}")
    screen.print()
    screen.tell(words("Decide before you publish anything.", style="bold"), "The head of the file says what to write.")
    screen.tell(f"  1. {WHICH_SENSITIVE} {source_of_sensitive(found)}{f' {ASK_IN_SHORT}' if found.guessed else ''}")
    screen.tell(f"  2. {WHICH_T} {float(policy.sensitive[0].t)} is in the file so that it runs.")
    screen.tell(f"  3. {ROLES_IN_SHORT}")
    if policy.unit is None and not any(sentence.startswith(SEVERAL_ROWS) for sentence in found.decisions):
        screen.tell("  Is each row a person? It is taken so.")
    for number, sentence in enumerate(found.decisions, FIRST):
        screen.tell(f"  {number}. {in_short(sentence)}")
    for number, misfit in enumerate(found.misfits, FIRST + len(found.decisions)):
        if misfit.before:
            screen.tell_command(f"  {number}. {misfit.reason} {misfit.before}", misfit.command(found.data))
        else:
            screen.tell(f"  {number}. {misfit.reason}")
    screen.tell("  Delete its line NOT CONFIRMED when you have checked each column.")
    screen.tell_command("After changes, what each t costs:", costs_command(found, str(out)))
    screen.tell_command("Then:", next_command(found.data, str(out)))
