"""tclose anonymize: make a table that can be published, with its certificate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tclose.cli.tables import (
    ENGINE,
    LOCAL,
    MASTER,
    SPARK,
    STANDARD_INPUT,
    TABLE,
    a_table,
    check_engine,
    files_read,
    name_of,
    table_of,
    unused_delimiter,
    with_table,
)
from tclose.cli.targets import a_file, faults_of_inputs_first

if TYPE_CHECKING:
    from tclose.policy import Policy


def anonymize(
    data: Path = typer.Argument(..., metavar="DATA", parser=a_table, help=TABLE),
    table: str | None = typer.Option(None, "--table", metavar="NAME", help="The table to read, of a database."),
    engine: str = typer.Option(LOCAL, "--engine", metavar="ENGINE", help=ENGINE),
    master: str | None = typer.Option(None, "--master", metavar="URL", help=MASTER),
    policy: Path = typer.Option(..., "-p", "--policy", metavar="FILE", help="The policy, in YAML."),
    out: Path = typer.Option(..., "-o", "--out", metavar="OUT", parser=a_file, help="The release: .csv, .parquet or .arrow."),
    algorithm: str | None = typer.Option(None, "--algorithm", metavar="A", help="See 'tclose algorithms'; default: growth."),
    seed: int = typer.Option(0, "--seed", metavar="N", help="For algorithms that choose at random."),
    effort: str = typer.Option(
        "balanced",
        "--effort",
        metavar="E",
        help="For algorithms that refine: fast; balanced; best, which refines for longer, up to the time that the algorithm "
        "states. Ctrl-C once ends the refining and goes on, twice ends everything.",
    ),
    option: list[str] = typer.Option([], "--option", metavar="NAME=VALUE", help="See 'tclose algorithms'."),
    report: Path | None = typer.Option(
        None, "--report", metavar="FILE", parser=a_file, help="Write a public report too: one HTML file."
    ),
    keep_order: bool = typer.Option(False, "--keep-order", help="Keep the order of the rows, which may give people away."),
    force: bool = typer.Option(False, "--force", help="Replace files that exist."),
) -> None:
    """Make a release that satisfies a policy, check it, and write it with its papers.

    The papers are OUT.certificate.json (public: what was asked and attained), OUT.codebook.md (public: what each column
    means) and OUT.private.json (internal: never publish it). All files are written, or none. An algorithm that makes several
    tables writes release.csv as release.1.csv, release.2.csv and so on, each with its papers.

    Exits with 1 when no release of the table can satisfy the policy.

    \b
    Examples:
      tclose anonymize visits.csv -p policy.yaml -o release.csv
      tclose anonymize visits.parquet -p policy.yaml -o release.parquet --force
      tclose anonymize visits.xlsx::2024 -p policy.yaml -o release.csv
      tclose anonymize postgresql://me@db.example.org/clinic --table visits -p policy.yaml -o release.csv
      tclose anonymize visits/ -p policy.yaml -o release.parquet --engine spark
      tclose anonymize visits.csv -p policy.yaml -o release.csv --algorithm fragmentation --option prefer=classes
      tclose anonymize visits.csv -p policy.yaml -o release.csv --report report.html
      tclose verify release.csv
    """
    from tclose.cli.printing import a_reader_may_leave, echo, warnings_told
    from tclose.cli.released import Asked, show_release, show_release_set, show_spark_release, show_unconfirmed
    from tclose.cli.screen import stages
    from tclose.make.registry import settings_of
    from tclose.policy import Policy, files_of
    from tclose.policy.proposed import is_unconfirmed, without_review
    from tclose.release.release import Release, check_paths, papers_of
    from tclose.release.release_set import check_several_paths
    from tclose.release.spark_release import SparkRelease, check_folder
    from tclose.report.page import check_page, report_paths

    source = with_table(data, table)
    check_engine(engine, master, source)
    asked, unconfirmed = Policy.load(policy), is_unconfirmed(policy)
    asked = without_review(asked) if unconfirmed else asked
    options = _parse_options(option)
    inputs = [*files_read(source), policy, *files_of(asked)]
    several = settings_of(algorithm, seed, effort, options).algorithm.several
    with _nothing_written(out), faults_of_inputs_first(lambda: _check_inputs(source, engine, master, asked)):
        for page in [] if report is None else report_paths(report, len(asked.sensitive) if several else None):
            check_page(page, internal=False, force=force, inputs=[*inputs, out, *papers_of(out)])
        if engine == SPARK:
            check_folder(out, force=force, inputs=inputs)
        elif several:
            check_several_paths(out, len(asked.sensitive), force=force, inputs=inputs)
        else:
            check_paths(out, force=force, inputs=inputs)
    with table_of(source, engine, master) as opened, warnings_told(), stages(name_of(source), out.name):
        from tclose.release.anonymize import anonymize as make

        release = make(opened, asked, algorithm=algorithm, seed=seed, effort=effort, keep_order=keep_order, options=options)
        notes = unused_delimiter(opened, asked)
        written: Any = release.write(out, force=force)
        pages = [] if report is None else _write_reports(written, report, force=force)
    with a_reader_may_leave():
        if unconfirmed:
            show_unconfirmed(policy)  # and again where the screen ends, for those who read no more of it
        if isinstance(release, SparkRelease):
            show_spark_release(release, written, Asked(policy, None), pages)
        elif isinstance(release, Release):
            raw = source if isinstance(source, Path) and source != STANDARD_INPUT else None
            show_release(release, written, Asked(policy, raw), pages, notes)
        else:
            show_release_set(release, written, notes)
            for page in pages:
                echo(f"  {page}  public: a report")
        if unconfirmed:
            show_unconfirmed(policy)


@contextmanager
def _nothing_written(out: Path) -> Iterator[None]:
    """Add to the error for a file that exists that nothing was written, and that a release that exists is an earlier one."""
    from tclose.errors import OutputExistsError

    try:
        yield
    except OutputExistsError as error:
        earlier = error.args[0] != out and out.exists()
        error.note = f"Nothing was written{f': {out.name!r} is an earlier release' if earlier else ''}."
        raise


def _check_inputs(source: Path | str, engine: str, master: str | None, policy: Policy) -> None:
    """Raise an error for a table that cannot be read, or whose columns do not fit the policy."""
    from tclose.release.opened import check_columns

    with table_of(source, engine, master) as opened:
        check_columns(opened, policy)


def _write_reports(written: Sequence[Path | list[Path]], report: Path, *, force: bool) -> list[Path]:
    """Write a report of each release that was written, and return their paths; a set of tables has one for each."""
    from tclose.jobs import announce
    from tclose.report.page import report_paths, write_page
    from tclose.report.papers import papers_beside
    from tclose.report.report import public_report

    several = [table[0] for table in written if isinstance(table, list)]
    pages = report_paths(report, len(several) if several else None)
    tables = several or [table for table in written[:1] if isinstance(table, Path)]
    announce("Reporting on")
    for table, page in zip(tables, pages, strict=True):
        write_page(public_report(papers_beside(table)), page, internal=False, force=force)
    return pages


def _parse_options(given: list[str]) -> dict[str, str]:
    """Return ``name=value`` options as a mapping of texts; raise PolicyError for one without a name or value."""
    from tclose.errors import PolicyError

    options = {}
    for item in given:
        name, equals, value = item.partition("=")
        if not equals or not name:
            raise PolicyError(f"An option must be written as name=value. Got {item!r}.")
        options[name] = value
    return options
