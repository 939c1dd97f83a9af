"""tclose audit: measure how far a table is from what a policy asks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tclose.cli.names import parse_names
from tclose.cli.tables import (
    ENGINE,
    LOCAL,
    MASTER,
    TABLE,
    a_table,
    check_engine,
    files_read,
    name_of,
    table_of,
    unused_delimiter,
    with_table,
)
from tclose.cli.targets import a_file

if TYPE_CHECKING:
    from tclose.policy import Policy


def audit(
    data: Path = typer.Argument(..., metavar="DATA", parser=a_table, help=TABLE),
    table: str | None = typer.Option(None, "--table", metavar="NAME", help="The table to read, of a database."),
    engine: str = typer.Option(LOCAL, "--engine", metavar="ENGINE", help=ENGINE),
    master: str | None = typer.Option(None, "--master", metavar="URL", help=MASTER),
    policy: Path | None = typer.Option(None, "-p", "--policy", metavar="FILE", help="The policy, in YAML."),
    quasi: list[str] = typer.Option([], "--quasi", metavar="A,B", help="Quasi-identifiers, instead of a policy."),
    sensitive: list[str] = typer.Option([], "--sensitive", metavar="C,D", help="Sensitive attributes, instead of a policy."),
    as_json: bool = typer.Option(False, "--json", help="One JSON object instead of tables."),
    classes: Path | None = typer.Option(
        None, "--classes", metavar="FILE", parser=a_file, help="List every class to a CSV or Parquet file."
    ),
    everything: bool = typer.Option(
        False, "--all", help="Also what is measured without a limit: beta, delta, lift, the joint test."
    ),
    html: Path | None = typer.Option(
        None, "--html", metavar="FILE", parser=a_file, help="Write a page too: one HTML file. It is internal."
    ),
    memory: str | None = typer.Option(
        None, "--memory", metavar="SIZE", help="The most memory to take, such as 1GB; what does not fit is spilled to disk."
    ),
    force: bool = typer.Option(False, "--force", help="Replace the page and the listing of classes if they exist."),
) -> None:
    """Measure every class of a table: k, l, t, beta, delta; exactly.

    Rows that agree on all quasi-identifiers form a class. k is the size of the smallest, t the largest earth mover's distance
    between the sensitive values of a class and those of the whole table, l the fewest values in a class. --all shows beta,
    delta, lift and the joint test too, and says what they are.

    Exits with 0 when every limit of the policy is satisfied, with 1 when one is not.

    \b
    Examples:
      tclose audit visits.csv -p policy.yaml
      tclose audit visits.parquet --quasi age,zip --sensitive diagnosis
      tclose audit study.duckdb::visits -p policy.yaml
      tclose audit postgresql://me@db.example.org/clinic --table visits -p policy.yaml
      tclose audit visits/ -p policy.yaml --engine spark --master spark://host:7077
      zcat visits.csv.gz | tclose audit - -p policy.yaml
      tclose audit visits.csv -p policy.yaml --json > audit.json
      tclose audit visits.csv -p policy.yaml --classes classes.csv --force
      tclose audit visits.csv -p policy.yaml --html audit.internal.html
      tclose audit visits/ -p policy.yaml --memory 1GB
    """
    from tclose.cli.listing import check_listing, write_listing
    from tclose.cli.printing import a_reader_may_leave, echo_json, warnings_told
    from tclose.cli.screen import how_read, show_audit, status
    from tclose.policy import files_of

    source = with_table(data, table)
    check_engine(engine, master, source)
    asked = _policy_of_options(policy, quasi, sensitive)
    inputs = [*files_read(source), *([] if policy is None else [policy]), *files_of(asked)]
    if classes is not None:
        check_listing(classes, force=force, inputs=inputs)
    if html is not None:
        from tclose.report.page import check_page

        check_page(html, internal=None, force=force, inputs=[*inputs, *([] if classes is None else [classes])])
    with table_of(source, engine, master) as opened, warnings_told(), status(f"Measuring {name_of(source)}"):
        from tclose.judge.audit import audit as measure

        result = measure(opened, asked, memory=memory)
        unused = unused_delimiter(opened, asked)
    if classes is not None:
        write_listing(result, classes, force=force)
    if html is not None:
        from tclose.report.audited import audit_page
        from tclose.report.page import write_page

        write_page(audit_page(result, name_of(source)), html, internal=True, force=force)
    with a_reader_may_leave():
        if as_json:
            echo_json(result.to_json())
        else:
            show_audit(result, name_of(source), classes, everything=everything, notes=how_read(result.readings, unused))
    if not result.satisfied:
        raise typer.Exit(1)


def _policy_of_options(path: Path | None, quasi: list[str], sensitive: list[str]) -> Policy:
    """Return the policy of a file, or of the names that the options --quasi and --sensitive give."""
    from tclose.errors import PolicyError
    from tclose.policy import Policy

    if path is not None:
        if quasi or sensitive:
            raise PolicyError(
                "A policy names the columns already: give -p, or --quasi and --sensitive. Try 'tclose audit --help'."
            )
        return Policy.load(path)
    if not quasi or not sensitive:
        raise PolicyError("Give a policy with -p, or columns with --quasi and --sensitive. Try 'tclose audit --help'.")
    return Policy(quasi=parse_names(quasi), sensitive=parse_names(sensitive))
