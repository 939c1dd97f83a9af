"""tclose apply: add new rows to a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tclose.cli.tables import files_read, name_of, table_of
from tclose.cli.targets import a_file

if TYPE_CHECKING:
    from tclose.study.apply.apply import Applied


def apply(
    record: Path = typer.Argument(
        ..., metavar="RELEASE-RECORD", help="The private record of the release; the release and its certificate lie beside it."
    ),
    data: Path = typer.Argument(..., metavar="NEW-DATA", help="New rows, with the columns of the table that it was made from."),
    out: Path = typer.Option(
        ..., "-o", "--out", metavar="FILE", parser=a_file, help="The release with the added rows: .csv, .parquet or .arrow."
    ),
    people: list[Path] = typer.Option(
        [],
        "--people",
        metavar="FILE",
        help="The table that the release was made from, or its identifiers: who is in it is refused. Can be given several times.",
    ),
    force: bool = typer.Option(False, "--force", help="Replace files that exist."),
) -> None:
    """Add new rows of the same kind to a release, in the published classes.

    Whoever has the old file can subtract it from the new one, and sees the added rows alone. So they satisfy k and every limit
    by themselves, compared with one another and with all rows, and so do old and new rows together. Rows with which a limit
    would be broken are held back, and counted: often most of them. A person who is in the release already is refused.

    Exits with 0 when rows were added, with 1 when none could be.

    \b
    Examples:
      tclose apply release.csv.private.json june.csv --people may.csv -o release-june.csv
      tclose apply release-june.csv.private.json july.csv --people may.csv --people june.csv -o release-july.csv
    """
    from tclose.cli.printing import a_reader_may_leave, warnings_told
    from tclose.cli.screen import stages
    from tclose.errors import InfeasibleError
    from tclose.release.release import check_paths

    check_paths(out, force=force, inputs=[record, *(path for one in (data, *people) for path in files_read(one))])
    with table_of(data) as table, warnings_told(), stages(name_of(data), out.name):
        from tclose.study.apply.apply import apply as add

        found = add(record, table, people=people or None)
        if not found.added:
            raise InfeasibleError(f"No row was added, and nothing is written: {'; '.join(_not_added(found))}.")
        written = found.write(out, force=force)
    with a_reader_may_leave():
        _show(found, written)


def _not_added(found: Applied) -> list[str]:
    """Return why rows were not added, with their numbers, as clauses."""
    clauses = {
        f"{found.refused:,} of persons who are in the release already": found.refused,
        f"{found.strange:,} that no published class stands for": found.strange,
        f"{found.held_back:,} with which a limit would be broken": found.held_back,
    }
    return [clause for clause, rows in clauses.items() if rows]


def _show(found: Applied, written: list[Path]) -> None:
    """Print how many rows were added, why others were not, and what was written."""
    from tclose.cli.printing import Screen, echo
    from tclose.cli.released import show_paths
    from tclose.values.exact import number_of

    assert found.alone is not None
    assert found.compared is not None
    echo(f"{found.added:,} of {number_of(found.rows, 'new row')} added, in {number_of(found.alone.classes, 'class', 'classes')}.")
    not_added = _not_added(found)
    if not_added:
        echo(f"Not added: {'; '.join(not_added)}.")
    echo()
    audits = {"added rows alone": found.alone, "against all rows": found.compared, "with the old rows": found.audit}
    lines: list[tuple[str, list[str]]] = [("", list(audits))]
    lines.append(("rows", [f"{audit.rows:,}" for audit in audits.values()]))
    lines.append(("rows in the smallest class", [f"{audit.k:,}" for audit in audits.values()]))
    lines += [(f"t of {name}", [f"{audit.sensitive[name].t:.4f}" for audit in audits.values()]) for name in found.audit.sensitive]
    for title, cells in lines:
        echo(f"{title:<30}{''.join(f'{cell:>20}' for cell in cells)}")
    echo(
        "All satisfy every limit of the policy. Who subtracts the old file from the new one sees the added rows alone,",
        "and knows how values are distributed in all rows.",
    )
    screen = Screen()
    screen.print()
    show_paths(screen, written)
