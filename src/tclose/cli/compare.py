"""tclose compare: try several algorithms and thresholds on a table, and show what each attains, loses and gives away."""

from __future__ import annotations

from pathlib import Path

import typer

from tclose.cli.tables import TABLE, files_read, name_of, table_of
from tclose.cli.targets import a_file


def compare(
    data: Path = typer.Argument(..., metavar="DATA", help=TABLE),
    policy: Path = typer.Option(..., "-p", "--policy", metavar="FILE", help="The policy, in YAML."),
    algorithms: str = typer.Option("all", "--algorithms", metavar="A,B", help="See 'tclose algorithms'; default: all."),
    t: str = typer.Option("0.05,0.1,0.15,0.2,0.3", "--t", metavar="T,T", help="Tried for every sensitive column that has a t."),
    k: str | None = typer.Option(None, "--k", metavar="K,K", help="Default: that of the policy."),
    seeds: str = typer.Option("0", "--seeds", metavar="N,N", help="Figures are means over them."),
    effort: str = typer.Option("balanced", "--effort", metavar="E", help="fast, balanced or best."),
    holdout: str = typer.Option("1/10", "--holdout", metavar="SHARE", help="The share of the persons to hold back for attacks."),
    seconds: float | None = typer.Option(None, "--seconds", metavar="S", help="The longest time of one cell; then it is ended."),
    processes: int | None = typer.Option(None, "--processes", metavar="N", help="Cells at the same time; default: processors."),
    record: Path | None = typer.Option(
        None,
        "-o",
        "--record",
        metavar="FILE",
        parser=a_file,
        help="JSON with what is done, after each cell: an interrupted run goes on there.",
    ),
    listing: Path | None = typer.Option(None, "--csv", metavar="FILE", parser=a_file, help="Also a table of all cells, as CSV."),
    page: Path | None = typer.Option(
        None, "--html", metavar="FILE", parser=a_file, help="Also a page with charts, to decide from."
    ),
    force: bool = typer.Option(False, "--force", help="Replace the CSV and the page if they exist."),
    as_json: bool = typer.Option(False, "--json", help="One JSON object instead of the screen."),
) -> None:
    """Make a release of a table for each algorithm, t and k, attack each, and show what they cost.

    Each release is made of nine tenths of the persons; the others are held back, for attacks to be tried on. An interrupted
    comparison goes on where it was if the same command is given again, with -o.

    The output is INTERNAL: it is measured with the raw table. Do not publish it. The exit code is 1 if no release was made.

    \b
    Examples:
      tclose compare visits.csv -p policy.yaml
      tclose compare visits.csv -p policy.yaml --algorithms growth,mondrian --t 0.1,0.2
      tclose compare visits.csv -p policy.yaml --seconds 40 -o comparison.json --csv comparison.csv
      tclose compare visits.csv -p policy.yaml --html comparison.html
      tclose compare visits.csv -p policy.yaml --t 0.2 --k 5,10,20 --seeds 0,1,2
    """
    from tclose.cli.compared import show_comparison
    from tclose.cli.printing import a_reader_may_leave, echo_json, warnings_told
    from tclose.cli.screen import stages
    from tclose.policy import Policy, files_of
    from tclose.tables.files import Together, check_target

    asked = Policy.load(policy)
    inputs = [*files_read(data), policy, *files_of(asked), *([] if record is None else [record])]
    if record is not None:
        check_target(record, force=True, inputs=inputs[:-1])
    if listing is not None:
        check_target(listing, force=force, inputs=inputs)
    if page is not None:
        from tclose.report.page import check_page

        check_page(page, internal=None, force=force, inputs=[*inputs, *([] if listing is None else [listing])])
    with table_of(data) as table, warnings_told(), stages(name_of(data)):
        from tclose.study.compare.compare import compare as try_all

        found = try_all(
            table,
            asked,
            algorithms="all" if algorithms == "all" else _listed(algorithms),
            t=_listed(t),
            k=None if k is None else _whole(k, "--k"),
            seeds=_whole(seeds, "--seeds"),
            effort=effort,
            holdout=holdout,
            seconds=seconds,
            processes=processes,
            record=record,
        )
    if listing is not None:
        with Together(force=force) as files:
            files.stage(listing, lambda to: to.write_text(found.to_csv(), encoding="utf-8"), private=True)
            files.commit()
    if page is not None:
        found.to_html(page, name=name_of(data), force=force)
    with a_reader_may_leave():
        if as_json:
            echo_json(found.to_json())
        else:
            show_comparison(found, name_of(data), ["tclose", "attack", str(data), "-p", str(policy)])
    if not found.points:
        raise typer.Exit(1)


def _listed(given: str) -> list[str]:
    """Return what is separated by commas."""
    return [part.strip() for part in given.split(",") if part.strip()]


def _whole(given: str, name: str) -> list[int]:
    """Return whole numbers that are separated by commas."""
    try:
        return [int(part) for part in _listed(given)]
    except ValueError:
        raise typer.BadParameter(f"{name} must be whole numbers, separated by commas, as 5,10. Got {given!r}.") from None
