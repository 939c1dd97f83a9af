"""tclose hierarchy: show what a hierarchy makes of a column, level by level, and write it to a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tclose.cli.tables import TABLE, files_read, name_of, table_of

if TYPE_CHECKING:
    from tclose.columns.previews import ColumnPreview


def hierarchy(
    data: Path = typer.Argument(..., metavar="DATA", help=TABLE),
    column: str = typer.Argument(..., metavar="COLUMN", help="The column."),
    policy: Path | None = typer.Option(None, "-p", "--policy", metavar="FILE", help="The policy, in YAML, with its hierarchy."),
    intervals: str | None = typer.Option(None, "--intervals", metavar="5,10,20", help="Intervals of numbers, by width."),
    rounding: str | None = typer.Option(None, "--rounding", metavar="10,100", help="Numbers that round to the same multiple."),
    cuts: list[str] = typer.Option([], "--cuts", metavar="18,30,65", help="Cut points of numbers; again for a coarser level."),
    quantiles: str | None = typer.Option(
        None, "--quantiles", metavar="8,4,2", help="Find cut points: groups of about equal size."
    ),
    prefixes: str | None = typer.Option(None, "--prefixes", metavar="4,3", help="First characters of codes; 'all' for each."),
    dates: str | None = typer.Option(None, "--dates", metavar="month,year", help="Units of day, week, month, quarter, year."),
    ranges: Path | None = typer.Option(None, "--ranges", metavar="FILE", help="Ranges of codes: rows as A00-A09;label;label."),
    file: Path | None = typer.Option(None, "--file", metavar="FILE", help="A hierarchy file: rows as value;parent;...;root."),
    k: int | None = typer.Option(None, "-k", min=1, help="Count labels with fewer rows; otherwise the policy's k, or 5."),
    out: Path | None = typer.Option(None, "-o", "--out", metavar="FILE", help="Write the hierarchy as a CSV that ARX reads."),
    force: bool = typer.Option(False, "--force", help="Replace the file if it exists."),
    as_json: bool = typer.Option(False, "--json", help="One JSON object instead of a table."),
) -> None:
    """Show what a hierarchy makes of a column: each level with its labels and how many rows they have.

    The preview is INTERNAL: it shows values of the table. Give the hierarchy by one option, or the policy that has it: without
    either, an option that fits the column is named. The last line is what to write into the policy.

    \b
    Examples:
      tclose hierarchy hospital.csv age --intervals 5,10,20
      tclose hierarchy hospital.csv age --quantiles 8,4,2
      tclose hierarchy hospital.csv zip --prefixes 4,3 -o zip.internal.csv
      tclose hierarchy visits.csv admitted --dates month,quarter,year
      tclose hierarchy visits.csv icd10 --ranges icd10-blocks.csv
      tclose hierarchy hospital.csv diagnosis -p policy.yaml --json
    """
    from tclose.cli.printing import a_reader_may_leave, echo_json, warnings_told
    from tclose.cli.screen import status
    from tclose.columns.previews import preview_column
    from tclose.policy import Policy, files_of
    from tclose.tables.files import check_target, write_whole

    asked = None if policy is None else Policy.load(policy)
    listed = {"intervals": intervals, "rounding": rounding, "quantiles": quantiles, "prefixes": prefixes, "dates": dates}
    given: dict[str, Any] = {key: _parse_list(text) for key, text in listed.items() if text is not None}
    given |= {"cuts": [_parse_list(text) for text in cuts]} if cuts else {}
    given |= {"ranges": str(ranges)} if ranges is not None else {}
    given |= {"file": str(file)} if file is not None else {}
    if out is not None:
        inputs = [
            *files_read(data),
            *(path for path in (policy, ranges, file) if path is not None),
            *(files_of(asked) if asked else []),
        ]
        check_target(out, force=force, inputs=inputs)
    with table_of(data) as table, warnings_told(), status(f"Reading {name_of(data)}"):
        found = preview_column(table, column, policy=asked, rule=given, k=k, called=str(data))
    if out is not None:
        text = found.hierarchy.to_csv()
        write_whole(out, lambda beside: beside.write_bytes(text.encode("utf-8", "backslashreplace")), force=force, private=True)
    with a_reader_may_leave():
        if as_json:
            echo_json(found.to_json())
        else:
            _show_preview(found, name_of(data), out)


def _parse_list(text: str) -> list[Any]:
    """Return the parts of an option, separated by commas; whole numbers as such."""
    parts = [part.strip() for part in text.split(",")]
    return [int(part) if part.isdecimal() and len(part) < 20 else part for part in parts]


def _show_preview(found: ColumnPreview, title: str, out: Path | None) -> None:
    """Print the preview of a column's hierarchy: a line for each level."""
    from tclose.cli.printing import Columns, Screen, words
    from tclose.values.exact import number_of

    screen = Screen()
    screen.tell(words("INTERNAL: the preview shows values of the table.", style="bold"))
    missing = f", {number_of(found.missing, 'row')} without a value" if found.missing else ""
    screen.tell(f"{found.column} of {title}: {number_of(found.rows, 'row')}, {number_of(found.values, 'value')}{missing}.")
    screen.print()
    table = Columns("level", "labels", "fewest rows", "most rows", f"labels below {found.k:,} rows", "for example")
    table.columns[-1].justify = "left"
    for level in found.levels:
        small = f"{level.small:,}" if not level.small else f"{level.small:,} ({number_of(level.small_rows, 'row')})"
        labels = [label or "(empty)" for label in level.examples]
        more = level.labels > len(labels)
        shown = ", ".join([*labels[:-1], "...", labels[-1]] if more else labels)
        name = f"{level.level}: the value" if level.level == 0 else str(level.level)
        table.row(name, f"{level.labels:,}", f"{level.fewest:,}", f"{level.most:,}", small, shown)
    screen.print(table)
    screen.print()
    if out is not None:
        screen.tell(f"Wrote {out}: every value of the column with its labels, as ARX reads it. It is internal, too.")
    if found.in_policy:
        screen.tell(f"In a policy:  {found.column}: {{hierarchy: {found.in_policy}}}")
